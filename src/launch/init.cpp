#include <lockstep/error.h>
#include <lockstep/init.h>

#include "comm/group_core.h"
#include "comm/shared/shared_transport.h"
#include "comm/shm/shm_space.h"
#include "comm/thread/thread_space.h"
#include "launch/environment.h"
#include "launch/store_client.h"
#include "launch/store_server.h"

#include <fmt/format.h>

#include <unistd.h>

namespace lockstep {

namespace {

std::unique_ptr<comm::SharedSpace> join_space(const launch::Place& place,
                                              const Deadline& deadline) {
  if (place.size == 1)
    return std::make_unique<comm::ThreadSpace>(std::make_shared<comm::ThreadWorld>(1));
  launch::StoreClient store(place.rendezvous, deadline);
  store.set(fmt::format("rank {}", place.rank), fmt::format("pid {}", ::getpid()));
  return std::make_unique<comm::ShmSpace>(store, "world", place.rank, place.size, deadline);
}

}  // namespace

Group init(const GroupOptions& options) {
  const launch::Place place = launch::find_place();
  const Deadline deadline = Deadline::after(options.rendezvous_timeout);
  // Served only until all ranks have joined, which is when the transport is made.
  std::optional<launch::StoreServer> server;
  if (place.rank_zero_serves && place.rank == 0) {
    server.emplace(place.rendezvous);
    server->start();
  }
  return comm::make_group(
      std::make_unique<comm::SharedTransport>(join_space(place, deadline), place.rank, deadline),
      options);
}

}  // namespace lockstep
