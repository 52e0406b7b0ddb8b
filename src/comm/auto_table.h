// The table from which `auto` picks the algorithm of an all_reduce: the fastest one for a
// transport, a number of ranks and a length. The built-in table is used unless LOCKSTEP_AUTO_TABLE
// names a file, which `lockstep bench --table FILE` writes. All ranks need the same table: if their
// choices differ, their fingerprints differ too, and the error names each rank's algorithm.
//
// The text format has one entry a line; # begins a comment, "any" means no limit:
//
//   transport  ranks  bytes  algorithm
//   gloo       4      64K    tree
//   gloo       any    any    ring
#pragma once

#include <lockstep/types.h>

#include "comm/algorithms.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::internal::comm {

constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

struct AutoEntry {
  std::string transport;            ///< as Group::transport() calls it
  int ranks = kAnyRanks;            ///< largest number of ranks the entry applies to
  std::uint64_t bytes = kAnyBytes;  ///< largest array, in bytes, the entry applies to
  Algorithm algorithm = Algorithm::ring;

  bool operator==(const AutoEntry&) const = default;
};

struct AutoTable {
  std::vector<AutoEntry> entries;  ///< the first matching entry wins
};

/// Throws FileError, which names `source` and the line.
AutoTable parse_auto_table(std::string_view text, const std::string& source);
/// The inverse of parse_auto_table, with aligned columns.
std::string format_auto_table(const AutoTable& table);

/// The algorithm of the first matching entry that the transport can run; ring, which every
/// transport has, if no entry matches.
Algorithm pick(const AutoTable& table, std::string_view transport, const Offers& offers, int ranks,
               std::uint64_t bytes);

const AutoTable& built_in_auto_table();

/// The entries of the file that LOCKSTEP_AUTO_TABLE names, followed by the built-in entries. Read
/// once per process. Throws FileError.
const AutoTable& auto_table();

/// Uncached: the entries of the file at `path`, followed by the built-in entries.
AutoTable load_auto_table(const std::string& path);

}  // namespace lockstep::internal::comm
