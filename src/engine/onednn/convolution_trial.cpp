#include "engine/onednn/convolution_trial.h"

#include "engine/onednn/method_names.h"
#include "engine/onednn/plan_network.h"

#include <algorithm>
#include <ctime>
#include <limits>

namespace lockstep::engine::onednn {

namespace {

const std::string kLayer = "measured";

/// What a plan runs for the layer, and not for those around it.
bool belongs_to_layer(const Step& step) {
  return step.name.starts_with(kLayer + " ");
}

bool are_same(const Step& one, const Step& other) {
  return one.name == other.name && one.implementation == other.implementation &&
         std::ranges::equal(one.operands, other.operands, [](const auto& a, const auto& b) {
           return a.first == b.first && a.second.layout == b.second.layout;
         });
}

/// Between a convolution from three channels, whose input is as plain as images are and whose
/// output is not, and a product that makes scores.
Network network_around(const ConvolutionShape& shape) {
  Network network;
  auto add = [&](LayerKind kind, const std::string& name, std::int64_t outputs,
                 const Window& window, const std::vector<std::int64_t>& weights) {
    const int number = static_cast<int>(network.layers.size());
    network.layers.push_back({.kind = kind,
                              .name = name,
                              .inputs = {number == 0 ? kImages : number - 1},
                              .outputs = outputs,
                              .window = window,
                              .weight = number});
    network.parameters.push_back({name, weights});
  };
  const std::int64_t channels = shape.input_gradient ? 3 : shape.channels_in;
  network.images = {static_cast<int>(channels), static_cast<int>(shape.input[0]),
                    static_cast<int>(shape.input[1])};
  if (shape.input_gradient)
    add(LayerKind::convolution, "before", shape.channels_in, {{3, 3}, {1, 1}, {1, 1}},
        {shape.channels_in, channels, 3, 3});
  add(LayerKind::convolution, kLayer, shape.channels_out, shape.window,
      {shape.channels_out, shape.channels_in, shape.window.size[0], shape.window.size[1]});
  constexpr std::int64_t kClasses = 2;
  add(LayerKind::linear, "after", kClasses, {},
      {kClasses, shape.channels_out * shape.output[0] * shape.output[1]});
  return network;
}

/// Values of ordinary size: with zeros or denormal numbers some arithmetic takes another time.
void fill(const ParameterStore& store) {
  for (std::size_t i = 0; i < store.places().size(); ++i)
    for (std::size_t j = 0; j < store.parameters()[i].count; ++j)
      store.places()[i][j] = 0.01f * (static_cast<float>(j % 7) - 3);
}

/// That this thread has computed: on a busy machine more time passes, and as much is measured.
double seconds_of_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

data::Batch batch_for(const Network& network, std::int64_t images) {
  const auto count = static_cast<std::size_t>(images);
  data::Batch batch;
  batch.labels.assign(count, 0);
  batch.pixels.resize(count * network.images.pixels());
  for (std::size_t i = 0; i < batch.pixels.size(); ++i)
    batch.pixels[i] = static_cast<float>(i % 5) - 2;
  return batch;
}

}  // namespace

/// A plan that is run.
struct ConvolutionTrial::Contender {
  Contender(const dnnl::engine& engine, const Network& network, const Layouts& layouts, Draft draft,
            std::vector<std::size_t> its_numbers)
      : numbers(std::move(its_numbers)),
        weights(engine, network, layouts),
        gradients(engine, network, layouts),
        plan(engine, std::move(draft)) {
    fill(weights);
    plan.use_weights(weights.places());
    plan.use_gradients(gradients.places());
  }

  std::vector<std::size_t> numbers;  ///< of those steps that belong to the layer
  ParameterStore weights;
  ParameterStore gradients;
  Plan plan;
};

ConvolutionTrial::ConvolutionTrial(const dnnl::engine& engine, const ConvolutionShape& shape)
    : shape_(shape), network_(network_around(shape)), batch_(batch_for(network_, shape.batch)) {
  for (Method forward : all_methods())
    for (Method backward_data : all_methods())
      for (Method backward_weights : all_methods())
        add(engine, {forward, backward_data, backward_weights});
  seconds_.assign(steps_.size(), std::numeric_limits<double>::max());
  std::size_t bytes = 0;
  for (const auto& contender : contenders_) bytes = std::max(bytes, contender->plan.arena_bytes());
  arena_ = AlignedMemory(bytes);
  for (const auto& contender : contenders_) contender->plan.use_arena(arena_.data());
}

ConvolutionTrial::~ConvolutionTrial() = default;

void ConvolutionTrial::add(const dnnl::engine& engine, const Methods& methods) {
  Layouts layouts(network_.parameters.size());
  const ChooseMethods choose = [&](const ConvolutionShape& shape) {
    return shape.layer == kLayer ? methods : Methods{};
  };
  Draft draft = plan_network(engine, network_, {shape_.batch, true, choose}, layouts);
  const std::size_t known = steps_.size();
  std::vector<std::size_t> numbers;
  for (const Step& step : draft.steps)
    if (belongs_to_layer(step)) numbers.push_back(number_of(step));
  auto same_steps = [&](const Combination& other) { return other.steps == numbers; };
  if (std::ranges::any_of(combinations_, same_steps)) return;
  combinations_.push_back({methods, numbers});
  if (steps_.size() > known)
    contenders_.push_back(std::make_unique<Contender>(engine, network_, layouts, std::move(draft),
                                                      std::move(numbers)));
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
    const std::vector<observe::TraceEvent> events = trace.events();  // one a step, in their order
    auto number = contender->numbers.begin();
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
  constexpr int kFewest = 3;  // the first meets cold caches, and pages that were never used
  constexpr int kMost = 8;
  constexpr double kEnough = 0.5;
  const double end = seconds_of_thread() + kEnough;
  for (int round = 1; round <= kMost; ++round) {
    trial.run();
    if (round < kFewest) continue;
    if (seconds_of_thread() > end || is_clear(trial.combinations(), trial.seconds())) break;
  }
  return best_of(trial.combinations(), trial.seconds()).methods;
}

}  // namespace lockstep::engine::onednn
