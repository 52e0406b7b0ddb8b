// A request as a file.
#pragma once

#include "simulate/request.h"

#include <vector>

namespace lockstep::simulate {

struct RequestFile {
  Request request;
  std::vector<comm::RecordedSteps> ranks;
};

/// Throws std::runtime_error for a file that is none, or whose steps make no sense: whoever follows
/// them need not look where they lead.
RequestFile read_request(const char* path);

}  // namespace lockstep::simulate
