// The lockstep command. It and its subcommands are the only code that prints or exits.
#include "base/descriptors.h"
#include "base/version.h"
#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>

int main(int argc, char** argv) {
  using namespace lockstep::cli;
  lockstep::raise_descriptor_limit();  // workers inherit it
  // Where it is ignored the kernel forgets how child processes ended.
  std::signal(SIGCHLD, SIG_DFL);
  CLI::App app("Distributed data-parallel training for C++.", "lockstep");
  app.set_version_flag("--version", lockstep::version());
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int code = kSuccess;
  add_commands(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      fmt::print(stderr,
                 "lockstep: there is no command '{}': run with --help for those there are\n",
                 unknown.front());
      return kBadUsage;
    }
    return app.exit(error) == 0 ? kSuccess : kBadUsage;
  } catch (...) {
    return report_exception("lockstep");
  }
  return code;
}
