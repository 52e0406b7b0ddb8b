#include "cli/transport_list.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "comm/transports.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::cli {

std::vector<std::string> transport_list() {
  return comm::transport_names();
}

void require_transport(const std::string& name) {
  const std::vector<std::string> names = transport_list();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError(
        fmt::format("unknown transport '{}': this build has {}", name, enumerate(names)));
}

}  // namespace lockstep::internal::cli
