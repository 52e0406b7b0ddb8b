// Thousands of randomly damaged files. Each is read or refused with a FileError; the sanitizers and
// the test report anything else.
#include <lockstep/error.h>

#include "base/random.h"
#include "models/safetensors.h"
#include "stored_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace lockstep::internal::models {
namespace {

constexpr std::uint64_t kSeed = 5000;
constexpr int kFiles = 10000;

/// Pieces of a header, and numbers at the limits of what is checked.
constexpr std::string_view kPieces[] = {
    "{",     "}",    "[",   "]",  ",",   ":",  "\"", "0",    "-1", "9223372036854775807",
    "1e308", "null", "F64", "[]", "{},", "\\", "U8", "\xff", "4",  "18446744073709551615"};

/// Applies one small change. REQUIRES: content is not empty.
void damage(std::string& content, Random& random) {
  const std::size_t place = random.below(content.size());
  const std::string_view piece = kPieces[random.below(std::size(kPieces))];
  switch (random.below(7)) {
    case 0:  // a flipped bit
      content[place] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:  // the header's length
      content[std::min<std::size_t>(place, random.below(8))] = static_cast<char>(random.below(256));
      break;
    case 2:  // truncated
      content.resize(place + 1);
      break;
    case 3:  // an inserted piece
      content.insert(place, piece);
      break;
    case 4:  // a replaced piece
      content.replace(place, piece.size(), piece);
      break;
    case 5:  // another digit: valid JSON with a wrong number
      if (auto digit = content.find_first_of("0123456789", place); digit != std::string::npos)
        content[digit] = static_cast<char>('0' + random.below(10));
      break;
    default:  // a repeated part
      content.insert(place, content.substr(place / 2, random.below(64)));
  }
}

/// Corrects the length, so that changes inside the header are reached.
void mend_length(std::string& content) {
  const std::size_t end = content.find_first_not_of(" }", content.rfind('}'));
  if (end == std::string::npos || end < 8) return;
  const std::uint64_t length = end - 8;
  std::memcpy(content.data(), &length, sizeof length);
}

std::size_t bytes_of(const std::vector<StoredTensor>& tensors) {
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : tensors) bytes += tensor.data.size();
  return bytes;
}

TEST(SafetensorsFuzz, IsReadOrRefused) {
  const std::string whole = format_safetensors(one_of_each(), {{"format", "pt"}}, "memory");
  int read = 0;
  for (int file = 0; file < kFiles; ++file) {
    Random random(kSeed, static_cast<std::uint64_t>(file));
    std::string content = whole;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) damage(content, random);
    if (random.below(4) != 0) mend_length(content);
    try {
      EXPECT_LE(bytes_of(parse_safetensors(content, "memory")), content.size()) << "file " << file;
      ++read;
    } catch (const FileError&) {  // refused
    }
  }
  // Damage to the data alone cannot be detected, so some files are read; most are not.
  EXPECT_GT(read, kFiles / 100);
  EXPECT_LT(read, kFiles / 2);
}

}  // namespace
}  // namespace lockstep::internal::models
