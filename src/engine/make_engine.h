// The engines of this build, by name.
#pragma once

#include "engine/engines.h"

namespace lockstep::internal::engine {

/// torch, and onednn where this build has it. Lives as long as the process.
const Engines& built_in_engines();

/// built_in_engines().make() and .choose_convolutions().
MadeEngine make_engine(const EngineOptions& options);
nlohmann::json choose_convolutions(const EngineOptions& options, const Notice& notice);

}  // namespace lockstep::internal::engine
