#include "launch/nodes/node_message.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

namespace lockstep::internal::launch {

namespace {

constexpr int kMaxNodes = 1 << 16;
constexpr std::size_t kMaxText = 4096;

/// Takes a number and the following space off the front.
int take_number(std::string_view& payload, int highest) {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) throw Error("a launcher's message that is too short");
  const auto number = parse_integer(payload.substr(0, space), "a launcher's message", 0, highest);
  payload.remove_prefix(space + 1);
  return static_cast<int>(number);
}

}  // namespace

std::string NodeMessage::encode() const {
  return fmt::format("{} {} {} {} {}", static_cast<int>(kind), failure.node, failure.code,
                     failure.likely_cause ? 1 : 0, failure.text.substr(0, kMaxText));
}

NodeMessage NodeMessage::decode(std::string_view payload) {
  NodeMessage message;
  message.kind = static_cast<Kind>(take_number(payload, static_cast<int>(Kind::end)));
  message.failure.node = take_number(payload, kMaxNodes);
  message.failure.code = take_number(payload, 255);
  message.failure.likely_cause = take_number(payload, 1) == 1;
  message.failure.text = payload.substr(0, kMaxText);
  return message;
}

}  // namespace lockstep::internal::launch
