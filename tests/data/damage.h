// Random damage to files, for tests that give damaged files to readers.
#pragma once

#include <lockstep/error.h>

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace lockstep::internal::data {

inline std::size_t place_in(const std::string& content, Random& random) {
  return random.below(content.size());
}

/// Applies one small change. REQUIRES: content is not empty.
inline void damage(std::string& content, Random& random) {
  switch (random.below(6)) {
    case 0:  // a flipped bit
      content[place_in(content, random)] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:  // another byte
      content[place_in(content, random)] = static_cast<char>(random.below(256));
      break;
    case 2:  // in the header, where the effect is largest
      content[random.below(std::min<std::size_t>(content.size(), 16))] =
          static_cast<char>(random.below(2) ? 0xff : random.below(4));
      break;
    case 3:  // truncated
      content.resize(place_in(content, random) + 1);
      break;
    case 4:  // an additional byte
      content.insert(place_in(content, random), 1, static_cast<char>(random.below(256)));
      break;
    default:  // a repeated part
      content += content.substr(place_in(content, random));
  }
}

struct FuzzOptions {
  std::filesystem::path path;
  std::uint64_t seed = 0;
  int files = 0;
};

/// Writes many files damaged by `make` to the path and gives each to `read`. Each must be read, or
/// refused with a FileError that begins with the path; the sanitizers and the test report anything
/// else. Both outcomes must occur.
inline void expect_read_or_refused(const FuzzOptions& options,
                                   const std::function<std::string(Random&)>& make,
                                   const std::function<void(Random&)>& read) {
  int refused = 0;
  for (int i = 0; i < options.files; ++i) {
    Random random(options.seed, static_cast<std::uint64_t>(i));
    // Not write_file: its fsync would take most of the test's time.
    std::ofstream(options.path, std::ios::binary) << make(random);
    try {
      read(random);
    } catch (const FileError& error) {
      ++refused;
      EXPECT_TRUE(std::string_view(error.what()).starts_with(options.path.string()))
          << error.what();
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "file " << i << " of seed " << options.seed;
  }
  EXPECT_GT(refused, options.files / 4);
  EXPECT_LT(refused, options.files) << "no damage was harmless, so nothing was read";
}

}  // namespace lockstep::internal::data
