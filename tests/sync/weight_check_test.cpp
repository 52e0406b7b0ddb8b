// Weights that diverge are found, down to a single bit, and every rank learns which rank differs.
#include "sync/weight_check.h"

#include <lockstep/error.h>

#include "support/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace lockstep::internal::sync {
namespace {

using testing::errors_of_ranks;
using testing::RankKind;

const std::vector<Parameter> kParameters{
    {"first.weight", 100}, {"first.bias", 1}, {"second.weight", 5001}, {"second.bias", 17}};

/// Ranks with equal weights; `change` may change one rank's before all compare.
void check(Group group, const std::function<void(int rank, const Gradients&, float*)>& change) {
  const Gradients gradients(group, kParameters, Layout(kParameters, DataType::float32));
  std::vector<float> weights(gradients.layout().size(), 0.5f);
  change(group.rank(), gradients, weights.data());
  require_same_weights(group, gradients, weights, 7);
}

std::size_t place_of(const Gradients& gradients, std::size_t parameter, std::size_t element) {
  return gradients.layout().slots()[parameter].begin + element;
}

void flip_bit(float& value, int bit) {
  auto* bytes = reinterpret_cast<std::uint8_t*>(&value);
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1 << bit % 8));
}

TEST(WeightCheck, ReturnsIfAllWeightsAreTheSame) {
  for (RankKind kind : {RankKind::thread, RankKind::process, RankKind::gloo})
    testing::run_ranks(kind, 3, [](const Group& group) {
      check(group, [](int, const Gradients& gradients, float* weights) {
        weights[place_of(gradients, 2, 3)] = std::numeric_limits<float>::quiet_NaN();
      });
    });
}

TEST(WeightCheck, FindsEverySingleBit) {
  for (const auto& [parameter, element] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {0, 99}, {1, 0}, {2, 5000}, {3, 16}})
    for (int bit : {0, 13, 31}) {
      const auto errors = errors_of_ranks(RankKind::thread, 3, [&](const Group& group) {
        check(group, [&](int rank, const Gradients& gradients, float* weights) {
          if (rank == 2) flip_bit(weights[place_of(gradients, parameter, element)], bit);
        });
      });
      const std::string expected = fmt::format(
          "after step 7 the workers' weights are no longer the same: rank 2 differed "
          "first in {}, compared with most workers. ",
          kParameters[parameter].name);
      for (const std::string& error : errors) EXPECT_EQ(error.find(expected), 0u) << error;
    }
}

TEST(WeightCheck, NamesRankZeroIfTheMajorityDiffersFromIt) {
  for (const std::string& error : errors_of_ranks(RankKind::thread, 4, [](const Group& group) {
         check(group, [](int rank, const Gradients& gradients, float* weights) {
           if (rank == 0) weights[place_of(gradients, 3, 0)] = 1;
         });
       }))
    EXPECT_NE(error.find("rank 0 differed first in second.bias, compared with most workers"),
              std::string::npos)
        << error;
}

TEST(WeightCheck, WithoutAMajorityComparesWithRankZero) {
  for (const std::string& error : errors_of_ranks(RankKind::thread, 4, [](const Group& group) {
         check(group, [](int rank, const Gradients& gradients, float* weights) {
           if (rank >= 2) weights[place_of(gradients, static_cast<std::size_t>(rank), 1)] = 1;
         });
       }))
    EXPECT_NE(error.find("rank 2 differed first in second.weight; rank 3 differed first in "
                         "second.bias, compared with rank 0, since there is no majority"),
              std::string::npos)
        << error;
}

}  // namespace
}  // namespace lockstep::internal::sync
