// Building blocks of norm_kernels.inl: vectors of 8 values, written with the compiler's vector
// extensions, and the partition of a plane into vectors.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lockstep::internal::engine::onednn {

namespace {

constexpr std::size_t kLanes = 8;
typedef float Values __attribute__((vector_size(32)));
typedef std::int32_t Flags __attribute__((vector_size(32)));
typedef double Sums __attribute__((vector_size(64)));

/// Vectors per pixel: two for a block of 16 channels, one otherwise.
template <std::size_t block>
constexpr std::size_t kVectors = block > kLanes ? block / kLanes : 1;

// Vectors are passed by reference, because the ABI of returning them depends on the vector unit.

/// Elements beyond `count` stay unchanged.
template <typename Vector>
inline void load(Vector& vector, const float* from, std::size_t count = kLanes) {
  std::memcpy(&vector, from, count * sizeof(float));
}

inline void store(const Values& vector, float* to, std::size_t count = kLanes) {
  std::memcpy(to, &vector, count * sizeof(float));
}

/// The values of a per-channel array for vector `vector` of the plane's pixels.
template <std::size_t block>
inline void load_term(Values& values, const float* by_channel, std::size_t plane,
                      std::size_t vector) {
  if constexpr (block == 1)
    values = Values{} + by_channel[plane];
  else
    load(values, by_channel + plane * block + vector * kLanes);
}

template <std::size_t block>
struct Term {
  Term(const float* by_channel, std::size_t plane) {
    for (std::size_t i = 0; i < kVectors<block>; ++i) load_term<block>(at[i], by_channel, plane, i);
  }
  Values at[kVectors<block>];
};

/// Two sums per channel of a plane.
template <std::size_t block>
struct PlaneSums {
  void add(std::size_t vector, const Values& one, const Values& other) {
    const Sums wide = __builtin_convertvector(one, Sums);
    first[vector] += wide;
    second[vector] += wide * __builtin_convertvector(other, Sums);
  }
  void store(double* to, std::size_t channels) const {
    store(first, to);
    store(second, to + channels);
  }
  static void store(const Sums (&sums)[kVectors<block>], double* to) {
    if constexpr (block == 1) {
      *to = 0;
      for (std::size_t lane = 0; lane < kLanes; ++lane) *to += sums[0][lane];
    } else {
      std::memcpy(to, sums, sizeof sums);
    }
  }

  Sums first[kVectors<block>] = {};
  Sums second[kVectors<block>] = {};
};

/// Calls body(number of the vector within its pixel, offset, length) for all vectors of a plane.
/// Without blocks, a channel may end with a shorter vector.
template <std::size_t block, typename Body>
inline void for_each_vector(std::size_t length, const Body& body) {
  std::size_t at = 0;
  for (; at + kVectors<block> * kLanes <= length; at += kVectors<block> * kLanes)
    for (std::size_t i = 0; i < kVectors<block>; ++i) body(i, at + i * kLanes, kLanes);
  if constexpr (block == 1)
    if (at < length) body(std::size_t{0}, at, length - at);
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
