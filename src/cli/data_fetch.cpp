// lockstep data fetch: a whole data set from the web.
#include <lockstep/error.h>

#include "base/cache_folder.h"
#include "cli/command.h"
#include "cli/data.h"
#include "cli/fetch_printer.h"
#include "cli/stop_request.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::cli {

namespace {

struct FetchCommand {
  std::string set;
  std::filesystem::path to;
  std::string from;
  std::filesystem::path sums;
};

std::filesystem::path default_folder() {
  const std::filesystem::path cache = cache_folder();
  if (cache.empty())
    throw UsageError("there is no HOME to keep data below: name a folder with --to");
  return cache / "data";
}

int run_fetch(const FetchCommand& command) {
  data::FetchOptions options{.set = data::published_set(command.set),
                             .to = command.to.empty() ? default_folder() : command.to,
                             .from = command.from};
  if (!command.sums.empty()) {
    if (command.from.empty())
      throw UsageError("--sums describes files of another source: name it with --from");
    options.set = data::with_sums_of(options.set, command.sums);
  }
  catch_stop_requests({.announced = false});
  const auto printer = make_fetch_printer(on_terminal(), [] { return !stop_requested(); });
  const std::filesystem::path folder = data::fetch(options, *printer);
  fmt::print("{} is in {}: train with --data {} --data-dir {}\n", command.set, folder.string(),
             command.set, folder.string());
  return kSuccess;
}

}  // namespace

void add_data_fetch_command(CLI::App& data, int& code) {
  CLI::App* command = data.add_subcommand(
      "fetch",
      "download a whole data set, check its SHA-256 sums and unpack it; goes on where an "
      "earlier fetch ended");
  auto options = std::make_shared<FetchCommand>();
  command->add_option("set", options->set, "mnist or cifar10")->required();
  command->add_option("--to", options->to,
                      "keep it below this folder; without it, below ~/.cache/lockstep/data");
  command->add_option("--from", options->from,
                      "address of a folder that has the archives; without it, the set's own home");
  command->add_option("--sums", options->sums,
                      "check against this file, as sha256sum prints it, in place of the published "
                      "sums: for another set in the same format");
  command->callback([options, &code] {
    try {
      code = run_fetch(*options);
    } catch (...) {
      if (on_terminal()) fmt::print("\n");  // leave the bar where it stopped
      code = report_exception("lockstep data fetch");
    }
  });
}

}  // namespace lockstep::cli
