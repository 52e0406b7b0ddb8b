// Collectives of several wrappers and of the user in one backward, in orders that differ between
// the ranks, do not mix.
#include <lockstep/compress.h>
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using testing::Branches;
using testing::gradients_are;
using testing::RankKind;
using testing::run_ranks;

class Streams : public ::testing::TestWithParam<std::tuple<RankKind, std::string>> {};
INSTANTIATE_TEST_SUITE_P(All, Streams,
                         ::testing::Combine(::testing::Values(RankKind::thread, RankKind::process),
                                            ::testing::Values("", "bfloat16", "float16", "topk:1",
                                                              "powersgd:2", "sign")),
                         [](const auto& info) {
                           std::string name = testing::name_of(std::get<0>(info.param)) + "_" +
                                              std::get<1>(info.param);
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

/// The gradients of `one` are 1, those of `other` -3; their order depends on the rank.
torch::Tensor loss_of_both(Branches& one, Branches& other, bool other_first) {
  const auto first = other_first ? other.sum() * -3 : one.sum();
  const auto second = other_first ? one.sum() : other.sum() * -3;
  return first + second;
}

TEST_P(Streams, TwoModulesOfOneSizeKeepTheirGradientsApart) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 2, [compression = compression](const Group& group) {
    auto one = std::make_shared<Branches>(), other = std::make_shared<Branches>();
    const auto options = [&] { return DdpOptions{.hook = compress::parse(compression)}; };
    DistributedDataParallel one_ddp(one, group, options()), other_ddp(other, group, options());
    for (int step = 0; step < 30; ++step) {
      one->zero_grad();
      other->zero_grad();
      loss_of_both(*one, *other, (step + group.rank()) % 2 == 0).backward();
      for (const auto& layer : {one->left, one->right}) ASSERT_TRUE(gradients_are(layer, 1));
      for (const auto& layer : {other->left, other->right}) ASSERT_TRUE(gradients_are(layer, -3));
    }
  });
}

/// Identity; backward sums 6 numbers over all ranks, as many as a Branches has.
struct AddUp : torch::autograd::Function<AddUp> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, Group* group, double* sum) {
    context->saved_data["group"] = reinterpret_cast<std::int64_t>(group);
    context->saved_data["sum"] = reinterpret_cast<std::int64_t>(sum);
    return input.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto* group = reinterpret_cast<Group*>(context->saved_data["group"].toInt());
    std::vector<double> numbers(6, 10);
    group->all_reduce(numbers);
    *reinterpret_cast<double*>(context->saved_data["sum"].toInt()) = numbers[0];
    return {gradients[0], torch::Tensor(), torch::Tensor()};
  }
};

TEST_P(Streams, CollectivesOfTheUserDuringBackwardDoNotMix) {
  const auto& [kind, compression] = GetParam();
  run_ranks(kind, 2, [compression = compression](Group group) {
    auto net = std::make_shared<Branches>();
    DistributedDataParallel ddp(
        net, group,
        {.first_bucket_bytes = 1, .bucket_bytes = 1, .hook = compress::parse(compression)});
    for (int step = 0; step < 30; ++step) {
      net->zero_grad();
      double sum = 0;
      // On one rank it runs before the gradients, on the other after some of them.
      const bool early = (step + group.rank()) % 2 == 0;
      const auto with = [&](const torch::Tensor& part, bool yes) {
        return yes ? AddUp::apply(part, &group, &sum) : part;
      };
      const auto left = with(net->left_sum(), !early), right = with(net->right_sum(), early);
      (left + right).backward();
      ASSERT_EQ(sum, 20);
      ASSERT_TRUE(gradients_are(net->left, 1));
      ASSERT_TRUE(gradients_are(net->right, 1));
    }
  });
}

TEST(Stream, AnErrorInOneModuleDoesNotAffectTheOther) {
  run_ranks(RankKind::thread, 2, [](const Group& group) {
    auto one = std::make_shared<Branches>(), other = std::make_shared<Branches>();
    DistributedDataParallel one_ddp(one, group), other_ddp(other, group);
    const auto missing = [&] { (one->left_sum() + other->sum() * -3).backward(); };
    testing::expect_error<Error>(missing, {"got no gradient for right.weight"});
    EXPECT_TRUE(gradients_are(other->left, -3));
    one->zero_grad();
    other->zero_grad();
    loss_of_both(*one, *other, group.rank() == 0).backward();
    EXPECT_TRUE(gradients_are(one->left, 1));
    EXPECT_TRUE(gradients_are(other->left, -3));
  });
}

}  // namespace
}  // namespace lockstep::internal
