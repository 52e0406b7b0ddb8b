// Randomly damaged CIFAR-10 files.
#include "damage.h"
#include "data/cifar10.h"
#include "data_files.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::internal::data {
namespace {

std::string damaged_file(Random& random) {
  std::string content;
  for (int record = 0; record < 3; ++record)
    content += cifar10_record(static_cast<int>(random.below(10)));
  const bool compressed = random.below(4) == 0;
  if (compressed) content = gzip(content);
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) damage(content, random);
  return content;
}

TEST(Cifar10Fuzz, ReadsOrRefusesEveryFile) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "test_batch.bin";
  expect_read_or_refused({path, 20240609, 1000}, damaged_file, [&](Random& random) {
    const std::size_t limit = random.below(4) == 0 ? 1 + random.below(4) : kAllItems;
    const Images images = read_cifar10(folder.path(), Split::test, limit);
    EXPECT_TRUE(images.size() >= 1 && images.size() <= limit);
    EXPECT_EQ(images.pixels.size(), images.size() * 3072);
    EXPECT_LT(*std::max_element(images.labels.begin(), images.labels.end()), 10);
  });
}

}  // namespace
}  // namespace lockstep::internal::data
