// DistributedSampler: each rank's own part of a data set, for torch's DataLoader.
#pragma once

#include <lockstep/group.h>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

/// What becomes of a data set whose size the number of ranks does not divide.
enum class Remainder {
  repeat,  ///< for training: the first samples of the order come twice, so that all have as many
  drop,    ///< for training: the last ones do not come at all, so that all have as many
  uneven   ///< for evaluation: every sample comes exactly once, and ranks differ by at most one
};

/// All ranks give the same.
struct DistributedSamplerOptions {
  /// Names the order of every epoch: equal seeds give equal orders on every machine.
  std::uint64_t seed = 5000;

  /// A new random order each epoch; else the order of the data set, every time.
  bool shuffle = true;

  /// Training wants equally many samples on all ranks, so that averaged gradients are those of the
  /// whole batch and no rank waits for another at the end; a score must count each sample once.
  Remainder remainder = Remainder::repeat;
};

/// Indices of a data set for one rank. Global batch k is the same for every number of ranks: with a
/// batch of b samples a rank, it is the k-th run of b × size() samples of the epoch's order, and
/// rank r has the r-th part of it.
///
/// Every reset(), which the DataLoader calls at the begin of an epoch, goes on to the next epoch
/// and its order by itself; there is nothing to set. The first one after construction or load()
/// stays where it is, unless that is an epoch's end.
///
/// A small value; copies share their place. Keep one when you give one to a DataLoader, to save the
/// place with it. A loader with workers of its own is ahead of what you have got from it by what
/// it has fetched in advance.
///
/// Thread safety: one thread at a time, as the DataLoader does.
class DistributedSampler : public torch::data::samplers::Sampler<> {
 public:
  /// `count` is the data set's size. Throws UsageError if it is 0 or beyond 2^32 − 1, or if nothing
  /// is left for a rank once the rest is dropped.
  DistributedSampler(std::size_t count, const Group& group,
                     const DistributedSamplerOptions& options = {});
  ~DistributedSampler() override;
  DistributedSampler(const DistributedSampler&);
  DistributedSampler& operator=(const DistributedSampler&);
  DistributedSampler(DistributedSampler&&) noexcept;
  DistributedSampler& operator=(DistributedSampler&&) noexcept;

  /// Begins an epoch, of a data set of `new_size` from now on if that is given.
  void reset(torch::optional<std::size_t> new_size = torch::nullopt) override;

  /// The next `batch_size` indices of this rank, or what is left for it; none at the epoch's end,
  /// which ranks with uneven shares may reach one call apart. All ranks ask for as many.
  torch::optional<std::vector<std::size_t>> next(std::size_t batch_size) override;

  /// This rank's samples of an epoch.
  std::size_t size() const;
  /// The epoch under way, from 0.
  std::uint64_t epoch() const;

  /// The place: the same on all ranks, so one file will do, and another number of ranks can go on
  /// from it.
  void save(torch::serialize::OutputArchive& archive) const override;
  /// Throws Error if the archive has no place, or one in another data set or order.
  void load(torch::serialize::InputArchive& archive) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace lockstep
