#include "predict/network_model.h"

#include <lockstep/error.h>

#include <gtest/gtest.h>

#include <gmock/gmock.h>

namespace lockstep::internal::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    parse_network(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Networks, HaveTheirNames) {
  EXPECT_THAT(network_names(),
              ElementsAre("1gbit", "10gbit", "25gbit", "100gbit", "ib-hdr", "loopback"));
  for (const std::string& name : network_names()) {
    const NetworkModel network = parse_network(name);
    EXPECT_EQ(network.name, name);
    EXPECT_GT(network.latency, 0);
    EXPECT_GT(network.per_byte, 0);
  }
  // Ethernet's headers and gaps leave 94 % of the bandwidth to TCP's payload.
  EXPECT_NEAR(1 / parse_network("1gbit").per_byte, 117.7e6, 0.1e6);
}

TEST(Networks, CanBeCustom) {
  const NetworkModel network = parse_network("alpha=20us,bandwidth=8gbit,gamma=0.5ns");
  EXPECT_DOUBLE_EQ(network.latency, 20e-6);
  EXPECT_DOUBLE_EQ(network.per_byte, 1e-9);
  EXPECT_DOUBLE_EQ(network.per_added, 0.5e-9);
  EXPECT_DOUBLE_EQ(network.agreement, 20e-6);
  EXPECT_DOUBLE_EQ(parse_network("alpha=1ms,beta=2ns").per_byte, 2e-9);
}

TEST(Networks, ThatAreInvalidAreRefused) {
  EXPECT_THAT(error_of("2gbit"), HasSubstr("choose from 1gbit, 10gbit"));
  EXPECT_THAT(error_of("alpha=20us,bandwidth=0gbit"), HasSubstr("more than 0"));
  EXPECT_THAT(error_of("alpha=20us,bandwidth=-1gbit"), HasSubstr("more than 0"));
  EXPECT_THAT(error_of("alpha=20us,beta=nans"), HasSubstr("not a number"));
  EXPECT_THAT(error_of("alpha=20us,beta=infns"), HasSubstr("beta"));
  EXPECT_THAT(error_of("alpha=20us"), HasSubstr("lacks"));
  EXPECT_THAT(error_of("alpha=20,beta=1ns"), HasSubstr("units"));
  EXPECT_THAT(error_of("speed=20us"), HasSubstr("alpha"));
}

}  // namespace
}  // namespace lockstep::internal::predict
