// What SIGINT and SIGTERM mean while something goes on that can be left off in good order. Once is
// a request; whoever repeats it means it, and finds the usual end. SIGUSR1 means the same: batch
// systems and mpirun, which follow the others with SIGKILL, pass it on and give it time.
#pragma once

namespace lockstep::cli {

/// From now on the first of these signals is only noted, and never interrupts this thread or those
/// that it starts: call it before what computes is begun.
void catch_stop_requests();

/// Whether one came.
bool stop_requested();

}  // namespace lockstep::cli
