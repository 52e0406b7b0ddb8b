// lockstep doctor: checks this machine and this build for problems that would slow down or break a
// job.
#include "cli/command.h"
#include "cli/doctor/finding.h"
#include "launch/hosts/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace lockstep::internal::cli {

namespace {

struct DoctorCommand {
  int workers = 0;  ///< 0: the number of cores
  std::string json;
};

std::string finding_text(const Finding& finding) {
  std::string text = fmt::format("{:<22} {}\n", finding.what, finding.value);
  if (!finding.advice.empty())
    text += fmt::format("{:<22} {}: {}\n", "", name_of(finding.state), finding.advice);
  return text;
}

nlohmann::json finding_json(const Finding& finding) {
  nlohmann::json json{{"what", finding.what},
                      {"value", finding.value},
                      {"number", nullptr},
                      {"state", name_of(finding.state)},
                      {"advice", finding.advice}};
  if (finding.number) json["number"] = *finding.number;
  return json;
}

std::vector<Finding> examine(int workers, int cores) {
  std::vector<Finding> findings;
  // The kernel findings first: they fork, which is unsafe in a process with threads.
  for (const auto& part :
       {examine_kernel(), examine_machine(workers), examine_build(), examine_speed(cores)})
    findings.insert(findings.end(), part.begin(), part.end());
  return findings;
}

std::string verdict(const std::vector<Finding>& findings) {
  auto count = [&](Finding::State state) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& finding) { return finding.state == state; });
  };
  const auto broken = count(Finding::State::broken);
  const auto warnings = count(Finding::State::warning);
  if (broken + warnings == 0) return "No problems found.";
  return fmt::format("{} broken, {} warning{}.", broken, warnings, warnings == 1 ? "" : "s");
}

int run_doctor(const DoctorCommand& command) {
  const int cores = launch::find_cores().usable();
  const std::vector<Finding> findings =
      examine(command.workers > 0 ? command.workers : cores, cores);
  nlohmann::json list = nlohmann::json::array();
  bool broken = false;
  for (const Finding& finding : findings) {
    list.push_back(finding_json(finding));
    broken = broken || finding.state == Finding::State::broken;
    if (command.json != "-") fmt::print("{}", finding_text(finding));
  }
  if (command.json != "-") fmt::print("{}\n", verdict(findings));
  write_json(command.json, {{"findings", list}});
  return broken ? kFailure : kSuccess;
}

}  // namespace

Finding& Finding::warn(std::string what_to_do) {
  state = State::warning;
  advice = std::move(what_to_do);
  return *this;
}

Finding& Finding::fail(std::string what_to_do) {
  state = State::broken;
  advice = std::move(what_to_do);
  return *this;
}

std::string_view name_of(Finding::State state) {
  switch (state) {
    case Finding::State::warning:
      return "warning";
    case Finding::State::broken:
      return "broken";
    case Finding::State::fine:
      break;
  }
  return "fine";
}

void add_doctor_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("doctor", kDoctorSummary);
  auto options = std::make_shared<DoctorCommand>();
  command
      ->add_option("--workers", options->workers,
                   "number of workers to check for; default: the number of usable cores")
      ->check(CLI::Range(1, 65536));
  command->add_option("--json", options->json,
                      "write the result to this file; - for standard output");
  command->callback([options, &code] {
    try {
      code = run_doctor(*options);
    } catch (...) {
      code = report_exception("lockstep doctor");
    }
  });
}

}  // namespace lockstep::internal::cli
