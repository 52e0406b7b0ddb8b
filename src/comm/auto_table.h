// The table that `auto` picks all_reduce's algorithm from: which one is fastest on a transport, for
// a number of ranks and a length. A built-in one serves until LOCKSTEP_AUTO_TABLE names a file,
// which `lockstep bench --table FILE` writes. All ranks need the same table: if they pick
// differently, their fingerprints do not agree, and the error names each rank's algorithm.
//
// As text it has one entry a line; # begins a comment, "any" is no limit:
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

namespace lockstep::comm {

constexpr int kAnyRanks = std::numeric_limits<int>::max();
constexpr std::uint64_t kAnyBytes = std::numeric_limits<std::uint64_t>::max();

struct AutoEntry {
  std::string transport;            ///< as Group::transport() calls it
  int ranks = kAnyRanks;            ///< the entry is for up to this many ranks,
  std::uint64_t bytes = kAnyBytes;  ///< and for arrays of up to this many bytes
  Algorithm algorithm = Algorithm::ring;

  bool operator==(const AutoEntry&) const = default;
};

struct AutoTable {
  std::vector<AutoEntry> entries;  ///< the first that fits counts
};

/// Throws FileError that calls the text `source` and names the line.
AutoTable parse_auto_table(std::string_view text, const std::string& source);
/// The text that parse_auto_table reads, columns aligned.
std::string format_auto_table(const AutoTable& table);

/// The algorithm of the first entry that fits and that the transport offers; ring, which every
/// transport has, where none does.
Algorithm pick(const AutoTable& table, std::string_view transport, const Offers& offers, int ranks,
               std::uint64_t bytes);

const AutoTable& built_in_auto_table();

/// What LOCKSTEP_AUTO_TABLE names, then the built-in entries for all that it leaves out. Read once
/// a process. Throws FileError.
const AutoTable& auto_table();

/// The same without remembering: the file at `path`, then the built-in entries.
AutoTable load_auto_table(const std::string& path);

}  // namespace lockstep::comm
