// StoreSession: one authenticated connection to the store, as bytes in and bytes out. StoreTable:
// the state shared by all sessions: the values, how ranks ended, and the waiting requests. Neither
// uses sockets, and both enforce limits, because requests are not trusted. Thread safety: one
// thread at a time.
#pragma once

#include "launch/rendezvous/store_request.h"

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lockstep::internal::launch {

class StoreSession;

class StoreTable {
 public:
  static constexpr std::size_t kMaxKeys = 1 << 18;
  static constexpr std::size_t kMaxBytes = 256 << 20;  ///< limit on all keys and values together
  /// Limit on the text that describes how a rank ended.
  static constexpr std::size_t kMaxHow = 1024;

  /// Stores how a rank's process ended (the first report counts) and answers the requests that wait
  /// for it.
  void note_ending(int rank, std::string how);

  /// Sets a key that belongs to the server itself.
  void publish(const std::string& key, const std::string& value) { values_[key] = value; }

 private:
  friend class StoreSession;
  using Sessions = std::list<StoreSession*>;

  /// Returns whether it was set.
  bool set(StoreSession& by, const StoreRequest& request);
  void claim(StoreSession& by, const StoreRequest& request);
  void look(StoreSession& by, const StoreRequest& request) const;
  /// The answer to a get or an ending, if it is available.
  std::optional<std::string> answer_to(const StoreRequest& request) const;
  void answer_waiting();

  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
  std::set<std::string> abandoned_;  ///< keys claimed on connections that have ended
  std::map<int, std::string> endings_;
  Sessions sessions_;
};

class StoreSession {
 public:
  /// Limit on the answers that a client has not read yet.
  static constexpr std::size_t kMaxOutgoing = 1 << 20;

  /// REQUIRES: the table outlives the session.
  explicit StoreSession(StoreTable& table);
  ~StoreSession();
  StoreSession(const StoreSession&) = delete;
  StoreSession& operator=(const StoreSession&) = delete;

  /// Handles received bytes and answers the complete requests among them. After an invalid request,
  /// or a second request while one is waiting, the session is broken().
  void feed(std::string_view bytes);

  /// The bytes to send; the sender removes the sent part from the front.
  std::string& outgoing() { return outgoing_; }

  /// Whether to drop the connection: the client sent an invalid request or does not read its
  /// answers.
  bool broken() const { return broken_; }

 private:
  friend class StoreTable;

  void handle(const StoreRequest& request);
  void answer(StoreStatus status, std::string_view value);
  void send(std::string_view answer);

  StoreTable& table_;
  StoreTable::Sessions::iterator place_;
  std::string received_;
  std::string outgoing_;
  std::optional<StoreRequest> waiting_;  ///< the request that cannot be answered yet
  std::set<int> lost_on_disconnect_;     ///< ranks that are lost when this connection ends
  std::set<std::string> claimed_;  ///< keys that others may claim when this connection has ended
  bool broken_ = false;
};

}  // namespace lockstep::internal::launch
