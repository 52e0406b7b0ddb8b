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
  std::filesystem::path png;
  std::filesystem::path pdf;

  bool only_parts() const {
    return out.empty() && !(csv.empty() && markdown.empty() && png.empty() && pdf.empty());
  }
};

void write_html(const ReportCommand& command) {
  std::filesystem::path file = command.out;
  if (file.empty())
    file = command.folders.size() == 1 ? command.folders[0] / report::kReportFile
                                       : std::filesystem::path(report::kReportFile);
  report::write_report(command.folders, file);
  fmt::print("report: {}\n", file.string());
}

void print_files(const char* what, const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) fmt::print("{}: {}\n", what, file.string());
}

void run_report(const ReportCommand& command) {
  for (const std::filesystem::path& file : {command.out, command.markdown, command.pdf})
    if (!file.empty()) require_writable(file);
  if (!command.only_parts()) write_html(command);
  if (!command.csv.empty()) print_files("table", report::write_csv(command.folders, command.csv));
  if (!command.markdown.empty()) {
    report::write_markdown(command.folders, command.markdown);
    print_files("tables", {command.markdown});
  }
  if (!command.png.empty()) print_files("picture", report::write_png(command.folders, command.png));
  if (command.pdf.empty()) return;
  report::write_pdf(command.folders, command.pdf);
  print_files("pdf", {command.pdf});
}

}  // namespace

void add_report_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "report",
      "create the HTML report of a run, or of several runs side by side, or write its tables as "
      "CSV or Markdown, its charts as PNG, or all of it as PDF");
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
  command->add_option("--png", options->png,
                      "write every chart of the report to a PNG file in this folder; needs "
                      "Chromium or Chrome; without --out no page is created");
  command->add_option("--pdf", options->pdf,
                      "print the report to this PDF file, on A4; needs Chromium or Chrome; without "
                      "--out no page is created");
  command->callback([options, &code] {
    try {
      run_report(*options);
    } catch (...) {
      code = report_exception("lockstep report");
    }
  });
}

}  // namespace lockstep::internal::cli
