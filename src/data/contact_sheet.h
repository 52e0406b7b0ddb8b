// Many small images on one picture.
#pragma once

#include "data/images.h"
#include "data/png.h"

#include <cstddef>

namespace lockstep::data {

struct ContactSheetOptions {
  std::size_t columns = 10;  ///< images of each class: its first ones
  std::size_t zoom = 2;      ///< pixels of the picture for one of an image, in each direction
};

/// A row for each class, from label 0 down; where a class has too few images its row ends early.
/// Three channels are red, green and blue; of any other number the first is shown as grey. Throws
/// UsageError where the sheet would be larger than 65,536 pixels on a side or 2^28 in all.
Picture contact_sheet(const Images& images, const ContactSheetOptions& options = {});

}  // namespace lockstep::data
