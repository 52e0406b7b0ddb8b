// ConvolutionTrial: one convolution of a shape, alone in memory of its own, computed in every way
// that there is.
//
// Each combination of methods is planned within a small network. Most steps are the same in several
// plans: it keeps the few plans that together have all steps, runs them in turns, and takes the
// shortest time that each step ever needed, since whatever else a machine does only adds to it.
#pragma once

#include "data/loader.h"
#include "engine/onednn/combination.h"
#include "engine/onednn/parameter_store.h"

#include <memory>

namespace lockstep::engine::onednn {

/// One thread at a time.
class ConvolutionTrial {
 public:
  ConvolutionTrial(const dnnl::engine& engine, const ConvolutionShape& shape);
  ~ConvolutionTrial();

  /// Those that do not run the same steps as another, direct ones first. Steps are numbered from 0.
  const std::vector<Combination>& combinations() const { return combinations_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// Runs every step, at least once.
  void run();
  /// The least that each step has taken so far.
  std::span<const double> seconds() const { return seconds_; }

 private:
  struct Planned;
  struct Contender;

  void plan(const dnnl::engine& engine, const Methods& methods, std::vector<Planned>& planned);
  void choose_contenders(const dnnl::engine& engine, std::vector<Planned>& planned);
  std::size_t number_of(const Step& step);

  const ConvolutionShape shape_;
  const Network network_;
  data::Batch batch_;
  std::vector<Step> steps_;
  std::vector<double> seconds_;
  std::vector<Combination> combinations_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  AlignedMemory arena_;  ///< of all, since only one runs at a time
};

/// What is best for the shape on this machine, with the threads that this thread computes with:
/// measured until it is clear or times fall no more, for about a second of computing at most.
Methods measure(const dnnl::engine& engine, const ConvolutionShape& shape);

}  // namespace lockstep::engine::onednn
