// Plan: the forward and backward pass of a network for one batch size, as two lists of steps whose
// primitives, layouts and memory are all decided. Running it allocates nothing (oneDNN itself makes
// small allocations, and so do the messages of batch norm over all ranks).
#pragma once

#include "engine/engine.h"
#include "engine/onednn/arena.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::engine::onednn {

/// Whose memory an operand lies in.
enum class Home {
  arena,      ///< of the plan; number: the buffer
  weights,    ///< number: the parameter
  gradients,  ///< number: the parameter
  images      ///< of the batch
};

/// What a step reads or writes: where it lies, and how.
struct Operand {
  Home home = Home::arena;
  std::size_t number = 0;
  dnnl::memory::desc layout;

  bool same_place(const Operand& other) const {
    return home == other.home && number == other.number;
  }
};

/// What a kernel of our own is told, beside where its operands lie.
struct Pass {
  std::span<const std::int64_t> labels;
  double factor = 1;  ///< backward: of the mean loss
  Score score;        ///< forward: for the kernel of the loss to fill in
};

using Kernel = std::function<void(std::span<float* const> operands, Pass& pass)>;

/// One primitive of oneDNN or one kernel of our own.
struct Step {
  std::string name;            ///< "features.0 forward"
  std::string implementation;  ///< as oneDNN calls it: "jit:avx512_core"
  dnnl::primitive primitive;
  std::vector<std::pair<int, Operand>> operands;  ///< with oneDNN's name for each, such as
                                                  ///< DNNL_ARG_SRC; a kernel gets them in order
  Kernel kernel;                   ///< runs instead of the primitive, if there is one
  std::vector<std::size_t> ready;  ///< parameters whose gradients are final after it
};

/// What a plan is made of: see Builder.
struct Draft {
  std::vector<Step> steps;
  std::size_t first_of_backward = 0;  ///< the number of steps for a plan that only evaluates
  Arena arena;                        ///< with its buffers placed
};

/// One thread at a time.
class Plan {
 public:
  Plan(const dnnl::engine& engine, Draft draft);

  std::size_t arena_bytes() const { return draft_.arena.bytes(); }
  const std::vector<Step>& steps() const { return draft_.steps; }

  /// Where things lie from now on. The arena has arena_bytes() at a multiple of Arena::kAlignment
  /// and keeps nothing between a forward and the next; weights and gradients are given by
  /// parameter.
  void use_arena(std::byte* arena);
  void use_weights(std::span<float* const> weights) { use(Home::weights, weights); }
  void use_gradients(std::span<float* const> gradients) { use(Home::gradients, gradients); }

  /// What times in traces are by: another clock than now_seconds(), in seconds as well.
  void use_clock(double (*clock)()) { clock_ = clock; }

  /// Engine's forward, backward and evaluate, for a batch of the plan's size. Steps are written to
  /// the trace, if there is one.
  Score forward(const data::Batch& batch, observe::Trace* trace);
  void backward(double factor, const Engine::Ready& ready, observe::Trace* trace);

 private:
  /// A step with its operands' memory.
  struct Bound {
    std::vector<dnnl::memory> memories;
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<float*> pointers;
  };

  void use(Home home, std::span<float* const> places);
  void set(std::size_t step, std::size_t operand, void* place);
  void run(std::size_t step, observe::Trace* trace);

  Draft draft_;
  dnnl::stream stream_;
  std::vector<Bound> bound_;
  std::vector<std::pair<std::size_t, std::size_t>> images_;  ///< steps and operands that take them
  Pass pass_;
  double (*clock_)() = now_seconds;
};

}  // namespace lockstep::engine::onednn
