// lockstep report: the page of a run or study, or of several side by side.
#include "report/report.h"

#include "base/files.h"
#include "cli/command.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::internal::cli {

namespace {

struct ReportCommand {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path out;
};

void run_report(const ReportCommand& command) {
  std::filesystem::path file = command.out;
  if (file.empty())
    file = command.folders.size() == 1 ? command.folders[0] / report::kReportFile
                                       : std::filesystem::path(report::kReportFile);
  if (!command.out.empty()) require_writable(file);
  report::write_report(command.folders, file);
  fmt::print("report: {}\n", file.string());
}

}  // namespace

void add_report_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "report", "create the HTML report of a run, or of several runs side by side");
  auto options = std::make_shared<ReportCommand>();
  command
      ->add_option("folders", options->folders,
                   "folders written by train, compare or scale, including those of killed runs")
      ->required();
  command->add_option("--out", options->out,
                      "output file; default: report.html in the run folder, or in the current "
                      "folder for several runs");
  command->callback([options, &code] {
    try {
      run_report(*options);
    } catch (...) {
      code = report_exception("lockstep report");
    }
  });
}

}  // namespace lockstep::internal::cli
