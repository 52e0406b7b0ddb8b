#include <lockstep/error.h>

#include "base/check.h"
#include "base/files.h"
#include "models/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace lockstep::internal::models {

namespace {

using nlohmann::json;

/// The order of the data. The widest types come first, as in Python's writer: every tensor then
/// begins at a multiple of its element size, and a reader may map the file and use it in place.
std::vector<const StoredTensor*> data_order(const std::vector<StoredTensor>& tensors) {
  std::vector<const StoredTensor*> order = sorted_by_name(tensors);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const StoredTensor* tensor) { return size_of(tensor->type); });
  return order;
}

json describe(const std::vector<const StoredTensor*>& order, const Metadata& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t begin = 0;
  for (const StoredTensor* tensor : order) {
    LOCKSTEP_CHECK(tensor_bytes(tensor->type, tensor->shape) == tensor->data.size(),
                   "tensor {} has shape {} and {} bytes", tensor->name, format_shape(tensor->shape),
                   tensor->data.size());
    LOCKSTEP_CHECK(tensor->name != "__metadata__" && !header.contains(tensor->name),
                   "a tensor cannot be named {}", tensor->name);
    std::uint64_t end = begin + tensor->data.size();
    header[tensor->name] = {{"dtype", stored_name(tensor->type)},
                            {"shape", tensor->shape},
                            {"data_offsets", {begin, end}}};
    begin = end;
  }
  return header;
}

std::string header_text(const json& header, const std::string& source) {
  std::string text;
  try {
    text = header.dump();
  } catch (const json::type_error&) {
    throw FileError(fmt::format(
        "{}: cannot write: a tensor's name or its metadata is not UTF-8 text; rename it", source));
  }
  while (text.size() % 8 != 0) text += ' ';
  return text;
}

}  // namespace

std::string format_safetensors(const std::vector<StoredTensor>& tensors, const Metadata& metadata,
                               const std::string& source) {
  const std::vector<const StoredTensor*> order = data_order(tensors);
  const std::string header = header_text(describe(order, metadata), source);
  const std::uint64_t length = header.size();
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  content += header;
  for (const StoredTensor* tensor : order)
    content.append(reinterpret_cast<const char*>(tensor->data.data()), tensor->data.size());
  return content;
}

void write_safetensors(const std::filesystem::path& path, const std::vector<StoredTensor>& tensors,
                       const Metadata& metadata) {
  write_file(path, format_safetensors(tensors, metadata, path.string()));
}

}  // namespace lockstep::internal::models
