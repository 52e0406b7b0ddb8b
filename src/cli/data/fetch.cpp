// lockstep data fetch: downloads a whole data set.
#include <lockstep/error.h>

#include "base/cache_folder.h"
#include "cli/command.h"
#include "cli/data/data.h"
#include "cli/data/fetch_printer.h"
#include "cli/stop_request.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::internal::cli {

namespace {

struct FetchCommand {
  std::string set;
  std::filesystem::path to;
  std::string from;
  std::filesystem::path sums;
};

std::filesystem::path default_folder() {
  const std::filesystem::path cache = cache_folder();
  if (cache.empty()) throw UsageError("HOME is not set: name a folder with --to");
  return cache / "data";
}

int run_fetch(const FetchCommand& command) {
  data::FetchOptions options{.set = data::published_set(command.set),
                             .to = command.to.empty() ? default_folder() : command.to,
                             .from = command.from};
  if (!command.sums.empty()) {
    if (command.from.empty())
      throw UsageError("--sums is for archives from another source: name it with --from");
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
      "download a whole data set, check its SHA-256 sums and unpack it; resumes an "
      "interrupted download");
  auto options = std::make_shared<FetchCommand>();
  command->add_option("set", options->set, "mnist or cifar10")->required();
  command->add_option("--to", options->to,
                      "folder for the data set; default: ~/.cache/lockstep/data");
  command->add_option("--from", options->from,
                      "base URL of the archives; default: the data set's official site");
  command->add_option("--sums", options->sums,
                      "check against this file, in sha256sum's format, instead of the published "
                      "sums: for another data set in the same format");
  command->callback([options, &code] {
    try {
      code = run_fetch(*options);
    } catch (...) {
      if (on_terminal()) fmt::print("\n");  // keep the progress bar as it was
      code = report_exception("lockstep data fetch");
    }
  });
}

}  // namespace lockstep::internal::cli
