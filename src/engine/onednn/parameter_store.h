// ParameterStore: a model's weights in the layouts of its plans, and their way to and from torch's
// plain layout. Either way a value keeps its bits; padding is zero.
#pragma once

#include "engine/onednn/aligned_memory.h"
#include "engine/onednn/builder.h"
#include "sync/layout.h"

namespace lockstep::engine::onednn {

class ParameterStore {
 public:
  /// REQUIRES: every parameter has a layout.
  ParameterStore(const dnnl::engine& engine, const Network& network, const Layouts& layouts);

  const std::vector<sync::Parameter>& parameters() const { return parameters_; }
  const std::vector<float*>& places() const { return places_; }

  /// Elements without padding.
  std::size_t plain_count(std::size_t parameter) const;
  void to_plain(std::size_t parameter, const float* values, float* plain) const;
  void from_plain(std::size_t parameter, const float* plain, float* values) const;

  /// Moves the weights to the slots of this array.
  void move_to(const ArrayView& weights, const std::vector<sync::Slot>& slots);

 private:
  void reorder(const dnnl::memory::desc& from_layout, const float* from,
               const dnnl::memory::desc& to_layout, float* to) const;

  dnnl::engine engine_;
  std::vector<dnnl::memory::desc> layouts_;
  std::vector<sync::Parameter> parameters_;
  AlignedMemory memory_;  ///< until they are moved
  std::vector<float*> places_;
};

}  // namespace lockstep::engine::onednn
