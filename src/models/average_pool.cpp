#include "models/average_pool.h"

#include "models/pool_windows.h"

namespace lockstep::internal::models {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

template <typename T>
void pool(const torch::Tensor& images, torch::Tensor& pooled) {
  const T* from = images.data_ptr<T>();
  T* to = pooled.data_ptr<T>();
  const std::int64_t width = pooled.size(3);
  for_each_row_of_windows(pooled, [&](std::int64_t i) {
    const T* upper = from + 4 * i * width;
    const T* lower = upper + 2 * width;
    for (std::int64_t x = 0; x < width; ++x)  // in torch's order of addition
      to[i * width + x] =
          (upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1]) / T(4);
  });
}

/// Each position of a window gets a quarter of its gradient.
template <typename T>
void spread(const torch::Tensor& gradient, torch::Tensor& images) {
  const T* from = gradient.data_ptr<T>();
  T* to = images.data_ptr<T>();
  const std::int64_t width = gradient.size(3);
  for_each_row_of_windows(gradient, [&](std::int64_t i) {
    T* upper = to + 4 * i * width;
    T* lower = upper + 2 * width;
    for (std::int64_t x = 0; x < width; ++x) {
      const T part = from[i * width + x] / T(4);
      upper[2 * x] = upper[2 * x + 1] = part;
      lower[2 * x] = lower[2 * x + 1] = part;
    }
  });
}

class AveragePoolFunction : public torch::autograd::Function<AveragePoolFunction> {
 public:
  static Variable forward(AutogradContext*, const Variable& images) {
    torch::Tensor pooled = torch::empty(sizes_of_windows(images), images.options());
    if (images.scalar_type() == torch::kFloat32)
      pool<float>(images, pooled);
    else
      pool<double>(images, pooled);
    return pooled;
  }

  static variable_list backward(AutogradContext*, variable_list gradients) {
    const torch::Tensor gradient = gradients[0].contiguous();
    torch::Tensor images = torch::empty(
        {gradient.size(0), gradient.size(1), 2 * gradient.size(2), 2 * gradient.size(3)},
        gradient.options());
    if (gradient.scalar_type() == torch::kFloat32)
      spread<float>(gradient, images);
    else
      spread<double>(gradient, images);
    return {images};
  }
};

}  // namespace

torch::Tensor average_pool_2x2(const torch::Tensor& images) {
  return can_pool_2x2(images) ? AveragePoolFunction::apply(images) : torch::avg_pool2d(images, 2);
}

}  // namespace lockstep::internal::models
