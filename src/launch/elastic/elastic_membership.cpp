#include "launch/elastic/elastic_membership.h"

#include "base/first_difference.h"
#include "base/sleep.h"
#include "base/text.h"
#include "comm/group_core.h"
#include "launch/elastic/elastic_keys.h"
#include "launch/process/flight_recorders.h"
#include "launch/rendezvous/join_run.h"
#include "launch/rendezvous/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lockstep::internal::launch {

namespace {

/// The name under which require_like_first() compares the lines of request.h.
constexpr const char* kRequest = "program, options and environment";
constexpr std::chrono::milliseconds kBetweenLooks(10);
constexpr std::chrono::milliseconds kBetweenLooksForNew(1000);

int require_elastic_workers() {
  const auto workers = elastic_workers();
  if (!workers)
    throw UsageError(
        "the launcher of this worker ends the run when a worker is lost: pass --elastic to "
        "lockstep launch too");
  return *workers;
}

int number_of_this_worker() {
  return find_place().rank;
}

}  // namespace

ElasticMembership::ElasticMembership(const MembershipOptions& options)
    : options_(options),
      number_(number_of_this_worker()),
      began_with_(require_elastic_workers()),
      next_look_(Deadline::after(kBetweenLooksForNew)),
      next_stop_look_(Deadline::after(kBetweenLooksForNew)) {
  const Deadline deadline = Deadline::after(options.group.rendezvous_timeout);
  Joined joined = join_elastic_run(options.group, deadline);
  store_ = std::move(joined.client);
  run_ = std::move(joined.run);
  transport_ = joined.transport;
  store_->set_first(kElasticWorkers, std::to_string(began_with_));
  if (joins())
    require_like_first(kRequest, joined.request);
  else  // first() compares the requests
    first_lines(kRequest, joined.request);
  comm::use_flight_recorder(own_flight_memory());
}

Group ElasticMembership::first(const std::function<bool()>& stop_asked) {
  if (!joins()) {
    require_same_requests(*store_, number_, began_with_, /*elastic=*/true,
                          Deadline::after(options_.group.rendezvous_timeout));
    members_.resize(static_cast<std::size_t>(began_with_));
    std::iota(members_.begin(), members_.end(), 0);
    return make(options_.group.rendezvous_timeout);
  }
  const std::string admitted = wait_for_admission(stop_asked);
  const std::size_t space = admitted.find(' ');
  changes_ = static_cast<int>(parse_integer(admitted.substr(0, space), "a change", 1, 1 << 30));
  take_members(admitted.substr(space + 1));
  return make(options_.group.timeout);
}

std::string ElasticMembership::wait_for_admission(const std::function<bool()>& stop_asked) {
  try {
    return admission(stop_asked);
  } catch (const TimeoutError& error) {  // not a late worker: there is no group yet
    throw RendezvousLostError(fmt::format(
        "rank {}, which waited to join, has lost the rendezvous: {}", number_, error.what()));
  }
}

std::string ElasticMembership::admission(const std::function<bool()>& stop_asked) {
  store_->set(elastic_key("ready", number_), "");
  for (;; sleep_for(10 * kBetweenLooks)) {
    if (stop_asked && stop_asked())
      throw GaveUpError(fmt::format("rank {} was asked to stop while it waited to join", number_));
    std::optional<std::string> admitted;
    try {
      admitted = store_->look(elastic_key("admitted", number_));
    } catch (const Error& error) {
      throw Error(fmt::format("the run has probably ended while rank {} waited to join: {}",
                              number_, error.what()));
    }
    if (admitted) return *admitted;
    throw_if_run_ended();
  }
}

Group ElasticMembership::again(int suspect) {
  try {
    agree_on_change(suspect);
  } catch (const TimeoutError& error) {  // not a late worker: the rendezvous did not answer
    throw RendezvousLostError(
        fmt::format("rank {} has lost the rendezvous: {}", number_, error.what()));
  }
  if (std::find(members_.begin(), members_.end(), number_) == members_.end())
    throw LeftBehindError(fmt::format(
        "the other workers continued without rank {}, which arrived too late: workers {} remain",
        number_, fmt::join(members_, ", ")));
  if (members_.size() < options_.least)
    throw TooFewError(fmt::format("{}: {} worker{} left, and the run needs at least {}", change_,
                                  members_.size(), members_.size() == 1 ? " is" : "s are",
                                  options_.least));
  return make(options_.group.timeout);
}

void ElasticMembership::agree_on_change(int suspect) {
  ++changes_;
  const std::vector<int> before = members_;
  decide(suspect);
  admit_new(before);
  describe_change(before);
}

void ElasticMembership::decide(int suspect) {
  const std::string present = fmt::format("{}/present", changes_);
  store_->set(elastic_key(present, number_), "");
  std::set<int> here{number_};
  std::set<int> awaited(members_.begin(), members_.end());
  awaited.erase(number_);
  const Deadline soon = Deadline::after(options_.reply_timeout);
  // A worker that computes, or waits for another one, arrives when that is over.
  const Deadline late = Deadline::after(options_.group.timeout + options_.reply_timeout);
  const std::string decision = fmt::format("elastic/{}/members", changes_);
  for (;; sleep_for(kBetweenLooks)) {
    throw_if_run_ended();
    if (const auto members = store_->look(decision)) return take_members(*members);
    std::erase_if(awaited, [&](int worker) {
      if (store_->ending_of(worker, {})) return true;
      if (store_->look(elastic_key(present, worker))) return here.insert(worker).second;
      return (worker == suspect ? soon : late).passed();
    });
    if (awaited.empty()) return take_members(store_->set_first(decision, proposal(here)));
  }
}

std::string ElasticMembership::proposal(const std::set<int>& present) {
  std::set<int> members = present;
  for (int worker : candidates())
    if (members.size() < options_.most) members.insert(worker);
  return fmt::format("{}", fmt::join(members, " "));
}

/// The workers that asked to join and were not admitted yet.
std::vector<int> ElasticMembership::candidates() {
  std::vector<int> waiting;
  for (int i = 0; store_->look(elastic_key("claimed", i)); ++i) {
    const int worker = began_with_ + i;
    if (store_->look(elastic_key("ready", worker)) &&
        !store_->look(elastic_key("admitted", worker)) && !store_->ending_of(worker, {}))
      waiting.push_back(worker);
  }
  return waiting;
}

void ElasticMembership::throw_if_run_ended() {
  if (store_->look(kElasticDone)) throw RunDoneError("the run has ended");
  if (const auto why = store_->look(kElasticEnd))
    throw Error(fmt::format("another worker ended the run: {}", *why));
}

void ElasticMembership::take_members(const std::string& text) {
  members_.clear();
  for (const std::string& word : split(text, ' '))
    members_.push_back(static_cast<int>(parse_integer(word, "a member", 0, kMaxRank)));
}

/// All members announce it: the one that decided may be lost meanwhile.
void ElasticMembership::admit_new(const std::vector<int>& before) {
  for (int worker : members_)
    if (std::find(before.begin(), before.end(), worker) == before.end())
      store_->set_first(elastic_key("admitted", worker),
                        fmt::format("{} {}", changes_, fmt::join(members_, " ")));
}

void ElasticMembership::describe_change(const std::vector<int>& before) {
  std::vector<std::string> texts;
  auto is_in = [](const std::vector<int>& group, int worker) {
    return std::find(group.begin(), group.end(), worker) != group.end();
  };
  for (int worker : before)
    if (!is_in(members_, worker))
      texts.push_back(
          fmt::format("rank {} {}", worker, store_->ending_of(worker, {}).value_or("is lost")));
  for (int worker : members_)
    if (!is_in(before, worker)) texts.push_back(fmt::format("rank {} has joined", worker));
  change_ = fmt::format("{}", fmt::join(texts, ", "));
}

Group ElasticMembership::make(std::chrono::milliseconds timeout) {
  const auto mine = std::find(members_.begin(), members_.end(), number_);
  // The labels of its members are their worker numbers, which never change.
  const comm::Membership membership{fmt::format("elastic {}", changes_),
                                    static_cast<int>(mine - members_.begin()), members_, members_};
  const Deadline deadline = Deadline::after(timeout);
  return comm::make_group(
      members_.size() == 1
          ? make_alone(membership, deadline)
          : comm::make_transport(transport_, comm::Network::gloo, run_, membership, deadline),
      options_.group, comm::flight_recorder());
}

bool ElasticMembership::someone_waits() {
  if (!next_look_.passed()) return false;
  next_look_ = Deadline::after(kBetweenLooksForNew);
  return members_.size() < options_.most && !candidates().empty();
}

bool ElasticMembership::stop_asked() {
  if (!next_stop_look_.passed()) return false;
  next_stop_look_ = Deadline::after(kBetweenLooksForNew);
  try {
    return store_->look(kElasticStop).has_value();
  } catch (const TimeoutError& error) {  // every further attempt would take as long
    throw RendezvousLostError(
        fmt::format("rank {} has lost the rendezvous: {}", number_, error.what()));
  } catch (const Error&) {
    return false;  // a lost rendezvous matters only when it is needed
  }
}

std::string ElasticMembership::agree_on(const std::string& name, const std::string& text) {
  return store_->set_first("elastic/agreed/" + name, text);
}

/// The lines that the first worker set under this name, possibly this one, and its number.
std::pair<int, std::vector<std::string>> ElasticMembership::first_lines(
    const std::string& name, const std::vector<std::string>& lines) {
  std::vector<std::string> agreed =
      split(agree_on(name, fmt::format("{}\n{}", number_, fmt::join(lines, "\n"))), '\n');
  const auto number =
      static_cast<int>(parse_integer(agreed.front(), "the first worker", 0, kMaxRank));
  agreed.erase(agreed.begin());
  return {number, std::move(agreed)};
}

void ElasticMembership::require_like_first(const std::string& name,
                                           const std::vector<std::string>& lines) {
  auto [first, its] = first_lines(name, lines);
  std::vector<std::optional<std::vector<std::string>>> by_number(
      static_cast<std::size_t>(std::max(first, number_)) + 1);
  by_number[static_cast<std::size_t>(first)] = std::move(its);
  by_number[static_cast<std::size_t>(number_)] = lines;
  const std::string difference = first_difference(by_number);
  if (difference.empty()) return;
  const std::string why = fmt::format("{}: start all workers with the same {}", difference, name);
  if (joins()) throw UsageError(why);
  end(why);
  throw MismatchError(why);
}

void ElasticMembership::done() {
  store_->set_first(kElasticDone, "");
}

void ElasticMembership::end(const std::string& why) {
  store_->set_first(kElasticEnd, why.substr(0, kMaxKey));
}

}  // namespace lockstep::internal::launch
