#include <lockstep/error.h>
#include <lockstep/sequential_trainer.h>

#include "base/text.h"
#include "comm/flight/flight_recorder.h"
#include "ddp/gradient_hooks.h"
#include "ddp/module_state.h"
#include "engine/onednn/sequential_engine.h"
#include "models/model.h"
#include "optim/sgd.h"
#include "sync/ddp.h"
#include "sync/same_on_all.h"
#include "train/same_layouts.h"
#include "train/statistics.h"
#include "train/tensor_batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace lockstep {

namespace {

using Image = std::array<std::int64_t, 3>;

/// What must be the same on all ranks, one line each.
std::vector<std::string> describe(const torch::nn::Sequential& network, const Image& image,
                                  const SequentialTrainerOptions& options) {
  std::vector<std::string> lines{
      fmt::format("images of {}", fmt::join(image, "×")),
      fmt::format("options: batch {}, learning rate {}, momentum {}, weight decay {}, nesterov {}, "
                  "winograd {}, buckets of {} and {} bytes, algorithm {}",
                  options.batch, options.learning_rate, options.momentum, options.weight_decay,
                  options.nesterov, options.winograd, options.first_bucket_bytes,
                  options.bucket_bytes, name_of(options.algorithm))};
  std::ostringstream layers;
  layers << *network;
  for (std::string& line : split(layers.str(), '\n')) lines.push_back(std::move(line));
  for (std::string& line : ddp::describe_tensors(*network)) lines.push_back(std::move(line));
  return lines;
}

data::ImageShape shape_of(const Image& image) {
  const auto [lowest, highest] = std::ranges::minmax(image);
  if (lowest < 1 || highest > std::numeric_limits<int>::max())
    throw UsageError(
        fmt::format("images of {} make no sense: give their channels, height and width",
                    fmt::join(image, "×")));
  return {static_cast<int>(image[0]), static_cast<int>(image[1]), static_cast<int>(image[2])};
}

void require_float32(const torch::nn::Module& network) {
  ddp::require_dense_in_main_memory(network);
  auto require = [](const auto& named) {
    if (named->is_floating_point() && named->scalar_type() != torch::kFloat32)
      throw UsageError(
          fmt::format("'{}' is of type {}, and the onednn engine computes in float32: "
                      "convert the module with to(torch::kFloat32)",
                      named.key(), torch::toString(named->scalar_type())));
  };
  for (const auto& named : network.named_parameters()) require(named);
  for (const auto& named : network.named_buffers()) require(named);
}

/// In memory of its own, in plain layout, and with rank 0's values.
torch::nn::Sequential copy_of(const torch::nn::Sequential& network, Group& group) {
  torch::nn::Sequential copy(
      std::dynamic_pointer_cast<torch::nn::SequentialImpl>(network->clone()));
  for (torch::Tensor& tensor : copy->parameters()) tensor.set_data(tensor.contiguous());
  for (torch::Tensor& tensor : copy->buffers()) tensor.set_data(tensor.contiguous());
  ddp::broadcast_tensors(group, copy->parameters());
  ddp::broadcast_tensors(group, copy->buffers());
  return copy;
}

/// The scores of the last layer, which is Linear.
std::int64_t classes_of(const torch::nn::Sequential& network) {
  std::int64_t classes = 0;
  for (const auto& module : network->modules())
    if (const auto* linear = module->as<torch::nn::Linear>())
      classes = linear->options.out_features();
  return classes;
}

BatchScore score_of(const engine::Score& score) {
  return {score.loss_sum, score.correct, score.samples};
}

}  // namespace

class SequentialTrainer::Implementation {
 public:
  Implementation(torch::nn::Sequential network, const Image& image, Group group,
                 const SequentialTrainerOptions& options)
      : group_(std::move(group)),
        module_(std::move(network)),
        shape_(shape_of(image)),
        classes_(classes_of(module_)),
        engine_(make_engine(image, options)),
        statistics_(*engine_, sync::shards_of(0, group_.rank(), group_.size())),
        gradients_(group_, engine_->parameters(),
                   sync::Layout(engine_->parameters(), engine_->type(),
                                {options.first_bucket_bytes, options.bucket_bytes})),
        weights_(group_.allocate(gradients_.layout().bytes())),
        method_(group_, gradients_, {.algorithm = options.algorithm}) {
    const std::span<float> weights = weights_.as<float>().first(gradients_.layout().size());
    engine_->bind(weights, gradients_, [this](std::size_t i) { method_.ready(i); });
    optimizer_ = optim::make_sgd<float>(
        weights, {static_cast<const float*>(gradients_.all().data), weights.size()},
        {.learning_rate = options.learning_rate,
         .momentum = options.momentum,
         .weight_decay = options.weight_decay,
         .nesterov = options.nesterov});
  }

  ~Implementation() { engine_.reset(); }  // before the memory that it writes into
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  BatchScore step(const torch::Tensor& images, const torch::Tensor& labels,
                  std::size_t all_images) {
    comm::note_step(++steps_);
    train::take_tensors(images, labels, shape_, classes_, batch_);
    const double factor = share_of_batch(all_images);
    const engine::Score score = engine_->forward(batch_);
    try {
      engine_->backward(factor);
    } catch (...) {
      method_.abandon();
      throw;
    }
    method_.finish();
    optimizer_->begin_step();
    method_.step(*optimizer_);
    return score_of(score);
  }

  BatchScore evaluate(const torch::Tensor& images, const torch::Tensor& labels) {
    train::take_tensors(images, labels, shape_, classes_, batch_);
    return score_of(engine_->evaluate(batch_));
  }

  void set_learning_rate(double rate) { optimizer_->set_learning_rate(rate); }

  void average_statistics() { statistics_.average(group_); }

  void copy_to_module() {
    average_statistics();
    std::vector<models::StoredTensor> state = engine_->parameter_state();
    for (auto& buffer : engine_->buffer_state()) state.push_back(std::move(buffer));
    models::load_state(*module_, state, "SequentialTrainer");
  }

 private:
  std::unique_ptr<engine::Engine> make_engine(const Image& image,
                                              const SequentialTrainerOptions& options) {
    sync::require_same_on_all(group_, describe(module_, image, options),
                              "the ranks train different networks",
                              "Construct the same network, and give the same options, on every "
                              "rank");
    // All ranks have the same, so what follows fails on all or on none.
    require_float32(*module_);
    engine::require_plan_for(module_, shape_);
    if (options.batch == 0) throw UsageError("SequentialTrainerOptions::batch is 0");
    std::unique_ptr<engine::Engine> engine = engine::make_onednn_engine(
        copy_of(module_, group_), {.images = shape_,
                                   .batch = options.batch,
                                   .convolutions = options.winograd ? "fixed" : "direct"});
    train::require_same_layouts(group_, *engine);
    return engine;
  }

  /// What this rank's mean loss counts in the average over the ranks, for that to be the mean over
  /// all images.
  double share_of_batch(std::size_t all_images) const {
    if (all_images == 0 && batch_.size() > 0) return 1;
    if (all_images == 0)
      throw UsageError(
          "a batch without images: say how many the other ranks have (all_images of step)");
    if (all_images < batch_.size())
      throw UsageError(fmt::format("all_images is {}, less than the {} images of rank {} alone",
                                   all_images, batch_.size(), group_.rank()));
    return static_cast<double>(batch_.size()) * group_.size() / static_cast<double>(all_images);
  }

  Group group_;
  torch::nn::Sequential module_;  ///< the user's, which the engine does not touch
  const data::ImageShape shape_;
  const std::int64_t classes_;
  std::unique_ptr<engine::Engine> engine_;
  train::Statistics statistics_;
  sync::Gradients gradients_;
  Memory weights_;
  sync::Ddp method_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  data::Batch batch_;
  std::uint64_t steps_ = 0;
};

SequentialTrainer::SequentialTrainer(torch::nn::Sequential network,
                                     std::array<std::int64_t, 3> image, Group group,
                                     const SequentialTrainerOptions& options) {
  if (network.is_empty()) throw UsageError("SequentialTrainer needs a network");
  implementation_ =
      std::make_unique<Implementation>(std::move(network), image, std::move(group), options);
}

SequentialTrainer::~SequentialTrainer() = default;

BatchScore SequentialTrainer::step(const torch::Tensor& images, const torch::Tensor& labels,
                                   std::size_t all_images) {
  return implementation_->step(images, labels, all_images);
}

BatchScore SequentialTrainer::evaluate(const torch::Tensor& images, const torch::Tensor& labels) {
  return implementation_->evaluate(images, labels);
}

void SequentialTrainer::set_learning_rate(double rate) {
  implementation_->set_learning_rate(rate);
}

void SequentialTrainer::average_statistics() {
  implementation_->average_statistics();
}

void SequentialTrainer::copy_to_module() {
  implementation_->copy_to_module();
}

}  // namespace lockstep
