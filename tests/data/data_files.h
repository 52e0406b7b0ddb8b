// Writers of valid and damaged idx files, CIFAR-10 records and gzip files.
#pragma once

#include "support/errors.h"
#include "support/temporary_folder.h"

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace lockstep::internal::data {

using testing::expect_error;
using testing::TemporaryFolder;

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// The header of an idx file of unsigned bytes.
inline std::string idx_header(std::initializer_list<std::uint32_t> shape) {
  std::string bytes = big_endian(0x0800 | static_cast<std::uint32_t>(shape.size()));
  for (std::uint32_t dimension : shape) bytes += big_endian(dimension);
  return bytes;
}

/// The bytes 0, 1, 2 … 255, 0 …
inline std::string counting_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i & 0xff);
  return bytes;
}

/// A record of a CIFAR-10 file: the label, then 3072 bytes that count up from it.
inline std::string cifar10_record(int label) {
  std::string record = counting_bytes(3073);
  for (char& byte : record) byte = static_cast<char>(byte + label);
  return record;
}

/// `content` as a gzip file.
inline std::string gzip(const std::string& content) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header and checksum
  if (deflateInit2(&stream, 9, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2 failed");
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return out;
}

}  // namespace lockstep::internal::data
