#include "engine/onednn/describe_layers.h"

#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "ddp/gradient_hooks.h"
#include "models/average_pool.h"
#include "models/covering_convolution.h"
#include "models/max_pool.h"

#include <fmt/format.h>

#include <typeinfo>

namespace lockstep::internal::engine::onednn {

namespace nn = torch::nn;

namespace {

/// Whether a module is of exactly one of these classes: a derived class may compute something else.
template <typename... Classes>
bool is_a(const nn::Module& module) {
  return ((typeid(module) == typeid(Classes)) || ...);
}

Extent extent(const torch::ExpandingArray<2>& values) {
  return {values->at(0), values->at(1)};
}

Extent after(const Extent& map, const Window& window, const std::string& name,
             const nn::Module& module) {
  Extent out{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t room = map[i] + 2 * window.padding[i] - window.size[i];
    if (room < 0) refuse(name, module, "has windows that are larger than its input");
    out[i] = room / window.stride[i] + 1;
  }
  return out;
}

std::optional<Group> group_of(const nn::BatchNorm2dImpl&) {
  return std::nullopt;
}
/// A single rank needs no messages.
std::optional<Group> group_of(const SyncBatchNormImpl& layer) {
  const std::optional<Group>& group = layer.group();
  return group && group->size() > 1 ? group : std::nullopt;
}

}  // namespace

void refuse(const std::string& layer, const nn::Module& module, const std::string& why) {
  throw UsageError(fmt::format("the onednn engine does not support layer {} ({}), which {}: {}",
                               layer, module.name(), why, kRemedy));
}

Description::Description(const nn::Module& module, const data::ImageShape& images) {
  graph_.images = images;
  for (const auto& named : ddp::trained_parameters(module)) {
    numbers_[named.value().unsafeGetTensorImpl()] = static_cast<int>(graph_.parameters.size());
    graph_.parameters.push_back({named.key(), named.value().sizes().vec()});
  }
  used_.resize(graph_.parameters.size());
}

Values Description::images() const {
  return {kImages, graph_.images.channels, {graph_.images.height, graph_.images.width}, false};
}

Values Description::flat(Values values) {
  values.flat = true;
  return values;
}

Values Description::push(Layer layer, const Values& output) {
  graph_.layers.push_back(std::move(layer));
  Values values = output;
  values.layer = static_cast<int>(graph_.layers.size()) - 1;
  return values;
}

int Description::number_of(const torch::Tensor& parameter, const std::string& layer) {
  if (!parameter.defined()) return kNone;
  const auto found = numbers_.find(parameter.unsafeGetTensorImpl());
  if (found == numbers_.end())
    throw UsageError(
        fmt::format("the onednn engine does not support layer {}, whose parameters are frozen: {}",
                    layer, kRemedy));
  const auto number = static_cast<std::size_t>(found->second);
  if (used_[number])
    throw UsageError(
        fmt::format("the onednn engine does not support layer {}, which uses {} together with "
                    "another layer: {}",
                    layer, graph_.parameters[number].name, kRemedy));
  used_[number] = true;
  return found->second;
}

Values Description::add(nn::Module& module, const std::string& name, const Values& input) {
  if (is_a<nn::SequentialImpl>(module))
    return add_layers(dynamic_cast<nn::SequentialImpl&>(module), name, input);
  if (is_a<nn::LinearImpl>(module))
    return add_linear(dynamic_cast<nn::LinearImpl&>(module), name, input);
  if (is_a<nn::ReLUImpl>(module)) return add_relu(name, input);
  if (is_a<nn::TanhImpl>(module))
    return push({.kind = LayerKind::tanh, .name = name, .inputs = {input.layer}}, input);
  if (is_a<nn::IdentityImpl>(module)) return input;
  if (is_a<nn::FlattenImpl>(module)) {
    const auto& options = dynamic_cast<nn::FlattenImpl&>(module).options;
    if (options.start_dim() != 1 || options.end_dim() != -1)
      refuse(name, module, "does not flatten exactly the dimensions of an image");
    return flat(input);
  }
  if (input.flat) refuse(name, module, "follows a Flatten");
  if (is_a<nn::Conv2dImpl, models::CoveringConv2dImpl>(module))
    return add_convolution(dynamic_cast<nn::Conv2dImpl&>(module), name, input);
  if (is_a<nn::BatchNorm2dImpl>(module))
    return add_batch_norm(dynamic_cast<nn::BatchNorm2dImpl&>(module), name, input);
  if (is_a<SyncBatchNormImpl>(module))
    return add_batch_norm(dynamic_cast<SyncBatchNormImpl&>(module), name, input);
  if (is_a<nn::MaxPool2dImpl, models::MaxPool2x2Impl>(module))
    return add_pool(dynamic_cast<nn::MaxPool2dImpl&>(module), LayerKind::max_pool, name, input);
  if (is_a<nn::AvgPool2dImpl, models::AveragePool2x2Impl>(module))
    return add_pool(dynamic_cast<nn::AvgPool2dImpl&>(module), LayerKind::average_pool, name, input);
  return add_block_of_model(*this, module, name, input);
}

Values Description::add_layers(nn::SequentialImpl& layers, const std::string& name, Values values) {
  for (const auto& child : layers.named_children())
    values = add(*child.value(), name.empty() ? child.key() : name + "." + child.key(), values);
  return values;
}

Values Description::add_convolution(nn::Conv2dImpl& layer, const std::string& name,
                                    const Values& input) {
  const auto& options = layer.options;
  if (options.groups() != 1) refuse(name, layer, "has groups of channels");
  if (extent(options.dilation()) != Extent{1, 1}) refuse(name, layer, "has a dilated kernel");
  if (!c10::holds_alternative<torch::enumtype::kZeros>(options.padding_mode()))
    refuse(name, layer, "is not padded with zeros");
  const auto* padding = c10::get_if<torch::ExpandingArray<2>>(&options.padding());
  if (!padding) refuse(name, layer, "has padding given by name, not by number");
  if (options.in_channels() != input.channels)
    refuse(name, layer,
           fmt::format("expects {} channels but gets {}", options.in_channels(), input.channels));
  const Window window{extent(options.kernel_size()), extent(options.stride()), extent(*padding)};
  Values output = input;
  output.channels = options.out_channels();
  output.map = after(input.map, window, name, layer);
  return push({.kind = LayerKind::convolution,
               .name = name,
               .inputs = {input.layer},
               .outputs = options.out_channels(),
               .window = window,
               .weight = number_of(layer.weight, name),
               .bias = number_of(layer.bias, name)},
              output);
}

Values Description::add_linear(nn::LinearImpl& layer, const std::string& name,
                               const Values& input) {
  if (!input.flat) refuse(name, layer, "gets maps: put a Flatten before it");
  if (layer.options.in_features() != input.count())
    refuse(
        name, layer,
        fmt::format("expects {} values but gets {}", layer.options.in_features(), input.count()));
  Values output;
  output.channels = layer.options.out_features();
  output.flat = true;
  return push({.kind = LayerKind::linear,
               .name = name,
               .inputs = {input.layer},
               .outputs = layer.options.out_features(),
               .weight = number_of(layer.weight, name),
               .bias = number_of(layer.bias, name)},
              output);
}

template <typename BatchNorm>
Values Description::add_batch_norm(BatchNorm& layer, const std::string& name, const Values& input) {
  const auto& options = layer.options;
  if (!options.affine() || !options.track_running_stats() || !options.momentum())
    refuse(name, layer, "has no weights, no running statistics or no momentum");
  if (options.num_features() != input.channels)
    refuse(name, layer,
           fmt::format("expects {} channels but gets {}", options.num_features(), input.channels));
  return push({.kind = LayerKind::batch_norm,
               .name = name,
               .inputs = {input.layer},
               .weight = number_of(layer.weight, name),
               .bias = number_of(layer.bias, name),
               .statistics = {layer.running_mean.template data_ptr<float>(),
                              layer.running_var.template data_ptr<float>(),
                              layer.num_batches_tracked.template data_ptr<std::int64_t>(),
                              *options.momentum(), options.eps()},
               .group = group_of(layer)},
              input);
}

template <typename Pool>
Values Description::add_pool(Pool& layer, LayerKind kind, const std::string& name,
                             const Values& input) {
  const auto& options = layer.options;
  if (options.ceil_mode()) refuse(name, layer, "rounds the size of its output up");
  if constexpr (std::is_base_of_v<nn::MaxPool2dImpl, Pool>) {
    if (extent(options.dilation()) != Extent{1, 1}) refuse(name, layer, "has dilated windows");
  } else {
    if (!options.count_include_pad() || options.divisor_override())
      refuse(name, layer, "does not divide by the size of its windows");
  }
  const Window window{extent(options.kernel_size()), extent(options.stride()),
                      extent(options.padding())};
  Values output = input;
  output.map = after(input.map, window, name, layer);
  return push({.kind = kind, .name = name, .inputs = {input.layer}, .window = window}, output);
}

Values Description::add_relu(const std::string& name, const Values& input) {
  return push({.kind = LayerKind::relu, .name = name, .inputs = {input.layer}}, input);
}

Values Description::add_sum(const std::string& name, const Values& input, const Values& other) {
  return push({.kind = LayerKind::add, .name = name, .inputs = {input.layer, other.layer}}, input);
}

Values Description::add_average_pool(const std::string& name, const Values& input,
                                     const Window& window) {
  Values output = input;
  for (std::size_t i = 0; i < 2; ++i)
    output.map[i] = (input.map[i] - window.size[i]) / window.stride[i] + 1;
  return push(
      {.kind = LayerKind::average_pool, .name = name, .inputs = {input.layer}, .window = window},
      output);
}

LayerGraph Description::finish(const Values& scores) {
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (!used_[i])
      throw UsageError(fmt::format("no layer of the onednn engine uses parameter {}: {}",
                                   graph_.parameters[i].name, kRemedy));
  if (scores.layer == kImages || graph_.layers.back().kind != LayerKind::linear)
    throw UsageError(
        fmt::format("the onednn engine supports models whose last layer is Linear: {}", kRemedy));
  return std::move(graph_);
}

}  // namespace lockstep::internal::engine::onednn
