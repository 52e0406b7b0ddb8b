// Backwards that end by an exception, before or after the first gradient: the other ranks are told,
// and stay in step.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/mpi_world.h"
#include "support/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <gmock/gmock.h>
#include <thread>

namespace lockstep {
namespace {

using testing::Branches;
using testing::expect_error;
using testing::gradients_are;
using ::testing::HasSubstr;
using testing::message_of;
using testing::RankKind;
using testing::run_ranks;

/// Every parameter has a bucket of its own.
const DdpOptions kSmallBuckets{.first_bucket_bytes = 1, .bucket_bytes = 1};

class FailedBackwards : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, FailedBackwards,
                         ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

/// Passes its input on; its backward fails where it is told to.
struct Fragile : torch::autograd::Function<Fragile> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, bool fails) {
    context->saved_data["fails"] = fails;
    return input.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (context->saved_data["fails"].toBool()) throw std::runtime_error("the user's own failure");
    return {gradients[0], torch::Tensor()};
  }
};

/// The gradients of `right` are ready before the failure, those of `left` come after it.
torch::Tensor fragile_sum(Branches& net, bool fails) {
  return net.right(Fragile::apply(net.left_sum(), fails).expand({1, 2}) * 0 + 1).sum() +
         net.left_sum();
}

TEST_P(FailedBackwards, ThatThrewHalfWayOnAllRanksAreFollowedByGoodOnes) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int step = 0; step < 3; ++step) {
      EXPECT_THROW(fragile_sum(*net, true).backward(), std::runtime_error);
      net->zero_grad(step == 1);
      (fragile_sum(*net, false) * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 2));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

TEST_P(FailedBackwards, ThatThrewHalfWayOnOneRankAreToldToAllWhichCanGoOn) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int step = 0; step < 3; ++step) {
      const std::string error =
          message_of([&] { fragile_sum(*net, group.rank() == step).backward(); });
      EXPECT_THAT(
          error, HasSubstr(group.rank() == step ? "the user's own failure"
                                                : fmt::format("by an exception on rank {}", step)));
      net->zero_grad();
      (fragile_sum(*net, false) * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 2));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

/// A hook of ours never hears of this failure: it comes before all gradients.
torch::Tensor sum_that_fails_at_once(Branches& net, bool fails) {
  return Fragile::apply(net.sum(), fails);
}

TEST_P(FailedBackwards, ThatThrewBeforeTheFirstGradientAreToldToAllWhichCanGoOn) {
  run_ranks(GetParam(), 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    for (int step = 0; step < 6; ++step) {
      const bool mine = group.rank() == step % 3;
      const std::string error = message_of([&] { sum_that_fails_at_once(*net, mine).backward(); });
      EXPECT_THAT(error, HasSubstr(mine ? "the user's own failure"
                                        : fmt::format("by an exception on rank {}", step % 3)));
      net->zero_grad(step % 2 == 0);
      (sum_that_fails_at_once(*net, false) * (group.rank() + 1)).backward();
      EXPECT_TRUE(gradients_are(net->left, 2));
      EXPECT_TRUE(gradients_are(net->right, 2));
    }
  });
}

TEST(FailedBackward, FailuresThatDoNotConcernTheModuleAreNotTold) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto other = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->sum().backward();  // which shows that no backward within one leads here
    if (group.rank() == 1) {
      EXPECT_THROW(sum_that_fails_at_once(*other, true).backward(), std::runtime_error);
      // Gradients of these are not accumulated.
      EXPECT_THROW(torch::autograd::grad({sum_that_fails_at_once(*net, true)}, {net->left->bias}),
                   std::runtime_error);
      const auto guard = ddp.no_sync();
      EXPECT_THROW(sum_that_fails_at_once(*net, true).backward(), std::runtime_error);
    }
    net->zero_grad();
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
  });
}

TEST(FailedBackward, AFailureThatMayHaveConcernedTheModuleIsToldUntilItIsWrappedAgain) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto other = std::make_shared<Branches>();
    auto ddp = std::make_unique<DistributedDataParallel>(net, group, kSmallBuckets);
    // The first backward is a function of the user's own: it may hide one through the module.
    if (group.rank() == 1) {
      EXPECT_THROW(sum_that_fails_at_once(*other, true).backward(), std::runtime_error);
    }
    for (int step = 0; step < 2; ++step)
      expect_error<Error>(
          [&] { net->sum().backward(); },
          {"rank 1 found that a backward ended by an exception", "wrap the module"});
    ddp = nullptr;
    ddp = std::make_unique<DistributedDataParallel>(net, group, kSmallBuckets);
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
  });
}

TEST(FailedBackward, OfOneModuleThatIsRefusedLeavesTheOthersInStep) {
  run_threads(2, [](Group group) {
    auto one = std::make_shared<Branches>();
    auto two = std::make_shared<Branches>();
    DistributedDataParallel first(one, group.split(0), kSmallBuckets);
    DistributedDataParallel second(two, group.split(0), kSmallBuckets);
    if (group.rank() == 1) one->register_buffer("late", torch::ones(1));
    for (int step = 0; step < 2; ++step) {
      const std::string error = message_of([&] { (one->sum() + two->sum()).backward(); });
      EXPECT_THAT(error, HasSubstr("buffer 'late' was registered"));
    }
    two->zero_grad();
    (two->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(two->left, 1.5));
  });
}

TEST(FailedBackward, OnAnotherThreadIsRefused) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    std::string error;
    std::thread([&] { error = message_of([&] { net->sum().backward(); }); }).join();
    EXPECT_THAT(error, HasSubstr("another thread"));
  });
}

TEST(FailedBackward, ARankThatThrowsInForwardIsNamedToTheOthers) {
  const auto errors = testing::errors_of_ranks(RankKind::process, 3, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->sum().backward();
    if (group.rank() == 2) throw std::runtime_error("the user's own failure");
    net->sum().backward();
  });
  EXPECT_EQ(errors[2], "the user's own failure");
  for (int rank : {0, 1}) EXPECT_THAT(errors[rank], HasSubstr("rank 2")) << errors[rank];
}

}  // namespace
}  // namespace lockstep
