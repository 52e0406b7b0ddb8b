#include "data/cifar10.h"

#include <lockstep/error.h>

#include "data/gzip_file.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <system_error>

namespace lockstep::internal::data {

namespace fs = std::filesystem;

namespace {

constexpr int kTrainingFiles = 5;
constexpr std::size_t kRecord = 1 + 3 * 32 * 32;
/// What an error advises to check for.
constexpr const char* kRightFile = "a file of CIFAR-10's binary version";

// A path that cannot be examined counts as present: opening it will give the reason.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

std::vector<fs::path> training_files(const fs::path& folder) {
  std::vector<fs::path> files;
  fs::path missing;
  for (int number = 1; number <= kTrainingFiles; ++number) {
    const fs::path file = folder / fmt::format("data_batch_{}.bin", number);
    if (!is_there(file)) {
      if (missing.empty()) missing = file;
    } else if (!missing.empty()) {
      throw FileError(fmt::format("{}: is missing, but {} exists: get the whole set again",
                                  missing.string(), file.filename().string()));
    } else {
      files.push_back(file);
    }
  }
  return files;
}

std::vector<fs::path> find_files(const fs::path& folder, Split split) {
  std::vector<fs::path> files;
  if (split == Split::train)
    files = training_files(folder);
  else if (is_there(folder / "test_batch.bin"))
    files.push_back(folder / "test_batch.bin");
  if (files.empty())
    throw FileError(fmt::format(
        "{}: {} not found: name the folder that holds the binary version of CIFAR-10 "
        "with --data-dir, or get it with 'lockstep data fetch cifar10'",
        folder.string(), split == Split::train ? "data_batch_1.bin" : "test_batch.bin"));
  return files;
}

/// Adds the next record to `images`; false at the end of the file.
bool read_record(GzipFile& file, Images& images) {
  const std::uint64_t offset = file.offset();
  std::array<std::uint8_t, kRecord> record;
  const std::size_t got = file.read(record);
  if (got == 0 && offset > 0) return false;
  // The label comes first: it tells a wrong file more clearly than the length does.
  if (got > 0 && record[0] >= kCifar10Classes)
    file.fail(offset, fmt::format("a label from 0 to {}", kCifar10Classes - 1),
              fmt::format("{}", record[0]), kRightFile);
  if (got < kRecord)
    file.fail(offset, fmt::format("a record of {} bytes", kRecord),
              fmt::format("the end of the file after {}", got), kRightFile);
  images.labels.push_back(record[0]);
  images.pixels.insert(images.pixels.end(), record.begin() + 1, record.end());
  return true;
}

}  // namespace

Normalisation cifar10_normalisation() {
  return {.mean = {0.4914f, 0.4822f, 0.4465f}, .deviation = {0.2470f, 0.2435f, 0.2616f}};
}

std::vector<std::string> cifar10_class_names() {
  return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
}

Images read_cifar10(const fs::path& folder, Split split, std::size_t limit) {
  if (limit == 0) throw UsageError("CIFAR-10 is limited to 0 images: request at least 1");
  Images images{.shape = kCifar10Shape, .classes = kCifar10Classes, .pixels = {}, .labels = {}};
  for (const fs::path& path : find_files(folder, split)) {
    if (images.size() >= limit) break;
    GzipFile file(path);
    while (images.size() < limit && read_record(file, images)) {
    }
  }
  images.pixels.shrink_to_fit();  // growing doubled the capacity, which would stay unused
  images.labels.shrink_to_fit();
  return images;
}

}  // namespace lockstep::internal::data
