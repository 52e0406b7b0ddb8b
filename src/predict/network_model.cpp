#include "predict/network_model.h"

#include <lockstep/error.h>

#include "base/number.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::internal::predict {

namespace {

// TCP over Ethernet carries 1448 bytes of data in 1538 on the wire.
constexpr double kEthernetPayload = 1448.0 / 1538.0;
// Typical costs of adding and meeting on a current processor, if nothing was fitted.
constexpr double kAdded = 0.1e-9;
constexpr double kMeeting = 5e-6;
constexpr double kPeer = 1.5e-6;  // a short message through the kernel, sent and received
constexpr double kCopied = 0.1e-9;

NetworkModel over_wires(std::string name, double latency, double bits_per_second, double payload) {
  return {.name = std::move(name),
          .latency = latency,
          .per_byte = 8 / (bits_per_second * payload),
          .per_added = kAdded,
          .agreement = latency,
          .per_peer = kPeer,
          .meeting = kMeeting,
          .per_copied = kCopied};
}

/// Latencies are those between two programs: with TCP through one switch, with InfiniBand without
/// the kernel.
std::vector<NetworkModel> known_networks() {
  std::vector<NetworkModel> networks{
      over_wires("1gbit", 60e-6, 1e9, kEthernetPayload),
      over_wires("10gbit", 30e-6, 10e9, kEthernetPayload),
      over_wires("25gbit", 20e-6, 25e9, kEthernetPayload),
      over_wires("100gbit", 15e-6, 100e9, kEthernetPayload),
      over_wires("ib-hdr", 1.5e-6, 200e9, 0.97),
      over_wires("loopback", 30e-6, 16e9, 1),
  };
  networks.back().message_cores = 2;
  return networks;
}

struct Unit {
  std::string_view name;
  double factor;
};

/// Parses "20us". Throws UsageError unless it is a positive number with one of the units.
double parse_quantity(std::string_view text, std::string_view what, std::span<const Unit> units) {
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    names.emplace_back(unit.name);
    if (!text.ends_with(unit.name)) continue;
    const auto number = number_in<double>(text.substr(0, text.size() - unit.name.size()));
    if (!number) continue;
    if (!(*number > 0) || !std::isfinite(*number))
      throw UsageError(fmt::format("--network: {} is '{}': it must be more than 0", what, text));
    return *number * unit.factor;
  }
  throw UsageError(fmt::format("--network: {} is '{}', not a number with one of the units {}", what,
                               text, enumerate(names)));
}

double parse_seconds(std::string_view text, std::string_view what) {
  static constexpr Unit kUnits[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"ps", 1e-12}};
  return parse_quantity(text, what, kUnits);
}

double parse_seconds_of_byte(std::string_view text) {
  static constexpr Unit kUnits[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
  return 8 / parse_quantity(text, "bandwidth", kUnits);
}

/// Parses "alpha=20us,beta=0.8ns".
NetworkModel parse_own(std::string_view text) {
  NetworkModel network{.name = std::string(text),
                       .per_added = kAdded,
                       .per_peer = kPeer,
                       .meeting = kMeeting,
                       .per_copied = kCopied};
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    const auto fields = network_fields();
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const NetworkField& one) { return one.first == name; });
    if (name == "bandwidth")
      network.per_byte = parse_seconds_of_byte(value);
    else if (field != fields.end())
      network.*field->second = parse_seconds(value, name);
    else
      throw UsageError(
          fmt::format("--network has '{}': a custom network has alpha, beta or bandwidth, gamma, "
                      "agreement, peer, meeting and copy",
                      part));
  }
  if (network.latency == 0 || network.per_byte == 0)
    throw UsageError(fmt::format(
        "--network '{}' lacks alpha or beta: give both, as in alpha=20us,bandwidth=10gbit", text));
  if (network.agreement == 0) network.agreement = network.latency;
  return network;
}

}  // namespace

std::span<const NetworkField> network_fields() {
  static constexpr NetworkField kFields[] = {
      {"alpha", &NetworkModel::latency},   {"beta", &NetworkModel::per_byte},
      {"gamma", &NetworkModel::per_added}, {"agreement", &NetworkModel::agreement},
      {"peer", &NetworkModel::per_peer},   {"meeting", &NetworkModel::meeting},
      {"copy", &NetworkModel::per_copied}};
  return kFields;
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const NetworkModel& network : known_networks()) names.push_back(network.name);
  return names;
}

NetworkModel parse_network(std::string_view text) {
  for (const NetworkModel& network : known_networks())
    if (network.name == text) return network;
  if (text.find('=') != std::string_view::npos) return parse_own(text);
  throw UsageError(
      fmt::format("unknown network '{}': choose from {}, a transport fitted by `lockstep predict "
                  "--fit`, or a custom network: alpha=20us,bandwidth=10gbit",
                  text, enumerate(network_names())));
}

}  // namespace lockstep::internal::predict
