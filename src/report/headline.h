// The texts at the top of a page: title, verdict and notes.
#pragma once

#include "report/source.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::report {

/// "LeNet-5 on MNIST, 4 workers: ddp".
std::string title_of(const Source& source);

/// The verdict of the run or study. Without one: where an incomplete run stopped, or which of
/// several runs has the highest throughput.
std::string verdict_of(const Source& source);

/// The runs by images per second, without the one worker of compare: {"fastest", "exact": […],
/// "inexact": […]} as in run::Ranking; null if none has a throughput.
nlohmann::json ranking_of(const Source& source);

/// The notes of a study, the runs that are incomplete or uneven, and the options in which runs
/// differ.
std::vector<std::string> notes_of(const Source& source);

/// The data of the scaling charts in a study's file; null if it has none. Throws FileError.
nlohmann::json scaling_of(const run::Fields& study);

}  // namespace lockstep::internal::report
