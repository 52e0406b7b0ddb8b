// The loops of the kernels, included by one file per vector unit and compiled for that unit.
// Everything is in an unnamed namespace, and no header with inline functions is included: the
// linker must not merge the code of different units.
//
// Written so that g++ vectorises them. The compiler must not contract operations to fused
// multiply-adds or reorder them: all units give the same bits.

#include "comm/half.h"
#include "comm/kernels.h"

#include <cstdint>
#include <type_traits>

namespace lockstep::internal::comm {

namespace {

// float16 and bfloat16 are computed in float32.
template <typename T>
inline auto load(T value) {
  if constexpr (std::is_same_v<T, Float16>)
    return float16_to_float(value.bits);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return bfloat16_to_float(value.bits);
  else
    return value;
}

template <typename Stored, typename T>
inline Stored store(T value) {
  Stored stored;
  if constexpr (std::is_same_v<Stored, Float16>)
    stored.bits = float_to_float16(value);
  else if constexpr (std::is_same_v<Stored, BFloat16>)
    stored.bits = float_to_bfloat16(value);
  else
    stored = value;
  return stored;
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    // Integers wrap around, as in MPI; adding as unsigned keeps that defined.
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
};

struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using U = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
      return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    } else {
      return a * b;
    }
  }
};

struct Lower {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

struct Higher {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

template <typename T, typename Op>
void combine_with(T* out, const T* a, const T* b, std::size_t count, Op op) {
  for (std::size_t i = 0; i < count; ++i) out[i] = store<T>(op(load(a[i]), load(b[i])));
}

template <typename T>
void combine_as(void* out, const void* a, const void* b, std::size_t count, ReduceOp op) {
  auto* to = static_cast<T*>(out);
  const auto* left = static_cast<const T*>(a);
  const auto* right = static_cast<const T*>(b);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return combine_with(to, left, right, count, Add{});
    case ReduceOp::min:
      return combine_with(to, left, right, count, Lower{});
    case ReduceOp::max:
      return combine_with(to, left, right, count, Higher{});
    case ReduceOp::product:
      return combine_with(to, left, right, count, Multiply{});
  }
}

template <typename T>
void scale_as(void* values, std::size_t count, double factor) {
  using Computed = decltype(load(T{}));
  auto* all = static_cast<T*>(values);
  const auto by = static_cast<Computed>(factor);
  for (std::size_t i = 0; i < count; ++i) all[i] = store<T>(load(all[i]) * by);
}

/// One step of a tree: 16-bit floats are rounded after each step, on every rank.
template <typename T, typename Op>
inline T step(T a, T b, Op op) {
  return store<T>(op(load(a), load(b)));
}

/// The final operation at the root of the tree.
struct Keep {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

template <typename Computed>
struct Scale {
  Computed by;
  template <typename T>
  T operator()(T value) const {
    return store<T>(load(value) * by);
  }
};

// The loops of a pass. An output is one of the inputs or disjoint from all, so no iteration depends
// on another; the pragma tells the compiler.
template <typename T, typename Op, typename Finish>
void pass_over_two(const Pass& pass, Op op, Finish finish) {
  const auto* a = static_cast<const T*>(pass.inputs[0]);
  const auto* b = static_cast<const T*>(pass.inputs[1]);
  auto* first = static_cast<T*>(pass.outputs[0]);
  if (pass.output_count == 1) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < pass.count; ++i) first[i] = finish(step(a[i], b[i], op));
    return;
  }
  auto* second = static_cast<T*>(pass.outputs[1]);
#pragma GCC ivdep
  for (std::size_t i = 0; i < pass.count; ++i) first[i] = second[i] = finish(step(a[i], b[i], op));
}

template <typename T, typename Op, typename Finish>
void pass_over_four(const Pass& pass, Op op, Finish finish) {
  const auto* a = static_cast<const T*>(pass.inputs[0]);
  const auto* b = static_cast<const T*>(pass.inputs[1]);
  const auto* c = static_cast<const T*>(pass.inputs[2]);
  const auto* d = static_cast<const T*>(pass.inputs[3]);
  auto* first = static_cast<T*>(pass.outputs[0]);
  if (pass.output_count == 1) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < pass.count; ++i)
      first[i] = finish(step(step(a[i], b[i], op), step(c[i], d[i], op), op));
    return;
  }
  auto* second = static_cast<T*>(pass.outputs[1]);
  auto* third = static_cast<T*>(pass.outputs[2]);
  auto* fourth = static_cast<T*>(pass.outputs[3]);
#pragma GCC ivdep
  for (std::size_t i = 0; i < pass.count; ++i)
    first[i] = second[i] = third[i] = fourth[i] =
        finish(step(step(a[i], b[i], op), step(c[i], d[i], op), op));
}

template <typename T, typename Op, typename Finish>
void pass_with(const Pass& pass, Op op, Finish finish) {
  if (pass.input_count == 4) return pass_over_four<T>(pass, op, finish);
  pass_over_two<T>(pass, op, finish);
}

template <typename T>
void pass_as(const Pass& pass) {
  using Computed = decltype(load(T{}));
  switch (pass.op) {
    case ReduceOp::average:
      if constexpr (std::is_floating_point_v<Computed>)
        return pass_with<T>(pass, Add{}, Scale<Computed>{static_cast<Computed>(pass.factor)});
      [[fallthrough]];
    case ReduceOp::sum:
      return pass_with<T>(pass, Add{}, Keep{});
    case ReduceOp::min:
      return pass_with<T>(pass, Lower{}, Keep{});
    case ReduceOp::max:
      return pass_with<T>(pass, Higher{}, Keep{});
    case ReduceOp::product:
      return pass_with<T>(pass, Multiply{}, Keep{});
  }
}

void combine(void* out, const void* a, const void* b, std::size_t count, DataType type,
             ReduceOp op) {
  switch (type) {
    case DataType::float32:
      return combine_as<float>(out, a, b, count, op);
    case DataType::float64:
      return combine_as<double>(out, a, b, count, op);
    case DataType::float16:
      return combine_as<Float16>(out, a, b, count, op);
    case DataType::bfloat16:
      return combine_as<BFloat16>(out, a, b, count, op);
    case DataType::int32:
      return combine_as<std::int32_t>(out, a, b, count, op);
    case DataType::int64:
      return combine_as<std::int64_t>(out, a, b, count, op);
    case DataType::uint8:
      return combine_as<std::uint8_t>(out, a, b, count, op);
  }
}

void run_pass(const Pass& pass) {
  switch (pass.type) {
    case DataType::float32:
      return pass_as<float>(pass);
    case DataType::float64:
      return pass_as<double>(pass);
    case DataType::float16:
      return pass_as<Float16>(pass);
    case DataType::bfloat16:
      return pass_as<BFloat16>(pass);
    case DataType::int32:
      return pass_as<std::int32_t>(pass);
    case DataType::int64:
      return pass_as<std::int64_t>(pass);
    case DataType::uint8:
      return pass_as<std::uint8_t>(pass);
  }
}

void scale(void* values, std::size_t count, DataType type, double factor) {
  switch (type) {
    case DataType::float32:
      return scale_as<float>(values, count, factor);
    case DataType::float64:
      return scale_as<double>(values, count, factor);
    case DataType::float16:
      return scale_as<Float16>(values, count, factor);
    case DataType::bfloat16:
      return scale_as<BFloat16>(values, count, factor);
    default:
      return;
  }
}

}  // namespace

}  // namespace lockstep::internal::comm
