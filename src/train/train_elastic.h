// Elastic training: a run that continues without workers that it loses, and lets others join.
#pragma once

#include "engine/engines.h"
#include "launch/elastic/elastic_membership.h"
#include "run/summary.h"
#include "train/config/config.h"
#include "train/progress.h"

namespace lockstep::internal::train {

/// Trains as one worker of an elastic run, in one group after another, until the run ends.
/// Otherwise like train_worker(), with the lowest of the remaining workers in the role of rank 0.
/// Throws launch::TooFewError if fewer than config.min_workers are left, after writing a checkpoint
/// if there is a run folder.
run::Summary train_elastic(launch::ElasticMembership& membership, const engine::Engines& engines,
                           const TrainConfig& config, Progress& progress,
                           const StopAsked& stop_asked = {});

}  // namespace lockstep::internal::train
