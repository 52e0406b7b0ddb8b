#include "data/fetch/tar_file.h"

#include <lockstep/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace lockstep::internal::data {

namespace {

using Header = std::span<const std::uint8_t, kTarBlock>;

// A field's text up to its first zero byte, if any.
std::string_view text_of(Header block, std::size_t offset, std::size_t length) {
  const std::string_view field(reinterpret_cast<const char*>(block.data()) + offset, length);
  return field.substr(0, field.find('\0'));
}

// Octal digits, with blanks around them.
std::uint64_t octal_of(Header block, std::size_t offset, std::size_t length,
                       std::string_view what) {
  std::string_view text = text_of(block, offset, length);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("01234567") != std::string_view::npos)
    throw FileError(fmt::format("expected the {} in octal digits, found other characters", what));
  std::uint64_t value = 0;
  for (char digit : text) value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  return value;  // fields have at most 12 digits: 36 bits
}

void check_sum(Header block) {
  constexpr std::size_t kSum = 148;
  constexpr std::size_t kSumBytes = 8;
  std::uint64_t sum = std::accumulate(block.begin(), block.end(), std::uint64_t{0});
  for (std::size_t i = kSum; i < kSum + kSumBytes; ++i) sum += ' ' - std::uint64_t{block[i]};
  const std::uint64_t stated = octal_of(block, kSum, kSumBytes, "sum of a tar header");
  if (stated != sum)
    throw FileError(
        fmt::format("expected a tar header whose bytes add up to {}, found {}", stated, sum));
}

TarHeader::Kind kind_of(char type) {
  switch (type) {
    case '0':
    case '\0':
      return TarHeader::Kind::file;
    case '5':
      return TarHeader::Kind::folder;
    case 'x':
    case 'g':
      return TarHeader::Kind::extension;
    default:
      throw FileError(fmt::format(
          "expected a file or a folder, found a member of type {:#04x}, which may be a link",
          static_cast<unsigned char>(type)));
  }
}

bool is_safe(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('/'), name.size());
    if (name.substr(0, end) == "..") return false;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return true;
}

std::string name_of(Header block) {
  std::string name(text_of(block, 0, 100));
  const std::string_view prefix = text_of(block, 345, 155);
  // Only POSIX archives have a prefix; GNU archives store times there.
  if (text_of(block, 257, 6) == "ustar" && !prefix.empty()) name = std::string(prefix) + "/" + name;
  if (!is_safe(name))
    throw FileError("expected a name within the archive's folder, found one outside of it");
  return name;
}

[[noreturn]] void fail(const GzipFile& file, std::uint64_t offset, std::string_view what) {
  throw FileError(fmt::format("{}: at offset {} of the decompressed archive {}",
                              file.path().string(), offset, what));
}

}  // namespace

TarHeader parse_tar_header(Header block) {
  if (std::all_of(block.begin(), block.end(), [](std::uint8_t byte) { return byte == 0; }))
    return {};
  check_sum(block);
  TarHeader header{.kind = kind_of(static_cast<char>(block[156])),
                   .name = name_of(block),
                   .bytes = octal_of(block, 124, 12, "size of a member")};
  if (header.kind == TarHeader::Kind::folder) header.bytes = 0;
  return header;
}

void TarFile::fill(std::span<std::uint8_t> out) {
  const std::uint64_t offset = file_.offset();
  const std::size_t got = file_.read(out);
  if (got < out.size())
    fail(file_, offset,
         fmt::format("expected {} more bytes, found the end after {}: get it again", out.size(),
                     got));
}

void TarFile::skip_rest() {
  Block block;
  for (std::uint64_t left = left_ + padding_; left > 0;) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left, block.size()));
    fill(std::span(block).first(bytes));
    left -= bytes;
  }
  left_ = padding_ = 0;
}

TarHeader TarFile::read_header() {
  const std::uint64_t offset = file_.offset();
  Block block;
  fill(block);
  try {
    return parse_tar_header(block);
  } catch (const FileError& error) {
    fail(file_, offset, error.what());
  }
}

std::optional<TarHeader> TarFile::next() {
  for (;;) {
    skip_rest();
    const TarHeader header = read_header();
    if (header.kind == TarHeader::Kind::end) return std::nullopt;
    left_ = header.bytes;
    padding_ = (kTarBlock - header.bytes % kTarBlock) % kTarBlock;
    if (header.kind == TarHeader::Kind::file) return header;
  }
}

std::size_t TarFile::read(std::span<std::uint8_t> out) {
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size()));
  fill(out.first(bytes));
  left_ -= bytes;
  return bytes;
}

}  // namespace lockstep::internal::data
