#include "models/model.h"

#include <lockstep/error.h>

#include "base/check.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <utility>

namespace lockstep::internal::models {

namespace {

constexpr std::array kTypes = {
    std::pair{DataType::float32, torch::kFloat32},   std::pair{DataType::float64, torch::kFloat64},
    std::pair{DataType::int32, torch::kInt32},       std::pair{DataType::int64, torch::kInt64},
    std::pair{DataType::uint8, torch::kUInt8},       std::pair{DataType::float16, torch::kFloat16},
    std::pair{DataType::bfloat16, torch::kBFloat16},
};

torch::ScalarType torch_type(DataType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  LOCKSTEP_CHECK(false, "libtorch has no type for {}", stored_name(type));
}

using NamedTensors = torch::OrderedDict<std::string, torch::Tensor>;

DataType stored_type_of(const NamedTensors::Item& named) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == named->scalar_type()) return ours;
  throw UsageError(
      fmt::format("tensor {} has type {}, which cannot be stored: convert it to one of {}",
                  named.key(), torch::toString(named->scalar_type()), stored_names()));
}

StoredTensor store(const NamedTensors::Item& named) {
  StoredTensor stored{named.key(), stored_type_of(named), named->sizes().vec(), {}};
  const torch::Tensor plain = named->detach().cpu().contiguous();
  stored.data.resize(plain.nbytes());
  if (!stored.data.empty()) std::memcpy(stored.data.data(), plain.data_ptr(), stored.data.size());
  return stored;
}

std::vector<StoredTensor> store_all(const NamedTensors& tensors) {
  std::vector<StoredTensor> stored;
  for (const auto& named : tensors) stored.push_back(store(named));
  return stored;
}

NamedTensors tensors_of(const torch::nn::Module& module) {
  NamedTensors tensors = module.named_parameters();
  tensors.update(module.named_buffers());
  return tensors;
}

[[noreturn]] void misfit(const std::string& source, std::string_view name,
                         const std::string& what) {
  throw Error(fmt::format("{}: tensor {} {}: load the weights of this model", source, name, what));
}

bool converts(DataType from, DataType to) {
  auto floating = [](DataType type) {
    return type == DataType::float32 || type == DataType::float64;
  };
  return from == to || (floating(from) && floating(to));
}

void check_fits(const StoredTensor& stored, const NamedTensors::Item& named,
                const std::string& source) {
  LOCKSTEP_CHECK(tensor_bytes(stored.type, stored.shape) == stored.data.size(),
                 "tensor {} has shape {} and {} bytes", stored.name, format_shape(stored.shape),
                 stored.data.size());
  const std::vector<std::int64_t> shape = named->sizes().vec();
  if (stored.shape != shape)
    misfit(source, stored.name,
           fmt::format("has shape {}, the model's has {}", format_shape(stored.shape),
                       format_shape(shape)));
  const DataType type = stored_type_of(named);
  if (!converts(stored.type, type))
    misfit(source, stored.name,
           fmt::format("is {}, the model's is {}", stored_name(stored.type), stored_name(type)));
}

/// A view of the stored bytes, which must not be written.
torch::Tensor view_of(const StoredTensor& stored) {
  return torch::from_blob(const_cast<std::byte*>(stored.data.data()), stored.shape,
                          torch_type(stored.type));
}

}  // namespace

void convert(torch::nn::Module& module, DataType type) {
  const torch::ScalarType wanted = torch_type(type);
  LOCKSTEP_CHECK(is_floating(type), "a module cannot be converted to {}", stored_name(type));
  for (auto& named : tensors_of(module))
    if (named->is_floating_point()) named->set_data(named->detach().to(wanted));
}

std::vector<StoredTensor> parameters_of(const torch::nn::Module& module) {
  return store_all(module.named_parameters());
}

std::vector<StoredTensor> buffers_of(const torch::nn::Module& module) {
  return store_all(module.named_buffers());
}

std::vector<StoredTensor> state_of(const torch::nn::Module& module) {
  return store_all(tensors_of(module));
}

std::vector<ArrayView> buffer_views(torch::nn::Module& module) {
  std::vector<ArrayView> views;
  for (const auto& named : module.named_buffers())
    views.emplace_back(named->data_ptr(), static_cast<std::size_t>(named->numel()),
                       stored_type_of(named));
  return views;
}

void load_state(torch::nn::Module& module, const std::vector<StoredTensor>& state,
                const std::string& source) {
  std::map<std::string_view, const StoredTensor*> unused;
  for (const StoredTensor& stored : state)
    if (!unused.emplace(stored.name, &stored).second) misfit(source, stored.name, "occurs twice");
  std::vector<std::pair<torch::Tensor, const StoredTensor*>> copies;
  for (const auto& named : tensors_of(module)) {
    auto found = unused.find(named.key());
    if (found == unused.end()) misfit(source, named.key(), "is missing");
    check_fits(*found->second, named, source);
    copies.emplace_back(named.value(), found->second);
    unused.erase(found);
  }
  if (!unused.empty()) misfit(source, unused.begin()->first, "is not part of the model");
  // All tensors were checked before the first is copied: a failure leaves the module unchanged.
  torch::NoGradGuard no_grad;
  for (auto& [tensor, stored] : copies) tensor.copy_(view_of(*stored));
}

}  // namespace lockstep::internal::models
