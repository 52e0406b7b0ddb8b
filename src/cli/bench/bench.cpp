// lockstep bench: times collectives over sizes, algorithms, transports and world sizes; the columns
// are those of nccl-tests.
#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/bench/example.h"
#include "cli/bench/exchange.h"
#include "cli/bench/ops.h"
#include "cli/bench/report.h"
#include "cli/bench/values.h"
#include "cli/command.h"
#include "cli/transport_list.h"
#include "comm/algorithms.h"
#include "launch/environment/environment.h"

#include <fmt/format.h>

#include <memory>

namespace lockstep::internal::cli {

namespace {

struct BenchCommand {
  std::string op = "all-reduce";
  std::vector<int> workers{2, 4};
  std::vector<std::string> transports{"shm", "thread"};
  std::vector<std::string> algorithms{"all"};
  std::vector<std::string> sizes{"4K", "64K", "1M", "16M", "36M"};
  std::string type = "float32";
  int repeat = 20;
  std::string table;
  std::string json;
  ExampleOptions example;  ///< without an algorithm, none is shown
  std::string results;     ///< file for the bench process that started this one under mpirun

  // Whether the user gave the options, or the defaults above apply.
  bool workers_given = false;
  bool transports_given = false;
  bool sizes_given = false;
};

std::vector<std::size_t> sizes_of(const BenchCommand& command, DataType type) {
  if (!bench_op(command.op).sized) {
    if (command.sizes_given)
      throw UsageError(fmt::format("{} moves no array: omit --sizes", command.op));
    return {0};
  }
  std::vector<std::size_t> sizes;
  for (const std::string& size : command.sizes) {
    sizes.push_back(parse_bytes(size));
    if (sizes.back() < size_of(type))
      throw UsageError(fmt::format("'{}' is smaller than one {}: use {} or more", size,
                                   name_of(type), size_of(type)));
  }
  return sizes;
}

BenchPlan plan_of(const BenchCommand& command) {
  BenchPlan plan;
  plan.op = command.op;
  plan.type = parse_data_type(command.type);
  plan.repeat = command.repeat;
  plan.sizes = sizes_of(command, plan.type);
  plan.all_algorithms = false;
  // An algorithm that no transport has is rejected before any worker is started.
  const comm::Offers everything{.shared_memory = true, .hierarchy = true, .native = true};
  for (const std::string& name : command.algorithms) {
    if (name == "all") {
      plan.all_algorithms = true;
      continue;
    }
    plan.algorithms.push_back(parse_algorithm(name));
    comm::require_algorithm(bench_op(plan.op).operation, plan.op, plan.algorithms.back(),
                            everything, "");
  }
  return plan;
}

void require_table_can_be_made(const BenchCommand& command) {
  if (command.table.empty()) return;
  if (command.op != "all-reduce" || command.algorithms != std::vector<std::string>{"all"})
    throw UsageError("--table compares all algorithms of all-reduce: omit --op and --algorithm");
  if (command.table == "-" && command.json == "-")
    throw UsageError("--table and --json cannot both be written to standard output");
  if (command.table != "-") require_writable(command.table);
}

/// The transport of a world that a launcher has started.
std::string launched_transport(const BenchCommand& command) {
  if (command.workers_given)
    throw UsageError("--workers contradicts the launcher, which sets the number of workers");
  if (!command.transports_given) return "auto";
  if (command.transports.size() != 1 || command.transports[0] == "thread")
    throw UsageError(
        "under a launcher, bench measures one transport between processes: give one, other than "
        "thread");
  return command.transports[0];
}

std::vector<BenchRun> measure_all(const BenchCommand& command, const BenchPlan& plan) {
  if (launch::find_place().size > 1) return {measure_as_worker(launched_transport(command), plan)};
  std::vector<BenchRun> runs;
  for (const std::string& transport : command.transports)
    for (int workers : command.workers) runs.push_back(measure_on(transport, workers, plan));
  return runs;
}

void show(const BenchCommand& command, const BenchPlan& plan, const std::vector<BenchRun>& runs) {
  if (command.json != "-" && command.table != "-")
    fmt::print("{}", text_of(plan, runs, on_terminal()));
  write_json(command.json, json_of(plan, runs));
  if (command.table.empty()) return;
  const std::string table = comm::format_auto_table(fastest(runs));
  if (command.table == "-")
    fmt::print("{}", table);
  else
    write_file(command.table, table);
}

/// Runs one worker of a bench that started this process and prints the results.
int run_for_another_bench(const BenchCommand& command) {
  const bool speaker = launch::find_place().rank == 0;
  try {
    const BenchRun run = measure_as_worker(launched_transport(command), plan_of(command));
    if (speaker) write_results(command.results, run.results);
    return kSuccess;
  } catch (const UsageError& error) {  // the same on all ranks: reported once, by the parent
    if (speaker) write_refusal(command.results, error.what());
    return kBadUsage;
  }
}

/// `given`: the options on the command line that an example has no use for.
int show_example(const BenchCommand& command, const std::vector<std::string>& given) {
  if (!given.empty())
    throw UsageError(
        fmt::format("--example shows an all-reduce of whole numbers and times nothing: omit {}",
                    enumerate(given)));
  if (launch::find_place().size > 1)
    throw UsageError("--example runs all workers as threads: start it without a launcher");
  ExampleOptions options = command.example;
  if (command.workers_given) options.workers = command.workers.front();
  if (command.workers_given && (command.workers.size() > 1 || options.workers < 2 ||
                                options.workers > comm::kMostWorkedRanks))
    throw UsageError(fmt::format("--example needs one number of workers, from 2 to {}: --workers 4",
                                 comm::kMostWorkedRanks));
  options.json = command.json;
  run_example(options);
  return kSuccess;
}

int run_bench(const BenchCommand& command) {
  if (command.example.elements > 0 || !command.example.html.empty())
    throw UsageError("--elements and --html are for --example: add --example ring");
  if (!command.results.empty()) return run_for_another_bench(command);
  const BenchPlan plan = plan_of(command);
  for (const std::string& transport : command.transports) require_transport(transport);
  require_table_can_be_made(command);
  const std::vector<BenchRun> runs = measure_all(command, plan);
  if (runs.empty() || !runs.front().to_be_shown) return kSuccess;
  show(command, plan, runs);
  std::uint64_t wrong = 0;
  for (const BenchRun& run : runs)
    for (const BenchResult& result : run.results) wrong += result.wrong;
  if (wrong > 0) throw InternalError(fmt::format("{} elements were wrong", wrong));
  return kSuccess;
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const BenchOp& op : bench_ops()) names.push_back(op.name);
  return names;
}

void add_example_options(CLI::App& command, ExampleOptions& options) {
  command
      .add_option(
          "--example", options.algorithm,
          "instead of timing, show every step of an all-reduce of small arrays among 2 to 16 "
          "workers (4 by default)")
      ->check(CLI::IsMember(example_names()));
  command
      .add_option("--elements", options.elements,
                  "with --example: numbers in each array; default: as many as workers")
      ->check(CLI::Range(std::size_t{1}, comm::kMostWorkedElements));
  command.add_option("--html", options.html,
                     "with --example: write a page to step through to this file");
}

}  // namespace

void add_bench_command(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("bench",
                                         "time collectives over sizes, algorithms and transports, "
                                         "and check their results; or show the "
                                         "steps of one");
  auto options = std::make_shared<BenchCommand>();
  auto list = [&](const std::string& name, auto& values, const std::string& help) {
    return command->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  CLI::Option* op = command->add_option("--op", options->op, "the operation to time")
                        ->capture_default_str()
                        ->check(CLI::IsMember(op_names()));
  CLI::Option* workers =
      list("--workers", options->workers, "world sizes")->check(CLI::Range(1, 1024));
  CLI::Option* transports = list("--transport", options->transports,
                                 fmt::format("{}", fmt::join(transport_list(), ", ")));
  CLI::Option* algorithms =
      list("--algorithm", options->algorithms,
           "star, tree, ring, halving-doubling, direct, hierarchical, native, auto, or all (every "
           "algorithm of the operation on the transport)");
  CLI::Option* sizes = list("--sizes", options->sizes, "bytes on each rank: 4096, 64K, 36M");
  CLI::Option* type = command->add_option("--type", options->type, "element type")
                          ->capture_default_str()
                          ->check(CLI::IsMember(data_type_names()));
  CLI::Option* repeat =
      command
          ->add_option("--repeat", options->repeat, "number of repetitions; the median is reported")
          ->capture_default_str()
          ->check(CLI::Range(1, 1'000'000));
  CLI::Option* table = command->add_option(
      "--table", options->table,
      "write the table of the fastest algorithms to this file, for LOCKSTEP_AUTO_TABLE; - for "
      "standard output");
  add_example_options(*command, options->example);
  command->add_option("--json", options->json,
                      "write the result to this file; - for standard output");
  command->add_option("--results", options->results)->group("");  // internal: hidden from users
  command->callback([=, &code] {
    options->workers_given = workers->count() > 0;
    options->transports_given = transports->count() > 0;
    options->sizes_given = sizes->count() > 0;
    std::vector<std::string> of_timing;
    for (const CLI::Option* option : {op, transports, algorithms, sizes, type, repeat, table})
      if (option->count() > 0) of_timing.push_back(option->get_name());
    try {
      code = options->example.algorithm.empty() ? run_bench(*options)
                                                : show_example(*options, of_timing);
    } catch (...) {
      code = report_exception("lockstep bench");
    }
  });
}

}  // namespace lockstep::internal::cli
