#include "sync/arrivals.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

Arrivals::Arrivals(Group& group, const std::vector<Arrival>& mine, News news)
    : ranks_(static_cast<std::size_t>(group.size())),
      parameters_(mine.size()),
      reports_(ranks_ * (parameters_ + 1)) {
  std::vector<std::uint8_t> report;
  for (Arrival arrival : mine) report.push_back(static_cast<std::uint8_t>(arrival));
  report.push_back(static_cast<std::uint8_t>(news));
  group.all_gather(report, reports_);
}

Arrival Arrivals::of(std::size_t rank, std::size_t parameter) const {
  return static_cast<Arrival>(reports_[rank * (parameters_ + 1) + parameter]);
}

std::vector<std::string> Arrivals::ranks_that_say(News news) const {
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if ((reports_[rank * (parameters_ + 1) + parameters_] & static_cast<std::uint8_t>(news)) != 0)
      ranks.push_back(std::to_string(rank));
  return ranks;
}

void Arrivals::require_not_abandoned() const {
  const std::vector<std::string> abandoned = ranks_that_say(News::abandoned);
  if (!abandoned.empty())
    throw Error(fmt::format(
        "backward ended by an exception on rank {}, so its gradients are missing on all: see what "
        "that rank threw; with gradients set to zero, all ranks may run the next backward",
        enumerate(abandoned)));
}

void Arrivals::require_whole(const std::vector<Parameter>& parameters) const {
  require_none(Arrival::sparse, "got a sparse gradient for",
               "only dense gradients can be averaged, so make the layer with sparse(false)",
               parameters);
  require_none(Arrival::with_history, "got a gradient with a graph of its own for",
               "backward with create_graph cannot be synchronised; call torch::autograd::grad for "
               "gradients of gradients",
               parameters);
  require_none(Arrival::late, "got more gradient for",
               "it came after the gradient had been sent, from a backward within backward. From "
               "now on it is sent when backward ends: set gradients to zero, and run it again",
               parameters);
  require_frozen_alike(parameters);
}

void Arrivals::require_frozen_alike(const std::vector<Parameter>& parameters) const {
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parameters_; ++i)
      if (of(rank, i) == Arrival::frozen && came(i)) names.push_back(parameters[i].name);
    texts.push_back(enumerate(names));
  }
  const std::string found = by_rank(texts, "has frozen");
  if (!found.empty())
    throw Error(fmt::format(
        "backward ended, but {}, while other ranks train it: set requires_grad alike on every rank",
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

bool Arrivals::came(std::size_t parameter) const {
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    const Arrival arrival = of(rank, parameter);
    if (arrival != Arrival::absent && arrival != Arrival::frozen) return true;
  }
  return false;
}

std::vector<std::size_t> Arrivals::absent_everywhere() const {
  std::vector<std::size_t> absent;
  for (std::size_t i = 0; i < parameters_; ++i)
    if (!came(i)) absent.push_back(i);
  return absent;
}

bool Arrivals::is_frozen(std::size_t parameter) const {
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if (of(rank, parameter) != Arrival::frozen) return false;
  return true;
}

}  // namespace lockstep::sync
