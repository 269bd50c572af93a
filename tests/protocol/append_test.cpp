#include "evershard/protocol/append.hpp"

namespace evershard {
namespace {

TEST(Append, IsBuiltInOneExpression) {
  const auto append = Append{}
                          .event("order-1", "Placed", "{}", {"customer:42"})
                          .event("", "Noted", "text")
                          .expect("order-1", Version::none())
                          .fail_if(Query{}.types({"Blocked"}), GlobalPosition{17});

  ASSERT_FALSE(append.malformed);
  ASSERT_EQ(append.events.size(), 2u);
  EXPECT_EQ(append.events[0].aggregate, (AggregateId{"order", "1"}));
  EXPECT_EQ(append.events[0].type, "Placed");
  EXPECT_EQ(append.events[0].payload, "{}");
  EXPECT_EQ(append.events[0].tags, std::vector<Tag>{"customer:42"});
  EXPECT_FALSE(append.events[0].id.given());
  EXPECT_EQ(append.events[1].aggregate, std::nullopt);
  EXPECT_EQ(append.expectations, (std::vector<Expectation>{{{"order", "1"}, Version::none()}}));
  EXPECT_EQ(append.conditions, (std::vector<AppendCondition>{{Query{}.types({"Blocked"}), GlobalPosition{17}}}));
}

TEST(Append, IsBuiltStepByStepToTheSame) {
  Append steps;
  steps.event("order-1", "Placed", "{}");
  steps.expect(AggregateId{"order", "1"}, Version::exactly(3))
      .request(*RequestId::parse("018f3c5e-7b1a-4e4e-8b1a-0242ac120002"));
  steps.snapshot(Snapshot{.aggregate = {"order", "1"}, .version = {}, .payload = "state", .keep = {}, .ttl = {}});

  const auto at_once =
      Append{}
          .event("order-1", "Placed", "{}")
          .expect("order-1", Version::exactly(3))
          .request(*RequestId::parse("018f3c5e-7b1a-4e4e-8b1a-0242ac120002"))
          .snapshot(Snapshot{.aggregate = {"order", "1"}, .version = {}, .payload = "state", .keep = {}, .ttl = {}});

  EXPECT_EQ(steps, at_once);
}

TEST(Append, KeepsTheFirstMistakeOfItsBuilder) {
  const auto append = Append{}.event("order", "Placed", "").expect("order-", Version::none());

  ASSERT_TRUE(append.malformed);
  EXPECT_EQ(append.malformed->code, ErrorCode::invalid_argument);
  EXPECT_EQ(append.malformed->what, "aggregate id \"order\" has no '-' between type and value");
}

TEST(Append, KeepsAMistakeInAnExpectation) {
  const auto append = Append{}.event("order-1", "Placed", "").expect("order", Version::none());

  ASSERT_TRUE(append.malformed);
  EXPECT_TRUE(append.expectations.empty());
}

}  // namespace
}  // namespace evershard
