// What a client takes of answers that came under different coordinators.

#include "evershard/sharding/heard_leaderships.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace evershard::sharding {
namespace {

using testing::HasSubstr;

const std::string x = "00000000-0000-4000-8000-00000000000a", y = "00000000-0000-4000-8000-00000000000b",
                  z = "00000000-0000-4000-8000-00000000000c";

ErrorCode refused(HeardLeaderships& heard, const std::string& led) {
  const auto taken = heard.hear(led);
  return taken ? ErrorCode{} : taken.error().code;
}

TEST(HeardLeaderships, TakesWhatFollowsTheSameCoordinatorOrALaterOne) {
  HeardLeaderships heard;
  EXPECT_TRUE(heard.hear("2:" + x));
  EXPECT_TRUE(heard.hear("2:" + x));
  EXPECT_TRUE(heard.hear("2:" + x + ",3:" + y)) << "another coordinator leads";
  EXPECT_TRUE(heard.hear("3:" + y + ",4:" + z));

  EXPECT_EQ(heard.text(), "2:" + x + ",3:" + y + ",4:" + z);
}

TEST(HeardLeaderships, TakesNothingOfTwoCoordinatorsOnCopiesOfOneLog) {
  HeardLeaderships heard;
  ASSERT_TRUE(heard.hear("1:" + z + ",2:" + x));

  EXPECT_EQ(refused(heard, "1:" + z + ",2:" + y), ErrorCode::fenced);
  EXPECT_EQ(refused(heard, "1:" + z + ",2:" + y + ",3:" + z), ErrorCode::fenced) << "its epoch is the greater one";
  EXPECT_EQ(heard.text(), "1:" + z + ",2:" + x) << "nothing was learned of it";
  EXPECT_TRUE(heard.hear("2:" + x)) << "the first goes on";
}

TEST(HeardLeaderships, TakesNothingOfAnOlderLeadership) {
  HeardLeaderships heard;
  ASSERT_TRUE(heard.hear("2:" + x + ",3:" + y));

  EXPECT_EQ(refused(heard, "2:" + x), ErrorCode::unavailable);
  EXPECT_TRUE(heard.hear("2:" + x + ",3:" + y)) << "it has heard of it by now";
}

TEST(HeardLeaderships, TakesWhatSaysNothing) {
  HeardLeaderships heard;
  EXPECT_TRUE(heard.hear(""));
  ASSERT_TRUE(heard.hear("2:" + x));
  EXPECT_TRUE(heard.hear("")) << "one process, or an earlier release";
  EXPECT_EQ(heard.text(), "2:" + x);
}

TEST(HeardLeaderships, KeepsTheNewestAndRefusesWhatIsMalformed) {
  HeardLeaderships heard;
  for (int epoch = 1; epoch <= 20; ++epoch) ASSERT_TRUE(heard.hear(std::to_string(epoch) + ':' + x));
  EXPECT_EQ(leaderships_from(heard.text())->size(), leaderships_told);
  EXPECT_THAT(heard.text(), testing::EndsWith("20:" + x));

  for (const auto& malformed :
       std::vector<std::string>{"x", "3", "3:", "3:x", ":" + x, "0:" + x, "3:" + x + ",2:" + y, "3:" + x + ",3:" + y})
    EXPECT_FALSE(leaderships_from(malformed)) << malformed;
}

}  // namespace
}  // namespace evershard::sharding
