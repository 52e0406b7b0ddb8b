#include "comm/shared/shared_transport.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/descriptors.h"
#include "base/text.h"

#include <fmt/format.h>

#include <unistd.h>

#include <functional>

namespace lockstep::internal::comm {

namespace {

/// The errno if the error is a shortage of descriptors; 0 otherwise.
std::uint64_t shortage_in(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const DescriptorShortageError& shortage) {
    return static_cast<std::uint64_t>(shortage.code());
  } catch (...) {
    return 0;
  }
}

}  // namespace

SharedTransport::SharedTransport(std::unique_ptr<SharedSpace> space, Membership membership,
                                 const WaitLimit& limit)
    : space_(std::move(space)),
      membership_(std::move(membership)),
      group_memory_(space_->group_memory()),
      rank_(membership_.rank),
      messenger_(*space_, rank_),
      barrier_(
          *space_, rank_, [this] { return messenger_.move(); },
          [this] { messenger_.throw_if_stopped(); }),
      direct_(
          group_memory_, rank_, barrier_,
          [this](const void* data, std::size_t bytes) { return locate(data, bytes); },
          [this](int owner, const Location& place) { return resolve(owner, place); }) {
  RankState& mine = group_memory_.rank_state(rank_);
  mine.pid = ::getpid();
  ::gethostname(mine.host.data(), mine.host.size() - 1);
  mine.presence.store(Presence::present, std::memory_order_release);
  barrier_.while_waiting([&](bool) { limit.check(); });
  try {
    agree({.operation = Operation::barrier}, limit.deadline);
    space_->all_joined();
  } catch (...) {
    abandon(std::current_exception());
    throw;
  }
  barrier_.while_waiting({});
}

SharedTransport::~SharedTransport() {
  leave();
}

void SharedTransport::leave() {
  group_memory_.rank_state(rank_).presence.store(Presence::left, std::memory_order_seq_cst);
  group_memory_.header().completed.notify();
  messenger_.ring_all();
}

std::shared_ptr<Request> SharedTransport::start_send(int to, std::int32_t tag,
                                                     std::span<const std::byte> data) {
  return messenger_.start_send(to, tag, data);
}

std::shared_ptr<Request> SharedTransport::start_recv(int from, std::int32_t tag,
                                                     std::span<std::byte> data) {
  return messenger_.start_recv(from, tag, data);
}

void SharedTransport::wait(Request& request, const Deadline& deadline) {
  messenger_.wait(request, deadline);
}

bool SharedTransport::done(Request& request) {
  return messenger_.done(request);
}

void SharedTransport::agree(const Fingerprint& call, const Deadline& deadline) {
  current_ = call;
  barrier_.wait_for_all({call, {}, {}}, deadline);
  barrier_.require_agreement();
}

void SharedTransport::abandon(std::exception_ptr why) {
  record_cause(group_memory_, rank_, culprit_in(why).rank);
  leave();
  messenger_.stop(std::move(why));
}

Memory SharedTransport::allocate(std::size_t bytes, const Fingerprint& call,
                                 const Deadline& deadline) {
  if (bytes == 0) {
    agree(call, deadline);
    return {};
  }
  const OwnRegion own = space_->make_region(bytes);
  // Whatever the outcome, the region can be mapped only until this scope ends.
  const std::unique_ptr<SharedSpace, std::function<void(SharedSpace*)>> seal(
      space_.get(), [&](SharedSpace* space) { space->seal_region(own.handle); });
  barrier_.wait_for_all({call, {}, own.handle}, deadline);
  barrier_.require_agreement();
  require_all("get", bytes);

  std::exception_ptr failure;
  RegionHandle mapped = own.handle;
  auto region = map_all(own, bytes, failure);
  if (failure) mapped = {0, shortage_in(failure)};
  // Every rank announces that it has mapped everything, or announces a failure by an empty handle.
  barrier_.wait_for_all({call, {}, mapped}, deadline);
  if (failure) std::rethrow_exception(failure);
  require_all("map", bytes);
  regions_[++last_region_] = region;
  return Memory(region, own.memory.get(), bytes);
}

/// Maps all ranks' blocks. On failure sets `failure` and returns the blocks mapped so far; throws
/// PeerLostError if the rank that made the block is gone.
std::shared_ptr<SharedTransport::Region> SharedTransport::map_all(const OwnRegion& own,
                                                                  std::size_t bytes,
                                                                  std::exception_ptr& failure) {
  auto region = std::make_shared<Region>();
  region->bytes = bytes;
  for (int peer = 0; peer < size(); ++peer) {
    try {
      region->blocks.push_back(
          peer == rank_ ? own.memory
                        : space_->map_region(peer, barrier_.notice_of(peer).handle, bytes));
    } catch (const Error&) {
      if (auto lost = find_lost_rank(*space_, peer))
        throw PeerLostError(lost->rank, fmt::format("[{}] rank {} lost a peer in allocate: {}",
                                                    name(), membership_.label(), lost->what));
      failure = std::current_exception();
      return region;
    }
  }
  return region;
}

/// Throws the same Error on all ranks if some announced no handle at the last barrier.
void SharedTransport::require_all(std::string_view could_not, std::size_t bytes) const {
  std::vector<std::string> without;
  int shortage = 0;  // errno for a lack of descriptors; 0 for a lack of memory
  for (int peer = 0; peer < size(); ++peer) {
    const RegionHandle& handle = barrier_.notice_of(peer).handle;
    if (handle.first != 0) continue;
    without.push_back(std::to_string(group_memory_.label(peer)));
    if (is_descriptor_shortage(static_cast<int>(handle.second)))
      shortage = static_cast<int>(handle.second);
  }
  if (!without.empty())
    throw Error(
        fmt::format("[{}] rank {} could not {} {} bytes of shared memory for each of {} ranks: {}",
                    name(), enumerate(without), could_not, bytes, size(),
                    shortage != 0 ? "it has too many open files: raise that limit (ulimit -n)"
                                  : "free memory on that host, or use fewer workers or a smaller "
                                    "model"));
}

Location SharedTransport::locate(const void* data, std::size_t bytes) {
  const std::less_equal<const std::byte*> before;
  const auto* first = static_cast<const std::byte*>(data);
  for (auto it = regions_.begin(); it != regions_.end();) {
    const auto region = it->second.lock();
    if (!region) {
      it = regions_.erase(it);
      continue;
    }
    const std::byte* mine = region->blocks[static_cast<std::size_t>(rank_)].get();
    if (before(mine, first) && before(first + bytes, mine + region->bytes))
      return {it->first, static_cast<std::uint64_t>(first - mine)};
    ++it;
  }
  return {};
}

std::byte* SharedTransport::resolve(int rank, const Location& location) {
  if (location.region == Location::kStaged) return group_memory_.staging(rank);
  const auto known = regions_.find(location.region);
  const auto region = known == regions_.end() ? nullptr : known->second.lock();
  // A rank may free its handle of a region while another rank still uses its own.
  if (!region)
    throw UsageError(
        fmt::format("[{}] rank {} passed memory from Group::allocate that rank {} has freed: keep "
                    "the Memory on "
                    "all ranks for as long as any of them uses it",
                    name(), group_memory_.label(rank), membership_.label()));
  return region->blocks[static_cast<std::size_t>(rank)].get() + location.offset;
}

std::unique_ptr<Transport> SharedTransport::split(const Membership& part, const WaitLimit& limit) {
  return std::make_unique<SharedTransport>(space_->split(part, limit), part, limit);
}

void SharedTransport::require_all_present() {
  messenger_.throw_if_stopped();
  show_waiting(group_memory_, rank_);
  for (int peer = 0; peer < size(); ++peer)
    if (const auto lost = peer == rank_ ? std::nullopt : find_lost_rank(*space_, peer))
      throw lost_in_call({name(), membership_.label()}, current_.text(), *lost);
}

BytesByPurpose SharedTransport::bytes_moved() const {
  return added(messenger_.bytes_sent(), direct_.bytes_moved());
}

}  // namespace lockstep::internal::comm
