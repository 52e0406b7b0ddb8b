// Weights that follow a formula, so that tests and PyTorch start from the same numbers without a
// common file. tests/reference/formula.py documents the formula and has it in Python.
#pragma once

#include "base/random.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace lockstep::internal::models {

/// The value of an element is centre + width * v, with v from -1 to 1.
struct FormulaRange {
  double centre;
  double width;
};

inline FormulaRange formula_range(const std::string& name, const torch::Tensor& parameter,
                                  const torch::OrderedDict<std::string, torch::Tensor>& all) {
  if (parameter.dim() > 1)
    return {0, std::sqrt(6.0 / static_cast<double>(parameter.numel() / parameter.size(0)))};
  const std::string weight = name.substr(0, name.rfind('.')) + ".weight";
  if (name == weight) return {1, 0.2};
  const bool batch_norm = all[weight].dim() == 1;
  return batch_norm ? FormulaRange{2.5, 0.5} : FormulaRange{0, 0.2};
}

/// Sets all parameters of `module` in place, but no buffers.
inline void set_formula_weights(torch::nn::Module& module) {
  const auto parameters = module.named_parameters();
  std::vector<std::string> names = parameters.keys();
  std::sort(names.begin(), names.end());
  torch::NoGradGuard no_grad;
  for (std::uint64_t k = 0; k < names.size(); ++k) {
    torch::Tensor parameter = parameters[names[k]];
    const FormulaRange range = formula_range(names[k], parameter, parameters);
    torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat32);
    float* elements = values.data_ptr<float>();
    const auto count = static_cast<std::uint64_t>(values.numel());
    for (std::uint64_t i = 0; i < count; ++i) {
      const double v = 2.0 * Random((k << 32) + i).uniform() - 1.0;
      elements[i] = static_cast<float>(range.centre + v * range.width);
    }
    parameter.copy_(values);
  }
}

}  // namespace lockstep::internal::models
