#include "train/config/provenance.h"

#include "base/version.h"
#include "launch/hosts/machine_description.h"

namespace lockstep::internal::train {

nlohmann::json provenance_json(const std::string& command) {
  const launch::MachineDescription machine = launch::describe_machine();
  return {{"command", command},
          {"version", version()},
          {"machine",
           {{"processor", machine.processor},
            {"cores", machine.cores},
            {"memory_bytes", machine.memory_bytes},
            {"system", machine.system}}}};
}

}  // namespace lockstep::internal::train
