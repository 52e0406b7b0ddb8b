// What each sync method does and costs, in plain words, beside what was measured.
#pragma once

#include "report/run.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::report {

/// What a rank sends in one iteration, by the formula.
struct PredictedBytes {
  double rank_0 = 0;
  double others = 0;
};

struct MethodText {
  std::string what;     ///< how it works
  std::string formula;  ///< W ranks, n bytes of gradients, P parameters
};

/// REQUIRES: it is a method that Lockstep has; otherwise the texts are empty.
MethodText text_of_method(const std::string& sync, const std::string& algorithm);

/// None where only the library that does it knows, or the machines' arrangement or an option
/// decides.
std::optional<PredictedBytes> predicted_bytes(const std::string& sync, const std::string& algorithm,
                                              double workers, double bytes);

/// One entry a method that the runs have, in their order: {"name", "what", "formula", "predicted",
/// "measured"}. Of several runs with one method, that with the most workers is measured.
nlohmann::json methods_json(const std::vector<Run>& runs);

}  // namespace lockstep::report
