#include "launch/environment.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace lockstep::launch {

namespace {

constexpr int kMaxWorld = 1 << 16;

/// Rank and size from two variables; nothing if neither is set.
std::optional<Place> rank_and_size(const Variables& variables, const std::string& rank_name,
                                   const std::string& size_name) {
  const auto rank = variables(rank_name);
  const auto size = variables(size_name);
  if (!rank && !size) return std::nullopt;
  if (!rank || !size)
    throw UsageError(fmt::format("{} is set but {} is not: set both, or neither for a world of one",
                                 rank ? rank_name : size_name, rank ? size_name : rank_name));
  Place place;
  place.size = static_cast<int>(parse_integer(*size, size_name, 1, kMaxWorld));
  place.rank = static_cast<int>(parse_integer(*rank, rank_name, 0, kMaxWorld));
  if (place.rank >= place.size)
    throw UsageError(fmt::format("{} is {}, but a world of {} has ranks 0 to {}", rank_name,
                                 place.rank, place.size, place.size - 1));
  return place;
}

/// Other launchers' variables: better refused than taken for many worlds of one.
void refuse_other_launchers(const Variables& variables) {
  const std::map<std::string, std::string> others{{"OMPI_COMM_WORLD_SIZE", "mpirun"},
                                                  {"PMI_SIZE", "mpiexec"},
                                                  {"SLURM_STEP_NUM_TASKS", "srun"}};
  for (const auto& [variable, launcher] : others)
    if (auto size = variables(variable); size && *size != "1")
      throw UsageError(
          fmt::format("this process was started by {} ({} is {}), which is not supported yet: use "
                      "lockstep launch",
                      launcher, variable, *size));
}

}  // namespace

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

Place find_place(const Variables& variables) {
  if (auto place = rank_and_size(variables, "LOCKSTEP_RANK", "LOCKSTEP_WORLD_SIZE")) {
    if (place->size == 1) return *place;
    const auto rendezvous = variables("LOCKSTEP_RENDEZVOUS");
    if (!rendezvous)
      throw UsageError("LOCKSTEP_RANK is set but LOCKSTEP_RENDEZVOUS is not: use lockstep launch");
    place->rendezvous = Address::parse(*rendezvous, "LOCKSTEP_RENDEZVOUS");
    return *place;
  }
  if (auto place = rank_and_size(variables, "RANK", "WORLD_SIZE")) {
    if (place->size == 1) return *place;
    const std::string port = variables("MASTER_PORT").value_or("29500");
    auto number = parse_integer(port, "MASTER_PORT", 1, 65535);
    // Torchrun's own agent listens on MASTER_PORT then.
    if (variables("TORCHELASTIC_USE_AGENT_STORE") == "True") number = number % 65535 + 1;
    place->rendezvous = {variables("MASTER_ADDR").value_or("127.0.0.1"),
                         static_cast<std::uint16_t>(number)};
    place->rank_zero_serves = true;
    return *place;
  }
  refuse_other_launchers(variables);
  return {};
}

std::map<std::string, std::string> variables_for(const Place& place) {
  return {{"LOCKSTEP_RANK", std::to_string(place.rank)},
          {"LOCKSTEP_WORLD_SIZE", std::to_string(place.size)},
          {"LOCKSTEP_RENDEZVOUS", place.rendezvous.text()}};
}

int threads_per_worker(int workers) {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / workers);
}

}  // namespace lockstep::launch
