// shared_update [RANKS [MILLIONS OF WEIGHTS [ROUNDS]]]: time of three ways to update all weights
// after backward, over shared memory.
//
//   ddp          all-reduce, then every rank updates all weights
//   sharded      reduce-scatter, every rank updates a part, all-gather
//   single pass  every rank adds, updates and distributes its part block by block, in the cache
#include <lockstep/group.h>

#include "base/deadline.h"
#include "comm/reduce.h"
#include "optim/sgd.h"
#include "sync/sync_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace lockstep;

namespace {

constexpr optim::SgdOptions kSgd{.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-4};
constexpr std::size_t kBlock = 1 << 12;

struct Rank {
  Rank(Group with, const char* sync, std::size_t count)
      : group(std::move(with)),
        gradients(group, {{"w", count}},
                  sync::Layout(std::vector<sync::Parameter>{{"w", count}}, DataType::float32,
                               {.parts = static_cast<std::size_t>(group.size())})),
        memory(group.allocate(gradients.layout().bytes())),
        weights(memory.data(), gradients.layout().size(), DataType::float32),
        method(sync::make_sync_method(sync::parse_method(sync, "auto"), group, gradients,
                                      ReduceOp::average, weights)) {
    const sync::OwnedSlice owned =
        method->owned_slice().value_or(sync::OwnedSlice{weights, gradients.all()});
    auto floats = [](const ArrayView& view) {
      return std::span<float>(static_cast<float*>(view.data), view.count);
    };
    optimizer = optim::make_sgd<float>(floats(owned.weights), floats(owned.gradients), kSgd);
    std::fill_n(static_cast<float*>(gradients.all().data), weights.count, 1e-3F);
    method->adopt_weights();
  }

  void update() {
    method->ready(0);
    method->finish();
    method->step(*optimizer);
  }

  Group group;
  sync::Gradients gradients;
  Memory memory;
  ArrayView weights;
  std::unique_ptr<sync::SyncMethod> method;
  std::unique_ptr<optim::Optimizer> optimizer;
};

/// The arrays of all ranks, which are threads of this process.
std::vector<void*> all_gradients, all_weights;

/// One rank's part of the single pass. REQUIRES: `rank` uses `sharded`, so that its optimizer has
/// this rank's part.
void update_in_one_pass(Rank& rank) {
  const sync::OwnedSlice owned = *rank.method->owned_slice();
  const std::size_t first = owned.weights.count * static_cast<std::size_t>(rank.group.rank());
  std::vector<void*> inputs(all_gradients.size());
  rank.group.barrier();
  for (std::size_t begin = 0; begin < owned.weights.count; begin += kBlock) {
    const std::size_t count = std::min(kBlock, owned.weights.count - begin);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      inputs[i] = static_cast<float*>(all_gradients[i]) + first + begin;
    void* sum = owned.gradients.slice(begin, count).data;
    comm::reduce_tree(inputs, {&sum, 1}, count, DataType::float32, ReduceOp::average);
    rank.optimizer->step(begin, count);
    for (void* weights : all_weights)
      std::memcpy(static_cast<float*>(weights) + first + begin,
                  owned.weights.slice(begin, count).data, count * sizeof(float));
  }
  rank.group.barrier();
}

template <typename Update>
void measure(const char* name, Group& group, int rounds, Update update) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    group.barrier();
    const double start = now_seconds();
    update();
    group.barrier();
    times.push_back(now_seconds() - start);
  }
  std::sort(times.begin(), times.end());
  if (group.rank() == 0)
    fmt::print("{:<12} median {:7.2f} ms, best {:7.2f} ms\n", name, 1e3 * times[times.size() / 2],
               1e3 * times.front());
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 2;
  const auto count = static_cast<std::size_t>(1e6 * (argc > 2 ? std::atof(argv[2]) : 9.2));
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 21;
  all_gradients.resize(static_cast<std::size_t>(ranks));
  all_weights = all_gradients;
  run_threads(ranks, [&](Group group) {
    Rank ddp(group, "ddp", count), sharded(group, "sharded", count);
    all_gradients[static_cast<std::size_t>(group.rank())] = sharded.gradients.all().data;
    all_weights[static_cast<std::size_t>(group.rank())] = sharded.weights.data;
    for (int turn = 0; turn < 2; ++turn) {
      measure("ddp", group, rounds, [&] { ddp.update(); });
      measure("sharded", group, rounds, [&] { sharded.update(); });
      measure("single pass", group, rounds, [&] { update_in_one_pass(sharded); });
    }
  });
}
