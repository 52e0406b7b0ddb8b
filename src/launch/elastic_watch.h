// ElasticWatch: what a launcher of an elastic run learns at the rendezvous of how the run goes on;
// muster.h says what is there.
#pragma once

#include "base/deadline.h"
#include "launch/store_client.h"

#include <optional>
#include <string>

namespace lockstep::launch {

/// One thread at a time. Where nobody answers, nothing is known of the run.
class ElasticWatch {
 public:
  ElasticWatch(Address rendezvous, std::string token, std::string run, int began_with);

  /// Whether the workers have ended the run, and well, whatever became of some.
  bool is_done();

  /// Whether the run, which may have ended in any way, has been over for so long; it is, too, when
  /// nobody has answered for a minute. Asks about once a second.
  bool over_for(std::chrono::milliseconds overtime);

  /// Whether the run is not over, and workers that joined it are in it.
  bool others_go_on();

  /// The run is to stop after a step: its workers find that within about a second.
  void ask_to_stop();

 private:
  StoreClient& store();
  bool is_over();
  bool joined_go_on();
  /// What `question` answers, or false.
  template <typename Question>
  bool ask(const Question& question);

  const Address rendezvous_;
  const std::string token_;
  const std::string run_;  ///< its identity
  const int began_with_;
  std::optional<StoreClient> store_;  ///< none before the first question, and where nobody answers
  Deadline next_look_;
  std::optional<Deadline> silence_;  ///< nobody has answered since a minute before
  std::optional<Deadline> end_of_overtime_;
};

}  // namespace lockstep::launch
