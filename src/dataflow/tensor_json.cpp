// Parses tensors and operands. The text is untrusted.
#include <lockstep/error.h>

#include "base/text.h"
#include "dataflow/tensor.h"

#include <fmt/format.h>

namespace lockstep::internal::dataflow {

namespace {

using nlohmann::json;

constexpr Value kLowest = -32768, kHighest = 32767;

[[noreturn]] void fail(std::string_view what, const std::string& problem) {
  throw UsageError(fmt::format(
      "{}: {}: write rows as \"1,2;3,4\", or nested lists of whole numbers as in JSON: rows × "
      "columns, channels × rows × columns, or one more dimension outside",
      what, problem));
}

std::size_t depth_of(const json& list) {
  std::size_t depth = 0;
  for (const json* its = &list; its->is_array(); its = &its->front()) {
    ++depth;
    if (its->empty()) break;
  }
  return depth;
}

/// Reads one dimension. All lists of a dimension must be as long as the first.
void read(const json& list, const std::vector<Count>& sizes, std::size_t level,
          std::string_view what, std::vector<Value>& values) {
  if (level == sizes.size()) {
    if (!list.is_number_integer()) fail(what, fmt::format("{} is not a whole number", list.dump()));
    const auto value = list.get<std::int64_t>();
    if (value < kLowest || value > kHighest)
      fail(what, fmt::format("{} does not fit the chip's 16 bits", list.dump()));
    values.push_back(value);
    return;
  }
  if (!list.is_array() || static_cast<Count>(list.size()) != sizes[level])
    fail(what, "rows and planes differ in length");
  for (const json& inner : list) read(inner, sizes, level + 1, what, values);
}

std::vector<Count> sizes_of(const json& list, std::string_view what) {
  const std::size_t depth = depth_of(list);
  if (depth < 2 || depth > 4) fail(what, "there must be 2 to 4 dimensions");
  std::vector<Count> sizes;
  const json* its = &list;
  for (std::size_t level = 0; level < depth; ++level, its = &its->front()) {
    if (its->empty()) fail(what, "a dimension is empty");
    sizes.push_back(static_cast<Count>(its->size()));
  }
  return sizes;
}

json rows_of(std::string_view text, std::string_view what) {
  json rows = json::array();
  for (const std::string& row : split(text, ';')) {
    rows.push_back(json::array());
    for (const std::string& value : split(row, ','))
      rows.back().push_back(parse_integer(value, what, kLowest, kHighest));
  }
  return rows;
}

Count count_of(const json& object, const char* name, Count otherwise) {
  if (!object.contains(name)) return otherwise;
  if (!object[name].is_number_integer())
    throw UsageError(fmt::format("{} is {}: it must be a whole number", name, object[name].dump()));
  return object[name].get<Count>();
}

json nested(const Tensor& tensor, Count o, Count c) {
  json plane = json::array();
  for (Count y = 0; y < tensor.rows; ++y) {
    plane.push_back(json::array());
    for (Count x = 0; x < tensor.columns; ++x) plane.back().push_back(tensor.at(o, c, y, x));
  }
  return plane;
}

}  // namespace

Tensor parse_tensor(std::string_view text, std::string_view what) {
  if (text.empty()) fail(what, "it is empty");
  if (text.front() != '[') return tensor_of(rows_of(text, what), what);
  const json list = json::parse(text, nullptr, false);
  if (list.is_discarded()) fail(what, "it is not JSON");
  return tensor_of(list, what);
}

Tensor tensor_of(const json& list, std::string_view what) {
  std::vector<Count> sizes = sizes_of(list, what);
  std::vector<Value> values;
  read(list, sizes, 0, what, values);
  while (sizes.size() < 4) sizes.insert(sizes.begin(), 1);
  Tensor tensor(sizes[0], sizes[1], sizes[2], sizes[3]);
  tensor.values = std::move(values);
  return tensor;
}

Operands operands_of(const json& object) {
  if (!object.is_object() || !object.contains("filter") || !object.contains("input"))
    throw UsageError(
        "the operands must be a JSON object with filter and input: {\"filter\": [[1, 2], [3, 4]], "
        "\"input\": [[…]], \"stride\": 1, \"padding\": 0}");
  for (const auto& [name, value] : object.items())
    if (name != "filter" && name != "input" && name != "stride" && name != "padding")
      throw UsageError(fmt::format(
          "the operands have an unknown field '{}': use filter, input, stride and padding", name));
  return {.filter = tensor_of(object["filter"], "filter"),
          .input = tensor_of(object["input"], "input"),
          .stride = count_of(object, "stride", 1),
          .padding = count_of(object, "padding", 0)};
}

json json_of(const Tensor& tensor) {
  json all = json::array();
  for (Count o = 0; o < tensor.outer; ++o) {
    all.push_back(json::array());
    for (Count c = 0; c < tensor.channels; ++c) all.back().push_back(nested(tensor, o, c));
  }
  return all;
}

}  // namespace lockstep::internal::dataflow
