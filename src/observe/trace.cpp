#include "observe/trace.h"

#include "base/pages.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace lockstep::internal::observe {

namespace {

static_assert(std::is_trivially_copyable_v<TraceEvent>);
constexpr std::size_t kNameBytes = 1 << 20, kNames = 4096;

}  // namespace

Trace::Trace(std::size_t capacity)
    : event_pages_(map_pages(capacity * sizeof(TraceEvent))),
      name_pages_(map_pages(kNameBytes)),
      room_(reinterpret_cast<TraceEvent*>(event_pages_.get()),
            event_pages_ && name_pages_ ? capacity : 0) {
  names_.reserve(kNames);
}

void Trace::add(TraceEvent event) {
  Lock lock(mutex_);
  const std::size_t place = count_++;
  if (place >= room_.size()) return;
  event.name = own(event.name);
  new (&room_[place]) TraceEvent(event);
}

std::string_view Trace::own(std::string_view name) {
  const auto place = std::lower_bound(names_.begin(), names_.end(), name);
  if (place != names_.end() && *place == name) return *place;
  if (name_bytes_ + name.size() > kNameBytes || names_.size() == kNames) return "(another)";
  auto* text = reinterpret_cast<char*>(name_pages_.get()) + name_bytes_;
  if (!name.empty()) std::memcpy(text, name.data(), name.size());
  name_bytes_ += name.size();
  return *names_.insert(place, {text, name.size()});
}

std::vector<TraceEvent> Trace::events() const {
  Lock lock(mutex_);
  return {room_.begin(),
          room_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, room_.size()))};
}

std::size_t Trace::left_out() const {
  Lock lock(mutex_);
  return count_ - std::min(count_, room_.size());
}

}  // namespace lockstep::internal::observe
