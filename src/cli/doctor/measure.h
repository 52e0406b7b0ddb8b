// Rough measurements of this machine's bandwidths, in a fraction of a second each.
#pragma once

namespace lockstep::internal::cli {

/// GB/s of copying memory on `threads` threads at once, counting bytes read and bytes written.
/// Throws std::bad_alloc if there is not enough memory.
double copy_bandwidth_gbs(int threads);

struct TcpSpeed {
  double bandwidth_gbs = 0;  ///< one way, over one connection
  double latency_us = 0;     ///< one way, of a message of 4 bytes
};
/// Over loopback, between two threads. Throws Error.
TcpSpeed measure_loopback();

}  // namespace lockstep::internal::cli
