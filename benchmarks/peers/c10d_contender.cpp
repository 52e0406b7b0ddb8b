// libtorch's process group over Gloo, which a C++ program would use without Lockstep.
#include <lockstep/group.h>

#include "contender.h"

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/types.h>

namespace lockstep::internal::benchmarks {

namespace {

class C10dContender : public Contender {
 public:
  explicit C10dContender(const Setting& setting)
      : tensors_{torch::zeros({static_cast<std::int64_t>(setting.count)})} {
    auto store =
        c10::make_intrusive<c10d::FileStore>(setting.directory + "/store", setting.group.size());
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, setting.group.rank(),
                                                         setting.group.size(), options);
  }

  std::span<float> values() override {
    return {tensors_[0].data_ptr<float>(), static_cast<std::size_t>(tensors_[0].numel())};
  }
  void all_reduce() override { group_->allreduce(tensors_)->wait(); }

 private:
  std::vector<torch::Tensor> tensors_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Contender> make_c10d(const Setting& setting) {
  return std::make_unique<C10dContender>(setting);
}

}  // namespace lockstep::internal::benchmarks
