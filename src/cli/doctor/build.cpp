// Findings about this build and its libraries on this machine.
#include "base/blas.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/doctor/finding.h"
#include "cli/transport_list.h"

#include <fmt/format.h>

#include <set>

namespace lockstep::internal::cli {

namespace {

/// Parts of the paths of every BLAS but the reference BLAS.
const std::vector<std::string> kFast{"openblas", "libmkl", "blis", "atlas"};

/// The files mapped into this process, with links resolved.
std::set<std::string> mapped_files() {
  std::set<std::string> files;
  for (const std::string& line : split(read_system_file("/proc/self/maps"), '\n'))
    if (const std::size_t path = line.find('/'); path != std::string::npos)
      files.insert(line.substr(path));
  return files;
}

/// The first mapped file whose path contains one of the parts; empty if there is none.
std::string find_file(const std::set<std::string>& files, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    for (const std::string& file : files)
      if (file.find(part) != std::string::npos) return file;
  return {};
}

Finding transports() {
  return {"transports", fmt::format("{}", fmt::join(transport_list(), ", ")), {}, {}, {}};
}

Finding linear_algebra() {
  Finding finding{"BLAS", "not used: this build has no torch", {}, {}, {}};
  const std::set<std::string> files = mapped_files();
  if (find_file(files, {"/libtorch"}).empty()) return finding;
  // libtorch links with the generic name; the folder of the library shows which BLAS it is.
  std::string blas = find_file(files, {"/libblas.so"});
  if (blas.empty()) blas = find_file(files, kFast);
  finding.value = blas.empty() ? "inside libtorch" : blas;
  if (!blas.empty() && find_file({blas}, kFast).empty())
    finding.warn(
        "libtorch computes with the slow reference BLAS: sudo apt-get install "
        "libopenblas0-pthread");
  use_fast_blas_kernels();  // as in training
  if (const std::string kernels = blas_kernels(); !kernels.empty())
    finding.value += fmt::format(", {} kernels", kernels);
  return finding;
}

}  // namespace

std::vector<Finding> examine_build() {
  return {transports(), linear_algebra()};
}

}  // namespace lockstep::internal::cli
