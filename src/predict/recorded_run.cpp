#include "predict/recorded_run.h"

#include <lockstep/error.h>

#include "observe/statistics.h"
#include "run/fields.h"
#include "run/run_folder.h"
#include "run/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep::internal::predict {

namespace {

constexpr double kMicrosecond = 1e-6;
constexpr std::size_t kMostParameters = 1 << 20;
constexpr double kMostBytes = 1e18;  // fits every integer type

/// One iteration of the trace.
struct TracedIteration {
  double total = 0;
  double backward_began = 0;
  std::map<std::string, double> parts;  ///< seconds, by name
  std::vector<run::TraceFileEvent> gradients;
};

/// An iteration's event comes after those within it.
std::vector<TracedIteration> iterations_in(const std::filesystem::path& trace) {
  std::vector<TracedIteration> iterations;
  TracedIteration current;
  run::for_each_event(trace, false, [&](const run::TraceFileEvent& event) {
    if (event.rank != 0) return;
    if (event.kind == "part") {
      current.parts[event.name] += event.length * kMicrosecond;
      if (event.name == "backward") current.backward_began = event.start;
    } else if (event.kind == "gradient") {
      current.gradients.push_back(event);
    } else if (event.kind == "iteration") {
      current.total = event.length * kMicrosecond;
      iterations.push_back(std::exchange(current, {}));
    }
  });
  return iterations;
}

double median_of(const std::vector<TracedIteration>& iterations, const auto& value) {
  std::vector<double> values;
  for (const TracedIteration& one : iterations) values.push_back(value(one));
  return observe::percentile(values, 0.5);
}

void take_gradients(RecordedRun& run, const std::vector<TracedIteration>& iterations) {
  std::vector<std::vector<double>> ready_times;
  for (const TracedIteration& iteration : iterations)
    for (const run::TraceFileEvent& event : iteration.gradients) {
      const auto number = static_cast<std::size_t>(event.parameter);
      if (number >= kMostParameters) throw FileError("a trace with too many parameters");
      if (!(event.bytes >= 0 && event.bytes < kMostBytes))
        throw FileError(fmt::format("a trace with a gradient of {:g} bytes", event.bytes));
      if (number >= ready_times.size()) ready_times.resize(number + 1);
      if (number >= run.gradients.size()) run.gradients.resize(number + 1);
      run.gradients[number].name = event.name;
      run.gradients[number].bytes = event.bytes;
      ready_times[number].push_back((event.start - iteration.backward_began) * kMicrosecond);
    }
  for (std::size_t i = 0; i < ready_times.size(); ++i)
    run.gradients[i].ready =
        std::clamp(observe::percentile(ready_times[i], 0.5), 0.0, run.backward);
}

void take_times(RecordedRun& run, const std::vector<TracedIteration>& iterations) {
  auto part = [&](const char* name) {
    return median_of(iterations, [&](const TracedIteration& one) {
      const auto found = one.parts.find(name);
      return found == one.parts.end() ? 0 : found->second;
    });
  };
  run.data = part("data");
  run.forward = part("forward");
  run.backward = part("backward");
  run.optimizer = part("optimizer");
  const double total = median_of(iterations, [](const TracedIteration& one) { return one.total; });
  run.other = std::max(0.0, total - run.seconds());
}

int states_of(const run::Fields& config) {
  const std::string optimizer = config.text("optimizer");
  if (optimizer.starts_with("adam") || optimizer == "lamb") return 2;
  return config.number("momentum").value_or(0) > 0 ? 1 : 0;
}

/// A step described by hand, for example from published figures.
RecordedRun read_description(const std::filesystem::path& file) {
  const run::Fields fields = run::read_fields(file);
  auto seconds = [&](const run::Fields& of, const char* name) {
    const double value = of.number(name).value_or(-1);
    if (!(value >= 0)) of.fail(name, "seconds");
    return value;
  };
  RecordedRun run;
  run.model = fields.text("model");
  run.batch = fields.count("batch");
  run.forward = seconds(fields, "forward");
  run.backward = seconds(fields, "backward");
  run.optimizer = seconds(fields, "optimizer");
  for (const run::Fields& gradient : fields.list("gradients")) {
    run.gradients.push_back({gradient.text("name"), static_cast<double>(gradient.count("bytes")),
                             seconds(gradient, "ready")});
    if (run.gradients.back().ready > run.backward) gradient.fail("ready", "within backward");
  }
  if (run.gradients.empty() || !(run.bytes() > 0)) fields.fail("gradients", "a list with bytes");
  if (!(run.seconds() > 0)) fields.fail("backward", "more than 0 seconds");
  return run;
}

}  // namespace

double RecordedRun::bytes() const {
  double bytes = 0;
  for (const RecordedGradient& gradient : gradients) bytes += gradient.bytes;
  return bytes;
}

RecordedRun read_recorded_run(const std::filesystem::path& folder) {
  if (std::filesystem::is_regular_file(folder)) return read_description(folder);
  const std::string how = "record one with `lockstep train --workers 1 --threads 1 --run-dir DIR`";
  if (!run::is_run_folder(folder))
    throw UsageError(fmt::format("{} is not the folder of a run: {}", folder.string(), how));
  const run::Fields config = run::read_fields(folder / "config.json");
  if (config.count("workers") != 1)
    throw UsageError(fmt::format("{} is a run of {} workers, whose times include waiting: {}",
                                 folder.string(), config.count("workers"), how));
  const std::filesystem::path trace = folder / "trace.json";
  std::vector<TracedIteration> iterations;
  if (std::filesystem::exists(trace)) iterations = iterations_in(trace);
  if (iterations.size() < 2)
    throw UsageError(
        fmt::format("{} has no trace of two iterations or more: {}", folder.string(), how));
  iterations.erase(iterations.begin());  // it includes one-time setup

  RecordedRun run;
  run.model = config.text("model");
  run.type = config.text("dtype") == "float64" ? DataType::float64 : DataType::float32;
  run.batch = config.count("batch");
  run.threads = std::max(1, static_cast<int>(config.count("threads")));
  run.states = states_of(config);
  take_times(run, iterations);
  take_gradients(run, iterations);
  if (run.gradients.empty())
    throw UsageError(fmt::format("{}'s trace has no gradients: {}", folder.string(), how));
  return run;
}

}  // namespace lockstep::internal::predict
