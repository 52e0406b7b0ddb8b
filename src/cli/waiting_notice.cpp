#include "cli/waiting_notice.h"

#include <lockstep/error.h>

#include "base/text.h"
#include "launch/environment/environment.h"
#include "launch/rendezvous/store_client.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace lockstep::internal::cli {

namespace {

constexpr std::size_t kMostNames = 8;
/// With more ranks, only one rank per host prints.
constexpr int kMostThatAsk = 64;

/// The ranks that have not registered at the rendezvous yet, as a phrase.
std::string missing_ranks(const launch::Place& place) {
  const std::string where = place.rendezvous.text();
  std::vector<std::string> names;
  int missing = 0;
  try {
    launch::StoreClient store(place.rendezvous, place.token,
                              Deadline::after(std::chrono::seconds(2)), place.run);
    for (int rank = 0; rank < place.size; ++rank) {
      if (store.look(fmt::format("rank {}", rank))) continue;
      if (++missing <= static_cast<int>(kMostNames)) names.push_back(std::to_string(rank));
    }
  } catch (const Error&) {
    return fmt::format("the rendezvous at {}, which does not answer", where);
  }
  if (missing == 0) return "the other ranks to connect: all have reached the rendezvous";
  const std::string more = missing > static_cast<int>(kMostNames)
                               ? fmt::format(" and {} more", missing - static_cast<int>(kMostNames))
                               : "";
  return fmt::format("rank{} {}{} to reach the rendezvous at {}", missing == 1 ? "" : "s",
                     enumerate(names), more, where);
}

}  // namespace

WaitingNotice::WaitingNotice(std::string name) : name_(std::move(name)) {
  thread_ = Thread("waiting notice", [this] { print_notices(); });
}

WaitingNotice::~WaitingNotice() {
  Lock lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

void WaitingNotice::print_notices() {
  const launch::Place place = launch::find_place();
  // MPI connects its ranks itself.
  if (place.bootstrap != launch::Bootstrap::launcher &&
      place.bootstrap != launch::Bootstrap::rank_zero)
    return;
  // Requests of all ranks about all ranks would overload the rendezvous.
  if (place.size > kMostThatAsk && place.local_rank.value_or(0) != 0) return;
  for (std::chrono::seconds pause(5);; pause = std::chrono::seconds(30)) {
    {
      Lock lock(mutex_);
      if (changed_.wait_for(mutex_, pause, [&] { return done_; })) return;
    }
    const std::string text = fmt::format("{}: rank {} of {} waits for {}\n", name_, place.rank,
                                         place.size, missing_ranks(place));
    std::fputs(text.c_str(), stderr);
  }
}

}  // namespace lockstep::internal::cli
