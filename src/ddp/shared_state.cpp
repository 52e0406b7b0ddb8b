#include <lockstep/shared_state.h>

#include "ddp/module_state.h"
#include "sync/broadcast_text.h"
#include "sync/same_on_all.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <typeinfo>

namespace lockstep {

using namespace internal;

namespace {

std::string options_key(std::size_t group) {
  return fmt::format("lockstep/options/{}", group);
}

/// Everything that must be the same on all ranks, one line each.
std::vector<std::string> describe(const torch::optim::Optimizer& optimizer) {
  std::vector<std::string> lines{fmt::format("an optimizer of type {} with {} parameter groups",
                                             typeid(optimizer).name(),
                                             optimizer.param_groups().size())};
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    const auto& parameters = optimizer.param_groups()[group].params();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      lines.push_back(fmt::format("parameter {} of group {}: [{}] {}", i, group,
                                  fmt::join(parameters[i].sizes().vec(), ", "),
                                  torch::toString(parameters[i].scalar_type())));
  }
  return lines;
}

std::string saved(const torch::optim::Optimizer& optimizer) {
  torch::serialize::OutputArchive archive;
  optimizer.save(archive);
  // load() below restores the state of parameters, but no version of torch promises that it
  // restores options too.
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    torch::serialize::OutputArchive options(archive.compilation_unit());
    optimizer.param_groups()[group].options().serialize(options);
    archive.write(options_key(group), options);
  }
  std::ostringstream stream;
  archive.save_to(stream);
  return stream.str();
}

void load(torch::optim::Optimizer& optimizer, const std::string& content) {
  std::istringstream stream(content);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  optimizer.state().clear();
  optimizer.load(archive);
  for (std::size_t group = 0; group < optimizer.param_groups().size(); ++group) {
    torch::serialize::InputArchive options;
    archive.read(options_key(group), options);
    optimizer.param_groups()[group].options().serialize(options);
  }
}

}  // namespace

void broadcast_state(Group group, torch::optim::Optimizer& optimizer) {
  sync::require_same_on_all(group, describe(optimizer), "the ranks' optimizers differ",
                            "Make the same optimizer for the same parameters on every rank");
  if (group.size() == 1) return;
  std::string content = group.rank() == 0 ? saved(optimizer) : "";
  sync::broadcast_text(group, content);
  if (group.rank() != 0) load(optimizer, content);
}

void broadcast_random_state(Group group) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const auto locked = [&generator](const auto& use) {
    const std::lock_guard<std::mutex> lock(generator.mutex());
    use();
  };
  torch::Tensor state;
  locked([&] { state = generator.get_state(); });
  ddp::broadcast_tensors(group, {state});
  locked([&] { generator.set_state(state); });
}

}  // namespace lockstep
