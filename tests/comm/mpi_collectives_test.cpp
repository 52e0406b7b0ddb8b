// MPI's own collectives against closed forms, for all types and reductions.
#include "comm/mpi_ranks.h"
#include "support/errors.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace lockstep::internal::comm {
namespace {

template <typename T>
class MpiNativeTest : public MpiTest {
 protected:
  /// Small enough that sums and products of five ranks are exact in every type.
  static double value(int rank, std::size_t i) { return 1 + (rank + static_cast<int>(i % 3)) % 3; }
  static T convert(double value) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<T>(value);
    else
      return T(static_cast<float>(value));
  }
  static double back(T value) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(value);
    else
      return static_cast<float>(value);
  }

  static std::vector<T> values_of(int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = convert(value(rank, i));
    return values;
  }

  /// The expected reduction of element i over all ranks.
  static double reduced(std::size_t i, ReduceOp op) {
    double result = value(0, i);
    for (int rank = 1; rank < MpiTest::size(); ++rank) {
      const double next = value(rank, i);
      if (op == ReduceOp::min)
        result = std::min(result, next);
      else if (op == ReduceOp::max)
        result = std::max(result, next);
      else if (op == ReduceOp::product)
        result *= next;
      else
        result += next;
    }
    return op == ReduceOp::average ? result / MpiTest::size() : result;
  }

  /// Compares with elements [begin, …) of the reduction.
  static void expect_reduced(const std::vector<T>& values, std::size_t begin, ReduceOp op) {
    const double tolerance = op == ReduceOp::average ? 0.01 : 0.0;
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(back(values[i]), reduced(begin + i, op), tolerance)
          << "rank " << MpiTest::rank() << ", element " << begin + i << ", " << name_of(op);
  }

  static std::vector<ReduceOp> operations() {
    std::vector<ReduceOp> all{ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product};
    if (is_floating(DataTypeOf<T>::value)) all.push_back(ReduceOp::average);
    return all;
  }
};

using AllTypes =
    ::testing::Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(MpiNativeTest, AllTypes);

constexpr std::size_t kCounts[] = {0, 1, 2, 3, 4, 5, 17, 1000, 40'003};

TYPED_TEST(MpiNativeTest, Reductions) {
  const auto wire = this->make_wire();
  NativeCollectives& native = *wire->native();
  const int size = this->size();
  for (const ReduceOp op : this->operations())
    for (const std::size_t count : kCounts) {
      auto values = this->values_of(this->rank(), count);
      native.all_reduce(values, op, this->watch());
      this->expect_reduced(values, 0, op);

      const int root = static_cast<int>(count) % size;
      values = this->values_of(this->rank(), count);
      native.reduce(values, op, root, this->watch());
      if (this->rank() == root)
        this->expect_reduced(values, 0, op);
      else
        EXPECT_EQ(values, this->values_of(this->rank(), count)) << "only root gets the result";

      const auto all = this->values_of(this->rank(), count * static_cast<std::size_t>(size));
      std::vector<TypeParam> mine(count);
      native.reduce_scatter(all, mine, op, this->watch());
      this->expect_reduced(mine, count * static_cast<std::size_t>(this->rank()), op);
    }
}

TYPED_TEST(MpiNativeTest, Copies) {
  const auto wire = this->make_wire();
  NativeCollectives& native = *wire->native();
  const auto size = static_cast<std::size_t>(this->size());
  for (const std::size_t count : kCounts) {
    const int root = static_cast<int>(count % size);
    const auto mine = this->values_of(this->rank(), count);
    std::vector<TypeParam> expected;
    for (int rank = 0; rank < this->size(); ++rank)
      for (const TypeParam& value : this->values_of(rank, count)) expected.push_back(value);

    auto values = mine;
    native.broadcast(values, root, this->watch());
    EXPECT_EQ(values, this->values_of(root, count));

    std::vector<TypeParam> all(count * size);
    native.all_gather(mine, all, this->watch());
    EXPECT_EQ(all, expected);

    std::vector<TypeParam> gathered(this->rank() == root ? count * size : 0);
    native.gather(mine, gathered, root, this->watch());
    if (this->rank() == root) {
      EXPECT_EQ(gathered, expected);
    }

    std::vector<TypeParam> part(count);
    native.scatter(this->rank() == root ? expected : std::vector<TypeParam>(), part, root,
                   this->watch());
    EXPECT_EQ(part, mine);
  }
}

class MpiNativeEdges : public MpiTest {};

TEST_F(MpiNativeEdges, ArraysMayBePartsOfEachOther) {
  const auto wire = make_wire();
  NativeCollectives& native = *wire->native();
  const auto count = static_cast<std::size_t>(size());
  std::vector<int> expected(count);
  std::iota(expected.begin(), expected.end(), 10);
  const auto me = static_cast<std::size_t>(rank());

  std::vector<int> all(count, -1);
  all[me] = 10 + rank();
  native.all_gather(ArrayView(all).slice(me, 1), all, watch());
  EXPECT_EQ(all, expected);

  // At another place in it than its own.
  std::fill(all.begin(), all.end(), -1);
  all[(me + 1) % count] = 10 + rank();
  native.all_gather(ArrayView(all).slice((me + 1) % count, 1), all, watch());
  EXPECT_EQ(all, expected);

  for (int root = 0; root < size(); ++root) {
    std::fill(all.begin(), all.end(), -1);
    all[me] = 10 + rank();
    native.gather(ArrayView(all).slice(me, 1), all, root, watch());
    if (rank() == root) {
      EXPECT_EQ(all, expected);
    }
    std::vector<int> parts = rank() == root ? expected : std::vector<int>(count, -1);
    native.scatter(parts, ArrayView(parts).slice(me, 1), root, watch());
    EXPECT_EQ(parts[me], expected[me]);
  }

  std::vector<int> sums = expected;
  native.reduce_scatter(sums, ArrayView(sums).slice(me, 1), ReduceOp::sum, watch());
  EXPECT_EQ(sums[me], expected[me] * size());
}

TEST_F(MpiNativeEdges, BytesWrap) {
  const auto wire = make_wire();
  std::vector<std::uint8_t> values(100, 200);
  wire->native()->all_reduce(values, ReduceOp::sum, watch());
  EXPECT_EQ(values, std::vector<std::uint8_t>(100, static_cast<std::uint8_t>(200 * size())));
}

TEST_F(MpiNativeEdges, NanOfOneRankReachesAll) {
  const auto wire = make_wire();
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product}) {
    std::vector<float> values(9, rank() == 0 ? std::nanf("") : 1.0f);
    wire->native()->all_reduce(values, op, watch());
    for (const float value : values) EXPECT_TRUE(std::isnan(value)) << name_of(op);
  }
}

TEST_F(MpiNativeEdges, MoreElementsThanMpiCanCountAreRejected) {
  const auto wire = make_wire();
  float one = 0;  // never accessed: the count is checked first
  const ArrayView huge(&one, std::size_t{1} << 31, DataType::float32);
  testing::expect_error<UsageError>(
      [&] { wire->native()->all_reduce(huge, ReduceOp::sum, watch()); },
      {"at most 2147483647", "not 2147483648", "another algorithm"});
}

TEST_F(MpiNativeEdges, WatchIsCalledWhileRanksAreLate) {
  const auto wire = make_wire();
  int calls = 0;
  std::vector<float> values{1};
  if (rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  wire->native()->all_reduce(values, ReduceOp::sum, [&] { ++calls; });
  EXPECT_EQ(values[0], static_cast<float>(size()));
  if (rank() != 0) {
    EXPECT_GT(calls, 0);
  }
}

}  // namespace
}  // namespace lockstep::internal::comm
