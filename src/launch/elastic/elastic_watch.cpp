#include "launch/elastic/elastic_watch.h"

#include <lockstep/error.h>

#include "launch/elastic/elastic_keys.h"

#include <utility>

namespace lockstep::internal::launch {

namespace {

constexpr std::chrono::seconds kTimeout(3);
constexpr std::chrono::seconds kBetweenRequests(1);
constexpr std::chrono::seconds kSilence(60);  // after this, the rendezvous counts as gone

}  // namespace

ElasticWatch::ElasticWatch(Address rendezvous, std::string token, std::string run, int began_with)
    : rendezvous_(std::move(rendezvous)),
      token_(std::move(token)),
      run_(std::move(run)),
      began_with_(began_with),
      next_look_(Deadline::after(kBetweenRequests)) {}

StoreClient& ElasticWatch::store() {
  if (!store_) store_.emplace(rendezvous_, token_, Deadline::after(kTimeout), run_);
  return *store_;
}

template <typename Question>
bool ElasticWatch::ask(const Question& question) {
  try {
    const bool answer = question();
    silence_.reset();
    return answer;
  } catch (const Error&) {
    store_.reset();
    if (!silence_) silence_ = Deadline::after(kSilence);
    return false;
  }
}

bool ElasticWatch::is_done() {
  return ask([&] { return store().look(kElasticDone).has_value(); });
}

bool ElasticWatch::is_over() {
  return is_done() || ask([&] { return store().look(kElasticEnd).has_value(); });
}

bool ElasticWatch::over_for(std::chrono::milliseconds overtime) {
  if (end_of_overtime_) return end_of_overtime_->passed();
  if (!next_look_.passed()) return false;
  next_look_ = Deadline::after(kBetweenRequests);
  if (is_over() || (silence_ && silence_->passed())) end_of_overtime_ = Deadline::after(overtime);
  return false;
}

bool ElasticWatch::others_go_on() {
  return !is_over() && ask([&] { return joined_go_on(); });
}

bool ElasticWatch::joined_go_on() {
  for (int i = 0; store().look(elastic_key("claimed", i)); ++i) {
    const int worker = began_with_ + i;
    if (store().look(elastic_key("admitted", worker)) && !store().ending_of(worker, {}))
      return true;
  }
  return false;
}

void ElasticWatch::ask_to_stop() {
  ask([&] {
    store().set_first(kElasticStop, "");
    return true;
  });
}

}  // namespace lockstep::internal::launch
