#include "data/fetch/http_download.h"

#include <lockstep/error.h>

#include "base/check.h"
#include "base/number.h"
#include "data/fetch/part_file.h"

#include <fmt/format.h>

#include <curl/curl.h>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

namespace lockstep::internal::data {

namespace {

constexpr int kAttempts = 5;
constexpr long kOk = 200;
constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

constexpr std::string_view kResume = "run the same command again to resume";
constexpr std::string_view kElsewhere =
    "check the network and the address, or name another source with --from";

/// The outcome of one request.
enum class Outcome { complete, broken, start_over };

/// One request for the missing rest of the file.
class Request {
 public:
  Request(const DownloadOptions& options, PartFile& part)
      : options_(options), part_(part), had_(part.bytes()), curl_(curl_easy_init()) {
    LOCKSTEP_CHECK(curl_ != nullptr, "libcurl did not create a handle");
    const std::string range = fmt::format("{}-", had_);
    set(CURLOPT_URL, options.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_USERAGENT, "lockstep");
    set(CURLOPT_CONNECTTIMEOUT, 30L);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);  // bytes per second; a slower connection counts as lost
    set(CURLOPT_LOW_SPEED_TIME, 60L);
    if (had_ > 0) set(CURLOPT_RANGE, range.c_str());
    set(CURLOPT_WRITEFUNCTION, &Request::receive);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Request::report);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, message_);
  }

  Outcome run() {
    const CURLcode result = curl_easy_perform(curl_.get());
    if (failure_) std::rethrow_exception(failure_);
    if (result == CURLE_OK) {
      begin();  // receive() is never called for an empty file
      if (start_over_) return Outcome::start_over;
      return short_of_the_whole() ? Outcome::broken : Outcome::complete;
    }
    if (start_over_) return Outcome::start_over;
    if (stopped_)
      throw Error(
          fmt::format("{}: interrupted after {} bytes: {}", options_.url, part_.bytes(), kResume));
    if (result == CURLE_HTTP_RETURNED_ERROR) return refused();
    if (part_.bytes() > 0 && can_be_repeated(result)) return Outcome::broken;
    throw Error(fmt::format("{}: {}: {}", options_.url, reason(result), kElsewhere));
  }

  /// The reason, after run() returned `broken`.
  std::string what_broke() const {
    return message_[0] != '\0' ? message_ : "the server sent less than requested";
  }

 private:
  struct Close {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  template <typename Value>
  void set(CURLoption option, Value value) {
    const CURLcode result = curl_easy_setopt(curl_.get(), option, value);
    LOCKSTEP_CHECK(result == CURLE_OK, "libcurl refuses option {}: {}", static_cast<int>(option),
                   curl_easy_strerror(result));
  }

  static bool can_be_repeated(CURLcode result) {
    return result == CURLE_PARTIAL_FILE || result == CURLE_RECV_ERROR ||
           result == CURLE_SEND_ERROR || result == CURLE_GOT_NOTHING ||
           result == CURLE_OPERATION_TIMEDOUT || result == CURLE_HTTP2_STREAM ||
           result == CURLE_HTTP2;
  }

  std::string reason(CURLcode result) const {
    return message_[0] != '\0' ? message_ : curl_easy_strerror(result);
  }

  long status() const {
    long code = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

  std::string_view header(const char* name) const {
    curl_header* found = nullptr;
    const bool there =
        curl_easy_header(curl_.get(), name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
    return there ? found->value : std::string_view{};
  }

  /// "bytes 100-199/200": begin, end and total; "bytes */200" has no begin.
  struct ContentRange {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> whole;
  };
  ContentRange content_range() const {
    std::string_view text = header("Content-Range");
    if (!text.starts_with("bytes ")) return {};
    text.remove_prefix(6);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return {};
    return {.first = number_in<std::uint64_t>(text.substr(0, text.find('-'))),
            .whole = number_in<std::uint64_t>(text.substr(slash + 1))};
  }

  /// A server may send a smaller range than requested.
  bool short_of_the_whole() const {
    return status() == kPartialContent && content_range().whole > part_.bytes();
  }

  Outcome refused() {
    if (status() != kRangeNotSatisfiable || had_ == 0)
      throw Error(
          fmt::format("{}: the server answered with {}: {}", options_.url, status(), kElsewhere));
    // Nothing is left to send: the part is either the whole file or of another file.
    return content_range().whole == had_ ? Outcome::complete : Outcome::start_over;
  }

  /// Checks the response before the first byte.
  void begin() {
    if (begun_) return;
    begun_ = true;
    curl_off_t length = -1;
    curl_easy_getinfo(curl_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    const std::uint64_t coming = length > 0 ? static_cast<std::uint64_t>(length) : 0;
    if (had_ > 0 && status() == kPartialContent) {
      start_over_ = content_range().first != had_;
    } else if (status() == kOk) {
      part_.clear();
    } else {
      throw Error(fmt::format("{}: the server answered with {}, which is not a file: {}",
                              options_.url, status(), kElsewhere));
    }
    total_ = coming > 0 ? part_.bytes() + coming : 0;
    refuse_beyond_limit(total_);
  }

  void refuse_beyond_limit(std::uint64_t bytes) {
    if (bytes <= options_.most_bytes) return;
    part_.clear();
    throw Error(fmt::format(
        "{}: expected at most {} bytes, the server sends {} or more: name another source with "
        "--from",
        options_.url, options_.most_bytes, bytes));
  }

  // Exceptions must not pass through libcurl: they are stored and rethrown after it returns.
  static std::size_t receive(char* data, std::size_t, std::size_t bytes, void* request) {
    auto* self = static_cast<Request*>(request);
    try {
      self->begin();
      if (self->start_over_) return 0;
      self->refuse_beyond_limit(self->part_.bytes() + bytes);
      self->part_.append({data, bytes});
      return bytes;
    } catch (...) {
      self->failure_ = std::current_exception();
      return 0;
    }
  }

  static int report(void* request, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto* self = static_cast<Request*>(request);
    self->stopped_ = !self->options_.progress(self->part_.bytes(), self->total_);
    return self->stopped_ ? 1 : 0;
  }

  const DownloadOptions& options_;
  PartFile& part_;
  const std::uint64_t had_;
  std::unique_ptr<CURL, Close> curl_;
  char message_[CURL_ERROR_SIZE] = "";

  bool begun_ = false;
  bool start_over_ = false;
  bool stopped_ = false;
  std::uint64_t total_ = 0;
  std::exception_ptr failure_;
};

// Called once per process and never undone: other users of libcurl in the process may depend on it.
void start_libcurl() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  LOCKSTEP_CHECK(result == CURLE_OK, "libcurl did not start: {}", curl_easy_strerror(result));
}

}  // namespace

bool download(const DownloadOptions& options) {
  start_libcurl();
  PartFile part(options.part);
  bool resumed = part.bytes() > 0;
  std::string reason;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t had = part.bytes();
    Request request(options, part);
    const Outcome outcome = request.run();
    if (outcome == Outcome::complete) return resumed && had > 0;
    if (outcome == Outcome::start_over) {
      part.clear();
      resumed = false;
      continue;
    }
    reason = request.what_broke();
    if (part.bytes() <= had) break;  // no progress: another attempt would not help
  }
  throw Error(fmt::format("{}: the connection was lost after {} bytes ({}): {}", options.url,
                          part.bytes(), reason, kResume));
}

}  // namespace lockstep::internal::data
