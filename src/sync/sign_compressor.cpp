// sign: one bit a gradient. For each parameter a rank sends the mean magnitude of its gradients,
// and whether each is negative; it keeps the difference for the next step. All ranks average what
// all have sent.
#include "sync/compressor.h"

#include <cmath>
#include <cstring>

namespace lockstep::sync {

namespace {

float mean_magnitude(const std::vector<float>& values, const GradientPart& part) {
  double sum = 0;
  for (std::size_t i = part.begin; i < part.begin + part.count; ++i) sum += std::abs(values[i]);
  return part.count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(part.count));
}

/// A message: a scale for each parameter, then a bit for each gradient, set where it is negative.
struct Message {
  static std::size_t bytes_for(std::size_t parts, std::size_t gradients) {
    return parts * sizeof(float) + (gradients + 7) / 8;
  }

  float scale(std::size_t part) const {
    float value = 0;
    std::memcpy(&value, data + part * sizeof value, sizeof value);
    return value;
  }
  float sign(std::size_t i) const { return data[bits + i / 8] >> i % 8 & 1 ? -1.0F : 1.0F; }

  const std::uint8_t* data;
  std::size_t bits;  ///< where they begin
};

class Sign : public Compressor {
 public:
  void reduce(Group& group, const GradientBucket& bucket) override {
    std::vector<float>& values = residuals_.with_gradients(bucket);
    const std::vector<GradientPart> parts = parts_of(bucket);
    const std::vector<std::uint8_t> mine = compress(values, parts);
    keep_rest({mine.data(), parts.size() * sizeof(float)}, parts, values);
    std::vector<std::uint8_t> all(mine.size() * static_cast<std::size_t>(group.size()));
    group.all_gather(mine, all);
    sum_.assign(values.size(), 0);
    for (std::size_t begin = 0; begin < all.size(); begin += mine.size())
      add({all.data() + begin, parts.size() * sizeof(float)}, parts,
          1.0F / static_cast<float>(group.size()));
    store(sum_, bucket.gradients);
  }

 private:
  static std::vector<std::uint8_t> compress(const std::vector<float>& values,
                                            const std::vector<GradientPart>& parts) {
    std::vector<std::uint8_t> message(Message::bytes_for(parts.size(), values.size()));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const float scale = mean_magnitude(values, parts[part]);
      std::memcpy(message.data() + part * sizeof scale, &scale, sizeof scale);
    }
    std::uint8_t* bits = message.data() + parts.size() * sizeof(float);
    for (std::size_t i = 0; i < values.size(); ++i)
      bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (values[i] < 0 ? 1 : 0) << i % 8);
    return message;
  }

  static void keep_rest(const Message& sent, const std::vector<GradientPart>& parts,
                        std::vector<float>& values) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const float scale = sent.scale(part);
      const std::size_t end = parts[part].begin + parts[part].count;
      for (std::size_t i = parts[part].begin; i < end; ++i) values[i] -= scale * sent.sign(i);
    }
  }

  void add(const Message& message, const std::vector<GradientPart>& parts, float factor) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const float step = message.scale(part) * factor;
      const std::size_t end = parts[part].begin + parts[part].count;
      for (std::size_t i = parts[part].begin; i < end; ++i) sum_[i] += step * message.sign(i);
    }
  }

  Residuals residuals_;
  std::vector<float> sum_;
};

}  // namespace

std::unique_ptr<Compressor> make_sign() {
  return std::make_unique<Sign>();
}

}  // namespace lockstep::sync
