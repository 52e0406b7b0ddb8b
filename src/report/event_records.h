// EventRecords: scalars in the form that TensorBoard reads. A file of it is a row of TFRecords,
// each with its length and checksums; each holds one protocol buffer, an Event with a moment, a
// step and the scalars of that step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::report {

class EventRecords {
 public:
  /// Begins with the record that says what file this is. `moment` in seconds since 1970, as for
  /// all.
  explicit EventRecords(double moment);

  /// The scalars of one step, each with its name.
  void add(double moment, std::int64_t step,
           const std::vector<std::pair<std::string_view, double>>& scalars);

  /// The whole file's content.
  const std::string& bytes() const { return bytes_; }

 private:
  void add_record(const std::string& message);

  std::string bytes_;
};

}  // namespace lockstep::report
