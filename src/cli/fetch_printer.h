// Prints how a fetch goes on: a bar on a terminal, plain lines elsewhere.
#pragma once

#include "data/fetch.h"

#include <functional>
#include <memory>

namespace lockstep::cli {

/// `go_on` is what the fetch is told when it asks.
std::unique_ptr<data::FetchObserver> make_fetch_printer(bool terminal, std::function<bool()> go_on);

}  // namespace lockstep::cli
