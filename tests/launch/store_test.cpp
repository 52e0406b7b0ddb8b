#include <lockstep/error.h>

#include "base/random.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/socket.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace lockstep::internal::launch {
namespace {

using std::chrono::milliseconds;
using testing::expect_error;

Deadline soon() {
  return Deadline::after(milliseconds(5000));
}

TEST(Store, GetWaitsForSet) {
  StoreServer server;
  server.start();
  StoreClient reader(server.address(), "", soon());
  std::jthread writer([&] {
    StoreClient client(server.address(), "", soon());
    std::this_thread::sleep_for(milliseconds(50));
    client.set("key", "value");
  });
  EXPECT_EQ(reader.get("key", soon()), "value");
  EXPECT_EQ(reader.get("key", soon()), "value");
}

TEST(Store, ValuesMayBeAnyBytes) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  const std::string bytes("a\0b\xff", 4);
  client.set("", bytes);
  client.set("long", std::string(20'000, 'x'));
  EXPECT_EQ(client.get("", soon()), bytes);
  EXPECT_EQ(client.get("long", soon()).size(), 20'000u);
}

TEST(Store, SecondClaimIsRejected) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  client.set("rank 3", "pid 7");
  try {
    client.set("rank 3", "pid 8");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "two processes claim to be rank 3, one of them pid 7: start each only once");
  }
}

TEST(Store, FirstValueWins) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  EXPECT_EQ(client.look("members"), std::nullopt);
  EXPECT_EQ(client.set_first("members", "0 1 3"), "0 1 3");
  EXPECT_EQ(client.set_first("members", "0 3"), "0 1 3");
  EXPECT_EQ(client.look("members"), "0 1 3");
}

TEST(Store, UnsetKeyIsATimeout) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  EXPECT_THROW(client.get("never", Deadline::after(milliseconds(100))), TimeoutError);
}

TEST(Store, SignalDoesNotExtendTheDeadline) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  struct sigaction action {};
  action.sa_handler = [](int) {};
  struct sigaction before {};
  ::sigaction(SIGUSR1, &action, &before);
  const pthread_t waiting = ::pthread_self();
  std::jthread disturber([waiting] {
    std::this_thread::sleep_for(milliseconds(50));
    ::pthread_kill(waiting, SIGUSR1);
  });
  EXPECT_THROW(client.get("never", Deadline::after(milliseconds(200))), TimeoutError);
  disturber.join();
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(Store, NoServerIsATimeoutThatNamesTheAddress) {
  Address address;
  {
    StoreServer server;
    address = server.address();
  }
  try {
    StoreClient client(address, "", Deadline::after(milliseconds(100)));
    FAIL();
  } catch (const TimeoutError& error) {
    EXPECT_NE(std::string(error.what()).find(address.text()), std::string::npos);
  }
}

TEST(Store, PortInUseErrorNamesIt) {
  StoreServer server;
  EXPECT_THROW(StoreServer second(server.address()), Error);
}

TEST(Store, UnauthenticatedConnectionsAreNotServed) {
  EXPECT_THROW(StoreServer server({"0.0.0.0", 0}), UsageError);
  StoreServer server({"127.0.0.1", 0}, "secret");
  server.start();
  StoreClient good(server.address(), "secret", soon());
  expect_error<Error>([&] { StoreClient(server.address(), "", soon()); }, {"LOCKSTEP_TOKEN"});
  good.set("key", "value");
  EXPECT_EQ(good.get("key", soon()), "value");
}

TEST(Store, WaitingGetDoesNotBlockOtherThreads) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  std::vector<std::jthread> waiting;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i)
    waiting.emplace_back([&] { right += client.get("late", soon()) == "value" ? 1 : 0; });
  for (int i = 0; i < 50; ++i) {
    client.set(std::to_string(i), "other");
    EXPECT_EQ(client.get(std::to_string(i), soon()), "other");
  }
  client.set("late", "value");
  waiting.clear();
  EXPECT_EQ(right, 8);
}

TEST(Store, LateAnswerIsNotTakenForAnother) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  EXPECT_THROW(client.get("first", Deadline::after(milliseconds(50))), TimeoutError);
  client.set("first", "1");
  client.set("second", "2");
  EXPECT_EQ(client.get("second", soon()), "2");
}

TEST(Store, WaitForAnEndedRankIsAnswered) {
  StoreServer server;
  server.start();
  StoreClient client(server.address(), "", soon());
  client.set("early", "value");
  std::jthread launcher([&] {
    std::this_thread::sleep_for(milliseconds(50));
    server.note_ending(2, "was ended by signal 9 (Killed)");
    server.note_ending(2, "was seen later");
  });
  const std::string message =
      "rank 2 was ended by signal 9 (Killed) before it joined the run ('key' was never set)";
  for (int i = 0; i < 2; ++i) {
    try {
      client.get("key", soon(), 2);
      FAIL();
    } catch (const PeerLostError& error) {
      EXPECT_EQ(error.rank(), 2);
      EXPECT_EQ(error.what(), message);
    }
  }
  EXPECT_EQ(client.get("early", soon(), 2), "value");
  EXPECT_THROW(client.get("key", Deadline::after(milliseconds(50)), 1), TimeoutError);
}

TEST(Store, ReportsHowARankEnded) {
  StoreServer server;
  server.note_ending(1, "exited with code 3");
  server.start();
  StoreClient client(server.address(), "", soon());
  EXPECT_EQ(client.ending_of(1, milliseconds(5000)), "exited with code 3");
  EXPECT_EQ(client.ending_of(0, milliseconds(0)), std::nullopt);
  std::jthread other_host([&] {
    StoreClient launcher(server.address(), "", soon());
    std::this_thread::sleep_for(milliseconds(50));
    launcher.note_ending(0, "exited with code 4");
  });
  EXPECT_EQ(client.ending_of(0, milliseconds(5000)), "exited with code 4");
}

TEST(Store, RankIsLostWhenItsConnectionEnds) {
  StoreServer server;
  server.start();
  StoreClient asks(server.address(), "", soon());
  std::optional<StoreClient> ranks_client(std::in_place, server.address(), "", soon());
  for (int rank : {4, 5}) ranks_client->declare_lost_on_disconnect(rank);
  asks.note_ending(4, "exited with code 0");
  EXPECT_EQ(asks.ending_of(5, milliseconds(0)), std::nullopt);
  ranks_client.reset();
  EXPECT_EQ(asks.ending_of(5, milliseconds(5000)), "is lost with its launcher");
  EXPECT_EQ(asks.ending_of(4, milliseconds(5000)), "exited with code 0");
  EXPECT_EQ(asks.ending_of(6, milliseconds(0)), std::nullopt);
}

TEST(Store, WithoutAServerTheEndOfARankIsUnknown) {
  std::optional<StoreServer> server(std::in_place);
  server->start();
  StoreClient client(server->address(), "", soon());
  server.reset();
  EXPECT_EQ(client.ending_of(0, milliseconds(100)), std::nullopt);
  EXPECT_THROW(client.get("key", Deadline::after(milliseconds(100))), Error);
}

TEST(Store, ClientThatNeverReadsIsDroppedWithoutBlockingOthers) {
  StoreServer server;
  server.start();
  StoreClient good(server.address(), "", soon());
  good.set("big", std::string(kMaxValue, 'x'));
  AuthenticatedConnection deaf = connect_authenticated(server.address(), "", kStorePurpose, soon());
  set_blocking(deaf.socket, true);
  const std::string question =
      make_frame(StoreRequest{StoreRequest::Kind::get, "big", "", -1}.encode());
  ssize_t sent = 1;
  for (int i = 0; i < 100'000 && sent > 0; ++i)
    sent = ::send(deaf.socket.get(), question.data(), question.size(), MSG_NOSIGNAL);
  EXPECT_LE(sent, 0);
  EXPECT_EQ(good.get("big", soon()).size(), kMaxValue);
}

TEST(Store, GarbageDropsOnlyItsConnection) {
  StoreServer server;
  server.start();
  StoreClient good(server.address(), "", soon());
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    UniqueFd socket = connect_to(server.address(), soon());
    std::string garbage(1 + random.below(64), '\0');
    for (char& byte : garbage) byte = static_cast<char>(random.next());
    ::send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  good.set("key", "value");
  EXPECT_EQ(good.get("key", soon()), "value");
}

/// The answers that a session has ready.
std::string answers(StoreSession& session) {
  std::string text;
  while (auto payload = take_frame(session.outgoing()))
    text += std::to_string((*payload)[0]) + payload->substr(1) + ";";
  return text;
}

std::string question(const StoreRequest& request) {
  return make_frame(request.encode());
}

TEST(StoreSession, AnswersInOrderForAnyFragmentation) {
  StoreTable table;
  StoreSession session(table);
  const std::string bytes = question({StoreRequest::Kind::set, "key", "value", -1}) +
                            question({StoreRequest::Kind::get, "key", "", -1}) +
                            question({StoreRequest::Kind::set, "key", "other", -1});
  for (char byte : bytes) session.feed({&byte, 1});
  EXPECT_FALSE(session.broken());
  EXPECT_EQ(answers(session), "1;1value;2value;");
}

TEST(StoreSession, ClaimIsFreeForTheSameValueAfterItsConnectionEnded) {
  StoreTable table;
  auto first = std::make_unique<StoreSession>(table);
  StoreSession second(table);
  const auto claim = [](StoreSession& session, const std::string& value) {
    session.feed(question({StoreRequest::Kind::claim, "key", value, -1}));
    return answers(session);
  };
  EXPECT_EQ(claim(*first, "value"), "1;");
  EXPECT_EQ(claim(second, "value"), "2value;");
  first.reset();
  EXPECT_EQ(claim(second, "other"), "2value;") << "others may have read it";
  EXPECT_EQ(claim(second, "value"), "1value;");
  StoreSession third(table);
  EXPECT_EQ(claim(third, "value"), "2value;") << "it is the second one's";
}

TEST(StoreSession, AllowsOneRequestAtATime) {
  StoreTable table;
  StoreSession session(table);
  session.feed(question({StoreRequest::Kind::get, "key", "", -1}));
  EXPECT_FALSE(session.broken());
  session.feed(question({StoreRequest::Kind::get, "key", "", -1}));
  EXPECT_TRUE(session.broken());
}

TEST(StoreSession, StoreHasASizeLimit) {
  StoreTable table;
  StoreSession session(table);
  const std::string value(kMaxValue, 'x');
  std::string answer = "1;";
  std::size_t kept = 0;
  for (int i = 0; i < 10'000 && answer == "1;"; ++i) {
    session.feed(question({StoreRequest::Kind::set, std::to_string(i), value, -1}));
    answer = answers(session);
    if (answer == "1;") kept += value.size();
  }
  EXPECT_EQ(answer, "4;");
  EXPECT_LE(kept, StoreTable::kMaxBytes);
}

TEST(Frame, WorksForAnyFragmentationOfFrames) {
  const std::string whole = make_frame("hello") + make_frame("") + make_frame("world");
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    std::string buffer = whole.substr(0, cut);
    std::string text;
    while (auto payload = take_frame(buffer)) text += *payload + ";";
    buffer += whole.substr(cut);
    while (auto payload = take_frame(buffer)) text += *payload + ";";
    ASSERT_EQ(text, "hello;;world;");
  }
}

TEST(Frame, TooLongIsAnErrorNotAnAllocation) {
  std::string buffer("\xff\xff\xff\xff", 4);
  EXPECT_THROW(take_frame(buffer), Error);
}

TEST(Frame, RequestsAreDecodedOrRejected) {
  const StoreRequest request{StoreRequest::Kind::set, "key", "value", 7};
  const StoreRequest same = StoreRequest::decode(request.encode());
  EXPECT_EQ(same.key, "key");
  EXPECT_EQ(same.value, "value");
  EXPECT_EQ(same.rank, 7);
  EXPECT_THROW(StoreRequest::decode(""), Error);
  const std::string wrong_kind("\x09\x00\x00\x00\x00\x00\x00", 7);
  EXPECT_THROW(StoreRequest::decode(wrong_kind), Error);
  const std::string key_too_short("\x01\xff\xff\xff\xff\x05\x00key", 10);
  EXPECT_THROW(StoreRequest::decode(key_too_short), Error);
  const std::string ending_of_no_rank("\x03\xff\xff\xff\xff\x00\x00", 7);
  EXPECT_THROW(StoreRequest::decode(ending_of_no_rank), Error);
  const StoreRequest key_too_long{StoreRequest::Kind::get, std::string(kMaxKey + 1, 'k'), "", -1};
  EXPECT_THROW(StoreRequest::decode(key_too_long.encode()), Error);
}

}  // namespace
}  // namespace lockstep::internal::launch
