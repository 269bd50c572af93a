#include "evershard/cluster/link/session/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(LinkLimits, AreFineByDefault) { EXPECT_TRUE(check(LinkLimits{})); }

TEST(LinkLimits, AreRefusedByName) {
  struct Wrong {
    const char* name;
    void (*spoil)(LinkLimits&);
  };
  const Wrong wrongs[] = {
      {"queue_calls_max", [](LinkLimits& l) { l.queue_calls_max = 0; }},
      {"queue_bytes_max", [](LinkLimits& l) { l.queue_bytes_max = l.payload_bytes_max - 1; }},
      {"requests_max", [](LinkLimits& l) { l.requests_max = 0; }},
      {"request_bytes_max", [](LinkLimits& l) { l.request_bytes_max = l.payload_bytes_max - 1; }},
      {"message_bytes_max", [](LinkLimits& l) { l.message_bytes_max = l.payload_bytes_max; }},
      {"payload_bytes_max", [](LinkLimits& l) { l.payload_bytes_max = 0; }},
      {"answer_bytes_max", [](LinkLimits& l) { l.answer_bytes_max = 1; }},
      {"frame_bytes_max", [](LinkLimits& l) { l.frame_bytes_max = frame_bytes_limit + 1; }},
      {"frame_bytes_max", [](LinkLimits& l) { l.frame_bytes_max = 100; }},
      {"frame_items_max", [](LinkLimits& l) { l.frame_items_max = 0; }},
      {"unsent_bytes_max", [](LinkLimits& l) { l.unsent_bytes_max = 1; }},
      {"times", [](LinkLimits& l) { l.heartbeat = 0ms; }},
      {"dead_after", [](LinkLimits& l) { l.dead_after = 900ms; }},
      {"dead_after", [](LinkLimits& l) { l.dead_after = 2h; }},
      {"redial_max", [](LinkLimits& l) { l.redial_max = 1ms; }},
  };
  for (const auto& wrong : wrongs) {
    LinkLimits limits;
    wrong.spoil(limits);
    const auto checked = check(limits);
    ASSERT_FALSE(checked) << wrong.name;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(checked.error().what, HasSubstr(wrong.name));
  }
}

}  // namespace
}  // namespace evershard::cluster
