// The module behind each name of model_names().
#include "base/check.h"
#include "models/lenet5.h"
#include "models/model.h"
#include "models/resnet.h"
#include "models/vgg.h"

#include <algorithm>
#include <array>

namespace lockstep::internal::models {

namespace {

template <typename Model, int... kDepth>
std::shared_ptr<Classifier> make() {
  return std::make_shared<Model>(kDepth...);
}

struct Maker {
  std::string_view name;
  std::shared_ptr<Classifier> (*make)();
};

constexpr std::array kMakers = {
    Maker{"lenet5", make<LeNet5Impl>},       Maker{"vgg11", make<VggImpl, 11>},
    Maker{"vgg13", make<VggImpl, 13>},       Maker{"vgg16", make<VggImpl, 16>},
    Maker{"vgg19", make<VggImpl, 19>},       Maker{"resnet18", make<ResNetImpl, 18>},
    Maker{"resnet34", make<ResNetImpl, 34>},
};

}  // namespace

std::shared_ptr<Classifier> make_model(std::string_view name, DataType type) {
  images_of(name);  // throws UsageError for an unknown name
  const auto* maker = std::ranges::find(kMakers, name, &Maker::name);
  LOCKSTEP_CHECK(maker != kMakers.end(), "model {} is listed, but has no module", name);
  std::shared_ptr<Classifier> model = maker->make();
  convert(*model, type);
  return model;
}

}  // namespace lockstep::internal::models
