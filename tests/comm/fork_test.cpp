// Processes that a rank forks: they cannot use its group, and neither their actions nor their end
// affect the rank or its peers.
#include <lockstep/error.h>
#include <lockstep/group.h>

#include "support/ranks.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::internal {
namespace {

using testing::RankKind;
using testing::run_ranks;

class Fork : public ::testing::TestWithParam<RankKind> {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fork);
INSTANTIATE_TEST_SUITE_P(Kinds, Fork, ::testing::ValuesIn(testing::kinds(2)),
                         [](const auto& info) { return testing::name_of(info.param); });

constexpr int kSize = 2;
constexpr int kForks = 1;  ///< the rank that forks

void expect_sum(Group& group) {
  std::vector<float> values(1000, static_cast<float>(group.rank() + 1));
  group.all_reduce(values);
  EXPECT_EQ(values, std::vector<float>(1000, 3.0f));
}

/// A child that neither ends nor fails would block its parent: SIGALRM ends it.
int status_of_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body());
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// 0 if the call throws an error that mentions the fork, as it must in a child.
int refused(const std::function<void()>& call) {
  try {
    call();
    std::fprintf(stderr, "nothing was thrown in the child\n");
  } catch (const UsageError& error) {
    if (std::string(error.what()).find("forked") != std::string::npos) return 0;
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}

/// Runs `in_child` in a child of one rank, with the only copy of a group; then all ranks continue.
void run_child(RankKind kind, const std::function<int(std::optional<Group>& group)>& in_child) {
  run_ranks(kind, kSize, [&](Group world) {
    std::optional<Group> group = world.split(0);
    std::vector<float> values(10, 1.0f);
    group->all_reduce_async(values).wait();  // now the group has a thread, which children lack
    if (group->rank() == kForks) {
      EXPECT_EQ(status_of_child([&] { return in_child(group); }), 0);
    }
    for (int i = 0; i < 3; ++i) expect_sum(*group);
    group->all_reduce_async(values).wait();
    group.reset();
    expect_sum(world);
  });
}

TEST_P(Fork, ChildDestroysTheGroup) {
  run_child(GetParam(), [](std::optional<Group>& group) {
    group.reset();
    return 0;
  });
}

TEST_P(Fork, ChildReturnsFromMain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what the parent's other threads had allocated counts as leaked in the child";
#endif
  // Static objects are destroyed after main's objects: this is the last copy.
  static std::optional<Group> last;
  run_child(GetParam(), [](std::optional<Group>& group) -> int {
    last = *std::move(group);
    group.reset();
    std::exit(0);
  });
}

TEST_P(Fork, ChildCallsQuickExit) {
  run_child(GetParam(), [](std::optional<Group>&) -> int { std::quick_exit(0); });
}

TEST_P(Fork, ChildCallsTheGroup) {
  run_child(GetParam(), [](std::optional<Group>& group) {
    std::vector<float> values(1000, 5.0f);
    int failures = 0;
    failures += refused([&] { group->all_reduce(values); });
    failures += refused([&] { group->all_reduce_async(values).wait(); });
    failures += refused([&] { group->barrier(); });
    failures += refused([&] { group->send(values, 0); });
    failures += refused([&] { group->recv(values, 0); });
    failures += refused([&] { group->allocate(4096); });
    failures += refused([&] { group->split(0); });
    failures += refused([&] { group->counters(); });
    failures += refused([&] { group->observe({}); });
    failures += values != std::vector<float>(1000, 5.0f);
    failures += group->rank() != kForks || group->size() != kSize;
    return failures;
  });
}

TEST_P(Fork, ChildWithPendingWork) {
  run_ranks(GetParam(), kSize, [](Group world) {
    std::optional<Group> group = world.split(0);
    std::vector<float> sum(1000, 1.0f);
    std::vector<float> message(1000);
    if (group->rank() == kForks) {
      Work reduced = group->all_reduce_async(sum);
      Work continued = reduced.then([] {});
      Work received = group->irecv(message, 0);
      EXPECT_EQ(status_of_child([&] {
                  int failures = 0;
                  for (Work* work : {&reduced, &continued, &received}) {
                    failures += refused([&] { work->wait(); });
                    failures += !work->done();
                    *work = {};
                  }
                  group.reset();
                  return failures;
                }),
                0);
      world.barrier();
      continued.wait();
      received.wait();
      EXPECT_EQ(message, std::vector<float>(1000, 7.0f));
    } else {
      world.barrier();  // the peer has forked
      Work reduced = group->all_reduce_async(sum);
      message.assign(1000, 7.0f);
      group->send(message, kForks);
      reduced.wait();
    }
    EXPECT_EQ(sum, std::vector<float>(1000, 2.0f));
    expect_sum(*group);
  });
}

TEST_P(Fork, OtherPrograms) {
  run_ranks(GetParam(), kSize, [](Group group) {
    EXPECT_EQ(std::system("true"), 0);
    std::FILE* pipe = ::popen("echo hello", "r");
    ASSERT_NE(pipe, nullptr);
    char line[16] = "";
    EXPECT_NE(std::fgets(line, sizeof line, pipe), nullptr);
    EXPECT_EQ(::pclose(pipe), 0);
    expect_sum(group);
  });
}

}  // namespace
}  // namespace lockstep::internal
