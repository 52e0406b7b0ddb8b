// Weights as safetensors files, which Python's safetensors package reads and writes as well. A file
// is
//
//   8 bytes   the header's length, little-endian
//   header    JSON: {"name": {"dtype": "F32", "shape": [6, 1, 5, 5], "data_offsets": [begin, end]},
//   …},
//             and under "__metadata__" an object of strings; padded with spaces
//   data      the tensors' bytes; offsets count from here, and the tensors cover it without gap or
//   overlap
//
// Everything here is torch-free and may be called from any thread.
#pragma once

#include "models/stored_tensor.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models {

/// Free text beside the tensors. Python's transformers package wants {"format": "pt"} here.
using Metadata = std::map<std::string, std::string>;

/// Replaces the file at `path` as a whole. The same tensors and metadata make the same bytes, in
/// whatever order they come. Throws FileError. REQUIRES: names are unique; data fit type and shape.
void write_safetensors(const std::filesystem::path& path, const std::vector<StoredTensor>& tensors,
                       const Metadata& metadata = {});

/// The tensors of the file, ordered by name, and its metadata where asked for. Nothing in the file
/// is trusted: whatever is wrong with it is a FileError that names the file, the tensor and the
/// values.
std::vector<StoredTensor> read_safetensors(const std::filesystem::path& path,
                                           Metadata* metadata = nullptr);

/// The bytes that write_safetensors writes; throws FileError with `source` as the file's name.
std::string format_safetensors(const std::vector<StoredTensor>& tensors, const Metadata& metadata,
                               const std::string& source);

/// What read_safetensors does with a file's bytes; `source` names them in messages. Uses memory in
/// proportion to `content`, whatever it says.
std::vector<StoredTensor> parse_safetensors(std::string_view content, const std::string& source,
                                            Metadata* metadata = nullptr);

}  // namespace lockstep::models
