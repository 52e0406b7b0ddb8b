// StoreClient: a process's connection to the rendezvous.
#pragma once

#include <lockstep/error.h>

#include "base/fork.h"
#include "base/net/guarded_listener.h"
#include "base/thread_annotations.h"
#include "comm/store.h"
#include "launch/rendezvous/store_request.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::launch {

/// The rendezvous was there, and is gone or unreachable now.
class RendezvousLostError : public Error {
 public:
  using Error::Error;
};

/// The rendezvous belongs to another run than this process.
class OtherRunError : public Error {
 public:
  using Error::Error;
};

/// Thread safety: any thread, but not a forked child, whose requests would mix with its parent's.
/// Each pending request has its own connection, so that a waiting get delays no other request;
/// connections are kept for later requests. A request whose connection is lost is sent again on a
/// new one. The value of a key must identify the process that set it, so that a repeated request
/// can be told from another process's claim.
class StoreClient : public comm::Store {
 public:
  /// Throws TimeoutError if no rendezvous answers at `address` before the deadline, and Error if
  /// the token is wrong. Every set may take as long as this deadline allowed. `run` is the run that
  /// this process belongs to, or one start of it (run_identity.h); if empty, the run found there.
  /// Every connection, now and later, first compares it: throws OtherRunError, and
  /// RendezvousLostError for another start of the same run.
  StoreClient(const Address& address, std::string token, const Deadline& deadline,
              std::string run = "");

  /// The start of the run that is served there.
  const std::string& run() const { return run_; }

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, const WaitLimit& limit, int owner = -1) override;
  std::optional<std::string> ending_of(int rank, std::chrono::milliseconds timeout) override;

  /// Sets the key unless it is already set. Returns its value: the first process to set it decides
  /// for all.
  std::string set_first(const std::string& key, const std::string& value);

  /// Like set(), for a key that belongs to this client: once the client is gone, another client may
  /// claim the key with the same value. Returns whether this client has taken over the key in that
  /// way. REQUIRES: this client makes no other requests, as for declare_lost_on_disconnect().
  bool claim(const std::string& key, const std::string& value);

  /// The key's value, if it is set now.
  std::optional<std::string> look(const std::string& key);

  /// Tells the server how the process of a rank ended: for the launcher of another host. Throws
  /// Error if the server cannot be reached.
  void note_ending(int rank, const std::string& how);

  /// From now on the rank counts as lost when this client disconnects, alone or with its host,
  /// unless its end was reported before. REQUIRES: this client makes no other requests, which would
  /// need more connections.
  void declare_lost_on_disconnect(int rank);

 private:
  struct Answer {
    StoreStatus status;
    std::string value;
    bool repeated = false;  ///< an earlier attempt may have been executed
  };

  /// The value set by another process; empty if this call has set the key.
  std::optional<std::string> try_to_set(const std::string& key, const std::string& value);
  Answer ask(const StoreRequest& request, const WaitLimit& limit);
  /// Drops the idle connections, and returns how long a new one may take.
  WaitLimit limit_for_reconnecting(const WaitLimit& limit);
  std::string exchange(AuthenticatedConnection& connection, const StoreRequest& request,
                       const WaitLimit& limit) const;
  AuthenticatedConnection connect(const WaitLimit& limit) const;
  std::string run_served_by(AuthenticatedConnection& connection, const WaitLimit& limit) const;
  AuthenticatedConnection take_connection(const WaitLimit& limit);
  void keep_connection(AuthenticatedConnection connection);
  Deadline own_deadline() const { return Deadline::after(default_timeout_); }

  const OwnerProcess owner_;
  const Address address_;
  const std::string token_;
  std::string run_;  ///< constant after construction
  /// For requests without a deadline of their own.
  const std::chrono::milliseconds default_timeout_;
  Mutex mutex_;
  std::vector<AuthenticatedConnection> idle_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::internal::launch
