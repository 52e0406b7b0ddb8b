// ElasticWatch: a launcher's view of an elastic run at the rendezvous; elastic_membership.h
// documents the keys.
#pragma once

#include "base/deadline.h"
#include "launch/rendezvous/store_client.h"

#include <optional>
#include <string>

namespace lockstep::internal::launch {

/// Thread safety: one thread at a time. If the rendezvous does not answer, the state of the run is
/// unknown.
class ElasticWatch {
 public:
  ElasticWatch(Address rendezvous, std::string token, std::string run, int began_with);

  /// Whether the workers have finished the run successfully, even if some were lost.
  bool is_done();

  /// Whether the run has been over for this long, for any reason; also true if the rendezvous has
  /// not answered for a minute. Asks about once per second.
  bool over_for(std::chrono::milliseconds overtime);

  /// Whether the run continues with workers that joined it.
  bool others_go_on();

  /// Asks the run to stop after a step: its workers notice within about a second.
  void ask_to_stop();

 private:
  StoreClient& store();
  bool is_over();
  bool joined_go_on();
  /// The answer to `question`; false if the rendezvous does not answer.
  template <typename Question>
  bool ask(const Question& question);

  const Address rendezvous_;
  const std::string token_;
  const std::string run_;  ///< the run's identity
  const int began_with_;
  /// Empty before the first question, and while the rendezvous does not answer.
  std::optional<StoreClient> store_;
  Deadline next_look_;
  /// Set while the rendezvous does not answer; passes after a minute.
  std::optional<Deadline> silence_;
  std::optional<Deadline> end_of_overtime_;
};

}  // namespace lockstep::internal::launch
