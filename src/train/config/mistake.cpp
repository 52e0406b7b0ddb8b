#include "train/config/mistake.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace lockstep::internal::train {

namespace {

constexpr std::array kNames{
    std::pair{Mistake::sync_after_update, "sync-after-update"},
    std::pair{Mistake::same_order, "same-order"},
    std::pair{Mistake::different_weights, "different-weights"},
    std::pair{Mistake::sum, "sum"},
    std::pair{Mistake::same_shard, "same-shard"},
};

}  // namespace

std::string_view name_of(Mistake mistake) {
  for (const auto& [known, name] : kNames)
    if (known == mistake) return name;
  return "";
}

std::vector<std::string> mistake_names() {
  std::vector<std::string> names;
  for (const auto& [mistake, name] : kNames) names.emplace_back(name);
  return names;
}

Mistake parse_mistake(std::string_view name) {
  if (name.empty()) return Mistake::none;
  for (const auto& [mistake, known] : kNames)
    if (name == known) return mistake;
  throw UsageError(
      fmt::format("--mistake is '{}': choose from {}", name, enumerate(mistake_names())));
}

}  // namespace lockstep::internal::train
