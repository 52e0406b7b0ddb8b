// The data sets by name, with all that belongs to each: what `--data` and `--data-dir` stand for.
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::data {

struct ImageSetOptions {
  /// mnist, cifar10, or synthetic, which may be followed by what parse_synthetic takes.
  std::string name = "mnist";

  /// Where the files are: the set's own folder, or one that holds it under its usual name
  /// (mnist; cifar10 or cifar-10-batches-bin). Synthetic images need none.
  std::filesystem::path folder;

  /// Take the first so many training images; 0 for all.
  std::size_t limit = 0;
};

struct ImageSet {
  std::shared_ptr<const Images> train;
  std::shared_ptr<const Images> test;
  Normalisation normalisation;
  /// Zeros on each side that the set's usual networks expect.
  int padding = 0;
  /// One for each label.
  std::vector<std::string> class_names;
};

/// mnist, cifar10, synthetic.
std::vector<std::string> image_set_names();

/// Throws UsageError that names `option` and the sets there are, unless `name` is one of them.
void check_image_set_name(std::string_view name, std::string_view option);

/// What is known of a set's images before any of them is read.
struct ImageKind {
  ImageShape shape;  ///< with the padding that the set's usual networks expect
  int classes = 0;
};

/// Throws UsageError for an unknown name.
ImageKind image_kind(std::string_view name);

/// Reads or makes both splits. Throws FileError if files are missing or not sound, UsageError for
/// an unknown name.
ImageSet open_image_set(const ImageSetOptions& options);

}  // namespace lockstep::data
