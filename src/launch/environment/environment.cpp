#include "launch/environment/environment.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "launch/environment/slurm.h"

#include <fmt/format.h>

#include <cstdlib>

namespace lockstep::internal::launch {

namespace {

constexpr int kMaxWorld = 1 << 16;

std::optional<Place> lockstep_place(const Variables& variables) {
  auto place = rank_and_size(variables, "LOCKSTEP_RANK", "LOCKSTEP_WORLD_SIZE");
  if (!place) return place;
  read_local(variables, "LOCKSTEP_LOCAL_RANK", "LOCKSTEP_LOCAL_WORLD_SIZE", *place);
  place->run = variables("LOCKSTEP_RUN").value_or("");
  if (place->size == 1) return place;
  const auto rendezvous = variables("LOCKSTEP_RENDEZVOUS");
  if (!rendezvous)
    throw UsageError("LOCKSTEP_RANK is set but LOCKSTEP_RENDEZVOUS is not: use lockstep launch");
  place->rendezvous = Address::parse(*rendezvous, "LOCKSTEP_RENDEZVOUS");
  place->bootstrap = Bootstrap::launcher;
  return place;
}

std::optional<Place> torchrun_place(const Variables& variables) {
  auto place = rank_and_size(variables, "RANK", "WORLD_SIZE");
  if (!place) return place;
  read_local(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE", *place);
  if (place->size == 1) return place;
  const std::string port = variables("MASTER_PORT").value_or("29500");
  auto number = parse_integer(port, "MASTER_PORT", 1, 65535);
  // In this case torchrun's own agent listens on MASTER_PORT.
  if (variables("TORCHELASTIC_USE_AGENT_STORE") == "True") number = number % 65535 + 1;
  place->rendezvous = {variables("MASTER_ADDR").value_or("127.0.0.1"),
                       static_cast<std::uint16_t>(number)};
  place->bootstrap = Bootstrap::rank_zero;
  return place;
}

std::optional<Place> open_mpi_place(const Variables& variables) {
  auto place = rank_and_size(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!place) return place;
  read_local(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", *place);
  if (place->size > 1) place->bootstrap = Bootstrap::mpi;
  return place;
}

std::optional<Place> pmi_place(const Variables& variables) {
  auto place = rank_and_size(variables, "PMI_RANK", "PMI_SIZE");
  if (!place) return place;
  // The variable names of MPICH and Intel MPI, and of other PMI servers.
  if (variables("MPI_LOCALRANKID"))
    read_local(variables, "MPI_LOCALRANKID", "MPI_LOCALNRANKS", *place);
  else
    read_local(variables, "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", *place);
  if (place->size > 1) place->bootstrap = Bootstrap::mpi;
  return place;
}

}  // namespace

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

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

void read_local(const Variables& variables, const std::string& rank_name,
                const std::string& size_name, Place& place) {
  if (const auto size = variables(size_name))
    place.local_size = static_cast<int>(parse_integer(*size, size_name, 1, place.size));
  if (const auto rank = variables(rank_name))
    place.local_rank = static_cast<int>(
        parse_integer(*rank, rank_name, 0, place.local_size.value_or(place.size) - 1));
}

Place find_place(const Variables& variables) {
  std::optional<Place> place;
  for (auto look : {lockstep_place, torchrun_place, open_mpi_place, pmi_place, slurm_place}) {
    place = look(variables);
    if (place) break;
  }
  if (!place) place.emplace();
  place->token = variables("LOCKSTEP_TOKEN").value_or("");
  place->transport = variables("LOCKSTEP_TRANSPORT").value_or("");
  place->interface = variables("LOCKSTEP_INTERFACE").value_or("");
  return *place;
}

int restarts_so_far(const Variables& variables) {
  constexpr int kMost = 1'000'000'000;
  const auto text = variables("LOCKSTEP_RESTART");
  return text ? static_cast<int>(parse_integer(*text, "LOCKSTEP_RESTART", 0, kMost)) : 0;
}

std::optional<int> elastic_workers(const Variables& variables) {
  const auto text = variables("LOCKSTEP_ELASTIC");
  if (!text) return std::nullopt;
  return static_cast<int>(parse_integer(*text, "LOCKSTEP_ELASTIC", 1, kMaxWorld));
}

std::map<std::string, std::string> variables_for(const Place& place) {
  std::map<std::string, std::string> variables{
      {"LOCKSTEP_RANK", std::to_string(place.rank)},
      {"LOCKSTEP_WORLD_SIZE", std::to_string(place.size)},
      {"LOCKSTEP_RENDEZVOUS", place.rendezvous.text()},
      {"RANK", std::to_string(place.rank)},
      {"WORLD_SIZE", std::to_string(place.size)},
  };
  auto set_local = [&](const std::string& name, std::optional<int> value) {
    if (!value) return;
    variables[name] = variables["LOCKSTEP_" + name] = std::to_string(*value);
  };
  set_local("LOCAL_RANK", place.local_rank);
  set_local("LOCAL_WORLD_SIZE", place.local_size);
  auto set_text = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) variables[name] = value;
  };
  set_text("LOCKSTEP_TOKEN", place.token);
  set_text("LOCKSTEP_RUN", place.run);
  set_text("LOCKSTEP_TRANSPORT", place.transport);
  set_text("LOCKSTEP_INTERFACE", place.interface);
  return variables;
}

}  // namespace lockstep::internal::launch
