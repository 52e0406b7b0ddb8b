#include "report/methods.h"

#include "base/table/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::report {

namespace {

double tree_levels(double workers) {
  return std::ceil(std::log2(workers));
}

std::string whose(double rank_0, double others) {
  // Rounding, headers and padding between parameters cause differences below 1 %.
  if (std::abs(rank_0 - others) <= 0.01 * std::max(rank_0, others))
    return fmt::format("{} from every rank", in_bytes(rank_0));
  return fmt::format("{} from rank 0, {} from each of the others", in_bytes(rank_0),
                     in_bytes(others));
}

std::string predicted_text(const Run& run) {
  const double bytes = static_cast<double>(run.config.count("gradient_bytes"));
  if (bytes == 0 || !run.config.text("compress").empty()) return {};
  const auto workers = static_cast<double>(run.workers());
  const auto predicted =
      predicted_bytes(run.config.text("sync"), run.config.text("algorithm"), workers, bytes);
  if (!predicted) return {};
  return fmt::format("{} (n = {}, W = {})", whose(predicted->rank_0, predicted->others),
                     in_bytes(bytes), workers);
}

std::string measured_text(const Run& run) {
  if (!run.summary) return {};
  const std::vector<run::Fields> ranks = run.summary->list("ranks");
  std::string text;
  const double rank_0 = ranks.empty() ? 0 : ranks.front().number("bytes_per_iteration").value_or(0);
  if (rank_0 > 0)  // a library may not report its bytes
    text = whose(rank_0, ranks.back().number("bytes_per_iteration").value_or(0)) + "; ";
  const auto mean = run.summary->object("seconds_per_iteration").number("mean");
  return text + (mean ? in_seconds(*mean) : "–") + " per iteration (mean)";
}

/// The run with the same method and the most workers.
const Run& largest_like(const Run& like, const std::vector<Run>& runs) {
  const Run* largest = &like;
  for (const Run& run : runs)
    if (run.method() == like.method() && run.workers() > largest->workers()) largest = &run;
  return *largest;
}

}  // namespace

std::optional<PredictedBytes> predicted_bytes(const std::string& sync, const std::string& algorithm,
                                              double workers, double bytes) {
  if (sync == "server" || sync == "local-sgd") return std::nullopt;
  const PredictedBytes through_rank_0{bytes * (workers - 1), bytes};
  if (sync == "gather-scatter" || sync == "p2p" || sync == "coordinator" || algorithm == "star")
    return through_rank_0;
  const double least = 2 * bytes * (workers - 1) / workers;
  const bool power_of_two = std::exp2(tree_levels(workers)) == workers;
  if (algorithm == "auto" || algorithm == "direct" || algorithm == "ring" ||
      (algorithm == "halving-doubling" && power_of_two))
    return PredictedBytes{least, least};
  if (algorithm == "tree") return PredictedBytes{bytes * tree_levels(workers), bytes};
  return std::nullopt;
}

nlohmann::json methods_json(const std::vector<Run>& runs) {
  nlohmann::json methods = nlohmann::json::array();
  std::vector<std::string> seen;
  for (const Run& run : runs) {
    const std::string name = run.method();
    if (run.workers() < 2 || std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    MethodText text = text_of_method(run.config.text("sync"), run.config.text("algorithm"),
                                     run.config.text("transport"));
    if (text.what.empty()) continue;
    if (const std::string compress = run.config.text("compress"); !compress.empty()) {
      text.what += fmt::format(" Here they are compressed before they are sent ({}).", compress);
      text.formula += ", if they were not compressed";
    }
    const Run& measured = largest_like(run, runs);
    methods.push_back({{"name", name},
                       {"what", text.what},
                       {"formula", text.formula},
                       {"predicted", predicted_text(measured)},
                       {"measured", measured_text(measured)}});
  }
  return methods;
}

}  // namespace lockstep::internal::report
