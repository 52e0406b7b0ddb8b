#include "comm/split.h"

#include <lockstep/error.h>

#include "base/sleep.h"
#include "comm/collectives/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <vector>

namespace lockstep::internal::comm {

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

/// The label in the whole group of a rank that a part's message names by its label there. The error
/// breaks the whole group, in which the part's number would name another rank.
int in_whole(const Membership& whole, const std::vector<int>& ranks, int in_part) {
  if (in_part < 0 || in_part >= static_cast<int>(ranks.size())) return -1;
  return whole.labels[static_cast<std::size_t>(ranks[static_cast<std::size_t>(in_part)])];
}

/// Ends the creation of a part when the whole group has failed. It is not an Error, so that no code
/// in between takes it for an error of the part, whose ranks have other numbers.
struct WholeFailed {};

/// How long a rank that left the part may take to leave the whole group too.
constexpr std::chrono::milliseconds kLeaveWithin{2000};

/// A rank left the part: throws the error of the whole group, which names the cause.
void throw_if_whole_knows(Transport& whole) {
  for (const Deadline end = Deadline::after(kLeaveWithin); !end.passed();) {
    whole.require_all_present();
    sleep_for(std::chrono::milliseconds(5));
  }
}

/// Makes the part of these ranks. Ends early if the whole group fails: a rank that cannot join the
/// part leaves it, and would never arrive.
std::unique_ptr<Transport> make_part(Transport& whole, const Membership& part,
                                     const std::vector<int>& ranks, const Deadline& join) {
  std::exception_ptr failure;
  auto look_at_whole = [&] {
    try {
      whole.require_all_present();
    } catch (...) {
      failure = std::current_exception();
      throw WholeFailed();
    }
  };
  try {
    return whole.split(part, {join, look_at_whole});
  } catch (const WholeFailed&) {
    std::rethrow_exception(failure);
  } catch (const PeerLostError& lost) {
    throw_if_whole_knows(whole);
    throw PeerLostError(in_whole(whole.membership(), ranks, lost.rank()), lost.what(), lost.died());
  } catch (const TimeoutError& late) {
    throw TimeoutError(late.what(), in_whole(whole.membership(), ranks, late.rank()));
  }
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
  std::unique_ptr<Transport> made = make_part(transport, part, ranks, join);
  // No rank continues, and possibly ends, before all parts are made: it may be the one that serves
  // the rendezvous.
  transport.agree(call, join);
  return made;
}

}  // namespace lockstep::internal::comm
