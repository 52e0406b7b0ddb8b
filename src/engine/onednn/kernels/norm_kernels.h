// The inner loops of batch norm with statistics of several ranks, which oneDNN does not support,
// compiled once for each vector unit. A following ReLU is fused; backward recomputes its mask
// instead of storing it.
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::internal {
enum class VectorUnit;  // in base/vector_unit.h, whose inline functions must not be compiled per
                        // unit
}

namespace lockstep::internal::engine::onednn {

/// The layout of maps. A plane is a sample's map of one block of channels: its pixels, each with a
/// value for every channel of the block. Planes are stored one after another, those of a sample
/// together.
struct NormShape {
  std::size_t samples = 0;
  std::size_t planes = 0;  ///< per sample
  std::size_t pixels = 0;
  std::size_t block = 16;  ///< 1, 8 or 16 channels

  /// Includes the padding of the last block.
  std::size_t channels() const { return planes * block; }
  std::size_t plane() const { return pixels * block; }
};

/// By channel: the normalised value is (value − origin) · scale + shift.
struct NormTerms {
  const float* origin = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;  ///< negative results become zero
};

/// By channel: the input gradient is gradient · of_gradient + (value − origin) · of_value + shift.
struct NormGradientTerms {
  const float* of_gradient = nullptr;
  const float* of_value = nullptr;
  const float* shift = nullptr;
};

/// Two sums per channel: all first ones, then all second ones. The number of partial sums does not
/// depend on that of threads, so that threads change no bit.
inline constexpr std::size_t kNormParts = 8;
struct NormSums {
  double* sums = nullptr;   ///< 2 × channels
  double* parts = nullptr;  ///< scratch: kNormParts × 2 × channels
};

struct NormKernels {
  std::string_view name;  ///< "avx512", "avx2" or "plain"

  /// Sums of the differences from the channel's first value, and of their squares. REQUIRES: a
  /// sample.
  void (*deviation_sums)(const float* input, const NormSums& sums, const NormShape& shape);

  void (*normalise)(const float* input, float* output, const NormTerms& terms,
                    const NormShape& shape);

  /// Sums of the gradients that pass the ReLU, and of their products with value − origin.
  void (*gradient_sums)(const float* input, const float* gradient, const NormTerms& terms,
                        const NormSums& sums, const NormShape& shape);

  /// Gradients that the ReLU blocks count as zero.
  void (*input_gradient)(const float* input, const float* gradient, float* output,
                         const NormTerms& terms, const NormGradientTerms& gradient_terms,
                         const NormShape& shape);
};

/// The fastest kernels that this machine can run. All give the same bits.
const NormKernels& norm_kernels();

// The kernels of each vector unit. REQUIRES: the machine has the unit.
const NormKernels& norm_kernels_for(VectorUnit unit);
const NormKernels& plain_norm_kernels();
const NormKernels& avx2_norm_kernels();
const NormKernels& avx512_norm_kernels();

}  // namespace lockstep::internal::engine::onednn
