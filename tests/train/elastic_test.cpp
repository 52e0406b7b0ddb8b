// The state that workers of an elastic run share in a new group, and the runs that can be elastic.
#include "train/elastic/run_state.h"
#include "train/training.h"

#include <gtest/gtest.h>

namespace lockstep::internal::train {
namespace {

TrainConfig elastic_job() {
  TrainConfig config = small_job();
  config.workers = 4;
  config.transport = "shm";
  config.shards = 4;
  config.elastic = true;
  return config;
}

/// The state of a run after this number of steps.
RunState state_after(std::size_t steps) {
  const auto number = static_cast<float>(steps);
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  run::Record record;
  record.iteration = static_cast<double>(steps);
  return {{.iteration = steps,
           .state = {{"weight", DataType::float32, {1}, {bytes, bytes + sizeof(number)}}},
           .policy_state = {{"best_test_loss", "0.5"}}},
          {{record, record}}};
}

TEST(Elastic, AllRanksGetTheMostAdvancedState) {
  const TrainConfig config = elastic_job();
  run_threads(4, [&](Group group) {
    std::optional<RunState> state;  // of rank 3, which joins
    if (group.rank() < 3) state = state_after(group.rank() == 1 ? 8 : 7);
    broadcast_newest_state(group, config, state);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->checkpoint.iteration, 8u);
    EXPECT_EQ(state->checkpoint.state[0].data, state_after(8).checkpoint.state[0].data);
    EXPECT_EQ(state->checkpoint.policy_state.at("best_test_loss"), "0.5");
    ASSERT_EQ(state->rows.size(), 1u);
    EXPECT_EQ(state->rows[0].size(), 2u);
    EXPECT_EQ(state->rows[0][0].iteration, 8);
  });
}

TEST(Elastic, RanksWithEqualProgressKeepTheirState) {
  const TrainConfig config = elastic_job();
  run_threads(2, [&](Group group) {
    std::optional<RunState> nothing;
    broadcast_newest_state(group, config, nothing);
    EXPECT_FALSE(nothing);
    std::optional<RunState> state = state_after(7);
    broadcast_newest_state(group, config, state);
    EXPECT_EQ(group.counters().operations, 2u);  // they only compared
  });
}

TEST(Elastic, RefusesMethodsWhoseStateDiesWithAWorker) {
  const auto expect_refused = [](const std::function<void(TrainConfig&)>& change,
                                 const std::string& words) {
    TrainConfig config = elastic_job();
    change(config);
    try {
      config.validate();
      ADD_FAILURE() << words;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  EXPECT_NO_THROW(elastic_job().validate());
  expect_refused([](auto& config) { config.shards = 0; }, "--elastic needs --shards");
  expect_refused([](auto& config) { config.sync = "sharded"; }, "the optimizer's state");
  expect_refused([](auto& config) { config.sync = "server"; }, "on the workers with servers");
  expect_refused([](auto& config) { config.sync = "ring"; },
                 "order that depends on the number of workers");
  expect_refused([](auto& config) { config.transport = "thread"; }, "die together");
  expect_refused([](auto& config) { config.min_workers = 5; }, "from 1 to the 4 workers");
  expect_refused([](auto& config) { config.min_workers = 0; }, "from 1 to the 4 workers");
  expect_refused(
      [](auto& config) {
        config.elastic = false;
        config.min_workers = 2;
      },
      "--min-workers needs --elastic");
}

}  // namespace
}  // namespace lockstep::internal::train
