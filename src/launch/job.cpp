#include "launch/job.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "launch/environment.h"
#include "launch/store_server.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lockstep::launch {

namespace {

void set_variables(const Place& place) {
  for (const auto& [name, value] : variables_for(place)) ::setenv(name.c_str(), value.c_str(), 1);
  // As many threads as the cores allow, unless the user decided; read by OpenMP when it starts.
  const std::string threads = std::to_string(threads_per_worker(place.size));
  ::setenv("OMP_NUM_THREADS", threads.c_str(), 0);
}

/// Forks the workers; `in_child` must not return.
JobResult run_workers(const JobOptions& options, const std::function<void()>& in_child) {
  if (options.workers < 1)
    throw UsageError(fmt::format("a job needs at least one worker, not {}", options.workers));
  Supervisor supervisor;
  StoreServer store;
  const pid_t parent = ::getpid();
  // What the parent has buffered must not come out once a child as well.
  std::fflush(nullptr);
  for (int rank = 0; rank < options.workers; ++rank) {
    const pid_t child = ::fork();
    if (child < 0) {
      const std::string why = last_system_error();
      supervisor.terminate();
      throw Error(fmt::format("cannot start worker {} of {}: {}", rank, options.workers, why));
    }
    if (child == 0) {
      Supervisor::prepare_child(parent);
      set_variables({rank, options.workers, store.address(), false});
      in_child();
      std::_Exit(1);
    }
    supervisor.add(rank, child);
  }
  store.start();
  return supervisor.wait(options.grace);
}

}  // namespace

JobResult run_forked(const JobOptions& options, const std::function<int()>& body) {
  return run_workers(options, [&] {
    const int code = body();
    std::fflush(nullptr);
    std::_Exit(code);
  });
}

JobResult run_program(const JobOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) throw UsageError("there is no program to start: write it after --");
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  // Closed by a successful exec; a child that cannot exec writes why into it.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Error(fmt::format("cannot start '{}': {}", command[0], last_system_error()));
  UniqueFd failures(ends[0]);
  UniqueFd report(ends[1]);

  JobResult result = run_workers(options, [&] {
    // Workers are not in the terminal's foreground: reading from it would stop them.
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::execvp(arguments[0], arguments.data());
    const int error = errno;
    [[maybe_unused]] ssize_t put = ::write(report.get(), &error, sizeof error);
    std::_Exit(127);
  });
  int error = 0;
  if (::read(failures.get(), &error, sizeof error) == sizeof error)
    throw UsageError(fmt::format("cannot start '{}': {}", command[0], std::strerror(error)));
  return result;
}

}  // namespace lockstep::launch
