// SyncBatchNorm: batch norm over the batches of all ranks together, so that N workers compute what
// one worker computes on the whole batch.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lockstep {

/// What batch norm learns and keeps; undefined where its options say that there is none.
struct BatchNormState {
  torch::Tensor weight, bias;
  torch::Tensor running_mean, running_var, num_batches_tracked;
};

/// Takes the place of BatchNorm1d, 2d and 3d: the same options, initial values, and names of
/// parameters and buffers, so that weights' files fit either. Inputs are [N, channels, …].
///
/// In training mode, with a group, mean and variance are those of all ranks' inputs: one message in
/// forward and one in backward, each a few numbers a channel. Both are collectives: all ranks run
/// the same layers in the same order. Batches may differ in size, and be empty on some ranks: such
/// a rank runs forward on a tensor of no samples, and backward from the sum of what comes out.
/// Running statistics are equal to the bit on all ranks. Elsewhere, without a group or in
/// evaluation mode, it is torch's batch norm, and sends nothing.
///
/// Gradients are those of the sum of all ranks' losses. Averaged over the ranks, as ddp does it,
/// they are those of the whole batch, if each rank's loss is the mean over its samples times
/// (its samples × ranks / all samples): 1 where all have equally many.
///
/// Numbers: float32 and float64 in main memory; sums are in float64 around a value of the channel,
/// so that a mean that is large beside the deviation costs no digits. There is no gradient of
/// gradients (create_graph).
class SyncBatchNormImpl : public torch::nn::Cloneable<SyncBatchNormImpl>, public BatchNormState {
 public:
  explicit SyncBatchNormImpl(std::int64_t channels)
      : SyncBatchNormImpl(torch::nn::BatchNormOptions(channels)) {}
  explicit SyncBatchNormImpl(const torch::nn::BatchNormOptions& options,
                             std::optional<Group> group = std::nullopt);
  /// With these tensors. REQUIRES: they fit the options.
  SyncBatchNormImpl(const torch::nn::BatchNormOptions& options, std::optional<Group> group,
                    const BatchNormState& state);

  /// Throws UsageError for inputs of another shape or type than the layer's.
  torch::Tensor forward(const torch::Tensor& input);

  /// Whose batches are taken together. Give it a group of its own (group.split(0)), so that its
  /// messages do not queue behind gradients; all layers may share one. convert_sync_batch_norm does
  /// so.
  void set_group(std::optional<Group> group) { group_ = std::move(group); }
  const std::optional<Group>& group() const { return group_; }

  /// New parameters and buffers, with their initial values.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  torch::nn::BatchNormOptions options;

 private:
  void use(const BatchNormState& state);
  /// Counts a batch, and says how much of it goes into the running statistics.
  double count_batch();
  torch::Tensor forward_alone(const torch::Tensor& input);
  torch::Tensor forward_together(const torch::Tensor& input);

  std::optional<Group> group_;
};
TORCH_MODULE(SyncBatchNorm);

/// Makes all batch norm in `module` that of all ranks: every SyncBatchNorm in it gets a group of
/// its own, made of `group`, and every BatchNorm1d, 2d and 3d in a Sequential is replaced by a
/// SyncBatchNorm with the same parameters and buffers (the same tensors), options and mode. Returns
/// how many layers that are. Other names for a layer that was replaced, such as a holder that the
/// caller kept, mean the old one.
///
/// Elsewhere C++ cannot replace a layer: a forward() that was written by hand calls the member that
/// it names, whatever is registered under that name. For such a batch norm it throws UsageError
/// that names it, and changes nothing: declare the member as lockstep::SyncBatchNorm, which without
/// a group is torch's batch norm.
///
/// A collective; before or after the module is wrapped by DistributedDataParallel, and before the
/// first forward.
std::size_t convert_sync_batch_norm(torch::nn::Module& module, Group group);

}  // namespace lockstep
