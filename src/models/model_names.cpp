#include "models/model_names.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace lockstep::internal::models {

namespace {

struct KnownModel {
  std::string_view name;
  data::ImageShape images;
  std::string_view example;  ///< a data set with such images
  bool batch_norm;
  bool residual_blocks;
};

constexpr std::array kModels = {
    KnownModel{"lenet5", kGrayImages, "mnist", false, false},
    KnownModel{"vgg11", kColourImages, "cifar10", true, false},
    KnownModel{"vgg13", kColourImages, "cifar10", true, false},
    KnownModel{"vgg16", kColourImages, "cifar10", true, false},
    KnownModel{"vgg19", kColourImages, "cifar10", true, false},
    KnownModel{"resnet18", kColourImages, "cifar10", true, true},
    KnownModel{"resnet34", kColourImages, "cifar10", true, true},
};

const KnownModel& find(std::string_view name) {
  for (const KnownModel& model : kModels)
    if (model.name == name) return model;
  throw UsageError(
      fmt::format("unknown model '{}': use one of {}", name, fmt::join(model_names(), ", ")));
}

std::string format_images(const data::ImageShape& images) {
  return fmt::format("{}×{}×{}", images.channels, images.height, images.width);
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const KnownModel& model : kModels) names.emplace_back(model.name);
  return names;
}

data::ImageShape images_of(std::string_view model) {
  return find(model).images;
}

bool has_batch_norm(std::string_view model) {
  return find(model).batch_norm;
}

bool has_residual_blocks(std::string_view model) {
  return find(model).residual_blocks;
}

void require_fit(std::string_view model, const data::ImageShape& images) {
  const KnownModel& wanted = find(model);
  if (wanted.images == images) return;
  std::vector<std::string> fitting;
  for (const KnownModel& other : kModels)
    if (other.images == images) fitting.emplace_back(other.name);
  throw UsageError(
      fmt::format("model {} expects images of {}, but the data have {}: use data like {}{}", model,
                  format_images(wanted.images), format_images(images), wanted.example,
                  fitting.empty() ? "" : ", or a model for such images: " + enumerate(fitting)));
}

void require_fit(std::string_view model, const data::ImageShape& images, int classes) {
  require_fit(model, images);
  if (classes > kClasses)
    throw UsageError(
        fmt::format("model {} has {} classes, but the data have {}: use data of {} or fewer", model,
                    kClasses, classes, kClasses));
}

}  // namespace lockstep::internal::models
