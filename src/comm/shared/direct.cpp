#include "comm/shared/direct.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

/// Total bytes of all ranks' arrays up to which every rank reads them all faster than it would pass
/// a second barrier.
constexpr std::size_t kShortTotal = 64 * 1024;

/// An array that the other ranks read but do not write.
ArrayView shown_only(const ConstArrayView& view) {
  return {const_cast<void*>(view.data), view.count, view.type};
}

}  // namespace

SharedDirect::SharedDirect(GroupMemory group_memory, int rank, SharedBarrier& barrier,
                           Locate locate, Resolve resolve)
    : group_memory_(group_memory),
      rank_(rank),
      barrier_(barrier),
      locate_(std::move(locate)),
      resolve_(std::move(resolve)),
      places_(ranks()),
      arrays_(ranks()) {}

void SharedDirect::all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                              const Deadline& deadline) {
  if (is_short(data)) return all_reduce_short(call, data, op, deadline);
  const std::size_t width = size_of(data.type);
  auto reduce_my_slice = [&](std::size_t, std::size_t count) {
    // Slices end at cache lines, so that no two ranks write to the same line.
    const std::size_t line = kLine / width;
    const std::size_t slice = (count / ranks() + line) / line * line;
    const std::size_t begin = std::min(count, static_cast<std::size_t>(rank_) * slice);
    const std::size_t length = std::min(slice, count - begin);
    if (length == 0) return;
    advance_arrays(begin * width);
    reduce_tree(arrays_, arrays_, length, data.type, op);
    moved_.add(2 * (ranks() - 1) * length * width);
  };
  each_piece(call, {data, true, true}, reduce_my_slice, deadline);
}

bool SharedDirect::is_short(const ArrayView& data) const {
  return data.bytes() <= kShortBytes && data.bytes() * ranks() <= kShortTotal;
}

void SharedDirect::all_reduce_short(const Fingerprint& call, ArrayView data, ReduceOp op,
                                    const Deadline& deadline) {
  const std::uint64_t number = barrier_.next_number();
  copy_bytes(short_slot(rank_, number), data.data, data.bytes());
  barrier_.wait_for_all({call, {}, {}}, deadline);
  barrier_.require_agreement();
  for (int rank = 0; rank < group_memory_.size(); ++rank)
    arrays_[static_cast<std::size_t>(rank)] =
        rank == rank_ ? static_cast<std::byte*>(data.data) : short_slot(rank, number);
  reduce_tree(arrays_, {&data.data, 1}, data.count, data.type, op);
  moved_.add((ranks() - 1) * data.bytes());
}

std::byte* SharedDirect::short_slot(int rank, std::uint64_t number) const {
  return group_memory_.staging(rank) + kPieceBytes + kLine + number % 2 * kShortBytes;
}

void SharedDirect::reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine,
                                  ReduceOp op, const Deadline& deadline) {
  const std::size_t width = size_of(mine.type);
  const std::size_t part = static_cast<std::size_t>(rank_) * mine.count;
  auto reduce_my_part = [&](std::size_t begin, std::size_t count) {
    // The overlap of the piece and this rank's part.
    const std::size_t first = std::max(begin, part);
    const std::size_t last = std::min(begin + count, part + mine.count);
    if (first >= last) return;
    advance_arrays((first - begin) * width);
    const ArrayView output = mine.slice(first - part, last - first);
    reduce_tree(arrays_, {&output.data, 1}, output.count, output.type, op);
    moved_.add((ranks() - 1) * output.bytes());
  };
  each_piece(call, {shown_only(all)}, reduce_my_part, deadline);
}

void SharedDirect::all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                              const Deadline& deadline) {
  auto copy_all = [&](std::size_t begin, std::size_t count) {
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      const ArrayView to = all.slice(rank * mine.count + begin, count);
      if (to.data == arrays_[rank]) continue;  // in place, and other ranks may be reading it
      copy_bytes(to.data, arrays_[rank], to.bytes());
      if (rank != static_cast<std::size_t>(rank_)) moved_.add(to.bytes());
    }
  };
  each_piece(call, {shown_only(mine)}, copy_all, deadline);
}

void SharedDirect::broadcast(const Fingerprint& call, ArrayView data, int root,
                             const Deadline& deadline) {
  const bool is_root = rank_ == root;
  auto copy_from_root = [&](std::size_t begin, std::size_t count) {
    if (is_root) return;
    const ArrayView to = data.slice(begin, count);
    copy_bytes(to.data, arrays_[static_cast<std::size_t>(root)], to.bytes());
    moved_.add(to.bytes());
  };
  each_piece(call, {data, is_root}, copy_from_root, deadline);
}

template <typename Piece>
void SharedDirect::each_piece(const Fingerprint& call, const Shown& shown, Piece piece,
                              const Deadline& deadline) {
  const ArrayView data = shown.data;
  const std::size_t width = size_of(data.type);
  const std::size_t staged_piece = kPieceBytes / width;
  const Location mine = place(shown);
  const bool staged = mine.region == Location::kStaged;
  std::byte* const staging = group_memory_.staging(rank_) + mine.offset;

  // The first piece is staged before the barrier, so that a short array needs no extra barrier.
  if (staged) copy_bytes(staging, data.data, std::min(data.count, staged_piece) * width);
  announce(call, mine, deadline);
  const bool in_pieces = std::any_of(places_.begin(), places_.end(), [](const Location& place) {
    return place.region == Location::kStaged;
  });
  const std::size_t length = in_pieces ? staged_piece : std::max<std::size_t>(data.count, 1);

  for (std::size_t begin = 0; begin < data.count; begin += length) {
    const ArrayView part = data.slice(begin, std::min(length, data.count - begin));
    if (begin > 0) {
      if (staged) copy_bytes(staging, part.data, part.bytes());
      barrier_.wait_for_all({call, mine, {}}, deadline);
    }
    resolve_arrays(begin * width);
    piece(begin, part.count);
    barrier_.wait_for_all({call, mine, {}}, deadline);
    if (staged && shown.is_written) copy_bytes(part.data, staging, part.bytes());
  }
}

/// A staged array keeps its alignment relative to cache lines. If the target of a copy has a
/// slightly larger offset within its page than the source, `rep movsb`, which the C library uses
/// above 2 KiB, takes twenty times as long on some processors.
Location SharedDirect::place(const Shown& shown) const {
  if (!shown.is_shown) return {Location::kNone, 0};
  const Location location = locate_(shown.data.data, shown.data.bytes());
  if (location.region != Location::kStaged) return location;
  return {Location::kStaged, reinterpret_cast<std::uintptr_t>(shown.data.data) % kLine};
}

/// Arrives at the first barrier, and looks up the others' arrays.
void SharedDirect::announce(const Fingerprint& call, Location mine, const Deadline& deadline) {
  barrier_.wait_for_all({call, mine, {}}, deadline);
  barrier_.require_agreement();
  for (int rank = 0; rank < group_memory_.size(); ++rank)
    places_[static_cast<std::size_t>(rank)] = barrier_.notice_of(rank).location;
}

void SharedDirect::resolve_arrays(std::size_t skipped_bytes) {
  for (int rank = 0; rank < group_memory_.size(); ++rank) {
    const Location& place = places_[static_cast<std::size_t>(rank)];
    void*& array = arrays_[static_cast<std::size_t>(rank)];
    if (place.region == Location::kNone)
      array = nullptr;
    else if (place.region == Location::kStaged)
      array = group_memory_.staging(rank) + place.offset;
    else
      array = resolve_(rank, {place.region, place.offset + skipped_bytes});
  }
}

void SharedDirect::advance_arrays(std::size_t bytes) {
  for (void*& array : arrays_) array = static_cast<std::byte*>(array) + bytes;
}

}  // namespace lockstep::internal::comm
