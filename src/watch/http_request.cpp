#include "watch/http_request.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace lockstep::internal::watch {

namespace {

constexpr int kMore = 0, kGood = 200, kBadRequest = 400, kMethodNotAllowed = 405,
              kContentTooLarge = 413, kMisdirected = 421, kHeadTooLong = 431, kWrongVersion = 505;

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || kMarks.find(static_cast<char>(c)) != kMarks.npos);
  });
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Whether the text is that of a header field: no control characters except tabs.
bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 0x7f); });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool equal_names(std::string_view one, std::string_view other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

/// The port may be that of an SSH tunnel, so it is any.
bool is_loopback_name(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (host.size() < name.size() || !equal_names(host.substr(0, name.size()), name)) continue;
    const std::string_view port = host.substr(name.size());
    if (port.empty()) return true;
    return port[0] == ':' && port.size() > 1 && port.size() <= 6 &&
           port.find_first_not_of("0123456789", 1) == port.npos;
  }
  return false;
}

/// The text up to `end`, which is removed with it; empty if there is no `end`.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
  const std::size_t place = text.find(end);
  if (place == text.npos) return std::nullopt;
  const std::string_view taken = text.substr(0, place);
  text.remove_prefix(place + end.size());
  return taken;
}

int parse_request_line(std::string_view line, HttpRequest& request) {
  const auto method = take_until(line, " ");
  const auto target = take_until(line, " ");
  if (!method || !target || !is_token(*method)) return kBadRequest;
  if (!target->starts_with('/') || !is_visible(*target)) return kBadRequest;
  if (line != "HTTP/1.1" && line != "HTTP/1.0")
    return line.starts_with("HTTP/") && is_visible(line) ? kWrongVersion : kBadRequest;
  if (*method != "GET" && *method != "HEAD") return kMethodNotAllowed;
  request = {.head = *method == "HEAD", .path = std::string(*target)};
  return kGood;
}

int check_fields(std::string_view fields) {
  std::optional<std::string_view> host;
  while (const auto line = take_until(fields, "\r\n")) {
    const std::size_t colon = line->find(':');
    if (colon == line->npos) return kBadRequest;
    const std::string_view name = line->substr(0, colon);
    const std::string_view value = trimmed(line->substr(colon + 1));
    if (!is_token(name) || !is_field_value(value)) return kBadRequest;
    if (equal_names(name, "transfer-encoding")) return kContentTooLarge;
    if (equal_names(name, "content-length") && value != "0") return kContentTooLarge;
    if (!equal_names(name, "host")) continue;
    if (host) return kBadRequest;
    host = value;
  }
  if (!host) return kBadRequest;
  return is_loopback_name(*host) ? kGood : kMisdirected;
}

}  // namespace

ParsedRequest parse_request(std::string_view received) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = received.substr(0, kLongestHead).find(kEnd);
  if (end == received.npos) return {received.size() >= kLongestHead ? kHeadTooLong : kMore, {}};
  std::string_view head = received.substr(0, end + 2);
  ParsedRequest parsed;
  parsed.status = parse_request_line(*take_until(head, "\r\n"), parsed.request);
  if (const int fields = check_fields(head); parsed.status == kGood) parsed.status = fields;
  return parsed;
}

}  // namespace lockstep::internal::watch
