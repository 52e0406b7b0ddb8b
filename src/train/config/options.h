// The table of the options of train, compare and scale that describe the job. A new option is a
// field of TrainConfig and a line of the table.
#pragma once

#include "run/option.h"
#include "train/config/config.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// The options, each bound to its field of `config`, which must outlive them. Changes no field.
run::Options options_of(TrainConfig& config);

/// The options that decide what a step computes, with their values. A resumed run must have the
/// same.
std::map<std::string, std::string> identity_of(const TrainConfig& config);

/// The arguments of the `lockstep train` that a launcher starts as a worker of this run.
std::vector<std::string> train_arguments(const TrainConfig& config);

/// The options that must be the same on all ranks, as lines such as "batch 64". With `at_start`
/// those that matter only where the run begins: a worker that joins later receives the state of the
/// others.
std::vector<std::string> lines_to_compare(const TrainConfig& config, bool at_start);

}  // namespace lockstep::internal::train
