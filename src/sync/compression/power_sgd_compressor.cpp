// PowerSGD (Vogels, Karimireddy and Jaggi, 2019). A parameter's gradient is a matrix M, different
// on every rank. With Q, the same on all ranks:
//   P = average of M Q;   orthonormalise the columns of P;   Q = average of Mᵀ P;   result = P Qᵀ
// This is one step of a power iteration towards the best rank-`rank` approximation of the average.
// Q is the start of the next step. Each rank keeps the difference of its M from the result.
//
// A bucket takes two all-reduces: all P, together with parameters too small to gain; then all Q.
#include "base/random.h"
#include "sync/compression/residuals.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace lockstep::internal::sync {

namespace {

/// M lies row by row in the bucket; the last row may be shorter. P and Q have `rank` columns,
/// stored one after another.
struct Matrix {
  std::size_t begin = 0, count = 0, rows = 0, columns = 0;

  std::size_t length_of(std::size_t row) const { return std::min(columns, count - row * columns); }
};

Matrix shape(const GradientPart& part) {
  const bool known = part.rows > 0 && part.count % part.rows == 0;
  const auto square =
      static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(part.count))));
  const std::size_t columns = std::max<std::size_t>(1, known ? part.count / part.rows : square);
  return {part.begin, part.count, (part.count + columns - 1) / columns, columns};
}

float dot(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t kLanes = 16;  // independent sums, so that the loop vectorises
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  double sum = 0;
  for (float part : sums) sum += part;
  return static_cast<float>(sum);
}

/// to += factor · from.
void add(float factor, const float* from, float* to, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

/// Divides by the largest magnitude, so that squares neither overflow nor vanish. Values that are
/// not finite stay so.
void normalise(float* column, std::size_t length) {
  float largest = 0;
  for (std::size_t i = 0; i < length; ++i) largest = std::max(largest, std::abs(column[i]));
  if (largest == 0) return;
  for (std::size_t i = 0; i < length; ++i) column[i] /= largest;
}

/// Gram-Schmidt. A column that depends on earlier ones becomes zero.
void make_orthonormal(std::span<float> columns, std::size_t length) {
  for (std::size_t begin = 0; begin < columns.size(); begin += length) {
    float* column = columns.data() + begin;
    normalise(column, length);
    const float before = std::sqrt(dot(column, column, length));
    for (std::size_t earlier = 0; earlier < begin; earlier += length) {
      const float* other = columns.data() + earlier;
      add(-dot(column, other, length), other, column, length);
    }
    const float norm = std::sqrt(dot(column, column, length));
    const float factor = norm > 1e-6F * before && norm > 0 ? 1 / norm : 0;
    for (std::size_t i = 0; i < length; ++i) column[i] *= factor;
  }
}

bool is_useful(std::span<const float> column) {
  return std::ranges::all_of(column, [](float value) { return std::isfinite(value); }) &&
         std::ranges::any_of(column, [](float value) { return value != 0; });
}

/// The state of a bucket from step to step, and the positions of its matrices' factors.
struct Plan {
  std::size_t count = 0;            ///< elements of the bucket it was made for
  std::vector<GradientPart> parts;  ///< and its parameters
  std::vector<Matrix> matrices;
  std::vector<GradientPart> whole;  ///< parameters that are too small to gain
  std::vector<float> p, q;          ///< factors of all matrices; `whole` is sent behind P
};

class PowerSgd : public Compressor {
 public:
  explicit PowerSgd(int rank) : rank_(static_cast<std::size_t>(rank)) {}

  void reduce(Group& group, const GradientBucket& bucket) override {
    Plan& plan = plans_[bucket.number];
    if (plan.count != bucket.gradients.count || !same_places(plan.parts, parts_of(bucket)))
      plan = make_plan(bucket);
    std::vector<float>& values = residuals_.with_gradients(bucket);
    refill_useless(plan, bucket.number);
    multiply(plan, values);
    if (!plan.p.empty()) group.all_reduce(plan.p, ReduceOp::average);
    orthonormalise(plan);
    multiply_transposed(plan, values);
    if (!plan.q.empty()) group.all_reduce(plan.q, ReduceOp::average);
    approximate(plan);
    store(result_, bucket.gradients);
    for (const Matrix& matrix : plan.matrices)
      add(-1, result_.data() + matrix.begin, values.data() + matrix.begin, matrix.count);
    for (const GradientPart& part : plan.whole)
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(part.begin), part.count, 0.0F);
  }

 private:
  Plan make_plan(const GradientBucket& bucket) const {
    Plan plan;
    plan.count = bucket.gradients.count;
    plan.parts = parts_of(bucket);
    std::size_t p = 0, q = 0, whole = 0;
    for (const GradientPart& part : plan.parts) {
      const Matrix matrix = shape(part);
      if (rank_ * (matrix.rows + matrix.columns) >= part.count) {
        plan.whole.push_back(part);
        whole += part.count;
      } else {
        plan.matrices.push_back(matrix);
        p += rank_ * matrix.rows;
        q += rank_ * matrix.columns;
      }
    }
    plan.p.resize(p + whole);
    plan.q.resize(q);
    return plan;
  }

  /// Calls function(matrix, its P, its Q).
  template <typename Function>
  void each(Plan& plan, Function function) const {
    float *p = plan.p.data(), *q = plan.q.data();
    for (const Matrix& matrix : plan.matrices) {
      function(matrix, p, q);
      p += rank_ * matrix.rows;
      q += rank_ * matrix.columns;
    }
  }

  /// Refills a column of Q that is zero (as all are at the start) or not finite: it would stay so
  /// for ever. Q is the same on all ranks, so all ranks do the same.
  void refill_useless(Plan& plan, std::size_t bucket) const {
    std::size_t number = 0;
    each(plan, [&](const Matrix& matrix, float*, float* q) {
      for (std::size_t column = 0; column < rank_; ++column, ++number, q += matrix.columns) {
        if (is_useful({q, matrix.columns})) {
          normalise(q, matrix.columns);  // only its direction matters
          continue;
        }
        Random random(kSeed, bucket, number);
        for (std::size_t i = 0; i < matrix.columns; ++i)
          q[i] = static_cast<float>(2 * random.uniform() - 1);
      }
    });
  }

  /// Computes P = M Q, and copies `whole` behind it.
  void multiply(Plan& plan, const std::vector<float>& values) const {
    each(plan, [&](const Matrix& matrix, float* p, const float* q) {
      for (std::size_t row = 0; row < matrix.rows; ++row)
        for (std::size_t column = 0; column < rank_; ++column)
          p[column * matrix.rows + row] = dot(values.data() + matrix.begin + row * matrix.columns,
                                              q + column * matrix.columns, matrix.length_of(row));
    });
    float* behind = whole_of(plan);
    for (const GradientPart& part : plan.whole)
      behind = std::copy_n(values.data() + part.begin, part.count, behind);
  }

  void orthonormalise(Plan& plan) const {
    each(plan, [&](const Matrix& matrix, float* p, float*) {
      make_orthonormal({p, rank_ * matrix.rows}, matrix.rows);
    });
  }

  /// Computes Q = Mᵀ P.
  void multiply_transposed(Plan& plan, const std::vector<float>& values) const {
    std::fill(plan.q.begin(), plan.q.end(), 0.0F);
    each(plan, [&](const Matrix& matrix, const float* p, float* q) {
      for (std::size_t row = 0; row < matrix.rows; ++row)
        for (std::size_t column = 0; column < rank_; ++column)
          add(p[column * matrix.rows + row], values.data() + matrix.begin + row * matrix.columns,
              q + column * matrix.columns, matrix.length_of(row));
    });
  }

  /// Writes the result: P Qᵀ, and `whole`.
  void approximate(Plan& plan) {
    result_.assign(plan.count, 0);
    each(plan, [&](const Matrix& matrix, const float* p, const float* q) {
      for (std::size_t row = 0; row < matrix.rows; ++row)
        for (std::size_t column = 0; column < rank_; ++column)
          add(p[column * matrix.rows + row], q + column * matrix.columns,
              result_.data() + matrix.begin + row * matrix.columns, matrix.length_of(row));
    });
    const float* behind = whole_of(plan);
    for (const GradientPart& part : plan.whole) {
      std::copy_n(behind, part.count, result_.data() + part.begin);
      behind += part.count;
    }
  }

  float* whole_of(Plan& plan) const {
    std::size_t factors = 0;
    for (const Matrix& matrix : plan.matrices) factors += rank_ * matrix.rows;
    return plan.p.data() + factors;
  }

  static constexpr std::uint64_t kSeed = 0x9e3779b9;

  const std::size_t rank_;
  Residuals residuals_;
  std::map<std::size_t, Plan> plans_;  ///< by bucket
  std::vector<float> result_;
};

}  // namespace

std::unique_ptr<Compressor> make_power_sgd(int rank) {
  return std::make_unique<PowerSgd>(rank);
}

}  // namespace lockstep::internal::sync
