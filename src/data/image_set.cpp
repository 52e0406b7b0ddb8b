#include "data/image_set.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "data/cifar10.h"
#include "data/mnist.h"
#include "data/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <system_error>

namespace lockstep::internal::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSynthetic = "synthetic";

bool is_synthetic(std::string_view name) {
  return name == kSynthetic ||
         (name.starts_with(kSynthetic) && name.substr(kSynthetic.size()).starts_with(':'));
}

// Both DIR/mnist/train-images… and DIR/train-images… are common.
fs::path folder_of(const fs::path& folder, std::initializer_list<std::string_view> usual_names) {
  std::error_code error;
  for (std::string_view name : usual_names)
    if (fs::is_directory(folder / name, error)) return folder / name;
  return folder;
}

std::vector<std::string> numbers(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}", i));
  return names;
}

std::shared_ptr<const Images> shared(Images images) {
  return std::make_shared<const Images>(std::move(images));
}

ImageSet open_mnist(const fs::path& data, std::size_t limit) {
  const fs::path folder = folder_of(data, {"mnist"});
  return {.train = shared(read_mnist(folder, Split::train, limit)),
          .test = shared(read_mnist(folder, Split::test)),
          .normalisation = mnist_normalisation(),
          .padding = kMnistPadding,
          .class_names = numbers(10)};
}

ImageSet open_cifar10(const fs::path& data, std::size_t limit) {
  const fs::path folder = folder_of(data, {"cifar10", "cifar-10-batches-bin"});
  return {.train = shared(read_cifar10(folder, Split::train, limit)),
          .test = shared(read_cifar10(folder, Split::test)),
          .normalisation = cifar10_normalisation(),
          .padding = 0,
          .class_names = cifar10_class_names()};
}

ImageSet open_synthetic(std::string_view text, std::size_t limit) {
  SyntheticOptions options = parse_synthetic(text);
  options.train = std::min(options.train, limit);
  return {.train = shared(make_synthetic(options, Split::train)),
          .test = shared(make_synthetic(options, Split::test)),
          .normalisation = synthetic_normalisation(options.shape.channels),
          .padding = 0,
          .class_names = numbers(options.classes)};
}

}  // namespace

std::vector<std::string> image_set_names() {
  return {"mnist", "cifar10", std::string(kSynthetic)};
}

void check_image_set_name(std::string_view name, std::string_view option) {
  const std::vector<std::string> known = image_set_names();
  if (is_synthetic(name))
    parse_synthetic(name.substr(kSynthetic.size()));
  else if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(fmt::format("{} is '{}': choose from {}", option, name, enumerate(known)));
}

ImageKind image_kind(std::string_view name) {
  check_image_set_name(name, "the data set");
  if (name == "mnist")
    return {.shape = {.channels = kMnistShape.channels,
                      .height = kMnistShape.height + 2 * kMnistPadding,
                      .width = kMnistShape.width + 2 * kMnistPadding},
            .classes = kMnistClasses};
  if (name == "cifar10") return {.shape = kCifar10Shape, .classes = kCifar10Classes};
  const SyntheticOptions options = parse_synthetic(name.substr(kSynthetic.size()));
  return {.shape = options.shape, .classes = options.classes};
}

ImageSet open_image_set(const ImageSetOptions& options) {
  check_image_set_name(options.name, "the data set");
  const std::size_t limit = options.limit > 0 ? options.limit : kAllItems;
  if (options.name == "mnist") return open_mnist(options.folder, limit);
  if (options.name == "cifar10") return open_cifar10(options.folder, limit);
  return open_synthetic(std::string_view(options.name).substr(kSynthetic.size()), limit);
}

}  // namespace lockstep::internal::data
