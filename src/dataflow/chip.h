// The accelerator: an array of processing elements with registers, a global buffer and a DRAM. The
// defaults are those of the Eyeriss chip.
#pragma once

#include "dataflow/layer.h"

namespace lockstep::internal::dataflow {

/// Capacity of one element, in words of two bytes.
struct Registers {
  Count filter =
      224;  ///< must hold p · q · S words of a mapping: more filters per pass, fewer passes
  Count ifmap = 12;  ///< must hold q · S words: the window that slides along an input row
  Count psum = 24;   ///< must hold p words
};

/// Words that a bus transfers in a cycle.
struct Buses {
  Count filter = 4;
  Count ifmap = 1;
  Count psum = 4;  ///< in each direction
};

/// Energy of an operation or of one word's access, relative to a multiply-accumulate.
struct EnergyCosts {
  double alu = 1;
  double registers = 1;
  double array = 2;  ///< from element to element, or from a bus into an element
  double buffer = 6;
  double dram = 200;
};

struct Chip {
  Count rows = 12;
  Count columns = 14;
  Count buffer_bytes = 100 * 1024;       ///< for input maps and psums
  Count filter_buffer_bytes = 8 * 1024;  ///< holds the filters of the next pass
  Registers registers;
  Buses buses;
  EnergyCosts energy;
  double megahertz = 200;

  static constexpr Count kWordBytes = 2;

  Count elements() const { return rows * columns; }
  Count buffer_words() const { return buffer_bytes / kWordBytes; }
  Count filter_buffer_words() const { return filter_buffer_bytes / kWordBytes; }
  double milliseconds(Count cycles) const { return static_cast<double>(cycles) / megahertz / 1e3; }
};

/// Throws UsageError for sizes out of range.
void require_sound(const Chip& chip);

}  // namespace lockstep::internal::dataflow
