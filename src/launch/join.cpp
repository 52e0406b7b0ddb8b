#include "launch/join.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/handshake.h"
#include "base/host_name.h"
#include "base/text.h"
#include "comm/mpi/mpi_runtime.h"
#include "comm/shared/shared_transport.h"
#include "comm/thread/thread_space.h"
#include "launch/environment.h"
#include "launch/request.h"
#include "launch/store_client.h"
#include "launch/store_server.h"

#include <fmt/format.h>

#include <unistd.h>

#include <optional>

namespace lockstep::launch {

namespace {

/// A process's way to the rendezvous, and the rendezvous itself where this process serves it. Both
/// live as long as the last group.
struct Rendezvous {
  Address address;
  std::string token;
  std::string run;  ///< its identity; empty until it is known
  std::optional<StoreServer> server;
  std::optional<StoreClient> client;

  void serve(const Address& at) {
    server.emplace(at, token);
    server->start();
    address = server->address();
    run = server->run();
  }
};

/// Rank 0 serves, and MPI tells the others where, the token and the run's identity.
void meet_through_mpi(const Place& place, const std::string& interface, const Deadline& deadline,
                      Rendezvous& rendezvous) {
  comm::MpiRuntime& mpi = comm::MpiRuntime::instance();
  if (mpi.world_size() != place.size || mpi.world_rank() != place.rank)
    throw UsageError(fmt::format(
        "this process was started as rank {} of {}, but Open MPI knows it as rank {} of "
        "{}: start it with the mpirun of the Open MPI that Lockstep was built with",
        place.rank, place.size, mpi.world_rank(), mpi.world_size()));
  std::string card;
  if (place.rank == 0) {
    rendezvous.token = place.token.empty() ? make_token() : place.token;
    const bool one_host = place.local_size == place.size;
    const std::string host = !interface.empty() ? address_of_interface(interface)
                             : one_host         ? "127.0.0.1"
                                                : address_of_this_host();
    rendezvous.serve({host, 0});
    card = fmt::format("{} {} {}", rendezvous.address.text(), rendezvous.token, rendezvous.run);
  }
  const std::vector<std::string> words = split(mpi.broadcast(card, deadline), ' ');
  if (words.size() != 3) throw Error("rank 0 told no rendezvous: did it fail?");
  rendezvous.address = Address::parse(words[0], "rank 0's rendezvous");
  rendezvous.token = words[1];
  rendezvous.run = words[2];
}

std::shared_ptr<Rendezvous> meet(const Place& place, const std::string& interface,
                                 const Deadline& deadline) {
  auto rendezvous = std::make_shared<Rendezvous>();
  rendezvous->address = place.rendezvous;
  rendezvous->token = place.token;
  rendezvous->run = place.run;
  if (place.bootstrap == Bootstrap::mpi)
    meet_through_mpi(place, interface, deadline, *rendezvous);
  else if (place.bootstrap == Bootstrap::rank_zero && place.rank == 0)
    rendezvous->serve(place.rendezvous);
  rendezvous->client.emplace(rendezvous->address, rendezvous->token, deadline, rendezvous->run);
  return rendezvous;
}

std::string address_for(const std::string& interface, const Address& rendezvous) {
  if (!interface.empty()) return address_of_interface(interface);
  return rendezvous.is_loopback() ? "127.0.0.1" : address_towards(rendezvous);
}

/// The program's choice, or the environment's where it leaves it open.
std::string choose_transport(const GroupOptions& options, const Place& place) {
  const bool open = options.transport == "auto" && !place.transport.empty();
  return open ? place.transport : options.transport;
}

void tell_of_this_process(comm::Store& store, const Place& place,
                          const std::vector<std::string>& request) {
  store.set(fmt::format("rank {}", place.rank),
            fmt::format("pid {} on {}", ::getpid(), host_name()));
  publish_request(store, place.rank, request);
}

}  // namespace

Joined join_run(const GroupOptions& options, const Deadline& deadline) {
  raise_descriptor_limit();
  const Place place = find_place();
  Joined joined;
  joined.world = comm::Membership::world(place.rank, place.size);
  joined.transport = choose_transport(options, place);
  if (place.size == 1) return joined;
  const std::string interface = options.interface.empty() ? place.interface : options.interface;
  const auto rendezvous = meet(place, interface, deadline);
  joined.run = {std::shared_ptr<comm::Store>(rendezvous, &*rendezvous->client), rendezvous->token,
                address_for(interface, rendezvous->address), rendezvous->client->run()};
  if (place.bootstrap == Bootstrap::mpi) joined.network = comm::Network::mpi;
  joined.request = make_request(place.size, /*elastic=*/false, joined.transport);
  tell_of_this_process(*joined.run.store, place, joined.request);
  comm::require_transport(joined.transport);
  require_same_requests(*joined.run.store, place.rank, place.size, /*elastic=*/false, deadline);
  return joined;
}

Joined join_elastic_run(const GroupOptions& options, const Deadline& deadline) {
  raise_descriptor_limit();
  const Place place = find_place();
  const auto address = process_variable("LOCKSTEP_RENDEZVOUS");
  if (!address) throw UsageError("LOCKSTEP_ELASTIC is set but LOCKSTEP_RENDEZVOUS is not");
  const Address rendezvous = Address::parse(*address, "LOCKSTEP_RENDEZVOUS");
  Joined joined;
  joined.transport = choose_transport(options, place);
  // Once it is there it answers at once, or is out of reach.
  constexpr std::chrono::seconds kPatience(20);
  const std::string run = StoreClient(rendezvous, place.token, deadline, place.run).run();
  joined.client =
      std::make_shared<StoreClient>(rendezvous, place.token, Deadline::after(kPatience), run);
  const std::string interface = options.interface.empty() ? place.interface : options.interface;
  joined.run = {joined.client, place.token, address_for(interface, rendezvous), run};
  joined.request = make_request(elastic_workers().value(), /*elastic=*/true, joined.transport);
  tell_of_this_process(*joined.client, place, joined.request);
  comm::require_transport(joined.transport);
  return joined;
}

std::unique_ptr<comm::Transport> make_alone(const comm::Membership& world,
                                            const Deadline& deadline) {
  auto space =
      std::make_unique<comm::ThreadSpace>(std::make_shared<comm::ThreadWorld>(world.labels));
  return std::make_unique<comm::SharedTransport>(std::move(space), world, deadline);
}

}  // namespace lockstep::launch
