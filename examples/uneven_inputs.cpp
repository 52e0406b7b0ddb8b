// Workers with different numbers of batches train together; a worker may have none at all. At the
// end all workers take over the optimizer state of the first.
//   lockstep launch --workers 3 -- ./uneven_inputs
#include <lockstep/lockstep.h>

#include <cstdio>

namespace {

/// Points of a line with a little noise: y = 2x + 1.
std::vector<torch::Tensor> make_batches(int rank) {
  std::vector<torch::Tensor> batches;
  for (int i = 0; i < 100 * rank; ++i) {  // the first worker has none
    const torch::Tensor x = torch::rand({8, 1});
    batches.push_back(torch::cat({x, 2 * x + 1 + 0.01 * torch::randn({8, 1})}, 1));
  }
  return batches;
}

torch::Tensor loss_of(torch::nn::Linear& net, const torch::Tensor& batch) {
  return torch::mse_loss(net->forward(batch.narrow(1, 0, 1)), batch.narrow(1, 1, 1));
}

}  // namespace

int main() {
  auto group = lockstep::init();
  torch::manual_seed(7 + group.rank());
  torch::nn::Linear net(1, 1);
  lockstep::DistributedDataParallel ddp(net, group);
  torch::optim::Adam adam(net->parameters(), 0.1);
  const auto batches = make_batches(group.size() > 1 ? group.rank() : 1);

  lockstep::Join join(ddp);
  for (auto batch = batches.begin(); join.next(batch != batches.end());) {
    adam.zero_grad();
    if (join.has_batch())
      loss_of(net, *batch++).backward();  // averaged over the workers that have a batch
    else
      ddp.backward_without_batch();
    adam.step();
  }

  lockstep::broadcast_state(group, adam);  // as after a checkpoint that rank 0 alone has read
  if (group.rank() == 0)
    std::printf("y = %.2f x + %.2f\n", net->weight.item<float>(), net->bias.item<float>());
}
