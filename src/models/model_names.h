// The models that there are, without the cost of including them.
#pragma once

#include <string>
#include <vector>

namespace lockstep::models {

/// The names that make_model knows.
std::vector<std::string> model_names();

}  // namespace lockstep::models
