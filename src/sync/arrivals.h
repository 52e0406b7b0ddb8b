// The status of every parameter's gradient on every rank. Ranks exchange it only when at least one
// of them has a problem, so that all ranks act on the same facts.
#pragma once

#include <lockstep/group.h>

#include "sync/layout.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::sync {

/// The status of a parameter's gradient since gradients were last averaged.
enum class Arrival : std::uint8_t {
  absent,        ///< there is no gradient
  kept,          ///< computed by a backward that does not synchronise
  ready,         ///< final
  sparse,        ///< refused: a sparse gradient cannot be averaged
  with_history,  ///< refused: the gradient is part of a graph (create_graph)
  late,          ///< refused: it grew after it had been sent
  frozen,        ///< there is no gradient, because requires_grad is off
};

/// One rank's view of one parameter.
struct GradientStatus {
  Arrival arrival = Arrival::absent;
  /// True if the parameter has a gradient from an earlier backward, but none from this one.
  bool holds_older = false;
};

/// Conditions of a whole rank. Flags that can be combined.
enum class RankFlag : std::uint8_t {
  none = 0,
  abandoned = 1,  ///< its backward ended by an exception
  error = 2,      ///< it has an error text that all ranks are to throw
  reloaded = 4,   ///< the values of its parameters may have been replaced
};
constexpr RankFlag operator|(RankFlag a, RankFlag b) {
  return static_cast<RankFlag>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// What a rank sends to the others when a problem was found.
struct RankReport {
  std::vector<GradientStatus> statuses;  ///< by parameter
  RankFlag flags = RankFlag::none;
  /// A hash of the changes of requires_grad since gradients were last averaged; 0 without a change.
  std::uint64_t freezing = 0;
};

/// All ranks' reports. They are the same on every rank, so every rank throws the same error.
class Arrivals {
 public:
  /// Gathers the reports. A collective.
  Arrivals(Group& group, const RankReport& mine);

  /// Whether at least one rank has set this flag.
  bool any_rank(RankFlag flags) const { return !ranks_with(flags).empty(); }

  /// Throws Error that names the ranks whose backward ended by an exception.
  void require_not_abandoned() const;

  /// Throws Error that names the refused gradients and their ranks, or the parameters that only
  /// some ranks have frozen; also if ranks froze parameters in different orders.
  void require_whole(const std::vector<Parameter>& parameters) const;

  /// Throws Error that names the parameters that have no gradient, and on which ranks.
  void require_all(const std::vector<Parameter>& parameters) const;

  /// Parameters without a gradient from this backward on any rank, whose older gradient exists on
  /// all ranks or on none. If only some ranks have an older one, all ranks take the average,
  /// because their optimizers would otherwise treat the parameter differently.
  std::vector<std::size_t> absent_everywhere() const;

  /// Whether all ranks have frozen this parameter.
  bool is_frozen(std::size_t parameter) const;

  /// The number of ranks with an older gradient of this parameter.
  std::size_t holders(std::size_t parameter) const;

 private:
  Arrival of(std::size_t rank, std::size_t parameter) const;
  std::uint64_t freezing_of(std::size_t rank) const;
  /// Whether at least one rank has a gradient of this parameter.
  bool received(std::size_t parameter) const;
  std::vector<std::string> ranks_with(RankFlag flags) const;
  void require_frozen_alike(const std::vector<Parameter>& parameters) const;
  void require_same_freezing() const;
  void require_none(Arrival what, std::string_view verb, std::string_view remedy,
                    const std::vector<Parameter>& parameters) const;

  std::size_t ranks_;
  std::size_t parameters_;
  std::size_t stride_;  ///< bytes of a report
  /// By rank: one byte for each parameter, then the flags, then the hash of freezing.
  std::vector<std::uint8_t> reports_;
};

}  // namespace lockstep::internal::sync
