// lockstep report: the page of a run or study, or of several side by side, or its tables as files.
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
  std::filesystem::path csv;
  std::filesystem::path markdown;
};

void write_html(const ReportCommand& command) {
  std::filesystem::path file = command.out;
  if (file.empty())
    file = command.folders.size() == 1 ? command.folders[0] / report::kReportFile
                                       : std::filesystem::path(report::kReportFile);
  report::write_report(command.folders, file);
  fmt::print("report: {}\n", file.string());
}

void run_report(const ReportCommand& command) {
  for (const std::filesystem::path& file : {command.out, command.markdown})
    if (!file.empty()) require_writable(file);
  const bool tables_only =
      command.out.empty() && !(command.csv.empty() && command.markdown.empty());
  if (!tables_only) write_html(command);
  if (!command.csv.empty())
    for (const std::filesystem::path& file : report::write_csv(command.folders, command.csv))
      fmt::print("table: {}\n", file.string());
  if (command.markdown.empty()) return;
  report::write_markdown(command.folders, command.markdown);
  fmt::print("tables: {}\n", command.markdown.string());
}

}  // namespace

void add_report_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "report",
      "create the HTML report of a run, or of several runs side by side, or write its tables as "
      "CSV or Markdown");
  auto options = std::make_shared<ReportCommand>();
  command
      ->add_option("folders", options->folders,
                   "folders written by train, compare or scale, including those of killed runs")
      ->required();
  command->add_option("--out", options->out,
                      "output file; default: report.html in the run folder, or in the current "
                      "folder for several runs");
  command->add_option("--csv", options->csv,
                      "write every table of the report to a CSV file in this folder; without --out "
                      "no page is created");
  command->add_option(
      "--markdown", options->markdown,
      "write every table of the report to this Markdown file; without --out no page "
      "is created");
  command->callback([options, &code] {
    try {
      run_report(*options);
    } catch (...) {
      code = report_exception("lockstep report");
    }
  });
}

}  // namespace lockstep::internal::cli
