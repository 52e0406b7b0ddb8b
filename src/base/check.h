// LOCKSTEP_CHECK guards an internal invariant. It is always on: if it fails, the run stops with an
// InternalError instead of continuing with wrong numbers. Errors that a user can make are not
// checked here but reported as an Error with a remedy.
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
