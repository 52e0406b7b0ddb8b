// Backward passes as convolutions.
//
// The gradient of the input is a convolution of the output's gradient with the filters rotated by
// 180°; channels and filters change places. The gradient of the weights is a convolution of the
// input with the output's gradient as the filter: it sums over the batch, and its result is as
// small as a filter. A filter as large as a map fits no array, so it is cut into pieces, which are
// summed over like channels.
//
// A stride would put zeros between the gradients. Instead, rows and columns are separated by their
// remainder modulo the stride, which gives stride² small convolutions without zeros: phases.
#pragma once

#include "dataflow/result.h"

#include <vector>

namespace lockstep::internal::dataflow {

enum class Pass { kForward, kInputGradient, kWeightGradient };

/// "forward", "input gradient", "weight gradient".
std::string_view name_of(Pass pass);

/// One of the convolutions of a pass, and the number of convolutions of its size.
struct Part {
  Layer layer;
  Count times = 1;
};

/// REQUIRES: require_sound() accepts layer and chip. The last pieces of a filter are padded with
/// zeros: up to a piece's rows and columns more are computed than the gradient needs.
std::vector<Part> parts_of(const Layer& layer, const Chip& chip, Pass pass);

/// Multiplications that the pass needs, without those on padding.
Count useful_macs(const Layer& layer, Pass pass);

/// Evaluates all parts, each with its best mapping.
Result evaluate_pass(const Layer& layer, const Chip& chip, Goal goal, Pass pass);

/// All three passes of every layer, without the input gradient of the first layer, which is not
/// needed.
std::vector<Result> evaluate_training(const std::vector<Layer>& layers, const Chip& chip,
                                      Goal goal);

}  // namespace lockstep::internal::dataflow
