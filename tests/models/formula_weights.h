// Weights that follow a formula, so that tests and PyTorch start from the same numbers without
// sharing a file. tests/reference/lenet5.py describes the formula and has it in Python.
#pragma once

#include "base/random.h"

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>

namespace lockstep::models {

/// Element `i` (row-major) of the parameter that is number `k` when parameters are ordered by name.
inline float formula_weight(std::uint64_t k, std::uint64_t i) {
  return static_cast<float>(0.1 * (2.0 * Random((k << 32) + i).uniform() - 1.0));
}

/// Sets all parameters of `module` in place; buffers are left alone.
inline void set_formula_weights(torch::nn::Module& module) {
  auto parameters = module.named_parameters().pairs();
  std::sort(parameters.begin(), parameters.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  torch::NoGradGuard no_grad;
  for (std::uint64_t k = 0; k < parameters.size(); ++k) {
    torch::Tensor& parameter = parameters[k].second;
    torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat32);
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.data_ptr<float>()[i] = formula_weight(k, static_cast<std::uint64_t>(i));
    parameter.copy_(values);
  }
}

}  // namespace lockstep::models
