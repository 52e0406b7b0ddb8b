// Writers of valid and damaged tar archives.
#pragma once

#include "data/fetch/tar_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::internal::data {

/// Writes a header's checksum.
inline void put_sum(std::string& header) {
  header.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (char byte : header) sum += static_cast<unsigned char>(byte);
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
}

inline std::string tar_header(std::string_view name, std::uint64_t bytes, char type = '0') {
  std::string header(kTarBlock, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 7, "0000644");
  header.replace(124, 11, fmt::format("{:011o}", bytes));
  header[156] = type;
  header.replace(257, 8, std::string("ustar\00000", 8));
  put_sum(header);
  return header;
}

inline std::string tar_member(std::string_view name, std::string_view content, char type = '0') {
  std::string member = tar_header(name, content.size(), type) + std::string(content);
  member.resize((member.size() + kTarBlock - 1) / kTarBlock * kTarBlock, '\0');
  return member;
}

inline const std::string kTarEnd(2 * kTarBlock, '\0');

}  // namespace lockstep::internal::data
