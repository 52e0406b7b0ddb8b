// Findings about measured bandwidths.
#include "cli/doctor/finding.h"
#include "cli/doctor/measure.h"

#include <fmt/format.h>

#include <functional>

namespace lockstep::internal::cli {

namespace {

Finding measured(const std::string& what, double number, const std::string& unit) {
  return {what, fmt::format("{:.1f} {}", number, unit), number, {}, {}};
}

/// Runs one measurement, and adds a finding if it fails.
void attempt(std::vector<Finding>& findings, const std::string& what,
             Finding::State state_of_failure, const std::function<void()>& measurement) {
  try {
    measurement();
  } catch (const std::exception& error) {
    findings.push_back({what, "not measured", {}, state_of_failure, error.what()});
  }
}

}  // namespace

std::vector<Finding> examine_speed(int cores) {
  std::vector<Finding> findings;
  attempt(findings, "memory copy", Finding::State::warning, [&] {
    findings.push_back(measured("memory copy, 1 core", copy_bandwidth_gbs(1), "GB/s"));
    if (cores > 1)
      findings.push_back(
          measured(fmt::format("memory copy, {} cores", cores), copy_bandwidth_gbs(cores), "GB/s"));
  });
  attempt(findings, "loopback TCP", Finding::State::broken, [&] {
    const TcpSpeed speed = measure_loopback();
    findings.push_back(measured("loopback TCP", speed.bandwidth_gbs, "GB/s"));
    findings.push_back(measured("loopback TCP, one way", speed.latency_us, "us"));
  });
  return findings;
}

}  // namespace lockstep::internal::cli
