// The speed of links as text, and hosts that are network namespaces: root only, skipped elsewhere.
#include "launch/hosts/network_hosts.h"

#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/deadline.h"
#include "launch/job.h"
#include "launch/process/tool.h"
#include "support/errors.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace lockstep::internal::launch {
namespace {

using testing::expect_error;

TEST(NetworkLink, ParsesItsUnit) {
  EXPECT_EQ(parse_bandwidth("1gbit", "--bandwidth"), 1'000'000'000u);
  EXPECT_EQ(parse_bandwidth("2.5gbit", "--bandwidth"), 2'500'000'000u);
  EXPECT_EQ(parse_bandwidth("100mbit", "--bandwidth"), 100'000'000u);
  EXPECT_EQ(parse_bandwidth("8kbit", "--bandwidth"), 8'000u);
  EXPECT_EQ(parse_latency("50us", "--latency").count(), 50);
  EXPECT_EQ(parse_latency("1.5ms", "--latency").count(), 1500);
}

TEST(NetworkLink, InvalidTextsAreRejected) {
  for (const char* text : {"", "1", "gbit", "1gb", "1 gbit", "-1gbit", "0gbit", "7kbit", "2000gbit",
                           "nangbit", "1gbits"})
    expect_error<UsageError>([&] { parse_bandwidth(text, "--bandwidth"); },
                             {"--bandwidth is '", "kbit, mbit or gbit"});
  for (const char* text : {"", "5", "us", "5s", "-5us", "2000ms"})
    expect_error<UsageError>([&] { parse_latency(text, "--latency"); },
                             {"--latency is '", "us or ms"});
}

TEST(NetworkLink, FormatsItsUnit) {
  EXPECT_EQ((NetworkLink{1'000'000'000}.text()), "1 Gbit/s");
  EXPECT_EQ((NetworkLink{2'500'000, std::chrono::microseconds(50)}.text()), "2.5 Mbit/s and 50 µs");
  EXPECT_EQ((NetworkLink{9'000, std::chrono::microseconds(1500)}.text()), "9 kbit/s and 1.5 ms");
}

TEST(Tool, ReportsItsErrorOutput) {
  run_tool({"true"});
  expect_error<Error>(
      [] {
        run_tool({"ls", "/no/such/folder"});
      },
      {"'ls /no/such/folder' failed: ", "No such file"});
  expect_error<Error>([] { run_tool({"sh", "-c", "kill -9 $$"}); }, {"kill -9", "signal 9"});
  expect_error<Error>([] { run_tool({"no-such-tool"}); }, {"cannot run 'no-such-tool'"});
  expect_error<UsageError>([] { require_tool("no-such-tool", "its package"); },
                           {"no-such-tool is not installed: install its package"});
}

ino_t namespace_of_this_thread() {
  struct stat status {};
  ::stat("/proc/thread-self/ns/net", &status);
  return status.st_ino;
}

class MadeHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      hosts_.emplace(3, NetworkLink{100'000'000});
    } catch (const UsageError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  const ino_t before_ = namespace_of_this_thread();
  std::optional<NetworkHosts> hosts_;
};

TEST_F(MadeHosts, EndWithTheirProcess) {
  EXPECT_NE(namespace_of_this_thread(), before_);
  hosts_.reset();
  EXPECT_EQ(namespace_of_this_thread(), before_);
}

TEST_F(MadeHosts, CarryAnAllReduceNoFasterThanTheirLinks) {
  const JobResult result = run_forked({.workers = 3, .hosts = &*hosts_}, [&] {
    const Group group = init({.transport = "gloo"});
    std::vector<float> values(1 << 20, 1.0f);  // each rank sends 4/3 of its 4 MiB
    Group copy = group;
    copy.barrier();
    const double start = now_seconds();
    copy.all_reduce(values, ReduceOp::sum, Algorithm::ring);
    const double seconds = now_seconds() - start;
    const double fastest = 4.0 / 3 * static_cast<double>(values.size()) * sizeof(float) / 12.5e6;
    return values.front() == 3.0f && seconds > 0.9 * fastest ? 0 : 1;
  });
  EXPECT_EQ(result.code(), 0);
}

TEST_F(MadeHosts, AreTooFewForMoreWorkers) {
  expect_error<UsageError>([&] { run_forked({.workers = 4, .hosts = &*hosts_}, [] { return 0; }); },
                           {"4 workers need 4 hosts, not 3"});
}

TEST_F(MadeHosts, CanBeMadeWhileOthersExist) {
  const NetworkHosts more(2, {});
  EXPECT_EQ(more.count(), 2);
}

TEST(HostsRefused, WithoutRoot) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(2);
    try {
      const NetworkHosts hosts(1, {});
      std::_Exit(1);
    } catch (const UsageError& error) {
      std::_Exit(std::string(error.what()).find("only root") == std::string::npos ? 3 : 0);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HostsRefused, WithAnInvalidNumber) {
  expect_error<UsageError>([] { NetworkHosts(0, {}); }, {"from 1 to 200, not 0"});
  expect_error<UsageError>([] { NetworkHosts(201, {}); }, {"from 1 to 200, not 201"});
}

}  // namespace
}  // namespace lockstep::internal::launch
