// Record: the measurements of one rank in one iteration.
#pragma once

#include "observe/times.h"

namespace lockstep::internal::run {

/// All fields are doubles, because ranks exchange records as arrays of doubles.
struct Record {
  double epoch = 0;      ///< from 1
  double iteration = 0;  ///< from 1, over the whole run
  double loss_sum = 0;   ///< sum over this rank's samples
  double correct = 0;    ///< samples classified correctly
  double samples = 0;
  double lr = 0;
  double bytes = 0;       ///< bytes moved, as comm::Counters counts them
  double operations = 0;  ///< collectives and messages
  double arrived = 0;     ///< when all its gradients were ready, on the clock of rank 0
  observe::Times times;
};

}  // namespace lockstep::internal::run
