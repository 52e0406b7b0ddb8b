// Joining a run by hand, with torchrun's variables, and errors in them.
#include "launch/rendezvous/join_run.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/net/socket.h"
#include "launch/rendezvous/store_server.h"
#include "support/errors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace lockstep::internal::launch {

namespace {

using std::chrono::milliseconds;
using testing::expect_error;

using Map = std::map<std::string, std::string>;

/// A rank's variables, for the lifetime of the object.
class Variables {
 public:
  explicit Variables(Map values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  const Map values_;
};

/// Torchrun's variables for one of two ranks, and others.
Map rank_of_two(int rank, int port, Map more = {}) {
  more.insert({{"RANK", std::to_string(rank)},
               {"WORLD_SIZE", "2"},
               {"MASTER_ADDR", "127.0.0.1"},
               {"MASTER_PORT", std::to_string(port)}});
  return more;
}

void join(const GroupOptions& options = {}) {
  join_run(options, Deadline::after(milliseconds(300)));
}

}  // namespace

TEST(Join, MissingMasterIsNamed) {
  Address address{"127.0.0.1", port_of(listen_on({"127.0.0.1", 0}))};  // free again
  const Variables place(rank_of_two(1, address.port));
  expect_error<TimeoutError>([] { join(); }, {fmt::format("no rendezvous at {}", address.text()),
                                              "can this host reach it"});
}

TEST(Join, UnresolvedMasterIsNamed) {
  const Variables place(rank_of_two(1, 29500, {{"MASTER_ADDR", "no-such-host.invalid"}}));
  expect_error<UsageError>([] { join(); }, {"'no-such-host.invalid'", "no host of that name"});
}

TEST(Join, RankZeroReportsAPortInUse) {
  const UniqueFd taken = listen_on({"127.0.0.1", 0});
  const Variables place(rank_of_two(0, port_of(taken)));
  expect_error<Error>([] { join(); }, {fmt::format("cannot listen on 127.0.0.1:{}", port_of(taken)),
                                       "Choose another port"});
}

TEST(Join, WithoutATokenOnlyLoopbackIsServed) {
  const Variables place(rank_of_two(0, 29500, {{"MASTER_ADDR", "0.0.0.0"}}));
  expect_error<UsageError>([] { join(); }, {"would accept any process", "LOCKSTEP_TOKEN"});
}

TEST(Join, WrongTokenIsRejectedAndNotShown) {
  StoreServer server({"127.0.0.1", 0}, "the token of the run");
  server.start();
  const Variables place(
      rank_of_two(1, server.address().port, {{"LOCKSTEP_TOKEN", "some other secret"}}));
  try {
    join();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string_view text = error.what();
    EXPECT_NE(text.find("refused this process's token"), text.npos) << text;
    EXPECT_EQ(text.find("some other secret"), text.npos) << text;
  }
}

TEST(Join, MissingInterfaceIsNamed) {
  StoreServer server({"127.0.0.1", 0}, "");
  server.start();
  {
    const Variables place(rank_of_two(1, server.address().port));
    GroupOptions options;
    options.interface = std::string("nix0");
    expect_error<UsageError>([&] { join(options); },
                             {"no network interface 'nix0'", "lo (127.0.0.1)"});
  }
  const Variables place(rank_of_two(1, server.address().port, {{"LOCKSTEP_INTERFACE", "nix1"}}));
  expect_error<UsageError>([] { join(); }, {"no network interface 'nix1'"});
}

TEST(Join, UnknownTransportErrorListsTheTransports) {
  StoreServer server({"127.0.0.1", 0}, "");
  server.start();
  const Variables place(rank_of_two(1, server.address().port, {{"LOCKSTEP_TRANSPORT", "pigeon"}}));
  expect_error<UsageError>([&] { init(); }, {"unknown transport 'pigeon'", "auto, ", "shm"});
}

}  // namespace lockstep::internal::launch
