#include "launch/nodes/node_launcher.h"

#include <lockstep/error.h>

#include "base/host_name.h"
#include "base/net/handshake.h"
#include "base/sleep.h"
#include "base/text.h"
#include "launch/elastic/elastic_keys.h"
#include "launch/environment/run_identity.h"
#include "launch/environment/token_file.h"
#include "launch/nodes/node_hub.h"
#include "launch/nodes/node_link.h"
#include "launch/process/supervisor.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>

namespace lockstep::internal::launch {

namespace {

constexpr int kMaxWorkers = 1 << 16;

void require_sensible(const NodeOptions& options, int workers) {
  if (workers < 1 || workers > kMaxWorkers)
    throw UsageError(
        fmt::format("a job needs 1 to {} workers on each host, not {}", kMaxWorkers, workers));
  if (options.count < 1) throw UsageError(fmt::format("a job cannot have {} nodes", options.count));
  if (options.rank < 0 || options.rank >= options.count)
    throw UsageError(fmt::format("node rank {} is not one of 0 to {}: there are {} nodes",
                                 options.rank, options.count - 1, options.count));
  if (options.count > 1 && options.master.port == 0)
    throw UsageError("several nodes need a fixed port: set the master's port");
}

/// The token to use. A run on several nodes is reachable by other processes: it needs a token made
/// by the user.
std::string choose_token(const NodeOptions& options) {
  if (!options.token.empty()) {
    require_good_token(options.token, "the run's token");
    return options.token;
  }
  const char* how =
      "make one with lockstep launch --new-token FILE, copy it to every host and pass --token-file "
      "FILE, or set LOCKSTEP_TOKEN";
  if (options.join) throw UsageError(fmt::format("joining a run needs its token: {}", how));
  if (options.count > 1)
    throw UsageError(fmt::format("a run on several nodes needs a token: {}", how));
  if (!options.master.is_loopback())
    throw UsageError(
        fmt::format("a rendezvous at {}, which other hosts can reach, needs a token: {}",
                    options.master.host, how));
  return make_token();
}

/// Set when this start of the run has failed: a launcher that arrives now waits for the next one.
constexpr const char* kStartEnded = "start ended";
/// Set when all nodes have claimed their places.
constexpr const char* kAllCame = "all nodes came";
constexpr std::chrono::milliseconds kBetweenChecks(100);
constexpr std::chrono::milliseconds kBeforeNotice(5000);
constexpr std::chrono::milliseconds kBetweenNotices(30'000);

/// Whether node 0 reports within a few seconds that this start of the run has ended.
bool start_ends_soon(StoreClient& store) {
  const Deadline soon = Deadline::after(std::chrono::seconds(5));
  try {
    for (; !soon.passed(); sleep_for(kBetweenChecks))
      if (store.look(kStartEnded)) return true;
  } catch (const Error&) {
    // The run has ended.
  }
  return false;
}

std::string node_key(int node) {
  return fmt::format("node {}", node);
}

}  // namespace

NodeLauncher::NodeLauncher(const NodeOptions& options, int workers, std::chrono::milliseconds grace)
    : options_(options),
      workers_(workers),
      grace_(grace),
      token_([&] {
        require_sensible(options, workers);
        return choose_token(options);
      }()),
      run_(run_of_start(options.run)),
      restart_(options.restart),
      world_size_(workers),
      began_with_(workers),
      rendezvous_(options.master) {
  if (options_.join) {
    claim_numbers();
  } else if (options_.rank == 0) {
    if (run_.empty()) run_ = make_run_identity();
    run_ = name_start(run_, restart_);
    server_.emplace(options_.master, token_, run_);
    rendezvous_ = server_->address();
    // The port was free a moment ago; another process may still take it before it is opened.
    master_port_ = port_of(listen_on({options_.master.host, 0}));
  }
  if (options_.count > 1) meet();
}

void NodeLauncher::meet() {
  const Deadline deadline = Deadline::after(options_.rendezvous_timeout);
  if (server_) {
    const SignalsHeld for_its_thread;
    server_->start();
  }
  join_others(*enter_start(deadline), deadline);
}

/// For workers that join: the first consecutive numbers that are unused.
void NodeLauncher::claim_numbers() {
  const Deadline deadline = Deadline::after(options_.rendezvous_timeout);
  StoreClient store(rendezvous_, token_, deadline);
  run_ = store.run();
  const std::string name = "the number of workers";
  try {
    began_with_ =
        static_cast<int>(parse_integer(store.get(kElasticWorkers, deadline), name, 1, kMaxWorkers));
  } catch (const TimeoutError&) {
    throw TimeoutError(
        fmt::format("the run at {} has not begun within {:.1f} s, or was started without --elastic",
                    rendezvous_.text(), deadline.seconds()));
  }
  const std::string mine = make_token();
  int next = 0;
  for (int claimed = 0; claimed < workers_; ++next)
    claimed = store.set_first(elastic_key("claimed", next), mine) == mine ? claimed + 1 : 0;
  first_rank_ = began_with_ + next - workers_;
  world_size_ = first_rank_ + workers_;
}

/// Connects to the rendezvous; reports a long wait.
std::unique_ptr<StoreClient> NodeLauncher::connect(const Deadline& deadline) {
  if (options_.waiting && deadline.left() > kBeforeNotice) {
    try {
      StoreClient(rendezvous_, token_, Deadline::after(kBeforeNotice), run_);
    } catch (const TimeoutError&) {
      options_.waiting(fmt::format("node 0's launcher at {}", rendezvous_.text()));
    }
  }
  return std::make_unique<StoreClient>(rendezvous_, token_, deadline, run_);
}

/// Finds this start of the run and claims this node's place in it. The launcher of node 0 may be
/// slower than the others to leave the start that has ended.
std::unique_ptr<StoreClient> NodeLauncher::enter_start(const Deadline& deadline) {
  std::string ended = options_.run;
  for (;; sleep_for(kBetweenChecks)) {
    try {
      auto store = connect(deadline);
      const std::string start = store->run();
      if (start != ended && !store->look(kStartEnded) && claim_node(*store, deadline)) {
        run_ = start;
        return store;
      }
      ended = start;
    } catch (const OtherRunError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const Error&) {
      if (ended.empty() || deadline.passed()) throw;
    }
  }
}

/// Whether this node has its place in this start. A restarted launcher may arrive before node 0 has
/// noticed that the earlier one was killed: then there will be another start.
bool NodeLauncher::claim_node(StoreClient& store, const Deadline& deadline) {
  if (server_) {
    store.set("number of nodes", std::to_string(options_.count));
    store.set("restart", std::to_string(restart_));
  } else if (const auto count = store.get("number of nodes", deadline);
             count != std::to_string(options_.count)) {
    throw UsageError(fmt::format("node 0's launcher has --nnodes {}, this one (node {}) has {}",
                                 count, options_.rank, options_.count));
  }
  try {
    take_place(store, deadline);
    return true;
  } catch (const UsageError&) {
    place_.reset();
    if (start_ends_soon(store)) return false;
    throw;
  }
}

/// The place of a launcher that was killed while nodes still arrive is free again. Once all have
/// arrived, node 0 counts that launcher as lost, and this start fails.
void NodeLauncher::take_place(StoreClient& store, const Deadline& deadline) {
  place_ = std::make_unique<StoreClient>(rendezvous_, token_, deadline, store.run());
  const bool taken_over =
      place_->claim(node_key(options_.rank), fmt::format("{} {}", workers_, host_name()));
  if (taken_over && store.look(kAllCame))
    throw UsageError(
        fmt::format("two processes claim to be node {}: the earlier one is lost, but the run has "
                    "already started with it",
                    options_.rank));
}

void NodeLauncher::join_others(StoreClient& store, const Deadline& deadline) {
  std::unique_ptr<NodeHub> hub;
  if (server_) {
    // After a failure every node may let its workers continue for the grace period.
    hub = std::make_unique<NodeHub>(
        options_.master.host, token_,
        NodeHubOptions{options_.silence, grace_ + std::chrono::seconds(30), run_});
    store.set("launchers' port", std::to_string(hub->address().port));
    store.set("master port", std::to_string(master_port_));
  }
  const std::vector<std::string> hosts = count_ranks(store, deadline);
  if (hub) {
    store.set(kAllCame, "");
    hub->expect(hosts);
    watch_ = std::move(hub);
    return;
  }
  auto number = [&](const std::string& key, int lowest, int highest) {
    return static_cast<int>(parse_integer(store.get(key, deadline), key, lowest, highest));
  };
  restart_ = number("restart", 0, std::numeric_limits<int>::max());
  master_port_ = static_cast<std::uint16_t>(number("master port", 1, 65535));
  const auto port = static_cast<std::uint16_t>(number("launchers' port", 1, 65535));
  watch_ = std::make_unique<NodeLink>(Address{options_.master.host, port}, token_, options_.rank,
                                      options_.silence, deadline, run_);
}

/// The value that a node has published about itself.
std::string NodeLauncher::wait_for_node(StoreClient& store, int node, const Deadline& deadline) {
  for (auto interval = kBeforeNotice;; interval = kBetweenNotices) {
    try {
      return store.get(node_key(node), Deadline::after(std::min(interval, deadline.left())));
    } catch (const TimeoutError&) {
      if (deadline.passed())
        throw TimeoutError(fmt::format(
            "node {} of {} did not reach the rendezvous at {} within {:.1f} s: is lockstep "
            "launch --nnodes {} --node-rank {} running there?",
            node, options_.count, rendezvous_.text(), deadline.seconds(), options_.count, node));
    }
    if (options_.waiting)
      options_.waiting(
          fmt::format("node {} of {}: is lockstep launch --nnodes {} --node-rank {} "
                      "running there?",
                      node, options_.count, options_.count, node));
  }
}

/// Learns the number of workers of every node, and so the ranks of this one; returns the hosts.
std::vector<std::string> NodeLauncher::count_ranks(StoreClient& store, const Deadline& deadline) {
  std::vector<std::string> hosts;
  world_size_ = 0;
  for (int node = 0; node < options_.count; ++node) {
    const std::string text = wait_for_node(store, node, deadline);
    const std::size_t space = std::min(text.find(' '), text.size());
    if (node == options_.rank) first_rank_ = world_size_;
    world_size_ += static_cast<int>(parse_integer(
        text.substr(0, space), fmt::format("node {}'s number of workers", node), 1, kMaxWorkers));
    hosts.push_back(text.substr(std::min(space + 1, text.size())));
  }
  return hosts;
}

std::map<std::string, std::string> NodeLauncher::variables_of(int index) const {
  Place place;
  place.rank = first_rank_ + index;
  place.size = world_size_;
  place.rendezvous = rendezvous_;
  place.local_rank = index;
  place.local_size = workers_;
  place.token = token_;
  place.run = run_;
  std::map<std::string, std::string> variables = variables_for(place);
  variables["GROUP_RANK"] = std::to_string(options_.rank);
  variables["MASTER_ADDR"] = options_.master.host;
  variables["MASTER_PORT"] = std::to_string(master_port_);
  if (options_.elastic || options_.join)
    variables["LOCKSTEP_ELASTIC"] = std::to_string(began_with_);
  return variables;
}

void NodeLauncher::started() {
  if (options_.count == 1 && server_) server_->start();
  if (options_.join) declare_workers_lost_on_disconnect();
}

/// If this host is lost, no other process can report how its workers ended.
void NodeLauncher::declare_workers_lost_on_disconnect() {
  try {
    const Deadline soon = Deadline::after(std::chrono::seconds(3));
    joined_ranks_client_ = std::make_unique<StoreClient>(rendezvous_, token_, soon, run_);
    for (int index = 0; index < workers_; ++index)
      joined_ranks_client_->declare_lost_on_disconnect(first_rank_ + index);
  } catch (const Error&) {
    joined_ranks_client_.reset();  // the run has ended: its workers will notice
  }
}

void NodeLauncher::worker_ended(const Outcome& outcome) {
  tell_rendezvous(outcome);
  if (!outcome.failed() || !watch_) return;
  // An uncaught exception ends a program by an abort: often because another rank was lost.
  const bool killed = outcome.signal != 0 && outcome.signal != SIGABRT;
  watch_->report({options_.rank, outcome.code(), killed, outcome.text()});
}

void NodeLauncher::tell_rendezvous(const Outcome& outcome) {
  if (server_) return server_->note_ending(outcome.rank, outcome.how());
  if (rendezvous_lost_) return;
  try {
    const Deadline soon = Deadline::after(std::chrono::seconds(3));
    StoreClient(rendezvous_, token_, soon, run_).note_ending(outcome.rank, outcome.how());
  } catch (const Error&) {
    rendezvous_lost_ = true;  // the watch finds the reason
  }
}

void NodeLauncher::interrupted(int signal) {
  if (watch_)
    watch_->report({options_.rank, 128 + signal, true,
                    fmt::format("the launcher of node {} on {} was interrupted by signal {}",
                                options_.rank, host_name(), signal)});
}

bool NodeLauncher::tick() {
  if (!watch_) return false;
  watch_->tick();
  if (!watch_->failure()) return false;
  if (server_ && !start_ended_) say_that_start_ended();
  return true;
}

void NodeLauncher::say_that_start_ended() {
  start_ended_ = true;
  try {
    const Deadline soon = Deadline::after(std::chrono::seconds(3));
    StoreClient(rendezvous_, token_, soon, run_).set(kStartEnded, "");
  } catch (const Error&) {
    // A restarted launcher is told that its place is taken.
  }
}

void NodeLauncher::done() {
  if (watch_) watch_->done();
}

std::optional<FailureElsewhere> NodeLauncher::failure_elsewhere() const {
  if (!watch_ || !watch_->failure() || watch_->failure()->node == options_.rank)
    return std::nullopt;
  return FailureElsewhere{watch_->failure()->code, watch_->failure()->text};
}

}  // namespace lockstep::internal::launch
