// ddp: gradients are averaged bucket by bucket while backward still runs. As soon as all gradients
// of a bucket are ready, its all-reduce starts on the group's thread; the last bucket, after which
// there is nothing left to overlap with, runs on the caller's.
//
// Every backward reduces every bucket once on every rank, whatever happens: that is what keeps the
// ranks' calls in step. Behind the last bucket travels one element more, the note. A rank on which
// something is amiss (a gradient is missing or was refused, backward threw, the model was changed)
// makes it positive.
// Where its average is positive, the ranks tell each other what it is, and act alike: they throw
// the same Error, or agree which parameters no rank used. Where all is well this costs one element.
#pragma once

#include <lockstep/bucket_hook.h>

#include "comm/flight/bucket_mark.h"
#include "sync/arrivals.h"
#include "sync/sync_method.h"

#include <string>
#include <vector>

namespace lockstep::sync {

struct DdpSettings {
  Algorithm algorithm = Algorithm::automatic;
  /// What becomes of the ranks' gradients: their average, or their sum.
  ReduceOp op = ReduceOp::average;
  /// Whether parameters may have no gradient. Else finish() throws.
  bool allow_unused = false;
  /// Instead of an all-reduce by `algorithm`.
  BucketHook hook = {};
  /// For the hook: the parameters that the last backward before this object was made, on another
  /// layout, found unused.
  std::vector<std::size_t> unused_before = {};
};

class Ddp : public SyncMethod {
 public:
  Ddp(Group group, const Gradients& gradients, DdpSettings settings);
  ~Ddp() override;

  void ready(std::size_t parameter) override;

  /// Instead of ready(): the gradient is there, but more may be added to it until finish(). May be
  /// called again, or ready() after it. If its bucket was sent already, finish() will throw.
  void partial(std::size_t parameter) { arrive(parameter, Arrival::ready, false); }

  /// It has no gradient, because it is not trained at present: all right if so on all ranks. That
  /// costs a message where it is new.
  void freeze(std::size_t parameter);

  /// This backward has brought no gradient for it, but an older one is there.
  void hold(std::size_t parameter) { fates_[parameter].holds_older = true; }

  /// A backward begins with other parameters frozen than the one before; `mask` is a hash of which.
  /// finish() throws, on all ranks, unless all ranks were told the same since the last.
  void note_freezing(std::uint64_t mask);

  /// Instead of ready(), or refuse(): so it fared, but is to be averaged by a later backward only.
  void keep(std::size_t parameter, Arrival how = Arrival::kept) { mark(parameter, how); }

  /// Instead of ready(): its gradient is of a kind that cannot be averaged. finish() will throw, on
  /// all ranks.
  void refuse(std::size_t parameter, Arrival why) { arrive(parameter, why, true); }

  /// Whatever else happens, the next finish() throws an Error with this text, on all ranks: "rank 1
  /// found that " + text.
  void complain(std::string text) { complaint_ = std::move(text); }

  /// The values of this rank's parameters may have been replaced: tells all ranks, see reloaded().
  void tell_reloaded() { tell_reloaded_ = true; }

  /// Whether this backward has brought a gradient for it.
  bool has(std::size_t parameter) const { return came_[parameter] != 0; }

  /// Those that this backward has brought no gradient for, so far. finish() takes them as they lie.
  std::vector<std::size_t> without_gradient() const;

  /// Throws Error, the same on every rank, that names the parameters that were never ready or
  /// refused, and where; gradients are worth nothing then.
  void finish() override;

  /// After finish(): the parameters that no rank has a gradient for. What lies in their place is an
  /// average nevertheless.
  const std::vector<std::size_t>& unused() const { return unused_; }

  /// After finish(): whether some rank has called tell_reloaded(); the same on all.
  bool reloaded() const { return reloaded_; }

  /// After finish(): the result will not be used, on any rank. A hook is told so in the next
  /// backward.
  void discard() { note_discarded(true); }

  /// Instead of finish(): backward ended by an exception, whether gradients came or not. Starts the
  /// buckets that are left, with zeros, so that no rank waits for them, and waits for those in the
  /// gradients' memory, up to the group's deadline. The rest of this rank's part is made up for
  /// when the next gradient is ready, so that ranks on which it went well learn of it. Never
  /// throws.
  void abandon() noexcept {
    start_abandoning();
    await_abandoned();
  }

  /// The two steps of abandon(), for several methods that have a part in one backward: all take the
  /// first step before one takes the second, since another rank may wait for them in another order.
  void start_abandoning() noexcept;
  void await_abandoned() noexcept;

  /// The same earlier: when the next backward begins. Ranks on which it went well must be waiting
  /// in that backward, or come to it.
  void make_up_for_abandoned();

 private:
  /// `final`: nothing will be added to it.
  void arrive(std::size_t parameter, Arrival how, bool final);
  /// What was refused stays so.
  void mark(std::size_t parameter, Arrival how);
  /// How many buckets need not wait for the end of backward. The last does, for the note to travel
  /// with it; unless a hook, which sees gradients only, reduces it.
  std::size_t early_buckets() const { return missing_.size() - (settings_.hook ? 0 : 1); }
  Work reduce_async(std::size_t bucket, ArrayView memory);
  /// The buckets that are not started yet, and the note. Returns whether something is amiss on some
  /// rank.
  bool reduce_rest(bool amiss);
  /// A backward that was abandoned, until it is made up for.
  struct Abandoned {
    std::size_t started = 0;  ///< buckets
    std::vector<std::vector<std::byte>> zeros = {};
    std::vector<Work> works = {};  ///< on zeros
  };
  /// Starts the buckets that are left.
  void start_owed(Abandoned& backward);
  void make_up_for(Abandoned& backward);
  bool is_amiss() const;
  /// Whether the other ranks expect what became of this parameter's gradient.
  bool is_expected(std::size_t parameter) const;
  /// What this rank tells of itself where something is amiss.
  RankReport report() const;
  /// `complaints`: by rank.
  void act_on(const Arrivals& arrivals, const std::vector<std::string>& complaints);
  std::vector<std::size_t> frozen() const;
  /// Tells the hook what became of its work: all in vain, or only that for `unused`.
  void note_discarded(bool all, const std::vector<std::size_t>& unused = {});
  static void await_all(std::vector<Work>& works) noexcept;
  void clear();

  Group group_;
  const comm::BucketOwner owner_;
  const Gradients& gradients_;
  const DdpSettings settings_;
  std::vector<std::size_t> bucket_of_;            ///< by parameter
  std::vector<std::vector<GradientPart>> parts_;  ///< by bucket, for the hook
  std::vector<Fate> fates_;           ///< by parameter, since gradients were last averaged
  std::vector<char> came_;            ///< by parameter: in this backward
  std::vector<char> final_;           ///< by parameter: likewise, and nothing will be added to it
  std::vector<std::size_t> missing_;  ///< by bucket: gradients not ready yet
  std::vector<Work> started_;         ///< by bucket, in order: all ranks must start them alike
  std::vector<std::size_t> unused_;
  /// By parameter: what all ranks know of all. `with_gradient`: it has kept an older one.
  enum class Frozen : char { no, without_gradient, with_gradient };
  std::vector<Frozen> frozen_;
  std::uint64_t freezing_ = 0;
  std::string complaint_;
  bool tell_reloaded_ = false;
  bool reloaded_ = false;
  std::vector<Abandoned> abandoned_;
};

}  // namespace lockstep::sync
