// The files of the page, embedded into the program at build time: see CMakeLists.txt.
#pragma once

#include <string_view>

namespace lockstep::internal::report {

/// page/page.html, with the placeholders PAGE_TITLE, /*STYLE*/, PAGE_DATA, /*LIBRARY*/ and
/// /*SCRIPTS*/.
extern const std::string_view kPageSkeleton;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScripts;
/// The scripts of the pages of `lockstep dataflow`.
extern const std::string_view kDataflowScripts;
/// The scripts of the page of `lockstep predict`.
extern const std::string_view kPredictScripts;
/// The scripts of the page of `lockstep bench --example`.
extern const std::string_view kCollectiveScripts;
/// The skeleton of the pages of `lockstep watch`, its style after kPageStyle, and the scripts of
/// its list and of its page of a run.
extern const std::string_view kWatchSkeleton;
extern const std::string_view kWatchStyle;
extern const std::string_view kRunsScripts;
extern const std::string_view kWatchedScripts;
/// Chart.js.
extern const std::string_view kChartLibrary;

}  // namespace lockstep::internal::report
