// Which models there are.
#include <lockstep/error.h>

#include "base/text.h"
#include "models/lenet5.h"
#include "models/model.h"
#include "models/resnet.h"
#include "models/vgg.h"

#include <fmt/format.h>

#include <array>

namespace lockstep::models {

namespace {

struct KnownModel {
  std::string_view name;
  data::ImageShape images;
  /// A data set of such images.
  std::string_view example;
  bool batch_norm;
  bool residual_blocks;
  std::shared_ptr<Classifier> (*make)();
};

template <typename Model, int... kDepth>
std::shared_ptr<Classifier> make() {
  return std::make_shared<Model>(kDepth...);
}

constexpr std::array kModels = {
    KnownModel{"lenet5", LeNet5Impl::kImages, "mnist", false, false, make<LeNet5Impl>},
    KnownModel{"vgg11", VggImpl::kImages, "cifar10", true, false, make<VggImpl, 11>},
    KnownModel{"vgg13", VggImpl::kImages, "cifar10", true, false, make<VggImpl, 13>},
    KnownModel{"vgg16", VggImpl::kImages, "cifar10", true, false, make<VggImpl, 16>},
    KnownModel{"vgg19", VggImpl::kImages, "cifar10", true, false, make<VggImpl, 19>},
    KnownModel{"resnet18", ResNetImpl::kImages, "cifar10", true, true, make<ResNetImpl, 18>},
    KnownModel{"resnet34", ResNetImpl::kImages, "cifar10", true, true, make<ResNetImpl, 34>},
};

const KnownModel& find(std::string_view name) {
  for (const KnownModel& model : kModels)
    if (model.name == name) return model;
  throw UsageError(
      fmt::format("there is no model '{}': use one of {}", name, fmt::join(model_names(), ", ")));
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
      fmt::format("model {} takes images of {}, and those of the data are {}: use data like {}{}",
                  model, format_images(wanted.images), format_images(images), wanted.example,
                  fitting.empty() ? "" : ", or a model for such images: " + enumerate(fitting)));
}

void require_fit(std::string_view model, const data::ImageShape& images, int classes) {
  require_fit(model, images);
  if (classes > kClasses)
    throw UsageError(fmt::format(
        "model {} tells {} classes apart, and the data have {}: use data of {} or fewer", model,
        kClasses, classes, kClasses));
}

std::shared_ptr<Classifier> make_model(std::string_view name, DataType type) {
  std::shared_ptr<Classifier> model = find(name).make();
  convert(*model, type);
  return model;
}

}  // namespace lockstep::models
