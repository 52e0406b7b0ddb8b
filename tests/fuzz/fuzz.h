// Common parts of the fuzz targets: seeds, input reading, and checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::fuzz {

/// Defined by each target: valid inputs, written into the corpus folder before the first run.
std::vector<std::string> seeds();

/// Ends the process; libFuzzer then reports the input.
void require(bool holds, const char* what);

/// Reads an input from its front; zeros follow its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte();
  /// At most `count` bytes.
  std::string_view bytes(std::size_t count);

 private:
  std::string_view rest_;
};

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
