// The models that there are, without the cost of including them.
#pragma once

#include "data/images.h"

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models {

/// The classes that every model tells apart.
inline constexpr int kClasses = 10;

/// The names that make_model knows.
std::vector<std::string> model_names();

/// The shape of the images that a model takes. Throws UsageError that lists the known names.
data::ImageShape images_of(std::string_view model);

/// Throws UsageError that lists the known names.
bool has_batch_norm(std::string_view model);
bool has_residual_blocks(std::string_view model);

/// Throws UsageError, which says what would fit, if the model does not take images of this shape.
void require_fit(std::string_view model, const data::ImageShape& images);

/// The same for images of so many classes.
void require_fit(std::string_view model, const data::ImageShape& images, int classes);

}  // namespace lockstep::models
