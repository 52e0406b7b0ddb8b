// Descriptions and costs of sync methods, beside the measured costs.
#pragma once

#include "report/run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::report {

/// Bytes that a rank sends in one iteration, from the formula. predict/closed_forms.h has another
/// quantity, the bytes on the critical path. Tests compare both with the collectives' code.
struct PredictedBytes {
  double rank_0 = 0;
  double others = 0;  ///< from the last rank
};

struct MethodText {
  std::string what;     ///< how it works
  std::string formula;  ///< cost with W ranks, n bytes of gradients, P parameters
};

/// Whether ranks on this transport read the arrays of other ranks, instead of receiving messages.
bool in_shared_memory(const std::string& transport);

/// The texts about a method; empty for a method that Lockstep does not have.
MethodText text_of_method(const std::string& sync, const std::string& algorithm,
                          const std::string& transport);

/// Empty if the bytes depend on another library, on the placement of ranks on hosts or on an
/// option.
std::optional<PredictedBytes> predicted_bytes(const std::string& sync, const std::string& algorithm,
                                              double workers, double bytes);

/// One entry per method, in the order of the runs: {"name", "what", "formula", "predicted",
/// "measured"}. The measured values are those of the run with the most workers.
nlohmann::json methods_json(const std::vector<Run>& runs);

}  // namespace lockstep::internal::report
