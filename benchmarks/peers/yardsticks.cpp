// Yardsticks: the cost of moving the bytes alone. All ranks at the same time read and write as many
// bytes as an all-reduce must, without sums and without waiting for each other.
//
//   one pass   reads and writes its array in place: a lower bound for an all-reduce in place
//   memcpy     reads its array and writes another one: as many bytes, but twice the memory
//
// An array that fits into the caches stays there between repetitions, as it does for the
// contenders.
#include "contender.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace lockstep::internal::benchmarks {

namespace {

/// Zeroed pages that exist before they are timed. Otherwise all pages that are only read would be
/// the kernel's single page of zeros.
class Pages {
 public:
  explicit Pages(std::size_t count) : count_(count) {
    void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<float*>(memory);
  }
  ~Pages() { ::munmap(values_, bytes()); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<float> values() const { return {values_, count_}; }
  std::size_t bytes() const { return count_ * sizeof(float); }

 private:
  std::size_t count_;
  float* values_;
};

// Both arrays start at the beginning of a page. If the target started at a slightly larger offset
// within its page than the source, `rep movsb`, which the C library uses above 2 KiB, would take
// twenty times as long on some processors.
class Memcpy : public Contender {
 public:
  explicit Memcpy(std::size_t count) : from_(count), to_(count) {}

  std::span<float> values() override { return from_.values(); }
  void all_reduce() override {
    std::memcpy(to_.values().data(), from_.values().data(), from_.bytes());
    // The compiler must not remove the copy.
    asm volatile("" : : "r"(to_.values().data()) : "memory");
  }
  bool reduces() const override { return false; }

 private:
  Pages from_;
  Pages to_;
};

class OnePass : public Contender {
 public:
  explicit OnePass(std::size_t count) : pages_(count) {}

  std::span<float> values() override { return pages_.values(); }
  void all_reduce() override { add_one(pages_.values().data(), pages_.values().size()); }
  bool reduces() const override { return false; }

 private:
  // Uses the widest vectors of the machine, like Lockstep's loops.
  __attribute__((target_clones("avx512f", "avx2", "default"))) static void add_one(
      float* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] += 1.0f;
    asm volatile("" : : "r"(values) : "memory");
  }

  Pages pages_;
};

}  // namespace

std::unique_ptr<Contender> make_memcpy(const Setting& setting) {
  return std::make_unique<Memcpy>(setting.count);
}

std::unique_ptr<Contender> make_one_pass(const Setting& setting) {
  return std::make_unique<OnePass>(setting.count);
}

}  // namespace lockstep::internal::benchmarks
