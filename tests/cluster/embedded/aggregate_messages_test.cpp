// What nodes ask of each other's aggregates, as bytes.

#include <gtest/gtest.h>

#include "evershard/cluster/peers/aggregate_messages.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using What = AggregateAsked::What;

std::string hex_of_message(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

TEST(AggregateMessages, ComeBackAsTheyWere) {
  const std::string odd("\0\xff\n", 3);
  for (const auto& asked :
       {AggregateAsked{What::command, {"account", "1"}, "deposit", odd, "txn-1", 2'000ms, {}},
        AggregateAsked{What::command,
                       {"account", "1"},
                       "deposit",
                       odd,
                       "txn-1",
                       2'000ms,
                       {},
                       AppendCondition{Query{}.types({"a"}).tags({"t"}), GlobalPosition{9}}},
        AggregateAsked{What::state, {"account", "1"}, {}, {}, {}, 1ms, {}},
        AggregateAsked{What::stored_state, {"account", "1"}, {}, {}, {}, 0ms, GlobalPosition{~std::uint64_t{0}}},
        AggregateAsked{What::passivate, {"a", "b"}}}) {
    EXPECT_EQ(decode_aggregate_asked(encode(asked)).value(), asked);
  }
  ErrorDetails details;
  details.condition = 3;
  for (const auto& answer :
       {AnyAnswer::replied(odd, SeqNr{7}, GlobalPosition{70}, true), AnyAnswer::rejected("no", SeqNr{2}),
        AnyAnswer::failed({ErrorCode::condition_failed, "x", details})}) {
    const AggregateAnswered answered{answer, PayloadFormat::protobuf};
    EXPECT_EQ(decode_aggregate_answered(encode(answered)).value(), answered);
  }
}

// Nodes of neighbouring releases speak to each other: these bytes stay readable.
TEST(AggregateMessages, AreFrozen) {
  EXPECT_EQ(hex_of_message(encode(AggregateAsked{What::command, {"a", "1"}, "t", "c", "i", 258ms, GlobalPosition{5}})),
            "0801"  // what
            "12060a01611201"
            "31"      // aggregate: type, value
            "1a0174"  // command type
            "220163"  // command
            "2a0169"  // command id
            "308202"  // time
            "3805");  // position
  EXPECT_EQ(hex_of_message(encode(
                AggregateAnswered{AnyAnswer::replied("r", SeqNr{2}, GlobalPosition{3}, true), PayloadFormat::json})),
            "0801"    // kind
            "120172"  // reply
            "2801"    // duplicate
            "3002"    // version
            "3803"    // position
            "4001");  // format
}

TEST(AggregateMessages, RefuseWhatTheyDoNotKnow) {
  auto later = AggregateAsked{static_cast<What>(6), {"account", "1"}};
  EXPECT_EQ(decode_aggregate_asked(encode(later)).error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_aggregate_asked("").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_aggregate_asked("\xff").error().code, ErrorCode::corruption);
  EXPECT_FALSE(decode_aggregate_asked(encode(AggregateAsked{What::command, {"no-type", "1"}})));
  EXPECT_FALSE(decode_aggregate_asked(encode(AggregateAsked{What::command, {"account", ""}})));
  EXPECT_EQ(decode_aggregate_answered("").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_aggregate_answered("\x08\x03").error().code, ErrorCode::corruption) << "failed, and no error";
}

}  // namespace
}  // namespace evershard::cluster
