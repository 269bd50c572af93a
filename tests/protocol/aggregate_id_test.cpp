#include "evershard/protocol/aggregate_id.hpp"

#include <rapidcheck/gtest.h>

#include "evershard/protocol/result.hpp"
#include "tests/protocol/arbitrary_values.hpp"

namespace evershard {
namespace {

TEST(AggregateId, TakesPartsUpToTheirLimits) {
  const AggregateId most{std::string(128, 't'), std::string(512, 'v')};

  const auto id = AggregateId::parse(most.text());

  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(*id, most);
}

TEST(AggregateId, NamesTheLimitAndTheSizeOfATypeOverIt) {
  const auto id = AggregateId::parse(AggregateId{std::string(129, 't'), "1"}.text());

  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::too_large);
  EXPECT_THAT(id.error().what, testing::StartsWith("aggregate type \"ttt"));
  EXPECT_THAT(id.error().what, testing::EndsWith("has 129 bytes, the limit is 128"));
}

TEST(AggregateId, NamesTheLimitAndTheSizeOfAValueOverIt) {
  const auto id = AggregateId::parse(AggregateId{"order", std::string(513, 'v')}.text());

  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, ErrorCode::too_large);
  EXPECT_THAT(id.error().what, testing::EndsWith("has 513 bytes, the limit is 512"));
}

TEST(AggregateId, IsRefusedWithAHyphenInItsType) {
  const AggregateId id{"a-b", "c"};  // its text would be that of {a, b-c}

  const auto ok = AggregateId::check(id);

  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(ok.error().what, "aggregate type \"a-b\" contains a '-'");
}

TEST(AggregateId, DiffersByCase) {
  const auto lower = AggregateId::parse("order-a"), upper = AggregateId::parse("order-A"),
             type = AggregateId::parse("Order-a");

  ASSERT_TRUE(lower && upper && type);
  EXPECT_NE(*lower, *upper);
  EXPECT_NE(*lower, *type);
}

TEST(AggregateId, OrdersByTypeThenByValueByteByByte) {
  const AggregateId a{"a", "z"}, b{"b", "a"}, high{"b", "\xc3\xa4"};

  EXPECT_LT(a, b);
  EXPECT_LT(b, high);
}

RC_GTEST_PROP(AggregateId, IsItselfAgainAfterItsText, ()) {
  // Whatever bytes: parse() takes exactly what check() takes, and gives back the same two parts.
  const AggregateId id{arbitrary::maybe() ? arbitrary::text() : arbitrary::bytes(),
                       arbitrary::maybe() ? arbitrary::text() : arbitrary::bytes()};

  const auto ok = AggregateId::check(id);
  const auto parsed = AggregateId::parse(id.text());

  if (ok) {
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == id);
  } else if (parsed) {
    RC_ASSERT(id.type.find('-') != std::string::npos);
    RC_ASSERT(parsed->text() == id.text());
  }
}

}  // namespace
}  // namespace evershard
