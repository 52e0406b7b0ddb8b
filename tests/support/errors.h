// Expectations on errors.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace lockstep::internal::testing {

/// Expects `call` to throw an E whose message has all `parts`.
template <typename E, typename Call>
void expect_error(const Call& call, std::initializer_list<std::string_view> parts) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const E& error) {
    const std::string_view message = error.what();
    for (std::string_view part : parts)
      EXPECT_NE(message.find(part), std::string_view::npos) << message << "\nlacks: " << part;
  }
}

}  // namespace lockstep::internal::testing
