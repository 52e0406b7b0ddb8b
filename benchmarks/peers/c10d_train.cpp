// c10d_train: one rank of a training with libtorch's c10d alone, the C++ peer of train.py. It is
// started with torchrun's variables, trains the same job as pytorch_worker.py, and rank 0 prints
// the same line of JSON.
#include "c10d_training.h"
#include "observe/statistics.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <chrono>
#include <iostream>

namespace lockstep::internal::benchmarks {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The largest peak of all ranks. A collective.
std::int64_t peak_rss_bytes(const ProcessGroup& group) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  std::vector<torch::Tensor> peak{torch::full({1}, usage.ru_maxrss * 1024, torch::kInt64)};
  c10d::AllreduceOptions greatest;
  greatest.reduceOp = c10d::ReduceOp::MAX;
  group->allreduce(peak, greatest)->wait();
  return peak[0].item<std::int64_t>();
}

/// The iterations of all ranks, without the first of each. A collective.
std::vector<double> gather_seconds(const ProcessGroup& group, const std::vector<double>& mine) {
  std::vector<torch::Tensor> input{torch::tensor(mine, torch::kFloat64).slice(0, 1).clone()};
  std::vector<std::vector<torch::Tensor>> output(1);
  for (int rank = 0; rank < group->getSize(); ++rank)
    output[0].push_back(torch::empty_like(input[0]));
  group->allgather(output, input)->wait();
  const torch::Tensor all = torch::cat(output[0]);
  return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

void run(const C10dOptions& options) {
  torch::set_num_threads(options.threads);
  torch::manual_seed(5000);
  const ProcessGroup group = make_group(options);
  C10dTraining training(options, group);
  std::vector<double> seconds;
  group->barrier()->wait();
  const double start = now();
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    const double begin = now();
    training.step(iteration);
    seconds.push_back(now() - begin);
  }
  group->barrier()->wait();
  const double total = now() - start;
  const std::int64_t peak = peak_rss_bytes(group);
  const std::vector<double> all = gather_seconds(group, seconds);
  training.require_equal_weights();
  if (options.rank != 0) return;
  std::cout << nlohmann::json{{"seconds_per_iteration", observe::percentile(all, 0.5)},
                              {"seconds_total", total},
                              {"peak_rss_bytes", peak},
                              {"version", TORCH_VERSION}}
            << std::endl;
}

void add_options(CLI::App& app, C10dOptions& options) {
  app.add_option("--model", options.model, "network")->required();
  app.add_option("--method", options.method, "how gradients are averaged")
      ->required()
      ->check(CLI::IsMember({"ddp", "all-reduce"}));
  app.add_option("--batch", options.batch, "images of all ranks in a step")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--images", options.images, "images in an epoch")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--iterations", options.iterations, "at least 2: the first is not counted")
      ->required()
      ->check(CLI::Range(2, 1'000'000'000));
  app.add_option("--threads", options.threads, "threads of this rank")->required();
  // The variables that torchrun sets.
  app.add_option("--rank", options.rank)->envname("RANK")->required();
  app.add_option("--world-size", options.size)->envname("WORLD_SIZE")->required();
  app.add_option("--master-address", options.master_address)->envname("MASTER_ADDR")->required();
  app.add_option("--master-port", options.master_port)->envname("MASTER_PORT")->required();
}

}  // namespace

}  // namespace lockstep::internal::benchmarks

int main(int argc, char** argv) {
  CLI::App app("Trains a network with libtorch's c10d; started by train.py");
  lockstep::internal::benchmarks::C10dOptions options;
  lockstep::internal::benchmarks::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    lockstep::internal::benchmarks::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "c10d_train: rank " << options.rank << ": " << error.what() << std::endl;
    return 1;
  }
}
