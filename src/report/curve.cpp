#include "report/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>

namespace lockstep::internal::report {

namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double rounded(double value) {
  const std::string text = fmt::format("{:.5g}", value);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

std::vector<double> in_order(const std::vector<double>& values,
                             const std::vector<std::size_t>& order) {
  std::vector<double> result;
  result.reserve(values.size());
  for (std::size_t i : order) result.push_back(values[i]);
  return result;
}

}  // namespace

void Curve::add(double where, double one, double other) {
  at.push_back(where);
  first.push_back(one);
  second.push_back(other);
}

void Curve::sort() {
  if (std::is_sorted(at.begin(), at.end())) return;
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return at[a] < at[b]; });
  *this = {in_order(at, order), in_order(first, order), in_order(second, order)};
}

std::size_t points_in_one(std::size_t points, std::size_t most) {
  return std::max<std::size_t>(1, (points + most - 1) / most);
}

Curve thinned(const Curve& curve, std::size_t most) {
  const std::size_t together = points_in_one(curve.size(), most);
  if (together == 1) return curve;
  Curve result;
  for (std::size_t begin = 0; begin < curve.size(); begin += together) {
    const std::size_t count = std::min(together, curve.size() - begin);
    result.add(curve.at[begin + count / 2], mean(std::span(curve.first).subspan(begin, count)),
               mean(std::span(curve.second).subspan(begin, count)));
  }
  return result;
}

nlohmann::json to_json(const std::vector<double>& values) {
  nlohmann::json list = nlohmann::json::array();
  constexpr double kWhole = 1ull << 53;
  for (double value : values) {
    if (!std::isfinite(value))
      list.push_back(nullptr);
    else if (value == std::floor(value) && std::abs(value) < kWhole)
      list.push_back(static_cast<std::int64_t>(value));
    else
      list.push_back(rounded(value));
  }
  return list;
}

}  // namespace lockstep::internal::report
