#include "data/idx_file.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "data/gzip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace lockstep::internal::data {

namespace {

constexpr std::uint32_t kUnsignedBytes = 0x0800;

// Keeps the product of items and bytes per item within 64 bits.
constexpr std::uint64_t kMostItemBytes = 1ull << 31;

// Memory allocated for a header's sizes before any element was read.
constexpr std::size_t kFirstBlock = 1 << 16;

std::uint32_t read_word(GzipFile& file, std::string_view what) {
  const std::uint64_t offset = file.offset();
  std::array<std::uint8_t, 4> bytes{};
  const std::size_t got = file.read(bytes);
  if (got < bytes.size())
    file.fail(offset, fmt::format("4 bytes of {}", what),
              fmt::format("the end of the file after {}", got));
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

std::vector<std::uint32_t> read_header(GzipFile& file, int dimensions) {
  const std::uint32_t expected = kUnsignedBytes | static_cast<std::uint32_t>(dimensions);
  const std::uint32_t magic = read_word(file, "the idx magic number");
  if (magic != expected)
    file.fail(0,
              fmt::format("the idx magic number {:08x} (unsigned bytes, {} dimension{})", expected,
                          dimensions, dimensions == 1 ? "" : "s"),
              fmt::format("{:08x}", magic));
  std::vector<std::uint32_t> shape(static_cast<std::size_t>(dimensions));
  for (std::size_t i = 0; i < shape.size(); ++i)
    shape[i] = read_word(file, fmt::format("dimension {} of {}", i + 1, dimensions));
  return shape;
}

std::uint64_t item_bytes(const GzipFile& file, const std::vector<std::uint32_t>& shape) {
  std::uint64_t bytes = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) {
    bytes *= shape[i];
    if (bytes > kMostItemBytes)
      file.fail(4 + 4 * i, fmt::format("items of at most {} bytes", kMostItemBytes),
                fmt::format("{}, which makes them {}", shape[i], bytes));
  }
  return bytes;
}

// Reads up to `count` bytes. The vector doubles as it fills, so a wrong count costs at most twice
// the memory of the file's real content.
std::vector<std::uint8_t> read_bytes(GzipFile& file, std::uint64_t count) {
  std::vector<std::uint8_t> values;
  while (values.size() < count) {
    const std::size_t had = values.size();
    const std::size_t next = std::min<std::uint64_t>(count, std::max(kFirstBlock, 2 * had));
    values.reserve(next);  // resize alone would round up, and the rest would stay unused
    values.resize(next);
    const std::size_t got = file.read(std::span(values).subspan(had));
    if (had + got < next) {
      values.resize(had + got);
      break;
    }
  }
  return values;
}

void expect_end(GzipFile& file, std::uint32_t items) {
  const std::uint64_t offset = file.offset();
  std::array<std::uint8_t, 1> byte{};
  if (file.read(byte) > 0)
    file.fail(offset, fmt::format("the end of the file after {} items", items), "more bytes");
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, int dimensions, std::size_t limit) {
  LOCKSTEP_CHECK(dimensions >= 1 && dimensions <= 255, "idx files have 1 to 255 dimensions, not {}",
                 dimensions);
  GzipFile file(path);
  IdxArray array;
  array.shape = read_header(file, dimensions);
  array.items = std::min<std::size_t>(array.shape[0], limit);
  const std::uint64_t item = item_bytes(file, array.shape);
  array.values = read_bytes(file, array.items * item);
  if (array.values.size() < array.items * item)
    file.fail(file.offset(),
              fmt::format("{} items of {} bytes, {} bytes after the header", array.items, item,
                          array.items * item),
              fmt::format("the end of the file after {}", array.values.size()));
  if (array.items == array.shape[0]) expect_end(file, array.shape[0]);
  return array;
}

}  // namespace lockstep::internal::data
