// Plan: the forward and backward pass of a model for one batch size, as two lists of steps with
// fixed primitives, layouts and memory. Running it allocates nothing (except for small allocations
// of oneDNN itself, and of the messages of batch norm over all ranks).
#pragma once

#include "engine/engine.h"
#include "engine/onednn/plan/arena.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::internal::engine::onednn {

/// The memory of an operand.
enum class Home {
  arena,      ///< the plan's arena; number: the buffer
  weights,    ///< number: the parameter
  gradients,  ///< number: the parameter
  images      ///< the batch
};

/// An input or output of a step: its memory and its layout.
struct Operand {
  Home home = Home::arena;
  std::size_t number = 0;
  dnnl::memory::desc layout;

  bool same_place(const Operand& other) const {
    return home == other.home && number == other.number;
  }
};

/// Arguments of our kernels, in addition to their operands.
struct Pass {
  std::span<const std::int64_t> labels;
  double factor = 1;  ///< backward: factor of the mean loss
  Score score;        ///< forward: written by the kernel of the loss
};

using Kernel = std::function<void(std::span<float* const> operands, Pass& pass)>;

/// One oneDNN primitive or one of our kernels.
struct Step {
  std::string name;            ///< "features.0 forward"
  std::string implementation;  ///< oneDNN's name: "jit:avx512_core"
  dnnl::primitive primitive;
  std::vector<std::pair<int, Operand>> operands;  ///< with oneDNN's argument, such as DNNL_ARG_SRC;
                                                  ///< a kernel gets them in this order
  Kernel kernel;                   ///< runs instead of the primitive, if there is one
  std::vector<std::size_t> ready;  ///< parameters whose gradients are final after it
};

/// The result of a Builder, from which a plan is made.
struct Draft {
  std::vector<Step> steps;
  std::size_t first_of_backward = 0;  ///< the number of steps in a plan for evaluation
  Arena arena;                        ///< with its buffers placed
};

/// Thread safety: one thread at a time.
class Plan {
 public:
  Plan(const dnnl::engine& engine, Draft draft);

  std::size_t arena_bytes() const { return draft_.arena.bytes(); }
  const std::vector<Step>& steps() const { return draft_.steps; }

  /// Set the memory of all following passes. The arena has arena_bytes(), aligned to
  /// Arena::kAlignment, and holds nothing between a backward and the next forward. Weights and
  /// gradients are given by parameter.
  void use_arena(std::byte* arena);
  void use_weights(std::span<float* const> weights) { use(Home::weights, weights); }
  void use_gradients(std::span<float* const> gradients) { use(Home::gradients, gradients); }

  /// Sets the clock of traces, in seconds; now_seconds() by default.
  void use_clock(double (*clock)()) { clock_ = clock; }

  /// Engine's forward, backward and evaluate, for a batch of the plan's size. Steps are written to
  /// the trace unless it is null.
  Score forward(const data::Batch& batch, observe::Trace* trace);
  void backward(double factor, const Engine::Ready& ready, observe::Trace* trace);

 private:
  /// The operands of a step, bound to memory.
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
  std::vector<std::pair<std::size_t, std::size_t>>
      images_;  ///< steps and operands that read images
  Pass pass_;
  double (*clock_)() = now_seconds;
};

}  // namespace lockstep::internal::engine::onednn
