// The headers of a downloaded archive: every accepted header must be safe to unpack.
#include <lockstep/error.h>

#include "data/fetch/tar_file.h"
#include "fuzz.h"

#include <algorithm>
#include <array>

namespace lockstep::internal::fuzz {

using data::kTarBlock;
using data::TarHeader;
using Block = std::array<std::uint8_t, kTarBlock>;

namespace {

/// The fuzzer would hardly guess the checksum, so it is corrected in every second input.
void put_sum(Block& block) {
  std::fill_n(block.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (std::uint8_t byte : block) sum += byte;
  for (std::size_t i = 153; i >= 148; --i, sum /= 8)
    block[i] = static_cast<std::uint8_t>('0' + sum % 8);
  block[154] = 0;
}

bool climbs(const std::string& name) {
  return ("/" + name + "/").find("/../") != std::string::npos;
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> found;
  for (const char* type : {"0", "5", "x"}) {
    std::string header(kTarBlock + 1, '\0');
    header.replace(0, 18, "set/data_batch.bin");
    header.replace(124, 11, "00000006001");
    header.replace(156, 1, type);
    header.replace(257, 5, "ustar");
    header.replace(345, 6, "prefix");
    header.back() = 1;
    found.push_back(header);
  }
  return found;
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal::fuzz;
  Block block{};
  std::copy_n(data, std::min(size, block.size()), block.begin());
  if (size > block.size() && data[block.size()] % 2 == 1) put_sum(block);
  try {
    const TarHeader header = lockstep::internal::data::parse_tar_header(block);
    if (header.kind == TarHeader::Kind::end) return 0;
    require(!header.name.empty() && header.name.front() != '/' && !climbs(header.name),
            "a name stays within the archive's folder");
    require(header.bytes < 1ull << 36, "sizes are what 12 octal digits can state");
  } catch (const lockstep::FileError&) {
    // Rejected, which is allowed.
  }
  return 0;
}
