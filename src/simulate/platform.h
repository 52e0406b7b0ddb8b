// The network of a request, as SimGrid has it.
#pragma once

#include "simulate/request.h"

#include <simgrid/s4u.hpp>
#include <vector>

namespace lockstep::simulate {

/// Builds it. Returns the hosts in order. REQUIRES: an engine.
std::vector<simgrid::s4u::Host*> build_platform(const Request& request);

}  // namespace lockstep::simulate
