// sgd_speed: time and bytes per second of an SGD step over as many weights as VGG-11 has, for every
// vector unit of this processor, and on more and more threads.
#include "base/deadline.h"
#include "base/vector_unit.h"
#include "optim/sgd.h"
#include "optim/sgd_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <omp.h>
#include <vector>

namespace {

using namespace lockstep;

constexpr std::size_t kWeights = 9'231'114;
constexpr int kRounds = 100;

template <typename Step>
double fastest(const Step& step) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now_seconds();
    step();
    best = std::min(best, now_seconds() - begin);
  }
  return best;
}

void print(const std::string& what, double seconds, int passes) {
  fmt::print("{:28} {:6.2f} ms {:6.1f} GB/s\n", what, 1e3 * seconds,
             static_cast<double>(kWeights * sizeof(float)) * passes / seconds / 1e9);
}

}  // namespace

int main() {
  std::vector<float> weights(kWeights, 0.5f), gradients(kWeights, 1e-3f), velocity(kWeights);
  for (const bool momentum : {false, true}) {
    const int passes = momentum ? 5 : 3;  // reads and writes
    const char* name = momentum ? "momentum" : "plain";
    for (const VectorUnit unit : vector_units()) {
      const optim::SgdStep<float> step{weights.data(),
                                       gradients.data(),
                                       momentum ? velocity.data() : nullptr,
                                       kWeights,
                                       1e-6f,
                                       0.9f};
      print(fmt::format("{}, {} loop", name, name_of(unit)),
            fastest([&] { optim::sgd_kernels_for(unit).float32(step); }), passes);
    }
    const auto sgd = optim::make_sgd<float>(
        weights, gradients, {.learning_rate = 1e-6, .momentum = momentum ? 0.9 : 0});
    for (int threads = 1; threads <= omp_get_num_procs(); threads *= 2) {
      omp_set_num_threads(threads);
      print(fmt::format("{}, {} thread{}", name, threads, threads == 1 ? "" : "s"),
            fastest([&] { sgd->step(0, sgd->size()); }), passes);
    }
  }
}
