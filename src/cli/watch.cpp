// lockstep watch: the reports of runs under way, in a browser.
#include "cli/command.h"
#include "watch/http_server.h"
#include "watch/site.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace lockstep::internal::cli {

namespace {

struct WatchCommand {
  std::vector<std::filesystem::path> folders{"runs"};
  std::uint16_t port = 8765;
};

[[noreturn]] void watch_runs(const WatchCommand& command) {
  watch::Site site(command.folders);
  watch::HttpServer server(command.port,
                           [&](const watch::HttpRequest& request) { return site.answer(request); });
  fmt::print("watching at http://127.0.0.1:{}/ (Ctrl-C ends)\n", server.port());
  std::fflush(stdout);
  for (;;) server.serve(std::chrono::seconds(1));
}

}  // namespace

void add_watch_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "watch", "show runs in a browser while they train: progress, speed, ranks and their reports");
  auto options = std::make_shared<WatchCommand>();
  command
      ->add_option("folders", options->folders,
                   "folders of runs or studies, or folders with such in them; new runs are shown "
                   "when they begin")
      ->capture_default_str();
  command
      ->add_option("--port", options->port,
                   "port on 127.0.0.1; 0: one that the system chooses. Other machines cannot "
                   "connect: use ssh -L")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->callback([options, &code] {
    try {
      watch_runs(*options);
    } catch (...) {
      code = report_exception("lockstep watch");
    }
  });
}

}  // namespace lockstep::internal::cli
