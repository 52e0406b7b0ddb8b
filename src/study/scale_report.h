// What scale shows of its measurements: tables, sentences, JSON.
#pragma once

#include "study/scale.h"
#include "study/text_table.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::study {

/// A row for each run. Worlds that share too few cores have a star after their number of workers.
TextTable run_table(const Scaling& scaling);

/// Seconds per epoch, speed-up, communication and bandwidth by workers and batch, as reports of
/// such studies have them. Of one method.
TextTable batch_table(const Scaling& scaling, const std::string& method);

/// How it scales, what limits it, where it stops to pay and which batch helps: two to five
/// sentences.
std::string scale_verdict(const Scaling& scaling);

/// How the figures came about: what a reader needs to know to believe them.
std::vector<std::string> scale_notes(const Scaling& scaling);

/// kind, verdict, notes, tables, runs and scaling: what the study's summary.json has. See
/// docs/files.md.
nlohmann::json to_json(const Scaling& scaling);

}  // namespace lockstep::study
