// Gradients accumulated over two batches and sent as bfloat16; data from torch's DataLoader, a
// different part on every worker.
//   lockstep launch --workers 2 -- ./accumulate_and_compress
#include <lockstep/lockstep.h>

#include <cstdio>

namespace {

/// Points on a line, with their targets.
struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(std::size_t index) override {
    const torch::Tensor x = torch::full({1}, static_cast<double>(index) / 500 - 1);
    return {x.to(torch::kFloat32), torch::sin(3 * x).to(torch::kFloat32)};
  }
  torch::optional<std::size_t> size() const override { return 1000; }
};

/// A hook: a bucket is rounded to 16 bits, averaged, and written back.
lockstep::Work as_bfloat16(lockstep::Group& group, const lockstep::GradientBucket& bucket) {
  std::span<float> values(static_cast<float*>(bucket.gradients.data), bucket.gradients.count);
  auto half = std::make_shared<std::vector<lockstep::BFloat16>>(values.begin(), values.end());
  return group.all_reduce_async(*half, lockstep::ReduceOp::average).then([half, values] {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((*half)[i]);
  });
}

}  // namespace

int main() {
  auto group = lockstep::init();
  torch::nn::Sequential net(torch::nn::Linear(1, 64), torch::nn::Tanh(), torch::nn::Linear(64, 1));
  lockstep::DistributedDataParallel ddp(net, group, {.hook = as_bfloat16});
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(0.01));

  lockstep::DistributedSampler sampler(1000, group);
  auto loader = torch::data::make_data_loader(Points().map(torch::data::transforms::Stack<>()),
                                              sampler, torch::data::DataLoaderOptions(25));
  for (int epoch = 1; epoch <= 10; ++epoch) {
    torch::Tensor loss;
    int batches = 0;
    for (const auto& batch : *loader) {  // a new order every epoch
      loss = torch::mse_loss(net->forward(batch.data), batch.target);
      if (++batches % 2 == 1) {
        const auto guard = ddp.no_sync();  // nothing is sent
        loss.backward();
      } else {
        loss.backward();  // the sum of both is averaged over all workers
        adam.step();
        adam.zero_grad();
      }
    }
    if (epoch % 5 == 0 && group.rank() == 0)
      std::printf("epoch %d: loss %.4f\n", epoch, loss.item<double>());
  }
}
