// Prints the progress of a download: a bar on a terminal, plain lines elsewhere.
#pragma once

#include "data/fetch/fetch.h"

#include <functional>
#include <memory>

namespace lockstep::internal::cli {

/// The fetch calls `go_on` regularly and stops when it returns false.
std::unique_ptr<data::FetchObserver> make_fetch_printer(bool terminal, std::function<bool()> go_on);

}  // namespace lockstep::internal::cli
