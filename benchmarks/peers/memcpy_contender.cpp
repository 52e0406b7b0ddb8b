// The yardstick: every rank copies its array once, all at the same time. An all-reduce cannot read
// or write less, though one in place needs only half the memory and may so be a little faster.
#include "contender.h"

#include <cstring>

namespace lockstep::benchmarks {

namespace {

class MemcpyContender : public Contender {
 public:
  explicit MemcpyContender(std::size_t count) : values_(count), copy_(count) {}

  std::span<float> values() override { return values_; }
  void all_reduce() override {
    std::memcpy(copy_.data(), values_.data(), values_.size() * sizeof(float));
    // Makes the compiler believe that somebody reads the copy.
    asm volatile("" : : "r"(copy_.data()) : "memory");
  }
  bool reduces() const override { return false; }

 private:
  std::vector<float> values_;
  std::vector<float> copy_;
};

}  // namespace

std::unique_ptr<Contender> make_memcpy(const Setting& setting) {
  return std::make_unique<MemcpyContender>(setting.count);
}

}  // namespace lockstep::benchmarks
