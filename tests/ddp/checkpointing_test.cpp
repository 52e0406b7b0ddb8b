// Nested backwards, as gradient checkpointing makes them, give the gradients of one process.
#include <lockstep/ddp.h>
#include <lockstep/error.h>

#include "ddp/branches.h"
#include "support/errors.h"
#include "support/ranks.h"

#include <gtest/gtest.h>

namespace lockstep::internal {
namespace {

using testing::expect_error;
using testing::RankKind;
using testing::run_ranks;

using Layer = std::function<torch::Tensor(const torch::Tensor&)>;

/// Drops the activations within the layer, and recomputes them in backward.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, std::int64_t layer) {
    context->saved_data["layer"] = layer;
    context->save_for_backward({input});
    return call(layer, input);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    torch::Tensor input = context->get_saved_variables()[0].detach().requires_grad_(true);
    torch::Tensor output;
    {
      const torch::AutoGradMode on(true);
      output = call(context->saved_data["layer"].toInt(), input);
    }
    torch::autograd::backward({output}, {gradients[0]});
    return {input.grad(), torch::Tensor()};
  }
  static torch::Tensor call(std::int64_t layer, const torch::Tensor& input) {
    return (*reinterpret_cast<const Layer*>(layer))(input);
  }
};

struct Deep : torch::nn::Module {
  Deep() {
    torch::manual_seed(5);
    for (int i = 0; i < 5; ++i)
      layers.push_back(register_module(std::to_string(i), torch::nn::Linear(6, 6)));
    to(torch::kFloat64);
  }
  /// Runs the layers in turn; those from a '(' to its ')' are checkpointed together.
  torch::Tensor forward(const torch::Tensor& input, const std::string& plan) {
    segments.clear();
    torch::Tensor x = input.detach().requires_grad_(true);
    for (std::size_t at = 0; at < plan.size(); ++at) {
      if (plan[at] != '(') {
        x = torch::tanh(layers[plan[at] - '0'](x));
        continue;
      }
      const std::string inner = plan.substr(at + 1, plan.find(')', at) - at - 1);
      segments.push_back(std::make_unique<Layer>([this, inner](torch::Tensor y) {
        for (char layer : inner) y = torch::tanh(layers[layer - '0'](y));
        return y;
      }));
      x = Checkpoint::apply(x, reinterpret_cast<std::int64_t>(segments.back().get()));
      at += inner.size() + 1;
    }
    return x.square().mean();
  }
  std::vector<torch::nn::Linear> layers;
  std::vector<std::unique_ptr<Layer>> segments;
};

torch::Tensor batch(int step) {
  return torch::arange(8 * 6, torch::kFloat64).view({8, 6}).sin() * step;
}

/// The parameters after three steps on all 8 samples in one process.
std::vector<torch::Tensor> alone(const std::vector<std::string>& plans) {
  Deep net;
  torch::optim::SGD sgd(net.parameters(), 0.1);
  int step = 0;
  for (const std::string& plan : plans) {
    sgd.zero_grad();
    std::string flat;
    for (char c : plan)
      if (c != '(' && c != ')') flat += c;
    net.forward(batch(++step), flat).backward();
    sgd.step();
  }
  return net.parameters();
}

void expect_same_as_alone(RankKind kind, const std::vector<std::string>& plans,
                          const DdpOptions& options) {
  const std::vector<torch::Tensor> expected = alone(plans);
  std::vector<std::shared_ptr<Deep>> nets{std::make_shared<Deep>(), std::make_shared<Deep>()};
  run_ranks(kind, 2, [&](const Group& group) {
    Deep& net = *nets[group.rank()];
    DistributedDataParallel ddp(nets[group.rank()], group, options);
    torch::optim::SGD sgd(net.parameters(), 0.1);
    int step = 0;
    for (const std::string& plan : plans) {
      sgd.zero_grad();
      net.forward(batch(++step).narrow(0, group.rank() * 4, 4), plan).backward();
      sgd.step();
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_LE((net.parameters()[i] - expected[i]).abs().max().item<double>(), 1e-12)
          << plans[0] << ", parameter " << i;
  });
}

class Checkpointing : public ::testing::TestWithParam<RankKind> {};
INSTANTIATE_TEST_SUITE_P(All, Checkpointing, ::testing::Values(RankKind::thread, RankKind::process),
                         [](const auto& info) { return testing::name_of(info.param); });

TEST_P(Checkpointing, GivesTheGradientsOfOneProcess) {
  for (const char* plan : {"(01234)", "(01)(234)", "0(12)34", "01(234)", "(012)34",
                           "(0)(1)(2)(3)(4)", "0(123)4", "0(12)3(4)"})
    for (const DdpOptions& options : {testing::kSmallBuckets, DdpOptions{}})
      expect_same_as_alone(GetParam(), {plan, plan, plan}, options);
}

TEST_P(Checkpointing, OfLayersThatAreUsedSeveralTimes) {
  // A weight gets its gradient from several inner backwards, and from the outer one too.
  for (const char* plan : {"(01)(01)(234)", "0(0123)4", "(01234)0", "(0)12(3)34", "4(01234)4"})
    expect_same_as_alone(GetParam(), {plan, plan, plan}, testing::kSmallBuckets);
}

TEST_P(Checkpointing, MayBeginLater) {
  expect_same_as_alone(GetParam(), {"01234", "01234", "01(234)", "(01)(234)", "01234"},
                       testing::kSmallBuckets);
  expect_same_as_alone(GetParam(), {"(012)34", "(012)(01)34", "(0)(0)(0)1234"},
                       testing::kSmallBuckets);
}

TEST_P(Checkpointing, AGradientThatGrowsAfterItWasSentIsReportedOnce) {
  Deep expected;
  expected.forward(batch(1), "012344").backward();
  std::vector<std::shared_ptr<Deep>> nets{std::make_shared<Deep>(), std::make_shared<Deep>()};
  run_ranks(GetParam(), 2, [&](const Group& group) {
    Deep& net = *nets[group.rank()];
    DistributedDataParallel ddp(nets[group.rank()], group, testing::kSmallBuckets);
    for (int step = 0; step < 2; ++step) net.forward(batch(1), "01234").backward();
    net.zero_grad();
    // Layer 4's gradients of the outer backward have been sent when the inner one adds more.
    expect_error<Error>(
        [&] { net.forward(batch(1), "0(1234)4").backward(); },
        {"got another gradient for 4.weight and 4.bias: a backward inside", "run it again"});
    net.zero_grad();
    net.forward(batch(1), "0(1234)4").backward();
    const torch::Tensor error = net.layers[4]->weight.grad() - expected.layers[4]->weight.grad();
    EXPECT_LE(error.abs().max().item<double>(), 1e-12);
  });
}

}  // namespace
}  // namespace lockstep::internal
