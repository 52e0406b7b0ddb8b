// CIFAR-10: 32×32 colour images of ten classes, in the binary version of its authors. A set is one
// folder with these files. Each consists of records of 3073 bytes: a label from 0 to 9, then 1024
// bytes of red, 1024 of green and 1024 of blue, row by row.
//
//   data_batch_1.bin … data_batch_5.bin   training: 10,000 records each in the full set
//   test_batch.bin                        test: 10,000 records
#pragma once

#include "data/images.h"
#include "data/loader.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep::internal::data {

/// Mean and standard deviation of each channel over the 50,000 training images, scaled to 0 … 1.
Normalisation cifar10_normalisation();

inline constexpr ImageShape kCifar10Shape{.channels = 3, .height = 32, .width = 32};
inline constexpr int kCifar10Classes = 10;

/// The names of labels 0 to 9.
std::vector<std::string> cifar10_class_names();

/// Reads the first `limit` images of a split. A training set is data_batch_1.bin and the
/// consecutive files after it; each has at least one record.
///
/// Throws FileError that names the file and, if there is one, the offset for a file that is
/// missing, empty, ends within a record or has a label above 9; UsageError for a limit of 0. Data
/// after `limit` are not read.
Images read_cifar10(const std::filesystem::path& folder, Split split,
                    std::size_t limit = kAllItems);

}  // namespace lockstep::internal::data
