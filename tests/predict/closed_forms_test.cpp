// Compares the closed forms with the textbook's, and with the messages of the collectives' code.
#include "predict/closed_forms.h"

#include <lockstep/error.h>

#include "comm/algorithms.h"
#include "comm/recording/worked_collective.h"
#include "predict/bounds.h"
#include "predict/pattern.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

namespace lockstep::internal::predict {
namespace {

using comm::Operation;
using comm::RecordedWorld;
using comm::StepKind;

const NetworkModel kNetwork{.name = "test",
                            .latency = 20e-6,
                            .per_byte = 1e-9,
                            .per_added = 0.25e-9,
                            .agreement = 7e-6,
                            .meeting = 3e-6,
                            .per_copied = 0.5e-9};

double formula(double messages, double bytes, double added) {
  return messages * kNetwork.latency + bytes * kNetwork.per_byte + added * kNetwork.per_added;
}

double without_agreement(Cost cost, const NetworkModel& network) {
  cost.agreements = cost.peers = 0;
  return cost.seconds(network);
}

double all_reduce_seconds(Algorithm algorithm, int ranks, double bytes,
                          const NetworkModel& network = kNetwork) {
  const Cost cost = cost_of({Operation::all_reduce, algorithm, bytes}, {ranks, 1}, network);
  return without_agreement(cost, network);
}

/// Some of them add more slowly than they send.
std::vector<NetworkModel> all_networks() {
  std::vector<NetworkModel> networks{kNetwork};
  for (const std::string& name : network_names()) networks.push_back(parse_network(name));
  return networks;
}

TEST(ClosedForms, EqualTheTextbooksForAllReduce) {
  const double n = 64 * 1024;
  for (int p : {2, 4, 8, 16}) {
    const double lg = std::log2(p);
    const double part = n * (p - 1) / p;
    EXPECT_DOUBLE_EQ(all_reduce_seconds(Algorithm::star, p, n),
                     formula(2 * (p - 1), 2 * (p - 1) * n, (p - 1) * n));
    EXPECT_DOUBLE_EQ(all_reduce_seconds(Algorithm::tree, p, n),
                     formula(2 * lg, 2 * lg * n, lg * n));
    EXPECT_DOUBLE_EQ(all_reduce_seconds(Algorithm::halving_doubling, p, n),
                     formula(2 * lg, 2 * part, part));
    EXPECT_DOUBLE_EQ(all_reduce_seconds(Algorithm::ring, p, n),
                     formula(2 * (p - 1), 2 * part, part));
  }
}

TEST(ClosedForms, EqualTheMessagesOfWorkedExamples) {
  constexpr std::size_t kElements = 48;  // cut into equal chunks by all these numbers of ranks
  constexpr double kBytes = kElements * sizeof(comm::WorkedElement);
  for (Algorithm algorithm : comm::algorithms_of(Operation::all_reduce, {}))
    for (int ranks : {2, 3, 4, 6, 8, 12, 16}) {
      SCOPED_TRACE(fmt::format("{}, {} ranks", name_of(algorithm), ranks));
      const comm::WorkedCollective example = comm::worked_all_reduce(algorithm, ranks, kElements);
      std::size_t longest = 0;  // the longest message of each step, summed
      for (const comm::WorkedStep& step : example.steps)
        longest += std::max_element(step.messages.begin(), step.messages.end(),
                                    [](const auto& one, const auto& other) {
                                      return one.bytes() < other.bytes();
                                    })
                       ->bytes();
      const Cost cost = cost_of({Operation::all_reduce, algorithm, kBytes}, {ranks, 1}, kNetwork);
      EXPECT_EQ(example.steps.size(), cost.messages);
      EXPECT_EQ(longest, cost.bytes);
    }
}

TEST(ClosedForms, OfALongRingAreItsBytes) {
  // 64 MiB on 4 ranks: a chunk is 64 segments, and the link is never idle.
  const double n = 64 << 20;
  const double bytes = 2 * 3.0 / 4 * n * kNetwork.per_byte;
  const double seconds = all_reduce_seconds(Algorithm::ring, 4, n);
  EXPECT_GT(seconds, bytes);
  EXPECT_LT(seconds, 1.01 * bytes);
  EXPECT_GT(utilisation(n, 4, seconds, kNetwork), 0.99);
}

TEST(ClosedForms, OfAHierarchyAreThoseOfItsLevels) {
  const double n = 1 << 20;
  const RecordedWorld world{32, 4};
  const double local =
      4 * kNetwork.meeting + 2 * n * 3 / 4 * kNetwork.per_copied + n * 3 / 4 * kNetwork.per_added;
  NetworkModel one_link = kNetwork;
  one_link.per_byte *= 4;
  const double between =
      cost_of({Operation::all_reduce, Algorithm::automatic, n / 4}, {8, 1}, one_link)
          .seconds(one_link);
  EXPECT_NEAR(cost_of({Operation::all_reduce, Algorithm::hierarchical, n}, world, kNetwork)
                  .seconds(kNetwork),
              local + between, 1e-12);
}

struct Case {
  Operation operation;
  Algorithm algorithm;
};

std::vector<Case> all_message_cases() {
  std::vector<Case> cases;
  for (Operation operation : {Operation::all_reduce, Operation::reduce, Operation::broadcast,
                              Operation::reduce_scatter, Operation::all_gather})
    for (Algorithm algorithm : comm::algorithms_of(operation, {}))
      cases.push_back({operation, algorithm});
  for (Operation operation : {Operation::gather, Operation::scatter, Operation::barrier})
    cases.push_back({operation, Algorithm::automatic});
  return cases;
}

/// The closed form's time equals a replay of the code's messages.
TEST(ClosedForms, EqualTheReplayedCollectives) {
  for (const Case& one : all_message_cases())
    for (int ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16})
      for (int floats_each : {16, 1024, 20000}) {
        const double bytes = 4.0 * floats_each * ranks * 16;  // divides evenly every way
        const Collective what{one.operation, one.algorithm, bytes};
        const RecordedWorld world{ranks, 1};
        const Cost cost = cost_of(what, world, kNetwork);
        const double expected = cost.seconds(kNetwork) - cost.agreements * kNetwork.agreement;
        EXPECT_NEAR(replay(record(what, world), kNetwork), expected, 0.02 * expected + 1e-12)
            << fmt::format("{} by {} of {} bytes on {} ranks", comm::name_of(one.operation),
                           name_of(one.algorithm), bytes, ranks);
      }
}

TEST(ClosedForms, OfRingsByCoresCountEveryMessage) {
  const NetworkModel host{.latency = 1, .message_cores = 1};
  // Chunks of 1 MiB in segments of 256 KiB, three steps that add and three that do not.
  const Cost ring = cost_of({Operation::all_reduce, Algorithm::ring, 4 << 20}, {4, 1}, host);
  EXPECT_EQ(ring.messages, 6 * 4);
  EXPECT_EQ(ring.bytes, 6 << 20);
  EXPECT_EQ(ring.added, 3 << 20);
  const Pattern pattern = record({Operation::all_reduce, Algorithm::ring, 4 << 20}, {4, 1});
  EXPECT_EQ(std::count_if(pattern.ranks[0].begin(), pattern.ranks[0].end(),
                          [](const auto& step) { return step.kind == comm::StepKind::send; }),
            24);
}

TEST(ClosedForms, OfLongRingsEqualTheReplayedRing) {
  for (int ranks : {2, 3, 4, 8})
    for (double bytes : {1e6, 1.2e6, 2e6, 4e6, 16e6, 64e6})
      for (Operation operation :
           {Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather}) {
        const Collective what{operation, Algorithm::ring, bytes};
        const Pattern pattern = record(what, {ranks, 1});
        for (const NetworkModel& network : all_networks()) {
          if (network.by_cores()) continue;  // replays do not model cores
          const Cost cost = cost_of(what, {ranks, 1}, network);
          const double expected = without_agreement(cost, network);
          EXPECT_NEAR(replay(pattern, network), expected, 0.05 * expected)
              << fmt::format("{} of {} bytes on {} ranks over {}", comm::name_of(operation), bytes,
                             ranks, network.name);
        }
      }
}

TEST(ClosedForms, OfHierarchiesAndSharedMemoryEqualTheReplay) {
  NetworkModel one_link = kNetwork;
  one_link.per_byte *= 4;  // a replay does not model that the lanes of a host use one link
  for (int hosts : {1, 2, 4, 8}) {
    const Algorithm algorithm = hosts == 1 ? Algorithm::direct : Algorithm::hierarchical;
    const Collective what{Operation::all_reduce, algorithm, 3 << 20};
    const RecordedWorld world{4 * hosts, 4};
    const Cost cost = cost_of(what, world, kNetwork);
    const double expected = cost.seconds(kNetwork) - cost.agreements * kNetwork.agreement;
    EXPECT_NEAR(replay(record(what, world), one_link), expected, 0.01 * expected) << hosts;
  }
}

/// Every rank sends as many bytes as docs/algorithms.md says, and every byte is received.
TEST(Patterns, SendTheDocumentedBytes) {
  const double n = 4 * 1024 * 16;
  for (Algorithm algorithm : {Algorithm::ring, Algorithm::halving_doubling}) {
    const Pattern pattern = record({Operation::all_reduce, algorithm, n}, {16, 1});
    for (const comm::RecordedSteps& steps : pattern.ranks) {
      double sent = 0, received = 0, added = 0;
      for (const comm::RecordedStep& step : steps) {
        if (step.kind == StepKind::send) sent += static_cast<double>(step.bytes);
        if (step.kind == StepKind::receive) received += static_cast<double>(step.bytes);
        if (step.kind == StepKind::add) added += static_cast<double>(step.bytes);
      }
      EXPECT_EQ(sent, 2 * n * 15 / 16);
      EXPECT_EQ(received, 2 * n * 15 / 16);
      EXPECT_EQ(added, n * 15 / 16);
    }
  }
}

TEST(ClosedForms, NothingIsFasterThanTheLowerBound) {
  for (const Case& one : all_message_cases()) {
    if (one.operation != Operation::all_reduce) continue;
    for (int ranks : {2, 3, 8, 100, 1024})
      for (double bytes : {4.0, 1e4, 1e6, 1e8})
        for (const NetworkModel& network : all_networks())
          EXPECT_GE(all_reduce_seconds(one.algorithm, ranks, bytes, network) * (1 + 1e-9),
                    lower_bound(bytes, ranks, network))
              << fmt::format("{} of {} bytes on {} ranks over {}", name_of(one.algorithm), bytes,
                             ranks, network.name);
  }
}

TEST(ClosedForms, TheNaiveFormulaIsFarOffAsDocumented) {
  const double n = 1e9;
  EXPECT_GT(naive_seconds(n, 1024, kNetwork), 4 * all_reduce_seconds(Algorithm::ring, 1024, n));
  EXPECT_LT(naive_seconds(64, 1024, kNetwork),
            0.01 * all_reduce_seconds(Algorithm::tree, 1024, 64));
}

TEST(ClosedForms, FourRanksOnTwoCoresTakeTurns) {
  NetworkModel host = kNetwork;
  host.message_cores = 1;
  const RecordedWorld world{4, 1};
  const Cost ring = cost_of({Operation::all_reduce, Algorithm::ring, 1e4}, world, host);
  EXPECT_DOUBLE_EQ(ring.seconds(host, 2), 2 * ring.seconds(host));
  EXPECT_DOUBLE_EQ(ring.seconds(host, 4), ring.seconds(host));
  // A star has one message at a time.
  const Cost star = cost_of({Operation::all_reduce, Algorithm::star, 1e4}, world, host);
  EXPECT_DOUBLE_EQ(star.seconds(host, 2), star.seconds(host) + host.agreement);
  // If the kernel copies at both ends of a message at once, four messages need eight cores.
  host.message_cores = 2;
  EXPECT_DOUBLE_EQ(ring.seconds(host, 8), ring.seconds(host));
  EXPECT_GT(ring.seconds(host, 4), 1.5 * ring.seconds(host));
  EXPECT_DOUBLE_EQ(star.seconds(host, 2), star.seconds(host) + host.agreement);
  // But all four agree first.
  const Cost barrier = cost_of({Operation::barrier}, world, host);
  EXPECT_DOUBLE_EQ(barrier.seconds(host, 2), 2 * barrier.seconds(host));
}

TEST(ClosedForms, BytesOutsideTheCachesTakeLonger) {
  NetworkModel host{.per_byte = 1e-9, .message_cores = 1, .cache = 4e6, .far = 3};
  auto seconds_per_byte = [&](double bytes) {
    const Cost ring = cost_of({Operation::all_reduce, Algorithm::ring, bytes}, {4, 1}, host);
    return ring.seconds(host, 0) / bytes;
  };
  // Four ranks' arrays: all of them fit, half of them, nearly nothing.
  EXPECT_DOUBLE_EQ(seconds_per_byte(1e6), seconds_per_byte(1e5));
  EXPECT_NEAR(seconds_per_byte(2e6) / seconds_per_byte(1e6), 1 + 3 * 0.5, 1e-9);
  EXPECT_NEAR(seconds_per_byte(1e12) / seconds_per_byte(1e6), 4, 1e-4);
  const Cost small = cost_of({Operation::all_reduce, Algorithm::ring, 1e5}, {4, 1}, host);
  EXPECT_DOUBLE_EQ(small.cold().seconds(host, 0), 4 * small.seconds(host, 0));
}

TEST(ClosedForms, OfAnAgreementGrowWithTheRanks) {
  const NetworkModel network = parse_network("10gbit");
  auto barrier = [&](int ranks) {
    return cost_of({Operation::barrier}, {ranks, 1}, network).seconds(network);
  };
  EXPECT_EQ(barrier(1), 0);
  EXPECT_DOUBLE_EQ(barrier(2), network.latency + network.per_peer);
  EXPECT_NEAR(barrier(1025) - barrier(1), network.latency + 1024 * 1.5e-6, 1e-12);
}

TEST(ClosedForms, UnsupportedAlgorithmsAreRefused) {
  EXPECT_THROW(cost_of({Operation::all_reduce, Algorithm::hierarchical, 1e6}, {8, 1}, kNetwork),
               UsageError);
  EXPECT_THROW(cost_of({Operation::broadcast, Algorithm::ring, 1e6}, {8, 1}, kNetwork), UsageError);
}

}  // namespace
}  // namespace lockstep::internal::predict
