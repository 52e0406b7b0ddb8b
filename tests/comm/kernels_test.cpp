// The inner loops: 16-bit floats against the compiler's conversions, and all vector units against
// each other.
#include "comm/kernels.h"

#include "base/random.h"
#include "base/vector_unit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace lockstep::internal::comm {
namespace {

std::uint16_t bits_of(_Float16 value) {
  return std::bit_cast<std::uint16_t>(value);
}

TEST(Half, EveryFloat16ReadsAsTheCompilerReadsIt) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto theirs = static_cast<float>(std::bit_cast<_Float16>(half.bits));
    const auto ours = static_cast<float>(half);
    if (std::isnan(theirs)) {
      ASSERT_TRUE(std::isnan(ours)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(theirs)) << bits;
    }
  }
}

/// Random bit patterns, and the floats around every float16, where rounding is decided.
std::vector<float> awkward_floats() {
  std::vector<float> values{0.0f,     -0.0f,     INFINITY, -INFINITY,
                            65504.0f, 65519.99f, 65520.0f, 65536.0f};
  Random random(7);
  for (int i = 0; i < 200'000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.next())));
  for (std::uint32_t bits = 0; bits < 0x7c00u; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(half);
    const float middle = value + std::ldexp(1.0f, std::max(std::ilogb(value), -14) - 11);
    for (float near :
         {value, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)})
      values.push_back(near);
  }
  return values;
}

TEST(Half, FloatsRoundToFloat16AsTheCompilerRoundsThem) {
  for (float value : awkward_floats()) {
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(Float16(value))));
    } else {
      ASSERT_EQ(Float16(value).bits, bits_of(static_cast<_Float16>(value))) << value;
    }
  }
}

TEST(Half, FloatsRoundToTheNearestBFloat16) {
  for (float value : awkward_floats()) {
    const auto rounded = static_cast<float>(BFloat16(value));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(rounded));
      continue;
    }
    if (std::isinf(value)) {
      ASSERT_EQ(rounded, value);
      continue;
    }
    // No bfloat16 is nearer: neither the one below nor the one above.
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto below = std::bit_cast<float>(word & 0xffff'0000u);
    const auto above = std::bit_cast<float>((word & 0xffff'0000u) + 0x1'0000u);
    const double distance = std::abs(static_cast<double>(rounded) - value);
    ASSERT_LE(distance, std::abs(static_cast<double>(below) - value)) << value;
    if (std::isfinite(above) && std::isfinite(rounded)) {
      ASSERT_LE(distance, std::abs(static_cast<double>(above) - value)) << value;
    }
  }
}

std::vector<const Kernels*> runnable_kernels() {
  std::vector<const Kernels*> all;
  for (VectorUnit unit : vector_units()) all.push_back(&kernels_for(unit));
  return all;
}

TEST(Kernels, AllVectorUnitsGiveTheSameBits) {
  Random random(3);
  for (DataType type : {DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                        DataType::int32, DataType::int64, DataType::uint8})
    for (std::size_t count : {0u, 1u, 7u, 16u, 33u, 1000u}) {
      std::vector<std::byte> a(count * size_of(type)), b(a.size());
      for (std::byte& byte : a) byte = static_cast<std::byte>(random.next());
      for (std::byte& byte : b) byte = static_cast<std::byte>(random.next());
      for (ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
        std::vector<std::byte> expected(a.size());
        plain_kernels().combine(expected.data(), a.data(), b.data(), count, type, op);
        for (const Kernels* unit : runnable_kernels()) {
          std::vector<std::byte> result(a.size());
          unit->combine(result.data(), a.data(), b.data(), count, type, op);
          if (!is_floating(type)) {
            ASSERT_EQ(result, expected) << unit->name << " " << name_of(type) << " " << name_of(op);
          }
        }
      }
    }
}

template <typename T>
void expect_same_floats() {
  Random random(5);
  std::vector<T> a(1003), b(1003);
  for (T& value : a) value = static_cast<T>(static_cast<float>(random.uniform() - 0.5));
  for (T& value : b) value = static_cast<T>(static_cast<float>(100 * random.uniform() - 50));
  for (ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
    std::vector<T> expected(a.size());
    plain_kernels().combine(expected.data(), a.data(), b.data(), a.size(), DataTypeOf<T>::value,
                            op);
    plain_kernels().scale(expected.data(), a.size(), DataTypeOf<T>::value, 1.0 / 3);
    for (const Kernels* unit : runnable_kernels()) {
      std::vector<T> result(a.size());
      unit->combine(result.data(), a.data(), b.data(), a.size(), DataTypeOf<T>::value, op);
      unit->scale(result.data(), a.size(), DataTypeOf<T>::value, 1.0 / 3);
      ASSERT_EQ(result, expected) << unit->name << " " << name_of(DataTypeOf<T>::value);
    }
  }
}

TEST(Kernels, AllVectorUnitsRoundFloatsEqually) {
  expect_same_floats<float>();
  expect_same_floats<double>();
  expect_same_floats<Float16>();
  expect_same_floats<BFloat16>();
}

/// Arrays of one length, of random small numbers, that begin `shift` elements into their memory.
template <typename T>
class Arrays {
 public:
  Arrays(std::size_t arrays, std::size_t count, std::size_t shift)
      : values_(arrays, std::vector<T>(shift + count)), shift_(shift) {
    Random random(11);
    for (auto& array : values_)
      for (T& value : array) value = static_cast<T>(static_cast<float>(8 * random.uniform()));
  }

  std::vector<void*> pointers() {
    std::vector<void*> pointers;
    for (auto& array : values_) pointers.push_back(array.data() + shift_);
    return pointers;
  }
  bool operator==(const Arrays& other) const {
    return std::ranges::equal(values_, other.values_, [](const auto& a, const auto& b) {
      return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    });
  }

 private:
  std::vector<std::vector<T>> values_;
  std::size_t shift_;
};

/// The expected result of a pass: combine() along the tree, then scale(), then a copy for every
/// output.
template <typename T>
void pass_step_by_step(const Pass& pass) {
  const Kernels& plain = plain_kernels();
  std::vector<std::vector<T>> values;
  for (std::size_t i = 0; i < pass.input_count; ++i) {
    const auto* input = static_cast<const T*>(pass.inputs[i]);
    values.emplace_back(input, input + pass.count);
  }
  for (std::size_t width = 1; width < values.size(); width *= 2)
    for (std::size_t i = 0; i < values.size(); i += 2 * width)
      plain.combine(values[i].data(), values[i].data(), values[i + width].data(), pass.count,
                    pass.type, pass.op);
  if (pass.op == ReduceOp::average)
    plain.scale(values[0].data(), pass.count, pass.type, pass.factor);
  for (std::size_t i = 0; i < pass.output_count; ++i)
    std::copy(values[0].begin(), values[0].end(), static_cast<T*>(pass.outputs[i]));
}

template <typename T>
void expect_passes_equal_steps(std::size_t arrays, std::size_t outputs, std::size_t count,
                               std::size_t shift) {
  for (ReduceOp op :
       {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product, ReduceOp::average}) {
    if (op == ReduceOp::average && !is_floating(DataTypeOf<T>::value)) continue;
    auto run = [&](auto pass) {
      Arrays<T> values(arrays, count, shift);
      const std::vector<void*> pointers = values.pointers();
      pass(Pass{pointers.data(), arrays, pointers.data(), outputs, count, DataTypeOf<T>::value, op,
                1.0 / 3});
      return values;
    };
    const Arrays<T> expected = run(pass_step_by_step<T>);
    for (const Kernels* unit : runnable_kernels())
      ASSERT_TRUE(run(unit->pass) == expected)
          << unit->name << " " << name_of(DataTypeOf<T>::value) << " " << name_of(op) << ", "
          << arrays << " arrays of " << count << " from " << shift << ", " << outputs << " outputs";
  }
}

template <typename T>
class Passes : public testing::Test {};
using AllTypes =
    testing::Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(Passes, AllTypes);

TYPED_TEST(Passes, InPlaceGiveTheBitsOfSingleSteps) {
  for (std::size_t arrays : {2u, 4u})
    for (std::size_t outputs : {std::size_t{1}, arrays})
      for (std::size_t count : {0u, 1u, 7u, 8u, 31u, 32u, 33u, 1003u})
        for (std::size_t shift : {0u, 1u, 3u})
          expect_passes_equal_steps<TypeParam>(arrays, outputs, count, shift);
}

TYPED_TEST(Passes, MayWriteApartFromTheirInputs) {
  for (const Kernels* unit : runnable_kernels()) {
    Arrays<TypeParam> inputs(4, 77, 1);
    const Arrays<TypeParam> before = inputs;
    Arrays<TypeParam> result(1, 77, 0), expected(1, 77, 0);
    const std::vector<void*> from = inputs.pointers(), to = result.pointers(),
                             reference = expected.pointers();
    Pass pass{from.data(), 4, to.data(), 1, 77, DataTypeOf<TypeParam>::value, ReduceOp::sum};
    unit->pass(pass);
    pass.outputs = reference.data();
    pass_step_by_step<TypeParam>(pass);
    ASSERT_TRUE(result == expected) << unit->name;
    ASSERT_TRUE(inputs == before) << unit->name;
  }
}

}  // namespace
}  // namespace lockstep::internal::comm
