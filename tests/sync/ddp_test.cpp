// Buckets that are reduced while backward runs, and ranks that stay in step when one of them fails.
#include "sync/methods/ddp.h"

#include <lockstep/error.h>

#include "support/errors.h"
#include "support/mpi_world.h"
#include "support/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <numeric>

namespace lockstep::internal::sync {
namespace {

using ::testing::AllOf;
using testing::errors_of_ranks;
using testing::expect_error;
using ::testing::HasSubstr;
using testing::message_of;
using testing::RankKind;
using testing::run_ranks;

const std::vector<Parameter> kParameters{{"a", 100}, {"b", 1}, {"c", 5000}, {"d", 17}, {"e", 300}};
constexpr std::size_t kCount = 5;

std::span<float> floats(const ArrayView& view) {
  return {static_cast<float*>(view.data), view.count};
}

/// One rank's gradients, several buckets of them, and the method that averages them.
struct Rank {
  explicit Rank(Group with, DdpSettings settings = {})
      : group(std::move(with)),
        gradients(group, kParameters,
                  Layout(kParameters, DataType::float32, {.first_bytes = 1000, .bytes = 4000})),
        ddp(group, gradients, std::move(settings)) {}

  /// Fills a parameter's gradient with `step` × (rank + 1).
  void fill(std::size_t parameter, int step) {
    for (float& value : floats(gradients.of(parameter)))
      value = static_cast<float>(step * (group.rank() + 1));
  }
  void bring(std::size_t parameter, int step) {
    fill(parameter, step);
    ddp.ready(parameter);
  }
  /// Brings the first `count` gradients, in the order of a backward.
  void bring_some(std::size_t count, int step) {
    for (std::size_t i = 0; i < count; ++i) bring(kCount - 1 - i, step);
  }
  void expect_average(std::size_t parameter, int step) const {
    const float average = static_cast<float>(step) * static_cast<float>(group.size() + 1) / 2;
    for (float value : floats(gradients.of(parameter))) ASSERT_FLOAT_EQ(value, average);
  }
  void expect_good_step(int step) {
    bring_some(kCount, step);
    ddp.finish();
    for (std::size_t parameter = 0; parameter < kCount; ++parameter)
      expect_average(parameter, step);
  }

  Group group;
  Gradients gradients;
  Ddp ddp;
};

class DdpOn : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, DdpOn, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(DdpOn, TakesGradientsInAnyOrderOnAnyRank) {
  run_ranks(GetParam(), 4, [](const Group& group) {
    Rank rank(group);
    for (std::size_t i = 0; i < kCount; ++i)
      rank.bring((i + static_cast<std::size_t>(group.rank())) % kCount, 1);
    rank.ddp.finish();
    for (std::size_t parameter = 0; parameter < kCount; ++parameter)
      rank.expect_average(parameter, 1);
  });
}

TEST_P(DdpOn, NamesMissingGradientsOnAllRanksAndContinues) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    Rank rank(group);
    for (std::size_t parameter = 0; parameter < kCount; ++parameter)
      if (group.rank() == 0 || (parameter != 1 && parameter != 3)) rank.bring(parameter, 1);
    expect_error<Error>([&] { rank.ddp.finish(); },
                        {"backward ended, but ranks 1 and 2 got no gradient for b and d: every "
                         "parameter must take part in the loss on every rank"});
    rank.expect_good_step(2);
  });
}

TEST_P(DdpOn, AveragesMissingGradientsAsTheyAreIfAllowed) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    Rank rank(group, {.allow_unused = true});
    for (int step = 1; step <= 3; ++step) {
      // No rank has d. Only rank 1 has b; rank 0 has 5 in its place.
      for (std::size_t parameter : {4u, 2u, 0u}) rank.bring(parameter, step);
      if (group.rank() == 1) rank.bring(1, step);
      if (group.rank() == 0) floats(rank.gradients.of(1))[0] = 5;
      EXPECT_EQ(rank.ddp.without_gradient().size(), group.rank() == 0 ? 2u : 1u);
      rank.ddp.finish();
      EXPECT_EQ(rank.ddp.unused(), std::vector<std::size_t>{3});
      EXPECT_FLOAT_EQ(floats(rank.gradients.of(1))[0], (5 + 2 * static_cast<float>(step)) / 2);
      rank.expect_average(2, step);
    }
    rank.expect_good_step(4);
    EXPECT_TRUE(rank.ddp.unused().empty());
  });
}

TEST(Ddp, CountsKeptGradientsAsPresent) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group);
    rank.fill(1, 1);
    rank.ddp.keep(1);
    for (std::size_t parameter : {4u, 3u, 2u, 0u}) rank.bring(parameter, 1);
    rank.ddp.finish();
    rank.expect_average(1, 1);
    // A kept gradient counts once: until it was averaged.
    for (std::size_t parameter : {4u, 3u, 2u, 0u}) rank.bring(parameter, 2);
    expect_error<Error>([&] { rank.ddp.finish(); }, {"ranks 0 and 1 got no gradient for b"});
  });
}

TEST(Ddp, ReportsRefusedGradientsToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group, {.allow_unused = true});
    for (std::size_t parameter = 0; parameter < kCount; ++parameter)
      if (group.rank() == 1 && parameter == 2)
        rank.ddp.refuse(parameter, Arrival::sparse);
      else
        rank.bring(parameter, 1);
    expect_error<Error>([&] { rank.ddp.finish(); }, {"rank 1 got a sparse gradient for c"});
    rank.expect_good_step(2);
  });
}

TEST_P(DdpOn, SendsGradientsThatMayGrowAtTheEnd) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    Rank rank(group);
    for (int step = 1; step <= 2; ++step) {
      for (std::size_t parameter = 0; parameter < kCount; ++parameter) {
        rank.fill(parameter, 7);
        rank.ddp.partial(parameter);
      }
      rank.bring(4, step);
      for (std::size_t parameter : {0u, 1u, 2u, 3u}) {
        rank.fill(parameter, step);
        rank.ddp.partial(parameter);
      }
      rank.ddp.finish();
      for (std::size_t parameter = 0; parameter < kCount; ++parameter)
        rank.expect_average(parameter, step);
    }
  });
}

TEST(Ddp, NamesAGradientThatGrewAfterItWasSentToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group);
    rank.bring_some(kCount, 1);
    if (group.rank() == 1) rank.ddp.partial(4);
    expect_error<Error>([&] { rank.ddp.finish(); },
                        {"rank 1 got another gradient for e: a backward inside backward"});
    rank.expect_good_step(2);
  });
}

TEST(Ddp, ThrowsARanksErrorOnAllRanks) {
  run_ranks(RankKind::thread, 3, [](const Group& group) {
    Rank rank(group, {.allow_unused = true});
    if (group.rank() == 2) rank.ddp.set_error("its weights are of wood");
    rank.bring_some(group.rank() == 2 ? 0 : kCount, 1);
    expect_error<Error>([&] { rank.ddp.finish(); }, {"rank 2 found that its weights are of wood:"});
    rank.expect_good_step(2);
  });
}

TEST(Ddp, ReportsAReloadToAllRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group);
    if (group.rank() == 1) rank.ddp.tell_reloaded();
    rank.expect_good_step(1);
    EXPECT_TRUE(rank.ddp.reloaded());
    rank.expect_good_step(2);
    EXPECT_FALSE(rank.ddp.reloaded());
  });
}

TEST(Ddp, NamesParametersThatOnlySomeRanksHaveFrozen) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    Rank rank(group);
    const auto step_with_frozen = [&](bool here) {
      for (std::size_t parameter : {4u, 3u, 1u, 0u}) rank.bring(parameter, 1);
      if (here)
        rank.ddp.freeze(2);
      else
        rank.bring(2, 1);
      rank.ddp.finish();
    };
    for (int step = 0; step < 2; ++step) {
      step_with_frozen(true);
      EXPECT_EQ(rank.ddp.unused(), std::vector<std::size_t>{2});
    }
    // Both orders, frozen first or last: the differing ranks are named.
    for (int step = 0; step < 2; ++step) {
      expect_error<Error>([&] { step_with_frozen(group.rank() == 0); }, {"rank 0 froze c"});
      rank.expect_good_step(2);
    }
  });
}

TEST_P(DdpOn, ReportsAnAbandonedBackwardAndContinues) {
  for (std::size_t brought = 0; brought <= kCount; ++brought)
    run_ranks(GetParam(), 3, [&](const Group& group) {
      Rank rank(group);
      if (group.rank() == 1) {
        rank.bring_some(brought, 1);
        rank.ddp.abandon();
      } else {
        rank.bring_some(kCount, 1);
        expect_error<Error>([&] { rank.ddp.finish(); },
                            {"backward was ended by an exception on rank 1"});
      }
      for (int step = 2; step <= 4; ++step) rank.expect_good_step(step);
    });
}

TEST_P(DdpOn, RanksThatAbandonAtDifferentPointsContinue) {
  run_ranks(GetParam(), 4, [](const Group& group) {
    Rank rank(group);
    for (int step = 1; step <= 3; ++step) {
      rank.bring_some(1 + static_cast<std::size_t>(group.rank()), step);
      rank.ddp.abandon();
      rank.expect_good_step(step + 1);
    }
  });
}

TEST_P(DdpOn, SeveralAbandonedBackwardsAreReportedOneByOne) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    Rank rank(group);
    for (int step = 1; step <= 3; ++step) {
      if (group.rank() == 0) {
        rank.ddp.abandon();
      } else {
        rank.bring_some(kCount, step);
        expect_error<Error>([&] { rank.ddp.finish(); }, {"by an exception on rank 0"});
      }
    }
    rank.expect_good_step(4);
  });
}

TEST_P(DdpOn, AveragesGradientsOfSeveralTypes) {
  for (const bool hook : {false, true})
    run_ranks(GetParam(), 3, [&](Group group) {
      std::vector<Parameter> parameters;
      for (DataType type : {DataType::bfloat16, DataType::float32, DataType::float64,
                            DataType::float16, DataType::bfloat16, DataType::float32})
        parameters.push_back({.name = "p", .count = 33, .type = type});
      const Gradients gradients(group, parameters, Layout(parameters, DataType::float32));
      ASSERT_EQ(gradients.layout().buckets().size(), 4u);
      const BucketHook sum = [](Group& all, const GradientBucket& bucket) {
        return all.all_reduce_async(bucket.gradients, ReduceOp::average);
      };
      Ddp ddp(group, gradients, {.hook = hook ? sum : BucketHook()});
      const auto each = [&](std::size_t parameter, const auto& function) {
        const ArrayView view = gradients.of(parameter);
        for (std::size_t i = 0; i < view.count; ++i) switch (view.type) {
            case DataType::float32:
              function(static_cast<float*>(view.data)[i]);
              break;
            case DataType::float64:
              function(static_cast<double*>(view.data)[i]);
              break;
            case DataType::float16:
              function(static_cast<Float16*>(view.data)[i]);
              break;
            default:
              function(static_cast<BFloat16*>(view.data)[i]);
          }
      };
      for (int step = 1; step <= 2; ++step) {
        for (std::size_t parameter = parameters.size(); parameter-- > 0;) {
          each(parameter, [&](auto& value) {
            value = static_cast<std::decay_t<decltype(value)>>(
                static_cast<float>(step * (group.rank() + 1)));
          });
          if (step == 1 || group.rank() != 1 || parameter > 0) ddp.ready(parameter);
        }
        if (step == 2) {  // the alert has the type of the last bucket
          expect_error<Error>([&] { ddp.finish(); }, {"rank 1 got no gradient for p"});
          continue;
        }
        ddp.finish();
        for (std::size_t parameter = 0; parameter < parameters.size(); ++parameter)
          each(parameter, [&](auto& value) { ASSERT_EQ(static_cast<float>(value), 2.0F); });
      }
    });
}

/// Records the buckets that it was called for, and averages them as bfloat16.
struct Compression {
  Work operator()(Group& group, const GradientBucket& bucket) const {
    numbers->push_back(bucket.number);
    const std::span<float> values = floats(bucket.gradients);
    auto half = std::make_shared<std::vector<BFloat16>>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) (*half)[i] = BFloat16(values[i]);
    return group.all_reduce_async(*half, ReduceOp::average).then([half, values] {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((*half)[i]);
    });
  }
  std::shared_ptr<std::vector<std::size_t>> numbers = std::make_shared<std::vector<std::size_t>>();
};

TEST_P(DdpOn, AHookReducesEveryBucketInOrder) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    Compression hook;
    Rank rank(group, {.hook = hook});
    std::vector<std::size_t> all(rank.gradients.layout().buckets().size());
    std::iota(all.begin(), all.end(), 0u);
    ASSERT_GT(all.size(), 2u);
    for (int step = 1; step <= 3; ++step) {
      hook.numbers->clear();
      rank.expect_good_step(step);  // small whole numbers are exact in bfloat16
      EXPECT_EQ(*hook.numbers, all);
    }
  });
}

TEST_P(DdpOn, WithAHookRanksStayInStepToo) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    Rank rank(group, {.hook = Compression()});
    if (group.rank() == 0) {
      rank.bring_some(2, 1);
      rank.ddp.abandon();
    } else {
      rank.bring_some(kCount, 1);
      expect_error<Error>([&] { rank.ddp.finish(); }, {"by an exception on rank 0"});
    }
    rank.expect_good_step(2);
    rank.bring_some(group.rank() == 0 ? kCount : 2, 3);
    expect_error<Error>([&] { rank.ddp.finish(); }, {"rank 1 got no gradient for a, b and c"});
    rank.expect_good_step(4);
  });
}

TEST(Ddp, AHooksExceptionReachesTheOtherRanks) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    bool fail = group.rank() == 1;
    Rank rank(group, {.hook = [&](Group& all, const GradientBucket& bucket) {
                return all.all_reduce_async(bucket.gradients, ReduceOp::average).then([&] {
                  if (std::exchange(fail, false)) throw std::runtime_error("the hook's error");
                });
              }});
    rank.bring_some(kCount, 1);
    const std::string error = message_of([&] { rank.ddp.finish(); });
    EXPECT_THAT(error, HasSubstr(group.rank() == 1 ? "the hook's error" : "exception on rank 1"));
    rank.bring_some(kCount, 2);
    rank.ddp.finish();
    rank.expect_average(0, 2);
  });
}

TEST(Ddp, ARankThatLeavesIsNamedToTheOthers) {
  const auto errors = errors_of_ranks(RankKind::process, 3, [](const Group& group) {
    Rank rank(group);
    rank.bring_some(group.rank() == 1 ? 2 : kCount, 1);
    if (group.rank() == 1) throw std::runtime_error("the user's failure");
    rank.ddp.finish();
  });
  EXPECT_EQ(errors[1], "the user's failure");
  EXPECT_THAT(errors[0], HasSubstr("rank 1"));
  EXPECT_THAT(errors[2], HasSubstr("rank 1"));
}

TEST_P(DdpOn, BucketsOfTwoMethodsOnOneGroupAreNeverTakenForEachOther) {
  const auto errors = errors_of_ranks(GetParam(), 2, [](const Group& group) {
    Rank one(group), other(group);
    Rank& first = group.rank() == 0 ? one : other;
    first.bring_some(kCount, 1);
    first.ddp.finish();
  });
  for (const std::string& error : errors)
    EXPECT_THAT(
        error, AllOf(HasSubstr("for bucket 0 of stream 1"), HasSubstr("for bucket 0 of stream 2")));
}

}  // namespace
}  // namespace lockstep::internal::sync
