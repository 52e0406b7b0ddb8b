// ddp_overhead: the overhead of DistributedDataParallel. One process trains a small network without
// the wrapper, and with it in a group of one, in turns. Small layers are the hardest case, because
// they have the least work per operation.
#include <lockstep/ddp.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace {

constexpr int kLayers = 20;
constexpr int kSteps = 300;
constexpr int kRounds = 15;

torch::nn::Sequential make_net() {
  torch::nn::Sequential net;
  for (int i = 0; i < kLayers; ++i) {
    net->push_back(torch::nn::Linear(32, 32));
    net->push_back(torch::nn::Tanh());
  }
  return net;
}

/// Processor time of this process, which other programs on the machine do not affect.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Seconds per step.
double time_steps(torch::nn::Sequential& net) {
  torch::optim::SGD sgd(net->parameters(), 0.01);
  const torch::Tensor batch = torch::ones({16, 32});
  const double start = processor_seconds();
  for (int step = 0; step < kSteps; ++step) {
    sgd.zero_grad();
    net->forward(batch).square().mean().backward();
    sgd.step();
  }
  return (processor_seconds() - start) / kSteps;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  lockstep::run_threads(1, [](const lockstep::Group& group) {
    torch::nn::Sequential net = make_net();
    time_steps(net);
    std::vector<double> plain, wrapped, ratios;
    for (int round = 0; round < kRounds; ++round) {
      plain.push_back(time_steps(net));
      lockstep::DistributedDataParallel ddp(net, group);
      wrapped.push_back(time_steps(net));
      ratios.push_back(wrapped.back() / plain.back());
    }
    std::printf("plain %.1f us/step, wrapped %.1f us/step, ratio %.3f (median of %d rounds)\n",
                1e6 * median(plain), 1e6 * median(wrapped), median(ratios), kRounds);
  });
}
