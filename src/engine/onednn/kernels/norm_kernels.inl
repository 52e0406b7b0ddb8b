// The loops of norm_kernels.h.
#include "engine/onednn/kernels/norm_kernels.h"
#include "engine/onednn/kernels/norm_vectors.inl"

#define LOCKSTEP_INLINE __attribute__((always_inline))

namespace lockstep::internal::engine::onednn {

namespace {

/// Calls run with block and ReLU as compile-time constants.
template <typename Run>
void specialise(std::size_t block, bool relu, const Run& run) {
  if (block == 16)
    relu ? run.template operator()<16, true>() : run.template operator()<16, false>();
  else if (block == 8)
    relu ? run.template operator()<8, true>() : run.template operator()<8, false>();
  else
    relu ? run.template operator()<1, true>() : run.template operator()<1, false>();
}

/// The offset of a plane.
std::size_t begin_of(std::size_t sample, std::size_t plane, const NormShape& shape) {
  return (sample * shape.planes + plane) * shape.plane();
}

/// Calls body(sample, plane) for all planes, on oneDNN's threads.
template <typename Body>
void for_each_plane(const NormShape& shape, const Body& body) {
#pragma omp parallel for collapse(2) schedule(static)
  for (std::size_t sample = 0; sample < shape.samples; ++sample)
    for (std::size_t plane = 0; plane < shape.planes; ++plane) body(sample, plane);
}

/// Sums over the samples; body(sums of a plane, sample, plane) adds to them.
template <std::size_t block, typename Body>
void sum_planes(const NormSums& sums, const NormShape& shape, const Body& body) {
  const std::size_t count = 2 * shape.channels();
#pragma omp parallel for collapse(2) schedule(static)
  for (std::size_t part = 0; part < kNormParts; ++part)
    for (std::size_t plane = 0; plane < shape.planes; ++plane) {
      PlaneSums<block> its;
      const std::size_t end = shape.samples * (part + 1) / kNormParts;
      for (std::size_t i = shape.samples * part / kNormParts; i < end; ++i) body(its, i, plane);
      its.store(sums.parts + part * count + plane * block, shape.channels());
    }
  for (std::size_t i = 0; i < count; ++i) {
    sums.sums[i] = 0;
    for (std::size_t part = 0; part < kNormParts; ++part)
      sums.sums[i] += sums.parts[part * count + i];
  }
}

/// The terms of a plane's channels.
template <std::size_t block>
struct PlaneTerms {
  PlaneTerms(const NormTerms& terms, std::size_t plane)
      : origin(terms.origin, plane), scale(terms.scale, plane), shift(terms.shift, plane) {}

  /// Sets `gradient` to zero where the normalised value is not positive.
  LOCKSTEP_INLINE void cut(Values& gradient, const Values& difference, std::size_t vector) const {
    const Values normalised = difference * scale.at[vector] + shift.at[vector];
    gradient = normalised > 0 ? gradient : Values{};
  }

  Term<block> origin, scale, shift;
};

void deviation_sums(const float* input, const NormSums& sums, const NormShape& shape) {
  specialise(shape.block, false, [&]<std::size_t block, bool>() {
    sum_planes<block>(
        sums, shape, [&](PlaneSums<block>& its, std::size_t sample, std::size_t plane) {
          // A channel's first value: those of a block are at the begin of its plane.
          const Term<block> first(input + begin_of(0, plane, shape) - plane * block, plane);
          const float* values = input + begin_of(sample, plane, shape);
          for_each_vector<block>(
              shape.plane(), [&](std::size_t i, std::size_t at, std::size_t count) LOCKSTEP_INLINE {
                Values value = first.at[i];
                load(value, values + at, count);
                value -= first.at[i];
                its.add(i, value, value);
              });
        });
  });
}

template <std::size_t block, bool relu>
void normalise_plane(const float* input, float* output, const PlaneTerms<block>& terms,
                     std::size_t length) {
  for_each_vector<block>(
      length, [&](std::size_t i, std::size_t at, std::size_t count) LOCKSTEP_INLINE {
        Values value{};
        load(value, input + at, count);
        value = (value - terms.origin.at[i]) * terms.scale.at[i] + terms.shift.at[i];
        if constexpr (relu) value = value < 0 ? Values{} : value;  // NaN stays NaN
        store(value, output + at, count);
      });
}

void normalise(const float* input, float* output, const NormTerms& terms, const NormShape& shape) {
  specialise(shape.block, terms.relu, [&]<std::size_t block, bool relu>() {
    for_each_plane(shape, [&](std::size_t sample, std::size_t plane) {
      const std::size_t begin = begin_of(sample, plane, shape);
      normalise_plane<block, relu>(input + begin, output + begin, PlaneTerms<block>(terms, plane),
                                   shape.plane());
    });
  });
}

void gradient_sums(const float* input, const float* gradient, const NormTerms& terms,
                   const NormSums& sums, const NormShape& shape) {
  specialise(shape.block, terms.relu, [&]<std::size_t block, bool relu>() {
    sum_planes<block>(
        sums, shape, [&](PlaneSums<block>& its, std::size_t sample, std::size_t plane) {
          const PlaneTerms<block> its_terms(terms, plane);
          const std::size_t begin = begin_of(sample, plane, shape);
          for_each_vector<block>(
              shape.plane(), [&](std::size_t i, std::size_t at, std::size_t count) LOCKSTEP_INLINE {
                Values difference = its_terms.origin.at[i];
                Values passed{};
                load(difference, input + begin + at, count);
                load(passed, gradient + begin + at, count);
                difference -= its_terms.origin.at[i];
                if constexpr (relu) its_terms.cut(passed, difference, i);
                its.add(i, passed, difference);
              });
        });
  });
}

template <std::size_t block, bool relu>
void differentiate_plane(const float* input, const float* gradient, float* output,
                         const PlaneTerms<block>& terms, const NormGradientTerms& gradient_terms,
                         std::size_t plane, std::size_t length) {
  const Term<block> of_gradient(gradient_terms.of_gradient, plane);
  const Term<block> of_value(gradient_terms.of_value, plane);
  const Term<block> shift(gradient_terms.shift, plane);
  for_each_vector<block>(
      length, [&](std::size_t i, std::size_t at, std::size_t count) LOCKSTEP_INLINE {
        Values difference{};
        Values passed{};
        load(difference, input + at, count);
        load(passed, gradient + at, count);
        difference -= terms.origin.at[i];
        if constexpr (relu) terms.cut(passed, difference, i);
        store(passed * of_gradient.at[i] + difference * of_value.at[i] + shift.at[i], output + at,
              count);
      });
}

void input_gradient(const float* input, const float* gradient, float* output,
                    const NormTerms& terms, const NormGradientTerms& gradient_terms,
                    const NormShape& shape) {
  specialise(shape.block, terms.relu, [&]<std::size_t block, bool relu>() {
    for_each_plane(shape, [&](std::size_t sample, std::size_t plane) {
      const std::size_t begin = begin_of(sample, plane, shape);
      differentiate_plane<block, relu>(input + begin, gradient + begin, output + begin,
                                       PlaneTerms<block>(terms, plane), gradient_terms, plane,
                                       shape.plane());
    });
  });
}

}  // namespace

}  // namespace lockstep::internal::engine::onednn
