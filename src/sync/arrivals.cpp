#include "sync/arrivals.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lockstep::internal::sync {

namespace {

/// Bit in a parameter's byte: the rank has an older gradient for it.
constexpr std::uint8_t kHoldsOlder = 0x80;

}  // namespace

Arrivals::Arrivals(Group& group, const RankReport& mine)
    : ranks_(static_cast<std::size_t>(group.size())),
      parameters_(mine.statuses.size()),
      stride_(parameters_ + 1 + sizeof mine.freezing),
      reports_(ranks_ * stride_) {
  std::vector<std::uint8_t> report(stride_);
  for (std::size_t i = 0; i < parameters_; ++i)
    report[i] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(mine.statuses[i].arrival) |
                                          (mine.statuses[i].holds_older ? kHoldsOlder : 0));
  report[parameters_] = static_cast<std::uint8_t>(mine.flags);
  std::memcpy(&report[parameters_ + 1], &mine.freezing, sizeof mine.freezing);
  group.all_gather(report, reports_);
}

Arrival Arrivals::of(std::size_t rank, std::size_t parameter) const {
  return static_cast<Arrival>(reports_[rank * stride_ + parameter] & ~kHoldsOlder);
}

std::size_t Arrivals::holders(std::size_t parameter) const {
  std::size_t holders = 0;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if ((reports_[rank * stride_ + parameter] & kHoldsOlder) != 0) ++holders;
  return holders;
}

std::uint64_t Arrivals::freezing_of(std::size_t rank) const {
  std::uint64_t freezing = 0;
  std::memcpy(&freezing, &reports_[rank * stride_ + parameters_ + 1], sizeof freezing);
  return freezing;
}

std::vector<std::string> Arrivals::ranks_with(RankFlag flags) const {
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if ((reports_[rank * stride_ + parameters_] & static_cast<std::uint8_t>(flags)) != 0)
      ranks.push_back(std::to_string(rank));
  return ranks;
}

void Arrivals::require_not_abandoned() const {
  const std::vector<std::string> abandoned = ranks_with(RankFlag::abandoned);
  if (!abandoned.empty())
    throw Error(fmt::format(
        "backward was ended by an exception on rank {}, so gradients were not averaged on any "
        "rank: see the exception of that rank; set gradients to zero before the next backward on "
        "all ranks",
        enumerate(abandoned)));
}

void Arrivals::require_whole(const std::vector<Parameter>& parameters) const {
  require_none(Arrival::sparse, "got a sparse gradient for",
               "only dense gradients can be averaged, so make the layer with sparse(false)",
               parameters);
  require_none(Arrival::with_history, "got a gradient that is part of a graph for",
               "backward with create_graph cannot be synchronised; call torch::autograd::grad for "
               "gradients of gradients",
               parameters);
  require_none(Arrival::late, "got another gradient for",
               "a backward inside backward added to the gradient after it had been sent. From now "
               "on it is sent at the end of backward: set gradients to zero and run it again",
               parameters);
  require_frozen_alike(parameters);
  require_same_freezing();
}

void Arrivals::require_same_freezing() const {
  std::vector<std::string> others;
  for (std::size_t rank = 1; rank < ranks_; ++rank)
    if (freezing_of(rank) != freezing_of(0)) others.push_back(std::to_string(rank));
  if (!others.empty())
    throw Error(fmt::format(
        "backward ended, but since the last one parameters were frozen or unfrozen differently on "
        "rank {} than on rank 0, so ranks may be at different steps: set the same requires_grad on "
        "every rank before every backward",
        enumerate(others)));
}

void Arrivals::require_frozen_alike(const std::vector<Parameter>& parameters) const {
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parameters_; ++i)
      if (of(rank, i) == Arrival::frozen && received(i)) names.push_back(parameters[i].name);
    texts.push_back(enumerate(names));
  }
  const std::string found = by_rank(texts, "froze");
  if (!found.empty())
    throw Error(fmt::format(
        "backward ended, but {}, while other ranks train it: set the same requires_grad on every "
        "rank",
        found));
}

void Arrivals::require_all(const std::vector<Parameter>& parameters) const {
  require_none(Arrival::absent, "got no gradient for",
               "every parameter must take part in the loss on every rank, unless "
               "DdpOptions::allow_unused is set",
               parameters);
}

void Arrivals::require_none(Arrival what, std::string_view verb, std::string_view remedy,
                            const std::vector<Parameter>& parameters) const {
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parameters_; ++i)
      if (of(rank, i) == what) names.push_back(parameters[i].name);
    texts.push_back(enumerate(names));
  }
  const std::string found = by_rank(texts, verb);
  if (!found.empty()) throw Error(fmt::format("backward ended, but {}: {}", found, remedy));
}

bool Arrivals::received(std::size_t parameter) const {
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const Arrival arrival = of(rank, parameter);
    if (arrival != Arrival::absent && arrival != Arrival::frozen) return true;
  }
  return false;
}

std::vector<std::size_t> Arrivals::absent_everywhere() const {
  std::vector<std::size_t> absent;
  for (std::size_t i = 0; i < parameters_; ++i)
    if (!received(i) && holders(i) % ranks_ == 0) absent.push_back(i);
  return absent;
}

bool Arrivals::is_frozen(std::size_t parameter) const {
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if (of(rank, parameter) != Arrival::frozen) return false;
  return true;
}

}  // namespace lockstep::internal::sync
