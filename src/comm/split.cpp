#include "comm/split.h"

#include <lockstep/error.h>

#include "comm/collectives/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace lockstep::comm {

namespace {

struct Wish {
  std::int32_t color = 0;
  std::int32_t key = 0;
};

std::vector<Wish> exchange_wishes(Transport& transport, const Wish& mine,
                                  const Deadline& deadline) {
  std::vector<Wish> all(static_cast<std::size_t>(transport.size()));
  const std::array<std::int32_t, 2> words{mine.color, mine.key};
  ring_all_gather(transport, {words.data(), 2, DataType::int32},
                  {all.data(), 2 * all.size(), DataType::int32}, deadline);
  return all;
}

/// What the whole group calls the rank that a part, made of these ranks of the whole, calls so. The
/// error breaks the whole group, whose ranks would blame someone else by the part's number.
int in_whole(const Membership& whole, const std::vector<int>& ranks, int in_part) {
  if (in_part < 0 || in_part >= static_cast<int>(ranks.size())) return -1;
  return whole.labels[static_cast<std::size_t>(ranks[static_cast<std::size_t>(in_part)])];
}

}  // namespace

std::unique_ptr<Transport> split(Transport& transport, int color, int key, std::uint64_t sequence,
                                 const Deadline& deadline, const Deadline& join) {
  const Fingerprint call{.operation = Operation::split, .sequence = sequence};
  transport.agree(call, deadline);
  const std::vector<Wish> wishes = exchange_wishes(transport, {color, key}, deadline);
  auto wish = [&](int rank) { return wishes[static_cast<std::size_t>(rank)]; };

  std::vector<int> ranks(wishes.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::erase_if(ranks, [&](int rank) { return wish(rank).color != color; });
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return wish(a).key < wish(b).key; });

  const Membership& whole = transport.membership();
  Membership part;
  part.group = fmt::format("{}/{}.{}", whole.group, sequence, color);
  for (int rank : ranks) {
    if (rank == transport.rank()) part.rank = part.size();
    part.members.push_back(whole.members[static_cast<std::size_t>(rank)]);
  }
  part.labels.resize(part.members.size());
  std::iota(part.labels.begin(), part.labels.end(), 0);
  std::unique_ptr<Transport> made;
  try {
    made = transport.split(part, join);
  } catch (const PeerLostError& lost) {
    throw PeerLostError(in_whole(whole, ranks, lost.rank()), lost.what(), lost.died());
  } catch (const TimeoutError& late) {
    throw TimeoutError(late.what(), in_whole(whole, ranks, late.rank()));
  }
  // Nobody goes on, and perhaps ends, before all parts are made: the rendezvous may be its own.
  transport.agree(call, join);
  return made;
}

}  // namespace lockstep::comm
