#include "comm/mesh/control_message.h"

#include <lockstep/error.h>

#include "comm/mesh/wire.h"

#include <type_traits>

namespace lockstep::internal::comm {

namespace {

enum class Kind : std::uint8_t { call = 1, announcement, goodbye, ask, answer, taken };

/// Little-endian numbers, one after another.
class Writer {
 public:
  explicit Writer(Kind kind) { put(static_cast<std::uint8_t>(kind)); }

  template <typename T>
  Writer& put(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    if (bytes_.size() < sizeof(T)) throw Error("a control message that is too short");
    std::make_unsigned_t<T> bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bits = static_cast<std::make_unsigned_t<T>>(
          bits | static_cast<std::make_unsigned_t<T>>(static_cast<unsigned char>(bytes_[i]))
                     << (8 * i));
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(bits);
  }

  /// An enumerator up to `last`.
  template <typename E>
  E take_enum(E last) {
    const auto value = take<std::uint8_t>();
    if (value > static_cast<std::uint8_t>(last)) throw Error("an invalid control message");
    return static_cast<E>(value);
  }

  bool at_end() const { return bytes_.empty(); }

  void require_end() const {
    if (!at_end()) throw Error("a control message that is too long");
  }

 private:
  std::string_view bytes_;
};

std::string write(const Call& call) {
  const Fingerprint& print = call.fingerprint;
  return Writer(Kind::call)
      .put(static_cast<std::uint8_t>(print.operation))
      .put(static_cast<std::uint8_t>(print.type))
      .put(static_cast<std::uint8_t>(print.reduce))
      .put(static_cast<std::uint8_t>(print.algorithm))
      .put(print.root)
      .put(print.count)
      .put(print.sequence)
      .put(print.stream)
      .put(print.bucket)
      .bytes();
}

std::string write(const Announcement& message) {
  return Writer(Kind::announcement).put(message.tag).put(message.slot).put(message.bytes).bytes();
}

std::string write(const Taken& message) {
  Writer writer(Kind::taken);
  for (std::uint32_t slot : message.slots) writer.put(slot);
  return writer.bytes();
}

std::string write(const Goodbye& message) {
  return Writer(Kind::goodbye).put(message.culprit).put(std::uint8_t{message.culprit_died}).bytes();
}

std::string write(const Ask&) {
  return Writer(Kind::ask).bytes();
}

std::string write(const Answer&) {
  return Writer(Kind::answer).bytes();
}

Call read_call(Reader& reader) {
  Fingerprint print;
  print.operation = reader.take_enum(kLastOperation);
  print.type = reader.take_enum(DataType::uint8);
  print.reduce = reader.take_enum(ReduceOp::product);
  print.algorithm = reader.take_enum(Algorithm::native);
  print.root = reader.take<std::int32_t>();
  print.count = reader.take<std::uint64_t>();
  print.sequence = reader.take<std::uint64_t>();
  print.stream = reader.take<std::uint32_t>();
  print.bucket = reader.take<std::int32_t>();
  return {print};
}

std::uint32_t read_slot(Reader& reader) {
  const auto slot = reader.take<std::uint32_t>();
  if (slot == kCollectiveSlot || slot > kMessageSlots)
    throw Error("a control message with an invalid slot");
  return slot;
}

Announcement read_announcement(Reader& reader) {
  Announcement message;
  message.tag = reader.take<std::int32_t>();
  message.slot = read_slot(reader);
  message.bytes = reader.take<std::uint64_t>();
  if (message.tag < 0) throw Error("a control message with an invalid announcement");
  return message;
}

Taken read_taken(Reader& reader) {
  Taken message;
  do message.slots.push_back(read_slot(reader));
  while (!reader.at_end());
  return message;
}

Goodbye read_goodbye(Reader& reader) {
  const auto culprit = reader.take<std::int32_t>();
  const auto died = reader.take<std::uint8_t>();
  if (died > 1) throw Error("an invalid control message");
  return {culprit, died == 1};
}

ControlMessage read(Kind kind, Reader& reader) {
  switch (kind) {
    case Kind::call:
      return read_call(reader);
    case Kind::announcement:
      return read_announcement(reader);
    case Kind::goodbye:
      return read_goodbye(reader);
    case Kind::ask:
      return Ask{};
    case Kind::answer:
      return Answer{};
    case Kind::taken:
      return read_taken(reader);
  }
  throw Error("a control message of an unknown kind");
}

}  // namespace

std::string encode(const ControlMessage& message) {
  return std::visit([](const auto& one) { return write(one); }, message);
}

ControlMessage decode_control_message(std::string_view bytes) {
  Reader reader(bytes);
  const auto kind = static_cast<Kind>(reader.take<std::uint8_t>());
  ControlMessage message = read(kind, reader);
  reader.require_end();
  return message;
}

}  // namespace lockstep::internal::comm
