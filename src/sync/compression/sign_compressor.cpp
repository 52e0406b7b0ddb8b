// sign: one bit per gradient. For each parameter, a rank sends the mean magnitude of its gradients
// and the sign of each, and keeps the difference for the next step. All ranks average the messages.
#include "sync/compression/residuals.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::internal::sync {

namespace {

constexpr std::size_t kBits = 8;

std::size_t bytes_of(const GradientPart& part) {
  return (part.count + kBits - 1) / kBits;
}

float mean_magnitude(const float* values, std::size_t count) {
  std::array<double, kBits> sums{};  // independent sums, so that the loop vectorises
  for (std::size_t i = 0; i < count; ++i) sums[i % kBits] += std::abs(values[i]);
  double sum = 0;
  for (double part : sums) sum += part;
  return count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
}

/// One bit per value, set if the value is negative.
std::uint8_t signs_of(const float* values, std::size_t count) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < count; ++i)
    bits |= std::bit_cast<std::uint32_t>(values[i]) >> 31 << i;
  return static_cast<std::uint8_t>(bits);
}

void compress_signs(const float* values, std::size_t count, std::uint8_t* bytes) {
  const std::size_t whole = count / kBits;
  for (std::size_t byte = 0; byte < whole; ++byte)
    bytes[byte] = signs_of(values + byte * kBits, kBits);
  if (count % kBits > 0) bytes[whole] = signs_of(values + whole * kBits, count % kBits);
}

using Signs = std::array<float, kBits>;

/// 1 or -1 for each bit of every byte: the table is several times as fast as bit operations.
constexpr auto kSigns = [] {
  std::array<Signs, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte)
    for (std::size_t bit = 0; bit < kBits; ++bit) all[byte][bit] = byte >> bit & 1 ? -1.0F : 1.0F;
  return all;
}();

/// values[i] += step · sign i.
void add_signs(const std::uint8_t* bytes, std::size_t count, float step, float* values) {
  const std::size_t whole = count / kBits;
  for (std::size_t byte = 0; byte < whole; ++byte) {
    const Signs& signs = kSigns[bytes[byte]];
    for (std::size_t bit = 0; bit < kBits; ++bit) values[byte * kBits + bit] += step * signs[bit];
  }
  for (std::size_t i = whole * kBits; i < count; ++i)
    values[i] += step * kSigns[bytes[whole]][i % kBits];
}

/// A rank's message: for each parameter its scale, then the bytes with its signs.
class Sign : public Compressor {
 public:
  void reduce(Group& group, const GradientBucket& bucket) override {
    std::vector<float>& values = residuals_.with_gradients(bucket);
    const std::vector<GradientPart> parts = parts_of(bucket);
    const std::vector<std::uint8_t> mine = compress(values, parts);
    add(mine.data(), parts, -1, values);
    std::vector<std::uint8_t> all(mine.size() * static_cast<std::size_t>(group.size()));
    group.all_gather(mine, all);
    sum_.assign(values.size(), 0);
    for (std::size_t begin = 0; begin < all.size(); begin += mine.size())
      add(all.data() + begin, parts, 1.0F / static_cast<float>(group.size()), sum_);
    store(sum_, bucket.gradients);
  }

 private:
  static std::vector<std::uint8_t> compress(const std::vector<float>& values,
                                            const std::vector<GradientPart>& parts) {
    std::size_t bytes = 0;
    for (const GradientPart& part : parts) bytes += sizeof(float) + bytes_of(part);
    std::vector<std::uint8_t> message(bytes);
    std::uint8_t* place = message.data();
    for (const GradientPart& part : parts) {
      const float scale = mean_magnitude(values.data() + part.begin, part.count);
      std::memcpy(place, &scale, sizeof scale);
      compress_signs(values.data() + part.begin, part.count, place + sizeof scale);
      place += sizeof scale + bytes_of(part);
    }
    return message;
  }

  /// Adds `factor` times the gradients of a message.
  static void add(const std::uint8_t* message, const std::vector<GradientPart>& parts, float factor,
                  std::vector<float>& values) {
    for (const GradientPart& part : parts) {
      float scale = 0;
      std::memcpy(&scale, message, sizeof scale);
      add_signs(message + sizeof scale, part.count, factor * scale, values.data() + part.begin);
      message += sizeof scale + bytes_of(part);
    }
  }

  Residuals residuals_;
  std::vector<float> sum_;
};

}  // namespace

std::unique_ptr<Compressor> make_sign() {
  return std::make_unique<Sign>();
}

}  // namespace lockstep::internal::sync
