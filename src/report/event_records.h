// EventRecords: scalars in TensorBoard's file format. The file is a sequence of TFRecords with
// lengths and checksums. Each record holds a protocol buffer of type Event with a time, a step and
// the scalars of that step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::internal::report {

class EventRecords {
 public:
  /// Adds the record with the version of the format. All times are in seconds since 1970.
  explicit EventRecords(double moment);

  /// Adds the scalars of one step, each with its name.
  void add(double moment, std::int64_t step,
           const std::vector<std::pair<std::string_view, double>>& scalars);

  /// The content of the file.
  const std::string& bytes() const { return bytes_; }

 private:
  void add_record(const std::string& message);

  std::string bytes_;
};

}  // namespace lockstep::internal::report
