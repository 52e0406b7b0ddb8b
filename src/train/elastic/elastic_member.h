// ElasticMember: what one worker of an elastic run keeps from one group to the next.
#pragma once

#include <lockstep/error.h>

#include "train/config/dataset.h"
#include "train/elastic/run_state.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::internal::train {

struct ElasticMember {
  std::optional<RunState> state{};        ///< none before the worker has trained or been given one
  bool has_trained = false;               ///< false for a worker that joined and did no step yet
  std::vector<int> workers{};             ///< the workers' numbers, by rank in the current group
  std::string change;                     ///< why the group changed, for the user; may be empty
  std::function<bool()> worker_waiting;   ///< whether a worker waits to join; asked on rank 0
  std::function<void()> results_written;  ///< called on rank 0 when the run's results are written
  std::optional<Dataset> dataset{};       ///< compared with the other workers'; none: open it
};

/// The group is about to change, after a step that all ranks have done: a worker is to join.
class RegroupError : public Error {
 public:
  using Error::Error;
};

}  // namespace lockstep::internal::train
