// The idx format, in which MNIST is published. A file is, all numbers big-endian:
//
//   00 00 08 D      the magic number: elements are unsigned bytes, in D dimensions
//   D × 4 bytes     the dimensions; the first counts the items
//   the elements    row by row, and nothing after them
#pragma once

#include "data/images.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace lockstep::data {

struct IdxArray {
  /// The dimensions as the file states them: shape[0] is how many items it holds, read or not.
  std::vector<std::uint32_t> shape;
  /// How many items were read: the first min(shape[0], limit).
  std::size_t items = 0;
  /// The elements of these items, one item after another.
  std::vector<std::uint8_t> values;
};

/// Reads the first `limit` items of an idx file, gzip or plain. REQUIRES: dimensions from 1 to 255.
///
/// Nothing in the file is believed: memory grows with what was really read, never with what the
/// header claims. Throws FileError with the offset (in the decompressed content), what was expected
/// and what was found for another element type or number of dimensions, a file that ends early or
/// goes on after its last item, and damaged gzip data. What lies behind `limit` is not looked at.
IdxArray read_idx(const std::filesystem::path& path, int dimensions, std::size_t limit = kAllItems);

}  // namespace lockstep::data
