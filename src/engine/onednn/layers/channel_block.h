// The memory layout of channels in maps.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>

namespace lockstep::internal::engine::onednn {

/// For maps [N, C, H, W] without gaps: 8 or 16 if channels are stored in such blocks, the last of
/// which may be padded with zeros; 1 if each channel is contiguous, as in torch; 0 for any other
/// layout.
std::size_t channel_block(const dnnl::memory::desc& maps);

}  // namespace lockstep::internal::engine::onednn
