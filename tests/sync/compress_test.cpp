// Compression: messages shrink by the documented factor, residuals are sent later, and all ranks
// get the same bits.
#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "support/errors.h"
#include "support/ranks.h"
#include "support/trained_ranks.h"
#include "sync/methods/ddp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

namespace lockstep::internal::sync {
namespace {

using testing::expect_error;
using testing::floats;
using testing::RankKind;
using testing::run_ranks;

const std::vector<Parameter> kParameters{
    {"a", 64 * 300, {}, 64}, {"b", 17}, {"c", 20000}, {"d", 1}, {"e", 128 * 64, {}, 128}};
const std::vector<std::string> kAll{"float16", "bfloat16", "topk:0.01", "powersgd:2", "sign"};

/// One rank's gradients, averaged by ddp with a compression.
struct Rank {
  Rank(Group with, const std::string& compression, DataType type = DataType::float32)
      : Rank(std::move(with), {.hook = compress::parse(compression)},
             Layout(kParameters, type, {.first_bytes = 40'000, .bytes = 80'000})) {}
  Rank(Group with, DdpSettings settings, Layout layout)
      : group(std::move(with)),
        gradients(group, kParameters, std::move(layout)),
        ddp(group, gradients, std::move(settings)) {}

  /// Averages gradient(parameter, i) over the ranks.
  template <typename Gradient>
  void reduce(Gradient gradient) {
    bring(0, gradient);
    ddp.finish();
  }

  /// The gradients of the parameters from `first` on.
  template <typename Gradient>
  void bring(std::size_t first, Gradient gradient) {
    for (std::size_t left = kParameters.size(); left > first; --left) {
      const ArrayView place = gradients.of(left - 1);
      for (std::size_t i = 0; i < place.count; ++i) {
        const auto value = static_cast<float>(gradient(left - 1, i));
        if (place.type == DataType::float32)
          static_cast<float*>(place.data)[i] = value;
        else
          static_cast<double*>(place.data)[i] = value;
      }
      ddp.ready(left - 1);
    }
  }

  Group group;
  Gradients gradients;
  Ddp ddp;
};

float wave(int rank, std::size_t parameter, std::size_t i) {
  return std::sin(0.37F * static_cast<float>(i) + static_cast<float>(rank)) *
         static_cast<float>(parameter + 1);
}

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
    Rank rank(group, compression);
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
      Rank rank(group, how);
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
      Rank rank(group, name);
      rank.reduce([&](std::size_t p, std::size_t i) { return wave(group.rank(), p, i); });
      for (std::size_t i = 0; i < 300; ++i) {
        const float expected = (wave(0, 0, i) + wave(1, 0, i)) / 2;
        const float unit = std::ldexp(1.0F, -digits);
        ASSERT_NEAR(floats(rank.gradients.of(0))[i], expected, 2 * unit);
      }
    });
}

TEST(Compress, TopKSendsTheLargestAndTheRestLater) {
  run_ranks(RankKind::thread, 2, [](Group group) {
    Rank rank(group, "topk:0.25");
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

/// With error feedback, the sum of all results differs from the exact sum by at most one step's
/// residual, so the mean over many steps converges.
TEST_P(Compressions, ConvergeToTheMeanGradient) {
  const auto& [kind, compression] = GetParam();
  if (kind != RankKind::thread) GTEST_SKIP() << "arithmetic only";
  run_ranks(kind, 2, [compression = compression](Group group) {
    Rank rank(group, compression, DataType::float64);
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
    Rank rank(group, "powersgd:2");
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

/// All parameters in one bucket, whose length does not depend on the order.
Layout one_bucket(std::span<const std::size_t> order = {}) {
  return Layout(kParameters, DataType::float32, {.first_bytes = 1 << 20}, order);
}
constexpr std::array<std::size_t, 5> kOtherOrder{2, 0, 4, 1, 3};

float nothing(std::size_t, std::size_t) {
  return 0;
}

/// Sums the results of top-k. Multiples of 1/8 are exact.
struct SentGradients {
  static float given(std::size_t p, std::size_t i, int rank) {
    return static_cast<float>((i + p) % 100) / 8 + static_cast<float>(rank);
  }

  void count(const Rank& rank) {
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

TEST(Compress, ResidualsMoveWithTheirParameters) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    const DdpSettings settings{.hook = compress::top_k(0.3)};
    SentGradients sent;
    {
      Rank before(group, settings, one_bucket());
      before.reduce([&](auto p, auto i) { return SentGradients::given(p, i, group.rank()); });
      sent.count(before);
    }
    Rank after(group, settings, one_bucket(kOtherOrder));
    for (int step = 0; step < 4; ++step) {
      after.reduce(nothing);
      sent.count(after);
    }
    sent.expect_all_of_one_step();
  });
}

TEST(Compress, PowerSgdKeepsItsMatricesWhenParametersMove) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    const DdpSettings settings{.hook = compress::power_sgd(2)};
    auto value = [&](std::size_t p, std::size_t i, int r) {
      const double row = static_cast<double>(i / 64), column = static_cast<double>(i % 64);
      return p == 4 ? std::cos(0.1 * row + r) * std::sin(0.3 * column * (r + 1) + 1) : 0.0;
    };
    auto step = [&](Rank& rank) {
      rank.reduce([&](std::size_t p, std::size_t i) { return value(p, i, group.rank()); });
    };
    {
      Rank before(group, settings, one_bucket());
      step(before);
    }
    Rank after(group, settings, one_bucket(kOtherOrder));
    for (int i = 0; i < 4; ++i) step(after);
    for (std::size_t i = 0; i < kParameters[4].count; ++i)
      ASSERT_NEAR(floats(after.gradients.of(4))[i], (value(4, i, 0) + value(4, i, 1)) / 2, 1e-4);
  });
}

TEST(Compress, GradientsOfAFailedBackwardAreSentLater) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group, "topk:0.3");
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

TEST(Compress, ResidualsOfUnusedParametersAreKept) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group, {.allow_unused = true, .hook = compress::top_k(0.3)}, one_bucket());
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

/// As without compression: the step shows the value on all ranks, and the next one is clean.
TEST_P(Compressions, RecoverFromValuesThatAreNotFinite) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 2, [compression = compression](Group group) {
    for (const float bad : {INFINITY, -INFINITY, std::nanf("")}) {
      Rank rank(group, compression);
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
    Rank rank(group, "powersgd:1");
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
    Rank one(group, settings, one_bucket());
    one.reduce(nothing);
    Rank other(group.split(0), settings, one_bucket());
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
