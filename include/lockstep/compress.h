// Bucket hooks that send fewer bytes: a bucket of gradients is compressed, exchanged and
// decompressed while backward continues. Pass one to DdpOptions::hook. docs/algorithms.md has the
// cost and the savings of each.
//
// Each function makes a hook with its own state (what earlier steps did not send, scratch memory)
// and its own thread. Make one for each wrapper: a hook that another living wrapper uses throws
// UsageError in backward. All ranks make the same. In a group of one rank hooks do nothing.
//
// Error feedback: such a hook keeps the part of the gradients that it did not send and adds it to
// the gradients of the next step. What a failed backward should have sent is sent later. If
// gradients are not finite, the result of the step is not finite either, as without compression,
// and nothing of them is kept.
#pragma once

#include <lockstep/bucket_hook.h>

#include <string_view>

/// Bucket hooks that send fewer bytes.
namespace lockstep::compress {

/// Sends half the bytes of float32: values are divided by the number of ranks, rounded to float16
/// and added in float32. More precise than bfloat16(), but limited to magnitudes between 6e-8 and
/// 65504.
BucketHook float16();
/// The same with bfloat16: the range of float32, with 8 bits of precision.
BucketHook bfloat16();

/// Sends the largest gradients of a bucket by magnitude, the fraction `share` of them, with their
/// positions: 8 bytes each, from every rank to every other. Error feedback. Throws UsageError
/// unless 0 < share <= 1.
BucketHook top_k(double share);

/// PowerSGD: replaces the gradient of each parameter, as a matrix (its first dimension × the rest;
/// near-square if that is not known), by the product of two factors with `rank` columns. Parameters
/// for which that saves nothing are sent whole. Error feedback. Throws UsageError unless
/// 1 <= rank <= 128.
BucketHook power_sgd(int rank);

/// Sends the sign of each gradient, one bit, and the mean magnitude of each parameter. Error
/// feedback.
BucketHook sign();

/// The hook that `--compress` calls `text`: "float16", "bfloat16", "topk:0.01", "powersgd:2" or
/// "sign". An empty text gives an empty hook. Throws UsageError for anything else.
BucketHook parse(std::string_view text);

}  // namespace lockstep::compress
