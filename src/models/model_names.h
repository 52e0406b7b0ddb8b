// The names and properties of models, free of torch.
#pragma once

#include "data/images.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::models {

/// Number of classes of every model.
inline constexpr int kClasses = 10;

/// The images that lenet5 takes, and those that all other models take.
inline constexpr data::ImageShape kGrayImages{1, 32, 32};
inline constexpr data::ImageShape kColourImages{3, 32, 32};

/// The names for make_model.
std::vector<std::string> model_names();

/// The shape of a model's images. Throws UsageError with the known names.
data::ImageShape images_of(std::string_view model);

/// Throws UsageError with the known names.
bool has_batch_norm(std::string_view model);
bool has_residual_blocks(std::string_view model);

/// Throws UsageError, with what would fit, unless the model supports images of this shape.
void require_fit(std::string_view model, const data::ImageShape& images);

/// Also checks the number of classes.
void require_fit(std::string_view model, const data::ImageShape& images, int classes);

}  // namespace lockstep::internal::models
