// The options of train, compare and scale that describe the job: the one table of them. A new
// option is a field of TrainConfig and a line here.
#pragma once

#include "run/option.h"
#include "train/config/config.h"

#include <map>
#include <string>
#include <vector>

namespace lockstep::internal::train {

/// Each bound to its field of `config`, which must outlive them. No defaults are changed.
run::Options options_of(TrainConfig& config);

/// The options that decide what a step computes, with their values: a run is resumed with the same.
std::map<std::string, std::string> identity_of(const TrainConfig& config);

/// The arguments with which a launcher's `lockstep train` does its part of this run.
std::vector<std::string> train_arguments(const TrainConfig& config);

/// "batch 64", a line each: the options that must be the same on all ranks. Those of `at_start`
/// matter only where the run begins: a worker that joins later receives the state of the others.
std::vector<std::string> lines_to_compare(const TrainConfig& config, bool at_start);

}  // namespace lockstep::internal::train
