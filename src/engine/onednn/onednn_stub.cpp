// Replaces the engine in builds without oneDNN, or with a libtorch that contains another version of
// it.
#include <lockstep/error.h>

#include "engine/onednn/onednn_engine.h"
#include "engine/onednn/onednn_version.h"
#include "engine/onednn/sequential_engine.h"

namespace lockstep::internal::engine {

namespace {

[[noreturn]] void refuse_sequential() {
  throw UsageError(
      "this build of Lockstep has no onednn engine, because it lacks oneDNN or a libtorch that "
      "uses the same oneDNN: use DistributedDataParallel");
}

}  // namespace

bool has_onednn_engine() {
  return false;
}

std::map<std::string, std::string> onednn_version() {
  return {};
}

nlohmann::json choose_convolutions(const OnednnEngineOptions&,
                                   const std::function<void(const std::string&)>&) {
  return {};
}

bool are_convolution_methods(const nlohmann::json&) {
  return false;
}

std::unique_ptr<Engine> make_onednn_engine(const OnednnEngineOptions&) {
  throw UsageError("this build has no onednn engine: use --engine torch");
}

void require_plan_for(torch::nn::Sequential, const data::ImageShape&) {
  refuse_sequential();
}

std::unique_ptr<Engine> make_onednn_engine(torch::nn::Sequential, const OnednnEngineOptions&) {
  refuse_sequential();
}

}  // namespace lockstep::internal::engine
