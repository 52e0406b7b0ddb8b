#include "launch/process/outcome.h"

#include <fmt/format.h>

#include <cstring>

namespace lockstep::internal::launch {

std::string Outcome::how() const {
  if (signal != 0) return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
  if (unknown)
    return "ended with unknown status: another part of this program collected its exit "
           "code";
  return fmt::format("exited with code {}", exit_code);
}

std::string Outcome::text() const {
  const std::string where = host.empty() ? "" : " on " + host;
  return fmt::format("rank {} (pid {}{}) {}", rank, pid, where, how());
}

int JobResult::code() const {
  if (interrupted_by != 0) return 128 + interrupted_by;
  if (failure_elsewhere) return failure_elsewhere->code;
  return first_failure ? first_failure->code() : 0;
}

}  // namespace lockstep::internal::launch
