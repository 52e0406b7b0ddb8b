// The data sets that `--data` and `--data-dir` name, with their shapes, normalisation and classes.
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::data {

struct ImageSetOptions {
  /// mnist, cifar10, or synthetic with optional settings; see parse_synthetic.
  std::string name = "mnist";

  /// The set's folder, or one that contains it under its usual name (mnist; cifar10 or
  /// cifar-10-batches-bin). Synthetic images need none.
  std::filesystem::path folder;

  /// Number of training images to use, from the first; 0 for all.
  std::size_t limit = 0;
};

struct ImageSet {
  std::shared_ptr<const Images> train;
  std::shared_ptr<const Images> test;
  Normalisation normalisation;
  /// Width of the border of zeros that the models for this set expect.
  int padding = 0;
  /// The name of each label.
  std::vector<std::string> class_names;
};

/// mnist, cifar10, synthetic.
std::vector<std::string> image_set_names();

/// Throws UsageError that names `option` and the known sets, unless `name` is one of them.
void check_image_set_name(std::string_view name, std::string_view option);

/// Properties of a set's images, known without reading them.
struct ImageKind {
  ImageShape shape;  ///< with the padding that the models for this set expect
  int classes = 0;
};

/// Throws UsageError for an unknown name.
ImageKind image_kind(std::string_view name);

/// Reads or generates both splits. Throws FileError if files are missing or damaged, UsageError for
/// an unknown name.
ImageSet open_image_set(const ImageSetOptions& options);

}  // namespace lockstep::internal::data
