#include "fuzz.h"

#include "base/files.h"

#include <cstdio>
#include <filesystem>

namespace lockstep::internal::fuzz {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  __builtin_trap();
}

std::uint8_t Input::byte() {
  const std::string_view first = bytes(1);
  return first.empty() ? 0 : static_cast<std::uint8_t>(first[0]);
}

std::string_view Input::bytes(std::size_t count) {
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(taken.size());
  return taken;
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path folder = (*argv)[i];
    if (!std::filesystem::is_directory(folder)) continue;
    int number = 0;
    for (const std::string& seed : lockstep::internal::fuzz::seeds())
      lockstep::internal::write_file(folder / ("seed-" + std::to_string(number++)), seed);
  }
  return 0;
}
