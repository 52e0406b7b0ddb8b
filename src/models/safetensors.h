// Weights as safetensors files, compatible with Python's safetensors package. A file is
//
//   8 bytes   the header's length, little-endian
//   header    JSON: {"name": {"dtype": "F32", "shape": [6, 1, 5, 5], "data_offsets": [begin, end]},
//   …},
//             and under "__metadata__" an object of strings; padded with spaces
//   data      the tensors' bytes; offsets count from here, and the tensors cover it without gap or
//             overlap
//
// Everything here is torch-free. Thread safety: any thread.
#pragma once

#include "models/stored_tensor.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::models {

/// Free text stored with the tensors. Python's transformers package expects {"format": "pt"} here.
using Metadata = std::map<std::string, std::string>;

/// Replaces the file at `path` as a whole. Equal tensors and metadata give equal bytes, in any
/// order. Throws FileError. REQUIRES: names are unique; data fit type and shape.
void write_safetensors(const std::filesystem::path& path, const std::vector<StoredTensor>& tensors,
                       const Metadata& metadata = {});

/// The tensors of the file, ordered by name, and its metadata unless null. Nothing in the file is
/// trusted: every fault is a FileError that names the file, the tensor and the values.
std::vector<StoredTensor> read_safetensors(const std::filesystem::path& path,
                                           Metadata* metadata = nullptr);

/// The bytes that write_safetensors writes. Throws FileError with `source` as the file's name.
std::string format_safetensors(const std::vector<StoredTensor>& tensors, const Metadata& metadata,
                               const std::string& source);

/// Parses a file's bytes like read_safetensors; `source` names them in messages. Uses memory in
/// proportion to the size of `content` only.
std::vector<StoredTensor> parse_safetensors(std::string_view content, const std::string& source,
                                            Metadata* metadata = nullptr);

}  // namespace lockstep::internal::models
