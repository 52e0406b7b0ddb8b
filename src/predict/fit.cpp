#include "predict/fit.h"

#include <lockstep/error.h>

#include "observe/statistics.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lockstep::internal::predict {

namespace {

/// Columns of the equations: the contribution of each number to a measured time.
constexpr std::array kNumbers{&NetworkModel::agreement, &NetworkModel::per_peer,
                              &NetworkModel::latency,   &NetworkModel::per_byte,
                              &NetworkModel::per_added, &NetworkModel::meeting,
                              &NetworkModel::per_copied};
constexpr std::size_t kColumns = kNumbers.size();
using Row = std::array<double, kColumns>;

/// The contribution of each number, relative to the measured time. The model is linear in them,
/// except for a ring's latencies, which depend on the network, and for caches, which are tried out.
Row row_of(const Measurement& measurement, const NetworkModel& network, int cores) {
  const Cost cost = cost_of(measurement.collective, measurement.world, network);
  Row row{};
  for (std::size_t i = 0; i < kColumns; ++i) {
    NetworkModel unit{
        .message_cores = network.message_cores, .cache = network.cache, .far = network.far};
    unit.*kNumbers[i] = 1;
    row[i] = cost.seconds(unit, cores) / measurement.seconds;
  }
  return row;
}

/// Solves the normal equations for the columns in `chosen` by Gaussian elimination; none if they
/// have no single solution.
std::optional<Row> solve(const std::vector<Row>& rows, const std::vector<double>& weights,
                         const std::vector<std::size_t>& chosen) {
  const std::size_t size = chosen.size();
  std::vector<std::vector<double>> m(size, std::vector<double>(size + 1));
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j)
        m[i][j] += weights[r] * rows[r][chosen[i]] * rows[r][chosen[j]];
      m[i][size] += weights[r] * rows[r][chosen[i]];
    }
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(m[i][i]) < 1e-300) return std::nullopt;
    for (std::size_t k = 0; k < size; ++k) {
      if (k == i) continue;
      const double factor = m[k][i] / m[i][i];
      for (std::size_t j = i; j <= size; ++j) m[k][j] -= factor * m[i][j];
    }
  }
  Row result{};
  for (std::size_t i = 0; i < size; ++i) result[chosen[i]] = m[i][size] / m[i][i];
  return result;
}

double error_of(const Row& row, const Row& numbers) {
  double predicted = 0;
  for (std::size_t i = 0; i < kColumns; ++i) predicted += row[i] * numbers[i];
  return predicted - 1;
}

/// The least-squares solution without negative numbers: tries all subsets of columns, which are
/// few.
Row solve_without_negatives(const std::vector<Row>& rows, const std::vector<double>& weights) {
  Row best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned subset = 1; subset < 1U << kColumns; ++subset) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < kColumns; ++i)
      if (subset >> i & 1) chosen.push_back(i);
    const std::optional<Row> numbers = solve(rows, weights, chosen);
    if (!numbers ||
        std::any_of(numbers->begin(), numbers->end(), [](double number) { return !(number >= 0); }))
      continue;
    double sum = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      sum += weights[r] * std::pow(error_of(rows[r], *numbers), 2);
    if (sum < least) {
      least = sum;
      best = *numbers;
    }
  }
  return best;
}

/// Start values for the numbers in which the model is not linear.
std::vector<NetworkModel> guesses_of_caches(const NetworkModel& start) {
  std::vector<NetworkModel> guesses;
  for (double megabytes : {4, 8, 16, 32, 64})
    for (double far : {0.5, 1.0, 2.0, 4.0}) {
      guesses.push_back(start);
      guesses.back().cache = megabytes * (1 << 20);
      guesses.back().far = far;
    }
  return guesses;
}

/// Outliers, caused by other work on the machine, count less the further off they are: first in
/// proportion, to find approximate numbers; then hardly at all.
double weight_of(double error, bool at_first) {
  constexpr double kNear = 0.1;
  const double times = std::abs(error) / kNear;
  return at_first ? 1 / std::max(1.0, times) : 1 / (1 + times * times);
}

/// The loss that these weights minimise.
double loss_of(double error) {
  return -std::log(weight_of(error, false));
}

/// The best numbers, and the sum of their losses.
std::pair<Fit, double> fit_from(const NetworkModel& guess, int cores,
                                const std::vector<Measurement>& measurements) {
  Fit result{guess, cores, measurements};
  std::vector<double> weights(measurements.size(), 1);
  double loss = 0;
  // Repeated with the numbers found, because the model depends on the network.
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Row> rows;
    for (const Measurement& one : measurements) rows.push_back(row_of(one, result.network, cores));
    const Row numbers = solve_without_negatives(rows, weights);
    for (std::size_t i = 0; i < kColumns; ++i) {
      const bool told =
          std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r[i] > 0; });
      if (told) result.network.*kNumbers[i] = numbers[i];
    }
    loss = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double error = error_of(rows[r], numbers);
      weights[r] = weight_of(error, round < kRounds / 2);
      loss += loss_of(error);
    }
  }
  return {result, loss};
}

void require_enough(const NetworkModel& network, const std::vector<Measurement>& measurements) {
  if (measurements.size() < kColumns)
    throw UsageError(fmt::format("{} measurements of {} are too few to fit {} numbers to",
                                 measurements.size(), network.name, kColumns));
}

}  // namespace

double Fit::predicted(const Measurement& measurement) const {
  return cost_of(measurement.collective, measurement.world, network).seconds(network, cores);
}

double Fit::error(const Measurement& measurement) const {
  return std::abs(predicted(measurement) - measurement.seconds) / measurement.seconds;
}

double Fit::median_error() const {
  std::vector<double> errors;
  for (const Measurement& one : measurements) errors.push_back(error(one));
  return observe::percentile(errors, 0.5);
}

Fit fit(const NetworkModel& start, int cores, const std::vector<Measurement>& measurements) {
  require_enough(start, measurements);
  auto [best, least] = fit_from(start, cores, measurements);
  // Caches must explain a good part of the errors: they always explain a little of the noise.
  constexpr double kGoodPart = 0.2;
  least *= 1 - kGoodPart;
  for (const NetworkModel& guess : guesses_of_caches(start)) {
    const auto [found, loss] = fit_from(guess, cores, measurements);
    if (loss >= least) continue;
    least = loss;
    best = found;
  }
  return best;
}

}  // namespace lockstep::internal::predict
