#include "engine/onednn/choice/measured_methods.h"

#include <lockstep/error.h>

#include "engine/onednn/choice/convolution_trial.h"
#include "engine/onednn/layers/plan_graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::engine::onednn {

namespace {

/// The implementations of a layer's steps, in order.
std::vector<std::string> implementations(const Draft& draft, const std::string& layer) {
  std::vector<std::string> all;
  for (const Step& step : draft.steps)
    if (step.name.starts_with(layer + " ")) all.push_back(step.name + " by " + step.implementation);
  return all;
}

/// Measures, and tells the user once it takes noticeable time.
class Measuring {
 public:
  Measuring(std::size_t count, std::filesystem::path file, const Notice& notice)
      : count_(count), file_(std::move(file)), notice_(notice) {}

  Methods operator()(const dnnl::engine& engine, const ConvolutionShape& shape) {
    const Methods methods = measure(engine, shape);
    constexpr double kNoticeable = 0.5;  // seconds
    if (!said_ && now_seconds() - begin_ > kNoticeable && notice_) {
      said_ = true;
      notice_(fmt::format("timing {} convolutions ({})", count_,
                          file_.empty() ? "in every run: there is no HOME to save the choice in"
                                        : "once; saved in " + file_.string()));
    }
    return methods;
  }

 private:
  const std::size_t count_;
  const std::filesystem::path file_;
  const Notice& notice_;
  const double begin_ = now_seconds();
  bool said_ = false;
};

void save(ChoiceCache& cache, const Notice& notice) {
  std::string problem = cache.problem();
  try {
    cache.save();
    if (!problem.empty()) problem += ": convolutions were timed again";
  } catch (const FileError& error) {
    problem = fmt::format("{}: convolutions are timed in every run", error.what());
  }
  if (!problem.empty() && notice) notice(problem);
}

}  // namespace

std::vector<PlannedConvolution> convolutions_of(const dnnl::engine& engine, const LayerGraph& graph,
                                                std::int64_t batch) {
  std::vector<PlannedConvolution> convolutions;
  auto plan = [&](const ChooseMethods& choose) {
    Layouts layouts(graph.parameters.size());
    return plan_graph(engine, graph, {batch, true, choose}, layouts);
  };
  const Draft direct = plan([&](const ConvolutionShape& shape) {
    convolutions.push_back({shape});
    return Methods{};
  });
  for (Method method : all_methods()) {
    if (method == Method::direct) continue;
    const Draft other = plan([&](const ConvolutionShape&) {
      return Methods{method, method, method};
    });
    for (auto& [shape, may_differ] : convolutions)
      may_differ |= implementations(other, shape.layer) != implementations(direct, shape.layer);
  }
  return convolutions;
}

LayerMethods measure_methods(const dnnl::engine& engine, const LayerGraph& graph,
                             std::int64_t batch, ChoiceCache& cache, const Notice& notice) {
  const std::vector<PlannedConvolution> convolutions = convolutions_of(engine, graph, batch);
  std::map<std::string, std::optional<Methods>> by_shape;
  std::map<std::string, ConvolutionShape> unknown;
  for (const auto& [shape, may_differ] : convolutions) {
    const std::string text = text_of(shape);
    by_shape[text] = may_differ ? cache.find(shape) : Methods{};
    if (!by_shape[text]) unknown.emplace(text, shape);
  }
  Measuring measured(unknown.size(), cache.file(), notice);
  for (const auto& [text, shape] : unknown) {
    by_shape[text] = measured(engine, shape);
    cache.add(shape, *by_shape[text]);
  }
  if (!unknown.empty()) save(cache, notice);
  LayerMethods methods;
  for (const auto& [shape, may_differ] : convolutions)
    methods[shape.layer] = *by_shape[text_of(shape)];
  return methods;
}

}  // namespace lockstep::internal::engine::onednn
