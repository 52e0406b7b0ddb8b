// Pages as self-contained HTML: data, style, scripts and Chart.js in one file that opens from disk
// without a network.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace lockstep::internal::report {

/// The page of runs. `page` is the result of page_json().
std::string html_of(const nlohmann::json& page);

/// A page of `lockstep dataflow`. Its `kind` is "layers" or "cycles"; see docs/dataflow.md.
std::string dataflow_html_of(const nlohmann::json& page);

/// The page of `lockstep predict`. `page` is its JSON result with tables and notes added.
std::string predict_html_of(const nlohmann::json& page);

/// The page of `lockstep bench --example`. `page` is its JSON result with tables and a lead added.
std::string collective_html_of(const nlohmann::json& page);

}  // namespace lockstep::internal::report
