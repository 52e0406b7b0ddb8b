#include "launch/rendezvous/store_session.h"

#include <lockstep/error.h>

namespace lockstep::internal::launch {

namespace {

constexpr const char* kLostWithLauncher = "is lost with its launcher";

std::string make_answer(StoreStatus status, std::string_view value) {
  return std::string(1, static_cast<char>(status)).append(value);
}

}  // namespace

void StoreTable::note_ending(int rank, std::string how) {
  if (how.size() > kMaxHow) how.resize(kMaxHow);
  if (endings_.emplace(rank, std::move(how)).second) answer_waiting();
}

bool StoreTable::set(StoreSession& by, const StoreRequest& request) {
  const auto known = values_.find(request.key);
  const std::size_t bytes = request.key.size() + request.value.size();
  if (known != values_.end()) {
    by.answer(StoreStatus::already_set, known->second);
    return false;
  }
  if (values_.size() >= kMaxKeys || bytes > kMaxBytes - bytes_) {
    by.answer(StoreStatus::full, "");
    return false;
  }
  values_.emplace(request.key, request.value);
  bytes_ += bytes;
  by.answer(StoreStatus::ok, "");
  answer_waiting();
  return true;
}

void StoreTable::claim(StoreSession& by, const StoreRequest& request) {
  const auto known = values_.find(request.key);
  const bool taken_over =
      known != values_.end() && known->second == request.value && abandoned_.erase(request.key) > 0;
  if (taken_over) by.answer(StoreStatus::ok, known->second);
  if (taken_over || set(by, request)) by.claimed_.insert(request.key);
}

void StoreTable::look(StoreSession& by, const StoreRequest& request) const {
  const auto known = values_.find(request.key);
  if (known == values_.end()) return by.answer(StoreStatus::not_yet, "");
  by.answer(StoreStatus::ok, known->second);
}

std::optional<std::string> StoreTable::answer_to(const StoreRequest& request) const {
  const auto ending = endings_.find(request.rank);
  const bool ended = ending != endings_.end();
  if (request.kind == StoreRequest::Kind::ended && !ended)
    return make_answer(StoreStatus::not_yet, "");
  if (request.kind == StoreRequest::Kind::ending || request.kind == StoreRequest::Kind::ended)
    return ended ? std::optional(make_answer(StoreStatus::ok, ending->second)) : std::nullopt;
  const auto known = values_.find(request.key);
  if (known != values_.end()) return make_answer(StoreStatus::ok, known->second);
  if (ended) return make_answer(StoreStatus::owner_ended, ending->second);
  return std::nullopt;
}

void StoreTable::answer_waiting() {
  for (StoreSession* session : sessions_) {
    if (!session->waiting_) continue;
    const auto answer = answer_to(*session->waiting_);
    if (!answer) continue;
    session->waiting_.reset();
    session->send(*answer);
  }
}

StoreSession::StoreSession(StoreTable& table)
    : table_(table), place_(table.sessions_.insert(table.sessions_.end(), this)) {}

StoreSession::~StoreSession() {
  table_.sessions_.erase(place_);
  for (int rank : lost_on_disconnect_) table_.note_ending(rank, kLostWithLauncher);
  table_.abandoned_.merge(claimed_);
}

void StoreSession::feed(std::string_view bytes) {
  if (broken_) return;
  received_.append(bytes);
  try {
    while (!broken_) {
      const auto payload = take_frame(received_);
      if (!payload) return;
      handle(StoreRequest::decode(*payload));
    }
  } catch (const Error&) {
    broken_ = true;
  }
}

void StoreSession::handle(const StoreRequest& request) {
  if (waiting_) {
    broken_ = true;
    return;
  }
  switch (request.kind) {
    case StoreRequest::Kind::set:
      table_.set(*this, request);
      return;
    case StoreRequest::Kind::claim:
      return table_.claim(*this, request);
    case StoreRequest::Kind::report:
      table_.note_ending(request.rank, request.value);
      return answer(StoreStatus::ok, "");
    case StoreRequest::Kind::look:
      return table_.look(*this, request);
    case StoreRequest::Kind::lost_on_disconnect:
      lost_on_disconnect_.insert(request.rank);
      return answer(StoreStatus::ok, "");
    case StoreRequest::Kind::get:
    case StoreRequest::Kind::ending:
    case StoreRequest::Kind::ended:
      if (const auto known = table_.answer_to(request)) return send(*known);
      waiting_ = request;
  }
}

void StoreSession::answer(StoreStatus status, std::string_view value) {
  send(make_answer(status, value));
}

void StoreSession::send(std::string_view answer) {
  outgoing_ += make_frame(answer);
  if (outgoing_.size() > kMaxOutgoing) broken_ = true;
}

}  // namespace lockstep::internal::launch
