#include "train/replica.h"

#include "data/sampler.h"
#include "engine/torch/torch_engine.h"
#include "models/safetensors.h"
#include "optim/sgd.h"

#include <algorithm>

namespace lockstep::train {

namespace {

std::unique_ptr<engine::Engine> make_engine(const TrainConfig& config,
                                            const data::ImageShape& images) {
  auto engine = engine::make_torch_engine(
      {.model = config.model, .type = config.type(), .images = images, .seed = config.seed});
  if (!config.init.empty())
    engine->load(models::read_safetensors(config.init), config.init.string());
  return engine;
}

sync::Layout make_layout(const engine::Engine& engine, const TrainConfig& config) {
  auto bytes = [](double megabytes) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(megabytes * (1 << 20)));
  };
  return sync::Layout(engine.parameters(), engine.type(),
                      {bytes(config.first_bucket_mb), bytes(config.bucket_mb)});
}

template <typename T>
std::unique_ptr<optim::Optimizer> make_optimizer(ArrayView weights, ArrayView gradients,
                                                 const TrainConfig& config) {
  return optim::make_sgd<T>({static_cast<T*>(weights.data), weights.count},
                            {static_cast<const T*>(gradients.data), gradients.count},
                            {.learning_rate = config.learning_rate,
                             .momentum = config.momentum,
                             .weight_decay = config.weight_decay});
}

}  // namespace

Replica::Replica(Group group, const TrainConfig& config, const data::ImageShape& images)
    : group_(std::move(group)),
      engine_(make_engine(config, images)),
      gradients_(group_, engine_->parameters(), make_layout(*engine_, config)),
      weights_(group_.allocate(gradients_.layout().bytes())),
      method_(sync::make_sync_method(config.method(), group_, gradients_)) {
  const ArrayView weights(weights_.data(), gradients_.layout().size(), engine_->type());
  engine_->bind(weights, gradients_, [this](std::size_t i) { method_->ready(i); });
  group_.broadcast(weights);
  optimizer_ = engine_->type() == DataType::float32
                   ? make_optimizer<float>(weights, gradients_.all(), config)
                   : make_optimizer<double>(weights, gradients_.all(), config);
}

Replica::~Replica() {
  engine_.reset();  // its hooks write into the gradients, which must outlive it
}

Record Replica::step(const data::Loader& loader, std::span<const std::uint32_t> global_batch) {
  Record record;
  observe::Times& times = record.times;
  const Counters before = group_.counters();
  {
    observe::Span total(times.total);
    const data::Range mine = data::share(global_batch.size(), group_.rank(), group_.size());
    // The average of the ranks' gradients must be the mean over the global batch, even where the
    // ranks' shares of it differ in size.
    const double factor =
        static_cast<double>(mine.size()) * group_.size() / static_cast<double>(global_batch.size());
    engine::Score score;
    {
      observe::Span span(times.data);
      loader.load(global_batch.subspan(mine.begin, mine.size()), batch_);
    }
    {
      observe::Span span(times.forward);
      score = engine_->forward(batch_);
    }
    {
      observe::Span span(times.backward);
      engine_->backward(factor);
    }
    {
      observe::Span span(times.exposed);
      method_->finish();
    }
    {
      observe::Span span(times.optimizer);
      method_->step(*optimizer_);
    }
    record.loss_sum = score.loss_sum;
    record.correct = static_cast<double>(score.correct);
    record.samples = static_cast<double>(score.samples);
  }
  const Counters after = group_.counters();
  times.communication = after.seconds - before.seconds;
  times.wait = after.wait_seconds - before.wait_seconds;
  record.bytes = static_cast<double>(after.bytes - before.bytes);
  return record;
}

engine::Score Replica::evaluate(const data::Loader& loader, std::size_t count) {
  constexpr std::size_t kBatch = 250;
  const data::Range mine = data::share(count, group_.rank(), group_.size());
  std::vector<std::uint32_t> indices;
  std::vector<double> sums(3);
  for (std::size_t begin = mine.begin; begin < mine.end; begin += kBatch) {
    indices.clear();
    for (std::size_t i = begin; i < std::min(begin + kBatch, mine.end); ++i)
      indices.push_back(static_cast<std::uint32_t>(i));
    loader.load(indices, batch_);
    const engine::Score score = engine_->evaluate(batch_);
    sums[0] += score.loss_sum;
    sums[1] += static_cast<double>(score.correct);
    sums[2] += static_cast<double>(score.samples);
  }
  group_.all_reduce(sums);
  return {sums[0], static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

}  // namespace lockstep::train
