// How the channels of maps lie in memory.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>

namespace lockstep::engine::onednn {

/// Of maps [N, C, H, W] that lie without gaps: 8 or 16 if channels lie in such blocks, the last of
/// which may be filled up with zeros; 1 if each lies by itself, as in torch; 0 for all else.
std::size_t channel_block(const dnnl::memory::desc& maps);

}  // namespace lockstep::engine::onednn
