// A contact sheet: many small images in one picture.
#pragma once

#include "data/images.h"
#include "data/png.h"

#include <cstddef>

namespace lockstep::internal::data {

struct ContactSheetOptions {
  std::size_t columns = 10;  ///< images shown of each class, its first ones
  std::size_t zoom = 2;      ///< width and height of an image's pixel in the picture
};

/// One row for each class, from label 0 down. The row of a class with too few images ends early.
/// Three channels are red, green and blue; with any other number, the first is shown as grey.
/// Throws UsageError if the sheet would be larger than 65,536 pixels on a side or 2^28 in all.
Picture contact_sheet(const Images& images, const ContactSheetOptions& options = {});

}  // namespace lockstep::internal::data
