// Backward passes are convolutions, too.
//
// The gradient of the input is a convolution of the output's gradient with the filters turned
// round; channels and filters change places. The gradient of the weights is a convolution of the
// input with the output's gradient as a filter: there the batch is what is summed over, and the
// result is as small as a filter. A filter as large as a map fits no array, so it is cut to pieces,
// which are summed over like channels.
//
// A stride would put zeros between the gradients. Instead, rows and columns are taken apart by
// their remainder modulo the stride, which gives stride² small convolutions without zeros: phases.
#pragma once

#include "dataflow/result.h"

#include <vector>

namespace lockstep::dataflow {

enum class Pass { kForward, kInputGradient, kWeightGradient };

/// "forward", "input gradient", "weight gradient".
std::string_view name_of(Pass pass);

/// One of the convolutions that a pass is made of, and how many there are of its size.
struct Part {
  Layer layer;
  Count times = 1;
};

/// REQUIRES: sound layer and chip. The last pieces of a filter are filled up with zeros: up to
/// a piece's rows and columns more are computed than the gradient needs.
std::vector<Part> parts_of(const Layer& layer, const Chip& chip, Pass pass);

/// Multiplications that the pass needs, without those that fill pieces up or meet padding.
Count useful_macs(const Layer& layer, Pass pass);

/// All parts with the best mapping of each.
Result evaluate_pass(const Layer& layer, const Chip& chip, Goal goal, Pass pass);

/// All three passes of every layer. Nobody needs the gradient of the first layer's input.
std::vector<Result> evaluate_training(const std::vector<Layer>& layers, const Chip& chip,
                                      Goal goal);

}  // namespace lockstep::dataflow
