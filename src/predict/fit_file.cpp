// Fits as files.
#include <lockstep/error.h>

#include "base/files.h"
#include "predict/fit.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::predict {

namespace {

constexpr comm::Operation kOperations[] = {
    comm::Operation::all_reduce, comm::Operation::barrier,        comm::Operation::broadcast,
    comm::Operation::reduce,     comm::Operation::reduce_scatter, comm::Operation::all_gather,
    comm::Operation::gather,     comm::Operation::scatter};

comm::Operation parse_operation(const std::string& name) {
  for (comm::Operation operation : kOperations)
    if (comm::name_of(operation) == name) return operation;
  throw UsageError(fmt::format("there is no operation '{}'", name));
}

nlohmann::json to_json(const Measurement& one) {
  return {{"operation", comm::name_of(one.collective.operation)},
          {"algorithm", name_of(one.collective.algorithm)},
          {"bytes", one.collective.bytes},
          {"workers", one.world.size},
          {"per_host", one.world.per_host},
          {"seconds", one.seconds}};
}

Measurement measurement_from(const nlohmann::json& json) {
  return {{parse_operation(json.at("operation")),
           parse_algorithm(json.at("algorithm").get<std::string>()), json.at("bytes")},
          {json.at("workers"), json.at("per_host")},
          json.at("seconds")};
}

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& name) {
  return folder / (name + ".json");
}

}  // namespace

nlohmann::json to_json(const Network& network) {
  nlohmann::json json{{"name", network.name}, {"by_cores", network.by_cores}};
  for (const auto& [name, field] : network_fields()) json[name] = network.*field;
  return json;
}

Network network_from_json(const nlohmann::json& json, const std::string& source) {
  try {
    Network network{.name = json.at("name"), .by_cores = json.at("by_cores")};
    for (const auto& [name, field] : network_fields()) {
      network.*field = json.at(name);
      if (!(network.*field >= 0 && std::isfinite(network.*field)))
        throw FileError(fmt::format("{}: {} is {}, not seconds: fit again", source, name,
                                    json.at(name).dump()));
    }
    return network;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("{} is not what `lockstep predict --fit` writes ({}): fit again",
                                source, error.what()));
  }
}

void save_fit(const std::filesystem::path& folder, const Fit& fit) {
  nlohmann::json json{{"network", to_json(fit.network)}, {"cores", fit.cores}};
  for (const Measurement& one : fit.measurements) json["measurements"].push_back(to_json(one));
  std::filesystem::create_directories(folder);
  write_file(file_of(folder, fit.network.name), json.dump(2) + "\n");
}

std::optional<Fit> load_fit(const std::filesystem::path& folder, const std::string& name) {
  const std::filesystem::path file = file_of(folder, name);
  if (folder.empty() || !std::filesystem::exists(file)) return std::nullopt;
  const auto json = nlohmann::json::parse(read_file(file), nullptr, false);
  Fit fit;
  try {
    fit.network = network_from_json(json.at("network"), file);
    fit.cores = json.at("cores");
    if (fit.cores < 0) throw FileError(fmt::format("{} cores", fit.cores));
    for (const auto& one : json.at("measurements"))
      fit.measurements.push_back(measurement_from(one));
  } catch (const std::exception& error) {
    throw FileError(fmt::format("{} is damaged ({}): fit again with `lockstep predict --fit {}`",
                                file.string(), error.what(), name));
  }
  return fit;
}

}  // namespace lockstep::predict
