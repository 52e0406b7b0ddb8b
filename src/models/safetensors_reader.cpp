// Reads in three steps, so that no byte is copied before everything about it was checked: parse the
// header, check each entry and all of them together against the data, copy.
#include <lockstep/error.h>

#include "base/files.h"
#include "models/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace lockstep::internal::models {

namespace {

using nlohmann::json;

/// Far above that of any model (a thousand tensors take 100 KiB); limits the memory of the JSON
/// parser.
constexpr std::uint64_t kMaxHeaderBytes = 16 << 20;

/// The deepest value is an array (2) in a tensor's object (1) in the header (0).
constexpr int kMaxDepth = 2;

/// The same limit as in libtorch.
constexpr std::size_t kMaxDimensions = 64;

/// A tensor whose data have not been copied yet.
struct Entry {
  StoredTensor tensor;
  std::uint64_t begin;
  std::uint64_t end;
};

/// Text of the file for messages: quoted, plain ASCII, short.
std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string quoted = json(text.substr(0, kLongest))
                           .dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  return text.size() > kLongest ? quoted + "…" : quoted;
}

class Reader {
 public:
  Reader(std::string_view content, const std::string& source) : source_(source) { split(content); }

  std::vector<StoredTensor> read(Metadata* metadata);

 private:
  [[noreturn]] void damaged(const std::string& what) const;
  [[noreturn]] void damaged(const std::string& name, const std::string& what) const;

  void split(std::string_view content);
  json parse_header() const;
  Metadata metadata_of(const json& value) const;

  Entry entry_of(const std::string& name, const json& value) const;
  DataType type_of(const std::string& name, const json& value) const;
  std::vector<std::int64_t> numbers_of(const std::string& name, const json& value,
                                       const char* key) const;
  void check_extent(const Entry& entry) const;
  void check_cover(const std::vector<Entry>& entries) const;
  void copy_data(Entry& entry) const;

  const std::string& source_;
  std::string_view header_;
  std::string_view data_;
};

void Reader::damaged(const std::string& what) const {
  throw FileError(fmt::format(
      "{}: {}; the file is damaged or not a safetensors file: write or download it again", source_,
      what));
}

void Reader::damaged(const std::string& name, const std::string& what) const {
  damaged(fmt::format("tensor {} {}", shown(name), what));
}

void Reader::split(std::string_view content) {
  std::uint64_t length = 0;
  if (content.size() < sizeof length)
    damaged(fmt::format("has {} bytes, too few for the header's length", content.size()));
  std::memcpy(&length, content.data(), sizeof length);
  content.remove_prefix(sizeof length);
  if (length > content.size() || length > kMaxHeaderBytes)
    damaged(fmt::format("states a header length of {} bytes, but {} follow and {} are allowed",
                        length, content.size(), kMaxHeaderBytes));
  header_ = content.substr(0, length);
  data_ = content.substr(length);
  if (!header_.starts_with('{')) damaged("its header does not begin with '{'");
}

/// Stricter than JSON: no key may occur twice, and nothing may nest deeper than a header does.
json Reader::parse_header() const {
  std::vector<std::set<std::string>> keys;  // of the open objects, the outermost first
  auto watch = [&](int depth, json::parse_event_t event, const json& value) {
    using Event = json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth > kMaxDepth)
      damaged(fmt::format("its header nests deeper than {} levels", kMaxDepth + 1));
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.back().insert(value.get<std::string>()).second)
      damaged(fmt::format("its header has the key {} twice", shown(value.get<std::string>())));
    return true;
  };
  try {
    return json::parse(header_, watch);
  } catch (const json::parse_error& error) {
    damaged(fmt::format("its header is not JSON at byte {}", error.byte));
  } catch (const json::out_of_range&) {
    damaged("its header has a number that is out of range");
  }
}

Metadata Reader::metadata_of(const json& value) const {
  Metadata metadata;
  if (!value.is_object()) damaged("its __metadata__ is not an object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) damaged(fmt::format("its __metadata__ {} is not a string", shown(key)));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

DataType Reader::type_of(const std::string& name, const json& value) const {
  auto dtype = value.find("dtype");
  if (dtype == value.end() || !dtype->is_string()) damaged(name, "has no dtype");
  auto type = stored_type(dtype->get<std::string>());
  if (!type)
    throw FileError(fmt::format("{}: tensor {} has dtype {}: convert it to one of {}", source_,
                                shown(name), shown(dtype->get<std::string>()), stored_names()));
  return *type;
}

std::vector<std::int64_t> Reader::numbers_of(const std::string& name, const json& value,
                                             const char* key) const {
  auto array = value.find(key);
  if (array == value.end() || !array->is_array()) damaged(name, fmt::format("has no {}", key));
  std::vector<std::int64_t> numbers;
  for (const json& number : *array) {
    constexpr std::uint64_t kHighest = std::numeric_limits<std::int64_t>::max();
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kHighest)
      damaged(name, fmt::format("has {} in its {}, not a whole number from 0 to {}",
                                shown(number.dump()), key, kHighest));
    numbers.push_back(number.get<std::int64_t>());
  }
  return numbers;
}

Entry Reader::entry_of(const std::string& name, const json& value) const {
  if (!value.is_object()) damaged(name, "is not described by an object");
  Entry entry{};
  entry.tensor.name = name;
  entry.tensor.type = type_of(name, value);
  entry.tensor.shape = numbers_of(name, value, "shape");
  if (entry.tensor.shape.size() > kMaxDimensions)
    damaged(name, fmt::format("has {} dimensions, {} are allowed", entry.tensor.shape.size(),
                              kMaxDimensions));
  const auto offsets = numbers_of(name, value, "data_offsets");
  if (offsets.size() != 2)
    damaged(name, fmt::format("has {} data_offsets instead of 2", offsets.size()));
  entry.begin = static_cast<std::uint64_t>(offsets[0]);
  entry.end = static_cast<std::uint64_t>(offsets[1]);
  check_extent(entry);
  return entry;
}

void Reader::check_extent(const Entry& entry) const {
  const auto& [name, type, shape, unread] = entry.tensor;
  if (entry.begin > entry.end || entry.end > data_.size())
    damaged(name, fmt::format("has data_offsets {} to {}, but there are {} bytes of data",
                              entry.begin, entry.end, data_.size()));
  auto bytes = tensor_bytes(type, shape);
  if (!bytes) damaged(name, fmt::format("has the impossible shape {}", format_shape(shape)));
  if (*bytes != entry.end - entry.begin)
    damaged(name,
            fmt::format("has {} bytes of data, but {} of shape {} takes {}",
                        entry.end - entry.begin, stored_name(type), format_shape(shape), *bytes));
}

/// REQUIRES: entries are ordered by where they begin.
void Reader::check_cover(const std::vector<Entry>& entries) const {
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < covered)
      damaged(entry.tensor.name, fmt::format("begins at {}, inside the tensor before it (to {})",
                                             entry.begin, covered));
    if (entry.begin > covered)
      damaged(entry.tensor.name, fmt::format("begins at {}, but the tensor before it ends at {}",
                                             entry.begin, covered));
    covered = entry.end;
  }
  if (covered != data_.size())
    damaged(fmt::format("its tensors end at {}, but there are {} bytes of data", covered,
                        data_.size()));
}

void Reader::copy_data(Entry& entry) const {
  const auto* data = reinterpret_cast<const std::byte*>(data_.data());
  entry.tensor.data.assign(data + entry.begin, data + entry.end);
}

std::vector<StoredTensor> Reader::read(Metadata* metadata) {
  const json header = parse_header();
  Metadata found;
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__")
      found = metadata_of(value);
    else
      entries.push_back(entry_of(key, value));
  }
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.begin, e.end); });
  check_cover(entries);
  std::vector<StoredTensor> tensors;
  for (Entry& entry : entries) {
    copy_data(entry);
    tensors.push_back(std::move(entry.tensor));
  }
  std::ranges::sort(tensors, {}, &StoredTensor::name);
  if (metadata != nullptr) *metadata = std::move(found);
  return tensors;
}

}  // namespace

std::vector<StoredTensor> parse_safetensors(std::string_view content, const std::string& source,
                                            Metadata* metadata) {
  return Reader(content, source).read(metadata);
}

std::vector<StoredTensor> read_safetensors(const std::filesystem::path& path, Metadata* metadata) {
  return parse_safetensors(read_file(path), path.string(), metadata);
}

}  // namespace lockstep::internal::models
