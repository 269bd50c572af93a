#include "evershard/sharding/watermark.hpp"

#include <gtest/gtest.h>

namespace evershard::sharding {
namespace {

TEST(Watermark, ShowsUpToWhatWasDecided) {
  Watermark watermark(GlobalPosition{7});

  watermark.decide(GlobalPosition{9});
  watermark.decide(GlobalPosition{12});
  watermark.show(GlobalPosition{9});

  EXPECT_EQ(watermark.decided(), GlobalPosition{12});
  EXPECT_EQ(watermark.shown(), GlobalPosition{9});
}

TEST(WatermarkDeathTest, NeverGoesBackOrAhead) {
  Watermark watermark(GlobalPosition{7});
  watermark.decide(GlobalPosition{9});
  watermark.show(GlobalPosition{8});

  EXPECT_DEATH(watermark.decide(GlobalPosition{8}), "never goes back");
  EXPECT_DEATH(watermark.show(GlobalPosition{7}), "never goes back");
  EXPECT_DEATH(watermark.show(GlobalPosition{10}), "only what was decided");
}

}  // namespace
}  // namespace evershard::sharding
