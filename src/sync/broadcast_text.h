// Broadcasts a text of any length.
#pragma once

#include <lockstep/group.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::internal::sync {

/// Replaces `text` on every rank by root's. A collective.
inline void broadcast_text(Group& group, std::string& text, int root = 0) {
  std::vector<std::int64_t> length{static_cast<std::int64_t>(text.size())};
  group.broadcast(length, root);
  text.resize(static_cast<std::size_t>(length[0]));
  group.broadcast(ArrayView(text.data(), text.size(), DataType::uint8), root);
}

}  // namespace lockstep::internal::sync
