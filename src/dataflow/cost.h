// The cost of a layer: accesses of each kind of data at each level, cycles, energy.
#pragma once

#include "dataflow/chip.h"

#include <string_view>

namespace lockstep::internal::dataflow {

/// Numbers of words by kind of data. Complete psums are the output and count as psums.
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
  Words registers;  ///< of a multiplication: two reads, and a read and a write of the psum
  Words array;      ///< moved into an element: from a bus by multicast, or psums from a neighbour
  Words buffer;
  Words dram;

  Accesses& operator+=(const Accesses& other);
  Accesses times(Count factor) const;
};

/// Elements compute while buses transfer: the slowest of them determines the time. Before a pass
/// starts, it waits for its filters and for the first window of every input row: the ramp-up.
struct Cycles {
  Count compute = 0;
  Count psum_bus = 0;
  Count ifmap_bus = 0;
  Count filter_bus = 0;  ///< for dataflows that stream filters; row-stationary only ramps up
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

/// Bytes of input maps and psums that the buffer reads and writes, as counted in the tables of
/// Eyeriss; filters use a separate buffer.
Count buffer_bytes(const Accesses& accesses);
Count dram_bytes(const Accesses& accesses);

}  // namespace lockstep::internal::dataflow
