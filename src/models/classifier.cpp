#include "models/classifier.h"

#include <lockstep/error.h>

#include <fmt/format.h>

namespace lockstep::internal::models {

torch::Tensor Classifier::forward(const torch::Tensor& images) {
  const bool fits = images.dim() == 4 && images.size(1) == images_.channels &&
                    images.size(2) == images_.height && images.size(3) == images_.width;
  if (!fits)
    throw UsageError(fmt::format(
        "{} expects images of [N, {}, {}, {}], got [{}]: pad or resize them", name(),
        images_.channels, images_.height, images_.width, fmt::join(images.sizes(), ", ")));
  return scores(images);
}

}  // namespace lockstep::internal::models
