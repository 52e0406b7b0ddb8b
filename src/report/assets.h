// The page's parts, put into the program when it is built: see CMakeLists.txt.
#pragma once

#include <string_view>

namespace lockstep::report {

/// page/page.html, in which PAGE_TITLE, /*STYLE*/, PAGE_DATA, /*LIBRARY*/ and /*SCRIPTS*/ stand for
/// what comes there.
extern const std::string_view kPageSkeleton;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScripts;
/// What the pages of `lockstep dataflow` run instead; most of it is the same.
extern const std::string_view kDataflowScripts;
/// And the page of `lockstep predict`.
extern const std::string_view kPredictScripts;
/// Chart.js.
extern const std::string_view kChartLibrary;

}  // namespace lockstep::report
