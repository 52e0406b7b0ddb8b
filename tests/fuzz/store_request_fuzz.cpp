// Frames and the requests in them: every accepted request must encode to the same bytes.
#include <lockstep/error.h>

#include "fuzz.h"
#include "launch/rendezvous/store_request.h"

namespace lockstep::internal::fuzz {

using launch::StoreRequest;

std::vector<std::string> seeds() {
  using Kind = StoreRequest::Kind;
  std::string all;
  std::vector<std::string> found;
  for (const StoreRequest& request :
       {StoreRequest{Kind::set, "rank 3", "pid 7", -1}, StoreRequest{Kind::get, "key", "", 2},
        StoreRequest{Kind::claim, "node 1", "2 host", -1}, StoreRequest{Kind::ending, "", "", 1},
        StoreRequest{Kind::lost_on_disconnect, "", "", 6},
        StoreRequest{Kind::report, "", "exited with code 3", 5}}) {
    found.push_back(make_frame(request.encode()));
    all += found.back();
  }
  found.push_back(all);
  return found;
}

namespace {

void check_request(const std::string& payload) {
  try {
    const StoreRequest request = StoreRequest::decode(payload);
    require(request.key.size() <= launch::kMaxKey && request.value.size() <= launch::kMaxValue &&
                request.rank >= -1 && request.rank <= launch::kMaxRank,
            "a request keeps to the limits");
    require(request.encode() == payload, "a request is encoded as it came");
  } catch (const lockstep::Error&) {
    // Rejected, which is allowed.
  }
}

}  // namespace

}  // namespace lockstep::internal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::internal;
  const std::string whole(reinterpret_cast<const char*>(data), size);
  fuzz::check_request(whole);
  std::string buffer = whole;
  std::string again;
  try {
    while (auto payload = take_frame(buffer)) {
      again += make_frame(*payload);
      fuzz::check_request(*payload);
    }
  } catch (const lockstep::Error&) {
  }
  fuzz::require(again + buffer == whole, "frames are taken off whole, and nothing else is");
  return 0;
}
