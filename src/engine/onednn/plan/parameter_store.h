// ParameterStore: a model's weights in the layouts of its plans, and their conversion to and from
// torch's plain layout. Conversions keep all bits; padding is zero.
#pragma once

#include "engine/onednn/plan/aligned_memory.h"
#include "engine/onednn/plan/builder.h"
#include "sync/layout.h"

namespace lockstep::internal::engine::onednn {

class ParameterStore {
 public:
  /// REQUIRES: every parameter has a layout.
  ParameterStore(const dnnl::engine& engine, const LayerGraph& graph, const Layouts& layouts);

  const std::vector<sync::Parameter>& parameters() const { return parameters_; }
  const std::vector<float*>& places() const { return places_; }

  /// Number of elements without padding.
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
  AlignedMemory memory_;  ///< the weights, until move_to()
  std::vector<float*> places_;
};

}  // namespace lockstep::internal::engine::onednn
