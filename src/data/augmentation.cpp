#include "data/augmentation.h"

#include "base/random.h"

namespace lockstep::internal::data {

View draw_view(const Augmentation& augmentation, std::uint64_t epoch, std::uint32_t image) {
  // Differs from the stream (seed, epoch) that shuffles the images.
  constexpr std::uint64_t kPurpose = 0x6175676d656e74;
  Random random(augmentation.seed ^ kPurpose, epoch, image);
  const auto places = 2 * static_cast<std::uint64_t>(augmentation.shift) + 1;
  View view;
  view.down = static_cast<int>(random.below(places)) - augmentation.shift;
  view.right = static_cast<int>(random.below(places)) - augmentation.shift;
  view.mirrored = augmentation.flip && random.below(2) == 1;
  return view;
}

}  // namespace lockstep::internal::data
