// StoreSession: one proved connection to the store, as bytes in and bytes out. StoreTable: what all
// sessions share: the values, how ranks ended, and who waits for what. Neither knows sockets, and
// both keep to limits, because what comes is not trusted. One thread at a time.
#pragma once

#include "launch/store_request.h"

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lockstep::launch {

class StoreSession;

class StoreTable {
 public:
  static constexpr std::size_t kMaxKeys = 1 << 18;
  static constexpr std::size_t kMaxBytes = 256 << 20;  ///< of keys and values together
  static constexpr std::size_t kMaxHow = 1024;         ///< of the words on how a rank ended

  /// Keeps how a rank's process ended (the first word on it counts) and answers who waits for it.
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
  /// The answer to a get or an ending, if there is one already.
  std::optional<std::string> answer_to(const StoreRequest& request) const;
  void answer_waiting();

  std::map<std::string, std::string> values_;
  std::size_t bytes_ = 0;
  std::set<std::string> abandoned_;  ///< keys that were claimed on connections that have ended
  std::map<int, std::string> endings_;
  Sessions sessions_;
};

class StoreSession {
 public:
  /// Answers that a client has not taken yet.
  static constexpr std::size_t kMaxOutgoing = 1 << 20;

  /// REQUIRES: the table outlives the session.
  explicit StoreSession(StoreTable& table);
  ~StoreSession();
  StoreSession(const StoreSession&) = delete;
  StoreSession& operator=(const StoreSession&) = delete;

  /// Takes bytes as they come and answers the whole requests among them. After nonsense, or a
  /// second request while one still waits for its answer, the session is broken().
  void feed(std::string_view bytes);

  /// What is to be sent; whoever sends a part of it takes that off the front.
  std::string& outgoing() { return outgoing_; }

  /// To be dropped: the client talks nonsense, or does not read its answers.
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
  std::optional<StoreRequest> waiting_;  ///< what cannot be answered yet
  std::set<int> vouched_for_;            ///< ranks that are lost with this connection
  std::set<std::string> claimed_;        ///< keys that others may claim when it has ended
  bool broken_ = false;
};

}  // namespace lockstep::launch
