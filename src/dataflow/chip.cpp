#include "dataflow/chip.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

namespace lockstep::internal::dataflow {

void require_sound(const Chip& chip) {
  constexpr Count kMostElements = 1024;  // per side: limits the time of the search
  constexpr Count kMost = Count{1} << 40;
  const auto require = [](std::string_view name, Count value, Count most) {
    if (value < 1 || value > most)
      throw UsageError(fmt::format("chip: {} is {}: it must be from 1 to {}", name, value, most));
  };
  require("rows of the array", chip.rows, kMostElements);
  require("columns of the array", chip.columns, kMostElements);
  require("buffer", chip.buffer_bytes, kMost);
  require("filter buffer", chip.filter_buffer_bytes, kMost);
  require("filter registers", chip.registers.filter, kMost);
  require("ifmap registers", chip.registers.ifmap, kMost);
  require("psum registers", chip.registers.psum, kMost);
  require("filter bus", chip.buses.filter, kMost);
  require("ifmap bus", chip.buses.ifmap, kMost);
  require("psum bus", chip.buses.psum, kMost);
  const EnergyCosts& energy = chip.energy;
  for (double cost : {energy.alu, energy.registers, energy.array, energy.buffer, energy.dram})
    if (!(cost >= 0) || !std::isfinite(cost))
      throw UsageError(fmt::format("chip: an energy is {}: it must be 0 or more", cost));
  if (!(chip.megahertz > 0) || !std::isfinite(chip.megahertz))
    throw UsageError(fmt::format("chip: the clock is {} MHz: it must be above 0", chip.megahertz));
}

}  // namespace lockstep::internal::dataflow
