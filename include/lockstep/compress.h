// Hooks that send fewer bytes: a bucket of gradients is compressed, exchanged and decompressed
// while backward goes on. Give one to DdpOptions::hook. docs/algorithms.md has what each costs and
// saves.
//
// Every call makes a hook with a memory of its own (what earlier steps left out, scratch room) and
// a thread that its buckets are worked on: make one for each wrapper. One that a living wrapper
// uses throws UsageError in another's backward. All ranks make the same. In a group of one they do
// nothing.
//
// Those with error feedback keep what they did not send, and add it to the next step's gradients:
// nothing is lost, only late. What a backward that failed was to send is sent later. Of gradients
// that are not finite the step's result is not either, as without compression, and nothing of them
// is kept.
#pragma once

#include <lockstep/bucket_hook.h>

#include <string_view>

namespace lockstep::compress {

/// Half the bytes of float32: values are divided by the number of ranks, rounded to 16 bits, and
/// added in float32. float16 has more digits, but no numbers below 6e-8 nor above 65504; bfloat16
/// has the range of float32 and 8 bits of digits.
BucketHook float16();
BucketHook bfloat16();

/// The largest `share` of a bucket's gradients by magnitude, with their places: 8 bytes each, from
/// every rank to every other. Error feedback. Throws UsageError unless 0 < share <= 1.
BucketHook top_k(double share);

/// PowerSGD: each parameter's gradient, as a matrix (its first dimension × the rest; near-square
/// where that is not known), is replaced by the product of two factors with `rank` columns each.
/// Parameters that are too small to gain are sent whole. Error feedback. Throws UsageError unless 1
/// <= rank <= 128.
BucketHook power_sgd(int rank);

/// One bit a gradient, and for each parameter the mean magnitude. Error feedback.
BucketHook sign();

/// As `--compress` names them: "float16", "bfloat16", "topk:0.01", "powersgd:2", "sign"; empty for
/// an empty hook. Throws UsageError for anything else.
BucketHook parse(std::string_view text);

}  // namespace lockstep::compress
