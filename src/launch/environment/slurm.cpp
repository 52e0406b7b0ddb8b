#include "launch/environment/slurm.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lockstep::internal::launch {

namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();

/// The first of these that is set.
std::optional<std::string> first_set(const Variables& variables,
                                     std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (auto value = variables(name)) return value;
  return std::nullopt;
}

/// Whether this process is a batch script, or runs in one, rather than in a step of srun: Slurm
/// gives it rank 0 of the whole allocation although it is alone.
bool in_batch_script(const Variables& variables) {
  return variables("ENVIRONMENT") == "BATCH" &&
         !first_set(variables, {"SLURM_STEP_ID", "SLURM_STEPID", "SLURM_STEP_NUM_TASKS"});
}

bool names_one_host(const std::string& nodes) {
  return nodes.find_first_of(",[") == std::string::npos;
}

std::string master_host(const Variables& variables) {
  if (const auto given = variables("MASTER_ADDR")) return *given;
  const auto nodes =
      first_set(variables, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!nodes)
    throw UsageError(
        "SLURM_PROCID is set but SLURM_JOB_NODELIST is not: set MASTER_ADDR to rank "
        "0's host, or use srun");
  // On one host, no other host has to reach it.
  return names_one_host(*nodes) ? "127.0.0.1" : first_host(*nodes);
}

std::uint16_t master_port(const Variables& variables) {
  if (const auto given = variables("MASTER_PORT"))
    return static_cast<std::uint16_t>(parse_integer(*given, "MASTER_PORT", 1, 65535));
  const auto job = first_set(variables, {"SLURM_JOB_ID", "SLURM_JOBID"}).value_or("0");
  return static_cast<std::uint16_t>(29500 + parse_integer(job, "SLURM_JOB_ID", 0, kMany) % 1000);
}

void read_slurm_local(const Variables& variables, Place& place) {
  const auto tasks = first_set(variables, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  const auto node = variables("SLURM_NODEID");
  if (tasks && node)
    place.local_size =
        tasks_on_node(*tasks, static_cast<int>(parse_integer(*node, "SLURM_NODEID", 0, kMany)));
  if (place.local_size && *place.local_size > place.size) place.local_size.reset();
  if (const auto local = variables("SLURM_LOCALID"))
    place.local_rank = static_cast<int>(
        parse_integer(*local, "SLURM_LOCALID", 0, place.local_size.value_or(place.size) - 1));
}

}  // namespace

std::optional<Place> slurm_place(const Variables& variables) {
  if (!variables("SLURM_PROCID") || in_batch_script(variables)) return std::nullopt;
  const std::string size_name =
      variables("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  auto place = rank_and_size(variables, "SLURM_PROCID", size_name);
  read_slurm_local(variables, *place);
  if (place->size == 1) return place;
  place->rendezvous = {master_host(variables), master_port(variables)};
  place->bootstrap = Bootstrap::rank_zero;
  return place;
}

std::string first_host(const std::string& nodes) {
  auto refuse = [&]() -> UsageError {
    return UsageError(
        fmt::format("'{}' is not a list of nodes such as node[03-05,07],other2: set MASTER_ADDR to "
                    "rank 0's host",
                    nodes));
  };
  // In "a[b-c,d]e[f]g,h" only the first item of every bracket counts, up to a comma outside of
  // brackets.
  std::string host;
  for (std::size_t at = 0; at < nodes.size() && nodes[at] != ',';) {
    if (nodes[at] == ']') throw refuse();
    if (nodes[at] != '[') {
      host += nodes[at++];
      continue;
    }
    const std::size_t close = nodes.find(']', at);
    const std::size_t end = nodes.find_first_of("-,]", at);
    if (close == std::string::npos || end == at + 1) throw refuse();
    const std::string number = nodes.substr(at + 1, end - at - 1);
    if (number.find_first_not_of("0123456789") != std::string::npos) throw refuse();
    host += number;
    at = close + 1;
  }
  if (host.empty()) throw refuse();
  return host;
}

std::optional<int> tasks_on_node(const std::string& text, int index) {
  try {
    for (const std::string& part : split(text, ',')) {
      const std::size_t open = part.find("(x");
      int nodes = 1;
      if (open != std::string::npos) {
        if (part.back() != ')') return std::nullopt;
        nodes = static_cast<int>(
            parse_integer(part.substr(open + 2, part.size() - open - 3), "nodes", 1, kMany));
      }
      const auto tasks = parse_integer(part.substr(0, open), "tasks", 1, kMany);
      if (index < nodes) return static_cast<int>(tasks);
      index -= nodes;
    }
  } catch (const UsageError&) {
    // The value is only a hint: the run works without it.
  }
  return std::nullopt;
}

}  // namespace lockstep::internal::launch
