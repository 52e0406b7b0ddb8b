// Parses HTTP/1.1 requests: GET and HEAD without a body, and nothing else. The bytes are not
// trusted. A pure function: no sockets, no files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::internal::watch {

/// Longest request line with all header fields, in bytes.
constexpr std::size_t kLongestHead = 8192;

struct HttpRequest {
  bool head = false;  ///< HEAD: the answer has no body
  std::string path;   ///< begins with '/'; visible ASCII, percent signs are not decoded
};

struct ParsedRequest {
  /// 0 if more bytes are needed, 200 for a request, otherwise the status of the refusal.
  int status = 0;
  HttpRequest request;
};

/// Parses the request at the front of `received`; later bytes are ignored. Host must be a name of
/// this computer's loopback interface, with any port. Otherwise the page of another site whose
/// name was changed to resolve to 127.0.0.1 could read the answers (DNS rebinding).
ParsedRequest parse_request(std::string_view received);

}  // namespace lockstep::internal::watch
