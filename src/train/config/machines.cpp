#include "train/config/machines.h"

#include "launch/hosts/cores.h"
#include "launch/hosts/machine.h"
#include "observe/clock_offset.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::train {

namespace {

using Words = std::vector<std::int64_t>;

constexpr std::size_t kCores = 1024, kWordBits = 64;
constexpr std::size_t kKernel = 0, kHost = 1, kQuota = 2, kMask = 3;  // places in a rank's words
constexpr std::size_t kWords = kMask + kCores / kWordBits;

/// The kernel's namespaces of this process, as a number. Containers of one machine count as
/// different hosts.
std::string namespace_of(const char* kind) {
  struct stat status {};
  if (::stat((std::string("/proc/self/ns/") + kind).c_str(), &status) != 0) return "";
  return std::to_string(status.st_ino);
}

std::int64_t number_for(const std::string& text) {
  return static_cast<std::int64_t>(std::hash<std::string>()(text));
}

/// A worker may be pinned to some of its machine's cores, so the cores of all workers are united.
Words words_of_this_rank() {
  const std::string kernel = observe::clock_identity();
  Words words(kWords);
  words[kKernel] = number_for(kernel);
  words[kHost] = number_for(kernel + " " + namespace_of("net") + " " + namespace_of("pid"));
  words[kQuota] = static_cast<std::int64_t>(launch::cpu_quota().value_or(kCores) + 0.5);
  for (const int core : launch::usable_cores()) {
    const auto bit = static_cast<std::size_t>(core);
    words[kMask + bit / kWordBits] |= std::int64_t{1} << (bit % kWordBits);
  }
  return words;
}

struct Kernel {
  std::bitset<kCores> cores;
  std::int64_t quota = kCores;

  void add(const std::int64_t* words) {
    for (std::size_t core = 0; core < kCores; ++core)
      if ((words[kMask + core / kWordBits] >> (core % kWordBits) & 1) != 0) cores.set(core);
    quota = std::min(quota, words[kQuota]);
  }

  int usable() const {
    return static_cast<int>(
        std::max<std::int64_t>(1, std::min(static_cast<std::int64_t>(cores.count()), quota)));
  }
};

}  // namespace

Machines find_machines(Group& group) {
  const Words mine = words_of_this_rank();
  Words all(mine.size() * static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all);
  Machines machines{.cores = 0, .one_host = true};
  std::map<std::int64_t, Kernel> kernels;
  for (std::size_t at = 0; at < all.size(); at += kWords) {
    kernels[all[at + kKernel]].add(&all[at]);
    machines.one_host = machines.one_host && all[at + kHost] == all[kHost];
  }
  for (const auto& [number, kernel] : kernels) machines.cores += kernel.usable();
  return machines;
}

}  // namespace lockstep::internal::train
