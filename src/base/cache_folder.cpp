#include "base/cache_folder.h"

#include <cstdlib>
#include <utility>

namespace lockstep::internal {

std::filesystem::path cache_folder() {
  for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", ""}, {"HOME", ".cache"}}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0')
      return std::filesystem::path(value) / below / "lockstep";
  }
  return {};
}

}  // namespace lockstep::internal
