#include <lockstep/error.h>

#include "cli/predict/check.h"

namespace lockstep::internal::cli {

void run_check(const PredictCommand&) {
  throw UsageError(
      "--check trains a network, and this build has no torch: build with LOCKSTEP_TORCH=ON");
}

}  // namespace lockstep::internal::cli
