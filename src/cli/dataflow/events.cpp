#include "cli/dataflow/events.h"

#include "dataflow/recording.h"

#include <fmt/format.h>

namespace lockstep::internal::cli {

using dataflow::Count;

std::string factors_text(const dataflow::Operands& operands, const dataflow::Tensor& input,
                         const dataflow::Element& element, const dataflow::Product& product) {
  std::string text;
  for (Count tap = product.tap; tap < product.tap + product.count; ++tap) {
    const dataflow::Value value = input.at(product.image, product.channel, element.input_row,
                                           product.out_column * operands.stride + tap);
    const dataflow::Value weight =
        operands.filter.at(product.filter, product.channel, element.row, tap);
    if (!text.empty()) text += '+';
    text +=
        weight < 0 ? fmt::format("{}·({})", value, weight) : fmt::format("{}·{}", value, weight);
  }
  return text;
}

EventLog::EventLog(const dataflow::Operands& operands)
    : operands_(operands),
      input_(padded(operands)),
      several_planes_(operands.input.outer * operands.filter.outer > 1) {}

std::string EventLog::place_of(Count image, Count filter, Count row, Count column) const {
  const std::string place = fmt::format("({},{})", row + 1, column + 1);
  return several_planes_ ? fmt::format("image {} filter {} {}", image + 1, filter + 1, place)
                         : place;
}

void EventLog::add(Event event) {
  if (events_.size() < static_cast<std::size_t>(dataflow::kMostEvents))
    events_.push_back(std::move(event));
  else
    ++left_out_;
}

void EventLog::cycle(const dataflow::Cycle& cycle) {
  cycles_ = cycle.number;
  for (const dataflow::Product& its : cycle.products) {
    const dataflow::Element& element = layout_.elements[static_cast<std::size_t>(its.element)];
    add({cycle.number, cycle.pass, its.element, "multiply",
         factors_text(operands_, input_, element, its), its.psum,
         place_of(its.image, its.filter, element.out_row, its.out_column)});
  }
  for (const dataflow::Hop& its : cycle.hops)
    add({cycle.number, cycle.pass, its.to, "add psum",
         fmt::format("{}+{} (PE{})", its.sum - its.received, its.received, its.from + 1), its.sum,
         place_of(its.image, its.filter, its.out_row, its.out_column)});
  for (const dataflow::Write& its : cycle.writes)
    add({cycle.number, cycle.pass, its.element, its.read ? "add to buffer" : "write to buffer", "",
         its.sum, place_of(its.image, its.filter, its.out_row, its.out_column)});
}

TextTable EventLog::table(std::size_t most) const {
  TextTable table{.columns = {"cycle",
                              {"PE", "processing element"},
                              {"operation", "add psum: the element adds the psum that moves up"},
                              {"operands", "input · filter, or own + received psum"},
                              {"partial sum", "after the operation"},
                              {"output", "row and column of the output that it is part of"}}};
  Count shown = 0;
  for (const Event& its : events_) {
    if (its.cycle > static_cast<Count>(most)) break;
    shown = its.cycle;
    table.rows.push_back({fmt::format("{}", its.cycle), fmt::format("PE{}", its.element + 1),
                          its.operation, its.operands.empty() ? "–" : its.operands,
                          fmt::format("{}", its.psum), its.output});
  }
  table.title =
      shown == cycles_ ? "All cycles" : fmt::format("Cycles 1 to {} of {}", shown, cycles_);
  return table;
}

std::size_t EventLog::cycles_within(std::size_t rows) const {
  return static_cast<std::size_t>(rows < events_.size() ? events_[rows].cycle - 1 : cycles_);
}

nlohmann::json EventLog::json() const {
  if (left_out_ > 0) return nullptr;
  nlohmann::json events = nlohmann::json::array();
  for (const Event& its : events_)
    events.push_back({{"cycle", its.cycle},
                      {"pass", its.pass + 1},
                      {"pe", its.element + 1},
                      {"operation", its.operation},
                      {"operands", its.operands},
                      {"psum", its.psum},
                      {"output", its.output}});
  return events;
}

}  // namespace lockstep::internal::cli
