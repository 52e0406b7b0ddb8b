// How fast this machine moves bytes. Rough numbers, in a fraction of a second each.
#pragma once

namespace lockstep::cli {

/// GB/s of copying memory on `threads` threads at once, bytes read and bytes written both counted.
/// Throws std::bad_alloc if there is no room for it.
double copy_bandwidth_gbs(int threads);

struct TcpSpeed {
  double bandwidth_gbs = 0;  ///< one way, over one connection
  double latency_us = 0;     ///< one way, of a message of 4 bytes
};
/// Over loopback, between two threads. Throws Error.
TcpSpeed measure_loopback();

}  // namespace lockstep::cli
