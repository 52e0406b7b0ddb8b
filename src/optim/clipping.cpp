#include "optim/clipping.h"

#include "optim/norm.h"

#include <algorithm>

namespace lockstep::internal::optim {

template <typename T>
double global_norm(std::span<const T> gradients, std::span<const TensorRange> tensors) {
  double squares = 0;
  for (const TensorRange& tensor : tensors)
    squares += sum_of_squares(gradients.subspan(tensor.begin, tensor.count));
  return std::sqrt(squares);
}

template <typename T>
double clip_norm(std::span<T> gradients, std::span<const TensorRange> tensors, double limit) {
  const double norm = global_norm<T>(gradients, tensors);
  if (norm <= limit) return norm;
  const auto factor = static_cast<T>(limit / norm);
  for_blocks(0, gradients.size(), [&](std::size_t from, std::size_t size) {
    for (T& value : gradients.subspan(from, size)) value *= factor;
  });
  return norm;
}

template <typename T>
void clip_values(std::span<T> gradients, double limit) {
  const auto most = static_cast<T>(limit);
  for_blocks(0, gradients.size(), [&](std::size_t from, std::size_t size) {
    for (T& value : gradients.subspan(from, size)) value = std::clamp(value, -most, most);
  });
}

template double global_norm(std::span<const float>, std::span<const TensorRange>);
template double global_norm(std::span<const double>, std::span<const TensorRange>);
template double clip_norm(std::span<float>, std::span<const TensorRange>, double);
template double clip_norm(std::span<double>, std::span<const TensorRange>, double);
template void clip_values(std::span<float>, double);
template void clip_values(std::span<double>, double);

}  // namespace lockstep::internal::optim
