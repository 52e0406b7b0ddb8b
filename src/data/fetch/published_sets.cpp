#include "data/fetch/published_sets.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"

#include <fmt/format.h>

#include <map>

namespace lockstep::internal::data {

namespace {

Archive gzip_of(std::string name, std::uint64_t bytes, std::string sha256) {
  return {.name = name + ".gz",
          .kind = Archive::Kind::gzip,
          .files = {{.name = name, .most_bytes = bytes, .sha256 = std::move(sha256)}}};
}

PublishedSet mnist() {
  return {
      .name = "mnist",
      .home = "https://ossci-datasets.s3.amazonaws.com/mnist",
      .folder = "mnist",
      .archives = {gzip_of("train-images-idx3-ubyte", 47'040'016,
                           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
                   gzip_of("train-labels-idx1-ubyte", 60'008,
                           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
                   gzip_of("t10k-images-idx3-ubyte", 7'840'016,
                           "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
                   gzip_of("t10k-labels-idx1-ubyte", 10'008,
                           "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2")}};
}

PublishedSet cifar10() {
  constexpr std::uint64_t kBytes = 30'730'000;
  return {.name = "cifar10",
          .home = "https://www.cs.toronto.edu/~kriz",
          .folder = "cifar-10-batches-bin",
          .archives = {
              {.name = "cifar-10-binary.tar.gz",
               .kind = Archive::Kind::tar,
               .files = {{"data_batch_1.bin", kBytes,
                          "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
                         {"data_batch_2.bin", kBytes,
                          "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
                         {"data_batch_3.bin", kBytes,
                          "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
                         {"data_batch_4.bin", kBytes,
                          "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
                         {"data_batch_5.bin", kBytes,
                          "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
                         {"test_batch.bin", kBytes,
                          "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}}}}};
}

constexpr std::uint64_t kMostUnknown = 1ull << 30;  // limit of a file whose size is not known

/// Sums by file name.
std::map<std::string, std::string> read_sums(const std::filesystem::path& path) {
  constexpr std::size_t kDigits = 64;
  std::map<std::string, std::string> sums;
  for (const std::string& line : split(read_file(path, 1 << 20), '\n')) {
    if (line.empty()) continue;
    // Two blanks, or a blank and a star, precede the name; its folders are ignored.
    if (line.size() < kDigits + 3 || line[kDigits] != ' ' ||
        line.find_first_not_of("0123456789abcdef") != kDigits)
      throw FileError(
          fmt::format("{}: '{}' is not a checksum: expected lines as sha256sum prints them",
                      path.string(), line));
    const std::filesystem::path name = line.substr(kDigits + 2);
    sums[name.filename().string()] = line.substr(0, kDigits);
  }
  return sums;
}

}  // namespace

std::uint64_t Archive::most_bytes() const {
  std::uint64_t bytes = 1 << 20;  // for headers, and small files that are not needed
  for (const PublishedFile& file : files) bytes += file.most_bytes + file.most_bytes / 100;
  return bytes;
}

PublishedSet published_set(std::string_view name) {
  for (const PublishedSet& set : {mnist(), cifar10()})
    if (set.name == name) return set;
  throw UsageError(fmt::format("'{}' cannot be fetched: use mnist or cifar10", name));
}

PublishedSet with_sums_of(const PublishedSet& set, const std::filesystem::path& path) {
  std::map<std::string, std::string> sums = read_sums(path);
  PublishedSet chosen = set;
  chosen.archives.clear();
  for (Archive archive : set.archives) {
    std::vector<PublishedFile> files;
    for (const PublishedFile& file : archive.files)
      if (const auto sum = sums.extract(file.name))
        files.push_back({.name = file.name, .most_bytes = kMostUnknown, .sha256 = sum.mapped()});
    archive.files = std::move(files);
    if (!archive.files.empty()) chosen.archives.push_back(std::move(archive));
  }
  if (!sums.empty())
    throw FileError(
        fmt::format("{}: {} has no file '{}'", path.string(), set.name, sums.begin()->first));
  if (chosen.archives.empty())
    throw FileError(
        fmt::format("{}: has no checksums, so there is nothing to fetch", path.string()));
  return chosen;
}

}  // namespace lockstep::internal::data
