// What a layer costs: accesses of each kind of data at each level, cycles, energy.
#pragma once

#include "dataflow/chip.h"

#include <string_view>

namespace lockstep::dataflow {

/// Words, by what they are. Psums that are complete are the output: they count as psums, too.
struct Words {
  Count filter = 0;
  Count ifmap = 0;
  Count psum = 0;

  Count total() const { return filter + ifmap + psum; }
  Words& operator+=(const Words& other);
  Words times(Count factor) const;
};

/// Words that are read or written at each level.
struct Accesses {
  Words registers;  ///< for multiplying: two reads, and a read and a write of the psum
  Words array;      ///< moved into an element: from a bus by multicast, or psums from a neighbour
  Words buffer;
  Words dram;

  Accesses& operator+=(const Accesses& other);
  Accesses times(Count factor) const;
};

/// Elements work while buses carry: the slowest of the three sets the pace. Before it can begin, a
/// pass waits for its filters and for the first window of every input row: the ramp-up.
struct Cycles {
  Count compute = 0;
  Count psum_bus = 0;
  Count ifmap_bus = 0;
  Count filter_bus = 0;  ///< of dataflows that stream filters; row-stationary ones only ramp up
  Count ramp_up = 0;

  Count pace() const;
  Count total() const { return pace() + ramp_up; }
  /// "compute", "psum bus", "ifmap bus" or "filter bus".
  std::string_view bound_by() const;
  Cycles& operator+=(const Cycles& other);
  Cycles times(Count factor) const;
};

struct Energy {
  double alu = 0;
  double dram = 0;
  double buffer = 0;
  double array = 0;
  double registers = 0;

  double total() const { return alu + dram + buffer + array + registers; }
  Energy& operator+=(const Energy& other);
};

struct Cost {
  Count macs = 0;
  Accesses accesses;
  Cycles cycles;
};

Energy energy_of(const Chip& chip, Count macs, const Accesses& accesses);

/// Bytes of input maps and psums that the buffer reads and writes, which is what Eyeriss's tables
/// count; filters pass through a buffer of their own.
Count buffer_bytes(const Accesses& accesses);
Count dram_bytes(const Accesses& accesses);

}  // namespace lockstep::dataflow
