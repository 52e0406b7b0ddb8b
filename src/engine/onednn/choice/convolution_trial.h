// ConvolutionTrial: computes one convolution, in its own memory, by every available method.
//
// Each combination of methods is planned as a small model. Most steps occur in several plans: the
// trial keeps the few plans that together have all steps, runs them in turns, and records the
// shortest time of each step, since other work on the machine only adds time.
#pragma once

#include "data/loader.h"
#include "engine/onednn/choice/combination.h"
#include "engine/onednn/plan/parameter_store.h"

#include <memory>

namespace lockstep::internal::engine::onednn {

/// Thread safety: one thread at a time.
class ConvolutionTrial {
 public:
  ConvolutionTrial(const dnnl::engine& engine, const ConvolutionShape& shape);
  ~ConvolutionTrial();

  /// The combinations with distinct steps, direct ones first. Steps are numbered from 0.
  const std::vector<Combination>& combinations() const { return combinations_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// Runs every step at least once.
  void run();
  /// The shortest time of each step so far.
  std::span<const double> seconds() const { return seconds_; }

 private:
  struct Planned;
  struct Contender;

  void plan(const dnnl::engine& engine, const Methods& methods, std::vector<Planned>& planned);
  void choose_contenders(const dnnl::engine& engine, std::vector<Planned>& planned);
  std::size_t number_of(const Step& step);

  const ConvolutionShape shape_;
  const LayerGraph graph_;
  data::Batch batch_;
  std::vector<Step> steps_;
  std::vector<double> seconds_;
  std::vector<Combination> combinations_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  AlignedMemory arena_;  ///< used by all plans, since one runs at a time
};

/// The best methods for the shape on this machine, with this thread's number of threads: measured
/// until the choice is clear or times stop falling, for about a second of computing at most.
Methods measure(const dnnl::engine& engine, const ConvolutionShape& shape);

}  // namespace lockstep::internal::engine::onednn
