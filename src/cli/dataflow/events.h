// The cycles of a simulation as a table: a row for every product, every psum that moves up and
// every sum that is written.
#pragma once

#include "base/table/text_table.h"
#include "dataflow/simulator.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// "1·(-1)+3·2": the factors that an element multiplies, its input row first. `input` is padded.
std::string factors_text(const dataflow::Operands& operands, const dataflow::Tensor& input,
                         const dataflow::Element& element, const dataflow::Product& product);

/// Observes a simulation and stores its events, up to dataflow::kMostEvents.
class EventLog {
 public:
  /// REQUIRES: the operands outlive the log.
  explicit EventLog(const dataflow::Operands& operands);

  void pass(const dataflow::PassLayout& layout) { layout_ = layout; }
  void cycle(const dataflow::Cycle& cycle);

  /// The events of the first `most` cycles, as many as were stored.
  TextTable table(std::size_t most) const;
  /// The number of cycles that a table of so many rows can have.
  std::size_t cycles_within(std::size_t rows) const;
  /// All events; null if there were more than the log stores.
  nlohmann::json json() const;

 private:
  struct Event {
    dataflow::Count cycle, pass, element;
    const char* operation;
    std::string operands;
    dataflow::Value psum;
    std::string output;  ///< the place of the sum that it belongs to
  };

  std::string place_of(dataflow::Count image, dataflow::Count filter, dataflow::Count row,
                       dataflow::Count column) const;
  void add(Event event);

  const dataflow::Operands& operands_;
  const dataflow::Tensor input_;
  const bool several_planes_;
  dataflow::PassLayout layout_;
  dataflow::Count cycles_ = 0;
  dataflow::Count left_out_ = 0;  ///< events beyond the limit
  std::vector<Event> events_;
};

}  // namespace lockstep::internal::cli
