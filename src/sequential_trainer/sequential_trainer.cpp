#include <lockstep/error.h>
#include <lockstep/sequential_trainer.h>

#include "base/text.h"
#include "ddp/gradient_hooks.h"
#include "ddp/module_state.h"
#include "engine/onednn/sequential_engine.h"
#include "models/model.h"
#include "optim/sgd.h"
#include "sequential_trainer/tensor_batch.h"
#include "sync/methods/ddp.h"
#include "sync/same_on_all.h"
#include "sync/shards.h"
#include "train/replica.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace lockstep {

using namespace internal;

namespace {

using Image = std::array<std::int64_t, 3>;

/// Network and options, one line each, to compare them between ranks.
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
    throw UsageError(fmt::format("images of {} are invalid: give their channels, height and width",
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

/// A copy in plain layout, with the values of rank 0.
torch::nn::Sequential copy_of(const torch::nn::Sequential& network, Group& group) {
  torch::nn::Sequential copy(
      std::dynamic_pointer_cast<torch::nn::SequentialImpl>(network->clone()));
  for (torch::Tensor& tensor : copy->parameters()) tensor.set_data(tensor.contiguous());
  for (torch::Tensor& tensor : copy->buffers()) tensor.set_data(tensor.contiguous());
  ddp::broadcast_tensors(group, copy->parameters());
  ddp::broadcast_tensors(group, copy->buffers());
  return copy;
}

/// Outputs of the last linear layer.
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

/// The user's batches, one a step.
class UserBatches : public train::BatchSource {
 public:
  train::MicroBatch next() override {
    ++done_;
    return {.epoch = 1, .global_batch = global_batch, .images = &batch};
  }
  std::size_t done() const override { return done_; }

  data::Batch batch;
  std::size_t global_batch = 0;  ///< images of all ranks

 private:
  std::size_t done_ = 0;
};

}  // namespace

class SequentialTrainer::Implementation {
 public:
  Implementation(torch::nn::Sequential network, const Image& image, Group group,
                 const SequentialTrainerOptions& options)
      : group_(std::move(group)),
        module_(std::move(network)),
        shape_(shape_of(image)),
        classes_(classes_of(module_)),
        replica_(group_, make_parts(image, options)) {}

  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  BatchScore step(const torch::Tensor& images, const torch::Tensor& labels,
                  std::size_t all_images) {
    copy_tensors(images, labels, shape_, classes_, batches_.batch);
    batches_.global_batch = global_batch(all_images);
    const run::Record record = replica_.step(batches_);
    return {record.loss_sum, static_cast<std::size_t>(record.correct),
            static_cast<std::size_t>(record.samples)};
  }

  BatchScore evaluate(const torch::Tensor& images, const torch::Tensor& labels) {
    copy_tensors(images, labels, shape_, classes_, batches_.batch);
    return score_of(replica_.evaluate(batches_.batch));
  }

  void set_learning_rate(double rate) { replica_.set_learning_rate(rate); }

  void average_statistics() { replica_.average_statistics(); }

  void copy_to_module() {
    average_statistics();
    models::load_state(*module_, replica_.model_state(), "SequentialTrainer");
  }

 private:
  std::unique_ptr<engine::Engine> make_engine(const Image& image,
                                              const SequentialTrainerOptions& options) {
    sync::require_same_on_all(group_, describe(module_, image, options),
                              "the ranks train different networks",
                              "Construct the same network, and give the same options, on every "
                              "rank");
    // Network and options are the same on all ranks, so what follows fails on all or on none.
    require_float32(*module_);
    engine::require_plan_for(module_, shape_);
    if (options.batch == 0) throw UsageError("SequentialTrainerOptions::batch is 0");
    return engine::make_onednn_engine(copy_of(module_, group_),
                                      {.images = shape_,
                                       .batch = options.batch,
                                       .convolutions = options.winograd ? "fixed" : "direct"});
  }

  train::ReplicaParts make_parts(const Image& image, const SequentialTrainerOptions& options) {
    train::ReplicaParts parts;
    parts.engine = make_engine(image, options);
    parts.shards = sync::shards_of(0, group_.rank(), group_.size());
    parts.buckets = {options.first_bucket_bytes, options.bucket_bytes};
    parts.make_method = [algorithm = options.algorithm](const Group& group,
                                                        const sync::Gradients& gradients,
                                                        const ArrayView&) {
      return std::make_unique<sync::Ddp>(group, gradients,
                                         sync::DdpSettings{.algorithm = algorithm});
    };
    parts.make_optimizer = [options](const ArrayView& weights, const ArrayView& gradients,
                                     const std::vector<optim::TensorRange>&) {
      return optim::make_sgd<float>({static_cast<float*>(weights.data), weights.count},
                                    {static_cast<const float*>(gradients.data), weights.count},
                                    {.learning_rate = options.learning_rate,
                                     .momentum = options.momentum,
                                     .weight_decay = options.weight_decay,
                                     .nesterov = options.nesterov});
    };
    return parts;
  }

  /// Images of all ranks in this step; `all_images` is the user's number, 0 for equal batches.
  std::size_t global_batch(std::size_t all_images) const {
    const std::size_t mine = batches_.batch.size();
    if (all_images == 0 && mine > 0) return mine * static_cast<std::size_t>(group_.size());
    if (all_images == 0)
      throw UsageError(
          "a batch without images needs the number of images on all ranks: pass all_images to "
          "step()");
    if (all_images < mine)
      throw UsageError(fmt::format("all_images is {}, less than the {} images of rank {} alone",
                                   all_images, mine, group_.rank()));
    return all_images;
  }

  Group group_;
  torch::nn::Sequential module_;  ///< the user's, which the engine does not touch
  const data::ImageShape shape_;
  const std::int64_t classes_;
  train::Replica replica_;
  UserBatches batches_;
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
