// Batch norm over all ranks in the onednn engine: small models on four ranks, with slices of a
// batch of different sizes, one of them empty, compared with torch on the whole batch in float64.
#include <lockstep/error.h>
#include <lockstep/sync_batch_norm.h>

#include "engine/onednn_support.h"
#include "models/resnet.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gmock/gmock.h>

namespace lockstep::internal::engine {
namespace {

namespace nn = torch::nn;
using MaybeGroup = std::optional<Group>;

/// Relative tolerance of every gradient and statistic, as for all layers in float32.
constexpr double kSyncNormTolerance = 1e-5;

/// Rank 2 has no image.
const std::vector<std::size_t> kShares{3, 1, 0, 4};
constexpr std::size_t kImagesPerBatch = 8;

data::Batch slice_of(const data::Batch& whole, std::size_t begin, std::size_t count) {
  const std::size_t pixels = whole.pixels.size() / whole.size();
  auto part = [&](const auto& values, std::size_t each) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin * each);
    return std::vector(from, from + static_cast<std::ptrdiff_t>(count * each));
  };
  return {part(whole.pixels, pixels), part(whole.labels, 1)};
}

data::Batch share_of(const data::Batch& whole, const Group& group) {
  std::size_t begin = 0;
  for (int rank = 0; rank < group.rank(); ++rank) begin += kShares[rank];
  return slice_of(whole, begin, kShares[group.rank()]);
}

nn::Conv2d convolution(int in, int out, int kernel) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel));
}

SyncBatchNorm norm(std::int64_t channels, const MaybeGroup& group) {
  return SyncBatchNorm(nn::BatchNormOptions(channels).momentum(0.3).eps(1e-3), group);
}

struct SyncNormCase {
  const char* name;
  data::ImageShape images;
  nn::Sequential (*make)(const MaybeGroup& group);
};

std::ostream& operator<<(std::ostream& out, const SyncNormCase& shown) {
  return out << shown.name;
}

template <int channels>
nn::Sequential make_normalised_model(const MaybeGroup& group) {
  return nn::Sequential(convolution(3, channels, 3), norm(channels, group), nn::Flatten(),
                        nn::Linear(channels * 5 * 3, 10));
}

template <int channels>
nn::Sequential make_model_with_relu(const MaybeGroup& group) {
  return nn::Sequential(convolution(3, channels, 3), norm(channels, group), nn::ReLU(),
                        convolution(channels, channels, 3), norm(channels, group), nn::ReLU(),
                        nn::Flatten(), nn::Linear(channels * 3 * 1, 10));
}

const SyncNormCase kSyncNormCases[] = {
    {"64_channels", {3, 7, 5}, make_normalised_model<64>},
    {"20_channels", {3, 7, 5}, make_normalised_model<20>},
    {"5_channels", {3, 7, 5}, make_normalised_model<5>},
    {"64_channels_with_relu", {3, 7, 5}, make_model_with_relu<64>},
    {"20_channels_with_relu", {3, 7, 5}, make_model_with_relu<20>},
    {"5_channels_with_relu", {3, 7, 5}, make_model_with_relu<5>},
    {"images",
     {3, 4, 4},
     [](const MaybeGroup& group) {
       return nn::Sequential(norm(3, group), convolution(3, 16, 3), nn::Flatten(),
                             nn::Linear(16 * 2 * 2, 10));
     }},
    {"maps_of_one_pixel",
     {3, 6, 6},
     [](const MaybeGroup& group) {
       return nn::Sequential(convolution(3, 16, 3), convolution(16, 24, 4), norm(24, group),
                             nn::ReLU(), convolution(24, 16, 1), norm(16, group), nn::Flatten(),
                             nn::Linear(16, 10));
     }},
    {"no_neighbours_in_blocks",
     {3, 6, 6},
     [](const MaybeGroup& group) {
       return nn::Sequential(nn::Tanh(), norm(3, group), nn::ReLU(), nn::Flatten(),
                             nn::Linear(3 * 6 * 6, 10));
     }},
};

/// An engine for this rank, with torch's weights.
BoundEngine make_bound_engine(const Group& group, nn::Sequential model, nn::Sequential& weights,
                              const data::ImageShape& images) {
  models::load_state(*model, models::state_of(*weights), "torch's");
  return BoundEngine(group,
                     make_onednn_engine(std::move(model),
                                        {.images = images, .batch = 3, .convolutions = "direct"}));
}

class OnednnSyncNorm : public ::testing::TestWithParam<SyncNormCase> {
 protected:
  OnednnSyncNorm() {
    torch::manual_seed(3);
    weights_ = GetParam().make(std::nullopt);
    theirs_ = GetParam().make(std::nullopt);
    models::convert(*theirs_, DataType::float64);
    models::load_state(*theirs_, models::state_of(*weights_), "ours");
  }

  nn::Sequential weights_{nullptr};  ///< to begin with
  nn::Sequential theirs_{nullptr};
};

INSTANTIATE_TEST_SUITE_P(All, OnednnSyncNorm, ::testing::ValuesIn(kSyncNormCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// The sum over all ranks: this rank's gradients are its part of those of the mean loss.
std::vector<float> sum_of_gradients(Group group, const BoundEngine& bound, std::size_t parameter) {
  std::vector<float> gradient = bound.plain_gradient(parameter);
  group.all_reduce(gradient);
  return gradient;
}

TEST_P(OnednnSyncNorm, EqualsTorchOnTheWholeBatch) {
  const data::ImageShape& images = GetParam().images;
  const data::Batch whole = random_batch(images, kImagesPerBatch);
  torch_loss(theirs_, whole, images, true);
  theirs_->zero_grad();
  const double expected = torch_loss(theirs_, whole, images, true);
  const std::vector<torch::Tensor> parameters = theirs_->parameters();
  run_threads(4, [&](Group group) {
    nn::Sequential mine = GetParam().make(group.split(0));
    BoundEngine ours = make_bound_engine(group, mine, weights_, images);
    const data::Batch share = share_of(whole, group);
    const double part = static_cast<double>(share.size()) / kImagesPerBatch;
    ours.train(share, part);  // again, because statistics and memory are kept
    ours.ready.clear();
    std::vector<double> loss{ours.train(share, part).loss_sum};
    group.all_reduce(loss);
    EXPECT_NEAR(loss[0], expected, kSyncNormTolerance * expected);
    EXPECT_EQ(ours.ready.size(), parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::vector<float> gradient = sum_of_gradients(group, ours, i);
      if (is_noise(parameters[i].grad())) continue;
      EXPECT_LT(relative_error(gradient, parameters[i].grad()), kSyncNormTolerance)
          << ours.engine->parameters()[i].name;
    }
    for (const auto& named : mine->named_buffers()) {
      const torch::Tensor values = named.value().to(torch::kFloat32).contiguous();
      EXPECT_LT(relative_error({values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                               theirs_->named_buffers()[named.key()]),
                kSyncNormTolerance)
          << named.key();
    }
  });
}

TEST_P(OnednnSyncNorm, StatisticsAreTheSameBitsOnAllRanks) {
  const data::Batch whole = random_batch(GetParam().images, kImagesPerBatch);
  std::vector<std::string> hashes(4);
  run_threads(4, [&](Group group) {
    BoundEngine ours =
        make_bound_engine(group, GetParam().make(group.split(0)), weights_, GetParam().images);
    for (int step = 0; step < 2; ++step) ours.train(share_of(whole, group));
    hashes[group.rank()] = models::weights_sha256(ours.engine->buffer_state());
  });
  EXPECT_THAT(hashes, ::testing::Each(hashes[0]));
}

/// A mean of 10,000 and deviations of a few hundredths.
TEST(OnednnSyncNormNumbers, KeepsPrecisionWithALargeMean) {
  const data::ImageShape images{3, 6, 6};
  const auto make = [](const MaybeGroup& group) {
    return nn::Sequential(norm(3, group), nn::Flatten(), nn::Linear(3 * 6 * 6, 10));
  };
  data::Batch whole = random_batch(images, kImagesPerBatch);
  for (float& pixel : whole.pixels) pixel = 10000 + 0.05f * pixel;
  nn::Sequential theirs = make(std::nullopt), weights = make(std::nullopt);
  models::load_state(*theirs, models::state_of(*weights), "ours");
  models::convert(*theirs, DataType::float64);
  torch_loss(theirs, whole, images, true);
  run_threads(4, [&](Group group) {
    BoundEngine ours = make_bound_engine(group, make(group.split(0)), weights, images);
    const data::Batch share = share_of(whole, group);
    ours.train(share, static_cast<double>(share.size()) / kImagesPerBatch);
    for (std::size_t i = 0; i < theirs->parameters().size(); ++i)
      EXPECT_LT(relative_error(sum_of_gradients(group, ours, i), theirs->parameters()[i].grad()),
                kSyncNormTolerance)
          << ours.engine->parameters()[i].name;
  });
}

/// The loss along the gradient, whose slope is the gradient's length. The loss is smooth here.
TEST(OnednnSyncNormNumbers, GradientsEqualFiniteDifferences) {
  constexpr float kStep = 1e-2f;  // small compared with the weights, large compared with rounding
  const data::ImageShape images{3, 6, 6};
  const auto make = [](const MaybeGroup& group) {
    return nn::Sequential(convolution(3, 20, 3), norm(20, group), nn::Tanh(),
                          convolution(20, 16, 3), norm(16, group), nn::Tanh(), nn::Flatten(),
                          nn::Linear(16 * 2 * 2, 10));
  };
  const data::Batch whole = random_batch(images, kImagesPerBatch);
  nn::Sequential weights = make(std::nullopt);
  run_threads(4, [&](Group group) {
    BoundEngine ours = make_bound_engine(group, make(group.split(0)), weights, images);
    const data::Batch share = share_of(whole, group);
    ours.train(share, static_cast<double>(share.size()) / kImagesPerBatch);
    group.all_reduce(ours.gradients.all());
    const std::size_t count = ours.gradients.layout().size();
    const auto* gradient = static_cast<const float*>(ours.gradients.all().data);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i) squares += double{gradient[i]} * gradient[i];
    const auto length = static_cast<float>(std::sqrt(squares));
    auto loss_after = [&](float distance) {
      for (std::size_t i = 0; i < count; ++i)
        ours.memory.as<float>()[i] += distance / length * gradient[i];
      std::vector<double> loss{ours.engine->forward(share).loss_sum};
      group.all_reduce(loss);
      return loss[0] / kImagesPerBatch;
    };
    const double ahead = loss_after(kStep);
    const double behind = loss_after(-2 * kStep);
    EXPECT_NEAR((ahead - behind) / (2 * kStep), length, 2e-3 * length);
  });
}

TEST(OnednnSyncNormMessages, AreOneForwardAndOneBackwardAndNoneToEvaluate) {
  const data::ImageShape images{3, 7, 5};
  const data::Batch whole = random_batch(images, kImagesPerBatch);
  nn::Sequential weights = make_normalised_model<20>(std::nullopt);
  run_threads(4, [&](Group group) {
    Group its_own = group.split(0);
    BoundEngine ours =
        make_bound_engine(group, make_normalised_model<20>(its_own), weights, images);
    ours.train(share_of(whole, group));
    EXPECT_EQ(its_own.counters().operations, 2u);
    ours.engine->evaluate(share_of(whole, group));
    EXPECT_EQ(its_own.counters().operations, 2u);
  });
  run_threads(1, [&](Group group) {  // a single rank uses oneDNN's batch norm
    BoundEngine ours = make_bound_engine(group, make_normalised_model<20>(group), weights, images);
    const std::uint64_t before = group.counters().operations;
    ours.train(whole);
    EXPECT_EQ(group.counters().operations, before);
  });
}

TEST(OnednnSyncNormMessages, OneValueInAllIsRefusedOnAllRanks) {
  const data::ImageShape images{3, 1, 1};
  const auto errors = testing::errors_of_ranks(testing::RankKind::thread, 2, [&](Group group) {
    nn::Sequential model(norm(3, group.split(0)), nn::Flatten(), nn::Linear(3, 10));
    BoundEngine ours(group, make_onednn_engine(model, {.images = images, .batch = 1}));
    ours.train(random_batch(images, group.rank() == 0 ? 1 : 0));
  });
  EXPECT_THAT(errors, ::testing::Each(::testing::HasSubstr("all 2 ranks together have 1")));
}

}  // namespace
}  // namespace lockstep::internal::engine
