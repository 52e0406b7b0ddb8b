#include "cli/shipped_data.h"

#include <system_error>

namespace lockstep::internal::cli {

std::filesystem::path shipped_data() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto installed = program.parent_path().parent_path() / "share" / "lockstep" / "data";
  return std::filesystem::is_directory(installed, error) ? installed : LOCKSTEP_SOURCE_DATA;
}

}  // namespace lockstep::internal::cli
