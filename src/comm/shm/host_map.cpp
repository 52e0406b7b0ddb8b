#include "comm/shm/host_map.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/net/handshake.h"
#include "base/text.h"
#include "comm/shm/segment.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace lockstep::internal::comm {

namespace {

constexpr std::size_t kProofBytes = 4096;

/// Whether the process with this id on this host holds the secret in a segment. It does not if the
/// id belongs to a process of another host.
bool shares_memory(const std::string& pid, const std::string& fd, const std::string& secret) {
  constexpr int kHighest = std::numeric_limits<int>::max();
  try {
    const auto memory = map_segment(static_cast<int>(parse_integer(pid, "a pid", 1, kHighest)),
                                    static_cast<int>(parse_integer(fd, "a segment", 0, kHighest)),
                                    kProofBytes, "a rank");
    return std::memcmp(memory.get(), secret.data(), secret.size()) == 0;
  } catch (const DescriptorShortageError&) {  // otherwise one host would be taken for two
    throw;
  } catch (const Error&) {
    return false;
  }
}

class HostFinder {
 public:
  HostFinder(const RunContext& run, const Membership& membership, const WaitLimit& limit)
      : run_(run), membership_(membership), limit_(limit) {}

  std::vector<int> find() {
    // Other ranks map it until they have published their leader.
    const NewSegment proof = make_segment(kProofBytes, true);
    if (!proof.memory && is_descriptor_shortage(errno))
      throw DescriptorShortageError("find the ranks that share this host", errno);
    const std::string secret = make_token();
    if (proof.memory) std::memcpy(proof.memory.get(), secret.data(), secret.size());
    run_.store->set(key("proof", membership_.rank),
                    fmt::format("{} {} {}", ::getpid(), proof.fd.get(), secret));
    run_.store->set(key("leader", membership_.rank), std::to_string(my_leader()));
    std::vector<int> leaders;
    for (int rank = 0; rank < membership_.size(); ++rank)
      leaders.push_back(static_cast<int>(
          parse_integer(get("leader", rank), "a host's leader", 0, membership_.size() - 1)));
    return leaders;
  }

 private:
  std::string key(const std::string& what, int rank) const {
    return fmt::format("{}/{}/{}", what, membership_.group, rank);
  }

  std::string get(const std::string& what, int rank) {
    return get_from(run_, membership_, rank, key(what, rank), limit_);
  }

  int my_leader() {
    for (int rank = 0; rank < membership_.rank; ++rank) {
      const std::vector<std::string> words = split(get("proof", rank), ' ');
      if (words.size() == 3 && shares_memory(words[0], words[1], words[2])) return rank;
    }
    return membership_.rank;
  }

  const RunContext& run_;
  const Membership& membership_;
  const WaitLimit& limit_;
};

}  // namespace

std::vector<int> find_hosts(const RunContext& run, const Membership& membership,
                            const WaitLimit& limit) {
  return HostFinder(run, membership, limit).find();
}

}  // namespace lockstep::internal::comm
