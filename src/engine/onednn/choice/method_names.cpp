#include "engine/onednn/choice/method_names.h"

#include "base/check.h"

#include <array>

namespace lockstep::internal::engine::onednn {

namespace {

struct NamedPass {
  const char* name;
  Method Methods::*pass;
};

constexpr NamedPass kPasses[] = {{"forward", &Methods::forward},
                                 {"backward_data", &Methods::backward_data},
                                 {"backward_weights", &Methods::backward_weights}};

std::optional<Method> method_named(const nlohmann::json& name) {
  for (Method method : all_methods())
    if (name == name_of(method)) return method;
  return std::nullopt;
}

}  // namespace

std::span<const Method> all_methods() {
  static constexpr std::array kMethods{Method::direct, Method::winograd, Method::product};
  return kMethods;
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::direct:
      return "direct";
    case Method::winograd:
      return "winograd";
    case Method::product:
      return "product";
  }
  LOCKSTEP_CHECK(false, "unknown method {}", static_cast<int>(method));
}

nlohmann::json to_json(const Methods& methods) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, pass] : kPasses) json[name] = name_of(methods.*pass);
  return json;
}

std::optional<Methods> methods_from(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  Methods methods;
  for (const auto& [name, pass] : kPasses) {
    const auto found = json.find(name);
    if (found == json.end()) return std::nullopt;
    const std::optional<Method> method = method_named(*found);
    if (!method) return std::nullopt;
    methods.*pass = *method;
  }
  return methods;
}

nlohmann::json to_json(const LayerMethods& methods) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [layer, chosen] : methods) json[layer] = to_json(chosen);
  return json;
}

std::optional<LayerMethods> layer_methods_from(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  LayerMethods methods;
  for (const auto& [layer, chosen] : json.items()) {
    const std::optional<Methods> parsed = methods_from(chosen);
    if (!parsed) return std::nullopt;
    methods.emplace(layer, *parsed);
  }
  return methods;
}

}  // namespace lockstep::internal::engine::onednn
