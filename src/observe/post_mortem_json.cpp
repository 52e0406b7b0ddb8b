#include "observe/post_mortem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lockstep::observe {

namespace {

using comm::FlightRecord;
using nlohmann::json;

/// When the last of the ranks that are known came to each collective, by group and sequence.
using Arrivals = std::map<std::pair<std::uint32_t, std::uint64_t>, double>;

Arrivals last_arrivals(const std::vector<LastMoments>& ranks) {
  Arrivals arrivals;
  for (const LastMoments& rank : ranks)
    for (const FlightRecord& record : rank.log.records)
      if (!record.is_message()) {
        double& last = arrivals[{record.group, record.sequence}];
        last = std::max(last, record.begin);
      }
  return arrivals;
}

std::string group_name(std::uint32_t mark) {
  return mark == comm::group_mark("world") ? "world" : fmt::format("{:08x}", mark);
}

/// To a tenth of a microsecond.
double rounded(double seconds) {
  return std::round(seconds * 1e7) / 1e7;
}

const char* outcome_of(const FlightRecord& record) {
  if (record.under_way()) return "unfinished";
  return record.failed ? "failed" : "ended";
}

json operation_json(const FlightRecord& record, double moment, const Arrivals& arrivals) {
  json operation{{"operation", record.name()},
                 {"group", group_name(record.group)},
                 {"bytes", record.bytes},
                 {"begin", rounded(record.begin - moment)},
                 {"outcome", outcome_of(record)}};
  if (!record.under_way()) operation["end"] = rounded(record.end - moment);
  if (record.step > 0) operation["step"] = record.step;
  if (record.bucket >= 0) operation["bucket"] = record.bucket;
  if (record.is_message()) {
    operation["peer"] = record.peer;
    return operation;
  }
  operation["sequence"] = record.sequence;
  if (record.algorithm != Algorithm::automatic) operation["algorithm"] = name_of(record.algorithm);
  const double came = arrivals.at({record.group, record.sequence});
  if (!record.under_way() && came > record.begin)
    operation["wait"] = rounded(std::min(came, record.end) - record.begin);
  return operation;
}

json rank_json(const LastMoments& rank, double moment, const Arrivals& arrivals) {
  json operations = json::array();
  for (const FlightRecord& record : rank.log.records)
    operations.push_back(operation_json(record, moment, arrivals));
  json object{{"rank", rank.rank()},
              {"step", rank.log.step},
              {"damaged", rank.log.damaged},
              {"waited_for", rank.waited_for},
              {"waited_seconds", rounded(rank.waited)},
              {"operations", std::move(operations)}};
  if (rank.within) object["within"] = in_words(*rank.within);
  if (!rank.outcome) return object;
  object.update({{"pid", rank.outcome->pid},
                 {"host", rank.outcome->host},
                 {"ending", rank.outcome->how()},
                 {"told_to_end", rank.outcome->told}});
  if (rank.outcome->when > 0) object["end"] = rounded(rank.outcome->when - moment);
  return object;
}

}  // namespace

json PostMortem::to_json() const {
  const Arrivals arrivals = last_arrivals(ranks);
  json list = json::array();
  for (const LastMoments& rank : ranks) list.push_back(rank_json(rank, moment, arrivals));
  return {{"format", 1},          {"cause", name_of(cause)}, {"culprits", culprits},
          {"verdict", verdict()}, {"elsewhere", elsewhere},  {"ranks", std::move(list)}};
}

}  // namespace lockstep::observe
