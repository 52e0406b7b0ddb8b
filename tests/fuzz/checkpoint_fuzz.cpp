// A checkpoint's file: every change to a valid file is detected, and random bytes are read or
// rejected.
#include <lockstep/error.h>

#include "fuzz.h"
#include "models/checksum.h"

namespace lockstep::internal::fuzz {

namespace {

using models::Metadata;
using models::StoredTensor;

const std::string& sound_file() {
  static const std::string file = models::format_with_checksum(
      {{"features.0.weight", DataType::float32, {2, 3}, std::vector<std::byte>(24)},
       {"shards.0.features.1.running_mean", DataType::float64, {2}, std::vector<std::byte>(16)},
       {"optimizer.steps", DataType::int64, {1}, std::vector<std::byte>(8)}},
      {{"format", "lockstep checkpoint 2"}, {"iteration", "12"}}, "file");
  return file;
}

bool accepted(std::string_view content) {
  try {
    Metadata metadata;
    std::size_t bytes = 0;
    for (const StoredTensor& tensor : models::parse_safetensors(content, "file", &metadata))
      bytes += tensor.data.size();
    require(bytes <= content.size(), "no tensor is longer than the file");
    models::require_checksum(content, metadata, "file");
    return true;
  } catch (const FileError&) {
    return false;
  }
}

/// Each three bytes of the input change one byte of the file.
std::string damaged_file(Input& input) {
  std::string content = sound_file();
  while (!input.empty()) {
    const std::size_t high = input.byte();
    const std::size_t place = (256 * high + input.byte()) % content.size();
    content[place] ^= static_cast<char>(input.byte());
  }
  return content;
}

}  // namespace

std::vector<std::string> seeds() {
  return {std::string("\0\0\x08\x01", 4), std::string("\1") + sound_file()};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal::fuzz;
  Input input(data, size);
  if (input.byte() % 2 == 0) {
    const std::string content = damaged_file(input);
    require(accepted(content) == (content == sound_file()), "damage shows, and only damage");
  } else {
    accepted(input.bytes(size));
  }
  return 0;
}
