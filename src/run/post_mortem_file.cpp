#include "run/post_mortem_file.h"

#include "run/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lockstep::internal::run {

namespace {

using comm::FlightRecord;
using nlohmann::json;
using observe::FinalState;

constexpr std::size_t kMostRanks = 1 << 16;

/// When the last known rank arrived at each collective, by group and sequence number.
using Arrivals = std::map<std::pair<std::uint32_t, std::uint64_t>, double>;

Arrivals last_arrivals(const std::vector<FinalState>& ranks) {
  Arrivals arrivals;
  for (const FinalState& rank : ranks)
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

/// Rounds to 0.1 µs.
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
  const double arrived = arrivals.at({record.group, record.sequence});
  if (!record.under_way() && arrived > record.begin)
    operation["wait"] = rounded(std::min(arrived, record.end) - record.begin);
  return operation;
}

json rank_json(const FinalState& rank, double moment, const Arrivals& arrivals) {
  json operations = json::array();
  for (const FlightRecord& record : rank.log.records)
    operations.push_back(operation_json(record, moment, arrivals));
  json object{{"rank", rank.rank()},
              {"step", rank.log.step},
              {"damaged", rank.log.damaged},
              {"waited_for", rank.waited_for},
              {"waited_seconds", rounded(rank.waited)},
              {"operations", std::move(operations)}};
  if (rank.within) object["within"] = observe::in_words(*rank.within);
  if (!rank.outcome) return object;
  object.update({{"pid", rank.outcome->pid},
                 {"host", rank.outcome->host},
                 {"ending", rank.outcome->how()},
                 {"told_to_end", rank.outcome->told}});
  if (rank.outcome->when > 0) object["end"] = rounded(rank.outcome->when - moment);
  return object;
}

std::optional<std::size_t> optional_count(const Fields& fields, const char* name) {
  if (!fields.json().contains(name)) return std::nullopt;
  return fields.count(name);
}

LastOperation last_operation(const Fields& fields) {
  LastOperation operation;
  operation.name = fields.text("operation");
  operation.outcome = fields.text("outcome");
  operation.algorithm = fields.text("algorithm");
  operation.begin = fields.number("begin").value_or(0);
  operation.end = fields.number("end");
  operation.bytes = fields.number("bytes").value_or(0);
  operation.wait = fields.number("wait").value_or(0);
  operation.sequence = fields.count("sequence");
  operation.peer = optional_count(fields, "peer");
  operation.bucket = optional_count(fields, "bucket");
  operation.step = optional_count(fields, "step");
  return operation;
}

RankEnd rank_end(const Fields& fields) {
  RankEnd rank;
  rank.rank = fields.count("rank");
  if (rank.rank >= kMostRanks) fields.fail("rank", "a rank");
  rank.ending = fields.text("ending");
  rank.within = fields.text("within");
  rank.step = fields.count("step");
  const json waited_for = fields.json().value("waited_for", json::array());
  if (!waited_for.is_array() || waited_for.size() > kMostRanks)
    fields.fail("waited_for", "a list of ranks");
  for (const json& other : waited_for) {
    if (!other.is_number_integer()) fields.fail("waited_for", "a list of ranks");
    rank.waited_for.push_back(other.get<std::int64_t>());
  }
  rank.waited = fields.number("waited_seconds");
  rank.end = fields.number("end");
  for (const Fields& operation : fields.list("operations"))
    rank.operations.push_back(last_operation(operation));
  return rank;
}

}  // namespace

json to_json(const observe::PostMortem& found) {
  const Arrivals arrivals = last_arrivals(found.ranks);
  json list = json::array();
  for (const FinalState& rank : found.ranks)
    list.push_back(rank_json(rank, found.moment, arrivals));
  return {
      {"format", kFormat},          {"cause", name_of(found.cause)}, {"culprits", found.culprits},
      {"verdict", found.verdict()}, {"elsewhere", found.elsewhere},  {"ranks", std::move(list)}};
}

PostMortemRecord read_post_mortem_file(const std::filesystem::path& file) {
  const Fields fields = read_fields(file);
  const std::vector<Fields> ranks = fields.list("ranks");
  if (ranks.size() > kMostRanks) fields.fail("ranks", "a list of at most 65536 ranks");
  PostMortemRecord record{.verdict = fields.texts("verdict"), .ranks = {}};
  for (const Fields& rank : ranks) record.ranks.push_back(rank_end(rank));
  return record;
}

}  // namespace lockstep::internal::run
