// Engine: runs forward and backward of a model. Weights and gradients live in flat memory that the
// sync method and the optimizer use too.
#pragma once

#include <lockstep/types.h>

#include "data/loader.h"
#include "models/stored_tensor.h"
#include "observe/trace.h"
#include "sync/gradients.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::engine {

/// The result of a forward pass. All are sums, so that batches and ranks can be added up.
struct Score {
  double loss_sum = 0;  ///< cross entropy summed over the samples
  std::size_t correct = 0;
  std::size_t samples = 0;
};

/// One rank's copy of the model. Thread safety: one thread at a time.
class Engine {
 public:
  using Ready = std::function<void(std::size_t parameter)>;

  virtual ~Engine() = default;

  /// "torch" or "onednn".
  virtual std::string_view name() const = 0;

  /// The parameters. An engine may store them in its own layout with padding, which `count`
  /// includes.
  virtual std::vector<sync::Parameter> parameters() const = 0;
  virtual DataType type() const = 0;

  /// Moves the weights, with their values, to `weights`, laid out like the gradients. Each backward
  /// then writes `gradients` and calls ready(i) as soon as the gradient of parameter i is final.
  /// Both must outlive the engine's use. REQUIRES: called once.
  virtual void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) = 0;

  /// Training mode. Keeps what backward needs, except for the batch. REQUIRES: the batch is neither
  /// changed nor destroyed until backward has ended, and nothing is evaluated in between.
  virtual Score forward(const data::Batch& batch) = 0;

  /// Computes the gradients of `factor` times the mean loss of the last forward; zero for an empty
  /// batch.
  virtual void backward(double factor) = 0;

  /// Evaluation mode.
  virtual Score evaluate(const data::Batch& batch) = 0;

  /// Writes every operation of forward and backward to the trace, until called with null. REQUIRES:
  /// called by the thread that runs them.
  virtual void record_in(observe::Trace* trace) = 0;

  /// The memory of batch norm's running means and variances, of type(), and of the number of
  /// batches that they cover, as integers. Training does not need them, evaluation uses them.
  virtual std::vector<ArrayView> running_statistics() = 0;

  /// Parameters and buffers under PyTorch's names, in plain layout.
  virtual std::vector<models::StoredTensor> parameter_state() const = 0;
  virtual std::vector<models::StoredTensor> buffer_state() const = 0;

  /// Throws Error that names `source` and the first tensor that does not fit.
  virtual void load(const std::vector<models::StoredTensor>& state, const std::string& source) = 0;

  /// Converts values in a parameter's layout, such as optimizer state, to one row in plain layout
  /// without padding; from_plain() converts back, and returns false if the size differs.
  virtual std::vector<std::byte> to_plain(std::size_t parameter, const ArrayView& values) const;
  virtual bool from_plain(std::size_t parameter, std::span<const std::byte> plain,
                          const ArrayView& values) const;
};

}  // namespace lockstep::internal::engine
