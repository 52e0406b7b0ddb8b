#include "sync/layout.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

namespace lockstep::internal::sync {
namespace {

TEST(Layout, PutsTheLastParameterFirstAtCacheLines) {
  const std::vector<Parameter> parameters{{"a", 10}, {"b", 20}, {"c", 16}};
  const Layout layout(parameters, DataType::float32);
  ASSERT_EQ(layout.slots().size(), 3u);
  EXPECT_EQ(layout.slots()[2].begin, 0u);
  EXPECT_EQ(layout.slots()[1].begin, 16u);
  EXPECT_EQ(layout.slots()[0].begin, 48u);
  EXPECT_EQ(layout.slots()[0].count, 10u);
  EXPECT_EQ(layout.size(), 64u);
  EXPECT_EQ(layout.bytes(), 256u);
  EXPECT_EQ(layout.buckets().size(), 1u);
}

TEST(Layout, ClosesABucketAtItsLimit) {
  // 64 bytes are 16 floats.
  const std::vector<Parameter> parameters{{"a", 16}, {"b", 48}, {"c", 16}, {"d", 16}, {"e", 16}};
  const Layout layout(parameters, DataType::float32, {.first_bytes = 64, .bytes = 128});
  std::vector<std::vector<std::size_t>> buckets;
  for (const Bucket& bucket : layout.buckets()) buckets.push_back(bucket.parameters);
  EXPECT_EQ(buckets, (std::vector<std::vector<std::size_t>>{{4}, {3, 2}, {1}, {0}}));
}

TEST(Layout, BucketsCoverTheFlatArrayWithoutGaps) {
  std::vector<Parameter> parameters;
  for (std::size_t count = 1; count < 200; count += 7) parameters.push_back({"p", count});
  const Layout layout(parameters, DataType::float64, {.first_bytes = 100, .bytes = 1000});
  std::size_t end = 0;
  for (const Bucket& bucket : layout.buckets()) {
    EXPECT_EQ(bucket.slot.begin, end);
    end += bucket.slot.count;
    for (std::size_t parameter : bucket.parameters) {
      const Slot& slot = layout.slots()[parameter];
      EXPECT_GE(slot.begin, bucket.slot.begin);
      EXPECT_LE(slot.begin + slot.count, end);
    }
  }
  EXPECT_EQ(end, layout.size());
}

TEST(Layout, PutsParametersInAnyOrderAskedFor) {
  const std::vector<Parameter> parameters{{"a", 10}, {"b", 20}, {"c", 16}};
  const std::vector<std::size_t> order{1, 2, 0};
  const Layout layout(parameters, DataType::float32, {.first_bytes = 1, .bytes = 128}, order);
  EXPECT_EQ(layout.order(), order);
  EXPECT_EQ(layout.slots()[1].begin, 0u);
  EXPECT_EQ(layout.slots()[2].begin, 32u);
  EXPECT_EQ(layout.slots()[0].begin, 48u);
  EXPECT_EQ(layout.buckets().size(), 2u);
  EXPECT_EQ(Layout(parameters, DataType::float32).order(), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(Layout, GivesEveryTypeItsBucketsInTheOrderOfTheirLastParameters) {
  const std::vector<Parameter> parameters{{.name = "a", .count = 16},
                                          {.name = "b", .count = 3, .type = DataType::bfloat16},
                                          {.name = "c", .count = 16},
                                          {.name = "d", .count = 8, .type = DataType::float64},
                                          {.name = "e", .count = 40, .type = DataType::bfloat16}};
  const Layout layout(parameters, DataType::float32);
  std::vector<std::pair<DataType, std::vector<std::size_t>>> buckets;
  for (const Bucket& bucket : layout.buckets())
    buckets.emplace_back(bucket.type, bucket.parameters);
  EXPECT_EQ(buckets, (decltype(buckets){{DataType::float64, {3}},
                                        {DataType::bfloat16, {4, 1}},
                                        {DataType::float32, {2, 0}}}));
  EXPECT_FALSE(layout.is_uniform());
  // In elements of each type: 64 bytes of d, then e and b, then c and a.
  EXPECT_EQ(layout.slots()[3].begin, 0u);
  EXPECT_EQ(layout.slots()[4].begin, 32u);
  EXPECT_EQ(layout.slots()[1].begin, 96u);
  EXPECT_EQ(layout.slots()[2].begin, 64u);
  EXPECT_EQ(layout.bytes(), 64u + 192u + 128u);
  EXPECT_THROW(layout.type(), InternalError);
  const std::vector<Parameter> same{{.name = "a", .count = 1, .type = DataType::float64}};
  EXPECT_EQ(Layout(same, DataType::float32).type(), DataType::float64);
}

TEST(Layout, NeedsAnOrderOfAllParameters) {
  const std::vector<Parameter> parameters{{"a", 10}, {"b", 20}};
  for (const std::vector<std::size_t>& order :
       std::vector<std::vector<std::size_t>>{{0}, {1, 1}, {0, 2}, {0, 1, 1}})
    EXPECT_THROW(Layout(parameters, DataType::float32, {}, order), InternalError);
}

TEST(Layout, OfNothingIsEmpty) {
  const Layout layout({}, DataType::float32);
  EXPECT_EQ(layout.size(), 0u);
  EXPECT_TRUE(layout.buckets().empty());
}

}  // namespace
}  // namespace lockstep::internal::sync
