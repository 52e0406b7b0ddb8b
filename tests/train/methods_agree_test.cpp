// With every sync method, the final weights equal those of one worker.
#include "support/temporary_folder.h"
#include "sync/sync_method.h"
#include "train/training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::train {
namespace {

struct Trained {
  run::Summary summary;
  std::vector<double> weights;
};

/// 50 iterations: seven epochs, each with a last batch of 4 images, and the first batch of an
/// eighth.
Trained run(int workers, const std::string& sync, double bucket_mb = 25) {
  const testing::TemporaryFolder folder;
  TrainConfig config = small_job();
  config.workers = workers;
  config.sync = sync;
  config.epochs = 0;
  config.iterations = 50;
  config.first_bucket_mb = std::min(1.0, bucket_mb);
  config.bucket_mb = bucket_mb;
  if (sync != "local-sgd")
    config.policy.check_every = 3;  // weights are equal during the training as well
  config.save = folder.path() / "weights.safetensors";
  Trained result{train_on_threads(config), {}};
  result.weights = weights_in(config.save);
  return result;
}

/// The result of one worker, computed once.
const Trained& trained(int workers, const std::string& sync) {
  static std::map<std::pair<int, std::string>, Trained> kept;
  auto found = kept.find({workers, sync});
  if (found == kept.end()) found = kept.emplace(std::pair(workers, sync), run(workers, sync)).first;
  return found->second;
}

const std::string& hash(int workers, const std::string& sync) {
  return trained(workers, sync).summary.weights_sha256;
}

/// All methods except local-sgd, whose updates are not those of one worker.
std::vector<std::string> exact_methods() {
  std::vector<std::string> names = sync::method_names();
  std::erase(names, "local-sgd");
  return names;
}

/// 3 workers have slices of different sizes; of 5 workers, one has no image of an epoch's last
/// batch.
class MethodsAgree : public ::testing::TestWithParam<std::tuple<int, std::string>> {};

INSTANTIATE_TEST_SUITE_P(All, MethodsAgree,
                         ::testing::Combine(::testing::Values(2, 3, 4, 5),
                                            ::testing::ValuesIn(exact_methods())),
                         [](const auto& info) { return name_of_case(info.param); });

TEST_P(MethodsAgree, WeightsEqualThoseOfOneWorker) {
  const auto& [workers, sync] = GetParam();
  const auto& [summary, weights] = trained(workers, sync);
  EXPECT_EQ(summary.iterations, 50u);
  EXPECT_LT(distance(weights, trained(1, "ddp").weights), 1e-6);
  ASSERT_EQ(summary.ranks.size(), static_cast<std::size_t>(workers));
  for (const run::RankSummary& rank : summary.ranks)
    EXPECT_EQ(rank.weights_sha256, summary.weights_sha256) << "rank " << rank.rank;
}

TEST(SameBits, MethodsThatAddInTheSameOrderEndWithTheSameBits) {
  for (int workers : {3, 4})
    for (const char* sync : {"p2p", "coordinator", "all-reduce", "ddp", "sharded", "server"})
      EXPECT_EQ(hash(workers, sync), hash(workers, "gather-scatter")) << sync << " × " << workers;
}

TEST(SameBits, TheSameRunGivesTheSameBits) {
  EXPECT_EQ(run(1, "ddp").summary.weights_sha256, hash(1, "ddp"));
  for (const std::string& sync : sync::method_names())
    EXPECT_EQ(run(4, sync).summary.weights_sha256, hash(4, sync)) << sync;
}

TEST(SameBits, TheSizeOfBucketsChangesNothing) {
  for (double megabytes : {1e-6, 0.01, 0.1})
    EXPECT_EQ(run(4, "ddp", megabytes).summary.weights_sha256, hash(4, "ddp")) << megabytes;
}

TEST(SameBits, OtherSeedsTrainOtherWeights) {
  TrainConfig config = small_job();
  const std::string first = train_on_threads(config).weights_sha256;
  config.seed = 1;
  EXPECT_NE(train_on_threads(config).weights_sha256, first);
}

/// Every byte is counted under what it is for, on every rank.
TEST_P(MethodsAgree, TheItemsOfWhatIsExchangedAddUp) {
  const auto& [workers, sync] = GetParam();
  const run::Summary& summary = trained(workers, sync).summary;
  std::map<std::string, std::uint64_t> sums;
  for (const run::RankSummary& rank : summary.ranks)
    for (const auto& [purpose, bytes] : rank.exchanged) sums[purpose] += bytes;
  EXPECT_EQ(summary.exchanged, sums);
  EXPECT_EQ(sums.at("other"), 0u) << "all code that sends says what for";
  EXPECT_EQ(sums.at("checkpoints"), 0u);
  EXPECT_GT(sums.at("gradients"), 0u);
  EXPECT_GT(sums.at("weights"), 0u);
  EXPECT_GT(sums.at("agreement"), 0u) << "--check-every, and the same options and data";
  EXPECT_GT(sums.at("metrics"), 0u);
  // The records count the bytes of steps 2 to 50: gradients, and the weights of methods that
  // distribute the update.
  double in_steps = 0;
  for (const run::RankSummary& rank : summary.ranks) in_steps += 49 * rank.bytes_per_iteration;
  EXPECT_GE(static_cast<double>(sums.at("gradients") + sums.at("weights")), in_steps);
}

TEST(Exchanged, GradientsOfARingAreAsManyAsInTheCostTable) {
  TrainConfig config = small_job();
  config.workers = 2;
  config.engine = "torch";  // adds no padding
  config.sync = "ring";
  config.iterations = 5;
  const run::Summary summary = train_on_threads(config);
  for (const run::RankSummary& rank : summary.ranks)
    EXPECT_EQ(rank.exchanged.at("gradients"), 5u * 2 * 61706 * 4 / 2);  // 5 steps of 2n(W−1)/W
  EXPECT_EQ(summary.exchanged.at("votes"), 0u) << "nobody can ask for a stop";
  EXPECT_EQ(summary.exchanged.at("batch_norm"), 0u) << "LeNet-5 has no batch norm";
}

}  // namespace
}  // namespace lockstep::internal::train
