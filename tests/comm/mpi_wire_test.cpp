// Transfers over MPI between real processes, which mpirun has started.
#include "comm/mpi_ranks.h"
#include "support/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace lockstep::internal::comm {
namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that identify the sender, the receiver and the slot.
Bytes pattern(int from, int to, Slot slot, std::size_t length) {
  Bytes bytes(length);
  for (std::size_t i = 0; i < length; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + slot * 31 +
                                      static_cast<std::size_t>(from * 5 + to * 3));
  return bytes;
}

class MpiWireTest : public MpiTest {
 protected:
  /// Sends `length` bytes to every other rank and receives as many from it, all at the same time.
  static void exchange_with_all(Wire& wire, Slot slot, std::size_t length) {
    std::vector<Bytes> in(static_cast<std::size_t>(size()), Bytes(length));
    std::vector<Bytes> out;
    std::vector<std::shared_ptr<Transfer>> transfers;
    for (int peer = 0; peer < size(); ++peer) out.push_back(pattern(rank(), peer, slot, length));
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      transfers.push_back(wire.send(peer, slot, out[static_cast<std::size_t>(peer)]));
      transfers.push_back(wire.receive(peer, slot, in[static_cast<std::size_t>(peer)]));
    }
    for (const auto& transfer : transfers) finish(*transfer);
    for (int peer = 0; peer < size(); ++peer)
      if (peer != rank()) {
        EXPECT_EQ(in[static_cast<std::size_t>(peer)], pattern(peer, rank(), slot, length))
            << "rank " << rank() << " from " << peer;
      }
  }
};

TEST_F(MpiWireTest, RankZeroBroadcastsItsRendezvous) {
  for (const std::string& text : {std::string("127.0.0.1:4711 token"), std::string(),
                                  std::string(100'000, 'x'), std::string("a\0b", 3)}) {
    const std::string mine = rank() == 0 ? text : "something else";
    EXPECT_EQ(MpiRuntime::instance().broadcast(mine, soon()), text);
  }
}

TEST_F(MpiWireTest, MovesShortAndLongMessagesBothWaysAtOnce) {
  const auto wire = make_wire();
  EXPECT_EQ(wire->name(), "mpi");
  for (const std::size_t length : {1u, 7u, 4095u, 4097u, 65'536u, 5'000'000u})
    exchange_with_all(*wire, kCollectiveSlot, length);
}

TEST_F(MpiWireTest, MatchesManySlotsInAnyOrder) {
  const auto wire = make_wire();
  constexpr std::size_t kSlots = 100;
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  std::vector<Bytes> in(kSlots), out(kSlots);
  std::vector<std::shared_ptr<Transfer>> transfers;
  auto slot_of = [](std::size_t i) { return static_cast<Slot>(kMessageSlots - i * 40); };
  auto length_of = [](std::size_t i) { return i % 10 == 0 ? 20'000 + i : 1 + i; };
  if (size() == 1) return;
  for (std::size_t i = 0; i < kSlots; ++i) {
    out[i] = pattern(rank(), next, slot_of(i), length_of(i));
    transfers.push_back(wire->send(next, slot_of(i), out[i]));
  }
  for (std::size_t i = kSlots; i-- > 0;) {
    in[i].resize(length_of(i));
    transfers.push_back(wire->receive(previous, slot_of(i), in[i]));
  }
  for (const auto& transfer : transfers) finish(*transfer);
  for (std::size_t i = 0; i < kSlots; ++i)
    EXPECT_EQ(in[i], pattern(previous, rank(), slot_of(i), length_of(i))) << "slot " << slot_of(i);
}

TEST_F(MpiWireTest, KeepsTheOrderWithinASlot) {
  const auto wire = make_wire();
  if (size() == 1) return;
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  std::vector<std::uint32_t> in(500, 0), out(500);
  std::iota(out.begin(), out.end(), 0u);
  std::vector<std::shared_ptr<Transfer>> transfers;
  for (auto& value : out)
    transfers.push_back(wire->send(next, 3, std::as_bytes(std::span(&value, 1))));
  for (auto& value : in)
    transfers.push_back(wire->receive(previous, 3, std::as_writable_bytes(std::span(&value, 1))));
  for (const auto& transfer : transfers) finish(*transfer);
  EXPECT_EQ(in, out);
}

TEST_F(MpiWireTest, SplitsMessagesLongerThanMpiCanCount) {
  const auto wire = make_wire({.part_bytes = 1000});
  for (const std::size_t length : {999u, 1000u, 1001u, 2000u, 123'457u})
    exchange_with_all(*wire, 9, length);
  const auto large_parts = make_wire({.part_bytes = 100'000});
  exchange_with_all(*large_parts, 9, 1'234'567);
}

TEST_F(MpiWireTest, ServesSeveralThreads) {
  const auto wire = make_wire();
  std::vector<std::thread> threads;
  for (Slot slot = 1; slot <= 4; ++slot)
    threads.emplace_back([&wire, slot] {
      for (std::size_t round = 0; round < 20; ++round)
        exchange_with_all(*wire, slot, 1 + round * 1500);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(MpiWireTest, GroupsOfSomeRanksHaveTheirOwnNumbers) {
  // Even and odd ranks, each in reverse order, at the same time.
  std::vector<int> members;
  for (int member = size() - 1; member >= 0; --member)
    if (member % 2 == rank() % 2) members.push_back(member);
  const auto mine =
      static_cast<int>(std::find(members.begin(), members.end(), rank()) - members.begin());
  const auto wire =
      make_mpi_wire(members, mine, fmt::format("{} {}", test_name(), rank() % 2), soon());
  std::vector<std::int64_t> values{mine, rank()};
  wire->native()->all_reduce(values, ReduceOp::sum, watch());
  const auto count = static_cast<std::int64_t>(members.size());
  EXPECT_EQ(values[0], count * (count - 1) / 2);
  EXPECT_EQ(values[1], std::accumulate(members.begin(), members.end(), std::int64_t{0}));
}

TEST_F(MpiWireTest, ManyGroupsAreMadeAndDestroyed) {
  for (int i = 0; i < 20; ++i) exchange_with_all(*make_wire(), 1, 10'000);
}

TEST_F(MpiWireTest, AbandonedReceiveTakesNoMessage) {
  const auto wire = make_wire();
  if (size() == 1) return;
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  for (int round = 0; round < 10; ++round) {
    Bytes given_up(5000, std::byte{77});
    auto receive = wire->receive(previous, 5, given_up);
    EXPECT_FALSE(receive->done());
    EXPECT_FALSE(receive->wait_for(std::chrono::milliseconds(1)));
    receive.reset();
    std::vector<float> nothing{1};
    wire->native()->all_reduce(nothing, ReduceOp::sum, watch());  // all have abandoned theirs
    const Bytes out = pattern(rank(), next, 5, 5000);
    const auto send = wire->send(next, 5, out);
    Bytes in(5000);
    finish(*wire->receive(previous, 5, in));
    finish(*send);
    EXPECT_EQ(in, pattern(previous, rank(), 5, 5000));
    EXPECT_EQ(given_up, Bytes(5000, std::byte{77}));
  }
}

// The following tests leave MPI unusable or unfinalized, so each runs in separate processes.

TEST_F(MpiWireTest, LastClose) {
  const auto wire = make_wire();
  Bytes bytes(10);
  const int peer = (rank() + 1) % size();
  const auto receive = wire->receive(peer, 1, bytes);
  EXPECT_FALSE(receive->done());
  wire->close();
  using testing::expect_error;
  expect_error<Error>([&] { receive->done(); }, {"LastClose", "closed"});
  expect_error<Error>([&] { receive->wait_for(std::chrono::milliseconds(10)); }, {"closed"});
  expect_error<Error>([&] { wire->send(peer, 1, bytes); }, {"closed"});
  expect_error<Error>([&] { wire->receive(peer, 1, bytes); }, {"closed"});
  expect_error<Error>(
      [&] {
        wire->native()->all_reduce(ArrayView(bytes.data(), 10, DataType::uint8), ReduceOp::sum,
                                   watch());
      },
      {"closed"});
}

TEST_F(MpiWireTest, LastAbandonedSend) {
  auto wire = make_wire();
  if (rank() == 0) {
    Bytes bytes(5'000'000);
    wire->send(1, 1, bytes).reset();  // without a receive
    testing::expect_error<Error>([&] { wire->send(1, 1, bytes); },
                                 {"MPI cannot be used any more", "was abandoned"});
    EXPECT_THROW(make_wire(), Error);
  }
  wire->close();
}

TEST_F(MpiWireTest, LastAbandonedCollective) {
  auto wire = make_wire();
  if (rank() == 0) {
    std::vector<float> values(100'000);
    const Watch impatient = [] { throw TimeoutError("rank 1 did not come"); };
    testing::expect_error<TimeoutError>(
        [&] { wire->native()->all_reduce(values, ReduceOp::sum, impatient); }, {"did not come"});
    testing::expect_error<Error>([&] { wire->native()->broadcast(values, 0, watch()); },
                                 {"MPI cannot be used any more", "all_reduce"});
  }
  wire->close();
}

TEST_F(MpiWireTest, LastMissingMember) {
  const std::vector<int> members{0, 1};
  if (rank() == 0)
    testing::expect_error<TimeoutError>(
        [&] { make_mpi_wire(members, 0, "pair", Deadline::after(std::chrono::milliseconds(300))); },
        {"not all 2 members", "pair"});
  MpiRuntime::instance().skip_finalize();
}

// Without a notice the other rank would wait forever.
TEST_F(MpiWireTest, LastFinalizeSkippedByOneRank) {
  if (rank() == 0) MpiRuntime::instance().skip_finalize();
}

// A wire that still exists when the process exits, on one rank only.
TEST_F(MpiWireTest, LastWireLeakedByOneRank) {
  auto wire = make_wire();
  if (rank() == 0) static_cast<void>(wire.release());
}

}  // namespace
}  // namespace lockstep::internal::comm
