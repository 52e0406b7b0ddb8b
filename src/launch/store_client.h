// StoreClient: a process's way to the rendezvous.
#pragma once

#include <lockstep/error.h>

#include "base/fork.h"
#include "base/guarded_listener.h"
#include "base/thread_annotations.h"
#include "comm/store.h"
#include "launch/store_request.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::launch {

/// There was a rendezvous, and it is gone or out of reach.
class RendezvousLostError : public Error {
 public:
  using Error::Error;
};

/// What serves at the rendezvous belongs to another run than this process.
class OtherRunError : public Error {
 public:
  using Error::Error;
};

/// Any thread may call it, but no forked child: its words would come in between its parent's. Each
/// request under way has a connection of its own, so that a get that waits holds up nobody;
/// connections are kept for later requests. A request whose connection is lost is sent again on a
/// new one; so that this can be told from another's claim, the value of a key must say who set it.
class StoreClient : public comm::Store {
 public:
  /// Throws TimeoutError if nobody answers at `address` before the deadline, and Error if the token
  /// is wrong. Every set may take as long as the deadline gave this. `run` is the run that this
  /// process belongs to, or one start of it (run_identity.h); empty: the run that is met. Every
  /// connection, now and later, compares it first: throws OtherRunError, and RendezvousLostError
  /// where it is another start of the same run.
  StoreClient(const Address& address, std::string token, const Deadline& deadline,
              std::string run = "");

  /// The start of the run that is served there.
  const std::string& run() const { return run_; }

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, const WaitLimit& limit, int owner = -1) override;
  std::optional<std::string> ending_of(int rank, std::chrono::milliseconds patience) override;

  /// Sets the key unless it is set already. Returns what it is: who comes first decides for all.
  std::string set_first(const std::string& key, const std::string& value);

  /// Like set(), for a key that belongs to this client: once it is gone, another may claim the key
  /// with the same value. Returns whether this one has taken it over in that way. REQUIRES: nothing
  /// else is asked of this client, as of vouch_for().
  bool claim(const std::string& key, const std::string& value);

  /// The key's value, if it is set by now.
  std::optional<std::string> look(const std::string& key);

  /// Tells the server how the process of a rank ended: for the launcher of another host. Throws
  /// Error if the server cannot be told.
  void note_ending(int rank, const std::string& how);

  /// From now on the rank counts as lost when this client is gone, with its host or alone, unless
  /// its end was told before. REQUIRES: nothing else is asked of this client, which would need more
  /// connections than the one that says so.
  void vouch_for(int rank);

 private:
  struct Answer {
    StoreStatus status;
    std::string value;
    bool repeated = false;  ///< an earlier attempt may have been carried out
  };

  /// What the key is set to by others; none if this has set it.
  std::optional<std::string> try_to_set(const std::string& key, const std::string& value);
  Answer ask(const StoreRequest& request, const WaitLimit& limit);
  /// Drops the connections kept for later, and returns how long a new one may take.
  WaitLimit limit_for_reconnecting(const WaitLimit& limit);
  std::string exchange(ProvedConnection& connection, const StoreRequest& request,
                       const WaitLimit& limit) const;
  ProvedConnection connect(const WaitLimit& limit) const;
  std::string run_served_by(ProvedConnection& connection, const WaitLimit& limit) const;
  ProvedConnection take_connection(const WaitLimit& limit);
  void keep_connection(ProvedConnection connection);
  Deadline own_deadline() const { return Deadline::after(patience_); }

  const OwnerProcess owner_;
  const Address address_;
  const std::string token_;
  std::string run_;                           ///< does not change after construction
  const std::chrono::milliseconds patience_;  ///< for requests without a deadline of their own
  Mutex mutex_;
  std::vector<ProvedConnection> idle_ GUARDED_BY(mutex_);
};

}  // namespace lockstep::launch
