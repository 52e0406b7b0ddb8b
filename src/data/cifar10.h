// CIFAR-10: 32×32 colour images of ten kinds of things, in the binary version of its authors. A set
// is one folder with these files, each nothing but records of 3073 bytes: a label from 0 to 9, then
// 1024 bytes of red, 1024 of green and 1024 of blue, row by row.
//
//   data_batch_1.bin … data_batch_5.bin   training: 10,000 records each in the whole set
//   test_batch.bin                        test: 10,000
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::data {

/// Mean and standard deviation of each channel over the 50,000 training images, scaled to 0 … 1.
Normalisation cifar10_normalisation();

inline constexpr ImageShape kCifar10Shape{.channels = 3, .height = 32, .width = 32};
inline constexpr int kCifar10Classes = 10;

/// What the labels 0 to 9 stand for.
std::vector<std::string> cifar10_class_names();

/// The first `limit` images of a split. A training set is data_batch_1.bin and those of the other
/// four that follow it without a gap; each may hold any number of records but none.
///
/// Throws FileError that names the file, and the offset in it where there is one, for a file that
/// is missing, empty, ends within a record or has a label above 9; UsageError for a limit of 0.
/// What lies behind `limit` is not looked at.
Images read_cifar10(const std::filesystem::path& folder, Split split,
                    std::size_t limit = kAllItems);

}  // namespace lockstep::data
