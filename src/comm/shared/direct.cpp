#include "comm/shared/direct.h"

#include "base/bytes.h"
#include "comm/reduce.h"

#include <algorithm>

namespace lockstep::comm {

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
  const std::size_t staged_piece = Blackboard::kStagingBytes / width;
  const Location mine = locate_(data.data, data.bytes());
  const bool staged = mine.region == Location::kStaged;
  std::byte* const staging = board_.staging(rank_);

  // The first piece is staged before the ranks meet, so that a short array costs no extra meeting.
  if (staged) copy_bytes(staging, data.data, std::min(data.count, staged_piece) * width);
  const std::vector<Location> places = announce(call, mine, deadline);
  const bool pieces = std::any_of(places.begin(), places.end(), [](const Location& place) {
    return place.region == Location::kStaged;
  });
  const std::size_t piece = pieces ? staged_piece : std::max<std::size_t>(data.count, 1);

  for (std::size_t begin = 0; begin < data.count; begin += piece) {
    const ArrayView part = data.slice(begin, std::min(piece, data.count - begin));
    if (begin > 0) {
      if (staged) copy_bytes(staging, part.data, part.bytes());
      meeting_.hold({call, mine, {}}, deadline);
    }
    std::vector<std::byte*> arrays;
    for (int rank = 0; rank < board_.size(); ++rank) {
      Location place = places[static_cast<std::size_t>(rank)];
      if (place.region != Location::kStaged) place.offset += begin * width;
      arrays.push_back(resolve_(rank, place));
    }
    reduce_my_slice(arrays, part.count, part.type, op);
    meeting_.hold({call, mine, {}}, deadline);
    if (staged) copy_bytes(part.data, staging, part.bytes());
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

void SharedDirect::reduce_my_slice(const std::vector<std::byte*>& arrays, std::size_t count,
                                   DataType type, ReduceOp op) {
  // Slices end at cache lines, so that no two ranks write into one.
  const std::size_t width = size_of(type);
  const std::size_t line = 64 / width;
  const auto ranks = static_cast<std::size_t>(board_.size());
  const std::size_t slice = (count / ranks + line) / line * line;
  const std::size_t begin = std::min(count, static_cast<std::size_t>(rank_) * slice);
  const std::size_t length = std::min(slice, count - begin);
  if (length == 0) return;
  std::vector<void*> slices;
  for (std::byte* array : arrays) slices.push_back(array + begin * width);
  reduce_tree(slices, length, type, op);
  bytes_moved_.fetch_add(2 * (ranks - 1) * length * width, std::memory_order_relaxed);
}

}  // namespace lockstep::comm
