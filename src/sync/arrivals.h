// What became of every parameter's gradient on every rank: exchanged only where something is amiss,
// so that all ranks act alike.
#pragma once

#include <lockstep/group.h>

#include "sync/layout.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::sync {

/// How a parameter's gradient fared since gradients were last averaged.
enum class Arrival : std::uint8_t {
  absent,        ///< there is none
  kept,          ///< a backward that was not to be synchronised made one
  ready,         ///< it is final
  sparse,        ///< refused: it is sparse
  with_history,  ///< refused: it is part of a graph itself
};

/// All ranks' arrivals. Every rank has the same, so all throw the same.
class Arrivals {
 public:
  /// A collective. `abandoned`: this rank's backward ended by an exception.
  Arrivals(Group& group, const std::vector<Arrival>& mine, bool abandoned);

  /// Throws Error that names the ranks that have abandoned their backward, or refused gradients.
  void require_whole(const std::vector<Parameter>& parameters) const;

  /// Throws Error that names the parameters that have no gradient, and on which ranks.
  void require_all(const std::vector<Parameter>& parameters) const;

  /// Those that have no gradient on any rank.
  std::vector<std::size_t> absent_everywhere() const;

 private:
  Arrival of(std::size_t rank, std::size_t parameter) const;
  void require_none(Arrival what, std::string_view verb, std::string_view remedy,
                    const std::vector<Parameter>& parameters) const;

  std::size_t ranks_;
  std::size_t parameters_;
  /// By rank: one byte a parameter, then whether it has abandoned its backward.
  std::vector<std::uint8_t> reports_;
};

}  // namespace lockstep::sync
