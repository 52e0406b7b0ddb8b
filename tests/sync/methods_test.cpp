// Every sync method leaves the same averages on every rank.
#include <lockstep/error.h>

#include "support/errors.h"
#include "support/ranks.h"
#include "sync/sync_method.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lockstep::internal::sync {
namespace {

using testing::RankKind;
using testing::run_ranks;

const std::vector<Parameter> kParameters{{"a", 100}, {"b", 1}, {"c", 5000}, {"d", 17}, {"e", 300}};

/// Several buckets, so that ddp can overlap.
constexpr BucketOptions kBuckets{.first_bytes = 1000, .bytes = 4000};

float value(int rank, std::size_t parameter, std::size_t i) {
  return static_cast<float>((static_cast<std::size_t>(rank) + 1) * (parameter + 1)) +
         static_cast<float>(i % 13);
}

float average(int ranks, std::size_t parameter, std::size_t i) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value(rank, parameter, i);
  return sum / static_cast<float>(ranks);
}

std::span<float> floats(const ArrayView& view) {
  return {static_cast<float*>(view.data), view.count};
}

void fill(const Gradients& gradients, int rank, std::size_t parameter) {
  std::span<float> mine = floats(gradients.of(parameter));
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = value(rank, parameter, i);
}

class Methods : public ::testing::TestWithParam<std::tuple<RankKind, int, std::string>> {};

INSTANTIATE_TEST_SUITE_P(All, Methods,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process),
                                            ::testing::Values(1, 2, 3, 4, 5, 8),
                                            ::testing::ValuesIn(averaging_method_names())),
                         [](const auto& info) {
                           std::string name =
                               fmt::format("{}{}_{}", testing::name_of(std::get<0>(info.param)),
                                           std::get<1>(info.param), std::get<2>(info.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Methods, AverageOverAllRanksStepAfterStep) {
  const auto& [kind, size, name] = GetParam();
  run_ranks(kind, size, [size = size, name = name](Group group) {
    Gradients gradients(group, kParameters, Layout(kParameters, DataType::float32, kBuckets));
    auto method = make_sync_method(parse_method(name, "auto"), group, gradients);
    for (int step = 0; step < 3; ++step) {
      for (std::size_t left = kParameters.size(); left > 0; --left) {
        fill(gradients, group.rank(), left - 1);
        method->ready(left - 1);
      }
      method->finish();
      for (std::size_t parameter = 0; parameter < kParameters.size(); ++parameter)
        for (std::size_t i = 0; i < kParameters[parameter].count; ++i)
          ASSERT_FLOAT_EQ(floats(gradients.of(parameter))[i], average(size, parameter, i))
              << name << " step " << step << " " << kParameters[parameter].name << "[" << i << "]";
    }
  });
}

TEST(Method, NamesAndAlgorithmsAreTwoAxes) {
  const Method ring = parse_method("ring", "auto");
  EXPECT_EQ(ring.method, "ring");
  EXPECT_EQ(ring.sync, "all-reduce");
  EXPECT_EQ(ring.algorithm, Algorithm::ring);
  EXPECT_EQ(parse_method("ring", "ring").sync, "all-reduce");
  EXPECT_EQ(parse_method("all-reduce", "ring").method, "ring");
  EXPECT_EQ(parse_method("ddp", "star").algorithm, Algorithm::star);
  EXPECT_EQ(parse_method("tree", "auto").algorithm, Algorithm::tree);
  EXPECT_EQ(parse_method("halving-doubling", "auto").sync, "all-reduce");
}

TEST(Method, ContradictionsAndUnknownNamesAreRefused) {
  EXPECT_THROW(parse_method("ring", "star"), UsageError);
  EXPECT_THROW(parse_method("p2p", "ring"), UsageError);
  EXPECT_THROW(parse_method("tree", "halving-doubling"), UsageError);
  EXPECT_THROW(parse_method("gossip", "auto"), UsageError);
  EXPECT_THROW(parse_method("ddp", "snake"), UsageError);
  EXPECT_THROW(parse_method("server", "ring"), UsageError);
  EXPECT_THROW(parse_method("sharded", "tree"), UsageError);
}

TEST(Method, InvalidOptionsAreRefusedWithTheirRange) {
  EXPECT_NO_THROW(require_valid({}, 1));
  EXPECT_NO_THROW(require_valid({.staleness = 1, .servers = 4}, 4));
  using testing::expect_error;
  expect_error<UsageError>([] { require_valid({.local_steps = 0}, 2); },
                           {"--local-steps is 0", "1 or more"});
  for (int staleness : {0, -1})
    expect_error<UsageError>([=] { require_valid({.staleness = staleness}, 2); },
                             {"--staleness", "1 or more"});
  for (int servers : {0, 3})
    expect_error<UsageError>([=] { require_valid({.servers = servers}, 2); },
                             {"--servers", "from 1 to 2"});
  expect_error<UsageError>([] { require_valid({.compress = "zip"}, 2); },
                           {"'zip'", "float16", "powersgd:RANK"});
}

}  // namespace
}  // namespace lockstep::internal::sync
