#include "comm/fingerprint.h"

#include <lockstep/error.h>

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::internal::comm {

std::string_view name_of(Operation operation) {
  const auto number = static_cast<std::size_t>(operation);
  return number < kOperationNames.size() ? kOperationNames[number] : "unknown operation";
}

Operation parse_operation(std::string_view name) {
  std::vector<std::string> names;
  for (int i = 1; i <= static_cast<int>(Operation::barrier); ++i) {
    names.emplace_back(name_of(static_cast<Operation>(i)));
    if (names.back() == name) return static_cast<Operation>(i);
  }
  throw UsageError(fmt::format("unknown collective '{}': choose from {}", name, enumerate(names)));
}

std::string Fingerprint::text() const {
  if (operation == Operation::none) return "nothing yet";
  std::string text = fmt::format("{} #{}", name_of(operation), sequence);
  if (operation == Operation::barrier || operation == Operation::split) return text;
  text += fmt::format(" of {} {}", count, name_of(type));
  const bool reduces = operation == Operation::all_reduce || operation == Operation::reduce ||
                       operation == Operation::reduce_scatter;
  if (reduces) text += fmt::format(" ({}, {})", name_of(reduce), name_of(algorithm));
  if (root >= 0) text += fmt::format(" (root {})", root);
  if (bucket >= 0) text += fmt::format(" for bucket {} of stream {}", bucket, stream);
  return text;
}

void require_agreement(const std::vector<Fingerprint>& calls_by_rank) {
  auto differs = [&](const Fingerprint& other) { return other != calls_by_rank.front(); };
  if (std::none_of(calls_by_rank.begin(), calls_by_rank.end(), differs)) return;

  std::vector<std::string> calls;
  for (const Fingerprint& call : calls_by_rank) calls.push_back(call.text());
  throw MismatchError(fmt::format(
      "the ranks of a group called different operations: {}. All ranks must make the same calls, "
      "in the same order, with the same count, type and options",
      by_rank(calls, "called")));
}

}  // namespace lockstep::internal::comm
