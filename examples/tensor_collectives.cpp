// Collectives and messages on torch tensors.
//   lockstep launch --workers 4 -- ./tensor_collectives
#include <lockstep/error.h>
#include <lockstep/init.h>
#include <lockstep/tensor.h>

#include <cstdio>

namespace {

void run(lockstep::Group& group) {
  // Every rank gets the average of all ranks' losses.
  torch::Tensor loss = torch::tensor(0.5 + group.rank());
  lockstep::all_reduce(group, loss, lockstep::ReduceOp::average);

  // Rank 0 gets the predictions of all ranks, one row each.
  torch::Tensor predictions = torch::full({3}, group.rank(), torch::kInt64);
  torch::Tensor all;
  if (group.rank() == 0) all = torch::empty({group.size(), 3}, torch::kInt64);
  lockstep::gather(group, predictions, all);

  // The collective keeps the tensor alive; the tensor has the result once wait() has returned.
  torch::Tensor weights = torch::ones({4, 4}) * group.rank();
  lockstep::Work copied = lockstep::broadcast_async(group, weights);
  copied.wait();

  if (group.rank() == 0)
    std::printf("average loss %.2f, sum of all predictions %d, weight %.0f\n", loss.item<double>(),
                static_cast<int>(all.sum().item<std::int64_t>()), weights[0][0].item<double>());
}

}  // namespace

int main() {
  try {
    lockstep::Group group = lockstep::init();
    run(group);
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
