// MNIST: 28×28 grey images of the digits 0 to 9, and other sets in its format (Fashion-MNIST,
// KMNIST). A set is four idx files in one folder, each plain or gzip:
//
//   train-images-idx3-ubyte   train-labels-idx1-ubyte
//   t10k-images-idx3-ubyte    t10k-labels-idx1-ubyte
//
// The full set has 60,000 training images (train-*) and 10,000 test images (t10k-*).
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>

namespace lockstep::internal::data {

/// Mean and standard deviation over all pixels of MNIST's 60,000 training images, scaled to 0 … 1.
Normalisation mnist_normalisation();

inline constexpr ImageShape kMnistShape{.channels = 1, .height = 28, .width = 28};
inline constexpr int kMnistClasses = 10;

/// Width of the border that makes 28×28 images the 32×32 that LeNet-5 was designed for.
inline constexpr int kMnistPadding = 2;

/// Reads the first `limit` images of a split. Throws FileError with the file and a remedy if a file
/// is missing or malformed, the numbers of images and labels differ, images are not 28×28, or a
/// label is not from 0 to 9; UsageError for a limit of 0.
Images read_mnist(const std::filesystem::path& folder, Split split, std::size_t limit = kAllItems);

}  // namespace lockstep::internal::data
