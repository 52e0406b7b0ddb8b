#include "dataflow/recording.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::internal::dataflow {

namespace {

using nlohmann::json;

json json_of_pass(const PassLayout& layout, const Layer& layer) {
  json elements = json::array();
  for (const Element& its : layout.elements) {
    if (its.out_row >= layer.out_height()) continue;  // the last strip may have fewer columns
    elements.push_back({{"number", its.number},
                        {"row", its.row},
                        {"array", {its.array_row, its.array_column}},
                        {"out_row", its.out_row},
                        {"input_row", its.input_row}});
  }
  return {{"strip", layout.strip}, {"elements", elements}};
}

json json_of_cycle(const Cycle& cycle) {
  json object{{"pass", cycle.pass}};
  if (cycle.filter_words > 0) object["filter_words"] = cycle.filter_words;
  if (cycle.ifmap_words > 0) object["ifmap_words"] = cycle.ifmap_words;
  for (const Product& its : cycle.products)
    object["products"].push_back({its.element, its.image, its.filter, its.channel, its.out_column,
                                  its.tap, its.count, its.psum});
  for (const Hop& its : cycle.hops)
    object["hops"].push_back(
        {its.from, its.to, its.image, its.filter, its.out_row, its.out_column, its.sum});
  for (const Write& its : cycle.writes)
    object["writes"].push_back(
        {its.element, its.image, its.filter, its.out_row, its.out_column, its.sum, its.read});
  return object;
}

Count events_of(const Cycle& cycle) {
  return 1 + static_cast<Count>(cycle.products.size() + cycle.hops.size() + cycle.writes.size());
}

}  // namespace

Recording record(const Operands& operands, const Chip& chip, const Mapping& mapping,
                 Count mac_width, bool serial) {
  const Layer layer = layer_of(operands);
  Recording recording;
  json passes = json::array(), cycles = json::array();
  Count events = 0;
  const SimulationOptions options{
      .mac_width = mac_width,
      .serial = serial,
      .on_pass = [&](const PassLayout& layout) { passes.push_back(json_of_pass(layout, layer)); },
      .on_cycle =
          [&](const Cycle& cycle) {
            events += events_of(cycle);
            if (events > kMostEvents)
              throw UsageError(fmt::format(
                  "a page can show {} products and moves, but this layer has more: use smaller "
                  "sizes",
                  kMostEvents));
            cycles.push_back(json_of_cycle(cycle));
          }};
  recording.simulation = simulate(operands, chip, mapping, options);
  recording.json = {{"filter", json_of(operands.filter)},
                    {"input", json_of(padded(operands))},
                    {"output", json_of(recording.simulation.output)},
                    {"stride", operands.stride},
                    {"padding", operands.padding},
                    {"mac_width", mac_width},
                    {"array", {chip.rows, chip.columns}},
                    {"mapping", text_of(mapping)},
                    {"passes", passes},
                    {"cycles", cycles}};
  return recording;
}

}  // namespace lockstep::internal::dataflow
