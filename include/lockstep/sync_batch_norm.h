// SyncBatchNorm: batch norm over the batches of all ranks, so that N workers compute what one
// worker computes on the whole batch.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lockstep {

/// Parameters and buffers of a batch norm layer. Tensors that its options leave out are undefined.
struct BatchNormState {
  torch::Tensor weight;               ///< factor of each channel
  torch::Tensor bias;                 ///< offset of each channel
  torch::Tensor running_mean;         ///< of each channel
  torch::Tensor running_var;          ///< of each channel, unbiased
  torch::Tensor num_batches_tracked;  ///< batches in the running statistics
};

/// Batch norm over the batches of all ranks. It replaces BatchNorm1d, 2d and 3d: it has the same
/// options, initial values, and names of parameters and buffers, so that files of weights fit both.
/// Inputs are [N, channels, …].
///
/// In training mode, with a group, mean and variance are those of the inputs of all ranks. Forward
/// and backward are collectives, one message each of a few numbers per channel: all ranks run the
/// same layers in the same order. Batches may differ in size. A rank with an empty batch runs
/// forward on a tensor of no samples, and backward from the sum of the output. Running statistics
/// are equal to the bit on all ranks. Without a group, or in evaluation mode, the layer is torch's
/// batch norm and sends nothing.
///
/// Gradients are those of the sum of the losses of all ranks. Averaged by DistributedDataParallel
/// they are those of the whole batch, if each rank's loss is the mean over its samples times
/// (its samples × ranks / all samples), which is 1 if all ranks have the same number of samples.
///
/// Types: float32 and float64, on the CPU. Sums are computed in float64, relative to a value of the
/// channel, so that a mean that is large compared to the deviation costs no precision. Gradients of
/// gradients (create_graph) are not supported.
class SyncBatchNormImpl : public torch::nn::Cloneable<SyncBatchNormImpl>, public BatchNormState {
 public:
  /// With default options and without a group.
  explicit SyncBatchNormImpl(std::int64_t channels)
      : SyncBatchNormImpl(torch::nn::BatchNormOptions(channels)) {}
  /// Without a group the layer is torch's batch norm, until set_group().
  explicit SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                             std::optional<Group> group = std::nullopt);
  /// With the tensors of `state`. REQUIRES: they fit the options.
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::optional<Group> group,
                    const BatchNormState& state);

  /// A collective in training mode with a group. Throws UsageError for an input whose shape or type
  /// does not fit the layer.
  torch::Tensor forward(const torch::Tensor& input);

  /// The ranks whose batches are normalised together. Use a group of its own (group.split(0)), so
  /// that its messages do not queue behind gradients; all layers may share one.
  /// convert_sync_batch_norm() does so.
  void set_group(std::optional<Group> group) { group_ = std::move(group); }
  /// The group of set_group() or of the constructor.
  const std::optional<Group>& group() const { return group_; }

  /// Makes new parameters and buffers with their initial values.
  void reset() override;
  /// Prints the type and the options.
  void pretty_print(std::ostream& stream) const override;

  torch::nn::BatchNormOptions options;  ///< those of construction

 private:
  void use(const BatchNormState& state);
  /// Counts a batch, and returns its weight in the running statistics.
  double count_batch();
  torch::Tensor forward_alone(const torch::Tensor& input);
  torch::Tensor forward_together(const torch::Tensor& input);

  std::optional<Group> group_;
};
/// Holder of a SyncBatchNormImpl, as torch::nn::BatchNorm2d is of BatchNorm2dImpl.
TORCH_MODULE(SyncBatchNorm);

/// A collective. Makes all batch norm layers of `module` normalise over all ranks, and returns
/// their number. Call it before the first forward, before or after DistributedDataParallel wraps
/// the module.
///
/// - Every SyncBatchNorm in the module gets a group that is split from `group`.
/// - Every BatchNorm1d, 2d and 3d in a Sequential is replaced by a SyncBatchNorm with the same
///   tensors, options and mode. Other holders of a replaced layer still refer to the old one.
///
/// A layer outside of a Sequential cannot be replaced in C++: a hand-written forward() calls its
/// member, whatever is registered under that name. For such a layer the function throws a
/// UsageError that names it, and changes nothing. Declare the member as lockstep::SyncBatchNorm,
/// which without a group is torch's batch norm.
std::size_t convert_sync_batch_norm(torch::nn::Module& module, Group group);

}  // namespace lockstep
