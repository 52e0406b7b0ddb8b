// lockstep bench: times collectives over sizes, algorithms, transports and worlds, with nccl-tests'
// columns.
#include <lockstep/error.h>
#include <lockstep/init.h>

#include "base/text.h"
#include "cli/bench_measure.h"
#include "cli/command.h"
#include "cli/table.h"
#include "launch/job.h"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <memory>

namespace lockstep::cli {

namespace {

struct BenchCommand {
  std::string op = "all-reduce";
  std::vector<int> workers{2, 4};
  std::vector<std::string> transports{"shm", "thread"};
  std::vector<std::string> algorithms{"all"};
  std::vector<std::string> sizes{"4K", "64K", "1M", "16M", "36M"};
  int repeat = 20;
  std::string json;
};

BenchPlan plan_of(const BenchCommand& command) {
  BenchPlan plan{command.op, {}, {}, command.repeat};
  for (const std::string& size : command.sizes) {
    plan.sizes.push_back(parse_bytes(size));
    if (plan.sizes.back() < sizeof(float))
      throw UsageError(fmt::format("'{}' holds not even one float32: take 4 or more", size));
  }
  const std::vector<Algorithm> known = algorithms_of(command.op);
  for (const std::string& name : command.algorithms) {
    if (name == "all") {
      plan.algorithms = known;
      continue;
    }
    plan.algorithms.push_back(parse_algorithm(name));
    const Algorithm asked = plan.algorithms.back();
    if (asked != Algorithm::automatic &&
        std::find(known.begin(), known.end(), asked) == known.end()) {
      std::vector<std::string> names;
      for (Algorithm algorithm : known) names.emplace_back(name_of(algorithm));
      throw UsageError(fmt::format("{} has no algorithm '{}': there are {}", command.op, name,
                                   enumerate(names)));
    }
  }
  return plan;
}

/// Memory for rank 0 of a forked job to hand its results over.
class SharedResults {
 public:
  explicit SharedResults(std::size_t count) : bytes_(count * sizeof(BenchResult)) {
    results_ = static_cast<BenchResult*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (results_ == MAP_FAILED) throw Error("no memory for the results");
  }
  ~SharedResults() { ::munmap(results_, bytes_); }
  SharedResults(const SharedResults&) = delete;
  SharedResults& operator=(const SharedResults&) = delete;

  void put(const std::vector<BenchResult>& results) {
    std::copy(results.begin(), results.end(), results_);
  }
  std::vector<BenchResult> get() const {
    return {results_, results_ + bytes_ / sizeof(BenchResult)};
  }

 private:
  std::size_t bytes_;
  BenchResult* results_;
};

std::vector<BenchResult> measure_on(const std::string& transport, int workers,
                                    const BenchPlan& plan) {
  if (transport == "thread") {
    std::vector<BenchResult> results;
    run_threads(workers, [&](const Group& group) {
      const auto mine = measure(group, plan);
      if (group.rank() == 0) results = mine;
    });
    return results;
  }
  SharedResults shared(plan.sizes.size() * plan.algorithms.size());
  const launch::JobResult job = launch::run_forked({.workers = workers}, [&] {
    try {
      const Group group = init();
      const auto mine = measure(group, plan);
      if (group.rank() == 0) shared.put(mine);
      return kSuccess;
    } catch (...) {
      return report_exception("lockstep bench");
    }
  });
  if (job.code() != 0) throw Error(job.first_failure ? job.first_failure->text() : "interrupted");
  return shared.get();
}

bool reduces(const std::string& op) {
  return op.find("reduce") != std::string::npos;
}

void require_transports(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (name != "shm" && name != "thread")
      throw UsageError(
          fmt::format("there is no transport '{}': this build has shm and thread", name));
}

int run_bench(const BenchCommand& command) {
  const BenchPlan plan = plan_of(command);
  require_transports(command.transports);
  const bool json_only = command.json == "-";
  Table table({"op", "transport", "algorithm", "workers", "bytes", "count", "type", "redop",
               "time us", "algbw GB/s", "busbw GB/s", "#wrong"});
  nlohmann::json rows = nlohmann::json::array();
  std::uint64_t wrong = 0;
  for (const std::string& transport : command.transports)
    for (int workers : command.workers)
      for (const BenchResult& result : measure_on(transport, workers, plan)) {
        const double busbw = result.busbw_gbs(command.op, workers);
        const std::string_view algorithm = name_of(result.algorithm);
        table.add({command.op, transport, std::string(algorithm), std::to_string(workers),
                   std::to_string(result.bytes), std::to_string(result.bytes / sizeof(float)),
                   "float32", reduces(command.op) ? "sum" : "none",
                   fmt::format("{:.1f}", 1e6 * result.seconds),
                   fmt::format("{:.2f}", result.algbw_gbs()), fmt::format("{:.2f}", busbw),
                   std::to_string(result.wrong)});
        rows.push_back({{"op", command.op},
                        {"transport", transport},
                        {"algorithm", algorithm},
                        {"workers", workers},
                        {"type", "float32"},
                        {"bytes", result.bytes},
                        {"seconds", result.seconds},
                        {"algbw_gbs", result.algbw_gbs()},
                        {"busbw_gbs", busbw},
                        {"wrong", result.wrong}});
        wrong += result.wrong;
      }
  if (!json_only) fmt::print("{}", table.text(on_terminal()));
  write_json(command.json, {{"results", rows}});
  if (wrong > 0) throw InternalError(fmt::format("{} elements were wrong", wrong));
  return kSuccess;
}

}  // namespace

void add_bench_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "bench", "time collectives over sizes, algorithms and transports, and check their results");
  auto options = std::make_shared<BenchCommand>();
  command->add_option("--op", options->op, "the operation to time")
      ->capture_default_str()
      ->check(CLI::IsMember(bench_ops()));
  auto list = [&](const std::string& name, auto& values, const std::string& help) {
    return command->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--workers", options->workers, "world sizes")->check(CLI::Range(1, 1024));
  list("--transport", options->transports, "shm, thread");
  list("--algorithm", options->algorithms,
       "star, tree, ring, halving-doubling, direct, auto, or all that the op has");
  list("--sizes", options->sizes, "bytes on each rank: 4096, 64K, 36M");
  command->add_option("--repeat", options->repeat, "repetitions; the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--json", options->json,
                      "write the result to this file; - for standard output");
  command->callback([options, &code] {
    try {
      code = run_bench(*options);
    } catch (...) {
      code = report_exception("lockstep bench");
    }
  });
}

}  // namespace lockstep::cli
