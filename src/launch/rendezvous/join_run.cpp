#include "launch/rendezvous/join_run.h"

#include <lockstep/error.h>

#include "base/descriptors.h"
#include "base/host_name.h"
#include "base/net/handshake.h"
#include "base/text.h"
#include "comm/mpi/mpi_runtime.h"
#include "comm/shared/shared_transport.h"
#include "comm/thread/thread_space.h"
#include "launch/environment/environment.h"
#include "launch/rendezvous/request.h"
#include "launch/rendezvous/store_client.h"
#include "launch/rendezvous/store_server.h"

#include <fmt/format.h>

#include <unistd.h>

#include <exception>
#include <functional>
#include <optional>

namespace lockstep::internal::launch {

namespace {

/// A process's connection to the rendezvous, and the rendezvous itself if this process serves it.
/// Both live as long as the last group.
struct Rendezvous {
  Address address;
  std::string token;
  std::string run;  ///< the run's identity; empty until known
  std::optional<StoreServer> server;
  std::optional<StoreClient> client;

  void serve(const Address& at) {
    server.emplace(at, token);
    server->start();
    address = server->address();
    run = server->run();
  }
};

/// The preparation of a rank before it contacts the others. If it fails here, the rank still has to
/// contact them: they wait for it, and without a launcher the rank itself has to report its end.
struct Preparation {
  std::vector<std::string> request;
  std::string host;  ///< the address of the interface; empty if none is named
  std::exception_ptr failure;
  std::string reason;  ///< reason of the failure

  /// REQUIRES: called in the handler of `error`.
  void fail(const Error& error) {
    failure = std::current_exception();
    reason = error.what();
  }
};

std::string host_of(const std::string& interface) {
  return interface.empty() ? "" : address_of_interface(interface);
}

Preparation prepare(int workers, const std::string& transport, const std::string& interface) {
  Preparation mine;
  try {
    mine.request = make_request(workers, /*elastic=*/false, transport);
    mine.host = host_of(interface);
  } catch (const Error& error) {
    mine.fail(error);
  }
  return mine;
}

/// Rank 0's part of meet_through_mpi: the description of its rendezvous that it broadcasts.
std::string serve_for_mpi(const Place& place, const std::string& host, Rendezvous& rendezvous) {
  rendezvous.token = place.token.empty() ? make_token() : place.token;
  const bool one_host = place.local_size == place.size;
  rendezvous.serve({!host.empty() ? host : one_host ? "127.0.0.1" : address_of_this_host(), 0});
  return fmt::format("{} {} {}", rendezvous.address.text(), rendezvous.token, rendezvous.run);
}

void require_same_world(const Place& place, const comm::MpiRuntime& mpi) {
  if (mpi.world_size() == place.size && mpi.world_rank() == place.rank) return;
  throw UsageError(
      fmt::format("this process was started as rank {} of {}, but Open MPI knows it as rank {} of "
                  "{}: start it with the mpirun of the Open MPI that Lockstep was built with",
                  place.rank, place.size, mpi.world_rank(), mpi.world_size()));
}

/// Rank 0 serves the rendezvous. MPI tells the other ranks its address, the token and the run's
/// identity, or why there is no rendezvous.
void meet_through_mpi(const Place& place, Preparation& mine, const Deadline& deadline,
                      Rendezvous& rendezvous) {
  constexpr std::string_view kNone = "none ";
  comm::MpiRuntime& mpi = comm::MpiRuntime::instance();
  require_same_world(place, mpi);
  std::string card;
  if (place.rank == 0 && !mine.failure) {
    try {
      card = serve_for_mpi(place, mine.host, rendezvous);
    } catch (const Error& error) {
      mine.fail(error);
    }
  }
  if (place.rank == 0 && mine.failure) card = std::string(kNone) + mine.reason;
  card = mpi.broadcast(card, deadline);
  if (card.starts_with(kNone)) {
    if (mine.failure) return;
    throw PeerLostError(0,
                        fmt::format("rank 0 cannot join the run: {}", card.substr(kNone.size())));
  }
  const std::vector<std::string> words = split(card, ' ');
  if (words.size() != 3) throw Error("rank 0 sent no rendezvous address: did it fail?");
  rendezvous.address = Address::parse(words[0], "rank 0's rendezvous");
  rendezvous.token = words[1];
  rendezvous.run = words[2];
}

/// The rendezvous has no client if rank 0 could not serve it.
std::shared_ptr<Rendezvous> meet(const Place& place, Preparation& mine, const Deadline& deadline) {
  auto rendezvous = std::make_shared<Rendezvous>();
  rendezvous->address = place.rendezvous;
  rendezvous->token = place.token;
  rendezvous->run = place.run;
  if (place.bootstrap == Bootstrap::mpi)
    meet_through_mpi(place, mine, deadline, *rendezvous);
  else if (place.bootstrap == Bootstrap::rank_zero && place.rank == 0)
    rendezvous->serve(place.rendezvous);
  const bool nowhere = place.bootstrap == Bootstrap::mpi && place.rank == 0 && mine.failure;
  if (!nowhere)
    rendezvous->client.emplace(rendezvous->address, rendezvous->token, deadline, rendezvous->run);
  return rendezvous;
}

std::string address_for(const std::string& host, const Address& rendezvous) {
  if (!host.empty()) return host;
  return rendezvous.is_loopback() ? "127.0.0.1" : address_towards(rendezvous);
}

/// The program's choice, or the environment's if the program does not choose.
std::string choose_transport(const GroupOptions& options, const Place& place) {
  const bool open = options.transport == "auto" && !place.transport.empty();
  return open ? place.transport : options.transport;
}

std::string choose_interface(const GroupOptions& options, const Place& place) {
  return options.interface.empty() ? place.interface : options.interface;
}

void tell_of_this_process(comm::Store& store, const Place& place,
                          const std::vector<std::string>& request) {
  store.set(fmt::format("rank {}", place.rank),
            fmt::format("pid {} on {}", ::getpid(), host_name()));
  publish_request(store, place.rank, request);
}

void skip_mpi_finalize() noexcept {
  try {
    comm::MpiRuntime::instance().skip_finalize();
  } catch (const Error&) {
    // MPI could not be started.
  }
}

/// Runs a part of joining. MPI_Finalize waits for every rank: a rank that fails alone skips it,
/// because the others wait for it elsewhere. If all fail in the same way, they end together.
void join_with_others(const Place& place, const std::function<void()>& part) {
  try {
    part();
  } catch (const MismatchError&) {
    throw;
  } catch (const PeerLostError&) {
    throw;
  } catch (...) {
    if (place.bootstrap == Bootstrap::mpi) skip_mpi_finalize();
    throw;
  }
}

/// Contacts the other ranks and publishes this rank's request, or why it cannot join.
void meet_and_tell(const Place& place, Preparation& mine, const Deadline& deadline,
                   Joined& joined) {
  const auto rendezvous = meet(place, mine, deadline);
  if (mine.failure && rendezvous->client)
    publish_failure(*rendezvous->client, place.rank, place.size, mine.reason);
  if (mine.failure) return;
  joined.run = {std::shared_ptr<comm::Store>(rendezvous, &*rendezvous->client), rendezvous->token,
                address_for(mine.host, rendezvous->address), rendezvous->client->run()};
  tell_of_this_process(*joined.run.store, place, mine.request);
}

}  // namespace

Joined join_run(const GroupOptions& options, const Deadline& deadline) {
  raise_descriptor_limit();
  const Place place = find_place();
  Joined joined;
  joined.world = comm::Membership::world(place.rank, place.size);
  joined.transport = choose_transport(options, place);
  if (place.size == 1) return joined;
  Preparation mine = prepare(place.size, joined.transport, choose_interface(options, place));
  if (mine.failure && place.bootstrap == Bootstrap::launcher) std::rethrow_exception(mine.failure);
  try {
    join_with_others(place, [&] { meet_and_tell(place, mine, deadline, joined); });
  } catch (const Error&) {
    if (!mine.failure) throw;
  }
  if (mine.failure) std::rethrow_exception(mine.failure);
  if (place.bootstrap == Bootstrap::mpi) joined.network = comm::Network::mpi;
  joined.request = std::move(mine.request);
  comm::require_transport(joined.transport);
  join_with_others(place, [&] {
    require_same_requests(*joined.run.store, place.rank, place.size, /*elastic=*/false, deadline);
  });
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
  // A running rendezvous answers at once, or is unreachable.
  constexpr std::chrono::seconds kTimeout(20);
  const std::string run = StoreClient(rendezvous, place.token, deadline, place.run).run();
  joined.client =
      std::make_shared<StoreClient>(rendezvous, place.token, Deadline::after(kTimeout), run);
  const std::string host = host_of(choose_interface(options, place));
  joined.run = {joined.client, place.token, address_for(host, rendezvous), run};
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

}  // namespace lockstep::internal::launch
