// BackwardSync: averages the gradients of a module over all ranks in every backward of its thread.
//
// It hooks the module's gradients and observes backwards. A backward that reaches the module begins
// with begin_backward(), which looks for changes of the module; gradients are handed to the sync
// method as they become final; end_backward() averages the rest. The first backward shows the order
// in which gradients come, and gradients are then moved into it. A backward that fails is
// abandoned, so that the other ranks learn of it.
//
// Thread safety: constructed, used and destroyed by the thread that trains.
#pragma once

#include <lockstep/ddp.h>

#include "ddp/backward_observer.h"
#include "ddp/gradient_hooks.h"
#include "ddp/module_watch.h"
#include "ddp/participation.h"
#include "sync/methods/ddp.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::ddp {

class BackwardSync : private BackwardObserver {
 public:
  /// What the wrapper owns and this class uses. REQUIRES: all of it outlives the BackwardSync.
  struct Wrapper {
    Group& group;
    const DdpOptions& options;
    const std::shared_ptr<const torch::nn::Module>& module;
    const Participation& participation;
    const int& unsynchronised;  ///< number of NoSync guards: above 0, gradients only add up
    std::function<void()> broadcast_buffers;
  };

  /// A collective. REQUIRES: the group has several ranks, with the same module.
  explicit BackwardSync(Wrapper wrapper);

  /// Takes part in the other ranks' backward without gradients.
  void run_without_batch();

  /// Completes the exchange of a backward that failed: the other ranks may wait for it.
  void complete_abandoned();

  /// The values of the module were replaced, the same on all ranks.
  void accept_new_values();

 private:
  /// Whether the running backward has reached this module.
  enum class Reach { none, reached, ended };

  void before_backward() override;
  void admit(const BackwardCall& call) override;
  void before_nested_backward(const BackwardCall& call) override;
  void after_backward() override;
  void after_failure(const BackwardCall& call) noexcept override;
  void await_failure() noexcept override;
  bool concerns(const BackwardCall& call) const override;

  bool synchronises() const { return wrapper_.unsynchronised == 0; }
  sync::BucketOptions bucket_options() const;
  void use(std::unique_ptr<sync::Gradients> gradients);

  // The two ends of a backward.
  void begin_backward();
  void end_backward();

  /// Ranks with different frozen parameters may run backwards that do not correspond: one of them
  /// may reach the module on this rank only.
  void record_freezing();
  /// A graph may be older than the last load, and newer than the one before; or older than the
  /// wrapper.
  void hook_again(const BackwardCall& call);

  // Calls of the hooks.
  void on_ready(std::size_t parameter);
  void on_refused(std::size_t parameter, sync::Arrival why);
  /// A backward reached a parameter without computing a gradient.
  void on_reached();
  void require_observed() const;

  /// Reports why gradients are missing. A rank without a batch has zeros, which count as gradients
  /// unless parameters may be unused.
  void report_missing(const std::vector<std::size_t>& missing);
  /// The parameters of some rank may have been loaded from a file.
  void require_same_values();
  void scale_gradients();
  /// Moves gradients into the order in which they came on rank 0, so that buckets are complete in
  /// their order.
  void reorder();

  const Wrapper wrapper_;
  ModuleWatch watch_;
  std::unique_ptr<sync::Gradients> gradients_;
  std::optional<sync::Ddp> method_;     ///< none for a module without trained parameters
  std::optional<GradientHooks> hooks_;  ///< none for a module without trained parameters
  std::optional<ObserveBackward> backwards_;
  Reach reach_ = Reach::none;
  std::string problem_;           ///< why this backward cannot be synchronised; empty if it can
  std::string lasting_problem_;   ///< the same for all later backwards
  bool hooks_were_lost_ = false;  ///< a parameter was loaded since the module was wrapped
  bool reloaded_ = false;         ///< values may differ between ranks until they are compared
  /// By parameter: whether it was frozen when the last backward began. Empty after an error, which
  /// occurs on all ranks: they then compare it again.
  std::vector<char> frozen_;
  std::vector<char> nested_;  ///< by parameter: a nested backward adds to its gradient
  std::vector<std::size_t> arrival_order_;  ///< of the parameters' gradients in the first backward
  bool reordered_ = false;
  bool abandoned_ = false;  ///< the backward has just failed
  std::uint64_t step_ = 1;  ///< each backward ends a step
};

}  // namespace lockstep::internal::ddp
