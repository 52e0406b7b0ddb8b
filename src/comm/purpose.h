// Purpose: what the bytes that a rank sends are for. Code that communicates marks its thread with a
// PurposeMark; collectives and messages that it starts are counted under that purpose, also where
// another thread runs them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace lockstep::internal::comm {

enum class Purpose : std::uint8_t {
  gradients,
  weights,      ///< initial weights, updated weights, averages of weights
  batch_norm,   ///< statistics of batch norm
  metrics,      ///< losses, times, test results, traces
  votes,        ///< decisions that depend on all ranks: stop, share of a batch
  agreement,    ///< whether options, data, layouts and weights are the same on all ranks
  checkpoints,  ///< training state that is gathered to be written, or read and handed out
  other,
};

/// By purpose.
constexpr std::array<std::string_view, 8> kPurposes{
    "gradients", "weights", "batch_norm", "metrics", "votes", "agreement", "checkpoints", "other"};

using BytesByPurpose = std::array<std::uint64_t, kPurposes.size()>;

inline std::uint64_t total(const BytesByPurpose& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

inline BytesByPurpose added(BytesByPurpose sum, const BytesByPurpose& bytes) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += bytes[i];
  return sum;
}

inline thread_local Purpose current_purpose = Purpose::other;

/// What this thread sends while the mark exists has this purpose. The innermost mark counts.
class PurposeMark {
 public:
  explicit PurposeMark(Purpose purpose) : before_(current_purpose) { current_purpose = purpose; }
  ~PurposeMark() { current_purpose = before_; }
  PurposeMark(const PurposeMark&) = delete;
  PurposeMark& operator=(const PurposeMark&) = delete;

 private:
  const Purpose before_;
};

/// Thread safety: any thread may count and read.
class ByteCounter {
 public:
  void add(std::size_t bytes, Purpose purpose = current_purpose) {
    bytes_[static_cast<std::size_t>(purpose)].fetch_add(bytes, std::memory_order_relaxed);
  }
  BytesByPurpose bytes() const {
    BytesByPurpose bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = bytes_[i].load(std::memory_order_relaxed);
    return bytes;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kPurposes.size()> bytes_{};
};

}  // namespace lockstep::internal::comm
