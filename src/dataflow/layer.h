// A convolution as an accelerator sees it: sizes only, no numbers.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::dataflow {

using Count = std::int64_t;

/// ⌈a / b⌉. REQUIRES: a ≥ 0, b > 0.
constexpr Count ceil_div(Count a, Count b) {
  return (a + b - 1) / b;
}

/// How many inputs `outputs` neighbouring outputs need along one dimension: neighbours share what
/// their windows have in common, and a stride beyond the window skips inputs.
constexpr Count covered(Count outputs, Count taps, Count stride) {
  return (outputs - 1) * (taps < stride ? taps : stride) + taps;
}

/// Sizes as the papers name them: N batch, C channels, M filters, H and W of the input, R and S of
/// a filter, E and F of the output. A group of filters sees its own share of the channels.
struct Layer {
  std::string name;
  Count batch = 1;          ///< N
  Count channels = 1;       ///< C, of all groups
  Count filters = 1;        ///< M, of all groups
  Count height = 1;         ///< H, without padding
  Count width = 1;          ///< W, without padding
  Count kernel_height = 1;  ///< R
  Count kernel_width = 1;   ///< S
  Count stride = 1;
  Count padding = 0;  ///< zeros on every side
  Count groups = 1;

  // REQUIRES for all below: the layer is sound.
  Count out_height() const { return (height + 2 * padding - kernel_height) / stride + 1; }  ///< E
  Count out_width() const { return (width + 2 * padding - kernel_width) / stride + 1; }     ///< F
  Count group_channels() const { return channels / groups; }
  Count group_filters() const { return filters / groups; }
  Count outputs() const { return batch * filters * out_height() * out_width(); }
  Count weights() const { return filters * group_channels() * kernel_height * kernel_width; }
  Count macs() const { return outputs() * group_channels() * kernel_height * kernel_width; }

  /// Words of an input row that are used, and rows that `rows` rows of the output use. Padding is
  /// stored with the map and counts.
  Count used_width() const { return covered(out_width(), kernel_width, stride); }
  Count used_rows(Count rows) const { return covered(rows, kernel_height, stride); }
};

/// Throws UsageError for sizes that make no convolution: zero, a filter beyond the map, groups that
/// do not divide, more work than can be counted.
void require_sound(const Layer& layer);

}  // namespace lockstep::dataflow
