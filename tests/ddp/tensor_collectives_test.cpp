// Collectives and messages on tensors, beside closed forms; and the tensors that are refused.
#include <lockstep/error.h>
#include <lockstep/tensor.h>

#include "support/ranks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace lockstep::internal {
namespace {

using ::testing::HasSubstr;

struct World {
  int ranks;
  torch::ScalarType type;
};

class TensorCollectives : public ::testing::TestWithParam<World> {
 protected:
  /// Element i of rank r has the value r + i: small enough for every type.
  torch::Tensor tensor_of(int rank, std::int64_t count = 6) const {
    return torch::arange(count).add(rank).to(GetParam().type);
  }
  /// The sum of the tensors of all ranks: W i + W (W - 1) / 2.
  torch::Tensor sum(std::int64_t count = 6) const {
    const int ranks = GetParam().ranks;
    return torch::arange(count).mul(ranks).add(ranks * (ranks - 1) / 2).to(GetParam().type);
  }
  /// The tensors of all ranks, one after another.
  torch::Tensor all_tensors() const {
    std::vector<torch::Tensor> all;
    for (int rank = 0; rank < GetParam().ranks; ++rank) all.push_back(tensor_of(rank));
    return torch::cat(all);
  }
  torch::Tensor zeros(std::int64_t count = 6) const { return torch::zeros(count, GetParam().type); }

  static void run(const std::function<void(Group)>& body) { run_threads(GetParam().ranks, body); }
};

TEST_P(TensorCollectives, AllReduce) {
  run([&](Group group) {
    const torch::Tensor tensor = tensor_of(group.rank());
    all_reduce(group, tensor);
    EXPECT_TRUE(tensor.equal(sum()));
    const torch::Tensor later = tensor_of(group.rank());
    all_reduce_async(group, later, ReduceOp::max).wait();
    EXPECT_TRUE(later.equal(tensor_of(group.size() - 1)));
  });
}

TEST_P(TensorCollectives, Reduce) {
  run([&](Group group) {
    const int root = group.size() - 1;
    const torch::Tensor tensor = tensor_of(group.rank());
    reduce(group, tensor, ReduceOp::sum, root);
    const torch::Tensor later = tensor_of(group.rank());
    reduce_async(group, later, ReduceOp::min, root).wait();
    if (group.rank() != root) return;
    EXPECT_TRUE(tensor.equal(sum()));
    EXPECT_TRUE(later.equal(tensor_of(0)));
  });
}

TEST_P(TensorCollectives, ReduceScatter) {
  run([&](Group group) {
    const std::int64_t all = 2 * group.size();
    const torch::Tensor mine = zeros(2);
    reduce_scatter(group, tensor_of(group.rank(), all), mine);
    const torch::Tensor expected = sum(all).slice(0, 2 * group.rank(), 2 * group.rank() + 2);
    EXPECT_TRUE(mine.equal(expected));
    const torch::Tensor later = zeros(2);
    reduce_scatter_async(group, tensor_of(group.rank(), all), later).wait();
    EXPECT_TRUE(later.equal(expected));
  });
}

TEST_P(TensorCollectives, Broadcast) {
  run([&](Group group) {
    const int root = group.size() - 1;
    const torch::Tensor tensor = tensor_of(group.rank());
    broadcast(group, tensor, root);
    EXPECT_TRUE(tensor.equal(tensor_of(root)));
    const torch::Tensor later = tensor_of(group.rank());
    broadcast_async(group, later).wait();
    EXPECT_TRUE(later.equal(tensor_of(0)));
  });
}

TEST_P(TensorCollectives, AllGather) {
  run([&](Group group) {
    const torch::Tensor all = zeros(6 * group.size());
    all_gather(group, tensor_of(group.rank()), all);
    EXPECT_TRUE(all.equal(all_tensors()));
    const torch::Tensor rows = zeros(6 * group.size()).view({group.size(), 2, 3});
    all_gather_async(group, tensor_of(group.rank()).view({2, 3}), rows).wait();
    EXPECT_TRUE(rows.flatten().equal(all_tensors()));
  });
}

TEST_P(TensorCollectives, GatherAndScatterNeedTheLargeTensorOnRootOnly) {
  run([&](Group group) {
    const int root = group.size() - 1;
    const bool is_root = group.rank() == root;
    for (const bool later : {false, true}) {
      const torch::Tensor all = is_root ? zeros(6 * group.size()) : torch::Tensor();
      const torch::Tensor mine = tensor_of(group.rank());
      later ? gather_async(group, mine, all, root).wait() : gather(group, mine, all, root);
      if (is_root) {
        EXPECT_TRUE(all.equal(all_tensors()));
      }
      const torch::Tensor back = zeros();
      later ? scatter_async(group, all, back, root).wait() : scatter(group, all, back, root);
      EXPECT_TRUE(back.equal(mine));
    }
  });
}

TEST_P(TensorCollectives, MessagesAroundARing) {
  run([&](Group group) {
    if (group.size() == 1) return;
    const int next = (group.rank() + 1) % group.size();
    const int previous = (group.rank() + group.size() - 1) % group.size();
    const torch::Tensor received = zeros();
    Work sent = isend(group, tensor_of(group.rank()), next, 7);
    recv(group, received, previous, 7);
    sent.wait();
    EXPECT_TRUE(received.equal(tensor_of(previous)));
    const torch::Tensor again = zeros();
    Work receipt = irecv(group, again, previous);
    send(group, received, next);
    receipt.wait();
    EXPECT_TRUE(again.equal(tensor_of((previous + group.size() - 1) % group.size())));
  });
}

std::vector<World> worlds() {
  std::vector<World> all;
  for (const int ranks : {1, 2, 3})
    for (const auto type : {torch::kFloat32, torch::kFloat64, torch::kFloat16, torch::kBFloat16,
                            torch::kInt32, torch::kInt64, torch::kUInt8})
      all.push_back({ranks, type});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Worlds, TensorCollectives, ::testing::ValuesIn(worlds()),
                         [](const auto& info) {
                           return fmt::format("{}Ranks{}", info.param.ranks,
                                              torch::toString(info.param.type));
                         });

TEST(TensorView, HasTheTensorsMemory) {
  const torch::Tensor tensor = torch::zeros({2, 3, 4});
  const ArrayView whole = view(tensor);
  EXPECT_EQ(whole.data, tensor.data_ptr());
  EXPECT_EQ(whole.count, 24U);
  EXPECT_EQ(whole.type, DataType::float32);
  const torch::Tensor row = tensor[1];  // a part that is contiguous itself
  EXPECT_EQ(view(row).data, row.data_ptr());
  EXPECT_EQ(view(row).count, 12U);
}

TEST(TensorView, OfScalarsAndEmptyTensors) {
  EXPECT_EQ(view(torch::tensor(2.5)).count, 1U);
  EXPECT_EQ(view(torch::empty({0})).count, 0U);
  EXPECT_EQ(view(torch::empty({3, 0, 2})).count, 0U);
  for (const int ranks : {1, 2, 3})
    run_threads(ranks, [&](Group group) {
      const torch::Tensor scalar = torch::tensor(1.0 + group.rank());
      all_reduce(group, scalar, ReduceOp::average);
      EXPECT_FLOAT_EQ(scalar.item<float>(), (ranks + 1) / 2.0F);
      const torch::Tensor none = torch::empty({0, 4});
      all_reduce(group, none);
      all_gather_async(group, none, torch::empty({0})).wait();
      broadcast(group, none);
    });
}

TEST(TensorView, RefusesWhatItCannotBe) {
  const auto refusal_of = [](const torch::Tensor& tensor) {
    try {
      view(tensor);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal_of({}), HasSubstr("undefined"));
  EXPECT_THAT(refusal_of(torch::zeros({2, 3}).t()),
              HasSubstr("shape [3, 2] is not contiguous, its strides are [1, 3]"));
  EXPECT_THAT(refusal_of(torch::zeros({8}).slice(0, 0, 8, 2)), HasSubstr("not contiguous"));
  EXPECT_THAT(refusal_of(torch::zeros({1}).expand({4})), HasSubstr("not contiguous"));
  EXPECT_THAT(refusal_of(torch::zeros({2, 3, 4, 4}).contiguous(torch::MemoryFormat::ChannelsLast)),
              HasSubstr("not contiguous"));
  EXPECT_THAT(refusal_of(torch::eye(3).to_sparse()), HasSubstr("not dense"));
  EXPECT_THAT(refusal_of(torch::empty({3}, torch::kMeta)), HasSubstr("on device meta"));
  EXPECT_THAT(refusal_of(torch::_neg_view(torch::ones({3}))), HasSubstr("resolve_neg()"));
  for (const auto type : {torch::kBool, torch::kInt8, torch::kInt16, torch::kComplexFloat})
    EXPECT_THAT(refusal_of(torch::zeros({3}, type)), HasSubstr("not supported"));
  EXPECT_EQ(refusal_of(torch::zeros({1, 3, 1, 1}).contiguous(torch::MemoryFormat::ChannelsLast)),
            "none")
      << "one pixel lies the same in both layouts";
}

TEST(TensorView, ARefusalLeavesTheGroupUsable) {
  run_threads(2, [](Group group) {
    EXPECT_THROW(all_reduce(group, torch::zeros({2, 3}).t()), UsageError);
    EXPECT_THROW(all_reduce_async(group, torch::zeros({2}, torch::kBool)), UsageError);
    EXPECT_THROW(all_gather(group, torch::zeros(2), torch::zeros(3)), UsageError);
    const torch::Tensor ones = torch::ones(2);
    all_reduce(group, ones);
    EXPECT_TRUE(ones.equal(torch::full(2, 2.0F)));
  });
}

/// A tensor that says when its memory is freed.
torch::Tensor watched_tensor(std::vector<float>& memory, std::atomic<bool>& freed) {
  return torch::from_blob(memory.data(), static_cast<std::int64_t>(memory.size()),
                          [&freed](void*) { freed = true; });
}

TEST(TensorCollective, KeepsItsTensorUntilItEnds) {
  std::vector<float> memory(1000, 1);
  std::atomic<bool> freed = false;
  run_threads(2, [&](Group group) {
    const torch::Tensor word = torch::zeros(1);
    if (group.rank() == 0) {
      all_reduce_async(group, watched_tensor(memory, freed));  // both are dropped at once
      EXPECT_FALSE(freed);                                     // rank 1 has not begun
      send(group, word, 1);
    } else {
      recv(group, word, 0);
      all_reduce(group, torch::ones(1000));
    }
    group.barrier();
  });
  EXPECT_TRUE(freed);
  EXPECT_EQ(memory, std::vector<float>(1000, 2));
}

TEST(TensorMessage, ItsWorkKeepsTheTensor) {
  std::vector<float> memory(10, 3);
  std::atomic<bool> freed = false;
  run_threads(2, [&](Group group) {
    const torch::Tensor received = torch::zeros(10);
    if (group.rank() == 0) {
      Work sent = isend(group, watched_tensor(memory, freed), 1);
      EXPECT_FALSE(freed);
      sent.wait();
      EXPECT_TRUE(freed);
    } else {
      recv(group, received, 0);
      EXPECT_TRUE(received.equal(torch::full(10, 3.0F)));
    }
  });
}

TEST(TensorCollective, RanksThatDisagreeAreTold) {
  const auto errors = testing::errors_of_ranks(testing::RankKind::thread, 2, [](Group group) {
    all_reduce(group, torch::zeros(2 + group.rank()));
  });
  for (const std::string& error : errors) EXPECT_THAT(error, HasSubstr("all_reduce"));
}

}  // namespace
}  // namespace lockstep::internal
