// Training networks with batch norm on four workers gives PyTorch's numbers. The reference is made
// by tests/reference/batch_norm.py.
#include "base/files.h"
#include "engine/make_engine.h"
#include "engine/torch/torch_engine.h"
#include "models/formula_weights.h"
#include "models/model.h"
#include "models/safetensors.h"
#include "support/formula.h"
#include "support/temporary_folder.h"
#include "train/feed.h"
#include "train/replica.h"
#include "train/replica_parts.h"
#include "train/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

using testing::Digest;
using testing::digest_of;

constexpr std::size_t kSteps = 5;
constexpr std::size_t kBatch = 8;
constexpr double kZero = 1e-9;  ///< of the largest gradient: less than this is rounding

Digest digest_in(const nlohmann::json& json) {
  return {json.at("norm"), json.at("projections").get<std::array<double, 8>>()};
}

Digest digest_of_type(const ArrayView& view) {
  if (view.type == DataType::float64)
    return digest_of(std::span(static_cast<const double*>(view.data), view.count));
  return digest_of(std::span(static_cast<const float*>(view.data), view.count));
}

void expect_close(const Digest& found, const Digest& expected, double tolerance,
                  const std::string& what) {
  EXPECT_LE(testing::distance(found, expected), tolerance * expected.norm) << what;
  EXPECT_NEAR(found.norm, expected.norm, tolerance * expected.norm) << what;
}

/// All floating-point elements, tensors in the order of their names.
Digest digest_of_state(std::vector<models::StoredTensor> tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return !is_floating(tensor.type); });
  const std::vector<double> values = values_of(tensors);
  return digest_of(std::span(values));
}

/// A rank's slices of the reference's batches, in the order of the images.
Feed feed_of(const data::Loader& loader, const Group& group) {
  return Feed(loader, {.count = kSteps * kBatch, .batch = kBatch, .shuffle = false},
              sync::shards_of(0, group.rank(), group.size()));
}

class BatchNormParity : public ::testing::TestWithParam<std::string> {
 protected:
  BatchNormParity()
      : reference_(nlohmann::json::parse(read_file(
            fmt::format("{}/tests/reference/{}.json", LOCKSTEP_TEST_SOURCE, GetParam())))),
        loader_(std::make_shared<data::Images>(testing::formula_images(
                    reference_.at("image_seed"), kSteps * kBatch, models::images_of(GetParam()))),
                {{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}}, 0) {
    config_.model = GetParam();
    config_.workers = 4;
    config_.learning_rate = 0.01;
    config_.momentum = 0.9;
    config_.weight_decay = 1e-4;
    config_.init = folder_.path() / "initial.safetensors";
    const auto model = models::make_model(GetParam());
    models::set_formula_weights(*model);
    models::write_safetensors(config_.init, models::state_of(*model));
  }

  void expect_gradients(const sync::Gradients& gradients, double tolerance) const;
  void check_gradients(DataType type, double tolerance) const;

  const nlohmann::json reference_;
  const data::Loader loader_;
  testing::TemporaryFolder folder_;
  TrainConfig config_;
};

INSTANTIATE_TEST_SUITE_P(Small, BatchNormParity, ::testing::Values("vgg11"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Long, BatchNormParity, ::testing::Values("resnet18"),
                         [](const auto& info) { return info.param; });

TEST_P(BatchNormParity, LossesWeightsAndStatisticsInFloat64AreThoseOfPyTorch) {
  config_.dtype = "float64";
  const auto losses = reference_.at("losses").get<std::vector<double>>();
  ASSERT_EQ(losses.size(), kSteps);
  run_threads(config_.workers, [&](Group group) {
    engine::use_threads(1);
    Replica replica(group,
                    replica_parts(group, config_, loader_.shape(), engine::built_in_engines()));
    Feed feed = feed_of(loader_, group);
    for (std::size_t step = 0; step < kSteps; ++step) {
      const run::Record record = replica.step(feed);
      std::vector<double> loss{record.loss_sum / record.samples};
      group.all_reduce(loss, ReduceOp::average);
      EXPECT_NEAR(loss[0], losses[step], 1e-9 * losses[step]) << "step " << step + 1;
    }
    replica.evaluate(loader_, kBatch);  // what averages the statistics
    const auto buffers = replica.engine().buffer_state();
    expect_close(digest_of_state(buffers), digest_in(reference_.at("final_statistics")), 1e-9,
                 fmt::format("statistics of rank {}", group.rank()));
    for (const models::StoredTensor& buffer : buffers)
      if (!is_floating(buffer.type)) {
        EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(buffer.data.data()), kSteps)
            << buffer.name;
      }
    if (group.rank() == 0)
      expect_close(digest_of_state(replica.engine().parameter_state()),
                   digest_in(reference_.at("final_weights")), 1e-9, "weights");
  });
}

/// The gradients of all tensors, except biases before batch norm: batch norm removes these, so
/// their gradients are rounding errors around zero.
void BatchNormParity::expect_gradients(const sync::Gradients& gradients, double tolerance) const {
  const nlohmann::json& expected = reference_.at("gradients_step1");
  EXPECT_EQ(gradients.parameters().size(), expected.size());
  double largest = 0;
  for (const auto& digest : expected) largest = std::max<double>(largest, digest.at("norm"));
  for (std::size_t i = 0; i < gradients.parameters().size(); ++i) {
    const std::string& name = gradients.parameters()[i].name;
    const Digest wanted = digest_in(expected.at(name));
    const Digest found = digest_of_type(gradients.of(i));
    if (wanted.norm < kZero * largest)
      EXPECT_LE(found.norm, tolerance * largest) << name;
    else
      expect_close(found, wanted, tolerance, name);
  }
}

/// One forward and backward on four ranks, averaged by ddp.
void BatchNormParity::check_gradients(DataType type, double tolerance) const {
  run_threads(config_.workers, [&](Group group) {
    engine::use_threads(1);
    auto engine = engine::make_torch_engine(
        {.model = config_.model, .type = type, .images = loader_.shape()});
    engine->load(models::read_safetensors(config_.init), config_.init.string());
    const sync::Gradients gradients(group, engine->parameters(),
                                    sync::Layout(engine->parameters(), type));
    const Memory weights = group.allocate(gradients.layout().bytes());
    const auto method = sync::make_sync_method(config_.method(), group, gradients);
    engine->bind({weights.data(), gradients.layout().size(), type}, gradients,
                 [&](std::size_t i) { method->ready(i); });
    Feed feed = feed_of(loader_, group);
    engine->forward(*feed.next().images);
    engine->backward(1);
    method->finish();
    if (group.rank() == 0) expect_gradients(gradients, tolerance);
    engine.reset();  // before the memory it writes into
  });
}

TEST(Digest, TellsTensorsApartThatDifferByTwiceTheTolerance) {
  constexpr double kTolerance = 1e-4;
  Random random(1);
  std::vector<double> tensor(10'000);
  for (double& value : tensor) value = random.uniform() - 0.5;
  const Digest before = digest_of(std::span<const double>(tensor));
  const double change = 2 * kTolerance * before.norm;
  auto expect_seen = [&](const std::vector<double>& changed, const char* what) {
    EXPECT_GT(testing::distance(digest_of(std::span<const double>(changed)), before),
              kTolerance * before.norm)
        << what;
  };
  std::vector<double> changed = tensor;
  changed[5000] += change;
  expect_seen(changed, "one element");
  changed = tensor;
  for (double& value : changed) value *= 1 + 2 * kTolerance;
  expect_seen(changed, "the scale");
  changed = tensor;
  for (std::size_t i = 0; i < 100; ++i) changed[i] += change / 10;
  expect_seen(changed, "a row");
  EXPECT_EQ(testing::distance(digest_of(std::span<const double>(tensor)), before), 0);
}

TEST_P(BatchNormParity, GradientsInFloat32AreThoseOfPyTorch) {
  check_gradients(DataType::float32, 1e-4);
}

TEST_P(BatchNormParity, GradientsInFloat64AreThoseOfPyTorch) {
  check_gradients(DataType::float64, 1e-9);
}

}  // namespace
}  // namespace lockstep::internal::train
