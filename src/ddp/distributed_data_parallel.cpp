#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/gradient_hooks.h"
#include "sync/ddp.h"

#include <torch/csrc/autograd/engine.h>

namespace lockstep {

namespace {

/// Copies rank 0's tensors into all ranks', in place.
void broadcast(Group& group, const std::vector<torch::Tensor>& tensors) {
  torch::NoGradGuard no_grad;
  for (const torch::Tensor& tensor : tensors) {
    torch::Tensor copy = tensor.detach().contiguous();
    group.broadcast(ArrayView(copy.data_ptr(), copy.nbytes(), DataType::uint8));
    tensor.detach().copy_(copy);
  }
}

}  // namespace

class DistributedDataParallel::Implementation {
 public:
  Implementation(const torch::nn::Module& module, Group group, const DdpOptions& options)
      : gradients_(group, ddp::describe(module),
                   sync::Layout(ddp::describe(module), ddp::type_of(module),
                                {options.first_bucket_bytes, options.bucket_bytes})),
        method_(group, gradients_, options.algorithm),
        hooks_(ddp::trained_parameters(module).values(), gradients_,
               [this](std::size_t i) { on_ready(i); }) {
    broadcast(group, module.parameters());
    broadcast(group, module.buffers());
  }

 private:
  void on_ready(std::size_t parameter) {
    if (backward_.expired()) {
      // What was left over from a backward that threw half-way.
      method_.reset();
      // Torch drops its callbacks with the backward that they belong to, however it ends.
      auto backward = std::make_shared<int>();
      backward_ = backward;
      torch::autograd::Engine::get_default_engine().queue_callback(
          [this, backward] { on_backward_end(); });
    }
    method_.ready(parameter);
  }

  void on_backward_end() {
    backward_.reset();
    method_.finish();
  }

  sync::Gradients gradients_;
  sync::Ddp method_;
  ddp::GradientHooks hooks_;
  std::weak_ptr<int> backward_;  ///< lives as long as the backward under way
};

DistributedDataParallel::DistributedDataParallel(std::shared_ptr<torch::nn::Module> module,
                                                 Group group, const DdpOptions& options) {
  if (!module) throw UsageError("DistributedDataParallel needs a module");
  implementation_ = std::make_unique<Implementation>(*module, std::move(group), options);
}

DistributedDataParallel::~DistributedDataParallel() = default;

}  // namespace lockstep
