// DistributedSampler: divides a data set among the ranks, for torch's DataLoader.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

/// How a data set is divided if its size is not a multiple of the number of ranks.
enum class Remainder {
  repeat,  ///< for training: repeats the first samples, so that all ranks have the same number
  drop,    ///< for training: drops the last samples, so that all ranks have the same number
  uneven   ///< for evaluation: every sample once; the numbers of two ranks differ by at most one
};

/// Options of DistributedSampler. All ranks give the same.
struct DistributedSamplerOptions {
  /// Determines the order of every epoch, the same on every machine.
  std::uint64_t seed = 5000;

  /// If true, every epoch has a new random order. If false, the order is that of the data set.
  bool shuffle = true;

  /// Training needs the same number of samples on all ranks: then averaged gradients are those of
  /// the whole batch, and no rank waits at the end of an epoch. An evaluation must count each
  /// sample once.
  Remainder remainder = Remainder::repeat;
};

/// The indices of a data set that one rank trains on. Global batch k does not depend on how it is
/// divided: with b samples per rank, it is the k-th run of b × Group::size() samples in the order
/// of the epoch, and rank r has the r-th part of it.
///
/// Each reset(), which the DataLoader calls at the beginning of an epoch, moves on to the next
/// epoch and its order: there is no set_epoch() to call. The first reset() after construction or
/// load() stays at the current position, unless that is the end of an epoch.
///
/// A small value; copies share one position. Keep a copy when you pass one to a DataLoader, to save
/// the position with it. A loader with worker threads fetches in advance, so its position is ahead
/// of the batches that you have received.
///
/// Thread safety: one thread at a time, as with the DataLoader.
class DistributedSampler : public torch::data::samplers::Sampler<> {
 public:
  /// `count` is the size of the data set. Throws UsageError if it is 0 or above 2^32 − 1, or if
  /// Remainder::drop leaves nothing for a rank.
  DistributedSampler(std::size_t count, const Group& group,
                     const DistributedSamplerOptions& options = {});
  ~DistributedSampler() override;
  DistributedSampler(const DistributedSampler&);                 ///< shares the position
  DistributedSampler& operator=(const DistributedSampler&);      ///< shares the position
  DistributedSampler(DistributedSampler&&) noexcept;             ///< takes the position over
  DistributedSampler& operator=(DistributedSampler&&) noexcept;  ///< takes the position over

  /// Begins an epoch. `new_size`, if given, is the size of the data set from now on.
  void reset(torch::optional<std::size_t> new_size = torch::nullopt) override;

  /// The next `batch_size` indices of this rank, fewer if the epoch has fewer left, nullopt at its
  /// end. With Remainder::uneven two ranks may reach the end one call apart. All ranks pass the
  /// same `batch_size`.
  torch::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;

  /// The number of samples that this rank has in an epoch.
  std::size_t size() const;
  /// The current epoch, from 0.
  std::uint64_t epoch() const;

  /// Writes the position. It is the same on all ranks: one file is enough, and a run with another
  /// number of ranks can resume from it.
  void save(torch::serialize::OutputArchive& archive) const override;
  /// Reads the position. Throws Error if the archive has none, or one of another data set or order.
  void load(torch::serialize::InputArchive& archive) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace lockstep
