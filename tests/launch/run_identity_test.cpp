// A leftover process of a run cannot join another run, although it knows the port and the token.
#include "launch/environment/run_identity.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "comm/mesh/peer_sockets.h"
#include "launch/rendezvous/join_run.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <thread>

namespace lockstep::internal::launch {
namespace {

using std::chrono::milliseconds;
using testing::expect_error;

constexpr const char* kToken = "0123456789abcdef";

Deadline long_enough() {
  return Deadline::after(milliseconds(60'000));
}

TEST(RunIdentity, IsDrawnByTheRendezvousAndLearnedThere) {
  StoreServer one({"127.0.0.1", 0}, kToken);
  StoreServer other({"127.0.0.1", 0}, kToken);
  one.start();
  EXPECT_EQ(one.run().size(), 32u);
  EXPECT_NE(one.run(), other.run());
  EXPECT_EQ(StoreClient(one.address(), kToken, long_enough()).run(), one.run());
}

TEST(RunIdentity, ProcessOfAnotherRunIsRejected) {
  StoreServer server({"127.0.0.1", 0}, kToken, "the next run");
  server.start();
  EXPECT_NO_THROW(StoreClient(server.address(), kToken, long_enough(), "the next run"));
  expect_error<OtherRunError>(
      [&] { StoreClient(server.address(), kToken, long_enough(), "the run before"); },
      {"belongs to run the next run", "this process belongs to run the run before",
       "leftover process"});
}

TEST(RunIdentity, ProcessOfAnEarlierStartIsRejected) {
  StoreServer server({"127.0.0.1", 0}, kToken, name_start("a run", 1));
  server.start();
  EXPECT_EQ(StoreClient(server.address(), kToken, long_enough(), "a run").run(), "a run/1");
  EXPECT_EQ(StoreClient(server.address(), kToken, long_enough(), "a run/1").run(), "a run/1");
  expect_error<RendezvousLostError>(
      [&] { StoreClient(server.address(), kToken, long_enough(), "a run/0"); },
      {"started again (a run/1)", "an earlier start (a run/0)"});
}

TEST(RunIdentity, IsComparedOnEveryNewConnection) {
  std::optional<StoreServer> server(std::in_place, Address{"127.0.0.1", 0}, kToken);
  const Address address = server->address();
  server->start();
  StoreClient client(address, kToken, long_enough());
  server.reset();
  server.emplace(address, kToken);  // the next run, at the same port
  server->start();
  for (bool turned_away = false; !turned_away;) {
    try {
      client.set("rank 0", "pid 1");
      FAIL() << "set in another run";
    } catch (const OtherRunError&) {
      turned_away = true;
    } catch (const Error&) {
      // The old connection is gone.
    }
  }
  EXPECT_FALSE(StoreClient(address, kToken, long_enough()).look("rank 0"));
}

TEST(RunIdentity, LaunchedRankComparesItBeforeItJoins) {
  StoreServer server({"127.0.0.1", 0}, kToken);
  server.start();
  const std::pair<const char*, std::string> variables[] = {
      {"LOCKSTEP_RANK", "0"},
      {"LOCKSTEP_WORLD_SIZE", "2"},
      {"LOCKSTEP_RENDEZVOUS", server.address().text()},
      {"LOCKSTEP_TOKEN", kToken},
      {"LOCKSTEP_RUN", "the run before"}};
  for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
  expect_error<OtherRunError>([] { init(); }, {"leftover process"});
  for (const auto& [name, value] : variables) ::unsetenv(name);
  EXPECT_FALSE(StoreClient(server.address(), kToken, long_enough()).look("rank 0"));
}

TEST(RunIdentity, RanksOfTwoRunsDoNotConnect) {
  StoreServer server({"127.0.0.1", 0}, kToken);
  server.start();
  const auto store = std::make_shared<StoreClient>(server.address(), kToken, long_enough());
  const auto connect = [&](int rank, const std::string& run, milliseconds timeout) {
    comm::connect_peers({store, kToken, "127.0.0.1", run}, comm::Membership::world(rank, 2), 1,
                        Deadline::after(timeout));
  };
  std::thread zero([&] { EXPECT_THROW(connect(0, "this run", milliseconds(3000)), TimeoutError); });
  expect_error<Error>([&] { connect(1, "another run", milliseconds(60'000)); },
                      {"refused", "leftover process of another run"});
  zero.join();
}

}  // namespace
}  // namespace lockstep::internal::launch
