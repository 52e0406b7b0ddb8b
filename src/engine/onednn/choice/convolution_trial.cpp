#include "engine/onednn/choice/convolution_trial.h"

#include "base/deadline.h"
#include "engine/onednn/choice/method_names.h"
#include "engine/onednn/choice/trial_graph.h"
#include "engine/onednn/layers/plan_graph.h"

#include <algorithm>
#include <limits>
#include <omp.h>

namespace lockstep::internal::engine::onednn {

namespace {

/// Whether the step is part of the layer, not of those around it.
bool belongs_to_layer(const Step& step) {
  return step.name.starts_with(kTrialLayer + " ");
}

bool are_same(const Step& one, const Step& other) {
  return one.name == other.name && one.implementation == other.implementation &&
         std::ranges::equal(one.operands, other.operands, [](const auto& a, const auto& b) {
           return a.first == b.first && a.second.layout == b.second.layout;
         });
}

/// The sum of all steps' times. It falls while other work on the machine disturbs the measurements.
double least_in(const ConvolutionTrial& trial) {
  double sum = 0;
  for (double seconds : trial.seconds()) sum += seconds;
  return sum;
}

}  // namespace

/// A plan for a combination, without memory.
struct ConvolutionTrial::Planned {
  Layouts layouts;
  Draft draft;
};

/// A plan with memory that is run.
struct ConvolutionTrial::Contender {
  Contender(const dnnl::engine& engine, const LayerGraph& graph, Planned planned,
            std::vector<std::size_t> its_steps)
      : steps(std::move(its_steps)),
        weights(engine, graph, planned.layouts),
        gradients(engine, graph, planned.layouts),
        plan(engine, std::move(planned.draft)) {
    fill_for_trial(weights);
    // With one thread, its own computing time can be measured.
    if (::omp_get_max_threads() == 1) plan.use_clock(seconds_of_thread);
    plan.use_weights(weights.places());
    plan.use_gradients(gradients.places());
  }

  std::vector<std::size_t> steps;  ///< numbers of the steps that belong to the layer
  ParameterStore weights;
  ParameterStore gradients;
  Plan plan;
};

ConvolutionTrial::ConvolutionTrial(const dnnl::engine& engine, const ConvolutionShape& shape)
    : shape_(shape), graph_(trial_graph(shape)), batch_(trial_batch(graph_, shape.batch)) {
  std::vector<Planned> planned;  // by combination
  for (Method forward : all_methods())
    for (Method backward_data : all_methods())
      for (Method backward_weights : all_methods())
        plan(engine, {forward, backward_data, backward_weights}, planned);
  seconds_.assign(steps_.size(), std::numeric_limits<double>::max());
  choose_contenders(engine, planned);
  std::size_t bytes = 0;
  for (const auto& contender : contenders_) bytes = std::max(bytes, contender->plan.arena_bytes());
  arena_ = AlignedMemory(bytes);
  for (const auto& contender : contenders_) contender->plan.use_arena(arena_.data());
}

ConvolutionTrial::~ConvolutionTrial() = default;

void ConvolutionTrial::plan(const dnnl::engine& engine, const Methods& methods,
                            std::vector<Planned>& planned) {
  Planned mine{Layouts(graph_.parameters.size()), {}};
  const ChooseMethods choose = [&](const ConvolutionShape& shape) {
    return shape.layer == kTrialLayer ? methods : Methods{};
  };
  mine.draft = plan_graph(engine, graph_, {shape_.batch, true, choose}, mine.layouts);
  Combination combination{methods, {}};
  for (const Step& step : mine.draft.steps)
    if (belongs_to_layer(step)) combination.steps.push_back(number_of(step));
  auto runs_the_same = [&](const Combination& other) { return other.steps == combination.steps; };
  if (std::ranges::any_of(combinations_, runs_the_same)) return;
  combinations_.push_back(std::move(combination));
  planned.push_back(std::move(mine));
}

/// Picks the plan with the most new steps, until all steps are covered.
void ConvolutionTrial::choose_contenders(const dnnl::engine& engine,
                                         std::vector<Planned>& planned) {
  std::vector<bool> covered(steps_.size());
  auto missing_in = [&](const Combination& combination) {
    return std::ranges::count_if(combination.steps, [&](std::size_t i) { return !covered[i]; });
  };
  while (std::ranges::count(covered, false) > 0) {
    const auto most = std::ranges::max_element(combinations_, {}, missing_in);
    for (std::size_t step : most->steps) covered[step] = true;
    Planned& its = planned[static_cast<std::size_t>(most - combinations_.begin())];
    contenders_.push_back(std::make_unique<Contender>(engine, graph_, std::move(its), most->steps));
  }
}

std::size_t ConvolutionTrial::number_of(const Step& step) {
  const auto found =
      std::ranges::find_if(steps_, [&](const Step& other) { return are_same(step, other); });
  const auto number = static_cast<std::size_t>(found - steps_.begin());
  if (found == steps_.end()) steps_.push_back(step);
  return number;
}

void ConvolutionTrial::run() {
  for (const auto& contender : contenders_) {
    observe::Trace trace(contender->plan.steps().size());
    contender->plan.forward(batch_, &trace);
    contender->plan.backward(
        1, [](std::size_t) {}, &trace);
    const std::vector<observe::TraceEvent> events = trace.events();  // one per step, in order
    auto number = contender->steps.begin();
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (!belongs_to_layer(contender->plan.steps()[i])) continue;
      double& least = seconds_[*number++];
      least = std::min(least, events[i].end - events[i].begin);
    }
  }
}

Methods measure(const dnnl::engine& engine, const ConvolutionShape& shape) {
  ConvolutionTrial trial(engine, shape);
  if (trial.combinations().size() == 1) return trial.combinations()[0].methods;
  constexpr double kEnough = 1;  // seconds
  const double end = seconds_of_thread() + kEnough;
  int settled = 0;
  for (int round = 1; settled < 3 && seconds_of_thread() < end; ++round) {
    const double least = least_in(trial);
    trial.run();
    if (round == 1) continue;  // it had cold caches and untouched pages
    settled = least_in(trial) > 0.99 * least ? settled + 1 : 0;
    if (round > 2 && is_clear(trial.combinations(), trial.seconds())) break;
  }
  return best_of(trial.combinations(), trial.seconds()).methods;
}

}  // namespace lockstep::internal::engine::onednn
