#include "models/vgg.h"

#include "base/check.h"
#include "models/max_pool.h"
#include "models/model_names.h"

#include <fmt/format.h>

#include <array>

namespace lockstep::internal::models {

namespace nn = torch::nn;

namespace {

struct Stage {
  int convolutions;
  int channels;
};

std::array<Stage, 5> stages_of(int depth) {
  switch (depth) {
    case 11:
      return {{{1, 64}, {1, 128}, {2, 256}, {2, 512}, {2, 512}}};
    case 13:
      return {{{2, 64}, {2, 128}, {2, 256}, {2, 512}, {2, 512}}};
    case 16:
      return {{{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}}};
    case 19:
      return {{{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}}};
    default:
      LOCKSTEP_CHECK(false, "there is no VGG of depth {}", depth);
  }
}

}  // namespace

void append_convolution(nn::Sequential& layers, int channels_in, int channels_out) {
  layers->push_back(nn::Conv2d(nn::Conv2dOptions(channels_in, channels_out, 3).padding(1)));
  layers->push_back(nn::BatchNorm2d(channels_out));
  layers->push_back(nn::ReLU(nn::ReLUOptions(/*inplace=*/true)));
}

VggImpl::VggImpl(int depth)
    : Classifier(fmt::format("vgg{}", depth), kImages), classifier(nullptr) {
  int channels = kImages.channels;
  for (const Stage& stage : stages_of(depth)) {
    for (int i = 0; i < stage.convolutions; ++i) {
      append_convolution(features, channels, stage.channels);
      channels = stage.channels;
    }
    features->push_back(MaxPool2x2());
  }
  register_module("features", features);
  // Made last, so that a seed draws the weights in the order of the layers, as PyTorch does.
  classifier = register_module("classifier", nn::Linear(channels, kClasses));
}

torch::Tensor VggImpl::scores(const torch::Tensor& images) {
  return classifier->forward(features->forward(images).flatten(1));
}

}  // namespace lockstep::internal::models
