// lockstep predict --check: what the model predicts beside what this machine measures.
#pragma once

#include "cli/predict_options.h"

namespace lockstep::cli {

/// Collectives and iterations of VGG-11 with 1, 2 and 4 workers on shm, on Gloo over loopback, and
/// between 4 network namespaces at 1 Gbit/s, if this user may make them. Prints a table of each and
/// the median errors.
void run_check(const PredictCommand& options);

}  // namespace lockstep::cli
