#include "launch/rendezvous/request.h"

#include <lockstep/error.h>

#include "base/first_difference.h"
#include "base/hash/quick_hash.h"
#include "base/text.h"
#include "base/version.h"
#include "comm/auto_table.h"
#include "launch/rendezvous/store_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace lockstep::internal::launch {

namespace {

using Request = std::vector<std::string>;

constexpr const char* kArrival = "all ranks' arrival";
/// The first line published by a rank that cannot join; the reason follows.
constexpr const char* kFailed = "cannot join";
/// How long to wait for ranks that may not arrive, when others have a difference to report.
constexpr std::chrono::seconds kForTheRest(3);
/// Limit on the message, because the list of ranks may be long.
constexpr std::size_t kLongestResult = 4096;

std::string request_key(int rank) {
  return fmt::format("request/{}", rank);
}

std::string heard_key(int rank) {
  return fmt::format("heard/{}", rank);
}

std::string table_line() {
  const std::string table = comm::format_auto_table(comm::auto_table());
  return fmt::format("algorithms by a table (LOCKSTEP_AUTO_TABLE) of checksum {:016x}",
                     quick_hash(std::as_bytes(std::span(table))));
}

std::string name_failure(int rank, const std::string& why) {
  return fmt::format("rank {} cannot join the run: {}", rank, why);
}

/// A rank's request. Throws PeerLostError if it cannot join.
Request request_of(comm::Store& store, int rank, const Deadline& deadline) {
  Request request = split(store.get(request_key(rank), deadline, rank), '\n');
  if (request.front() != kFailed) return request;
  const std::string why = fmt::format("{}", fmt::join(request.begin() + 1, request.end(), "\n"));
  throw PeerLostError(rank, name_failure(rank, why));
}

/// The requests of all ranks. Once two differ, the rest is waited for only a moment.
std::vector<std::optional<Request>> all_requests(comm::Store& store, int workers, bool elastic,
                                                 const Deadline& deadline) {
  std::vector<std::optional<Request>> requests;
  std::optional<Deadline> soon;
  for (int rank = 0; rank < workers; ++rank) {
    requests.emplace_back();
    try {
      requests.back() = request_of(store, rank, soon ? *soon : deadline);
    } catch (const PeerLostError&) {
      if (!elastic && !soon) throw;
    } catch (const TimeoutError& late) {
      if (!soon) throw TimeoutError(late.what(), rank);
    }
    if (!soon && requests.back() && *requests.back() != requests.front())
      soon = Deadline::after(kForTheRest);
  }
  return requests;
}

std::string result_of_lost(int rank, const std::string& how) {
  return fmt::format("{} {}", rank, how);
}

/// The result that rank 0 publishes: empty if all requests are the same, else −1 and the
/// difference, or the rank that has ended and how.
std::string compare_all(comm::Store& store, int workers, bool elastic, const Deadline& deadline) {
  std::string result;
  try {
    result = first_difference(all_requests(store, workers, elastic, deadline));
    if (!result.empty()) result = "-1 " + result;
  } catch (const PeerLostError& lost) {
    result = result_of_lost(lost.rank(), lost.what());
  }
  return result.substr(0, kLongestResult);
}

[[noreturn]] void throw_result(const std::string& result) {
  const std::size_t space = result.find(' ');
  const std::string text = result.substr(std::min(space, result.size() - 1) + 1);
  const auto lost =
      static_cast<int>(parse_integer(result.substr(0, space), "rank 0's result", -1, kMaxRank));
  if (lost >= 0) throw PeerLostError(lost, text);
  throw MismatchError(
      fmt::format("the ranks of this run were started differently: {}. Give all of them the same "
                  "program, options and environment",
                  text));
}

/// Rank 0 checks only the ranks of its own world: ranks beyond it compare themselves with rank 0.
std::string compare_with_first(comm::Store& store, int rank, const Deadline& deadline) {
  std::vector<std::optional<Request>> requests(static_cast<std::size_t>(rank) + 1);
  requests.front() = request_of(store, 0, deadline);
  requests.back() = request_of(store, rank, deadline);
  const std::string difference = first_difference(requests);
  return difference.empty() ? "" : "-1 " + difference;
}

/// Rank 0 may serve the rendezvous, so it stays until all ranks have read the result.
void wait_until_heard(comm::Store& store, int workers) {
  const Deadline soon = Deadline::after(kForTheRest);
  for (int rank = 1; rank < workers; ++rank) {
    try {
      store.get(heard_key(rank), soon, rank);
    } catch (const Error&) {
      // The rank has ended or never arrived.
    }
  }
}

}  // namespace

std::vector<std::string> make_request(int workers, bool elastic, const std::string& transport) {
  return {fmt::format("Lockstep {} with sources {}", version(), source_digest()),
          fmt::format("a world of {} ranks", workers),
          elastic ? "a group that may change (--elastic)" : "a fixed group",
          fmt::format("transport {}", transport), table_line()};
}

void publish_request(comm::Store& store, int rank, const std::vector<std::string>& request) {
  store.set(request_key(rank), fmt::format("{}", fmt::join(request, "\n")));
}

void publish_failure(comm::Store& store, int rank, int workers, const std::string& why) {
  const std::string reason = why.substr(0, kLongestResult);
  publish_request(store, rank, {kFailed, reason});
  if (rank > 0) return store.set(heard_key(rank), "");
  store.set(kArrival, result_of_lost(rank, name_failure(rank, reason)));
  wait_until_heard(store, workers);
}

void require_same_requests(comm::Store& store, int rank, int workers, bool elastic,
                           const Deadline& deadline) {
  std::string result;
  if (rank == 0) {
    result = compare_all(store, workers, elastic, deadline);
    store.set(kArrival, result);
  } else {
    try {
      result = store.get(kArrival, deadline, 0);
    } catch (const PeerLostError&) {
      if (!elastic) throw;
    }
  }
  if (result.empty() && rank > 0 && !elastic) result = compare_with_first(store, rank, deadline);
  if (result.empty()) return;
  if (rank == 0)
    wait_until_heard(store, workers);
  else
    store.set(heard_key(rank), "");
  throw_result(result);
}

}  // namespace lockstep::internal::launch
