// Backwards that end by an exception, before or after the first gradient: the other ranks learn of
// it, and stay in step.
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

namespace lockstep::internal {
namespace {

using testing::Branches;
using testing::expect_error;
using testing::gradients_are;
using ::testing::HasSubstr;
using testing::kSmallBuckets;
using testing::message_of;
using testing::NoGradient;
using testing::RankKind;
using testing::run_ranks;

class FailedBackwards : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, FailedBackwards,
                         ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

/// Identity; its backward throws on request.
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

/// The gradients of `right` are ready before the failure, those of `left` after it.
torch::Tensor fragile_sum(Branches& net, bool fails) {
  return net.right(Fragile::apply(net.left_sum(), fails).expand({1, 2}) * 0 + 1).sum() +
         net.left_sum();
}

TEST_P(FailedBackwards, ThatThrewHalfWayOnAllRanksCanBeRepeated) {
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

TEST_P(FailedBackwards, ThatThrewHalfWayOnOneRankAreReportedToAll) {
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

/// Hooks are not called by this failure: it occurs before all gradients.
torch::Tensor sum_that_fails_at_once(Branches& net, bool fails) {
  return Fragile::apply(net.sum(), fails);
}

TEST_P(FailedBackwards, ThatThrewBeforeTheFirstGradientAreReportedToAll) {
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

/// Its backward needs a value that has been overwritten.
torch::Tensor sum_that_torch_refuses(Branches& net) {
  torch::Tensor saved = torch::ones(1, torch::kFloat64);
  const torch::Tensor sum = net.sum() * saved;
  saved.add_(1);
  return sum;
}

TEST(FailedBackward, FailuresOutsideTheModuleAreNotReported) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto other = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    if (group.rank() == 1) {
      EXPECT_THROW(sum_that_torch_refuses(*other).backward(), c10::Error);
      // Gradients of these are not accumulated.
      EXPECT_THROW(torch::autograd::grad({sum_that_torch_refuses(*net)}, {net->left->bias}),
                   c10::Error);
      const auto guard = ddp.no_sync();
      EXPECT_THROW(sum_that_fails_at_once(*net, true).backward(), std::runtime_error);
    }
    net->zero_grad();
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
  });
}

TEST(FailedBackward, APossibleFailureOfTheModuleIsReportedUntilItIsWrappedAgain) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    auto other = std::make_shared<Branches>();
    auto ddp = std::make_unique<DistributedDataParallel>(net, group, kSmallBuckets);
    net->sum().backward();
    // A user's function may hide a backward through the module.
    if (group.rank() == 1) {
      EXPECT_THROW(sum_that_fails_at_once(*other, true).backward(), std::runtime_error);
    }
    for (int step = 0; step < 2; ++step)
      expect_error<Error>([&] { net->sum().backward(); },
                          {"rank 1 found that an exception ended a backward", "wrap the module"});
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
    const auto backward_elsewhere = [&] {
      std::thread([&] { error = message_of([&] { net->sum().backward(); }); }).join();
      EXPECT_THAT(error, HasSubstr("another thread"));
      EXPECT_FALSE(net->left->weight.grad().defined()) << "it is refused before it begins";
    };
    backward_elsewhere();
    for (torch::Tensor& parameter : net->parameters())  // as torch::load does
      parameter.set_data(parameter.data().clone());
    backward_elsewhere();
    // While this thread is in a backward of another graph.
    torch::Tensor own = torch::ones(1, torch::kFloat64).requires_grad_(true);
    torch::Tensor twice = own * 2;
    twice.register_hook([&](const torch::Tensor&) { backward_elsewhere(); });
    twice.sum().backward();
    net->left = net->replace_module("left", torch::nn::Linear(2, 1));
    net->to(torch::kFloat64);
    backward_elsewhere();
  });
}

TEST(FailedBackward, OnAnotherThreadDoesNotAffectOtherModules) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    auto other = std::make_shared<Branches>();
    std::thread([&] { sum_that_fails_at_once(*other, false).backward(); }).join();
    EXPECT_TRUE(gradients_are(other->left, 1));
  });
}

TEST(FailedBackward, WithoutAnyGradientOnOneRankIsReportedToAll) {
  for (bool allow_unused : {false, true})
    run_threads(2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      DdpOptions options = kSmallBuckets;
      options.allow_unused = allow_unused;
      DistributedDataParallel ddp(net, group, options);
      for (int step = 0; step < 3; ++step) {
        net->zero_grad(step == 1);
        const auto backward = [&] {
          (group.rank() == 1 ? NoGradient::apply(net->sum()) : net->sum()).backward();
        };
        if (allow_unused) {
          backward();
          EXPECT_TRUE(gradients_are(net->left, 0.5));
        } else {
          expect_error<Error>(backward, {"rank 1 got no gradient for left.weight"});
        }
        net->zero_grad();
        (net->sum() * (group.rank() + 1)).backward();
        EXPECT_TRUE(gradients_are(net->left, 1.5));
      }
    });
}

TEST(FailedBackward, OfAModuleFrozenAfterForwardIsReportedToAll) {
  run_threads(2, [](const Group& group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(net, group, kSmallBuckets);
    net->sum().backward();
    const torch::Tensor sum = sum_that_fails_at_once(*net, group.rank() == 1);
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(false);
    const std::string error = message_of([&] { sum.backward(); });
    EXPECT_THAT(error, HasSubstr(group.rank() == 1 ? "the user's own failure"
                                                   : "by an exception on rank 1"));
    for (torch::Tensor& parameter : net->parameters()) parameter.set_requires_grad(true);
    net->zero_grad();
    (net->sum() * (group.rank() + 1)).backward();
    EXPECT_TRUE(gradients_are(net->left, 1.5));
  });
}

/// Runs the backward of a module inside its own, unless it fails before.
struct Hidden : torch::autograd::Function<Hidden> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, std::int64_t net, bool fails) {
    context->saved_data["net"] = net;
    context->saved_data["fails"] = fails;
    return input.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (context->saved_data["fails"].toBool()) throw std::runtime_error("the user's own failure");
    const torch::AutoGradMode on(true);
    reinterpret_cast<Branches*>(context->saved_data["net"].toInt())->sum().backward();
    return {gradients[0], torch::Tensor(), torch::Tensor()};
  }
};

TEST(FailedBackward, BeforeAHiddenBackwardIsReportedToAll) {
  for (bool by_hook : {false, true})
    run_threads(2, [&](const Group& group) {
      auto net = std::make_shared<Branches>();
      DistributedDataParallel ddp(net, group, kSmallBuckets);
      for (int step = 0; step < 2; ++step) net->sum().backward();  // nothing is hidden so far
      const bool fails = group.rank() == 1;
      torch::Tensor input = torch::ones(1, torch::kFloat64).requires_grad_(true) * 2;
      if (by_hook) {
        input.register_hook([&](const torch::Tensor&) {
          if (fails) throw std::runtime_error("the user's own failure");
          const torch::AutoGradMode on(true);
          net->sum().backward();
        });
      } else {
        input = Hidden::apply(input, reinterpret_cast<std::int64_t>(net.get()), fails);
      }
      const auto backward = [&] { input.sum().backward(); };
      if (fails) {
        EXPECT_THROW(backward(), std::runtime_error);
      }
      const auto next = [&] { fails ? net->sum().backward() : backward(); };
      expect_error<Error>(next, {"rank 1 found that an exception ended a backward"});
    });
}

TEST_P(FailedBackwards, ThatThrewInDifferentModulesOnTwoRanksCanBeRepeated) {
  run_ranks(GetParam(), 2, [](const Group& group) {
    auto one = std::make_shared<Branches>();
    auto two = std::make_shared<Branches>();
    DistributedDataParallel first(one, group, kSmallBuckets);
    DistributedDataParallel second(two, group, kSmallBuckets);
    for (int step = 0; step < 3; ++step) {
      const auto loss = [&](bool fails) {
        return fragile_sum(*one, fails && group.rank() == 0) +
               fragile_sum(*two, fails && group.rank() == 1);
      };
      EXPECT_THROW(loss(true).backward(), std::runtime_error);
      for (auto& net : {one, two}) net->zero_grad();
      (loss(false) * (group.rank() + 1)).backward();
      for (auto& net : {one, two}) EXPECT_TRUE(gradients_are(net->left, 1.5));
    }
  });
}

TEST(FailedBackward, ARankThatThrowsInForwardIsReportedToTheOthers) {
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
}  // namespace lockstep::internal
