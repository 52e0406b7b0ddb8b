// A simulation in words: who holds what, every cycle, the output, the counters.
#pragma once

#include "dataflow/simulator.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::cli {

/// Listens to a simulation and remembers its first pass and its first cycles.
class CycleLog {
 public:
  CycleLog(const dataflow::Operands& operands, std::size_t most);

  void pass(const dataflow::PassLayout& layout);
  void cycle(const dataflow::Cycle& cycle);

  /// With a column for each element, where they are few; else with their number.
  std::string text(bool colour) const;

 private:
  std::string holdings() const;
  /// "5 8": what each element of the first pass adds to its column, one channel and filter at once.
  std::vector<std::string> row_products() const;
  std::string products_of(const dataflow::Product& product) const;
  std::vector<std::string> cells_of(const dataflow::Cycle& cycle, bool each) const;

  const dataflow::Operands& operands_;
  const dataflow::Tensor input_;
  const std::size_t most_;
  dataflow::PassLayout first_;
  std::vector<dataflow::Cycle> cycles_;
  dataflow::Count seen_ = 0;
};

std::string output_text(const dataflow::Tensor& output);
std::string counters_text(const dataflow::Counters& counters);
nlohmann::json json_of(const dataflow::Counters& counters);

}  // namespace lockstep::cli
