// MNIST: 28×28 grey images of the digits 0 to 9, and anything that is published in its format
// (Fashion-MNIST, KMNIST). A set is four idx files in one folder, each plain or gzip:
//
//   train-images-idx3-ubyte   train-labels-idx1-ubyte
//   t10k-images-idx3-ubyte    t10k-labels-idx1-ubyte
//
// The whole set has 60,000 training images (train-*) and 10,000 test images (t10k-*).
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>

namespace lockstep::data {

/// Mean and standard deviation over all pixels of MNIST's 60,000 training images, scaled to 0 … 1.
Normalisation mnist_normalisation();

inline constexpr ImageShape kMnistShape{.channels = 1, .height = 28, .width = 28};
inline constexpr int kMnistClasses = 10;

/// Zeros on each side that make 28×28 the 32×32 that LeNet-5 was designed for.
inline constexpr int kMnistPadding = 2;

/// The first `limit` images of a split. Throws FileError that names the file and says what to do
/// where a file is missing or malformed, images and labels differ in number, images are not 28×28,
/// or a label is none of 0 to 9; UsageError for a limit of 0.
Images read_mnist(const std::filesystem::path& folder, Split split, std::size_t limit = kAllItems);

}  // namespace lockstep::data
