// Control messages: every accepted message must encode to the same bytes and be valid.
#include <lockstep/error.h>

#include "comm/mesh/control_message.h"
#include "comm/mesh/wire.h"
#include "fuzz.h"

namespace lockstep::internal::fuzz {

using namespace comm;

std::vector<std::string> seeds() {
  Fingerprint call{.operation = Operation::all_reduce,
                   .type = DataType::bfloat16,
                   .reduce = ReduceOp::average,
                   .algorithm = Algorithm::ring,
                   .root = 3,
                   .count = 1u << 20,
                   .sequence = 17,
                   .stream = 2,
                   .bucket = 5};
  return {encode(Call{call}),
          encode(Announcement{5, 1, 4096}),
          encode(Taken{{1, 4096}}),
          encode(Goodbye{2, true}),
          encode(Ask{}),
          encode(Answer{})};
}

namespace {

void check(const Call& call) {
  require(!call.fingerprint.text().empty(), "a call can be told to people");
}
void check(const Announcement& announcement) {
  require(announcement.tag >= 0 && announcement.slot != kCollectiveSlot &&
              announcement.slot <= kMessageSlots,
          "an announcement keeps to the limits");
}
void check(const Taken& taken) {
  require(!taken.slots.empty(), "an acknowledgement names its messages");
  for (std::uint32_t slot : taken.slots)
    require(slot != kCollectiveSlot && slot <= kMessageSlots, "a slot keeps to the limits");
}
void check(const Goodbye&) {}
void check(const Ask&) {}
void check(const Answer&) {}

}  // namespace

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const comm::ControlMessage message = comm::decode_control_message(bytes);
    fuzz::require(comm::encode(message) == bytes, "a message is encoded as it came");
    std::visit([](const auto& one) { fuzz::check(one); }, message);
  } catch (const lockstep::Error&) {
    // Rejected, which is allowed.
  }
  return 0;
}
