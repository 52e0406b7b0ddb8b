// SequentialTrainer in a build without the onednn engine.
#include <lockstep/error.h>
#include <lockstep/sequential_trainer.h>

#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

TEST(SequentialTrainerWithoutOnednn, TheConstructorThrows) {
  run_threads(1, [](const Group& group) {
    const torch::nn::Sequential network(torch::nn::Flatten(), torch::nn::Linear(4, 2));
    testing::expect_error<UsageError>(
        [&] {
          SequentialTrainer(network, {1, 2, 2}, group);
        },
        {"no onednn engine", "DistributedDataParallel"});
  });
}

}  // namespace
}  // namespace lockstep::internal
