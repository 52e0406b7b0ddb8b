// Builds the network of a request in SimGrid.
#pragma once

#include "simulate/request.h"

#include <simgrid/s4u.hpp>
#include <vector>

namespace lockstep::internal::simulate {

/// Returns the hosts in order. REQUIRES: an engine exists.
std::vector<simgrid::s4u::Host*> build_platform(const Request& request);

}  // namespace lockstep::internal::simulate
