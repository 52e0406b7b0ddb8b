#include "cli/bench/example.h"

#include <lockstep/error.h>

#include "base/date.h"
#include "base/files.h"
#include "base/table/quantities.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "comm/algorithms.h"
#include "report/html.h"
#include "report/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

namespace lockstep::internal::cli {

namespace {

using comm::WorkedArray;
using comm::WorkedCollective;
using comm::WorkedElement;
using comm::WorkedMessage;
using comm::WorkedStep;

/// A part of the array that no message divides: the chunks of a ring, for example.
struct Chunk {
  std::string name;  ///< "A", "B" …
  std::size_t first = 0;
  std::size_t count = 0;
};

std::vector<Chunk> chunks_of(const WorkedCollective& example) {
  std::set<std::size_t> borders{0, example.elements()};
  for (const WorkedStep& step : example.steps)
    for (const WorkedMessage& message : step.messages)
      borders.insert({message.first, message.first + message.elements.size()});
  std::vector<Chunk> chunks;
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border)
    chunks.push_back({std::string(1, static_cast<char>('A' + chunks.size())), *border,
                      *std::next(border) - *border});
  return chunks;
}

/// "A", or "A–C" for a message of several chunks.
std::string name_of(const WorkedMessage& message, const std::vector<Chunk>& chunks) {
  const std::size_t end = message.first + message.elements.size();
  std::string first, last;
  for (const Chunk& chunk : chunks) {
    if (chunk.first == message.first) first = chunk.name;
    if (chunk.first + chunk.count == end) last = chunk.name;
  }
  return first == last ? first : fmt::format("{}–{}", first, last);
}

std::string values_of(const WorkedArray& elements) {
  std::vector<int> values;
  for (const WorkedElement& element : elements) values.push_back(element.value);
  return fmt::format("{}", fmt::join(values, " "));
}

/// The elements of a chunk; a star marks those that are complete.
std::string chunk_cell(const WorkedCollective& example, const WorkedArray& array,
                       const Chunk& chunk) {
  const auto first = array.begin() + static_cast<std::ptrdiff_t>(chunk.first);
  const WorkedArray part(first, first + static_cast<std::ptrdiff_t>(chunk.count));
  return values_of(part) + (example.is_complete(part.front()) ? "*" : "");
}

std::string phase_of(const WorkedCollective& example, const WorkedStep& step) {
  bool adds = false, whole = false;
  for (const WorkedMessage& message : step.messages) {
    adds |= message.added;
    whole |= message.elements.size() == example.elements();
  }
  if (adds) return whole ? "reduce" : "scatter-reduce";
  return whole ? "broadcast" : "all-gather";
}

/// `part` of every message that `chosen` selects, separated by commas; "–" without one.
template <typename Chosen, typename Part>
std::string cell_of(const WorkedStep& step, const Chosen& chosen, const Part& part) {
  std::vector<std::string> parts;
  for (const WorkedMessage& message : step.messages)
    if (chosen(message)) parts.push_back(fmt::format("{}", part(message)));
  return parts.empty() ? "–" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> row_of(const WorkedStep& step, int rank,
                                const std::vector<Chunk>& chunks) {
  const auto sent = [rank](const WorkedMessage& message) { return message.from == rank; };
  const auto received = [rank](const WorkedMessage& message) { return message.to == rank; };
  const auto name = [&chunks](const WorkedMessage& message) { return name_of(message, chunks); };
  return {
      std::to_string(rank),
      cell_of(step, sent, name),
      cell_of(step, sent, [](const WorkedMessage& its) { return its.to; }),
      cell_of(step, received, name),
      cell_of(step, received, [](const WorkedMessage& its) { return its.from; }),
      cell_of(step, received, [](const WorkedMessage& its) { return values_of(its.elements); })};
}

TextTable steps_table(const WorkedCollective& example, const std::vector<Chunk>& chunks) {
  TextTable table{
      .title = "All steps",
      .columns = {{"step", "0 is the start; a message that waits for another is in a later step"},
                  {"phase",
                   "in reduce and scatter-reduce the receiver adds the chunk to its own, in "
                   "all-gather and broadcast it copies it"},
                  "rank",
                  {"sends", "chunk that the rank sends"},
                  {"to", "the rank that receives it"},
                  {"receives", "chunk that the rank receives"},
                  {"from", "the rank that sent it"},
                  {"content", "the elements that the rank receives"}}};
  for (const Chunk& chunk : chunks)
    table.columns.emplace_back(
        chunk.name, "the chunk of this rank after the step; * marks the sum of all ranks");
  const auto add_rows = [&](const std::string& number, const std::string& phase,
                            const WorkedStep& step) {
    for (std::size_t rank = 0; rank < step.arrays.size(); ++rank) {
      std::vector<std::string> row = row_of(step, static_cast<int>(rank), chunks);
      row.insert(row.begin(), {number, phase});
      for (const Chunk& chunk : chunks)
        row.push_back(chunk_cell(example, step.arrays[rank], chunk));
      table.rows.push_back(std::move(row));
    }
  };
  add_rows("0", "start", {.messages = {}, .arrays = example.start});
  for (std::size_t at = 0; at < example.steps.size(); ++at)
    add_rows(std::to_string(at + 1), phase_of(example, example.steps[at]), example.steps[at]);
  return table;
}

/// What each rank sends in all steps.
TextTable traffic_table(const WorkedCollective& example) {
  TextTable table{.title = "Sent by each rank", .columns = {"rank", "messages", "bytes"}};
  for (std::size_t rank = 0; rank < example.start.size(); ++rank) {
    std::size_t messages = 0, bytes = 0;
    for (const WorkedStep& step : example.steps)
      for (const WorkedMessage& message : step.messages) {
        if (message.from != static_cast<int>(rank)) continue;
        messages += 1;
        bytes += message.bytes();
      }
    table.rows.push_back({std::to_string(rank), std::to_string(messages), std::to_string(bytes)});
  }
  return table;
}

std::string counted(std::size_t number, const char* thing) {
  return internal::counted(static_cast<double>(number), thing);
}

/// "3 of scatter-reduce, 3 of all-gather".
std::string phases_of(const WorkedCollective& example) {
  std::vector<std::pair<std::string, int>> phases;
  for (const WorkedStep& step : example.steps) {
    const std::string phase = phase_of(example, step);
    if (phases.empty() || phases.back().first != phase) phases.emplace_back(phase, 0);
    ++phases.back().second;
  }
  std::vector<std::string> texts;
  texts.reserve(phases.size());
  for (const auto& [phase, steps] : phases) texts.push_back(fmt::format("{} of {}", steps, phase));
  return enumerate(texts);
}

std::string summary_of(const WorkedCollective& example) {
  return fmt::format("{} workers sum their arrays of {} ({}) in {}: {}.", example.start.size(),
                     counted(example.elements(), "number"),
                     counted(example.elements() * sizeof(WorkedElement), "byte"),
                     counted(example.steps.size(), "step"), phases_of(example));
}

nlohmann::json json_of(const WorkedArray& array) {
  nlohmann::json values = nlohmann::json::array();
  for (const WorkedElement& element : array) values.push_back(element.value);
  return values;
}

/// For each element, how many ranks' numbers are in the sum.
nlohmann::json ranks_in(const WorkedArray& array) {
  nlohmann::json counts = nlohmann::json::array();
  for (const WorkedElement& element : array) counts.push_back(std::popcount(element.ranks));
  return counts;
}

nlohmann::json json_of(const std::vector<WorkedArray>& arrays) {
  nlohmann::json values = nlohmann::json::array(), ranks = nlohmann::json::array();
  for (const WorkedArray& array : arrays) {
    values.push_back(json_of(array));
    ranks.push_back(ranks_in(array));
  }
  return {{"arrays", values}, {"summed_ranks", ranks}};
}

nlohmann::json json_of(const WorkedCollective& example, const WorkedStep& step) {
  nlohmann::json json = json_of(step.arrays);
  json["phase"] = phase_of(example, step);
  json["messages"] = nlohmann::json::array();
  for (const WorkedMessage& message : step.messages)
    json["messages"].push_back({{"from", message.from},
                                {"to", message.to},
                                {"first", message.first},
                                {"elements", json_of(message.elements)},
                                {"added", message.added}});
  return json;
}

nlohmann::json json_of(const ExampleOptions& options, const WorkedCollective& example,
                       const std::vector<Chunk>& chunks) {
  nlohmann::json json{{"algorithm", options.algorithm},    {"workers", options.workers},
                      {"elements", example.elements()},    {"element_bytes", sizeof(WorkedElement)},
                      {"chunks", nlohmann::json::array()}, {"start", json_of(example.start)},
                      {"steps", nlohmann::json::array()}};
  for (const Chunk& chunk : chunks)
    json["chunks"].push_back(
        {{"name", chunk.name}, {"first", chunk.first}, {"count", chunk.count}});
  for (const WorkedStep& step : example.steps) json["steps"].push_back(json_of(example, step));
  return json;
}

}  // namespace

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (Algorithm algorithm : comm::algorithms_of(comm::Operation::all_reduce, {}))
    names.emplace_back(name_of(algorithm));
  return names;
}

void run_example(const ExampleOptions& options) {
  if (!options.html.empty()) require_writable(options.html);
  const std::size_t elements =
      options.elements > 0 ? options.elements : static_cast<std::size_t>(options.workers);
  const WorkedCollective example =
      comm::worked_all_reduce(parse_algorithm(options.algorithm), options.workers, elements);
  const std::vector<Chunk> chunks = chunks_of(example);
  const std::vector<TextTable> tables{steps_table(example, chunks), traffic_table(example)};
  const nlohmann::json json = json_of(options, example, chunks);
  if (options.json != "-") {
    fmt::print("{}\n\n{}\n", summary_of(example), to_text(tables[0], on_terminal()));
    fmt::print("* the sum of all ranks\n\nsent by each rank\n{}",
               to_text(tables[1], on_terminal()));
  }
  write_json(options.json, json);
  if (options.html.empty()) return;
  nlohmann::json page = json;
  page.update({{"title",
                fmt::format("All-reduce among {} workers: {}", options.workers, options.algorithm)},
               {"lead", summary_of(example)},
               {"command", typed_command()},
               {"version", version()},
               {"made", utc_date()},
               {"tables", report::page_tables(tables)}});
  write_file(options.html, report::collective_html_of(page));
  if (options.json != "-") fmt::print("page: {}\n", options.html);
}

}  // namespace lockstep::internal::cli
