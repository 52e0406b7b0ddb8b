// What moving the bytes alone costs: every rank, at the same time, goes once over as many bytes as
// an all-reduce has to read and write for it. No sums, no waiting for each other.
//
//   one pass   reads and writes its array in place: what an all-reduce in place cannot do without
//   memcpy     reads its array and writes another: as many bytes, but twice the memory
//
// Long arrays are limited by memory, short ones by the caches, and both see the same caches: an
// array that fits into them stays there from one repetition to the next, as it does for the
// contenders.
#include "contender.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace lockstep::internal::benchmarks {

namespace {

/// Zeroed pages, all touched before they are timed: those of a memory that is only read would all
/// be one page of zeros.
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

// Both arrays begin at the same place within a page: where the target begins a little further into
// it than the source, a copy by `rep movsb`, the C library's choice for more than 2 KiB, takes
// twenty times as long on some processors.
class Memcpy : public Contender {
 public:
  explicit Memcpy(std::size_t count) : from_(count), to_(count) {}

  std::span<float> values() override { return from_.values(); }
  void all_reduce() override {
    std::memcpy(to_.values().data(), from_.values().data(), from_.bytes());
    // Makes the compiler believe that somebody reads the copy.
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
  // The widest vectors of the machine, as in Lockstep's own loops.
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
