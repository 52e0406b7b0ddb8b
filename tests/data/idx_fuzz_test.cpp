// A few thousand randomly damaged idx files.
#include "damage.h"
#include "data/idx_file.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

namespace lockstep::internal::data {
namespace {

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
  expect_read_or_refused({path, 20240607, 3000}, damaged_file, [&](Random& random) {
    const std::size_t limit = random.below(4) == 0 ? random.below(14) : kAllItems;
    expect_consistent(read_idx(path, 3, limit), limit);
  });
}

}  // namespace
}  // namespace lockstep::internal::data
