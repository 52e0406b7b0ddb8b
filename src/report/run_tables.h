// Tables of a run's epochs and of the bytes that its ranks exchanged.
#pragma once

#include "base/table/text_table.h"
#include "report/run.h"

#include <cstddef>
#include <vector>

namespace lockstep::internal::report {

/// The results of every epoch on every rank, see run::epochs_table. No rows if no epoch has ended.
TextTable epochs_table(const Run& run, std::size_t most_rows);

/// The bytes by purpose: of the ranks of one run, or of several runs. No rows if no run has them.
TextTable exchanged_table(const std::vector<Run>& runs);

}  // namespace lockstep::internal::report
