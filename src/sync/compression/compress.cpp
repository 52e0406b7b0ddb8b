#include <lockstep/compress.h>
#include <lockstep/error.h>

#include "base/number.h"
#include "sync/compression/compressor.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace lockstep::compress {

using namespace internal;

BucketHook float16() {
  return sync::make_hook([] { return sync::make_cast(DataType::float16); });
}

BucketHook bfloat16() {
  return sync::make_hook([] { return sync::make_cast(DataType::bfloat16); });
}

BucketHook top_k(double fraction) {
  if (!(fraction > 0 && fraction <= 1))
    throw UsageError(fmt::format(
        "the top-k fraction is {}: it must be above 0 and at most 1 (0.01 is common)", fraction));
  return sync::make_hook([fraction] { return sync::make_top_k(fraction); });
}

BucketHook power_sgd(int rank) {
  if (rank < 1 || rank > 128)
    throw UsageError(
        fmt::format("the PowerSGD rank is {}: it must be from 1 to 128 (2 to 4 are common)", rank));
  return sync::make_hook([rank] { return sync::make_power_sgd(rank); });
}

BucketHook sign() {
  return sync::make_hook(sync::make_sign);
}

BucketHook parse(std::string_view text) {
  if (text.empty()) return {};
  if (text == "float16") return float16();
  if (text == "bfloat16") return bfloat16();
  if (text == "sign") return sign();
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view name = text.substr(0, colon), value = text.substr(colon + 1);
    if (const auto fraction = number_in<double>(value); fraction && name == "topk")
      return top_k(*fraction);
    if (const auto rank = number_in<int>(value); rank && name == "powersgd")
      return power_sgd(*rank);
  }
  throw UsageError(fmt::format(
      "unknown compression '{}': use float16, bfloat16, topk:FRACTION (above 0, at most 1), "
      "powersgd:RANK (1 to 128) or sign",
      text));
}

}  // namespace lockstep::compress
