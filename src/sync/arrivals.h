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

/// What one rank knows of one parameter.
struct Fate {
  Arrival arrival = Arrival::absent;
  /// Whether an older gradient is there, although this backward brought none.
  bool holds_older = false;
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

/// What a rank tells the others where something is amiss.
struct RankReport {
  std::vector<Fate> fates;  ///< by parameter
  News news = News::none;
  /// A hash of how parameters were frozen and unfrozen since gradients were last averaged; 0 if
  /// they were not.
  std::uint64_t freezing = 0;
};

/// All ranks' arrivals. Every rank has the same, so all throw the same.
class Arrivals {
 public:
  /// A collective.
  Arrivals(Group& group, const RankReport& mine);

  /// Whether some rank has this to say.
  bool anyone(News news) const { return !ranks_that_say(news).empty(); }

  /// Throws Error that names the ranks that have abandoned their backward.
  void require_not_abandoned() const;

  /// Throws Error that names refused gradients, or parameters that some ranks have frozen and
  /// others have not, and on which ranks; also if they were frozen in another order.
  void require_whole(const std::vector<Parameter>& parameters) const;

  /// Throws Error that names the parameters that have no gradient, and on which ranks.
  void require_all(const std::vector<Parameter>& parameters) const;

  /// Those that this backward brought no gradient for on any rank, and that have an older one on
  /// all ranks or on none. Where only some ranks have one, all take the average instead: else
  /// optimizers would treat the parameter differently.
  std::vector<std::size_t> absent_everywhere() const;

  /// Whether all ranks have frozen it.
  bool is_frozen(std::size_t parameter) const;

  /// How many ranks have an older gradient for it.
  std::size_t holders(std::size_t parameter) const;

 private:
  Arrival of(std::size_t rank, std::size_t parameter) const;
  std::uint64_t freezing_of(std::size_t rank) const;
  /// Whether some rank has a gradient for it.
  bool came(std::size_t parameter) const;
  std::vector<std::string> ranks_that_say(News news) const;
  void require_frozen_alike(const std::vector<Parameter>& parameters) const;
  void require_same_freezing() const;
  void require_none(Arrival what, std::string_view verb, std::string_view remedy,
                    const std::vector<Parameter>& parameters) const;

  std::size_t ranks_;
  std::size_t parameters_;
  std::size_t stride_;  ///< bytes of a report
  /// By rank: one byte a parameter, then the news, then the hash of freezing.
  std::vector<std::uint8_t> reports_;
};

}  // namespace lockstep::sync
