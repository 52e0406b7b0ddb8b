#include "comm/auto_table.h"

#include <lockstep/error.h>

#include "base/files.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace lockstep::internal::comm {

namespace {

constexpr int kMaxRanks = 1 << 16;
constexpr std::uint64_t kMaxFile = 1 << 20;

/// All features that a transport of this name may have.
struct KnownTransport {
  std::string_view name;
  Offers offers;
};
constexpr std::array kTransports{
    KnownTransport{"thread", {.shared_memory = true}},
    KnownTransport{"shm", {.shared_memory = true}},
    KnownTransport{"gloo", {}},
    KnownTransport{"mpi", {.native = true}},
    KnownTransport{"shm+gloo", {.hierarchy = true}},
    KnownTransport{"shm+mpi", {.hierarchy = true, .native = true}},
};

const KnownTransport& find_transport(const std::string& name) {
  std::vector<std::string> names;
  for (const KnownTransport& known : kTransports) {
    if (known.name == name) return known;
    names.emplace_back(known.name);
  }
  throw UsageError(fmt::format("unknown transport '{}': choose from {}", name, enumerate(names)));
}

AutoEntry parse_entry(const std::vector<std::string>& words) {
  if (words.size() != 4)
    throw UsageError(
        fmt::format("{} words instead of 4: transport, ranks, bytes, algorithm", words.size()));
  AutoEntry entry;
  entry.transport = words[0];
  const KnownTransport& transport = find_transport(entry.transport);
  if (words[1] != "any")
    entry.ranks = static_cast<int>(parse_integer(words[1], "the number of ranks", 1, kMaxRanks));
  if (words[2] != "any") entry.bytes = parse_bytes(words[2]);
  entry.algorithm = parse_algorithm(words[3]);
  if (entry.algorithm == Algorithm::automatic)
    throw UsageError("'auto' picks from this table: name another algorithm");
  require_algorithm(Operation::all_reduce, "all_reduce", entry.algorithm, transport.offers,
                    transport.name);
  return entry;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

AutoTable parse_auto_table(std::string_view text, const std::string& source) {
  AutoTable table;
  std::istringstream stream{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    try {
      table.entries.push_back(parse_entry(words));
    } catch (const UsageError& error) {
      throw FileError(fmt::format("{}, line {}: {}", source, number, error.what()));
    }
  }
  return table;
}

std::string format_auto_table(const AutoTable& table) {
  std::string text =
      fmt::format("{:<9} {:>6} {:>8}  {}\n", "# transport", "ranks", "bytes", "algorithm");
  for (const AutoEntry& entry : table.entries)
    text += fmt::format("{:<11} {:>6} {:>8}  {}\n", entry.transport,
                        entry.ranks == kAnyRanks ? "any" : std::to_string(entry.ranks),
                        entry.bytes == kAnyBytes ? "any" : format_bytes(entry.bytes),
                        name_of(entry.algorithm));
  return text;
}

Algorithm pick(const AutoTable& table, std::string_view transport, const Offers& offers, int ranks,
               std::uint64_t bytes) {
  for (const AutoEntry& entry : table.entries)
    if (entry.transport == transport && ranks <= entry.ranks && bytes <= entry.bytes &&
        offers.has(entry.algorithm))
      return entry.algorithm;
  return Algorithm::ring;
}

AutoTable load_auto_table(const std::string& path) {
  AutoTable table = parse_auto_table(read_file(path, kMaxFile), path);
  const AutoTable& rest = built_in_auto_table();
  table.entries.insert(table.entries.end(), rest.entries.begin(), rest.entries.end());
  return table;
}

const AutoTable& auto_table() {
  static const AutoTable table = [] {
    const char* path = std::getenv("LOCKSTEP_AUTO_TABLE");
    return path != nullptr && *path != '\0' ? load_auto_table(path) : built_in_auto_table();
  }();
  return table;
}

}  // namespace lockstep::internal::comm
