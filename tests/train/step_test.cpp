// One training step, which the training loop and SequentialTrainer share, with an engine without
// torch.
#include "optim/sgd.h"
#include "support/errors.h"
#include "sync/methods/ddp.h"
#include "train/replica.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace lockstep::internal::train {
namespace {

/// One parameter of four weights, whose gradient is 1 for every image.
class FakeEngine : public engine::Engine {
 public:
  std::string_view name() const override { return "fake"; }
  std::vector<sync::Parameter> parameters() const override { return {{"weight", 4}}; }
  DataType type() const override { return DataType::float32; }
  void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) override {
    weights_ = weights;
    gradient_ = gradients.of(0);
    ready_ = std::move(ready);
    fill(weights_, 0);
  }
  engine::Score forward(const data::Batch& batch) override {
    return {static_cast<double>(batch.size()), 0, batch.size()};
  }
  void backward(double factor) override {
    if (fails) throw std::runtime_error("backward failed");
    fill(gradient_, static_cast<float>(factor));
    ready_(0);
  }
  engine::Score evaluate(const data::Batch& batch) override { return {0, 0, batch.size()}; }
  void record_in(observe::Trace*) override {}
  std::vector<ArrayView> running_statistics() override { return {}; }
  std::vector<models::StoredTensor> parameter_state() const override { return {}; }
  std::vector<models::StoredTensor> buffer_state() const override { return {}; }
  void load(const std::vector<models::StoredTensor>&, const std::string&) override {}

  float weight() const { return *static_cast<const float*>(weights_.data); }

  bool fails = false;

 private:
  static void fill(const ArrayView& array, float value) {
    std::fill_n(static_cast<float*>(array.data), array.count, value);
  }

  ArrayView weights_;
  ArrayView gradient_;
  Ready ready_;
};

/// The same number of images in every step.
class Images : public BatchSource {
 public:
  Images(std::size_t mine, std::size_t all) : all_(all) { batch_.labels.resize(mine); }
  MicroBatch next() override { return {1 + done_++, all_, &batch_}; }
  std::size_t done() const override { return done_; }

 private:
  data::Batch batch_;
  const std::size_t all_;
  std::size_t done_ = 0;
};

ReplicaParts parts_with(std::unique_ptr<engine::Engine> engine, const Group& group) {
  ReplicaParts parts;
  parts.engine = std::move(engine);
  parts.shards = sync::shards_of(0, group.rank(), group.size());
  parts.make_method = [](const Group& ranks, const sync::Gradients& gradients, const ArrayView&) {
    return std::make_unique<sync::Ddp>(ranks, gradients, sync::DdpSettings{});
  };
  parts.make_optimizer = [](const ArrayView& weights, const ArrayView& gradients,
                            const std::vector<optim::TensorRange>&) {
    return optim::make_sgd<float>({static_cast<float*>(weights.data), weights.count},
                                  {static_cast<const float*>(gradients.data), weights.count},
                                  {.learning_rate = 0.5});
  };
  return parts;
}

TEST(Step, AveragesOverImagesWhereRanksHaveDifferentNumbers) {
  run_threads(2, [](Group group) {
    auto made = std::make_unique<FakeEngine>();
    const FakeEngine& engine = *made;
    Replica replica(group, parts_with(std::move(made), group));
    Images images(group.rank() == 0 ? 1 : 3, 4);
    const run::Record record = replica.step(images);
    EXPECT_EQ(record.samples, group.rank() == 0 ? 1 : 3);
    EXPECT_EQ(engine.weight(), -0.5f);
  });
}

TEST(Step, AFailureOnOneRankChangesNoWeightsAndTheNextStepWorks) {
  run_threads(2, [](Group group) {
    auto made = std::make_unique<FakeEngine>();
    FakeEngine& engine = *made;
    Replica replica(group, parts_with(std::move(made), group));
    Images images(2, 4);
    engine.fails = group.rank() == 1;
    if (group.rank() == 1)
      EXPECT_THROW(replica.step(images), std::runtime_error);
    else
      testing::expect_error<Error>([&] { replica.step(images); }, {"rank 1"});
    EXPECT_EQ(engine.weight(), 0);
    engine.fails = false;
    replica.step(images);
    EXPECT_EQ(engine.weight(), -0.5f);
  });
}

}  // namespace
}  // namespace lockstep::internal::train
