#include "simulate/platform.h"

#include <string>

namespace lockstep::internal::simulate {

namespace sg4 = simgrid::s4u;

namespace {

constexpr double kSpeed = 1e9;  // irrelevant: steps have their times
/// Ranks add α themselves, for any distance: the delay of a switch is small compared with that of
/// the two ends.
constexpr double kNoLatency = 0;

std::string host_name(unsigned long number) {
  return "host-" + std::to_string(number);
}

/// The link between ranks of one host: memory, without contention.
sg4::Link* memory_of(sg4::NetZone* zone, unsigned long host, const Request& request) {
  const double per_byte = request.per_copied > 0 ? request.per_copied : 1e-12;
  return zone->create_link("memory-" + std::to_string(host), 1 / per_byte)
      ->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)
      ->seal();
}

double bandwidth_of(unsigned long host, const Request& request) {
  return 1 / (request.per_byte * (host == 0 ? request.slow_link : 1));
}

std::vector<sg4::Host*> one_switch(const Request& request, unsigned long count) {
  sg4::NetZone* zone = sg4::create_star_zone("switch");
  std::vector<sg4::Host*> hosts;
  for (unsigned long i = 0; i < count; ++i) {
    sg4::Host* host = zone->create_host(host_name(i), kSpeed)->seal();
    sg4::Link* link =
        zone->create_split_duplex_link("link-" + std::to_string(i), bandwidth_of(i, request))
            ->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, sg4::LinkInRoute::Direction::UP}}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {{memory_of(zone, i, request), sg4::LinkInRoute::Direction::NONE}}, true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// Callbacks for SimGrid's cluster topologies. The limiter is a host's own link: the first host's
/// may be slow.
sg4::ClusterCallbacks callbacks(const Request& request, std::vector<sg4::Host*>& hosts) {
  return {
      [&hosts](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id)
          -> std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*> {
        sg4::Host* host = zone->create_host(host_name(id), kSpeed)->seal();
        hosts.push_back(host);
        return {host->get_netpoint(), nullptr};
      },
      [&request](sg4::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
        return memory_of(zone, id, request);
      },
      {}};
}

unsigned int rounded_up(unsigned long count, unsigned long unit) {
  return static_cast<unsigned int>((count + unit - 1) / unit);
}

std::vector<sg4::Host*> fat_tree(const Request& request, unsigned long count) {
  std::vector<sg4::Host*> hosts;
  const unsigned int switches = rounded_up(count, kHostsOfSwitch);
  sg4::create_fatTree_zone("fat-tree", nullptr,
                           {2, {kHostsOfSwitch, switches}, {1, kHostsOfSwitch}, {1, 1}},
                           callbacks(request, hosts), 1 / request.per_byte, kNoLatency,
                           sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return hosts;
}

std::vector<sg4::Host*> dragonfly(const Request& request, unsigned long count) {
  std::vector<sg4::Host*> hosts;
  const unsigned int groups = rounded_up(count, kHostsOfGroup);
  sg4::create_dragonfly_zone("dragonfly", nullptr, {{groups, 1}, {4, 1}, {4, 1}, 4},
                             callbacks(request, hosts), 1 / request.per_byte, kNoLatency,
                             sg4::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return hosts;
}

}  // namespace

std::vector<sg4::Host*> build_platform(const Request& request) {
  const unsigned long count = request.ranks / request.per_host;
  switch (request.topology) {
    case Topology::fat_tree:
      return fat_tree(request, count);
    case Topology::dragonfly:
      return dragonfly(request, count);
    default:
      return one_switch(request, count);
  }
}

}  // namespace lockstep::internal::simulate
