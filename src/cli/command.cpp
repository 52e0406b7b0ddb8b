#include "cli/command.h"

#include <lockstep/error.h>

#include "base/date.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace lockstep::internal::cli {

int report_exception(const std::string& prefix) {
  try {
    throw;
  } catch (const UsageError& error) {
    put(stderr, "{}: {}\n", prefix, error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    put(stderr, "{}: {}\n", prefix, error.what());
    return kFailure;
  }
}

void write_json(const std::string& file, const nlohmann::json& json) {
  if (file.empty()) return;
  const std::string text = json.dump(2) + "\n";
  if (file == "-")
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    write_file(file, text);
}

void print_table(const TextTable& table, std::optional<std::size_t> emphasised) {
  fmt::print("\n{}\n", to_text(table, on_terminal(), emphasised));
}

bool on_terminal() {
  return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

std::vector<std::string> process_arguments() {
  std::string text = read_file("/proc/self/cmdline");
  if (text.ends_with('\0')) text.pop_back();
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {  // words may be empty
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string typed_command() {
  std::vector<std::string> words = process_arguments();
  words.front() = "lockstep";
  return shell_quoted(words);
}

std::string default_run_dir(const std::string& kind) {
  return fmt::format("runs/{}-{}", kind, local_date());
}

}  // namespace lockstep::internal::cli
