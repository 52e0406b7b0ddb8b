#include "comm/algorithms.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::comm {

namespace {

std::string names_of(const std::vector<Algorithm>& algorithms) {
  std::vector<std::string> names;
  for (Algorithm algorithm : algorithms) names.emplace_back(name_of(algorithm));
  return enumerate(names);
}

bool contains(const std::vector<Algorithm>& algorithms, Algorithm algorithm) {
  return std::find(algorithms.begin(), algorithms.end(), algorithm) != algorithms.end();
}

/// The feature that a transport without the algorithm lacks.
std::string_view need_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::direct:
      return "needs ranks that share memory (thread, shm)";
    case Algorithm::hierarchical:
      return "needs a transport over several hosts (shm+gloo, shm+mpi)";
    case Algorithm::native:
      return "needs a transport whose library has collectives (mpi)";
    default:
      return "needs something else";
  }
}

}  // namespace

bool Offers::has(Algorithm algorithm) const {
  switch (algorithm) {
    case Algorithm::direct:
      return shared_memory;
    case Algorithm::hierarchical:
      return hierarchy;
    case Algorithm::native:
      return native;
    default:
      return true;
  }
}

std::vector<Algorithm> algorithms_of(Operation operation) {
  using enum Algorithm;
  switch (operation) {
    case Operation::all_reduce:
      return {direct, hierarchical, native, ring, halving_doubling, tree, star};
    case Operation::broadcast:
      return {direct, native, tree, star};
    case Operation::reduce:
      return {native, tree, star};
    case Operation::reduce_scatter:
      return {direct, native, ring, halving_doubling};
    case Operation::all_gather:
      return {direct, native, ring};
    default:
      return {};
  }
}

std::vector<Algorithm> algorithms_of(Operation operation, const Offers& offers) {
  std::vector<Algorithm> algorithms = algorithms_of(operation);
  std::erase_if(algorithms, [&](Algorithm algorithm) { return !offers.has(algorithm); });
  return algorithms;
}

void require_algorithm(Operation operation, std::string_view name, Algorithm algorithm,
                       const Offers& offers, std::string_view transport) {
  if (algorithm == Algorithm::automatic) return;
  const std::vector<Algorithm> known = algorithms_of(operation);
  if (known.empty())
    throw UsageError(
        fmt::format("{} has no algorithm '{}': it has a single implementation, use auto", name,
                    name_of(algorithm)));
  if (!contains(known, algorithm))
    throw UsageError(fmt::format("{} has no algorithm '{}': choose from {}", name,
                                 name_of(algorithm), names_of(known)));
  if (!offers.has(algorithm))
    throw UsageError(fmt::format("algorithm '{}' {}; the {} transport has {}", name_of(algorithm),
                                 need_of(algorithm), transport,
                                 names_of(algorithms_of(operation, offers))));
}

}  // namespace lockstep::internal::comm
