// A simulation as text: contents of the elements, every cycle, the output, the counters.
#pragma once

#include "dataflow/simulator.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// Observes a simulation and stores its first pass and its first cycles.
class CycleLog {
 public:
  CycleLog(const dataflow::Operands& operands, std::size_t most);

  void pass(const dataflow::PassLayout& layout);
  void cycle(const dataflow::Cycle& cycle);

  /// The contents and the row products of each element; empty if there are many elements.
  std::string holdings() const;
  /// One column per element if there are few; otherwise their number only.
  std::string table(bool colour) const;
  /// A line about the cycles that were not stored; empty if there are none.
  std::string rest() const;

 private:
  bool shows_each_element() const;
  /// "5 8": the values that each element of the first pass adds to its column.
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

}  // namespace lockstep::internal::cli
