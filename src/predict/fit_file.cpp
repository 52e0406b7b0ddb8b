// Reads and writes fits.
#include <lockstep/error.h>

#include "base/files.h"
#include "predict/fit.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep::internal::predict {

namespace {

nlohmann::json to_json(const Measurement& one) {
  return {{"operation", comm::name_of(one.collective.operation)},
          {"algorithm", name_of(one.collective.algorithm)},
          {"bytes", one.collective.bytes},
          {"workers", one.world.size},
          {"per_host", one.world.per_host},
          {"seconds", one.seconds}};
}

Measurement measurement_from(const nlohmann::json& json) {
  return {{comm::parse_operation(json.at("operation").get<std::string>()),
           parse_algorithm(json.at("algorithm").get<std::string>()), json.at("bytes")},
          {json.at("workers"), json.at("per_host")},
          json.at("seconds")};
}

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& name) {
  return folder / (name + ".json");
}

}  // namespace

nlohmann::json to_json(const NetworkModel& network) {
  nlohmann::json json{{"name", network.name},
                      {"message_cores", network.message_cores},
                      {"cache", network.cache},
                      {"far", network.far}};
  for (const auto& [name, field] : network_fields()) json[name] = network.*field;
  return json;
}

NetworkModel network_from_json(const nlohmann::json& json, const std::string& source) {
  try {
    auto read = [&](const char* name) {
      const double number = json.at(name);
      if (number >= 0 && std::isfinite(number)) return number;
      throw FileError(fmt::format("{}: {} is {}, not a number of 0 or more: fit again", source,
                                  name, json.at(name).dump()));
    };
    const double message_cores = read("message_cores");
    if (message_cores != 0 && message_cores != 1 && message_cores != 2)
      throw FileError(
          fmt::format("{}: message_cores is {}, not 0, 1 or 2: fit again", source, message_cores));
    NetworkModel network{.name = json.at("name"),
                         .message_cores = static_cast<int>(message_cores),
                         .cache = read("cache"),
                         .far = read("far")};
    for (const auto& [name, field] : network_fields()) network.*field = read(name);
    return network;
  } catch (const nlohmann::json::exception& error) {
    throw FileError(fmt::format("{} was not written by `lockstep predict --fit` ({}): fit again",
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

}  // namespace lockstep::internal::predict
