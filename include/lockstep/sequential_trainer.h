// SequentialTrainer: trains a torch::nn::Sequential of your own with the onednn engine, on one rank
// or many. One call does forward, backward and the optimizer step, several times as fast as
// libtorch for convolutional networks. docs/engines.md describes the engine.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep {

/// Options of SequentialTrainer. All ranks give the same.
struct SequentialTrainerOptions {
  /// Images of one rank in a usual step. Memory layouts are chosen for it. Other batch sizes work,
  /// too: the first step of each takes longer, and all of them may be slower.
  std::size_t batch = 64;

  /// SGD as PyTorch defines it, with this learning rate.
  double learning_rate = 0.01;
  double momentum = 0;      ///< 0.9 is usual for larger networks
  double weight_decay = 0;  ///< 1e-4 to 5e-4 is usual
  bool nesterov = false;    ///< needs momentum above 0

  /// Whether convolutions whose shape suits it use Winograd's method: about twice as fast, with
  /// about ten times the rounding error. If false, all are direct.
  bool winograd = true;

  std::size_t first_bucket_bytes = 1 << 20;    ///< as in DdpOptions
  std::size_t bucket_bytes = 25 << 20;         ///< as in DdpOptions
  Algorithm algorithm = Algorithm::automatic;  ///< as in DdpOptions
};

/// Loss and accuracy of one rank's part of a batch, as sums that can be added over batches and
/// ranks.
struct BatchScore {
  double loss_sum = 0;      ///< sum of the images' cross entropies
  std::size_t correct = 0;  ///< images classified correctly
  std::size_t images = 0;   ///< images in total
};

/// Trains a copy of the network on this rank's images, and averages gradients over all ranks while
/// backward runs. After every step the weights are the same to the bit on all ranks. The running
/// statistics of batch norm are each rank's own until average_statistics(). With SyncBatchNorm in
/// place of BatchNorm2d (convert_sync_batch_norm()) they are always the same on all ranks.
///
/// The network consists of Conv2d, BatchNorm2d, ReLU, Tanh, MaxPool2d, AvgPool2d, Flatten, Linear
/// and Identity layers in float32. Its last layer is Linear with one score per class. The loss is
/// cross entropy.
///
/// Images are float32 tensors [N, channels, height, width], labels int64 tensors [N] of classes
/// from 0. Both are on the CPU, and are copied if they are not contiguous. Anything else throws
/// UsageError on this rank, before anything is computed or sent: other ranks that have begun the
/// step wait for it up to the group's deadline.
///
/// Computes on as many threads as torch does for the calling thread.
///
/// Thread safety: constructed, used and destroyed by one thread.
class SequentialTrainer {
 public:
  /// A collective. `image` has the channels, height and width of the images. Copies the network,
  /// which stays as it is until copy_to_module(), and takes rank 0's weights. Throws the same
  /// MismatchError on all ranks if their networks or options differ, and a UsageError that names
  /// the first layer that the engine does not support. In builds without the engine it always
  /// throws UsageError.
  SequentialTrainer(torch::nn::Sequential network, std::array<std::int64_t, 3> image, Group group,
                    const SequentialTrainerOptions& options = {});
  ~SequentialTrainer();
  SequentialTrainer(const SequentialTrainer&) = delete;
  SequentialTrainer& operator=(const SequentialTrainer&) = delete;

  /// A collective: one step of training on the mean loss over the images of all ranks. Returns the
  /// score of this rank's images before the update. If ranks have different numbers of images, or
  /// none, `all_images` is the number on all ranks together; 0 means the same number on every rank.
  BatchScore step(const torch::Tensor& images, const torch::Tensor& labels,
                  std::size_t all_images = 0);

  /// The score of the network on these images, with this rank's running statistics. Not a
  /// collective: ranks may evaluate different numbers of batches.
  BatchScore evaluate(const torch::Tensor& images, const torch::Tensor& labels);

  /// Sets the learning rate of the following steps. All ranks give the same. Throws UsageError
  /// unless it is 0 or more.
  void set_learning_rate(double rate);

  /// A collective: gives all ranks the average of their running statistics. Call it before
  /// evaluate(), so that all ranks evaluate the same network.
  void average_statistics();

  /// A collective: averages the running statistics, and writes them and the weights into the module
  /// that was given to the constructor, in place and in PyTorch's layout.
  void copy_to_module();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lockstep
