#include "cli/dataflow/cycles.h"

#include "base/table/text_table.h"
#include "cli/dataflow/events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep::internal::cli {

namespace {

using dataflow::Count;

constexpr std::size_t kMostColumns = 6;  // columns of elements, so that lines stay short

std::string numbers_of(const dataflow::Tensor& tensor, Count o, Count c, Count row) {
  std::vector<dataflow::Value> values;
  for (Count x = 0; x < tensor.columns; ++x) values.push_back(tensor.at(o, c, row, x));
  return fmt::format("{}", fmt::join(values, " "));
}

/// Empty if there is only one image and one filter.
std::string plane_of(const dataflow::Tensor& tensor, Count o, Count c) {
  return tensor.outer * tensor.channels == 1 ? ""
                                             : fmt::format(" image {} filter {}", o + 1, c + 1);
}

}  // namespace

CycleLog::CycleLog(const dataflow::Operands& operands, std::size_t most)
    : operands_(operands), input_(padded(operands)), most_(most) {}

void CycleLog::pass(const dataflow::PassLayout& layout) {
  if (layout.number == 0) first_ = layout;
}

void CycleLog::cycle(const dataflow::Cycle& cycle) {
  ++seen_;
  if (cycles_.size() < most_) cycles_.push_back(cycle);
}

bool CycleLog::shows_each_element() const {
  // Later passes hold other rows: elements are then only counted.
  const bool several = !cycles_.empty() && cycles_.back().pass > 0;
  return first_.elements.size() <= kMostColumns && !several;
}

std::string CycleLog::holdings() const {
  if (!shows_each_element()) return "";
  const std::vector<std::string> products = row_products();
  TextTable table{.columns = {"element", "at", "filter row", "", "input row", " ", "row products",
                              "output row"}};
  for (const dataflow::Element& its : first_.elements)
    table.rows.push_back(
        {fmt::format("PE{}", its.number + 1),
         fmt::format("{},{}", its.array_row + 1, its.array_column + 1),
         fmt::format("{}", its.row + 1), numbers_of(operands_.filter, 0, 0, its.row),
         fmt::format("{}", its.input_row + 1), numbers_of(input_, 0, 0, its.input_row),
         products[static_cast<std::size_t>(its.number)], fmt::format("{}", its.out_row + 1)});
  return to_text(table) + "\n";
}

std::vector<std::string> CycleLog::row_products() const {
  std::vector<std::string> rows(first_.elements.size());
  for (const dataflow::Cycle& cycle : cycles_)
    for (const dataflow::Product& its : cycle.products) {
      std::string& row = rows[static_cast<std::size_t>(its.element)];
      if (its.tap + its.count == operands_.filter.columns)
        row += fmt::format("{}{}", row.empty() ? "" : " ", its.psum);
    }
  return rows;
}

std::string CycleLog::products_of(const dataflow::Product& product) const {
  const dataflow::Element& element = first_.elements[static_cast<std::size_t>(product.element)];
  return fmt::format("{} → {}", factors_text(operands_, input_, element, product), product.psum);
}

std::vector<std::string> CycleLog::cells_of(const dataflow::Cycle& cycle, bool each) const {
  std::vector<std::string> cells{fmt::format("{}", cycle.number)};
  if (each) {
    cells.resize(1 + first_.elements.size(), "–");
    for (const dataflow::Product& product : cycle.products)
      cells[static_cast<std::size_t>(1 + product.element)] = products_of(product);
  } else {
    cells.push_back(fmt::format("{}", cycle.pass + 1));
    cells.push_back(fmt::format("{}", cycle.products.size()));
  }
  std::vector<std::string> hops, writes;
  for (const dataflow::Hop& hop : cycle.hops)
    hops.push_back(fmt::format("PE{}→PE{} {}", hop.from + 1, hop.to + 1, hop.sum));
  for (const dataflow::Write& write : cycle.writes)
    writes.push_back(fmt::format("({},{}) {}", write.out_row + 1, write.out_column + 1, write.sum));
  const auto list = [each](const std::vector<std::string>& words) {
    if (words.empty()) return std::string("–");
    return each ? fmt::format("{}", fmt::join(words, "  ")) : fmt::format("{}", words.size());
  };
  cells.push_back(list(hops));
  cells.push_back(list(writes));
  cells.push_back(cycle.filter_words + cycle.ifmap_words == 0
                      ? "–"
                      : fmt::format("{} + {}", cycle.filter_words, cycle.ifmap_words));
  return cells;
}

std::string CycleLog::table(bool colour) const {
  const bool each = shows_each_element();
  TextTable table{.columns = {"cycle"}};
  if (each)
    for (const dataflow::Element& its : first_.elements)
      table.columns.emplace_back(fmt::format("PE{}", its.number + 1));
  else
    for (const char* name : {"pass", "active elements"}) table.columns.emplace_back(name);
  for (const char* name : {"psums up", "written", "read: filter + input words"})
    table.columns.emplace_back(name);
  for (const dataflow::Cycle& cycle : cycles_) table.rows.push_back(cells_of(cycle, each));
  return to_text(table, colour);
}

std::string CycleLog::rest() const {
  const auto stored = static_cast<Count>(cycles_.size());
  if (seen_ == stored) return "";
  return fmt::format("{} more cycles (--cycles {} shows them)\n", seen_ - stored, seen_);
}

std::string output_text(const dataflow::Tensor& output) {
  std::string text;
  for (Count o = 0; o < output.outer; ++o)
    for (Count c = 0; c < output.channels; ++c) {
      text += fmt::format("output{}\n", plane_of(output, o, c));
      for (Count row = 0; row < output.rows; ++row)
        text += fmt::format("  {}\n", numbers_of(output, o, c, row));
    }
  return text;
}

std::string counters_text(const dataflow::Counters& counters) {
  return fmt::format(
      "{} multiply-accumulates in {} cycles, {} of which multiply; passes: {}\n"
      "buffer: {} filter, {} input and {} psum words read, {} psums written; {} psum hops between "
      "elements\n",
      counters.macs, counters.cycles, counters.product_cycles, counters.passes,
      counters.buffer_reads.filter, counters.buffer_reads.ifmap, counters.buffer_reads.psum,
      counters.buffer_writes, counters.array.psum);
}

nlohmann::json json_of(const dataflow::Counters& counters) {
  return {{"macs", counters.macs},
          {"cycles", counters.cycles},
          {"product_cycles", counters.product_cycles},
          {"passes", counters.passes},
          {"filter_reads", counters.buffer_reads.filter},
          {"ifmap_reads", counters.buffer_reads.ifmap},
          {"psum_reads", counters.buffer_reads.psum},
          {"psum_writes", counters.buffer_writes},
          {"psum_hops", counters.array.psum}};
}

}  // namespace lockstep::internal::cli
