#include "dataflow/result_json.h"

#include <algorithm>

namespace lockstep::internal::dataflow {

namespace {

using nlohmann::json;

json json_of(const Words& words) {
  return {{"filter", words.filter}, {"ifmap", words.ifmap}, {"psum", words.psum}};
}

json json_of(const Energy& energy) {
  return {{"alu", energy.alu},
          {"dram", energy.dram},
          {"buffer", energy.buffer},
          {"array", energy.array},
          {"register", energy.registers}};
}

json json_of(const Placement& placement) {
  return {{"set_rows", placement.set_rows},
          {"set_columns", placement.set_columns},
          {"folds", placement.folds},
          {"room_down", placement.down},
          {"room_across", placement.across}};
}

json shape_of(const Layer& layer) {
  return {{"batch", layer.batch},
          {"channels", layer.channels},
          {"filters", layer.filters},
          {"height", layer.height},
          {"width", layer.width},
          {"kernel_height", layer.kernel_height},
          {"kernel_width", layer.kernel_width},
          {"stride", layer.stride},
          {"padding", layer.padding},
          {"groups", layer.groups}};
}

void add_amounts(json& object, const Result& result, const Chip& chip) {
  const Accesses& accesses = result.accesses;
  object["macs"] = result.macs;
  object["active_pes"] = result.active_elements;
  object["utilisation"] = result.utilisation(chip);
  object["cycles"] = result.time.total();
  object["cycles_split"] = {{"compute", result.time.compute},
                            {"bus_wait", result.time.bus_wait},
                            {"ramp_up", result.time.ramp_up}};
  object["milliseconds"] = chip.milliseconds(result.time.total());
  object["gmacs_per_second"] = result.throughput(chip);
  object["accesses"] = {{"dram", accesses.dram.total()},
                        {"buffer", accesses.buffer.total()},
                        {"array", accesses.array.total()},
                        {"register", accesses.registers.total()}};
  object["accesses_by_type"] = {{"dram", json_of(accesses.dram)},
                                {"buffer", json_of(accesses.buffer)},
                                {"array", json_of(accesses.array)},
                                {"register", json_of(accesses.registers)}};
  object["buffer_bytes"] = buffer_bytes(accesses);
  object["dram_bytes"] = dram_bytes(accesses);
  object["energy"] = json_of(result.energy);
  object["energy_total"] = result.energy.total();
}

}  // namespace

json json_of(const Mapping& mapping) {
  return {{"m", mapping.m}, {"n", mapping.n}, {"e", mapping.e}, {"p", mapping.p},
          {"q", mapping.q}, {"r", mapping.r}, {"t", mapping.t}};
}

json json_of(const Result& result, const Chip& chip) {
  json object{{"name", result.name}, {"dataflow", result.dataflow}, {"pass", result.pass}};
  add_amounts(object, result, chip);
  if (result.name == "total") return object;
  object["bound_by"] = result.bound_by;
  object["arrangement"] = result.arrangement;
  object["layer"] = shape_of(result.layer);
  if (result.mapping) object["mapping"] = json_of(*result.mapping);
  if (result.placement) object["placement"] = json_of(*result.placement);
  return object;
}

json json_of(const Chip& chip) {
  return {{"array", {chip.rows, chip.columns}},
          {"buffer_bytes", chip.buffer_bytes},
          {"filter_buffer_bytes", chip.filter_buffer_bytes},
          {"registers",
           {{"filter", chip.registers.filter},
            {"ifmap", chip.registers.ifmap},
            {"psum", chip.registers.psum}}},
          {"bus_words",
           {{"filter", chip.buses.filter}, {"ifmap", chip.buses.ifmap}, {"psum", chip.buses.psum}}},
          {"energy_costs",
           {{"alu", chip.energy.alu},
            {"register", chip.energy.registers},
            {"array", chip.energy.array},
            {"buffer", chip.energy.buffer},
            {"dram", chip.energy.dram}}},
          {"megahertz", chip.megahertz}};
}

std::vector<std::vector<Result>> by_kind(const std::vector<Result>& results) {
  std::vector<std::vector<Result>> kinds;
  for (const Result& result : results) {
    const auto same = [&result](const std::vector<Result>& kind) {
      return kind.front().dataflow == result.dataflow && kind.front().pass == result.pass;
    };
    const auto found = std::find_if(kinds.begin(), kinds.end(), same);
    if (found == kinds.end())
      kinds.push_back({result});
    else
      found->push_back(result);
  }
  return kinds;
}

json json_of(const std::vector<Result>& results, const Chip& chip) {
  json object{{"chip", json_of(chip)}, {"layers", json::array()}};
  std::vector<Result> first;  // the first dataflow, all passes
  for (const Result& result : results) {
    object["layers"].push_back(json_of(result, chip));
    if (result.dataflow == results.front().dataflow) first.push_back(result);
  }
  object["total"] = json_of(total_of(first), chip);
  object["total"].erase("pass");
  const std::vector<std::vector<Result>> kinds = by_kind(results);
  if (kinds.size() < 2) return object;
  for (const std::vector<Result>& kind : kinds) {
    json total = json_of(total_of(kind), chip);
    total["dataflow"] = kind.front().dataflow;
    total["pass"] = kind.front().pass;
    object["totals"].push_back(std::move(total));
  }
  return object;
}

}  // namespace lockstep::internal::dataflow
