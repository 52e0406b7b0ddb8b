#include "engine/onednn/choose_methods.h"

#include "engine/onednn/choice/measured_methods.h"
#include "engine/onednn/describe.h"
#include "engine/onednn/plan/convolution_rule.h"
#include "engine/seeded_model.h"

namespace lockstep::internal::engine {

namespace onednn {

namespace {

LayerMethods measured_methods(const OnednnEngineOptions& options, const dnnl::engine& engine,
                              const LayerGraph& graph, const Notice& notice) {
  ChoiceCache cache(choices_file(), describe_machine(torch::get_num_threads()));
  return measure_methods(engine, graph, static_cast<std::int64_t>(options.batch), cache, notice);
}

}  // namespace

ChooseMethods choose_methods(const OnednnEngineOptions& options, const dnnl::engine& engine,
                             const LayerGraph& graph) {
  if (options.convolutions == "direct") return direct_convolutions;
  if (options.convolutions == "fixed") return convolution_rule;
  std::optional<LayerMethods> methods = layer_methods_from(options.methods);
  if (!methods) methods = measured_methods(options, engine, graph, {});
  return [methods = *methods](const ConvolutionShape& shape) {
    const auto found = methods.find(shape.layer);
    return found == methods.end() ? Methods{} : found->second;
  };
}

}  // namespace onednn

bool are_convolution_methods(const nlohmann::json& methods) {
  return onednn::layer_methods_from(methods).has_value();
}

nlohmann::json choose_convolutions(const OnednnEngineOptions& options,
                                   const std::function<void(const std::string&)>& notice) {
  const auto model =
      make_seeded_model(options.model, DataType::float32, options.images, options.seed);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return onednn::to_json(onednn::measured_methods(
      options, engine, onednn::fuse_relu(onednn::describe(*model)), notice));
}

}  // namespace lockstep::internal::engine
