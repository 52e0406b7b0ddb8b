#include "train/config/same_layouts.h"

#include "sync/same_on_all.h"

#include <fmt/format.h>

namespace lockstep::internal::train {

void require_same_layouts(Group& group, const engine::Engine& engine) {
  std::vector<std::string> lines{fmt::format("engine {}", engine.name())};
  for (const sync::Parameter& parameter : engine.parameters())
    lines.push_back(fmt::format("{}: {} values, {}", parameter.name, parameter.count,
                                parameter.layout.empty() ? "plain" : parameter.layout));
  sync::require_same_on_all(group, lines, "the ranks keep their weights in different layouts",
                            "Use the torch engine, or processors of one kind");
}

}  // namespace lockstep::internal::train
