// float16 and bfloat16: half the bytes, without a residual.
#include "comm/half.h"
#include "sync/compression/compressor.h"

#include <algorithm>
#include <array>
#include <map>

namespace lockstep::internal::sync {

namespace {

using ToHalf = std::uint16_t (*)(float);
using FromHalf = float (*)(std::uint16_t);

/// Elements converted to float32 at a time; a piece stays in the cache.
constexpr std::size_t kPiece = 4096;

template <typename Function>
void each_piece(const ArrayView& gradients, Function function) {
  std::array<float, kPiece> buffer;
  for (std::size_t begin = 0; begin < gradients.count; begin += kPiece) {
    const std::size_t count = std::min(kPiece, gradients.count - begin);
    function(gradients.slice(begin, count), std::span(buffer).first(count), begin);
  }
}

template <DataType type, ToHalf to_half, FromHalf from_half>
class Cast : public Compressor {
 public:
  void reduce(Group& group, const GradientBucket& bucket) override {
    const std::size_t count = bucket.gradients.count;
    Memory& buffer = buffers_[bucket.number];
    // Buckets have the same lengths on all ranks, so all ranks allocate at the same time.
    const std::size_t bytes = count * sizeof(std::uint16_t);
    if (buffer.bytes() < bytes) buffer = group.allocate(bytes);
    auto* halves = buffer.as<std::uint16_t>().data();
    compress(bucket.gradients, halves, 1.0F / static_cast<float>(group.size()));
    group.all_reduce({halves, count, type}, ReduceOp::sum);
    decompress(halves, bucket.gradients);
  }

 private:
  /// Dividing before adding keeps sums within float16's range.
  static void compress(const ArrayView& gradients, std::uint16_t* halves, float factor) {
    each_piece(gradients, [&](const ArrayView& piece, std::span<float> values, std::size_t begin) {
      load(piece, values);
      std::transform(values.begin(), values.end(), halves + begin,
                     [&](float value) { return to_half(value * factor); });
    });
  }

  static void decompress(const std::uint16_t* halves, const ArrayView& gradients) {
    each_piece(gradients, [&](const ArrayView& piece, std::span<float> values, std::size_t begin) {
      std::transform(halves + begin, halves + begin + values.size(), values.begin(), from_half);
      store(values, piece);
    });
  }

  std::map<std::size_t, Memory> buffers_;  ///< by bucket, in the group's memory
};

}  // namespace

std::unique_ptr<Compressor> make_cast(DataType type) {
  using namespace comm;
  if (type == DataType::float16)
    return std::make_unique<Cast<DataType::float16, float_to_float16, float16_to_float>>();
  return std::make_unique<Cast<DataType::bfloat16, float_to_bfloat16, bfloat16_to_float>>();
}

}  // namespace lockstep::internal::sync
