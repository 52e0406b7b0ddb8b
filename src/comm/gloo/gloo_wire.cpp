#include "comm/gloo/gloo_wire.h"

#include "comm/gloo/authenticated_mesh.h"
#include "comm/gloo/sigpipe_guard.h"

#include <atomic>
#include <gloo/transport/tcp/attr.h>

namespace lockstep::internal::comm {

namespace {

/// Converts Gloo's exceptions to Lockstep's.
template <typename Call>
auto translated(const Call& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
}

class GlooTransfer : public Transfer {
 public:
  GlooTransfer(std::unique_ptr<ProbedBuffer> buffer, const std::atomic<bool>& closed)
      : buffer_(std::move(buffer)), closed_(closed) {}

  bool done() override { return wait_for({}); }

  bool wait_for(std::chrono::milliseconds slice) override {
    if (closed_.load(std::memory_order_acquire)) throw Error("the connection was closed");
    return translated([&] { return buffer_->wait_for(slice); });
  }

 private:
  std::unique_ptr<ProbedBuffer> buffer_;
  const std::atomic<bool>& closed_;
};

class GlooWire : public Wire {
 public:
  GlooWire(const std::string& address, int rank, std::vector<Peer>& peers) {
    const SigpipeGuard guard;  // inherited by Gloo's thread, which starts here
    gloo::transport::tcp::attr place(address.c_str());
    auto device = std::dynamic_pointer_cast<gloo::transport::tcp::Device>(
        gloo::transport::tcp::CreateDevice(place));
    mesh_ = std::make_shared<AuthenticatedMesh>(device, rank, static_cast<int>(peers.size()));
    for (std::size_t peer = 0; peer < peers.size(); ++peer)
      if (static_cast<int>(peer) != rank)
        mesh_->add(static_cast<int>(peer), std::move(peers[peer].channels[1].socket));
  }

  std::string_view name() const override { return "gloo"; }

  std::shared_ptr<Transfer> send(int to, Slot slot, std::span<const std::byte> data) override {
    return start(const_cast<std::byte*>(data.data()), data.size(), false,
                 [&](ProbedBuffer& buffer) { buffer.send(to, slot, 0, data.size()); });
  }

  std::shared_ptr<Transfer> receive(int from, Slot slot, std::span<std::byte> data) override {
    return start(data.data(), data.size(), true,
                 [&](ProbedBuffer& buffer) { buffer.recv(from, slot, 0, data.size()); });
  }

  void close() override {
    if (!closed_.exchange(true)) mesh_->close();
  }

 private:
  template <typename Begin>
  std::shared_ptr<Transfer> start(std::byte* data, std::size_t bytes, bool receives,
                                  const Begin& begin) {
    if (closed_.load(std::memory_order_acquire)) throw Error("the connection was closed");
    const SigpipeGuard guard;  // Gloo writes to sockets without MSG_NOSIGNAL
    auto buffer = std::make_unique<ProbedBuffer>(mesh_, data, bytes, receives);
    translated([&] { begin(*buffer); });
    return std::make_shared<GlooTransfer>(std::move(buffer), closed_);
  }

  std::shared_ptr<AuthenticatedMesh> mesh_;
  std::atomic<bool> closed_{false};
};

}  // namespace

bool gloo_built() {
  return true;
}

WireKind gloo_wire() {
  return {.name = "gloo",
          .channels = 2,
          .make = [](const RunContext& run, const Membership& membership, std::vector<Peer>& peers,
                     const WaitLimit&) -> std::unique_ptr<Wire> {
            return translated(
                [&] { return std::make_unique<GlooWire>(run.address, membership.rank, peers); });
          }};
}

}  // namespace lockstep::internal::comm
