// CRC-32C (Castagnoli's polynomial): the checksum of TensorBoard's records, iSCSI and others.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::internal {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace lockstep::internal
