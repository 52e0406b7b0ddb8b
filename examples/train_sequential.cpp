// A small convolutional network of your own on CIFAR-10, trained by the onednn engine on as many
// workers as you start:
//   lockstep launch --workers 2 -- ./train_sequential FOLDER
// where FOLDER has data_batch_1.bin and test_batch.bin of CIFAR-10's binary version; a part of them
// ships with Lockstep, in data/cifar10.
#include <lockstep/lockstep.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace {

namespace nn = torch::nn;

struct Images {
  torch::Tensor pixels;  ///< float32 [N, 3, 32, 32]
  torch::Tensor labels;  ///< int64 [N]
};

/// A record is a label and the pixels of three channels, a byte each.
Images read_cifar10(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  constexpr std::int64_t kRecord = 1 + 3 * 32 * 32;
  const auto count = static_cast<std::int64_t>(bytes.size()) / kRecord;
  if (count == 0) throw lockstep::FileError(file + ": no images of CIFAR-10 in it");
  const torch::Tensor records = torch::from_blob(bytes.data(), {count, kRecord}, torch::kUInt8);
  return {records.slice(1, 1).reshape({count, 3, 32, 32}).to(torch::kFloat32) / 128 - 1,
          records.select(1, 0).to(torch::kInt64)};
}

nn::Conv2d convolution(int from, int to) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1).bias(false));
}

nn::Sequential make_network() {
  return nn::Sequential(convolution(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(32, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::MaxPool2d(2),
                        convolution(64, 128), nn::BatchNorm2d(128), nn::ReLU(), nn::AvgPool2d(8),
                        nn::Flatten(), nn::Linear(128, 10));
}

}  // namespace

int main(int count, char** arguments) {
  auto group = lockstep::init();
  const std::string folder = count > 1 ? arguments[1] : "data/cifar10";
  const Images train = read_cifar10(folder + "/data_batch_1.bin");
  const Images test = read_cifar10(folder + "/test_batch.bin");

  torch::manual_seed(1);
  nn::Sequential net = make_network();
  const auto batch = static_cast<std::size_t>(64 / group.size());  // 64 images on all workers
  lockstep::SequentialTrainer trainer(net, {3, 32, 32}, group,
                                      {.batch = batch, .learning_rate = 0.05, .momentum = 0.9});

  lockstep::DistributedSampler sampler(static_cast<std::size_t>(train.labels.size(0)), group,
                                       {.remainder = lockstep::Remainder::drop});
  for (int epoch = 1; epoch <= 3; ++epoch) {
    if (epoch == 3) trainer.set_learning_rate(0.005);
    std::vector<double> sums(2);  // losses and images
    sampler.reset();
    while (auto indices = sampler.next(batch)) {
      const torch::Tensor chosen =
          torch::tensor(std::vector<std::int64_t>(indices->begin(), indices->end()));
      const lockstep::BatchScore score =
          trainer.step(train.pixels.index_select(0, chosen), train.labels.index_select(0, chosen));
      sums[0] += score.loss_sum;
      sums[1] += static_cast<double>(score.images);
    }
    group.all_reduce(sums);
    if (group.rank() == 0) std::printf("epoch %d: loss %.3f\n", epoch, sums[0] / sums[1]);
  }

  trainer.copy_to_module();  // from here on it is an ordinary module
  net->eval();
  const torch::NoGradGuard no_gradients;
  const torch::Tensor right = net->forward(test.pixels).argmax(1).eq(test.labels);
  if (group.rank() == 0)
    std::printf("test: %.1f %% right\n", 100 * right.to(torch::kFloat64).mean().item<double>());
}
