// Reads request files.
#pragma once

#include "simulate/request.h"

#include <vector>

namespace lockstep::internal::simulate {

struct RequestFile {
  Request request;
  std::vector<comm::RecordedSteps> ranks;
};

/// Throws std::runtime_error for a malformed file or invalid steps: the steps need no further
/// checks.
RequestFile read_request(const char* path);

}  // namespace lockstep::internal::simulate
