#include "data/mnist.h"

#include <lockstep/error.h>

#include "data/idx_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace lockstep::internal::data {

namespace fs = std::filesystem;

namespace {

constexpr int kSide = kMnistShape.height;
constexpr std::size_t kLabelsHeader = 8;

fs::path find_file(const fs::path& folder, Split split, std::string_view kind) {
  const std::string name =
      fmt::format("{}-{}-ubyte", split == Split::train ? "train" : "t10k", kind);
  for (const std::string& candidate : {name, name + ".gz"}) {
    fs::path path = folder / candidate;
    // A path that cannot be examined is returned too: opening it will give the reason.
    std::error_code error;
    if (fs::exists(path, error) || error) return path;
  }
  throw FileError(
      fmt::format("{}: neither {} nor {}.gz found: name the folder that holds MNIST's four idx "
                  "files with --data-dir",
                  folder.string(), name, name));
}

void check_images(const fs::path& path, const IdxArray& images) {
  if (images.shape[1] != kSide || images.shape[2] != kSide)
    throw FileError(fmt::format(
        "{}: at offset 8 expected images of {}×{}, found {}×{}: get MNIST, or a set in its format",
        path.string(), kSide, kSide, images.shape[1], images.shape[2]));
  if (images.items == 0)
    throw FileError(fmt::format(
        "{}: at offset 4 expected at least 1 image, found 0: get the file again", path.string()));
}

void check_labels(const fs::path& path, const IdxArray& labels) {
  const auto bad = std::find_if(labels.values.begin(), labels.values.end(),
                                [](std::uint8_t label) { return label >= kMnistClasses; });
  if (bad != labels.values.end())
    throw FileError(fmt::format(
        "{}: at offset {} expected a label from 0 to {}, found {}: the file is damaged or belongs "
        "to another set, get it again",
        path.string(), kLabelsHeader + (bad - labels.values.begin()), kMnistClasses - 1, *bad));
}

}  // namespace

Normalisation mnist_normalisation() {
  return {.mean = {0.1307f}, .deviation = {0.3081f}};
}

Images read_mnist(const fs::path& folder, Split split, std::size_t limit) {
  if (limit == 0) throw UsageError("MNIST is limited to 0 images: request at least 1");
  const fs::path images_path = find_file(folder, split, "images-idx3");
  const fs::path labels_path = find_file(folder, split, "labels-idx1");
  IdxArray images = read_idx(images_path, 3, limit);
  IdxArray labels = read_idx(labels_path, 1, limit);
  check_images(images_path, images);
  if (images.shape[0] != labels.shape[0])
    throw FileError(fmt::format(
        "{}: at offset 4 expected {} labels, one for each image of {}, found {}: get both files "
        "from one source",
        labels_path.string(), images.shape[0], images_path.filename().string(), labels.shape[0]));
  check_labels(labels_path, labels);
  return {.shape = kMnistShape,
          .classes = kMnistClasses,
          .pixels = std::move(images.values),
          .labels = std::move(labels.values)};
}

}  // namespace lockstep::internal::data
