// direct: collectives without messages. Every rank shows an array in memory that all ranks have
// mapped, the ranks meet, each reads from (and for an all-reduce writes to) the others' arrays, and
// they meet again: before the first meeting arrays may still be filled; after the second they may
// be used.
//
//   all_reduce      rank r adds slice r of all W arrays and writes the sum into slice r of all of
//                   them: each byte is read once and written once, against the 2(W−1) messages of a
//                   ring. A short array is shown as a copy instead, and every rank adds all of it
//                   for itself: since nobody writes for others, the ranks need to meet only once
//   reduce_scatter  rank r adds part r of all arrays into its own
//   all_gather      every rank copies the others' parts
//   broadcast       every rank copies root's array
//
// Additions follow the fixed tree of reduce_tree. Arrays from elsewhere than Group::allocate are
// shown piece by piece in a staging area.
#pragma once

#include "comm/shared/meeting.h"
#include "comm/transport.h"

#include <functional>
#include <vector>

namespace lockstep::comm {

class SharedDirect : public DirectCollectives {
 public:
  static constexpr std::size_t kLine = 64;  ///< bytes of a cache line

  /// Each rank's staging area holds a piece of a long array, and behind it two slots for short
  /// ones: by the parity of the meeting's number, as a rank may show its next array while others
  /// still read the last. Pieces need no second room, because the ranks meet again after each.
  static constexpr std::size_t kShortBytes = 16 * 1024;
  static constexpr std::size_t kPieceBytes = Blackboard::kStagingBytes - 2 * kShortBytes - kLine;

  /// Where an array lies, seen from all ranks; Location::kStaged if others cannot reach it.
  using Locate = std::function<Location(const void* data, std::size_t bytes)>;
  /// The address at which this process sees a place in `rank`'s memory.
  using Resolve = std::function<std::byte*(int rank, const Location& location)>;

  SharedDirect(Blackboard board, int rank, Meeting& meeting, Locate locate, Resolve resolve);

  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override;
  void reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine, ReduceOp op,
                      const Deadline& deadline) override;
  void all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                  const Deadline& deadline) override;
  void broadcast(const Fingerprint& call, ArrayView data, int root,
                 const Deadline& deadline) override;

  std::uint64_t bytes_moved() const { return bytes_moved_.load(std::memory_order_relaxed); }

 private:
  /// What this rank shows to the others. All ranks' arrays have the same count.
  struct Shown {
    ArrayView data;
    bool is_shown = true;     ///< or this rank only looks
    bool is_written = false;  ///< by the others, too
  };
  Location place(const Shown& shown) const;
  bool is_short(const ArrayView& data) const;
  void all_reduce_short(const Fingerprint& call, ArrayView data, ReduceOp op,
                        const Deadline& deadline);
  std::byte* short_slot(int rank, std::uint64_t meeting) const;

  /// Calls piece(begin, count) with elements [begin, begin + count) of all ranks' arrays in
  /// arrays_; null for a rank that shows none.
  template <typename Piece>
  void each_piece(const Fingerprint& call, const Shown& shown, Piece piece,
                  const Deadline& deadline);
  void announce(const Fingerprint& call, Location mine, const Deadline& deadline);
  void resolve_arrays(std::size_t skipped_bytes);
  void advance_arrays(std::size_t bytes);
  void count_bytes(std::size_t bytes) { bytes_moved_.fetch_add(bytes, std::memory_order_relaxed); }
  std::size_t ranks() const { return static_cast<std::size_t>(board_.size()); }

  const Blackboard board_;
  const int rank_;
  Meeting& meeting_;
  const Locate locate_;
  const Resolve resolve_;
  // Of the collective that runs, by rank; kept from one to the next, so that none allocates.
  std::vector<Location> places_;
  std::vector<void*> arrays_;
  std::atomic<std::uint64_t> bytes_moved_{0};
};

}  // namespace lockstep::comm
