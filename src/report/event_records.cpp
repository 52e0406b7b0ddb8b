#include "report/event_records.h"

#include "base/hash/crc32c.h"

#include <bit>

namespace lockstep::internal::report {

namespace {

// Field numbers of TensorFlow's messages Event, Summary and Summary.Value.
constexpr unsigned kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
constexpr unsigned kValue = 1;
constexpr unsigned kTag = 1, kSimpleValue = 2;

/// How a field's value is encoded.
enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <typename Unsigned>
void add_fixed(std::string& out, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

/// Seven bits per byte, the lowest first. The eighth bit is set in all bytes except the last.
void add_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void add_key(std::string& out, unsigned field, Wire wire) {
  add_varint(out, field << 3 | wire);
}

void add_bytes(std::string& out, unsigned field, std::string_view bytes) {
  add_key(out, field, kBytes);
  add_varint(out, bytes.size());
  out += bytes;
}

std::string event_at(double moment) {
  std::string event;
  add_key(event, kWallTime, kFixed64);
  add_fixed(event, std::bit_cast<std::uint64_t>(moment));
  return event;
}

/// TFRecord's masked CRC. The mask keeps checksums of data that contain checksums useful.
std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

}  // namespace

EventRecords::EventRecords(double moment) {
  std::string event = event_at(moment);
  add_bytes(event, kFileVersion, "brain.Event:2");
  add_record(event);
}

void EventRecords::add(double moment, std::int64_t step,
                       const std::vector<std::pair<std::string_view, double>>& scalars) {
  std::string summary;
  for (const auto& [name, number] : scalars) {
    std::string value;
    add_bytes(value, kTag, name);
    add_key(value, kSimpleValue, kFixed32);
    add_fixed(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)));
    add_bytes(summary, kValue, value);
  }
  std::string event = event_at(moment);
  add_key(event, kStep, kVarint);
  add_varint(event, static_cast<std::uint64_t>(step));
  add_bytes(event, kSummary, summary);
  add_record(event);
}

void EventRecords::add_record(const std::string& message) {
  std::string length;
  add_fixed(length, std::uint64_t{message.size()});
  bytes_ += length;
  add_fixed(bytes_, masked_crc(length));
  bytes_ += message;
  add_fixed(bytes_, masked_crc(message));
}

}  // namespace lockstep::internal::report
