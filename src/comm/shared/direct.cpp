#include "comm/shared/direct.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <algorithm>

namespace lockstep::comm {

namespace {

/// An array that the others read but do not write.
ArrayView shown_only(const ConstArrayView& view) {
  return {const_cast<void*>(view.data), view.count, view.type};
}

}  // namespace

SharedDirect::SharedDirect(Blackboard board, int rank, Meeting& meeting, Locate locate,
                           Resolve resolve)
    : board_(board),
      rank_(rank),
      meeting_(meeting),
      locate_(std::move(locate)),
      resolve_(std::move(resolve)) {}

void SharedDirect::all_reduce(const Fingerprint& call, ArrayView data, ReduceOp op,
                              const Deadline& deadline) {
  const std::size_t width = size_of(data.type);
  auto reduce_my_slice = [&](std::size_t, std::size_t count,
                             const std::vector<std::byte*>& arrays) {
    // Slices end at cache lines, so that no two ranks write into one.
    const std::size_t line = 64 / width;
    const std::size_t slice = (count / ranks() + line) / line * line;
    const std::size_t begin = std::min(count, static_cast<std::size_t>(rank_) * slice);
    const std::size_t length = std::min(slice, count - begin);
    if (length == 0) return;
    std::vector<void*> slices;
    for (std::byte* array : arrays) slices.push_back(array + begin * width);
    reduce_tree(slices, slices, length, data.type, op);
    count_bytes(2 * (ranks() - 1) * length * width);
  };
  each_piece(call, {data, true, true}, reduce_my_slice, deadline);
}

void SharedDirect::reduce_scatter(const Fingerprint& call, ConstArrayView all, ArrayView mine,
                                  ReduceOp op, const Deadline& deadline) {
  const std::size_t width = size_of(mine.type);
  const std::size_t part = static_cast<std::size_t>(rank_) * mine.count;
  auto reduce_my_part = [&](std::size_t begin, std::size_t count,
                            const std::vector<std::byte*>& arrays) {
    // Where the piece and this rank's part overlap.
    const std::size_t first = std::max(begin, part);
    const std::size_t last = std::min(begin + count, part + mine.count);
    if (first >= last) return;
    std::vector<void*> inputs;
    for (std::byte* array : arrays) inputs.push_back(array + (first - begin) * width);
    const ArrayView output = mine.slice(first - part, last - first);
    reduce_tree(inputs, {output.data}, output.count, output.type, op);
    count_bytes((ranks() - 1) * output.bytes());
  };
  each_piece(call, {shown_only(all)}, reduce_my_part, deadline);
}

void SharedDirect::all_gather(const Fingerprint& call, ConstArrayView mine, ArrayView all,
                              const Deadline& deadline) {
  auto copy_all = [&](std::size_t begin, std::size_t count, const std::vector<std::byte*>& arrays) {
    for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
      const ArrayView to = all.slice(rank * mine.count + begin, count);
      if (to.data == arrays[rank]) continue;  // in place, and others may be reading it
      copy_bytes(to.data, arrays[rank], to.bytes());
      if (rank != static_cast<std::size_t>(rank_)) count_bytes(to.bytes());
    }
  };
  each_piece(call, {shown_only(mine)}, copy_all, deadline);
}

void SharedDirect::broadcast(const Fingerprint& call, ArrayView data, int root,
                             const Deadline& deadline) {
  const bool is_root = rank_ == root;
  auto copy_from_root = [&](std::size_t begin, std::size_t count,
                            const std::vector<std::byte*>& arrays) {
    if (is_root) return;
    const ArrayView to = data.slice(begin, count);
    copy_bytes(to.data, arrays[static_cast<std::size_t>(root)], to.bytes());
    count_bytes(to.bytes());
  };
  each_piece(call, {data, is_root}, copy_from_root, deadline);
}

void SharedDirect::each_piece(const Fingerprint& call, const Shown& shown, const Piece& piece,
                              const Deadline& deadline) {
  const ArrayView data = shown.data;
  const std::size_t width = size_of(data.type);
  const std::size_t staged_piece = Blackboard::kStagingBytes / width;
  const Location mine =
      shown.is_shown ? locate_(data.data, data.bytes()) : Location{Location::kNone, 0};
  const bool staged = mine.region == Location::kStaged;
  std::byte* const staging = board_.staging(rank_);

  // The first piece is staged before the ranks meet, so that a short array costs no extra meeting.
  if (staged) copy_bytes(staging, data.data, std::min(data.count, staged_piece) * width);
  const std::vector<Location> places = announce(call, mine, deadline);
  const bool in_pieces = std::any_of(places.begin(), places.end(), [](const Location& place) {
    return place.region == Location::kStaged;
  });
  const std::size_t length = in_pieces ? staged_piece : std::max<std::size_t>(data.count, 1);

  for (std::size_t begin = 0; begin < data.count; begin += length) {
    const ArrayView part = data.slice(begin, std::min(length, data.count - begin));
    if (begin > 0) {
      if (staged) copy_bytes(staging, part.data, part.bytes());
      meeting_.hold({call, mine, {}}, deadline);
    }
    std::vector<std::byte*> arrays;
    for (int rank = 0; rank < board_.size(); ++rank) {
      Location place = places[static_cast<std::size_t>(rank)];
      if (place.region != Location::kStaged) place.offset += begin * width;
      arrays.push_back(place.region == Location::kNone ? nullptr : resolve_(rank, place));
    }
    piece(begin, part.count, arrays);
    meeting_.hold({call, mine, {}}, deadline);
    if (staged && shown.is_written) copy_bytes(part.data, staging, part.bytes());
  }
}

std::vector<Location> SharedDirect::announce(const Fingerprint& call, Location mine,
                                             const Deadline& deadline) {
  meeting_.hold({call, mine, {}}, deadline);
  meeting_.require_agreement();
  std::vector<Location> places;
  for (int rank = 0; rank < board_.size(); ++rank)
    places.push_back(meeting_.notice_of(rank).location);
  return places;
}

}  // namespace lockstep::comm
