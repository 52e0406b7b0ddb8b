// Simulates the array cycle by cycle: every product, every psum that moves, every word that is
// read.
//
// All elements work in lockstep. For each image of a pass, each output column x, each of the p
// filters and q channels, an element multiplies the S taps of its filter row with the window at x
// of its input row: one product per cycle, or `mac_width` at once. After the last channel, the
// psums of a column move up: from the next cycle on, one element per cycle adds its own psum and
// passes the sum to the element above. The top sum is added to the one in the buffer from earlier
// passes and written there. Products continue meanwhile. A pass begins when the sums of the
// previous one are in the buffer.
//
// With `serial`, the array works as a calculation by hand does: for each x and filter, one element
// after another makes all its products, then the psums of all columns move up, and only then the
// next window begins. The top sum is written in the cycle of the last addition.
//
// Words arrive from the buffer in the cycle that first needs them. The time on buses is part of the
// closed form only (row_stationary.h).
#pragma once

#include "dataflow/cost.h"
#include "dataflow/mapping.h"
#include "dataflow/tensor.h"

#include <functional>
#include <vector>

namespace lockstep::internal::dataflow {

/// An element of a set: it holds row `row` of the filters and computes output row `out_row`.
struct Element {
  Count number;     ///< from 0: down the columns of the first set, then of the next
  Count row;        ///< within the set
  Count array_row;  ///< its position
  Count array_column;
  Count out_row;
  Count input_row;  ///< row of the padded input
};

/// Products that an element adds to a psum in one cycle.
struct Product {
  Count element;
  Count image, filter, channel, out_column;
  Count tap;    ///< the first of `count` taps
  Count count;  ///< at most mac_width
  Value psum;   ///< after the addition
};

/// A psum that moves to the element above, which adds its own.
struct Hop {
  Count from, to;
  Count image, filter, out_row, out_column;
  Value sum;       ///< after the addition
  Value received;  ///< the psum that moves
};

/// A sum that is written to the buffer. `read`: it was added to one read from there.
struct Write {
  Count element;
  Count image, filter, out_row, out_column;
  Value sum;
  bool read;
};

struct Cycle {
  Count number = 0;  ///< from 1
  Count pass = 0;    ///< from 0
  Count filter_words =
      0;  ///< read from the buffer, counted once for all elements that use the word
  Count ifmap_words = 0;
  std::vector<Product> products;
  std::vector<Hop> hops;
  std::vector<Write> writes;
};

/// The positions and contents of elements during a pass.
struct PassLayout {
  Count number = 0;
  std::vector<Element> elements;
  Count strip = 0;
};

struct Counters {
  Count cycles = 0;
  Count product_cycles = 0;  ///< cycles with at least one product
  Count macs = 0;
  Count passes = 0;
  Words buffer_reads;
  Count buffer_writes = 0;  ///< psums written
  Words array;              ///< words into elements; for psums, hops
  Words registers;
};

struct SimulationOptions {
  Count mac_width = 1;
  bool serial = false;  ///< one element at a time
  std::function<void(const PassLayout&)> on_pass;
  std::function<void(const Cycle&)> on_cycle;
};

struct Simulation {
  Tensor output;
  Counters counters;
};

/// Throws UsageError if the operands do not fit each other or the rules forbid the mapping.
Simulation simulate(const Operands& operands, const Chip& chip, const Mapping& mapping,
                    const SimulationOptions& options = {});

}  // namespace lockstep::internal::dataflow
