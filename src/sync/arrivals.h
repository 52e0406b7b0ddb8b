// What became of every parameter's gradient on every rank: exchanged only where something is amiss,
// so that all ranks act alike.
#pragma once

#include <lockstep/group.h>

#include "sync/layout.h"

#include <cstdint>
#include <string>
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
  late,          ///< refused: more was added to it after it had been sent
  frozen,        ///< there is none, because the parameter is not trained at present
};

/// What else a rank has to say. Flags that can be combined.
enum class News : std::uint8_t {
  none = 0,
  abandoned = 1,  ///< its backward ended by an exception
  complaint = 2,  ///< it has a text that all ranks are to throw
  reloaded = 4,   ///< the values of its parameters may have been replaced
};
constexpr News operator|(News a, News b) {
  return static_cast<News>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// All ranks' arrivals. Every rank has the same, so all throw the same.
class Arrivals {
 public:
  /// A collective.
  Arrivals(Group& group, const std::vector<Arrival>& mine, News news);

  /// Whether some rank has this to say.
  bool anyone(News news) const { return !ranks_that_say(news).empty(); }

  /// Throws Error that names the ranks that have abandoned their backward.
  void require_not_abandoned() const;

  /// Throws Error that names refused gradients, or parameters that some ranks have frozen and
  /// others have not, and on which ranks.
  void require_whole(const std::vector<Parameter>& parameters) const;

  /// Throws Error that names the parameters that have no gradient, and on which ranks.
  void require_all(const std::vector<Parameter>& parameters) const;

  /// Those that have no gradient on any rank.
  std::vector<std::size_t> absent_everywhere() const;

  /// Whether all ranks have frozen it.
  bool is_frozen(std::size_t parameter) const;

 private:
  Arrival of(std::size_t rank, std::size_t parameter) const;
  /// Whether some rank has a gradient for it.
  bool came(std::size_t parameter) const;
  std::vector<std::string> ranks_that_say(News news) const;
  void require_frozen_alike(const std::vector<Parameter>& parameters) const;
  void require_none(Arrival what, std::string_view verb, std::string_view remedy,
                    const std::vector<Parameter>& parameters) const;

  std::size_t ranks_;
  std::size_t parameters_;
  /// By rank: one byte a parameter, then the news.
  std::vector<std::uint8_t> reports_;
};

}  // namespace lockstep::sync
