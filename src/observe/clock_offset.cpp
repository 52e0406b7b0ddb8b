#include "observe/clock_offset.h"

#include "base/files.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lockstep::internal::observe {

namespace {

constexpr int kRounds = 20;
constexpr int kTag = 1;
constexpr std::size_t kIdentityBytes = 64;  ///< identities are compared up to this length

void answer(Group& group, int rank, const std::function<double()>& clock) {
  double time = 0;
  for (int round = 0; round < kRounds; ++round) {
    group.recv(std::span(&time, 1), rank, kTag);
    time = clock();
    group.send(std::span(&time, 1), rank, kTag);
  }
}

ClockOffset ask(Group& group, const std::function<double()>& clock) {
  ClockOffset best{.seconds = 0, .uncertainty = std::numeric_limits<double>::infinity()};
  for (int round = 0; round < kRounds; ++round) {
    const double asked = clock();
    group.send(std::span(&asked, 1), 0, kTag);
    double theirs = 0;
    group.recv(std::span(&theirs, 1), 0, kTag);
    const double answered = clock();
    const double uncertainty = (answered - asked) / 2;
    if (uncertainty < best.uncertainty) best = {theirs - (asked + answered) / 2, uncertainty};
  }
  return best;
}

}  // namespace

std::string clock_identity() {
  const std::string text = read_system_file("/proc/sys/kernel/random/boot_id");
  return text.substr(0, text.find('\n'));
}

ClockOffset offset_to_rank_zero(Group& group, const std::string& identity,
                                const std::function<double()>& clock) {
  std::vector<std::uint8_t> mine(identity.begin(), identity.end());
  mine.resize(kIdentityBytes);
  std::vector<std::uint8_t> all(mine.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  auto shares_clock_with_zero = [&](int rank) {
    const auto* its = all.data() + mine.size() * static_cast<std::size_t>(rank);
    return !identity.empty() && std::equal(its, its + mine.size(), all.data());
  };
  ClockOffset offset;
  for (int rank = 1; rank < group.size(); ++rank) {
    if (shares_clock_with_zero(rank)) continue;
    if (group.rank() == 0) answer(group, rank, clock);
    if (group.rank() == rank) offset = ask(group, clock);
  }
  return offset;
}

}  // namespace lockstep::internal::observe
