// Small integer tensors, for the simulation that computes values.
#pragma once

#include "dataflow/layer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::internal::dataflow {

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

/// The operands of a convolution.
struct Operands {
  Tensor filter;
  Tensor input;  ///< without padding
  Count stride = 1;
  Count padding = 0;
};

/// Parses "1,2;3,4" (rows of one plane) or a JSON list of lists, nested 2 to 4 deep: rows ×
/// columns, channels × …, images or filters × …. Values have 16 bits, as on the chip. Errors are
/// UsageErrors that name `what`.
Tensor parse_tensor(std::string_view text, std::string_view what);
Tensor tensor_of(const nlohmann::json& json, std::string_view what);

/// {"filter": …, "input": …, "stride": 1, "padding": 0}; the last two may be left out. Throws
/// UsageError.
Operands operands_of(const nlohmann::json& json);

/// Random values from −9 to 9 for a layer's sizes; the same for equal seeds.
Operands random_operands(const Layer& layer, std::uint64_t seed);

/// The sizes of the convolution. Throws UsageError if the operands do not fit each other.
Layer layer_of(const Operands& operands);

/// The input with its padding.
Tensor padded(const Operands& operands);

/// The convolution by its definition.
Tensor plain_convolution(const Operands& operands);

/// All four dimensions as nested lists.
nlohmann::json json_of(const Tensor& tensor);

}  // namespace lockstep::internal::dataflow
