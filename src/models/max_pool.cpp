#include "models/max_pool.h"

#include "models/pool_windows.h"

#include <algorithm>
#include <cstdint>

namespace lockstep::internal::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Torch's choice of two: the first of equal values, and the last NaN.
template <typename T>
void take(T value, std::uint8_t place, T& best, std::uint8_t& which) {
  const bool better = value > best || value != value;
  best = better ? value : best;
  which = better ? place : which;
}

/// One row of windows, from two rows of the image.
template <typename T>
void pool_row(const T* upper, const T* lower, std::int64_t windows, T* best, std::uint8_t* which) {
  for (std::int64_t i = 0; i < windows; ++i) {
    T value = upper[2 * i];
    std::uint8_t place = 0;
    take<T>(upper[2 * i + 1], 1, value, place);
    take<T>(lower[2 * i], 2, value, place);
    take<T>(lower[2 * i + 1], 3, value, place);
    best[i] = value;
    which[i] = place;
  }
}

/// Backward: each window's gradient goes to the chosen position, zeros to the others.
template <typename T>
void spread_row(const T* gradient, const std::uint8_t* which, std::int64_t windows, T* upper,
                T* lower) {
  std::fill(upper, upper + 2 * windows, T(0));
  std::fill(lower, lower + 2 * windows, T(0));
  for (std::int64_t i = 0; i < windows; ++i) {
    T* row = which[i] < 2 ? upper : lower;
    row[2 * i + which[i] % 2] = gradient[i];
  }
}

template <typename T>
void pool(const torch::Tensor& images, torch::Tensor& pooled, torch::Tensor& which) {
  const T* from = images.data_ptr<T>();
  T* to = pooled.data_ptr<T>();
  auto* places = which.data_ptr<std::uint8_t>();
  const std::int64_t width = pooled.size(3);
  for_each_row_of_windows(pooled, [&](std::int64_t i) {
    const T* upper = from + 4 * i * width;
    pool_row(upper, upper + 2 * width, width, to + i * width, places + i * width);
  });
}

template <typename T>
void spread(const torch::Tensor& gradient, const torch::Tensor& which, torch::Tensor& images) {
  const T* from = gradient.data_ptr<T>();
  const auto* places = which.data_ptr<std::uint8_t>();
  T* to = images.data_ptr<T>();
  const std::int64_t width = gradient.size(3);
  for_each_row_of_windows(gradient, [&](std::int64_t i) {
    T* upper = to + 4 * i * width;
    spread_row(from + i * width, places + i * width, width, upper, upper + 2 * width);
  });
}

class MaxPoolFunction : public torch::autograd::Function<MaxPoolFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& images) {
    const std::vector<std::int64_t> sizes = sizes_of_windows(images);
    torch::Tensor pooled = torch::empty(sizes, images.options());
    torch::Tensor which = torch::empty(sizes, torch::kUInt8);
    if (images.scalar_type() == torch::kFloat32)
      pool<float>(images, pooled, which);
    else
      pool<double>(images, pooled, which);
    context->save_for_backward({which});
    return pooled;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const torch::Tensor which = context->get_saved_variables()[0];
    const torch::Tensor gradient = gradients[0].contiguous();
    torch::Tensor images = torch::empty(
        {which.size(0), which.size(1), 2 * which.size(2), 2 * which.size(3)}, gradient.options());
    if (gradient.scalar_type() == torch::kFloat32)
      spread<float>(gradient, which, images);
    else
      spread<double>(gradient, which, images);
    return {images};
  }
};

}  // namespace

torch::Tensor max_pool_2x2(const torch::Tensor& images) {
  return can_pool_2x2(images) ? MaxPoolFunction::apply(images) : torch::max_pool2d(images, 2);
}

}  // namespace lockstep::internal::models
