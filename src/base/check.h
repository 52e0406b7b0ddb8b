// LOCKSTEP_CHECK guards an invariant of our own. It is always on: where it fails the run stops with
// an InternalError rather than with wrong numbers. What a user can get wrong is not checked here
// but answered with an Error that helps.
#pragma once

#include <lockstep/error.h>

#include <fmt/format.h>

#define LOCKSTEP_CHECK(condition, ...)                                                \
  do {                                                                                \
    if (!(condition)) [[unlikely]]                                                    \
      throw ::lockstep::InternalError(                                                \
          ::fmt::format("a bug in Lockstep, please report it: {} ({}, at {}:{})",     \
                        ::fmt::format(__VA_ARGS__), #condition, __FILE__, __LINE__)); \
  } while (false)
