// StoreClient: a rank's connection to the rendezvous.
#pragma once

#include "comm/store.h"
#include "launch/frame.h"
#include "launch/socket.h"

namespace lockstep::launch {

/// One thread at a time.
class StoreClient : public comm::Store {
 public:
  /// Throws TimeoutError if nobody answers at `address` before the deadline, which also bounds
  /// every set.
  StoreClient(const Address& address, const Deadline& deadline);

  /// Throws UsageError if someone else has set the key.
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key, const Deadline& deadline) override;

 private:
  std::string ask(const StoreRequest& request, const Deadline& deadline);

  const Address address_;
  const Deadline deadline_;
  UniqueFd socket_;
  std::string received_;
};

}  // namespace lockstep::launch
