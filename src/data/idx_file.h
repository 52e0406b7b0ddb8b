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

namespace lockstep::internal::data {

struct IdxArray {
  /// The dimensions in the header: shape[0] is the number of items in the file, read or not.
  std::vector<std::uint32_t> shape;
  /// Number of items read: min(shape[0], limit).
  std::size_t items = 0;
  /// The elements of these items, one item after another.
  std::vector<std::uint8_t> values;
};

/// Reads the first `limit` items of an idx file, gzip or plain. REQUIRES: dimensions from 1 to 255.
///
/// The header is not trusted: memory grows with the data read, not with the sizes that the header
/// states. Throws FileError with the offset in the decompressed content, the expected and the found
/// value, for another element type or number of dimensions, a file that is too short or too long,
/// and damaged gzip data. Data after `limit` are not read.
IdxArray read_idx(const std::filesystem::path& path, int dimensions, std::size_t limit = kAllItems);

}  // namespace lockstep::internal::data
