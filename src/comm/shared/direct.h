// direct: collectives without messages. Every rank exposes an array in memory that all ranks have
// mapped, and the ranks pass two barriers. Before the first one, arrays may still be filled;
// between the two, each rank reads the others' arrays (and, for an all-reduce, writes to them);
// after the second, the arrays may be used.
//
//   all_reduce      rank r adds slice r of all W arrays and writes the sum into slice r of all of
//                   them: each byte is read once and written once, against the 2(W−1) messages of a
//                   ring. A short array is exposed as a copy instead, and every rank adds all of it
//                   for itself: no rank writes for others, so one barrier is enough
//   reduce_scatter  rank r adds part r of all arrays into its own
//   all_gather      every rank copies the others' parts
//   broadcast       every rank copies the root's array
//
// Additions follow the fixed tree of reduce_tree. Arrays that were not allocated by Group::allocate
// are exposed piece by piece in a staging area.
#pragma once

#include "comm/shared/shared_barrier.h"
#include "comm/transport.h"

#include <functional>
#include <vector>

namespace lockstep::internal::comm {

class SharedDirect : public DirectCollectives {
 public:
  static constexpr std::size_t kLine = 64;  ///< bytes of a cache line

  /// Each rank's staging area holds a piece of a long array, followed by two slots for short ones.
  /// The slot is chosen by the parity of the barrier's number, because a rank may expose its next
  /// array while others still read the last. Pieces need no second slot, because a barrier follows
  /// each piece.
  static constexpr std::size_t kShortBytes = 16 * 1024;
  static constexpr std::size_t kPieceBytes = GroupMemory::kStagingBytes - 2 * kShortBytes - kLine;

  /// The location of an array, valid on all ranks; Location::kStaged if other ranks cannot access
  /// it.
  using Locate = std::function<Location(const void* data, std::size_t bytes)>;
  /// The address of a location in `rank`'s memory, as mapped in this process.
  using Resolve = std::function<std::byte*(int rank, const Location& location)>;

  SharedDirect(GroupMemory group_memory, int rank, SharedBarrier& barrier, Locate locate,
               Resolve resolve);

  void all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                  const Deadline& deadline) override;
  void reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine, ReduceOp op,
                      const Deadline& deadline) override;
  void all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                  const Deadline& deadline) override;
  void broadcast(const Fingerprint& call, ArrayView data, int root,
                 const Deadline& deadline) override;

  BytesByPurpose bytes_moved() const { return moved_.bytes(); }

 private:
  /// The array that this rank exposes to the others. All ranks' arrays have the same count.
  struct Shown {
    ArrayView data;
    bool is_shown = true;     ///< false: this rank only reads
    bool is_written = false;  ///< whether other ranks write to it
  };
  Location place(const Shown& shown) const;
  bool is_short(const ArrayView& data) const;
  void all_reduce_short(const Fingerprint& call, ArrayView data, ReduceOp op,
                        const Deadline& deadline);
  std::byte* short_slot(int rank, std::uint64_t number) const;

  /// Calls piece(begin, count) with the elements [begin, begin + count) of all ranks' arrays in
  /// arrays_; null for a rank that exposes none.
  template <typename Piece>
  void each_piece(const Fingerprint& call, const Shown& shown, Piece piece,
                  const Deadline& deadline);
  void announce(const Fingerprint& call, Location mine, const Deadline& deadline);
  void resolve_arrays(std::size_t skipped_bytes);
  void advance_arrays(std::size_t bytes);
  std::size_t ranks() const { return static_cast<std::size_t>(group_memory_.size()); }

  const GroupMemory group_memory_;
  const int rank_;
  SharedBarrier& barrier_;
  const Locate locate_;
  const Resolve resolve_;
  // State of the running collective, by rank; kept between collectives to avoid allocation.
  std::vector<Location> places_;
  std::vector<void*> arrays_;
  ByteCounter moved_;
};

}  // namespace lockstep::internal::comm
