// The transports of this build, as `--transport` names them.
#pragma once

#include <string>
#include <vector>

namespace lockstep::internal::cli {

std::vector<std::string> transport_list();

/// Throws UsageError with the list of transports if this build does not have `name`.
void require_transport(const std::string& name);

}  // namespace lockstep::internal::cli
