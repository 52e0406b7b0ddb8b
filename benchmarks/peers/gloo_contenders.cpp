// Plain Gloo over TCP on loopback: two algorithms of the newer function gloo::allreduce, and two of
// the older classes. Which one is fastest depends on the size.
#include <lockstep/group.h>

#include "contender.h"

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace lockstep::internal::benchmarks {

namespace {

std::shared_ptr<gloo::Context> connect(const Setting& setting) {
  gloo::rendezvous::FileStore store(setting.directory);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  auto context =
      std::make_shared<gloo::rendezvous::Context>(setting.group.rank(), setting.group.size());
  context->connectFullMesh(store, device);
  return context;
}

/// gloo::allreduce with options that are reused.
class GlooFunction : public Contender {
 public:
  GlooFunction(const Setting& setting, gloo::AllreduceOptions::Algorithm algorithm)
      : context_(connect(setting)), values_(setting.count), options_(context_) {
    options_.setAlgorithm(algorithm);
    options_.setOutput(values_.data(), values_.size());
    void (*sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<float>;
    options_.setReduceFunction(sum);
  }

  std::span<float> values() override { return values_; }
  void all_reduce() override { gloo::allreduce(options_); }

 private:
  std::shared_ptr<gloo::Context> context_;
  std::vector<float> values_;
  gloo::AllreduceOptions options_;
};

/// One of the older classes, whose arrays are fixed at construction.
template <typename Algorithm>
class GlooClass : public Contender {
 public:
  explicit GlooClass(const Setting& setting)
      : context_(connect(setting)),
        values_(setting.count),
        algorithm_(std::make_unique<Algorithm>(context_, std::vector<float*>{values_.data()},
                                               static_cast<int>(setting.count))) {}

  std::span<float> values() override { return values_; }
  void all_reduce() override { algorithm_->run(); }

 private:
  std::shared_ptr<gloo::Context> context_;
  std::vector<float> values_;
  // A pointer, because Gloo's destructor may throw and a Contender's may not.
  std::unique_ptr<Algorithm> algorithm_;
};

}  // namespace

std::unique_ptr<Contender> make_gloo_ring(const Setting& setting) {
  return std::make_unique<GlooFunction>(setting, gloo::AllreduceOptions::Algorithm::RING);
}

std::unique_ptr<Contender> make_gloo_bcube(const Setting& setting) {
  return std::make_unique<GlooFunction>(setting, gloo::AllreduceOptions::Algorithm::BCUBE);
}

std::unique_ptr<Contender> make_gloo_ring_chunked(const Setting& setting) {
  return std::make_unique<GlooClass<gloo::AllreduceRingChunked<float>>>(setting);
}

std::unique_ptr<Contender> make_gloo_halving_doubling(const Setting& setting) {
  return std::make_unique<GlooClass<gloo::AllreduceHalvingDoubling<float>>>(setting);
}

}  // namespace lockstep::internal::benchmarks
