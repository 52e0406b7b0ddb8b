// The choice of a convolution's methods, by given and by measured times.
#include <lockstep/error.h>

#include "engine/onednn/choice/convolution_trial.h"
#include "engine/onednn/choice/measured_methods.h"
#include "engine/onednn_support.h"
#include "support/environment.h"
#include "support/temporary_folder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <limits>

namespace lockstep::internal::engine::onednn {
namespace {

using ::testing::HasSubstr;

constexpr Methods kDirect;
constexpr Methods kWinograd{Method::winograd, Method::winograd, Method::winograd};

/// Combinations of a direct and a Winograd form of each pass; direct backward to the input needs a
/// reorder.
enum Numbered : std::size_t {
  forward,
  to_input,
  to_weights,
  reorder,
  forward_winograd,
  to_input_winograd,
  to_weights_winograd
};

std::vector<Combination> all_combinations() {
  std::vector<Combination> all;
  constexpr Method kTwo[] = {Method::direct, Method::winograd};
  for (Method one : kTwo)
    for (Method two : kTwo)
      for (Method three : kTwo) {
        Combination combination{{one, two, three}, {}};
        combination.steps = {one == Method::direct ? forward : forward_winograd,
                             three == Method::direct ? to_weights : to_weights_winograd,
                             two == Method::direct ? to_input : to_input_winograd};
        if (two == Method::direct) combination.steps.push_back(reorder);
        all.push_back(combination);
      }
  return all;
}

Methods best(const std::vector<double>& seconds) {
  return best_of(all_combinations(), seconds).methods;
}

TEST(OnednnChoice, TakesTheFastestOfEachPass) {
  EXPECT_EQ(best({3, 3, 3, 0, 2, 2, 2}), kWinograd);
  EXPECT_EQ(best({2, 2, 2, 0, 3, 3, 3}), kDirect);
  EXPECT_EQ(best({2, 2, 3, 0, 3, 3, 2}),
            (Methods{Method::direct, Method::direct, Method::winograd}));
}

TEST(OnednnChoice, CountsTheReordersThatACombinationNeeds) {
  EXPECT_EQ(best({2, 2, 2, 0.9, 3, 3, 3}).backward_data, Method::direct);
  EXPECT_EQ(best({2, 2, 2, 1.5, 3, 3, 3}).backward_data, Method::winograd);
}

TEST(OnednnChoice, PrefersDirectPassesIfTheyAreNearlyAsFast) {
  EXPECT_EQ(best({10.1, 10.1, 10.1, 0.1, 10, 10, 10}), kDirect);
  // Not if both are direct, but one alone: the one that costs least.
  EXPECT_EQ(best({10.3, 10.4, 10.5, 0, 10, 10, 10}),
            (Methods{Method::direct, Method::winograd, Method::winograd}));
  EXPECT_EQ(best({10.7, 10.7, 10.7, 0, 10, 10, 10}), kWinograd);
}

TEST(OnednnChoice, IsClearOnlyIfNoOtherIsClose) {
  const std::vector<Combination> all = all_combinations();
  EXPECT_TRUE(is_clear(all, std::vector<double>{4, 4, 4, 0, 2, 2, 2}));
  EXPECT_FALSE(is_clear(all, std::vector<double>{2.1, 4, 4, 0, 2, 2, 2}));
}

TEST(OnednnChoice, IsWrittenAndReadByTheMethodsNames) {
  const LayerMethods methods{{"features.0", kDirect}, {"features.4", kWinograd}};
  const nlohmann::json json = to_json(methods);
  EXPECT_EQ(json["features.0"]["forward"], "direct");
  EXPECT_EQ(json["features.4"]["backward_data"], "winograd");
  EXPECT_EQ(layer_methods_from(json), methods);
  for (const char* wrong :
       {"null", "[]", "7", R"({"a": 1})", R"({"a": {"forward": "direct"}})",
        R"({"a": {"forward": "guessed", "backward_data": "direct", "backward_weights": "direct"}})",
        R"({"a": {"forward": 1, "backward_data": 2, "backward_weights": 3}})"})
    EXPECT_FALSE(layer_methods_from(nlohmann::json::parse(wrong))) << wrong;
}

bool has_winograd() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
}

const dnnl::engine& dnnl_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

ConvolutionShape small_shape() {
  return {.batch = 2,
          .channels_in = 16,
          .channels_out = 32,
          .input = {8, 8},
          .output = {8, 8},
          .window = {{3, 3}, {1, 1}, {1, 1}}};
}

std::ptrdiff_t count_named(const ConvolutionTrial& trial, const Combination& combination,
                           std::string_view part) {
  return std::ranges::count_if(combination.steps, [&](std::size_t step) {
    return trial.steps()[step].name.find(part) != std::string::npos;
  });
}

TEST(OnednnTrial, FindsTheReordersOfEveryCombination) {
  if (!has_winograd()) GTEST_SKIP() << "there is no Winograd";
  const ConvolutionTrial trial(dnnl_engine(), small_shape());
  std::size_t seen = 0;
  for (const Combination& combination : trial.combinations()) {
    EXPECT_EQ(count_named(trial, combination, "forward"), 1);
    EXPECT_EQ(count_named(trial, combination, "backward to its weights"), 1);
    EXPECT_EQ(count_named(trial, combination, "backward to its input"), 1);
    const bool direct = combination.methods.backward_data == Method::direct;
    const bool winograd = combination.methods.backward_data == Method::winograd;
    if (!direct && !winograd) continue;
    EXPECT_EQ(count_named(trial, combination, "reorder"), direct ? 1 : 0);
    ++seen;
  }
  EXPECT_GE(seen, 8u);
}

TEST(OnednnTrial, TimesEveryStep) {
  ConvolutionTrial trial(dnnl_engine(), small_shape());
  for (double seconds : trial.seconds())
    EXPECT_EQ(seconds, std::numeric_limits<double>::max()) << "none has run yet";
  trial.run();
  for (double seconds : trial.seconds()) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 100);
  }
}

TEST(OnednnTrial, HasOneCombinationWithoutOtherMethods) {
  ConvolutionShape shape = small_shape();
  shape.window = {{5, 5}, {2, 2}, {2, 2}};
  shape.output = {4, 4};
  const ConvolutionTrial trial(dnnl_engine(), shape);
  EXPECT_EQ(trial.combinations().size(), 1u);
  EXPECT_EQ(measure(dnnl_engine(), shape), kDirect);
}

TEST(OnednnTrial, ImagesHaveNoGradient) {
  ConvolutionShape shape = small_shape();
  shape.input_gradient = false;
  const ConvolutionTrial trial(dnnl_engine(), shape);
  for (const Combination& combination : trial.combinations()) {
    EXPECT_EQ(count_named(trial, combination, "backward to its weights"), 1);
    EXPECT_EQ(count_named(trial, combination, "backward to its input"), 0);
  }
}

class OnednnChoiceCache : public ::testing::Test {
 protected:
  ChoiceCache cache(const std::string& machine = "this machine") const { return {file_, machine}; }

  void keep(const ConvolutionShape& shape, const Methods& methods) const {
    ChoiceCache kept = cache();
    kept.add(shape, methods);
    kept.save();
  }

  testing::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "new" / "choices.json";
};

TEST_F(OnednnChoiceCache, KeepsMeasurements) {
  EXPECT_EQ(cache().find(small_shape()), std::nullopt);
  keep(small_shape(), kWinograd);
  EXPECT_EQ(cache().find(small_shape()), kWinograd);
  keep(small_shape(), kDirect);
  EXPECT_EQ(cache().find(small_shape()), kDirect);
}

TEST_F(OnednnChoiceCache, SeparatesMachinesAndShapes) {
  keep(small_shape(), kWinograd);
  EXPECT_EQ(cache("another").find(small_shape()), std::nullopt);
  EXPECT_NE(describe_machine(1), describe_machine(2));
  ConvolutionShape other = small_shape();
  other.batch = 3;
  EXPECT_EQ(cache().find(other), std::nullopt);
  other = small_shape();
  other.input_gradient = false;
  EXPECT_EQ(cache().find(other), std::nullopt);
  other = small_shape();
  other.window.padding = {0, 0};
  EXPECT_EQ(cache().find(other), std::nullopt);
  other = small_shape();
  other.layer = "another layer of the same shape";
  EXPECT_EQ(cache().find(other), kWinograd);
}

TEST_F(OnednnChoiceCache, KeepsConcurrentWrites) {
  ChoiceCache first = cache();
  ChoiceCache second = cache("another");
  EXPECT_EQ(first.find(small_shape()), std::nullopt);
  EXPECT_EQ(second.find(small_shape()), std::nullopt);
  first.add(small_shape(), kWinograd);
  second.add(small_shape(), kDirect);
  first.save();
  second.save();
  EXPECT_EQ(cache().find(small_shape()), kWinograd);
  EXPECT_EQ(cache("another").find(small_shape()), kDirect);
}

TEST_F(OnednnChoiceCache, IgnoresDamagedFiles) {
  keep(small_shape(), kWinograd);
  const std::string sound = read_file(file_);
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& content :
       {std::string(), std::string("{"), std::string("[1]"), std::string("null"), std::string("{}"),
        sound.substr(0, sound.size() / 2), changed("\"format\": 1", "\"format\": 2"),
        changed("\"choices\"", "\"others\""), std::string("{\"format\":1,\"choices\":7}"),
        std::string(5 << 20, ' ')}) {
    write_file(file_, content);
    ChoiceCache read = cache();
    EXPECT_EQ(read.find(small_shape()), std::nullopt) << content.substr(0, 100);
    EXPECT_THAT(read.problem(), HasSubstr(file_.string())) << content.substr(0, 100);
    keep(small_shape(), kDirect);
    EXPECT_EQ(cache().find(small_shape()), kDirect) << "it was to be replaced";
  }
  // Valid as a whole, but not in the requested part.
  for (const std::string& content :
       {changed("winograd", "guessed"), changed("\"forward\"", "\"upward\""),
        changed("\"this machine\": {", "\"this machine\": 7, \"x\": {")}) {
    write_file(file_, content);
    ChoiceCache read = cache();
    EXPECT_EQ(read.find(small_shape()), std::nullopt) << content;
    keep(small_shape(), kDirect);
    EXPECT_EQ(cache().find(small_shape()), kDirect);
  }
}

TEST_F(OnednnChoiceCache, ReportsThatItCannotBeWritten) {
  folder_.write("new", "a file where the folder is to be");
  EXPECT_THROW(keep(small_shape(), kDirect), FileError);
}

TEST_F(OnednnChoiceCache, SavesNothingWithoutAFile) {
  ChoiceCache none({}, "this machine");
  none.add(small_shape(), kWinograd);
  none.save();
  EXPECT_EQ(none.find(small_shape()), std::nullopt);
  EXPECT_EQ(none.problem(), "");
}

TEST(OnednnChoicesFile, IsInTheUsersCacheFolder) {
  const testing::EnvironmentVariable home("HOME", "/home/somebody");
  {
    const testing::EnvironmentVariable cache("XDG_CACHE_HOME", "/elsewhere");
    EXPECT_EQ(choices_file(), "/elsewhere/lockstep/convolutions.json");
  }
  const testing::EnvironmentVariable cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(choices_file(), "/home/somebody/.cache/lockstep/convolutions.json");
  const testing::EnvironmentVariable no_home("HOME", std::nullopt);
  EXPECT_EQ(choices_file(), "");
}

/// Two convolutions of one shape after a first without a choice, and one of stride 2.
LayerGraph small_graph() {
  LayerGraph graph;
  graph.images = {3, 8, 8};
  auto add = [&](const std::string& name, std::int64_t from, std::int64_t to, std::int64_t stride) {
    const int number = static_cast<int>(graph.layers.size());
    graph.layers.push_back({.kind = LayerKind::convolution,
                            .name = name,
                            .inputs = {number - 1},
                            .outputs = to,
                            .window = {{3, 3}, {stride, stride}, {1, 1}},
                            .weight = number});
    graph.parameters.push_back({name, {to, from, 3, 3}});
  };
  add("first", 3, 16, 1);
  add("second", 16, 16, 1);
  add("third", 16, 16, 1);
  add("smaller", 16, 16, 2);
  graph.layers.push_back(
      {.kind = LayerKind::linear, .name = "scores", .inputs = {3}, .outputs = 10, .weight = 4});
  graph.parameters.push_back({"scores", {10, 256}});
  return graph;
}

TEST_F(OnednnChoiceCache, ServesEveryLayerOfItsShapeWithoutMeasuring) {
  if (!has_winograd()) GTEST_SKIP() << "there is nothing to choose";
  const auto convolutions = convolutions_of(dnnl_engine(), small_graph(), 2);
  std::vector<std::pair<std::string, bool>> found;
  for (const auto& [shape, may_differ] : convolutions) found.emplace_back(shape.layer, may_differ);
  EXPECT_EQ(found, (std::vector<std::pair<std::string, bool>>{
                       {"first", false}, {"second", true}, {"third", true}, {"smaller", false}}));
  // Two that differ: a measurement could give one of them, but not both.
  for (const Methods& kept :
       {Methods{Method::direct, Method::winograd, Method::direct}, kWinograd}) {
    keep(convolutions[1].shape, kept);
    ChoiceCache filled = cache();
    EXPECT_EQ(measure_methods(dnnl_engine(), small_graph(), 2, filled),
              (LayerMethods{
                  {"first", kDirect}, {"second", kept}, {"third", kept}, {"smaller", kDirect}}));
  }
}

TEST_F(OnednnChoiceCache, IsFilledByMeasuring) {
  if (!has_winograd()) GTEST_SKIP() << "there is nothing to choose";
  ChoiceCache empty = cache();
  const LayerMethods measured = measure_methods(dnnl_engine(), small_graph(), 2, empty);
  EXPECT_EQ(measured.size(), 4u);
  EXPECT_EQ(measured.at("second"), measured.at("third"));
  const auto convolutions = convolutions_of(dnnl_engine(), small_graph(), 2);
  EXPECT_EQ(cache().find(convolutions[1].shape), measured.at("second"));
  EXPECT_EQ(cache().find(convolutions[0].shape), std::nullopt) << "it had no choice";
}

TEST_F(OnednnChoiceCache, ReportsProblemsInOneNotice) {
  if (!has_winograd()) GTEST_SKIP() << "there is nothing to choose";
  std::vector<std::string> notices;
  auto measure_with = [&](ChoiceCache used) {
    notices.clear();
    measure_methods(dnnl_engine(), small_graph(), 2, used,
                    [&](const std::string& text) { notices.push_back(text); });
  };
  measure_with({folder_.write("broken.json", "{"), "this machine"});
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_THAT(notices[0], HasSubstr("broken.json"));
  EXPECT_THAT(notices[0], HasSubstr("timed again"));
  measure_with({folder_.write("a file", "") / "choices.json", "this machine"});
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_THAT(notices[0], HasSubstr("a file"));
  EXPECT_THAT(notices[0], HasSubstr("timed in every run"));
  measure_with({folder_.path() / "new.json", "this machine"});
  EXPECT_TRUE(notices.empty());
}

}  // namespace
}  // namespace lockstep::internal::engine::onednn
