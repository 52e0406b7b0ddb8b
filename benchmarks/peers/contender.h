// Contender: one rank of an implementation of all-reduce (sum of float32). Each keeps one array, in
// the memory that is best for it.
//
// Thread safety: none; one thread of the rank makes, uses and destroys it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lockstep::internal {
class Group;
}

namespace lockstep::internal::benchmarks {

class Contender {
 public:
  virtual ~Contender() = default;

  /// This rank's array. Every all_reduce() replaces it by the sum over all ranks.
  virtual std::span<float> values() = 0;

  /// A collective.
  virtual void all_reduce() = 0;

  /// False for a yardstick, which computes no sum.
  virtual bool reduces() const { return true; }
};

/// The arguments of a contender.
struct Setting {
  Group& group;       ///< provides rank and size; only Lockstep's contender communicates with it
  std::size_t count;  ///< elements of the array
  std::string directory;  ///< an empty directory, the same for all ranks, for a rendezvous by files
};

/// Every make_ function is a collective.
std::unique_ptr<Contender> make_lockstep(const Setting& setting);
std::unique_ptr<Contender> make_memcpy(const Setting& setting);
std::unique_ptr<Contender> make_one_pass(const Setting& setting);
std::unique_ptr<Contender> make_gloo_ring(const Setting& setting);
std::unique_ptr<Contender> make_gloo_bcube(const Setting& setting);
std::unique_ptr<Contender> make_gloo_ring_chunked(const Setting& setting);
std::unique_ptr<Contender> make_gloo_halving_doubling(const Setting& setting);
std::unique_ptr<Contender> make_c10d(const Setting& setting);

}  // namespace lockstep::internal::benchmarks
