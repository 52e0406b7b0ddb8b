// Contender: one rank's end of one implementation of all-reduce (sum of float32), and the list of
// those that are compared. Each keeps one array, in the memory that suits it best.
//
// Thread safety: none; made, used and destroyed by one thread of the rank.
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

  /// This rank's array, replaced by the sum over all ranks with every all_reduce().
  virtual std::span<float> values() = 0;

  /// A collective.
  virtual void all_reduce() = 0;

  /// False for a yardstick that gives no sum to check.
  virtual bool reduces() const { return true; }
};

/// What a contender is made of.
struct Setting {
  Group& group;           ///< tells rank and size; only Lockstep's own contender sends through it
  std::size_t count;      ///< elements of the array
  std::string directory;  ///< empty, and the same for all ranks: for a rendezvous by files
};

/// Every make_* is a collective.
std::unique_ptr<Contender> make_lockstep(const Setting& setting);
std::unique_ptr<Contender> make_memcpy(const Setting& setting);
std::unique_ptr<Contender> make_one_pass(const Setting& setting);
std::unique_ptr<Contender> make_gloo_ring(const Setting& setting);
std::unique_ptr<Contender> make_gloo_bcube(const Setting& setting);
std::unique_ptr<Contender> make_gloo_ring_chunked(const Setting& setting);
std::unique_ptr<Contender> make_gloo_halving_doubling(const Setting& setting);
std::unique_ptr<Contender> make_c10d(const Setting& setting);

}  // namespace lockstep::internal::benchmarks
