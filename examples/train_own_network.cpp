// A network and a training loop of your own, data-parallel. Start it on two workers of this
// machine, in any of these ways:
//   lockstep launch --workers 2 -- ./train_own_network
//   mpirun -n 2 ./train_own_network
// or by hand, with torchrun's variables, once with RANK=0 and once with RANK=1:
//   RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 ./train_own_network
#include <lockstep/lockstep.h>

#include <cmath>
#include <cstdio>

struct Net : torch::nn::Module {
  Net() {
    layers =
        register_module("layers", torch::nn::Sequential(torch::nn::Linear(2, 32), torch::nn::ReLU(),
                                                        torch::nn::Linear(32, 2)));
  }
  torch::Tensor forward(torch::Tensor x) { return layers->forward(x); }
  torch::nn::Sequential layers;
};

/// Points in a square, labelled by whether they lie inside the unit circle.
std::pair<torch::Tensor, torch::Tensor> next_batch() {
  torch::Tensor points = 4 * torch::rand({64, 2}) - 2;
  return {points, points.square().sum(1).lt(1).to(torch::kInt64)};
}

int main() {
  auto group = lockstep::init();                      // joins the run: rank, number of workers
  torch::manual_seed(group.rank());                   // different random points on every worker
  auto net = std::make_shared<Net>();                 // any torch::nn::Module
  lockstep::DistributedDataParallel ddp(net, group);  // all workers get the weights of rank 0
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));

  for (int step = 1; step <= 300; ++step) {
    auto [points, labels] = next_batch();
    sgd.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net->forward(points), labels);
    loss.backward();  // buckets are reduced while backward runs
    sgd.step();       // gradients are averages over all workers
    if (step % 100 == 0 && group.rank() == 0)
      std::printf("step %d: loss %.3f\n", step, loss.item<double>());
  }
  // All workers have the same weights.
  double squares = 0;
  for (const auto& weight : net->parameters()) squares += weight.square().sum().item<double>();
  if (group.rank() == 0) std::printf("weights: norm %.6f\n", std::sqrt(squares));
}
