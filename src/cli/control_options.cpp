#include "cli/control_options.h"

namespace lockstep::cli {

void add_control_options(CLI::App& command, train::Control& control) {
  auto option = [&](const std::string& name, auto& value, const std::string& help) {
    command.add_option(name, value, help)->group("Control");
  };
  option("--stop-at-accuracy", control.stop_at_accuracy,
         "test after every epoch, and stop once this share of the test images is recognised: 0.98 "
         "is 98 %");
  option("--patience", control.patience,
         "test after every epoch, and stop once N in a row have had no smaller test loss than the "
         "best before");
  option("--plateau", control.plateau,
         "test after every epoch, and lower the learning rate once N in a row have had no smaller "
         "test loss than the best before");
  option("--plateau-factor", control.plateau_factor,
         "what --plateau multiplies the learning rate by: 0.1 unless told");
  option("--check-every", control.check_every,
         "make sure every N steps that all workers have the same weights, to the bit");
  command
      .add_flag("--balance", control.balance,
                "share out the global batch by the workers' speed, which is measured now and then")
      ->group("Control");
}

std::vector<std::string> control_arguments(const train::Control& control) {
  std::vector<std::string> arguments;
  for (const auto& [option, value] : control.options()) {
    arguments.push_back(option);
    if (!value.empty()) arguments.push_back(value);
  }
  return arguments;
}

}  // namespace lockstep::cli
