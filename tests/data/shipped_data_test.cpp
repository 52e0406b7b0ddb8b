// The checksums in the README of the shipped data are those of the files.
#include "base/files.h"
#include "base/hash/sha256.h"
#include "base/text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

namespace lockstep::internal::data {
namespace {

const std::filesystem::path kData = LOCKSTEP_TEST_DATA;

// The lines of README.md that `sha256sum --check` understands: 64 hexadecimal digits, two spaces, a
// path.
std::map<std::string, std::string> stated_digests() {
  std::map<std::string, std::string> digests;
  for (const std::string& line : split(read_file(kData / "README.md"), '\n'))
    if (line.find("  ") == 64 && line.find_first_not_of("0123456789abcdef") == 64)
      digests[line.substr(66)] = line.substr(0, 64);
  return digests;
}

TEST(ShippedData, HasTheDigestsItsReadmeStates) {
  const auto digests = stated_digests();
  EXPECT_EQ(digests.size(), 6u);
  for (const auto& [path, digest] : digests) {
    const std::string content = read_file(kData / path);
    Sha256 sha;
    sha.update(content.data(), content.size());
    EXPECT_EQ(sha.hex(), digest) << path;
  }
}

}  // namespace
}  // namespace lockstep::internal::data
