// Compression: messages shrink by the documented factor, and all ranks get the same bits.
#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "support/errors.h"
#include "support/ranks.h"
#include "sync/compressed_rank.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

namespace lockstep::internal::sync {
namespace {

using testing::expect_error;
using testing::floats;
using testing::RankKind;
using testing::run_ranks;

const std::vector<std::string> kAll{"float16", "bfloat16", "topk:0.01", "powersgd:2", "sign"};

class Compressions : public ::testing::TestWithParam<std::tuple<RankKind, std::string>> {};

INSTANTIATE_TEST_SUITE_P(All, Compressions,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process,
                                                              RankKind::gloo),
                                            ::testing::ValuesIn(kAll)),
                         [](const auto& info) {
                           std::string name =
                               testing::name_of(std::get<0>(info.param)) + std::get<1>(info.param);
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST_P(Compressions, GiveAllRanksTheSameBitsAndLeaveGapsAlone) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 3, [compression = compression](Group group) {
    CompressedRank rank(group, compression);
    for (int step = 0; step < 3; ++step) {
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank() + step, p, i); });
      const std::span<float> all = floats(rank.gradients.all());
      std::vector<float> largest(all.begin(), all.end()), smallest = largest;
      group.all_reduce(largest, ReduceOp::max);
      group.all_reduce(smallest, ReduceOp::min);
      ASSERT_EQ(largest, smallest);
      std::vector<char> taken(all.size());
      for (const Slot& slot : rank.gradients.layout().slots())
        std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(slot.begin), slot.count, 1);
      for (std::size_t i = 0; i < all.size(); ++i)
        if (taken[i] == 0) {
          ASSERT_EQ(all[i], 0) << "gap " << i;
        }
    }
  });
}

/// Compares the bytes that a rank sends for one bucket with the formulas of docs/algorithms.md.
TEST_P(Compressions, SendFewerBytesByTheDocumentedFactor) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 4, [compression = compression](Group group) {
    auto bytes_with = [&](const std::string& how) {
      CompressedRank rank(group, how);
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank(), p, i); });
      const std::uint64_t before = group.counters().bytes;
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank(), p, i); });
      std::vector<double> sent{static_cast<double>(group.counters().bytes - before)};
      group.all_reduce(sent, ReduceOp::average);
      return sent[0];
    };
    const std::map<std::string, double> promised{
        {"float16", 2}, {"bfloat16", 2}, {"topk:0.01", 25}, {"powersgd:2", 27}, {"sign", 16}};
    const double factor = bytes_with("") / bytes_with(compression);
    // Short messages in shared memory are read by all ranks from all ranks: up to W/2 times more
    // bytes.
    EXPECT_GT(factor, 0.9 * promised.at(compression) / (compression == "powersgd:2" ? 2 : 1))
        << group.transport();
  });
}

TEST(Compress, RoundsToHalfPrecision) {
  for (const auto& [name, digits] : {std::pair{"float16", 11}, std::pair{"bfloat16", 8}})
    run_ranks(RankKind::thread, 2, [&, name = name, digits = digits](Group group) {
      CompressedRank rank(group, name);
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank(), p, i); });
      for (std::size_t i = 0; i < 300; ++i) {
        const float expected = (wave(0, 0, i) + wave(1, 0, i)) / 2;
        const float unit = std::ldexp(1.0F, -digits);
        ASSERT_NEAR(floats(rank.gradients.of(0))[i], expected, 2 * unit);
      }
    });
}

/// With error feedback, the sum of all results differs from the exact sum by at most one step's
/// residual, so the mean over many steps converges.
TEST_P(Compressions, ConvergeToTheMeanGradient) {
  const auto& [kind, compression] = GetParam();
  if (kind != RankKind::thread) GTEST_SKIP() << "arithmetic only";
  run_ranks(kind, 2, [compression = compression](Group group) {
    CompressedRank rank(group, compression, DataType::float64);
    constexpr int kSteps = 1000;
    std::vector<double> sums(rank.gradients.layout().size());
    for (int step = 0; step < kSteps; ++step) {
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank(), p, i); });
      const auto* got = static_cast<const double*>(rank.gradients.all().data);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += got[i] / kSteps;
    }
    double off = 0, norm = 0;
    for (std::size_t p = 0; p < kParameters.size(); ++p)
      for (std::size_t i = 0; i < kParameters[p].count; ++i) {
        const double truth = (wave(0, p, i) + wave(1, p, i)) / 2;
        off += std::pow(sums[rank.gradients.layout().slots()[p].begin + i] - truth, 2);
        norm += truth * truth;
      }
    EXPECT_LT(std::sqrt(off / norm), 0.15) << compression;
  });
}

TEST(Compress, PowerSgdIsExactForMatricesOfLowRank) {
  run_ranks(RankKind::thread, 2, [](Group group) {
    CompressedRank rank(group, "powersgd:2");
    // The average of two matrices of rank one has rank two.
    auto value = [&](std::size_t row, std::size_t column, int r) {
      return std::cos(0.1 * static_cast<double>(row) + r) *
             std::sin(0.3 * static_cast<double>(column) * (r + 1) + 1);
    };
    for (int step = 0; step < 3; ++step)
      rank.reduce([&](std::size_t p, std::size_t i) {
        return p == 4 ? value(i / 64, i % 64, group.rank()) : 0.0;
      });
    for (std::size_t i = 0; i < kParameters[4].count; ++i)
      ASSERT_NEAR(floats(rank.gradients.of(4))[i],
                  (value(i / 64, i % 64, 0) + value(i / 64, i % 64, 1)) / 2, 1e-4);
  });
}

/// As without compression: the step shows the value on all ranks, and the next one is clean.
TEST_P(Compressions, RecoverFromValuesThatAreNotFinite) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 2, [compression = compression](Group group) {
    for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) {
      CompressedRank rank(group, compression);
      const auto is_finite = [](float value) { return std::isfinite(value); };
      for (int step = 0; step < 6; ++step) {
        const bool shows = step == 2;
        rank.reduce([&](std::size_t p, std::size_t i) {
          const bool here = shows && group.rank() == 1 && p != 1 && i % 100 == 0;
          return here ? bad : wave(group.rank(), p, i);
        });
        const std::span<float> all = floats(rank.gradients.all());
        ASSERT_EQ(std::ranges::all_of(all, is_finite), !shows) << compression << ", step " << step;
        ASSERT_TRUE(std::ranges::all_of(floats(rank.gradients.of(1)), is_finite))
            << "a parameter that is well";
      }
      double sum = 0;
      for (const float value : floats(rank.gradients.of(4))) sum += std::abs(value);
      EXPECT_GT(sum, 0) << "gradients come again";
    }
  });
}

TEST(Compress, PowerSgdHandlesLargeGradients) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    CompressedRank rank(group, "powersgd:1");
    double total = 0;
    for (int step = 0; step < 4; ++step) {
      rank.reduce([&](std::size_t p, std::size_t) { return step == 0 && p == 4 ? 1e22F : 0.0F; });
      total += floats(rank.gradients.of(4))[17];
    }
    EXPECT_NEAR(total, 1e22, 1e19);
  });
}

TEST(Compress, AHookOfTwoWrappersIsRefused) {
  run_ranks(RankKind::thread, 2, [](Group group) {
    const DdpSettings settings{.hook = compress::sign()};
    CompressedRank one(group, settings, one_bucket());
    one.reduce(nothing);
    CompressedRank other(group.split(0), settings, one_bucket());
    expect_error<UsageError>([&] { other.reduce(nothing); }, {"make a hook for each wrapper"});
  });
}

// The exception often destroys the gradients next.
TEST(Compress, AnExceptionThatDropsABucketWaitsForItsEnd) {
  std::atomic<bool> dropped = false;
  run_threads(2, [&](Group group) {
    std::vector<float> values(1000, 1);
    const BucketHook hook = compress::sign();
    const GradientBucket bucket{.number = 0, .count = 1, .gradients = values};
    if (group.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      EXPECT_FALSE(dropped);
      return hook(group, bucket).wait();
    }
    try {
      const Work work = hook(group, bucket);
      throw std::runtime_error("mine");
    } catch (const std::runtime_error&) {
      dropped = true;
    }
  });
}

TEST(Compress, AForkedChildMayDropTheHook) {
  run_threads(2, [](Group group) {
    std::vector<float> values(1000, 1);
    std::optional<BucketHook> hook = compress::sign();
    (*hook)(group, {.number = 0, .count = 1, .gradients = values}).wait();
    group.barrier();
    if (group.rank() == 1) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);  // ends a child that hangs
        hook.reset();
        ::_exit(0);
      }
      int status = -1;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    group.barrier();
  });
}

TEST(Compress, InvalidTextsAreRefused) {
  for (const char* text : {"topk:0", "topk:1.5", "topk:-1"})
    expect_error<UsageError>([&] { compress::parse(text); }, {"above 0 and at most 1"});
  for (const char* text : {"powersgd:0", "powersgd:129"})
    expect_error<UsageError>([&] { compress::parse(text); }, {"from 1 to 128"});
  for (const char* text : {"gzip", "topk", "topk:", "topk:x", "powersgd:1.5", "sign:2", "float16 "})
    expect_error<UsageError>([&] { compress::parse(text); }, {"unknown compression", text});
  EXPECT_FALSE(compress::parse(""));
}

}  // namespace
}  // namespace lockstep::internal::sync
