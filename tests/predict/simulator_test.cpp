// Compares simulations with closed forms without contention, and checks the effect of contention.
#include "predict/simulator.h"

#include <lockstep/error.h>

#include "predict/recorded_runs.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::predict {
namespace {

using comm::Operation;
using simulate::Topology;

class Simulations : public ::testing::Test {
 protected:
  void SetUp() override {
    if (program().empty()) GTEST_SKIP() << "this build has no simulator";
  }

  static std::filesystem::path program() {
#ifdef LOCKSTEP_SIMULATE
    return LOCKSTEP_SIMULATE;
#else
    return {};
#endif
  }

  static double seconds(Algorithm algorithm, int ranks, double bytes, int per_host = 1,
                        const SimulatorOptions& options = {.program = program()},
                        const NetworkModel& network = parse_network("10gbit")) {
    Simulator simulator(options);
    return simulator.seconds({Operation::all_reduce, algorithm, bytes},
                             {.world = {ranks, per_host}, .network = network});
  }

  static double by_formula(Algorithm algorithm, int ranks, double bytes, int per_host = 1) {
    return closed_form_seconds({Operation::all_reduce, algorithm, bytes},
                               {.world = {ranks, per_host}, .network = parse_network("10gbit")});
  }
};

TEST_F(Simulations, OfARingWithoutContentionAgreeWithTheClosedForm) {
  for (int ranks : {2, 4, 5, 16})
    for (double bytes : {64e3, 1.2e6, 2e6, 4e6, 40e6}) {
      const double expected = by_formula(Algorithm::ring, ranks, bytes);
      EXPECT_NEAR(seconds(Algorithm::ring, ranks, bytes), expected, 0.05 * expected)
          << bytes << " bytes on " << ranks;
    }
}

TEST_F(Simulations, OfManyRanksInARingAgreeToo) {
  const double expected = by_formula(Algorithm::ring, 64, 3e6);
  EXPECT_NEAR(seconds(Algorithm::ring, 64, 3e6), expected, 0.05 * expected);
  EXPECT_NEAR(seconds(Algorithm::automatic, 64, 3e6), expected, 0.05 * expected);
}

TEST_F(Simulations, OfTheOtherAlgorithmsAgreeOnOneSwitch) {
  for (Algorithm algorithm : {Algorithm::tree, Algorithm::halving_doubling, Algorithm::star}) {
    const double expected = by_formula(algorithm, 16, 1e6);
    EXPECT_NEAR(seconds(algorithm, 16, 1e6), expected, 0.05 * expected) << name_of(algorithm);
  }
}

TEST_F(Simulations, OfALongFatNetworkHaveNoTcpWindow) {
  const NetworkModel network = parse_network("alpha=1ms,bandwidth=100gbit,gamma=0.001ns");
  const Cost tree = cost_of({Operation::all_reduce, Algorithm::tree, 100e6}, {2, 1}, network);
  const double expected = tree.seconds(network);
  EXPECT_NEAR(seconds(Algorithm::tree, 2, 100e6, 1, {.program = program()}, network), expected,
              0.05 * expected);
}

TEST_F(Simulations, OfRanksThatShareAHostsLinkAgreeWithTheHierarchysForm) {
  const double expected = by_formula(Algorithm::hierarchical, 16, 4e6, 4);
  EXPECT_NEAR(seconds(Algorithm::hierarchical, 16, 4e6, 4), expected, 0.1 * expected);
}

TEST_F(Simulations, OfRanksOfOneHostPassMessagesThroughItsMemory) {
  for (Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::direct}) {
    const double expected = by_formula(algorithm, 8, 4e6, 8);
    EXPECT_NEAR(seconds(algorithm, 8, 4e6, 8), expected, 0.05 * expected) << name_of(algorithm);
    EXPECT_LT(expected, by_formula(Algorithm::ring, 8, 4e6));
  }
}

TEST_F(Simulations, OfADragonflyShowContention) {
  // Distant pairs use the same links between routers and groups.
  const double bytes = 16e6;
  const SimulatorOptions dragonfly{.topology = Topology::dragonfly, .program = program()};
  EXPECT_GT(seconds(Algorithm::halving_doubling, 128, bytes, 1, dragonfly),
            1.2 * seconds(Algorithm::halving_doubling, 128, bytes));
  const SimulatorOptions fat_tree{.topology = Topology::fat_tree, .program = program()};
  EXPECT_GE(seconds(Algorithm::halving_doubling, 128, bytes, 1, fat_tree),
            0.9 * seconds(Algorithm::halving_doubling, 128, bytes));
}

TEST_F(Simulations, OfNoTopologyBeatOneSwitch) {
  for (Topology topology : {Topology::fat_tree, Topology::dragonfly})
    for (Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::halving_doubling})
      for (double bytes : {4e3, 1e6})
        for (int ranks : {4, 40})
          EXPECT_GE(
              seconds(algorithm, ranks, bytes, 1, {.topology = topology, .program = program()}),
              0.999 * seconds(algorithm, ranks, bytes))
              << static_cast<int>(topology) << name_of(algorithm) << bytes << " on " << ranks;
}

TEST_F(Simulations, OfASlowLinkAreAsSlowAsThatLink) {
  const SimulatorOptions slow{.slow_link = 4, .program = program()};
  EXPECT_NEAR(seconds(Algorithm::ring, 8, 16e6, 1, slow) / seconds(Algorithm::ring, 8, 16e6), 4,
              0.4);
  // The same in a ring of many ranks, whose times are not affine then.
  const double expected = 2 * 63.0 / 64 * 12e6 * 4 * parse_network("10gbit").per_byte;
  EXPECT_GT(seconds(Algorithm::ring, 64, 12e6, 1, slow), expected);
}

TEST_F(Simulations, OfIterationsUseSimulatedCollectives) {
  const ScalingJob job{.run = made_up_run(),
                       .network = parse_network("10gbit"),
                       .workers = {4},
                       .methods = {"ddp"},
                       .bucket_megabytes = {25}};
  Simulator simulator({.program = program()});
  const Prediction formula = predict(job, "ddp", 4);
  const std::optional<Prediction> simulated = simulate_prediction(simulator, job, formula);
  ASSERT_TRUE(simulated);
  EXPECT_TRUE(simulated->simulated);
  EXPECT_NEAR(simulated->seconds(), formula.seconds(), 0.05 * formula.seconds());
  EXPECT_FALSE(simulate_prediction(simulator, job, predict(job, "p2p", 4)));
}

TEST_F(Simulations, RefuseInvalidOptions) {
  testing::expect_error<UsageError>([] { Simulator({.program = "/nowhere"}); },
                                    {"/nowhere", "libsimgrid-dev"});
  testing::expect_error<UsageError>([] { Simulator({.slow_link = 0, .program = program()}); },
                                    {"--slow-link"});
  testing::expect_error<UsageError>(
      [] { Simulator({.slow_link = HUGE_VAL, .program = program()}); }, {"--slow-link"});
  testing::expect_error<UsageError>([] { seconds(Algorithm::tree, 4, 4e15); }, {"4e+15 bytes"});
  testing::expect_error<UsageError>([] { parse_topology("torus"); }, {"torus", "dragonfly"});
  testing::expect_error<UsageError>(
      [] {
        require_room(Topology::fat_tree, {4096, 1});
      },
      {"4096 hosts", "1024"});
  require_room(Topology::fat_tree, {4096, 4});
  require_room(Topology::one_switch, {4096, 1});
}

}  // namespace
}  // namespace lockstep::internal::predict
