// `lockstep bench --example`: a worked all-reduce as a table, as JSON and as a page to step
// through.
#pragma once

#include "comm/recording/worked_collective.h"

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// The algorithms that an example can show: those that send messages.
std::vector<std::string> example_names();

struct ExampleOptions {
  std::string algorithm;  ///< one of example_names()
  int workers = 4;
  std::size_t elements = 0;  ///< of each array; 0: as many as workers
  std::string json;          ///< file for the JSON; "-" is standard output, "" writes nothing
  std::string html;          ///< file for the page; "" writes nothing
};

/// Runs the example, prints the table unless the JSON goes to standard output, and writes the
/// files.
void run_example(const ExampleOptions& options);

}  // namespace lockstep::internal::cli
