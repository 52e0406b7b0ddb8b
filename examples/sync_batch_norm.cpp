// Batch norm over the batches of all workers: any number of workers computes what one computes.
//   lockstep launch --workers 2 -- ./sync_batch_norm
#include <lockstep/lockstep.h>

#include <cstdio>

namespace {

/// Layers of a Sequential can be replaced; a member that forward() names cannot, so it is a
/// SyncBatchNorm from the start: torch's batch norm until it has a group.
struct Net : torch::nn::Module {
  Net() {
    register_module("layers", layers);
    register_module("norm", norm);
    register_module("scores", scores);
  }
  torch::Tensor forward(const torch::Tensor& points) {
    return scores(norm(layers->forward(points)).relu());
  }

  torch::nn::Sequential layers{torch::nn::Linear(2, 32), torch::nn::BatchNorm1d(32),
                               torch::nn::ReLU(), torch::nn::Linear(32, 32)};
  lockstep::SyncBatchNorm norm{32};
  torch::nn::Linear scores{32, 2};
};

}  // namespace

int main() {
  auto group = lockstep::init();
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  net->to(torch::kFloat64);
  lockstep::convert_sync_batch_norm(*net, group);     // statistics of all workers' batches
  lockstep::DistributedDataParallel ddp(net, group);  // averages gradients
  torch::optim::SGD sgd(net->parameters(), 0.1);

  // All workers draw the same 64 points, and each trains on its slice: inside a circle, or not?
  const std::int64_t slice = 64 / group.size();
  for (int step = 1; step <= 200; ++step) {
    const torch::Tensor all = torch::rand({64, 2}, torch::kFloat64) * 2 - 1;
    const torch::Tensor points = all.narrow(0, group.rank() * slice, slice);
    sgd.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        net->forward(points), points.norm(2, 1).lt(0.8).to(torch::kInt64));
    loss.backward();
    sgd.step();
  }
  if (group.rank() == 0)
    std::printf("after 200 steps the weights of the last layer have the norm %.12f\n",
                net->scores->weight.norm().item<double>());
}
