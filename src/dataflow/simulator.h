// The array at work, cycle by cycle: every product, every psum that moves, every word that is read.
//
// All elements work in lockstep. For each image of a pass, each output column x, each of the p
// filters and q channels, an element multiplies the S taps of its filter row with the window at x
// of its input row: one product a cycle, or `mac_width` at once. When the last channel is done, the
// psums of a column move up: from the cycle after on, each cycle one element adds its own and hands
// the sum on; the topmost sum joins what the buffer has from earlier passes and is written there.
// Products go on meanwhile. A pass begins when the sums of the one before are in the buffer.
//
// Words arrive from the buffer in the cycle that first needs them: how long buses take is the
// closed form's business (row_stationary.h).
#pragma once

#include "dataflow/cost.h"
#include "dataflow/mapping.h"
#include "dataflow/tensor.h"

#include <functional>
#include <vector>

namespace lockstep::dataflow {

/// An element of a set: it holds row `row` of filters, and serves output row `out_row`.
struct Element {
  Count number;     ///< from 0: down the columns of the first set, then of the next
  Count row;        ///< within the set
  Count array_row;  ///< where it lies
  Count array_column;
  Count out_row;
  Count input_row;  ///< of the padded input
};

/// Products that an element adds to a psum in one cycle.
struct Product {
  Count element;
  Count image, filter, channel, out_column;
  Count tap;    ///< the first of `count`
  Count count;  ///< at most mac_width
  Value psum;   ///< afterwards
};

/// A psum that moves to the element above, which adds its own.
struct Hop {
  Count from, to;
  Count image, filter, out_row, out_column;
  Value sum;  ///< afterwards
};

/// A sum that goes to the buffer. `read` says that it joined one that was there.
struct Write {
  Count element;
  Count image, filter, out_row, out_column;
  Value sum;
  bool read;
};

struct Cycle {
  Count number = 0;        ///< from 1
  Count pass = 0;          ///< from 0
  Count filter_words = 0;  ///< read from the buffer, each once for all who share it
  Count ifmap_words = 0;
  std::vector<Product> products;
  std::vector<Hop> hops;
  std::vector<Write> writes;
};

/// Where elements are and what they hold during a pass.
struct PassLayout {
  Count number = 0;
  std::vector<Element> elements;
  Count strip = 0;
};

struct Counters {
  Count cycles = 0;
  Count product_cycles = 0;  ///< in which something was multiplied
  Count macs = 0;
  Count passes = 0;
  Words buffer_reads;
  Count buffer_writes = 0;  ///< of psums
  Words array;              ///< words into elements; of psums, hops
  Words registers;
};

struct SimulationOptions {
  Count mac_width = 1;
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

}  // namespace lockstep::dataflow
