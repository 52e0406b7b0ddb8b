// lockstep predict --check: compares predictions with measurements on this machine.
#pragma once

#include "cli/predict/options.h"

namespace lockstep::internal::cli {

/// Runs collectives and iterations of VGG-11 with 1, 2 and 4 workers on shm, on Gloo over loopback,
/// and between 4 network namespaces at 1 Gbit/s if run as root. Prints a table of each and the
/// median errors.
void run_check(const PredictCommand& options);

}  // namespace lockstep::internal::cli
