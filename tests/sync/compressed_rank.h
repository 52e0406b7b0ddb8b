// One rank of a DDP run with compressed gradients, and its closed-form gradients.
#pragma once

#include <lockstep/compress.h>

#include "support/trained_ranks.h"
#include "sync/methods/ddp.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::internal::sync {

inline const std::vector<Parameter> kParameters{
    {"a", 64 * 300, {}, 64}, {"b", 17}, {"c", 20000}, {"d", 1}, {"e", 128 * 64, {}, 128}};

/// One rank's gradients, averaged by ddp with a compression.
struct CompressedRank {
  CompressedRank(Group with, const std::string& compression, DataType type = DataType::float32)
      : CompressedRank(std::move(with), {.hook = compress::parse(compression)},
                       Layout(kParameters, type, {.first_bytes = 40'000, .bytes = 80'000})) {}
  CompressedRank(Group with, DdpSettings settings, Layout layout)
      : group(std::move(with)),
        gradients(group, kParameters, std::move(layout)),
        ddp(group, gradients, std::move(settings)) {}

  /// Averages gradient(parameter, i) over the ranks.
  template <typename Gradient>
  void reduce(Gradient gradient) {
    bring(0, gradient);
    ddp.finish();
  }

  /// The gradients of the parameters from `first` on.
  template <typename Gradient>
  void bring(std::size_t first, Gradient gradient) {
    for (std::size_t left = kParameters.size(); left > first; --left) {
      const ArrayView place = gradients.of(left - 1);
      for (std::size_t i = 0; i < place.count; ++i) {
        const auto value = static_cast<float>(gradient(left - 1, i));
        if (place.type == DataType::float32)
          static_cast<float*>(place.data)[i] = value;
        else
          static_cast<double*>(place.data)[i] = value;
      }
      ddp.ready(left - 1);
    }
  }

  Group group;
  Gradients gradients;
  Ddp ddp;
};

/// Differs between ranks, parameters and elements.
inline float wave(int rank, std::size_t parameter, std::size_t i) {
  return std::sin(0.37F * static_cast<float>(i) + static_cast<float>(rank)) *
         static_cast<float>(parameter + 1);
}

/// All parameters in one bucket, whose length does not depend on the order.
inline Layout one_bucket(std::span<const std::size_t> order = {}) {
  return Layout(kParameters, DataType::float32, {.first_bytes = 1 << 20}, order);
}

inline float nothing(std::size_t, std::size_t) {
  return 0;
}

}  // namespace lockstep::internal::sync
