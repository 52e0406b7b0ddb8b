#include "simulate/request_file.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace lockstep::internal::simulate {

using comm::RecordedStep;
using comm::RecordedSteps;
using comm::StepKind;

namespace {

/// Reads values up to the end of the file: a count in the file is not trusted beyond it.
class Reader {
 public:
  explicit Reader(const char* path) : file_(path, std::ios::binary) {
    std::error_code error;
    left_ = std::filesystem::file_size(path, error);
    if (!file_ || error) throw std::runtime_error("the request cannot be read");
  }

  template <typename T>
  void read(T* values, std::uint64_t count) {
    if (count > left_ / sizeof(T)) throw std::runtime_error("the request ends too early");
    left_ -= count * sizeof(T);
    if (!file_.read(reinterpret_cast<char*>(values),
                    static_cast<std::streamsize>(count * sizeof(T))))
      throw std::runtime_error("the request cannot be read");
  }

  RecordedSteps read_steps() {
    std::uint64_t count = 0;
    read(&count, 1);
    if (count > left_ / sizeof(RecordedStep))
      throw std::runtime_error("the request ends too early");
    RecordedSteps steps(count);
    read(steps.data(), count);
    return steps;
  }

  bool at_end() const { return left_ == 0; }

 private:
  std::ifstream file_;
  std::uint64_t left_ = 0;
};

void require_valid(const Request& request) {
  if (request.magic != kMagic || request.ranks == 0 || request.per_host == 0 ||
      request.ranks % request.per_host != 0 || request.topology > Topology::dragonfly)
    throw std::runtime_error("the request is not one of this version");
  for (double number : {request.latency, request.per_byte, request.per_added, request.meeting,
                        request.per_copied, request.slow_link})
    if (!(number >= 0 && std::isfinite(number)))
      throw std::runtime_error("the request's network has an invalid number");
  if (!(request.per_byte > 0 && request.slow_link >= 1))
    throw std::runtime_error("the request's links have no bandwidth");
}

/// Peers are other ranks, and waits refer to messages that were started.
void require_valid(const RecordedSteps& steps, std::uint32_t rank, std::uint32_t ranks) {
  std::uint64_t messages = 0;
  for (const RecordedStep& step : steps) {
    const auto peer = static_cast<std::uint32_t>(step.peer);  // a negative one becomes out of range
    const bool is_message = step.kind == StepKind::send || step.kind == StepKind::receive;
    const bool valid = step.kind <= StepKind::meet &&
                       (!is_message || (peer < ranks && peer != rank)) &&
                       (step.kind != StepKind::wait || peer < messages);
    if (!valid) throw std::runtime_error("the request has an invalid step");
    if (is_message) ++messages;
  }
}

}  // namespace

RequestFile read_request(const char* path) {
  Reader reader(path);
  RequestFile file;
  reader.read(&file.request, 1);
  require_valid(file.request);
  for (std::uint32_t rank = 0; rank < file.request.ranks; ++rank)
    require_valid(file.ranks.emplace_back(reader.read_steps()), rank, file.request.ranks);
  if (!reader.at_end()) throw std::runtime_error("the request has data after its end");
  return file;
}

}  // namespace lockstep::internal::simulate
