// The methods by their names, and what is chosen for a network's convolutions as JSON: the form in
// which choices are kept, sent and recorded.
#pragma once

#include "engine/onednn/convolution_method.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace lockstep::engine::onednn {

/// All that may be chosen from, the most exact first.
std::span<const Method> all_methods();

std::string_view name_of(Method method);

/// {"forward": "winograd", "backward_data": "direct", "backward_weights": "winograd"}, and back;
/// nothing if it is not that.
nlohmann::json to_json(const Methods& methods);
std::optional<Methods> methods_from(const nlohmann::json& json);

/// By the name of the layer.
using LayerMethods = std::map<std::string, Methods>;

/// {"features.0": …}, and back; nothing if some part of it is not that.
nlohmann::json to_json(const LayerMethods& methods);
std::optional<LayerMethods> layer_methods_from(const nlohmann::json& json);

}  // namespace lockstep::engine::onednn
