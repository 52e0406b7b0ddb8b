// The commands of `lockstep` that need libtorch. They run in a second program next to this one,
// lockstep-torch, because loading libtorch takes longer than most of the other commands run. It
// takes the place of this process, so process number, signals, output and exit code are the same.
#include <lockstep/error.h>

#include "cli/command.h"
#include "cli/predict/check.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace lockstep::internal::cli {

namespace {

/// Replaces this process by lockstep-torch with the same arguments. Throws Error if it cannot.
[[noreturn]] void continue_in_torch_program() {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "lockstep-torch";
  std::vector<std::string> words = process_arguments();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw Error(
      fmt::format("cannot start {}: {}. It runs the commands that need libtorch: build or install "
                  "Lockstep again",
                  program.string(), std::strerror(errno)));
}

/// All arguments after the command's name, --help too, are the other program's.
void add_torch_command(CLI::App& app, int& code, const std::string& name, const char* summary) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->set_help_flag();
  command->prefix_command();
  command->callback([name, &code] {
    try {
      continue_in_torch_program();
    } catch (...) {
      code = report_exception("lockstep " + name);
    }
  });
}

}  // namespace

void add_train_command(CLI::App& app, int& code) {
  add_torch_command(app, code, "train", kTrainSummary);
}

void add_compare_command(CLI::App& app, int& code) {
  add_torch_command(app, code, "compare", kCompareSummary);
}

void add_scale_command(CLI::App& app, int& code) {
  add_torch_command(app, code, "scale", kScaleSummary);
}

/// It looks at the BLAS that libtorch has loaded.
void add_doctor_command(CLI::App& app, int& code) {
  add_torch_command(app, code, "doctor", kDoctorSummary);
}

void run_check(const PredictCommand&) {
  continue_in_torch_program();
}

}  // namespace lockstep::internal::cli
