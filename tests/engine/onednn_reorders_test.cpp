// The reorders of each model's plans: no activations, no gradients, and weights only for direct
// passes back to the input, once each.
#include "engine/onednn/describe.h"
#include "engine/onednn/layers/plan_graph.h"
#include "models/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::internal::engine::onednn {
namespace {

using namespace std::string_view_literals;

struct ReorderCase {
  const char* model;
  const char* convolutions;

  ChooseMethods methods() const {
    return convolutions == "direct"sv ? direct_convolutions : convolution_rule;
  }
};

std::ostream& operator<<(std::ostream& out, const ReorderCase& shown) {
  return out << shown.model << " " << shown.convolutions;
}

/// The plans of a model for training and, with the same weights, for evaluation.
struct Plans {
  explicit Plans(const ReorderCase& test) {
    const auto model = models::make_model(test.model);
    const LayerGraph graph = fuse_relu(describe(*model));
    Layouts layouts(graph.parameters.size());
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    training = plan_graph(engine, graph, {16, true, test.methods()}, layouts).steps;
    evaluation = plan_graph(engine, graph, {16, false, test.methods()}, layouts).steps;
  }

  std::vector<Step> training;
  std::vector<Step> evaluation;
};

bool is_reorder(const Step& step) {
  return !step.kernel && step.primitive.get_kind() == dnnl::primitive::kind::reorder;
}

const Operand& operand(const Step& step, int argument) {
  return std::ranges::find(step.operands, argument, &std::pair<int, Operand>::first)->second;
}

/// The later steps that use the result of a reorder.
std::vector<const Step*> users_of(const std::vector<Step>& steps, std::size_t number) {
  const Operand& copy = operand(steps[number], DNNL_ARG_TO);
  std::vector<const Step*> users;
  for (std::size_t i = number + 1; i < steps.size(); ++i)
    for (const auto& [argument, other] : steps[i].operands)
      if (other.same_place(copy)) users.push_back(&steps[i]);
  return users;
}

class OnednnReorders : public ::testing::TestWithParam<ReorderCase> {
 protected:
  void SetUp() override {
    if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx2 && GetParam().model == "vgg11"sv)
      GTEST_SKIP() << "oneDNN's code for AVX2 needs maps of 2×2 in plain layout";
  }

  const Plans plans_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(
    All, OnednnReorders,
    ::testing::Values(ReorderCase{"lenet5", "direct"}, ReorderCase{"lenet5", "fixed"},
                      ReorderCase{"vgg11", "direct"}, ReorderCase{"vgg11", "fixed"},
                      ReorderCase{"resnet18", "direct"}, ReorderCase{"resnet18", "fixed"}),
    [](const auto& info) { return std::string(info.param.model) + "_" + info.param.convolutions; });

TEST_P(OnednnReorders, AreOfWeightsOnly) {
  for (const auto* steps : {&plans_.training, &plans_.evaluation})
    for (const Step& step : *steps) {
      if (!is_reorder(step)) continue;
      EXPECT_EQ(operand(step, DNNL_ARG_FROM).home, Home::weights) << step.name;
    }
}

TEST_P(OnednnReorders, AreForDirectPassesBackToTheInputAndOneForEach) {
  std::set<std::string> served;
  for (std::size_t i = 0; i < plans_.training.size(); ++i) {
    const Step& step = plans_.training[i];
    if (!is_reorder(step)) continue;
    const std::vector<const Step*> users = users_of(plans_.training, i);
    ASSERT_EQ(users.size(), 1u) << step.name;
    EXPECT_TRUE(users[0]->name.ends_with(" backward to its input")) << users[0]->name;
    EXPECT_EQ(users[0]->implementation.find("wino"), std::string::npos) << users[0]->name;
    EXPECT_TRUE(served.insert(users[0]->name).second) << users[0]->name << " has two";
  }
  EXPECT_EQ(std::ranges::count_if(plans_.evaluation, is_reorder), 0);
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
