// Names of methods, and the choices for a model's convolutions as JSON: the form in which they are
// saved, sent and recorded.
#pragma once

#include "engine/onednn/plan/convolution_method.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace lockstep::internal::engine::onednn {

/// All methods, the most exact first.
std::span<const Method> all_methods();

std::string_view name_of(Method method);

/// {"forward": "winograd", "backward_data": "direct", "backward_weights": "winograd"}, and back;
/// none if it is malformed.
nlohmann::json to_json(const Methods& methods);
std::optional<Methods> methods_from(const nlohmann::json& json);

/// By layer name.
using LayerMethods = std::map<std::string, Methods>;

/// {"features.0": …}, and back; none if a part is malformed.
nlohmann::json to_json(const LayerMethods& methods);
std::optional<LayerMethods> layer_methods_from(const nlohmann::json& json);

}  // namespace lockstep::internal::engine::onednn
