// The results of lockstep predict as tables, for the terminal and the page.
#pragma once

#include "base/table/text_table.h"
#include "predict/fit.h"
#include "predict/scaling.h"

#include <string>
#include <vector>

namespace lockstep::internal::cli {

/// One row per method and number of workers.
TextTable iteration_table(const predict::Scaling& scaling);
/// The fastest method and bucket size at each number of workers, and the gain per added worker.
TextTable best_table(const predict::Scaling& scaling);
/// The points at which one method overtakes another: all, or only those of methods that are the
/// best somewhere.
enum class Crossings { all, of_the_best };
TextTable crossing_table(const predict::Scaling& scaling, Crossings which);

/// A collective by every algorithm available in each world. For an all-reduce also the use of the
/// link, the lower bound, and the naive formula.
TextTable collective_table(comm::Operation operation, const predict::NetworkModel& network,
                           int cores, const std::vector<comm::RecordedWorld>& worlds,
                           const std::vector<double>& sizes);

/// The measurements, and the fitted model's times for them.
TextTable residual_table(const predict::Fit& fit);
/// "alpha 31.2 us, beta 0.71 ns, …".
std::string text_of(const predict::NetworkModel& network);

/// Sentences about the basis of the prediction.
std::vector<std::string> notes_of(const predict::Scaling& scaling);

}  // namespace lockstep::internal::cli
