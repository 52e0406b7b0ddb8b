#include "train/deliberate_faults.h"

#include "base/sleep.h"
#include "comm/purpose.h"

#include <utility>

namespace lockstep::internal::train {

namespace {

/// An engine whose forward pass takes longer and whose gradients are scaled.
class FaultyEngine : public engine::Engine {
 public:
  FaultyEngine(std::unique_ptr<engine::Engine> engine, double delay, double gradient_scale)
      : engine_(std::move(engine)), delay_(delay), gradient_scale_(gradient_scale) {}

  engine::Score forward(const data::Batch& batch) override {
    const engine::Score score = engine_->forward(batch);
    // Sleeping leaves the cores to the other ranks.
    if (delay_ > 0) sleep_for(std::chrono::duration<double>(delay_));
    return score;
  }
  void backward(double factor) override { engine_->backward(factor * gradient_scale_); }

  std::string_view name() const override { return engine_->name(); }
  std::vector<sync::Parameter> parameters() const override { return engine_->parameters(); }
  DataType type() const override { return engine_->type(); }
  void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) override {
    engine_->bind(weights, gradients, std::move(ready));
  }
  engine::Score evaluate(const data::Batch& batch) override { return engine_->evaluate(batch); }
  void record_in(observe::Trace* trace) override { engine_->record_in(trace); }
  std::vector<ArrayView> running_statistics() override { return engine_->running_statistics(); }
  std::vector<models::StoredTensor> parameter_state() const override {
    return engine_->parameter_state();
  }
  std::vector<models::StoredTensor> buffer_state() const override {
    return engine_->buffer_state();
  }
  void load(const std::vector<models::StoredTensor>& state, const std::string& source) override {
    engine_->load(state, source);
  }
  std::vector<std::byte> to_plain(std::size_t parameter, const ArrayView& values) const override {
    return engine_->to_plain(parameter, values);
  }
  bool from_plain(std::size_t parameter, std::span<const std::byte> plain,
                  const ArrayView& values) const override {
    return engine_->from_plain(parameter, plain, values);
  }

 private:
  const std::unique_ptr<engine::Engine> engine_;
  const double delay_;
  const double gradient_scale_;
};

/// A method that averages gradients only after each rank has updated by its own.
class SyncAfterUpdate : public sync::SyncMethod {
 public:
  SyncAfterUpdate(std::unique_ptr<sync::SyncMethod> method, std::size_t parameters)
      : method_(std::move(method)), parameters_(parameters) {}

  void ready(std::size_t) override {}
  void finish() override {}
  void abandon() noexcept override { method_->abandon(); }
  void step(optim::Optimizer& optimizer) override {
    method_->step(optimizer);
    const comm::PurposeMark mark(comm::Purpose::gradients);
    for (std::size_t left = parameters_; left > 0; --left) method_->ready(left - 1);
    method_->finish();
  }

  std::optional<sync::OwnedSlice> owned_slice() const override { return method_->owned_slice(); }
  std::vector<sync::Slot> runs_of(int rank) const override { return method_->runs_of(rank); }
  void adopt_weights() override { method_->adopt_weights(); }
  void settle(optim::Optimizer& optimizer) override { method_->settle(optimizer); }
  void set_learning_rate(optim::Optimizer& optimizer, double rate) override {
    method_->set_learning_rate(optimizer, rate);
  }

 private:
  const std::unique_ptr<sync::SyncMethod> method_;
  const std::size_t parameters_;
};

/// Seconds that each forward pass of this rank is delayed. A step has one delay, however many parts
/// it is computed in.
double delay_of(const TrainConfig& config, int rank) {
  const Slowdown slowdown = Slowdown::parse(config.slow);
  return slowdown.rank == rank ? slowdown.time.count() / config.recipe.accumulate : 0;
}

}  // namespace

DeliberateFaults::DeliberateFaults(const TrainConfig& config, const Group& group)
    : mistake_(parse_mistake(config.mistake)),
      rank_(group.rank()),
      gradient_scale_(mistake_ == Mistake::sum ? group.size() : 1),
      delay_(delay_of(config, rank_)) {}

std::uint64_t DeliberateFaults::seed(std::uint64_t seed) const {
  return mistake_ == Mistake::different_weights ? seed + static_cast<std::uint64_t>(rank_) : seed;
}

data::SamplerOptions DeliberateFaults::sampling(data::SamplerOptions options) const {
  if (mistake_ == Mistake::same_order) options.reshuffle = false;
  return options;
}

sync::Shards DeliberateFaults::shards(sync::Shards shards) const {
  if (mistake_ == Mistake::same_shard) shards.first = 0;
  return shards;
}

std::unique_ptr<engine::Engine> DeliberateFaults::wrap(
    std::unique_ptr<engine::Engine> engine) const {
  if (delay_ == 0 && gradient_scale_ == 1) return engine;
  return std::make_unique<FaultyEngine>(std::move(engine), delay_, gradient_scale_);
}

std::unique_ptr<sync::SyncMethod> DeliberateFaults::wrap(std::unique_ptr<sync::SyncMethod> method,
                                                         std::size_t parameters) const {
  if (mistake_ != Mistake::sync_after_update) return method;
  return std::make_unique<SyncAfterUpdate>(std::move(method), parameters);
}

}  // namespace lockstep::internal::train
