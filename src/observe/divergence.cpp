#include "observe/divergence.h"

#include "base/table/quantities.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lockstep::internal::observe {

namespace {

/// A loss above this multiple of the loss of guessing has exploded. Single iterations with few
/// images may reach it by wrong but confident answers, so medians are compared with it.
constexpr double kExploded = 5;
/// A run whose loss exploded has recovered if it ends below this multiple of the loss of guessing.
constexpr double kRecovered = 0.98;
/// The number of iterations of a median.
constexpr std::size_t kSmoothed = 3;

/// Median of up to kSmoothed values from `at`; infinite if most are not finite.
double smoothed(const std::vector<double>& losses, std::size_t at) {
  std::vector<double> near;
  for (std::size_t i = at; i < std::min(losses.size(), at + kSmoothed); ++i)
    near.push_back(std::isfinite(losses[i]) ? losses[i] : std::numeric_limits<double>::infinity());
  std::sort(near.begin(), near.end());
  return near.empty() ? 0 : near[near.size() / 2];
}

std::string loss_in_words(double loss) {
  if (!std::isfinite(loss)) return "NaN or infinity";
  return loss < 1e6 ? three_digits(loss) : "more than a million";
}

class Search {
 public:
  explicit Search(const Learning& learning)
      : learning_(learning),
        losses_(learning.losses),
        guessing_(std::log(std::max(2, learning.classes))) {}

  std::optional<Divergence> run() const {
    const std::optional<std::size_t> at = explosion();
    if (at && !has_recovered()) return Divergence{learning_.done_before + *at + 1, text_of(*at)};
    if (test_is_fine()) return std::nullopt;
    return Divergence{0, fmt::format("Diverged: the test loss is {} ({}).{}",
                                     loss_in_words(learning_.test_loss), on_guessing(), remedy())};
  }

 private:
  /// The first loss may be large too, by the initial weights.
  double limit() const {
    const bool begins = learning_.done_before == 0 && !losses_.empty();
    const double first = begins && std::isfinite(losses_.front()) ? losses_.front() : 0;
    return kExploded * std::max(guessing_, first);
  }

  /// The index of the first iteration whose loss exploded, and stayed so in most of the next ones.
  std::optional<std::size_t> explosion() const {
    for (std::size_t i = 0; i < losses_.size(); ++i) {
      if (!std::isfinite(losses_[i])) return i;
      const bool enough = i + kSmoothed <= losses_.size();
      if (enough && std::min(losses_[i], smoothed(losses_, i)) > limit()) return i;
    }
    return std::nullopt;
  }

  bool test_is_fine() const {
    return std::isfinite(learning_.test_loss) && learning_.test_loss <= limit();
  }

  bool has_recovered() const {
    const std::size_t last = losses_.size() - std::min(losses_.size(), kSmoothed);
    return smoothed(losses_, last) < kRecovered * guessing_ && test_is_fine();
  }

  std::string on_guessing() const {
    return fmt::format("guessing gives {}", three_digits(guessing_));
  }

  std::string text_of(std::size_t at) const {
    const std::size_t first = learning_.done_before + 1;
    const std::string before = at > 0 ? fmt::format("went from {} in iteration {} to",
                                                    loss_in_words(losses_.front()), first)
                                      : "is";
    std::string text = fmt::format("Diverged: the training loss {} {} in iteration {} ({}).",
                                   before, loss_in_words(losses_[at]), first + at, on_guessing());
    if (at + 1 < losses_.size())
      text += fmt::format(" At the end it is {}, and the test loss {}.",
                          loss_in_words(losses_.back()), loss_in_words(learning_.test_loss));
    return text + remedy();
  }

  /// Options that the run does not use yet.
  std::string remedy() const {
    std::vector<std::string> changes;
    if (learning_.rate > 0)
      changes.push_back(fmt::format("a lower learning rate (--lr {:.3g} instead of {:.3g})",
                                    learning_.rate / 10, learning_.rate));
    if (!learning_.warms_up) changes.emplace_back("a warm-up (--warmup 1)");
    if (!learning_.clips) changes.emplace_back("clipped gradients (--clip 1)");
    if (changes.empty()) return "";
    return fmt::format(" What usually helps: {}.", enumerate(changes));
  }

  const Learning& learning_;
  const std::vector<double>& losses_;
  const double guessing_;  ///< the loss of equal probabilities for all classes
};

}  // namespace

std::optional<Divergence> find_divergence(const Learning& learning) {
  return Search(learning).run();
}

}  // namespace lockstep::internal::observe
