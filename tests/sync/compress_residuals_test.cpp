// Residuals: values that a compression leaves out are sent in later steps, wherever their
// parameters move, and after steps that failed.
#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "support/errors.h"
#include "support/ranks.h"
#include "sync/compressed_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lockstep::internal::sync {
namespace {

using testing::expect_error;
using testing::floats;
using testing::RankKind;
using testing::run_ranks;

constexpr std::array<std::size_t, 5> kOtherOrder{2, 0, 4, 1, 3};

/// Sums the results of top-k. Multiples of 1/8 are exact.
struct SentGradients {
  static float given(std::size_t p, std::size_t i, int rank) {
    return static_cast<float>((i + p) % 100) / 8 + static_cast<float>(rank);
  }

  void count(const CompressedRank& rank) {
    for (std::size_t p = 0; p < kParameters.size(); ++p)
      for (std::size_t i = 0; i < kParameters[p].count; ++i)
        total[p][i] += floats(rank.gradients.of(p))[i];
  }

  /// Expects that the gradients of 2 ranks in one step were sent completely, once.
  void expect_all_of_one_step() const {
    for (std::size_t p = 0; p < kParameters.size(); ++p)
      for (std::size_t i = 0; i < kParameters[p].count; ++i)
        ASSERT_EQ(total[p][i], (given(p, i, 0) + given(p, i, 1)) / 2) << p << " at " << i;
  }

  std::vector<std::vector<float>> total = [] {
    std::vector<std::vector<float>> zeros;
    for (const Parameter& parameter : kParameters) zeros.emplace_back(parameter.count);
    return zeros;
  }();
};

TEST(CompressResiduals, TopKSendsTheLargestAndTheRestLater) {
  run_ranks(RankKind::thread, 2, [](Group group) {
    CompressedRank rank(group, "topk:0.25");
    std::vector<double> total(kParameters[0].count), expected(total.size());
    auto count = [&] {
      const std::span<float> got = floats(rank.gradients.of(0));
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += got[i];
    };
    // Multiples of 1/8 are exact. Both ranks have the same large values.
    auto value = [&](std::size_t i, int r) { return static_cast<double>(i % 100) / 8 + r; };
    rank.reduce([&](std::size_t, std::size_t i) { return value(i, group.rank()); });
    count();
    for (std::size_t i = 0; i < total.size(); ++i) {
      expected[i] = (value(i, 0) + value(i, 1)) / 2;
      if (i % 100 >= 80) {
        ASSERT_EQ(total[i], expected[i]) << "the largest are sent at once";
      }
      if (i % 100 <= 70) {
        ASSERT_EQ(total[i], 0) << "the others are not";
      }
    }
    for (int step = 0; step < 4; ++step) {
      rank.reduce([](std::size_t, std::size_t) { return 0; });
      count();
    }
    EXPECT_EQ(total, expected) << "in the end everything was sent once";
  });
}

TEST(CompressResiduals, ResidualsMoveWithTheirParameters) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    const DdpSettings settings{.hook = compress::top_k(0.3)};
    SentGradients sent;
    {
      CompressedRank before(group, settings, one_bucket());
      before.reduce([&](auto p, auto i) { return SentGradients::given(p, i, group.rank()); });
      sent.count(before);
    }
    CompressedRank after(group, settings, one_bucket(kOtherOrder));
    for (int step = 0; step < 4; ++step) {
      after.reduce(nothing);
      sent.count(after);
    }
    sent.expect_all_of_one_step();
  });
}

TEST(CompressResiduals, PowerSgdKeepsItsMatricesWhenParametersMove) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    const DdpSettings settings{.hook = compress::power_sgd(2)};
    auto value = [&](std::size_t p, std::size_t i, int r) {
      const double row = static_cast<double>(i / 64), column = static_cast<double>(i % 64);
      return p == 4 ? std::cos(0.1 * row + r) * std::sin(0.3 * column * (r + 1) + 1) : 0.0;
    };
    auto step = [&](CompressedRank& rank) {
      rank.reduce([&](std::size_t p, std::size_t i) { return value(p, i, group.rank()); });
    };
    {
      CompressedRank before(group, settings, one_bucket());
      step(before);
    }
    CompressedRank after(group, settings, one_bucket(kOtherOrder));
    for (int i = 0; i < 4; ++i) step(after);
    for (std::size_t i = 0; i < kParameters[4].count; ++i)
      ASSERT_NEAR(floats(after.gradients.of(4))[i], (value(4, i, 0) + value(4, i, 1)) / 2, 1e-4);
  });
}

TEST(CompressResiduals, GradientsOfAFailedBackwardAreSentLater) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    CompressedRank rank(group, "topk:0.3");
    SentGradients sent;
    rank.reduce([&](auto p, auto i) { return SentGradients::given(p, i, group.rank()); });
    sent.count(rank);
    for (int attempt = 0; attempt < 2; ++attempt) {
      rank.bring(group.rank() == 0 ? 3 : 0, [](auto, auto) { return 1000; });
      if (group.rank() == 0)
        rank.ddp.abandon();
      else
        expect_error<Error>([&] { rank.ddp.finish(); }, {"by an exception on rank 0"});
    }
    for (int step = 0; step < 4; ++step) {
      rank.reduce(nothing);
      sent.count(rank);
    }
    sent.expect_all_of_one_step();
  });
}

TEST(CompressResiduals, ResidualsOfUnusedParametersAreKept) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    CompressedRank rank(group, {.allow_unused = true, .hook = compress::top_k(0.3)}, one_bucket());
    SentGradients sent;
    rank.reduce([&](auto p, auto i) { return SentGradients::given(p, i, group.rank()); });
    sent.count(rank);
    for (std::size_t p = 0; p < 3; ++p) std::ranges::fill(floats(rank.gradients.of(p)), 0.0F);
    rank.bring(3, nothing);
    rank.ddp.finish();
    ASSERT_EQ(rank.ddp.unused(), (std::vector<std::size_t>{0, 1, 2}));
    for (std::size_t p = 0; p < 3; ++p)  // the caller's gradients stay what they were
      std::ranges::fill(floats(rank.gradients.of(p)), 0.0F);
    sent.count(rank);
    for (int step = 0; step < 4; ++step) {
      rank.reduce(nothing);
      sent.count(rank);
    }
    sent.expect_all_of_one_step();
  });
}

}  // namespace
}  // namespace lockstep::internal::sync
