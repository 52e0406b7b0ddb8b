// An HTTP request of any bytes: only whole requests of this computer are accepted, as what they
// are.
#include "fuzz.h"
#include "watch/http_request.h"

namespace lockstep::internal::fuzz {

std::vector<std::string> seeds() {
  const std::string host = " HTTP/1.1\r\nHost: localhost:8765\r\n";
  return {
      "GET /" + host + "\r\n",
      "HEAD /run/0123456789abcdef/page.json" + host + "Accept: */*\r\nContent-Length: 0\r\n\r\n",
      "POST /" + host + "Transfer-Encoding: chunked\r\n\r\n",
      "GET / HTTP/1.0\r\nHost: [::1]\r\nHost: evil.example\r\n\r\n"};
}

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const watch::ParsedRequest parsed = watch::parse_request(bytes);
  const std::size_t end = bytes.find("\r\n\r\n");
  fuzz::require((parsed.status == 0) == (end == bytes.npos && size < watch::kLongestHead),
                "a request without its end needs more bytes");
  if (parsed.status != 200) return 0;
  const std::string& path = parsed.request.path;
  fuzz::require(bytes.starts_with((parsed.request.head ? "HEAD " : "GET ") + path + " HTTP/1."),
                "the path is that of the request line");
  fuzz::require(path.starts_with('/') && path.find_first_of(" \r\n\t") == path.npos,
                "a path is one word");
  const std::string again =
      (parsed.request.head ? "HEAD " : "GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  fuzz::require(watch::parse_request(again).request.path == path, "its path is a path again");
  fuzz::require(watch::parse_request(bytes.substr(0, end + 4)).status == 200,
                "later bytes do not matter");
  return 0;
}
