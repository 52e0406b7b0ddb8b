#include "dataflow/cost.h"

#include <algorithm>

namespace lockstep::internal::dataflow {

Words& Words::operator+=(const Words& other) {
  filter += other.filter;
  ifmap += other.ifmap;
  psum += other.psum;
  return *this;
}

Words Words::times(Count factor) const {
  return {filter * factor, ifmap * factor, psum * factor};
}

Accesses& Accesses::operator+=(const Accesses& other) {
  registers += other.registers;
  array += other.array;
  buffer += other.buffer;
  dram += other.dram;
  return *this;
}

Accesses Accesses::times(Count factor) const {
  return {registers.times(factor), array.times(factor), buffer.times(factor), dram.times(factor)};
}

Count Cycles::pace() const {
  return std::max({compute, psum_bus, ifmap_bus, filter_bus});
}

std::string_view Cycles::bound_by() const {
  if (pace() == compute) return "compute";
  if (pace() == psum_bus) return "psum bus";
  return pace() == ifmap_bus ? "ifmap bus" : "filter bus";
}

Cycles& Cycles::operator+=(const Cycles& other) {
  compute += other.compute;
  psum_bus += other.psum_bus;
  ifmap_bus += other.ifmap_bus;
  filter_bus += other.filter_bus;
  ramp_up += other.ramp_up;
  return *this;
}

Cycles Cycles::times(Count factor) const {
  return {compute * factor, psum_bus * factor, ifmap_bus * factor, filter_bus * factor,
          ramp_up * factor};
}

Energy& Energy::operator+=(const Energy& other) {
  alu += other.alu;
  dram += other.dram;
  buffer += other.buffer;
  array += other.array;
  registers += other.registers;
  return *this;
}

Energy energy_of(const Chip& chip, Count macs, const Accesses& accesses) {
  const auto of = [](double cost, const Words& words) {
    return cost * static_cast<double>(words.total());
  };
  return {.alu = chip.energy.alu * static_cast<double>(macs),
          .dram = of(chip.energy.dram, accesses.dram),
          .buffer = of(chip.energy.buffer, accesses.buffer),
          .array = of(chip.energy.array, accesses.array),
          .registers = of(chip.energy.registers, accesses.registers)};
}

Count buffer_bytes(const Accesses& accesses) {
  return Chip::kWordBytes * (accesses.buffer.ifmap + accesses.buffer.psum);
}

Count dram_bytes(const Accesses& accesses) {
  return Chip::kWordBytes * accesses.dram.total();
}

}  // namespace lockstep::internal::dataflow
