#include "engine/onednn/plan/parameter_store.h"

#include <fmt/format.h>

#include <cstring>

namespace lockstep::internal::engine::onednn {

using dnnl::memory;

namespace {

/// A text that identifies the layout.
std::string text_of(const memory::desc& layout) {
  const auto& blocking = layout.data.format_desc.blocking;
  std::string text = fmt::format("kind {}", static_cast<int>(layout.data.format_kind));
  for (int i = 0; i < layout.data.ndims; ++i)
    text += fmt::format(", {} apart by {}", layout.data.padded_dims[i], blocking.strides[i]);
  for (int i = 0; i < blocking.inner_nblks; ++i)
    text += fmt::format(", blocks of {} in dimension {}", blocking.inner_blks[i],
                        blocking.inner_idxs[i]);
  return text;
}

}  // namespace

ParameterStore::ParameterStore(const dnnl::engine& engine, const LayerGraph& graph,
                               const Layouts& layouts)
    : engine_(engine) {
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    layouts_.push_back(layouts[i].value());
    parameters_.push_back(
        {graph.parameters[i].name, layouts_[i].get_size() / sizeof(float), text_of(layouts_[i])});
  }
  const sync::Layout flat(parameters_, DataType::float32);
  memory_ = AlignedMemory(flat.bytes());
  for (const sync::Slot& slot : flat.slots())
    places_.push_back(reinterpret_cast<float*>(memory_.data()) + slot.begin);
}

std::size_t ParameterStore::plain_count(std::size_t parameter) const {
  return plain(layouts_[parameter].dims()).get_size() / sizeof(float);
}

void ParameterStore::to_plain(std::size_t parameter, const float* values, float* plain) const {
  const memory::desc& layout = layouts_[parameter];
  reorder(layout, values, onednn::plain(layout.dims()), plain);
}

void ParameterStore::from_plain(std::size_t parameter, const float* plain, float* values) const {
  const memory::desc& layout = layouts_[parameter];
  reorder(onednn::plain(layout.dims()), plain, layout, values);
}

void ParameterStore::reorder(const memory::desc& from_layout, const float* from,
                             const memory::desc& to_layout, float* to) const {
  dnnl::stream stream(engine_);
  memory source(from_layout, engine_, const_cast<float*>(from));  // not written
  memory destination(to_layout, engine_, to);
  dnnl::reorder(source, destination).execute(stream, source, destination);
  stream.wait();
}

void ParameterStore::move_to(const ArrayView& weights, const std::vector<sync::Slot>& slots) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    float* place = static_cast<float*>(weights.data) + slots[i].begin;
    std::memcpy(place, places_[i], parameters_[i].count * sizeof(float));
    places_[i] = place;
  }
  memory_ = {};
}

}  // namespace lockstep::internal::engine::onednn
