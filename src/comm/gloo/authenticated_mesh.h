// Subclasses of Gloo's transport classes: pairs over connections that Lockstep made, and buffers
// that can be polled for completion. Gloo's own waits cannot be bounded without breaking all of its
// connections.
#pragma once

#include "base/unique_fd.h"

#include <chrono>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <gloo/transport/tcp/unbound_buffer.h>
#include <memory>

namespace lockstep::internal::comm {

/// Gloo's end of an established connection.
class AuthenticatedPair : public gloo::transport::tcp::Pair {
 public:
  AuthenticatedPair(gloo::transport::tcp::Context* context, gloo::transport::tcp::Device* device,
                    int rank, UniqueFd connection);

  /// While another thread holds the pair, Gloo's handler returns without doing anything and is
  /// called again at once. With few cores, Gloo's thread then keeps the other thread from releasing
  /// the pair, for milliseconds; this override yields its core instead. It cannot block on the
  /// pair: the thread that closes the pair holds it while it waits for Gloo's thread.
  void handleEvents(int events) override;
};

/// All pairs of this rank.
class AuthenticatedMesh : public gloo::transport::tcp::Context {
 public:
  using Context::Context;

  void add(int rank, UniqueFd connection);

  /// Breaks all connections.
  void close();
};

/// An array that Gloo sends from or receives into, once.
class ProbedBuffer : public gloo::transport::tcp::UnboundBuffer {
 public:
  ProbedBuffer(const std::shared_ptr<gloo::transport::tcp::Context>& context, void* data,
               std::size_t bytes, bool receives)
      : UnboundBuffer(context, data, bytes), receives_(receives) {}

  /// Waits until the transfer is done, at most `slice`; returns whether it is. Throws the error
  /// that broke the connection.
  bool wait_for(std::chrono::milliseconds slice);

 private:
  const bool receives_;  ///< true: receives; false: sends
};

}  // namespace lockstep::internal::comm
