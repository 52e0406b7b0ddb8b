#include "support/ranks.h"

#include <lockstep/init.h>

#include "launch/job.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

namespace lockstep::testing {

namespace {

/// One message a rank, in memory that forked ranks share with the test.
class Messages {
 public:
  explicit Messages(int size) : size_(static_cast<std::size_t>(size)) {
    memory_ = static_cast<char*>(::mmap(nullptr, size_ * kLength, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Messages() { ::munmap(memory_, size_ * kLength); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  char* of(int rank) { return memory_ + static_cast<std::size_t>(rank) * kLength; }
  void write(int rank, const std::string& text) {
    std::snprintf(of(rank), kLength, "%s", text.c_str());
  }

 private:
  static constexpr std::size_t kLength = 4096;
  std::size_t size_;
  char* memory_;
};

std::string message_of(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

int rank_of_this_process() {
  return std::atoi(std::getenv("LOCKSTEP_RANK"));
}

}  // namespace

void run_ranks(RankKind kind, int size, const std::function<void(Group)>& body,
               const GroupOptions& options) {
  if (kind == RankKind::thread) return run_threads(size, body, options);
  launch::JobResult result = launch::run_forked({.workers = size}, [&] {
    const std::string error = message_of([&] { body(init(options)); });
    if (!error.empty())
      std::fprintf(stderr, "rank %d: %s\n", rank_of_this_process(), error.c_str());
    return error.empty() && !::testing::Test::HasFailure() ? 0 : 1;
  });
  if (result.first_failure) ADD_FAILURE() << result.first_failure->text();
}

std::vector<std::string> errors_of_ranks(RankKind kind, int size,
                                         const std::function<void(Group)>& body,
                                         const GroupOptions& options) {
  Messages messages(size);
  if (kind == RankKind::thread) {
    run_threads(
        size,
        [&](const Group& group) { messages.write(group.rank(), message_of([&] { body(group); })); },
        options);
  } else {
    for (int rank = 0; rank < size; ++rank) messages.write(rank, "(died)");
    launch::run_forked({.workers = size}, [&] {
      messages.write(rank_of_this_process(), message_of([&] { body(init(options)); }));
      return 0;
    });
  }
  std::vector<std::string> texts;
  for (int rank = 0; rank < size; ++rank) texts.emplace_back(messages.of(rank));
  return texts;
}

}  // namespace lockstep::testing
