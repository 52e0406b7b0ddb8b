#include "support/mpi_world.h"

#include <lockstep/error.h>

#include "comm/group_core.h"
#include "comm/hierarchy/hierarchical_transport.h"
#include "comm/mpi/mpi_wire.h"
#include "comm/transports.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

namespace lockstep::internal::testing {

namespace {

std::unique_ptr<MpiWorld>& the_world() {
  static std::unique_ptr<MpiWorld> world;
  return world;
}

Deadline soon() {
  return Deadline::after(std::chrono::seconds(60));
}

}  // namespace

std::string message_of(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool MpiWorld::there() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
}

MpiWorld& MpiWorld::instance() {
  if (!the_world()) the_world().reset(new MpiWorld);
  return *the_world();
}

void MpiWorld::leave() {
  the_world().reset();
}

MpiWorld::MpiWorld() : joined_(launch::join_run({}, soon())) {
  if (size() == 1) return;
  all_ = comm::make_group(
      comm::make_transport("mpi", joined_.network, joined_.run, joined_.world, soon()), {});
}

std::vector<std::string> MpiWorld::run(MpiGroups groups, int size,
                                       const std::function<void(Group)>& body,
                                       const GroupOptions& options) {
  if (size > this->size())
    throw UsageError(fmt::format("a test needs {} ranks, mpirun started {}", size, this->size()));
  ++runs_;
  std::string mine;
  if (rank() < size) mine = message_of([&] { body(make_group(groups, size, options)); });
  if (!all_) return {mine};
  constexpr std::size_t kLength = 4096;
  mine.resize(kLength - 1);
  mine.push_back('\0');
  std::vector<std::uint8_t> own(mine.begin(), mine.end());
  std::vector<std::uint8_t> every(kLength * static_cast<std::size_t>(this->size()));
  all_->all_gather(own, every);
  std::vector<std::string> messages;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank)
    messages.emplace_back(reinterpret_cast<const char*>(every.data() + rank * kLength));
  return messages;
}

Group MpiWorld::make_group(MpiGroups groups, int size, const GroupOptions& options) {
  if (this->size() == 1)
    return comm::make_group(launch::make_alone(comm::Membership::world(0, 1), soon()), options);
  comm::Membership membership = comm::Membership::world(rank(), size);
  membership.group = fmt::format("test {}", runs_);
  if (groups == MpiGroups::flat)
    return comm::make_group(
        comm::make_transport("mpi", joined_.network, joined_.run, membership, soon()), options);
  std::vector<int> leaders;
  for (int rank = 0; rank < size; ++rank) leaders.push_back(rank / 2 * 2);
  return comm::make_group(std::make_unique<comm::HierarchicalTransport>(
                              joined_.run, membership, comm::mpi_wire(), leaders, soon()),
                          options);
}

}  // namespace lockstep::internal::testing
