// Conversions between float32 and the two 16-bit types, rounding to nearest, ties to even, as
// hardware does. They are free of branches, so that loops over them vectorise.
//
// All functions are static: each file is compiled for one vector unit, and the linker must not
// merge their copies.
#pragma once

#include <bit>
#include <cstdint>

namespace lockstep::internal::comm {

static inline float bfloat16_to_float(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

static inline std::uint16_t float_to_bfloat16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (word + 0x7fffu + (word >> 16 & 1u)) >> 16;
  const std::uint32_t quiet = word >> 16 | 0x40u;
  const bool is_nan = (word & 0x7fff'ffffu) > 0x7f80'0000u;
  return static_cast<std::uint16_t>(is_nan ? quiet : rounded);
}

static inline float float16_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;
  // Normal: the bias changes from 15 to 127.
  const std::uint32_t normal = magnitude + (112u << 23);
  // Subnormal, below 2^-14: the digits are placed behind those of 2^-14, which is then subtracted.
  // No intermediate float is subnormal; a subnormal operation costs as much as a hundred others,
  // and small gradients are common.
  constexpr std::uint32_t kSmallest = 113u << 23;
  const float subnormal =
      std::bit_cast<float>(magnitude + kSmallest) - std::bit_cast<float>(kSmallest);
  const std::uint32_t finite =
      magnitude < 1u << 23 ? std::bit_cast<std::uint32_t>(subnormal) : normal;
  const std::uint32_t special = magnitude >= 0x0f80'0000u ? 0x7f80'0000u : 0u;
  return std::bit_cast<float>(finite | special | sign);
}

static inline std::uint16_t float_to_float16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = word & 0x7fff'ffffu;
  // Normal: the bias changes from 127 to 15; a carry out of the mantissa does the right thing.
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  // Below 2^-14: adding 0.5 leaves the value, rounded, in units of 2^-24 in the mantissa.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f00'0000u;
  // 65520 and above become infinity; NaN stays NaN.
  const std::uint32_t special = magnitude > 0x7f80'0000u ? 0x7e00u : 0x7c00u;
  const std::uint32_t finite = magnitude < 0x3880'0000u ? subnormal : normal;
  const std::uint32_t half = magnitude >= 0x477f'f000u ? special : finite;
  return static_cast<std::uint16_t>(half | (word & 0x8000'0000u) >> 16);
}

}  // namespace lockstep::internal::comm
