// A model with seeded initial weights, the same for every engine.
#pragma once

#include <lockstep/types.h>

#include "models/classifier.h"

#include <memory>
#include <string_view>

namespace lockstep::internal::engine {

/// Thread safety: any thread may call it. With `zero_gamma` the last batch norm of each residual
/// block starts with weights of 0, so that the block is the identity at first. Throws UsageError
/// for an unknown model or unsupported images.
std::shared_ptr<models::Classifier> make_seeded_model(std::string_view model, DataType type,
                                                      const data::ImageShape& images,
                                                      std::uint64_t seed, bool zero_gamma = false);

}  // namespace lockstep::internal::engine
