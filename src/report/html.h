// Pages as self-contained HTML: data, style, scripts and Chart.js in one file that opens from disk
// without a network.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace lockstep::internal::report {

/// The page of runs. `page` is the result of page_json().
std::string html_of(const nlohmann::json& page);

/// A page of `lockstep dataflow`. Its `kind` is "layers" or "cycles"; see docs/dataflow.md.
std::string dataflow_html_of(const nlohmann::json& page);

/// The page of `lockstep predict`. `page` is its JSON result with tables and notes added.
std::string predict_html_of(const nlohmann::json& page);

/// The page of `lockstep bench --example`. `page` is its JSON result with tables and a lead added.
std::string collective_html_of(const nlohmann::json& page);

/// The pages of `lockstep watch`, which ask its server for their style and scripts: its list of
/// runs, and the page of runs with a bar of their state. `page` is the result of page_json() with
/// the state as `watch`.
std::string runs_html_of(const nlohmann::json& page);
std::string watched_html_of(const nlohmann::json& page);

/// The script at a path that these pages name, such as "/chart.js"; empty if they do not.
std::string script_at(std::string_view path);
/// The style of these pages, at "/page.css".
std::string watch_style();

}  // namespace lockstep::internal::report
