// Pages as files of their own: data, style, scripts and Chart.js in one, so that they open from
// disk without a network. What a page shows is the caller's business.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace lockstep::report {

/// The page of runs, from data as page_json() makes them.
std::string html_of(const nlohmann::json& page);

/// A page of `lockstep dataflow`: `kind` is "layers" or "cycles"; docs/dataflow.md says what they
/// show.
std::string dataflow_html_of(const nlohmann::json& page);

/// The page of `lockstep predict`, from what it writes as JSON, with tables and notes.
std::string predict_html_of(const nlohmann::json& page);

}  // namespace lockstep::report
