#include "engine/engine.h"

#include <cstring>

namespace lockstep::internal::engine {

std::vector<std::byte> Engine::to_plain(std::size_t, const ArrayView& values) const {
  const auto* bytes = static_cast<const std::byte*>(values.data);
  return {bytes, bytes + values.bytes()};
}

bool Engine::from_plain(std::size_t, std::span<const std::byte> plain,
                        const ArrayView& values) const {
  if (plain.size() != values.bytes()) return false;
  std::memcpy(values.data, plain.data(), plain.size());
  return true;
}

}  // namespace lockstep::internal::engine
