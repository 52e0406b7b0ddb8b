// A model whose initial weights a seed names: the same for every engine.
#pragma once

#include <lockstep/types.h>

#include "models/classifier.h"

#include <memory>
#include <string_view>

namespace lockstep::engine {

/// Any thread may call it. With `zero_gamma` the last batch norm of each residual block starts with
/// weights of 0, so that the block passes on what came in. Throws UsageError for a model that is
/// not known or does not take such images.
std::shared_ptr<models::Classifier> make_seeded_model(std::string_view model, DataType type,
                                                      const data::ImageShape& images,
                                                      std::uint64_t seed, bool zero_gamma = false);

}  // namespace lockstep::engine
