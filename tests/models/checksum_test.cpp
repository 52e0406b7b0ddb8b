// The checksum of a file detects any damage.
#include "models/checksum.h"

#include <lockstep/error.h>

#include "base/random.h"
#include "stored_tensors.h"
#include "support/errors.h"

#include <gtest/gtest.h>

namespace lockstep::internal::models {
namespace {

std::vector<StoredTensor> read(std::string_view content) {
  Metadata metadata;
  std::vector<StoredTensor> tensors = parse_safetensors(content, "memory", &metadata);
  require_checksum(content, metadata, "memory");
  return tensors;
}

std::string whole_file() {
  return format_with_checksum(one_of_each(), {{"format", "some"}, {"iteration", "7"}}, "memory");
}

TEST(Checksum, IsCorrectInWrittenFiles) {
  const std::vector<StoredTensor> tensors = read(whole_file());
  const std::vector<StoredTensor> all = one_of_each();
  const std::vector<const StoredTensor*> expected = sorted_by_name(all);
  ASSERT_EQ(tensors.size(), expected.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) EXPECT_EQ(tensors[i], *expected[i]);
}

TEST(Checksum, DetectsEveryFlippedBit) {
  std::string content = whole_file();
  for (std::size_t place = 0; place < content.size(); ++place)
    for (int bit = 0; bit < 8; ++bit) {
      content[place] ^= static_cast<char>(1 << bit);
      EXPECT_THROW(read(content), FileError) << "bit " << bit << " of byte " << place;
      content[place] ^= static_cast<char>(1 << bit);
    }
  EXPECT_NO_THROW(read(content));
}

TEST(Checksum, DetectsEveryMissingOrAddedPiece) {
  const std::string content = whole_file();
  Random random(5000, 0);
  for (std::size_t length = 0; length < content.size(); ++length)
    EXPECT_THROW(read(content.substr(0, length)), FileError) << length;
  for (int i = 0; i < 200; ++i) {
    std::string changed = content;
    const std::size_t place = random.below(content.size());
    if (i % 2 == 0)
      changed.erase(place, 1 + random.below(16));
    else
      changed.insert(place, 1 + random.below(16), ' ');
    EXPECT_THROW(read(changed), FileError) << i;
  }
}

TEST(Checksum, IsRequired) {
  const std::string plain = format_safetensors(one_of_each(), {}, "memory");
  testing::expect_error<FileError>([&] { read(plain); }, {"memory: its checksum is missing"});
  for (const char* digest : {"", "0", "zeros"}) {
    const std::string wrong =
        format_safetensors(one_of_each(), {{std::string(kChecksum), digest}}, "memory");
    testing::expect_error<FileError>([&] { read(wrong); }, {"its checksum is missing"});
  }
}

}  // namespace
}  // namespace lockstep::internal::models
