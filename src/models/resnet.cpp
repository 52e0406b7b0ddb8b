#include "models/resnet.h"

#include "base/check.h"
#include "models/model_names.h"

#include <fmt/format.h>

#include <array>

namespace lockstep::internal::models {

namespace nn = torch::nn;

namespace {

/// A convolution before batch norm needs no bias.
nn::Conv2d convolution(int channels_in, int channels_out, int size, int stride) {
  return nn::Conv2d(nn::Conv2dOptions(channels_in, channels_out, size)
                        .stride(stride)
                        .padding(size / 2)
                        .bias(false));
}

/// Number of blocks in each of the four layers.
std::array<int, 4> blocks_of(int depth) {
  if (depth == 18) return {2, 2, 2, 2};
  LOCKSTEP_CHECK(depth == 34, "there is no ResNet of depth {}", depth);
  return {3, 4, 6, 3};
}

nn::Sequential make_layer(int blocks, int channels_in, int channels_out, int stride) {
  nn::Sequential layer;
  layer->push_back(BasicBlock(channels_in, channels_out, stride));
  for (int i = 1; i < blocks; ++i) layer->push_back(BasicBlock(channels_out, channels_out, 1));
  return layer;
}

}  // namespace

BasicBlockImpl::BasicBlockImpl(int channels_in, int channels_out, int stride)
    : conv1(convolution(channels_in, channels_out, 3, stride)),
      bn1(channels_out),
      conv2(convolution(channels_out, channels_out, 3, 1)),
      bn2(channels_out) {
  register_module("conv1", conv1);
  register_module("bn1", bn1);
  register_module("conv2", conv2);
  register_module("bn2", bn2);
  if (stride == 1 && channels_in == channels_out) return;
  downsample->push_back(convolution(channels_in, channels_out, 1, stride));
  downsample->push_back(nn::BatchNorm2d(channels_out));
  register_module("downsample", downsample);
}

torch::Tensor BasicBlockImpl::forward(const torch::Tensor& input) {
  const torch::Tensor middle = bn1->forward(conv1->forward(input)).relu_();
  torch::Tensor output = bn2->forward(conv2->forward(middle));
  output += downsample->is_empty() ? input : downsample->forward(input);
  return output.relu_();
}

ResNetImpl::ResNetImpl(int depth)
    : Classifier(fmt::format("resnet{}", depth), kImages),
      conv1(convolution(kImages.channels, 64, 3, 1)),
      bn1(64),
      fc(nullptr) {
  register_module("conv1", conv1);
  register_module("bn1", bn1);
  // Made one after another, so that a seed draws the weights in the order of the layers, as in
  // PyTorch.
  const std::array<int, 4> blocks = blocks_of(depth);
  layer1 = register_module("layer1", make_layer(blocks[0], 64, 64, 1));
  layer2 = register_module("layer2", make_layer(blocks[1], 64, 128, 2));
  layer3 = register_module("layer3", make_layer(blocks[2], 128, 256, 2));
  layer4 = register_module("layer4", make_layer(blocks[3], 256, 512, 2));
  fc = register_module("fc", nn::Linear(512, kClasses));
}

torch::Tensor ResNetImpl::scores(const torch::Tensor& images) {
  torch::Tensor values = bn1->forward(conv1->forward(images)).relu_();
  for (nn::Sequential layer : {layer1, layer2, layer3, layer4}) values = layer->forward(values);
  return fc->forward(torch::avg_pool2d(values, 4).flatten(1));
}

}  // namespace lockstep::internal::models
