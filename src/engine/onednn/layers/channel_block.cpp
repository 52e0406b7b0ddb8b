#include "engine/onednn/layers/channel_block.h"

namespace lockstep::internal::engine::onednn {

namespace {

/// The number of channels in a block, 1 without blocks, 0 for blocks of other dimensions.
dnnl_dim_t inner_channels(const dnnl_blocking_desc_t& blocking) {
  if (blocking.inner_nblks == 0) return 1;
  return blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1 ? blocking.inner_blks[0] : 0;
}

}  // namespace

std::size_t channel_block(const dnnl::memory::desc& maps) {
  const auto& blocking = maps.data.format_desc.blocking;
  const dnnl_dim_t block = inner_channels(blocking);
  if (block != 1 && block != 8 && block != 16) return 0;
  const dnnl_dim_t* shape = maps.data.padded_dims;
  const dnnl_dim_t row = shape[3] * block;
  const dnnl_dim_t strides[] = {shape[1] / block * shape[2] * row, shape[2] * row, row, block};
  for (int i = 0; i < 4; ++i) {
    const dnnl_dim_t steps = i == 1 ? shape[1] / block : shape[i];
    if (steps > 1 && blocking.strides[i] != strides[i]) return 0;
  }
  return static_cast<std::size_t>(block);
}

}  // namespace lockstep::internal::engine::onednn
