// The transports of this build, as `--transport` names them.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

std::vector<std::string> transport_list();

/// Throws UsageError that says what there is, unless the build has the transport.
void require_transport(const std::string& name);

}  // namespace lockstep::cli
