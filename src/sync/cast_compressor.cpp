// float16 and bfloat16: half the bytes, no memory.
#include "comm/half.h"
#include "sync/compressor.h"

namespace lockstep::sync {

namespace {

using ToHalf = std::uint16_t (*)(float);
using FromHalf = float (*)(std::uint16_t);

/// Dividing before adding keeps sums within float16's range.
template <ToHalf to_half, typename T>
void compress(const T* gradients, std::uint16_t* halves, std::size_t count, float factor) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    halves[i] = to_half(static_cast<float>(gradients[i]) * factor);
}

template <FromHalf from_half, typename T>
void decompress(const std::uint16_t* halves, T* gradients, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) gradients[i] = from_half(halves[i]);
}

template <DataType type, ToHalf to_half, FromHalf from_half>
class Cast : public Compressor {
 public:
  void reduce(Group& group, const GradientBucket& bucket) override {
    if (bucket.gradients.type == DataType::float32)
      reduce_as<float>(group, bucket);
    else
      reduce_as<double>(group, bucket);
  }

 private:
  template <typename T>
  void reduce_as(Group& group, const GradientBucket& bucket) {
    T* gradients = static_cast<T*>(bucket.gradients.data);
    const std::size_t count = bucket.gradients.count;
    Memory& room = rooms_[bucket.number];
    // Buckets have the same lengths on all ranks, so all make room at the same time.
    const std::size_t bytes = count * sizeof(std::uint16_t);
    if (room.bytes() < bytes) room = group.allocate(bytes);
    auto* halves = room.as<std::uint16_t>().data();
    compress<to_half>(gradients, halves, count, 1.0F / static_cast<float>(group.size()));
    group.all_reduce({halves, count, type}, ReduceOp::sum);
    decompress<from_half>(halves, gradients, count);
  }

  std::map<std::size_t, Memory> rooms_;  ///< by bucket, in the group's memory
};

}  // namespace

std::unique_ptr<Compressor> make_cast(DataType type) {
  using namespace comm;
  if (type == DataType::float16)
    return std::make_unique<Cast<DataType::float16, float_to_float16, float16_to_float>>();
  return std::make_unique<Cast<DataType::bfloat16, float_to_bfloat16, bfloat16_to_float>>();
}

}  // namespace lockstep::sync
