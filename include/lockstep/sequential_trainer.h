// SequentialTrainer: trains a torch::nn::Sequential of your own with the onednn engine, on one rank
// or many. It replaces forward, backward and the optimizer by one call, several times as fast as
// libtorch's for convolutional networks; docs/engines.md says how.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace lockstep {

/// All ranks give the same.
struct SequentialTrainerOptions {
  /// Images of one rank in a usual step. Layouts in memory are chosen for it. Batches of other
  /// sizes may come too: each new size takes some time when it comes first, and may be slower.
  std::size_t batch = 64;

  /// SGD as PyTorch defines it.
  double learning_rate = 0.01;
  double momentum = 0;      ///< 0.9 is usual for larger networks
  double weight_decay = 0;  ///< 1e-4 to 5e-4 is usual
  bool nesterov = false;    ///< needs momentum above 0

  /// Convolutions whose shape suits it by Winograd's method: about twice as fast there, and rounded
  /// about ten times as coarsely. If not, all are direct.
  bool winograd = true;

  /// As DdpOptions has them.
  std::size_t first_bucket_bytes = 1 << 20;
  std::size_t bucket_bytes = 25 << 20;
  Algorithm algorithm = Algorithm::automatic;
};

/// How a network did on one rank's images of a batch. Sums, so that batches and ranks can be added
/// up.
struct BatchScore {
  double loss_sum = 0;  ///< cross entropy
  std::size_t correct = 0;
  std::size_t images = 0;
};

/// Trains a copy of the network on this rank's images, and averages gradients over all ranks while
/// backward runs: the weights are the same to the bit on all ranks after every step. Batch norm's
/// running statistics are each rank's own until average_statistics(). With SyncBatchNorm in place
/// of BatchNorm2d (convert_sync_batch_norm) they are always the same on all.
///
/// The network is made of Conv2d, BatchNorm2d, ReLU, Tanh, MaxPool2d, AvgPool2d, Flatten, Linear
/// and Identity, in float32; its last layer is Linear and puts out one score a class; the loss is
/// cross entropy.
///
/// At construction, a collective, the ranks make sure that they have the same network and options
/// (else all throw the same MismatchError), and take rank 0's weights. Throws UsageError that names
/// the first layer that the engine cannot hold; and always in builds without the engine. Your
/// module stays as it is until copy_to_module().
///
/// Images are float32 tensors [N, channels, height, width], labels int64 tensors [N] of classes
/// from 0; both in main memory, copied if they are not contiguous. Anything else throws UsageError,
/// before anything is computed or sent, on this rank alone: unless it ends, the others wait for it
/// up to the group's deadline.
///
/// Computes on as many threads as torch does for the calling thread. Thread safety: constructed,
/// used and destroyed by one thread.
class SequentialTrainer {
 public:
  /// `image` has the channels, height and width of the images to come.
  SequentialTrainer(torch::nn::Sequential network, std::array<std::int64_t, 3> image, Group group,
                    const SequentialTrainerOptions& options = {});
  ~SequentialTrainer();
  SequentialTrainer(const SequentialTrainer&) = delete;
  SequentialTrainer& operator=(const SequentialTrainer&) = delete;

  /// One step of training on the mean loss over the images of all ranks; returns how this rank's
  /// own did before the update. Where ranks have different numbers of images, or none, `all_images`
  /// says how many there are on all of them together; the default means as many on every rank. A
  /// collective.
  BatchScore step(const torch::Tensor& images, const torch::Tensor& labels,
                  std::size_t all_images = 0);

  /// How the network does on these images, by this rank's running statistics; learns nothing. No
  /// collective: ranks may evaluate different numbers of batches.
  BatchScore evaluate(const torch::Tensor& images, const torch::Tensor& labels);

  /// Of the steps to come; the same on all ranks. Throws UsageError unless it is 0 or more.
  void set_learning_rate(double rate);

  /// Gives all ranks the average of their running statistics: before evaluate(), so that all
  /// evaluate the same network. A collective.
  void average_statistics();

  /// Averages the statistics, and writes them and the weights into the module that was given to the
  /// constructor, in place, in PyTorch's own layout. A collective.
  void copy_to_module();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lockstep
