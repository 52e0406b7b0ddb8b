// Parsing of operands.
#include "dataflow/tensor.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::dataflow {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

template <typename Call>
void expect_refused(Call call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << part;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(DataflowTensor, RowsAndListsAreTheSame) {
  EXPECT_EQ(parse_tensor("1,-2;3,4", "it"), parse_tensor("[[1, -2], [3, 4]]", "it"));
  EXPECT_EQ(parse_tensor("[[[[1]]], [[[2]]]]", "it").outer, 2);
  EXPECT_EQ(parse_tensor("[[[1]], [[2]]]", "it").channels, 2);
}

TEST(DataflowTensor, MalformedTensorsAreRefused) {
  const auto tensor = [](const char* text) { return [text] { parse_tensor(text, "--filter"); }; };
  expect_refused(tensor(""), "--filter: it is empty");
  expect_refused(tensor("1,2;3"), "--filter: rows and planes differ in length");
  expect_refused(tensor("1,x"), "--filter is 'x'");
  expect_refused(tensor("1,40000"), "--filter is '40000'");
  expect_refused(tensor("[1, 2]"), "2 to 4 dimensions");
  expect_refused(tensor("[[[[[1]]]]]"), "2 to 4 dimensions");
  expect_refused(tensor("[[]]"), "a dimension is empty");
  expect_refused(tensor("[[1.5]]"), "1.5 is not a whole number");
  expect_refused(tensor("[[1], 2]"), "differ in length");
  expect_refused(tensor("[[99999999999999999999]]"), "is not a whole number");
  expect_refused(tensor("[[1"), "it is not JSON");
}

TEST(DataflowTensor, OperandsOfTheWrongShapeAreNamed) {
  const auto operands = [](const char* text) { return [text] { operands_of(json::parse(text)); }; };
  expect_refused(operands("[]"), "a JSON object with filter and input");
  expect_refused(operands(R"({"filter": [[1]]})"), "a JSON object with filter and input");
  expect_refused(operands(R"({"filter": 1, "input": [[1]]})"), "filter: there must be 2 to 4");
  expect_refused(operands(R"({"filter": [[1]], "input": [[1]], "pad": 1})"),
                 "an unknown field 'pad'");
  expect_refused(operands(R"({"filter": [[1]], "input": [[1]], "stride": "2"})"),
                 "stride is \"2\"");
  const auto layer = [](const char* text) {
    return [text] { layer_of(operands_of(json::parse(text))); };
  };
  expect_refused(layer(R"({"filter": [[1]], "input": [[1]], "stride": 0})"), "stride is 0");
  expect_refused(layer(R"({"filter": [[1,2]], "input": [[1]]})"), "does not fit");
  expect_refused(layer(R"({"filter": [[[1]],[[1]]], "input": [[1]]})"),
                 "2 channels and the input 1");
}

TEST(DataflowTensor, EqualSeedsGiveEqualNumbers) {
  const Layer layer{
      .name = "L", .channels = 2, .height = 4, .width = 4, .kernel_height = 2, .kernel_width = 2};
  EXPECT_EQ(random_operands(layer, 7).input, random_operands(layer, 7).input);
  EXPECT_NE(random_operands(layer, 7).input, random_operands(layer, 8).input);
}

}  // namespace
}  // namespace lockstep::internal::dataflow
