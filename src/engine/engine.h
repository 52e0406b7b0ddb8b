// Engine: computes forward and backward of a model. Weights and gradients live in flat memory that
// it shares with the sync method and the optimizer.
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

namespace lockstep::engine {

/// What a forward pass says of a batch. Sums, so that batches and ranks can be added up.
struct Score {
  double loss_sum = 0;  ///< cross entropy summed over the samples
  std::size_t correct = 0;
  std::size_t samples = 0;
};

/// One rank's copy of the model. One thread at a time.
class Engine {
 public:
  using Ready = std::function<void(std::size_t parameter)>;

  virtual ~Engine() = default;

  /// "torch" or "onednn".
  virtual std::string_view name() const = 0;

  /// An engine may keep parameters in a layout of its own, with padding: `count` includes it.
  virtual std::vector<sync::Parameter> parameters() const = 0;
  virtual DataType type() const = 0;

  /// From now on weights are in `weights`, laid out like the gradients, and each backward writes
  /// `gradients` and calls ready(i) as soon as parameter i's is final. The weights keep their
  /// values. Both must outlive the engine's use. Called once.
  virtual void bind(ArrayView weights, const sync::Gradients& gradients, Ready ready) = 0;

  /// Training mode; keeps what backward needs, but for the batch: REQUIRES that it lives, as it is,
  /// until backward has ended, and that nothing is evaluated in between.
  virtual Score forward(const data::Batch& batch) = 0;

  /// Gradients of `factor` times the mean loss of the last forward. With an empty batch they are
  /// zero.
  virtual void backward(double factor) = 0;

  /// Evaluation mode.
  virtual Score evaluate(const data::Batch& batch) = 0;

  /// From now on every operation that forward and backward run is written to the trace, until it is
  /// called with null. By the thread that calls them.
  virtual void record_in(observe::Trace* trace) = 0;

  /// What the model has found out about its inputs, where it lies: batch norm's running means and
  /// variances, of type(), and of how many batches they are, as integers. Training goes on without
  /// them, evaluation uses them.
  virtual std::vector<ArrayView> statistics() = 0;

  /// Parameters and buffers under PyTorch's names, in plain layout.
  virtual std::vector<models::StoredTensor> parameter_state() const = 0;
  virtual std::vector<models::StoredTensor> buffer_state() const = 0;

  /// Throws Error that names `source` and the first tensor that does not fit.
  virtual void load(const std::vector<models::StoredTensor>& state, const std::string& source) = 0;

  /// Values that lie as a parameter's weights do, such as an optimizer's, as one row in the order
  /// of plain layout; and back, if there are as many. Without padding.
  virtual std::vector<std::byte> to_plain(std::size_t parameter, const ArrayView& values) const;
  virtual bool from_plain(std::size_t parameter, std::span<const std::byte> plain,
                          const ArrayView& values) const;
};

}  // namespace lockstep::engine
