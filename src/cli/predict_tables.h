// What lockstep predict finds, as tables: printed, and on its page.
#pragma once

#include "predict/fit.h"
#include "predict/scaling.h"
#include "study/text_table.h"

#include <string>
#include <vector>

namespace lockstep::cli {

/// A row a method and number of workers.
study::TextTable iteration_table(const predict::Scaling& scaling);
/// The fastest method and bucket size at each number of workers, and what another worker adds.
study::TextTable best_table(const predict::Scaling& scaling);
/// Where one method overtakes another; all of them, or those of methods that are the best
/// somewhere.
enum class Crossings { all, of_the_best };
study::TextTable crossing_table(const predict::Scaling& scaling, Crossings which);

/// A collective by every algorithm that it has in each world; of an all-reduce also the use of the
/// link, the least there can be, and the naive formula.
study::TextTable collective_table(comm::Operation operation, const predict::Network& network,
                                  int cores, const std::vector<comm::RecordedWorld>& worlds,
                                  const std::vector<double>& sizes);

/// What was measured, and what the fitted model says of it.
study::TextTable residual_table(const predict::Fit& fit);
/// "alpha 31.2 us, beta 0.71 ns, …".
std::string text_of(const predict::Network& network);

/// How the figures came about.
std::vector<std::string> notes_of(const predict::Scaling& scaling);

}  // namespace lockstep::cli
