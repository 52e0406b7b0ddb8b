// The bytes of event files. tests/cli/tensorboard_test.py reads them with Google's protocol
// buffers.
#include "report/event_records.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep::internal::report {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

/// The message in a record, between its length and checksums.
std::string message(std::string_view record) {
  return hex(record.substr(12, record.size() - 16));
}

TEST(EventRecords, StartWithTheFileVersion) {
  const EventRecords records(1.5);
  EXPECT_EQ(hex(records.bytes()).substr(0, 16), "1800000000000000");  // 24 bytes follow
  EXPECT_EQ(message(records.bytes()),
            "09000000000000f83f"  // field 1, a double: 1.5
            "1a0d" +
                hex("brain.Event:2"));  // field 3, 13 bytes
}

TEST(EventRecords, HaveTheScalarsOfAStep) {
  EventRecords records(0);
  const std::size_t before = records.bytes().size();
  records.add(2, 300, {{"a", 0.5}, {"bc", -2}});
  EXPECT_EQ(message(records.bytes().substr(before)),
            "090000000000000040"    // field 1: 2.0
            "10ac02"                // field 2: 300
            "2a15"                  // field 5, a summary of 21 bytes
            "0a080a0161150000003f"  // a value: "a", 0.5
            "0a090a026263"
            "15000000c0");  // a value: "bc", -2
}

TEST(EventRecords, AcceptNaNAndLargeSteps) {
  EventRecords records(0);
  const std::size_t before = records.bytes().size();
  records.add(0, (std::int64_t{1} << 53) - 1, {{"a", std::nan("")}});
  const std::string text = message(records.bytes().substr(before));
  EXPECT_NE(text.find("10ffffffffffffff0f"), std::string::npos) << text;
  EXPECT_NE(text.find("0000c07f"), std::string::npos) << text;
}

}  // namespace
}  // namespace lockstep::internal::report
