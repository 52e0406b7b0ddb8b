// Batch norm's passes over memory, for statistics that come from several ranks, which oneDNN's own
// cannot take: the inner loops, compiled once for each vector unit. A ReLU that follows is done on
// the way; backward finds out again what it cut off instead of keeping it.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {
enum class VectorUnit;  // of base/vector_unit.h, whose inline functions are not for all units
}

namespace lockstep::engine::onednn {

/// How maps lie. A plane is a sample's map of one block of channels: pixels, each of which has a
/// value for every channel of the block. Planes lie one after another, those of a sample together.
struct NormShape {
  std::size_t samples = 0;
  std::size_t planes = 0;  ///< of a sample
  std::size_t pixels = 0;
  std::size_t block = 16;  ///< 1, 8 or 16 channels

  /// With those that only fill up the last block.
  std::size_t channels() const { return planes * block; }
  std::size_t plane() const { return pixels * block; }
};

/// By channel: a value is normalised to (value − origin) · scale + shift.
struct NormTerms {
  const float* origin = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;  ///< negative ones become zero
};

/// By channel: its gradient is gradient · of_gradient + (value − origin) · of_value + shift.
struct NormGradientTerms {
  const float* of_gradient = nullptr;
  const float* of_value = nullptr;
  const float* shift = nullptr;
};

/// Two sums a channel: all first ones, then all second ones. They are made in parts whose number
/// does not depend on that of the threads, so that threads change no bit.
inline constexpr std::size_t kNormParts = 8;
struct NormSums {
  double* sums = nullptr;   ///< 2 × channels
  double* parts = nullptr;  ///< scratch: kNormParts × 2 × channels
};

struct NormKernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// Of the differences from the channel's first value, and of their squares. REQUIRES: a sample.
  void (*moments)(const float* input, const NormSums& sums, const NormShape& shape);

  void (*normalise)(const float* input, float* output, const NormTerms& terms,
                    const NormShape& shape);

  /// Of the gradients that pass the ReLU, and of their products with value − origin.
  void (*gradient_sums)(const float* input, const float* gradient, const NormTerms& terms,
                        const NormSums& sums, const NormShape& shape);

  /// Gradients that the ReLU cut off count as zero.
  void (*input_gradient)(const float* input, const float* gradient, float* output,
                         const NormTerms& terms, const NormGradientTerms& gradient_terms,
                         const NormShape& shape);
};

/// The best that this machine can run. All give the same bits.
const NormKernels& norm_kernels();

// One a vector unit; calling one that the machine lacks ends the process.
const NormKernels& norm_kernels_for(VectorUnit unit);
const NormKernels& plain_norm_kernels();
const NormKernels& avx2_norm_kernels();
const NormKernels& avx512_norm_kernels();

}  // namespace lockstep::engine::onednn
