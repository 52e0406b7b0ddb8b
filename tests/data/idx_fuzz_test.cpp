// A few thousand files that are nearly right. Each is parsed or refused with a FileError; whatever
// else happens, the sanitizers or the test report.
#include <lockstep/error.h>

#include "base/random.h"
#include "data/idx_file.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>

namespace lockstep::data {
namespace {

constexpr std::uint64_t kSeed = 20240607;
constexpr int kFiles = 3000;

std::size_t place_in(const std::string& content, Random& random) {
  return random.below(content.size());
}

// One small accident. REQUIRES: content is not empty.
void damage(std::string& content, Random& random) {
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

std::string damaged_file(Random& random) {
  std::string content = idx_header({12, 5, 4}) + counting_bytes(240);
  const bool inside = random.below(2) == 0;
  const bool compressed = random.below(2) == 0;
  const std::uint64_t accidents = 1 + random.below(3);
  if (compressed && !inside) content = gzip(content);
  for (std::uint64_t i = 0; i < accidents; ++i) damage(content, random);
  if (compressed && inside) content = gzip(content);
  return content;
}

void expect_consistent(const IdxArray& array, std::size_t limit) {
  EXPECT_EQ(array.items, std::min<std::size_t>(array.shape[0], limit));
  EXPECT_EQ(array.values.size(),
            std::accumulate(array.shape.begin() + 1, array.shape.end(), array.items,
                            [](std::size_t a, std::uint32_t b) { return a * b; }));
}

TEST(IdxFuzz, ParsesOrRefusesEveryFile) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "damaged-idx";
  int refused = 0;
  for (int i = 0; i < kFiles; ++i) {
    Random random(kSeed, static_cast<std::uint64_t>(i));
    // Not write_file: its fsync would take most of the test's time.
    std::ofstream(path, std::ios::binary) << damaged_file(random);
    const std::size_t limit = random.below(4) == 0 ? random.below(14) : kAllItems;
    try {
      expect_consistent(read_idx(path, 3, limit), limit);
    } catch (const FileError& error) {
      ++refused;
      EXPECT_TRUE(std::string_view(error.what()).starts_with(path.string())) << error.what();
    }
    ASSERT_FALSE(HasFailure()) << "file " << i << " of seed " << kSeed;
  }
  EXPECT_GT(refused, kFiles / 2);
  EXPECT_LT(refused, kFiles) << "no damage was harmless, so nothing was parsed";
}

}  // namespace
}  // namespace lockstep::data
