// The results of scale as tables, sentences and JSON.
#pragma once

#include "base/table/text_table.h"
#include "study/scale.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::study {

/// One row per run. A star after the number of workers marks an oversubscribed run.
TextTable run_table(const Scaling& scaling);

/// What each run learned, and the seconds of its first two epochs: a row per run.
TextTable learning_table(const Scaling& scaling);

/// Seconds per epoch, speed-up, communication and bandwidth of one method: a row per number of
/// workers, a column per batch.
TextTable batch_table(const Scaling& scaling, const std::string& method);

/// Two to five sentences: how the job scales, what limits it, from where on efficiency is low, and
/// which batch helps.
std::string scale_verdict(const Scaling& scaling);

/// The conditions of the measurement that a reader needs to interpret the figures.
std::vector<std::string> scale_notes(const Scaling& scaling);

/// The content of the study's summary.json: kind, verdict, notes, tables, runs and scaling. See
/// docs/files.md.
nlohmann::json to_json(const Scaling& scaling);

}  // namespace lockstep::internal::study
