// Gloo's transport classes, opened up where Lockstep needs it: pairs over connections that we made,
// and buffers that can be asked whether they are done. Gloo's own waits cannot be bounded without
// breaking all of its connections.
#pragma once

#include "base/unique_fd.h"

#include <chrono>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <gloo/transport/tcp/unbound_buffer.h>
#include <memory>

namespace lockstep::comm {

/// Gloo's end of a connection that is already there.
class ProvedPair : public gloo::transport::tcp::Pair {
 public:
  ProvedPair(gloo::transport::tcp::Context* context, gloo::transport::tcp::Device* device, int rank,
             UniqueFd connection);

  /// While another thread has the pair, Gloo's comes back without having done anything and is
  /// called again at once. Where cores are few its thread then keeps the other from letting go, for
  /// milliseconds: this one offers its core. It cannot wait for the pair instead: who closes it
  /// holds it and waits for Gloo's thread.
  void handleEvents(int events) override;
};

/// All of this rank's pairs.
class ProvedMesh : public gloo::transport::tcp::Context {
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

  /// Waits until what was started is done, but no longer than `slice`; returns whether it is.
  /// Throws what broke the connection.
  bool wait_for(std::chrono::milliseconds slice);

 private:
  const bool receives_;  ///< rather than sends
};

}  // namespace lockstep::comm
