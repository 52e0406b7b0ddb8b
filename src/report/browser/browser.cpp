#include "report/browser/browser.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/temporary_file.h"
#include "launch/process/supervisor.h"
#include "launch/process/tool.h"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <vector>

namespace lockstep::internal::report {

namespace {

constexpr std::chrono::minutes kTimeout(3);

/// Empty if none is installed.
std::string find_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"})
    if (std::string path = launch::find_tool(name); !path.empty()) return path;
  return "";
}

/// A folder for a page, the profile of the browser and its other files. A signal that ends this
/// process waits until the folder is removed.
struct Workspace {
  const launch::SignalsHeld signals_held{};
  const TemporaryFolder folder{};

  std::string file(const char* name) const { return folder.path() + "/" + name; }
};

/// Opens the page with these options of the browser, and returns the browser's output. The browser
/// reaches no other host.
std::string open_page(const Workspace& workspace, const std::string& html,
                      const std::vector<std::string>& options) {
  const std::string page = workspace.file("page.html");
  write_file(page, html);
  std::vector<std::string> command{find_browser(),
                                   "--headless",
                                   "--disable-gpu",
                                   "--no-first-run",
                                   "--disable-dev-shm-usage",
                                   "--disable-background-networking",
                                   "--disable-extensions",
                                   "--window-size=1280,900",
                                   "--host-resolver-rules=MAP * ~NOTFOUND",
                                   "--user-data-dir=" + workspace.file("profile")};
  // Chromium's sandbox does not work for root.
  if (::geteuid() == 0) command.emplace_back("--no-sandbox");
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("file://" + page);
  const std::string& folder = workspace.folder.path();
  return launch::read_tool(
      command, {{"TMPDIR", folder}, {"XDG_CONFIG_HOME", folder}, {"XDG_CACHE_HOME", folder}},
      kTimeout);
}

}  // namespace

void require_browser() {
  if (find_browser().empty())
    throw UsageError(
        "--png and --pdf need Chromium or Chrome, and none is in PATH: install the package "
        "chromium, or open report.html in any browser, where every chart has a button that saves "
        "it");
}

std::string run_page(const std::string& html) {
  const Workspace workspace;
  return open_page(workspace, html, {"--dump-dom"});
}

void print_page(const std::string& html, const std::filesystem::path& file) {
  const Workspace workspace;
  const std::string pdf = workspace.file("page.pdf");
  open_page(workspace, html, {"--no-pdf-header-footer", "--print-to-pdf=" + pdf});
  write_file(file, read_file(pdf));
}

}  // namespace lockstep::internal::report
