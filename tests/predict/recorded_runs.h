// An invented one-worker run, as an object and as its trace file.
#pragma once

#include "predict/recorded_run.h"

#include <fmt/format.h>

#include <string>

namespace lockstep::internal::predict {

/// Four parameters, of which backward finishes the last first; forward takes 50 ms, backward 100.
inline RecordedRun made_up_run() {
  RecordedRun run;
  run.model = "made up";
  run.batch = 32;
  run.data = 1e-3;
  run.forward = 50e-3;
  run.backward = 100e-3;
  run.optimizer = 8e-3;
  run.gradients = {{"a.weight", 4e6, 100e-3},
                   {"b.weight", 8e6, 75e-3},
                   {"c.weight", 16e6, 50e-3},
                   {"d.weight", 32e6, 25e-3}};
  return run;
}

/// The run as a trace of so many iterations, the first of which takes twice as long.
inline std::string trace_of(const RecordedRun& run, int iterations) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  double now = 0;
  auto part = [&](const char* name, double seconds) {
    text += fmt::format(
        R"({{"name":"{}","cat":"part","ph":"X","pid":0,"tid":0,"ts":{},"dur":{},"args":{{}}}},)"
        "\n",
        name, now, 1e6 * seconds);
    now += 1e6 * seconds;
  };
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const double slower = iteration == 1 ? 2 : 1;
    const double began = now;
    part("data", slower * run.data);
    part("forward", slower * run.forward);
    for (std::size_t i = run.gradients.size(); i-- > 0;)
      text += fmt::format(
          R"({{"name":"{}","cat":"gradient","ph":"i","pid":0,"tid":0,"ts":{},"args":{{"bytes":{:.0f},"parameter":{}}}}},)"
          "\n",
          run.gradients[i].name, now + 1e6 * slower * run.gradients[i].ready,
          run.gradients[i].bytes, i);
    part("backward", slower * run.backward);
    part("optimizer", slower * run.optimizer);
    text += fmt::format(
        R"({{"name":"iteration","cat":"iteration","ph":"X","pid":0,"tid":0,"ts":{},"dur":{},"args":{{"iteration":{}}}}})"
        "{}\n",
        began, now - began, iteration, iteration < iterations ? "," : "");
  }
  return text + "]}\n";
}

}  // namespace lockstep::internal::predict
