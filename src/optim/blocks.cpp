#include "optim/blocks.h"

#include <algorithm>

namespace lockstep::internal::optim {

void run_blocks(std::size_t begin, std::size_t count, void* context,
                void (*work)(void*, std::size_t, std::size_t, std::size_t)) {
  [[maybe_unused]] constexpr std::size_t kMany = 16;  // fewer blocks run on one thread
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  // Neighbouring blocks run on one thread.
#pragma omp parallel for schedule(static) if (blocks >= kMany)
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t from = begin + block * kBlock;
    work(context, block, from, std::min(kBlock, begin + count - from));
  }
}

}  // namespace lockstep::internal::optim
