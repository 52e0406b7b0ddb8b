// What a page says first, in words: title, verdict and notes.
#pragma once

#include "report/source.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::report {

/// "LeNet-5 on MNIST, 4 workers: ddp".
std::string title_of(const Source& source);

/// The run's or the study's own; for runs that have none, where they stopped or which was fastest.
std::string verdict_of(const Source& source);

/// What the files themselves say, where runs stopped, and in which options runs differ.
std::vector<std::string> notes_of(const Source& source);

/// Of a study's file: null if it has none. Throws FileError.
nlohmann::json scaling_of(const Fields& study);

}  // namespace lockstep::report
