#include "cli/dataflow/tables.h"

#include "dataflow/published.h"
#include "dataflow/result_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::cli {

namespace {

using dataflow::Chip;
using dataflow::Result;
using dataflow::Words;
using Cells = std::vector<std::string>;
using Columns = std::vector<TableColumn>;

std::string millions(double value) {
  return fmt::format("{:.{}f}", value / 1e6, value < 9.995e6 ? 2 : value < 99.95e6 ? 1 : 0);
}

std::string millions(dataflow::Count value) {
  return millions(static_cast<double>(value));
}

/// The first columns of a row; dataflow and pass only if they differ between rows.
struct Heads {
  bool dataflows = false;
  bool passes = false;

  explicit Heads(const std::vector<Result>& results) {
    for (const Result& result : results) {
      dataflows |= result.dataflow != results.front().dataflow;
      passes |= result.pass != results.front().pass;
    }
  }

  Columns columns() const {
    Columns columns{"layer"};
    if (dataflows) columns.emplace_back("dataflow");
    if (passes) columns.emplace_back("pass");
    return columns;
  }

  Cells of(const Result& result) const {
    Cells cells{result.name};
    if (dataflows) cells.push_back(result.dataflow);
    if (passes) cells.push_back(result.pass);
    return cells;
  }
};

template <typename T>
std::vector<T> operator+(std::vector<T> one, const std::vector<T>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

/// All rows, and the totals of each dataflow and pass.
std::vector<Result> with_totals(const std::vector<Result>& results) {
  std::vector<Result> rows = results;
  if (results.size() < 2) return rows;
  for (const std::vector<Result>& kind : dataflow::by_kind(results)) {
    rows.push_back(total_of(kind));
    rows.back().dataflow = kind.front().dataflow;
    rows.back().pass = kind.front().pass;
  }
  return rows;
}

Cells mapping_cells(const Result& result) {
  if (!result.mapping) return Cells(7, "–");
  const dataflow::Mapping& its = *result.mapping;
  Cells cells;
  for (dataflow::Count value : {its.m, its.n, its.e, its.p, its.q, its.r, its.t})
    cells.push_back(fmt::format("{}", value));
  return cells;
}

TextTable mapping_table(const std::vector<Result>& rows, const Heads& heads, const Chip& chip) {
  TextTable table{
      .title = "Mapping and time",
      .columns = heads.columns() +
                 Columns{{"on the array", "sets of filter rows × output rows on the array"},
                         {"m", "filters whose psums are in the buffer"},
                         {"n", "images in a pass"},
                         {"e", "output rows in a strip"},
                         {"p", "filters that an element interleaves"},
                         {"q", "channels that an element interleaves"},
                         {"r", "sets of different channels"},
                         {"t", "sets of different filters"},
                         {"PEs", "active processing elements in a full pass"},
                         "PEs %",
                         "MMAC",
                         "kcycles",
                         "ms",
                         {"bound by", "the bottleneck: computing, or a bus"},
                         {"ramp-up %", "time that passes wait for filters and first windows"},
                         "GMAC/s"}};
  for (const Result& result : rows) {
    const auto cycles = static_cast<double>(std::max<dataflow::Count>(result.time.total(), 1));
    table.rows.push_back(
        heads.of(result) + Cells{result.arrangement.empty() ? "–" : result.arrangement} +
        mapping_cells(result) +
        Cells{fmt::format("{:.0f}", result.active_elements),
              fmt::format("{:.0f}", 100 * result.utilisation(chip)), millions(result.macs),
              fmt::format("{:.0f}", static_cast<double>(result.time.total()) / 1e3),
              fmt::format("{:.2f}", chip.milliseconds(result.time.total())),
              result.bound_by.empty() ? "–" : result.bound_by,
              fmt::format("{:.1f}", 100 * static_cast<double>(result.time.ramp_up) / cycles),
              fmt::format("{:.1f}", result.throughput(chip))});
  }
  return table;
}

TextTable energy_table(const std::vector<Result>& rows, const Heads& heads) {
  TextTable table{
      .title = "Energy, in millions of multiply-accumulates",
      .columns = heads.columns() +
                 Columns{"ALU",
                         "registers",
                         {"array", "words moved into elements, by multicast or from a neighbour"},
                         "buffer",
                         "DRAM",
                         "total",
                         {"buffer MB", "input maps and psums, read and written"},
                         {"DRAM MB", "not compressed"}}};
  for (const Result& result : rows) {
    const dataflow::Energy& its = result.energy;
    Cells cells = heads.of(result);
    for (double value : {its.alu, its.registers, its.array, its.buffer, its.dram, its.total()})
      cells.push_back(millions(value));
    cells.push_back(
        fmt::format("{:.2f}", static_cast<double>(buffer_bytes(result.accesses)) / 1e6));
    cells.push_back(fmt::format("{:.2f}", static_cast<double>(dram_bytes(result.accesses)) / 1e6));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TextTable words_table(const std::vector<Result>& rows, const Heads& heads) {
  TextTable table{.title = "Words moved, in millions", .columns = heads.columns()};
  for (const char* level : {"register", "array", "buffer", "DRAM"})
    for (const char* kind : {"filter", "ifmap", "psum"})
      table.columns.emplace_back(fmt::format("{} {}", level, kind));
  for (const Result& result : rows) {
    Cells cells = heads.of(result);
    const dataflow::Accesses& its = result.accesses;
    for (const Words& words : {its.registers, its.array, its.buffer, its.dram})
      for (dataflow::Count value : {words.filter, words.ifmap, words.psum})
        cells.push_back(millions(value));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::vector<TextTable> dataflow_tables(const std::vector<Result>& results, const Chip& chip) {
  const Heads heads(results);
  const std::vector<Result> rows = with_totals(results);
  return {mapping_table(rows, heads, chip), energy_table(rows, heads), words_table(rows, heads)};
}

TextTable published_table(std::string_view model, const std::vector<Result>& results,
                          const Chip& chip) {
  TextTable table{.title = "Compared with measurements of the chip",
                  .columns = {"layer", "PEs", "measured", "ms", "measured ms", "difference %",
                              "buffer MB", "measured MB", "DRAM MB", "measured compressed"}};
  double ours = 0, theirs = 0;
  const auto add = [&](const std::string& name, double milliseconds, double measured, Cells pes,
                       Cells bytes) {
    table.rows.push_back(Cells{name} + pes +
                         Cells{fmt::format("{:.1f}", milliseconds), fmt::format("{:.1f}", measured),
                               fmt::format("{:+.1f}", 100 * (milliseconds / measured - 1))} +
                         bytes);
  };
  for (std::size_t at = 0; at < results.size(); ++at) {
    const dataflow::PublishedLayer& its = dataflow::published(model)->layers[at];
    const Result& result = results[at];
    const double milliseconds = chip.milliseconds(result.time.total());
    ours += milliseconds;
    theirs += its.milliseconds;
    const auto megabytes = [](dataflow::Count bytes) {
      return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
    };
    add(result.name, milliseconds, its.milliseconds,
        {fmt::format("{:.0f}", result.active_elements), fmt::format("{}", its.active_elements)},
        {megabytes(buffer_bytes(result.accesses)), fmt::format("{:.1f}", its.buffer_megabytes),
         megabytes(dram_bytes(result.accesses)), fmt::format("{:.1f}", its.dram_megabytes)});
  }
  add("total", ours, theirs, Cells(2, "–"), Cells(4, "–"));
  return table;
}

}  // namespace lockstep::internal::cli
