// The sizes of a convolution, without its values.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::internal::dataflow {

using Count = std::int64_t;

/// ⌈a / b⌉. REQUIRES: a ≥ 0, b > 0.
constexpr Count ceil_div(Count a, Count b) {
  return (a + b - 1) / b;
}

/// The number of inputs that `outputs` neighbouring outputs need along one dimension. Overlapping
/// windows use inputs together, and a stride beyond the window skips inputs.
constexpr Count covered(Count outputs, Count taps, Count stride) {
  return (outputs - 1) * (taps < stride ? taps : stride) + taps;
}

/// Sizes as the papers name them: N batch, C channels, M filters, H and W of the input, R and S of
/// a filter, E and F of the output. Each group of filters has its own slice of the channels.
struct Layer {
  std::string name;
  Count batch = 1;          ///< N
  Count channels = 1;       ///< C, over all groups
  Count filters = 1;        ///< M, over all groups
  Count height = 1;         ///< H, without padding
  Count width = 1;          ///< W, without padding
  Count kernel_height = 1;  ///< R
  Count kernel_width = 1;   ///< S
  Count stride = 1;
  Count padding = 0;  ///< zeros on every side
  Count groups = 1;

  // REQUIRES for all below: require_sound() accepts the layer.
  Count out_height() const { return (height + 2 * padding - kernel_height) / stride + 1; }  ///< E
  Count out_width() const { return (width + 2 * padding - kernel_width) / stride + 1; }     ///< F
  Count group_channels() const { return channels / groups; }
  Count group_filters() const { return filters / groups; }
  Count outputs() const { return batch * filters * out_height() * out_width(); }
  Count weights() const { return filters * group_channels() * kernel_height * kernel_width; }
  Count macs() const { return outputs() * group_channels() * kernel_height * kernel_width; }

  /// Used words of an input row, and input rows that `rows` output rows use. Padding is stored with
  /// the map and counts.
  Count used_width() const { return covered(out_width(), kernel_width, stride); }
  Count used_rows(Count rows) const { return covered(rows, kernel_height, stride); }
};

/// Throws UsageError for sizes that give no convolution: zero, a filter larger than the map, groups
/// that do not divide evenly, more multiplications than 64 bits can count.
void require_sound(const Layer& layer);

}  // namespace lockstep::internal::dataflow
