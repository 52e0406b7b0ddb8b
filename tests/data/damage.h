// Accidents that befall files, for the tests that feed readers with files that are nearly right.
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

namespace lockstep::data {

inline std::size_t place_in(const std::string& content, Random& random) {
  return random.below(content.size());
}

/// One small accident. REQUIRES: content is not empty.
inline void damage(std::string& content, Random& random) {
  switch (random.below(6)) {
    case 0:  // a flipped bit
      content[place_in(content, random)] ^= static_cast<char>(1 << random.below(8));
      break;
    case 1:  // another byte
      content[place_in(content, random)] = static_cast<char>(random.below(256));
      break;
    case 2:  // in the header, where it does the most
      content[random.below(std::min<std::size_t>(content.size(), 16))] =
          static_cast<char>(random.below(2) ? 0xff : random.below(4));
      break;
    case 3:  // cut short
      content.resize(place_in(content, random) + 1);
      break;
    case 4:  // a byte too many
      content.insert(place_in(content, random), 1, static_cast<char>(random.below(256)));
      break;
    default:  // a part twice
      content += content.substr(place_in(content, random));
  }
}

struct FuzzOptions {
  std::filesystem::path path;
  std::uint64_t seed = 0;
  int files = 0;
};

/// Writes one file after another that `make` has damaged to the path, and lets `read` read it. Each
/// must be read or refused with a FileError that begins with the path; whatever else happens, the
/// sanitizers or the test report. Some must end either way.
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

}  // namespace lockstep::data
