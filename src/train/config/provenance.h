// The origin of results: command line, version of Lockstep, and machine.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace lockstep::internal::train {

/// {"command", "version", "machine"}: the fields that a run's config.json and a study's
/// summary.json have for their reports.
nlohmann::json provenance_json(const std::string& command);

}  // namespace lockstep::internal::train
