// direct: an all-reduce without messages. Every rank's array lies in memory that all ranks have
// mapped. The array is cut into W slices; rank r reads slice r of all W arrays, adds along the
// fixed tree of reduce_tree, and writes the result into slice r of all W arrays. Two meetings frame
// it: before the first, arrays may still be filled; after the second, all slices are written.
//
// Each byte is read once and written once per rank: two passes over memory in all, against the
// 2(W−1) messages of a ring. Arrays from elsewhere than Group::allocate go through staging areas,
// piece by piece.
#pragma once

#include "comm/shared/meeting.h"
#include "comm/transport.h"

#include <functional>

namespace lockstep::comm {

class SharedDirect : public DirectCollectives {
 public:
  /// Where an array lies, seen from all ranks; Location::kStaged if others cannot reach it.
  using Locate = std::function<Location(const void* data, std::size_t bytes)>;
  /// The address at which this process sees a place in `rank`'s memory.
  using Resolve = std::function<std::byte*(int rank, const Location& location)>;

  SharedDirect(Blackboard board, int rank, Meeting& meeting, Locate locate, Resolve resolve);

  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override;

  std::uint64_t bytes_moved() const { return bytes_moved_.load(std::memory_order_relaxed); }

 private:
  std::vector<Location> announce(const Fingerprint& call, Location mine, const Deadline& deadline);
  void reduce_my_slice(const std::vector<std::byte*>& arrays, std::size_t count, DataType type,
                       ReduceOp op);

  const Blackboard board_;
  const int rank_;
  Meeting& meeting_;
  const Locate locate_;
  const Resolve resolve_;
  std::atomic<std::uint64_t> bytes_moved_{0};
};

}  // namespace lockstep::comm
