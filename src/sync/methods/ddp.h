// ddp: averages gradients bucket by bucket while backward still runs. As soon as all gradients of a
// bucket are ready, its all-reduce starts on the group's thread. The last bucket has nothing left
// to overlap with and runs on the caller's thread.
//
// Every backward reduces every bucket once on every rank, even after an error: this keeps the
// ranks' calls in the same order. One additional element, the alert, is sent behind the last
// bucket. A rank with a problem (a missing or refused gradient, an exception in backward, a changed
// model) sets it to a positive value. If the reduced alert is positive, the ranks exchange their
// reports and all do the same: they throw the same Error, or agree which parameters no rank used.
// Without a problem this costs one element.
//
// Thread safety: none; called by the thread that runs backward.
#pragma once

#include <lockstep/bucket_hook.h>

#include "comm/flight/bucket_mark.h"
#include "sync/arrivals.h"
#include "sync/sync_method.h"

#include <string>
#include <vector>

namespace lockstep::internal::sync {

struct DdpSettings {
  Algorithm algorithm = Algorithm::automatic;
  /// Whether gradients are averaged or summed over the ranks.
  ReduceOp op = ReduceOp::average;
  /// Whether parameters may have no gradient. If not, finish() throws for them.
  bool allow_unused = false;
  /// Reduces a bucket in place of the all-reduce by `algorithm`.
  BucketHook hook = {};
  /// For the hook: the parameters without a gradient in the last backward of the previous Ddp, if
  /// this one replaces it with another layout.
  std::vector<std::size_t> unused_before = {};
};

class Ddp : public SyncMethod {
 public:
  Ddp(Group group, const Gradients& gradients, DdpSettings settings);
  ~Ddp() override;

  void ready(std::size_t parameter) override;

  /// Replaces ready() for a gradient that may still grow until finish(). May be called repeatedly,
  /// and before ready(). finish() throws if its bucket has already been sent.
  void partial(std::size_t parameter) { arrive(parameter, Arrival::ready, false); }

  /// The parameter has no gradient because requires_grad is off. All ranks must agree; a change
  /// costs one message.
  void freeze(std::size_t parameter);

  /// This backward computed no gradient for the parameter, but an older one exists.
  void hold(std::size_t parameter) { statuses_[parameter].holds_older = true; }

  /// Records that this backward has other frozen parameters than the previous one; `mask` is a hash
  /// of them. finish() throws, on all ranks, unless all ranks recorded the same masks.
  void record_freezing(std::uint64_t mask);

  /// Replaces ready() or refuse(): records the status, and leaves averaging to a later backward.
  void keep(std::size_t parameter, Arrival how = Arrival::kept) { mark(parameter, how); }

  /// Replaces ready() for a gradient that cannot be averaged. finish() will throw, on all ranks.
  void refuse(std::size_t parameter, Arrival why) { arrive(parameter, why, true); }

  /// Makes the next finish() throw an Error with this text on all ranks: "rank 1 found that " +
  /// text.
  void set_error(std::string text) { error_text_ = std::move(text); }

  /// Tells all ranks that the values of this rank's parameters may have been replaced; see
  /// reloaded().
  void tell_reloaded() { tell_reloaded_ = true; }

  /// Whether this backward has computed a gradient for the parameter.
  bool has(std::size_t parameter) const { return received_[parameter] != 0; }

  /// Parameters without a gradient from this backward so far. finish() averages their memory as it
  /// is.
  std::vector<std::size_t> without_gradient() const;

  /// Throws Error, the same on every rank, that names missing or refused gradients and their ranks.
  /// The contents of the gradients are undefined then.
  void finish() override;

  /// After finish(): the parameters without a gradient on any rank. Their memory holds an average
  /// nevertheless.
  const std::vector<std::size_t>& unused() const { return unused_; }

  /// After finish(): whether at least one rank called tell_reloaded(); the same on all ranks.
  bool reloaded() const { return reloaded_; }

  /// After finish(): no rank will use the result. The hook learns this in the next backward.
  void discard() { mark_discarded(true); }

  /// Replaces finish() when backward ended by an exception. Starts the remaining buckets with
  /// zeros, so that no rank waits for them. Waits, up to the group's deadline, for the buckets that
  /// use the gradients' memory. The rest of the exchange follows when the next gradient is ready;
  /// through it the other ranks learn of the exception. Never throws.
  void abandon() noexcept override {
    start_abandoning();
    await_abandoned();
  }

  /// The two steps of abandon(), for several methods in one backward: call the first step of all
  /// methods before the second step of any, since another rank may wait for them in another order.
  void start_abandoning() noexcept;
  void await_abandoned() noexcept;

  /// Completes the exchange earlier: when the next backward begins. REQUIRES: the ranks without an
  /// exception wait in that backward, or will reach it.
  void complete_abandoned();

 private:
  /// `final`: the gradient will not grow any more.
  void arrive(std::size_t parameter, Arrival how, bool final);
  /// Sets the status, unless the gradient was refused before.
  void mark(std::size_t parameter, Arrival how);
  /// The number of buckets that can start before the end of backward. The last one cannot, because
  /// the alert is sent with it; a hook, which sees gradients only, reduces all buckets early.
  std::size_t early_buckets() const { return missing_.size() - (settings_.hook ? 0 : 1); }
  Work reduce_async(std::size_t bucket, ArrayView memory);
  /// Reduces the buckets that have not started yet, and the alert. Returns whether some rank has a
  /// problem.
  bool reduce_rest(bool problem);
  /// A backward that ended by an exception, until its exchange is complete.
  struct Abandoned {
    std::size_t started = 0;  ///< number of buckets started
    std::vector<std::vector<std::byte>> zeros = {};
    std::vector<Work> works = {};  ///< reductions of `zeros`
  };
  /// Starts the remaining buckets with zeros.
  void start_remaining(Abandoned& backward);
  void complete(Abandoned& backward);
  bool has_problem() const;
  /// Whether the parameter's status is the one that the other ranks assume.
  bool is_expected(std::size_t parameter) const;
  /// This rank's report for the others.
  RankReport status_report() const;
  /// Throws, or records unused and frozen parameters. `error_texts` are the error texts by rank.
  void act_on(const Arrivals& arrivals, const std::vector<std::string>& error_texts);
  std::vector<std::size_t> frozen() const;
  /// Tells the hook that its results were discarded: all of them, or those of `unused`.
  void mark_discarded(bool all, const std::vector<std::size_t>& unused = {});
  static void await_all(std::vector<Work>& works) noexcept;
  void clear();

  Group group_;
  const comm::BucketOwner owner_;
  const Gradients& gradients_;
  const DdpSettings settings_;
  std::vector<std::size_t> bucket_of_;            ///< by parameter
  std::vector<std::vector<GradientPart>> parts_;  ///< by bucket, for the hook
  std::vector<GradientStatus> statuses_;  ///< by parameter, since gradients were last averaged
  std::vector<char> received_;            ///< by parameter: a gradient came in this backward
  std::vector<char> final_;               ///< by parameter: it came and will not grow any more
  std::vector<std::size_t> missing_;      ///< by bucket: number of gradients not ready yet
  std::vector<Work> started_;             ///< by bucket; started in the same order on all ranks
  std::vector<std::size_t> unused_;
  /// By parameter, as all ranks agreed. `with_gradient`: frozen, with a gradient from before.
  enum class Frozen : char { no, without_gradient, with_gradient };
  std::vector<Frozen> frozen_;
  std::uint64_t freezing_ = 0;
  std::string error_text_;
  bool tell_reloaded_ = false;
  bool reloaded_ = false;
  std::vector<Abandoned> abandoned_;
};

}  // namespace lockstep::internal::sync
