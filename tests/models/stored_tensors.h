// Small tensors to store, for the tests of this folder.
#pragma once

#include "models/stored_tensor.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::internal::models {

template <typename T>
StoredTensor stored(std::string name, std::vector<std::int64_t> shape,
                    const std::vector<T>& values) {
  StoredTensor tensor{std::move(name), DataTypeOf<T>::value, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

/// One tensor of every type, a scalar and an empty one; ordered by name.
inline std::vector<StoredTensor> one_of_each() {
  return {
      stored<std::uint8_t>("bytes", {3}, {1, 2, 255}),
      stored<double>("doubles", {2, 2}, {0.5, -1.5, 2.25, -0.125}),
      stored<float>("empty", {0, 7}, {}),
      stored<float>("floats", {1, 3, 1}, {1, 2, 3.5}),
      stored<std::int32_t>("ints", {2}, {-7, 1 << 30}),
      stored<std::int64_t>("scalar", {}, {std::int64_t{1} << 60}),
  };
}

}  // namespace lockstep::internal::models
