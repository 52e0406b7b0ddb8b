// Small tensors of whole numbers, for the simulation that really computes.
#pragma once

#include "dataflow/layer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::dataflow {

using Value = std::int64_t;

/// Four dimensions: images × channels × rows × columns, or filters × channels × rows × columns.
struct Tensor {
  Count outer = 0;
  Count channels = 0;
  Count rows = 0;
  Count columns = 0;
  std::vector<Value> values;

  Tensor() = default;
  Tensor(Count outer, Count channels, Count rows, Count columns);

  Value& at(Count o, Count c, Count y, Count x) { return values[place(o, c, y, x)]; }
  Value at(Count o, Count c, Count y, Count x) const { return values[place(o, c, y, x)]; }
  bool operator==(const Tensor&) const = default;

 private:
  std::size_t place(Count o, Count c, Count y, Count x) const {
    return static_cast<std::size_t>(((o * channels + c) * rows + y) * columns + x);
  }
};

/// What a convolution is of.
struct Operands {
  Tensor filter;
  Tensor input;  ///< without padding
  Count stride = 1;
  Count padding = 0;
};

/// "1,2;3,4" (rows of one plane) or a JSON list of lists, nested 2 to 4 deep: rows × columns,
/// channels × …, images or filters × …. Values are of 16 bits, as on the chip. Throws UsageError
/// that names `what`.
Tensor parse_tensor(std::string_view text, std::string_view what);
Tensor tensor_of(const nlohmann::json& json, std::string_view what);

/// {"filter": …, "input": …, "stride": 1, "padding": 0}; the last two may be left out. Throws
/// UsageError.
Operands operands_of(const nlohmann::json& json);

/// Random values from −9 to 9 for a layer's sizes; a seed's are always the same.
Operands random_operands(const Layer& layer, std::uint64_t seed);

/// The sizes of the convolution. Throws UsageError if the operands do not fit each other.
Layer layer_of(const Operands& operands);

/// The input with its padding.
Tensor padded(const Operands& operands);

/// The convolution, by its definition.
Tensor plain_convolution(const Operands& operands);

/// Nested lists of all four dimensions.
nlohmann::json json_of(const Tensor& tensor);

}  // namespace lockstep::dataflow
