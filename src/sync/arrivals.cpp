#include "sync/arrivals.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::sync {

Arrivals::Arrivals(Group& group, const std::vector<Arrival>& mine, bool abandoned)
    : ranks_(static_cast<std::size_t>(group.size())),
      parameters_(mine.size()),
      reports_(ranks_ * (parameters_ + 1)) {
  std::vector<std::uint8_t> report;
  for (Arrival arrival : mine) report.push_back(static_cast<std::uint8_t>(arrival));
  report.push_back(abandoned ? 1 : 0);
  group.all_gather(report, reports_);
}

Arrival Arrivals::of(std::size_t rank, std::size_t parameter) const {
  return static_cast<Arrival>(reports_[rank * (parameters_ + 1) + parameter]);
}

void Arrivals::require_whole(const std::vector<Parameter>& parameters) const {
  std::vector<std::string> abandoned;
  for (std::size_t rank = 0; rank < ranks_; ++rank)
    if (reports_[rank * (parameters_ + 1) + parameters_] != 0)
      abandoned.push_back(std::to_string(rank));
  if (!abandoned.empty())
    throw Error(fmt::format(
        "backward ended by an exception on rank {}, so its gradients are missing on all: see what "
        "that rank threw; with gradients set to zero, all ranks may run the next backward",
        enumerate(abandoned)));
  require_none(Arrival::sparse, "got a sparse gradient for",
               "only dense gradients can be averaged, so make the layer with sparse(false)",
               parameters);
  require_none(Arrival::with_history, "got a gradient with a graph of its own for",
               "backward with create_graph cannot be synchronised; call torch::autograd::grad for "
               "gradients of gradients",
               parameters);
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

std::vector<std::size_t> Arrivals::absent_everywhere() const {
  std::vector<std::size_t> absent;
  for (std::size_t i = 0; i < parameters_; ++i) {
    bool somewhere = false;
    for (std::size_t rank = 0; rank < ranks_; ++rank) somewhere |= of(rank, i) != Arrival::absent;
    if (!somewhere) absent.push_back(i);
  }
  return absent;
}

}  // namespace lockstep::sync
