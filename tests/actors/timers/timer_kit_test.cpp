// Timers of an aggregate, as the test kit shows them: time is a variable.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/test_kit.hpp>

#include "tests/actors/timers/order.hpp"

namespace evershard::timed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Timers, AreSetWithEventsAndCancelledWithEvents) {
  TestKit<Order> kit;
  kit.when(Place{15}).then(Placed{15}).scheduled("overdue", 15min, PayOrCancel{15});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("overdue", 15min)));
  kit.pass(5min);
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("overdue", 10min)));
  kit.when(Pay{}).then(Paid{1}).cancelled("overdue");
  EXPECT_THAT(kit.pending(), IsEmpty());
}

TEST(Timers, FireAsCommandsOnce) {
  TestKit<Order> kit;
  kit.when(Place{15});
  kit.when_due<PayOrCancel>("overdue").then(Cancelled{15}).state({1, 0, 1, 0});
  EXPECT_THAT(kit.pending(), IsEmpty());
}

TEST(Timers, FireWhateverTheHandlerSays) {
  TestKit<Order> kit;
  kit.given(Placed{1}, Paid{1}).when(Postpone{3}).then().scheduled("overdue", 3min, PayOrCancel{3});
  kit.when_due<PayOrCancel>("overdue").rejected("it is paid").then();
  EXPECT_THAT(kit.pending(), IsEmpty());
  kit.given(Placed{1}, Cancelled{1}).when(RemindEvery{10}).then().scheduled_every("remind", 10min, Remind{10});
  kit.when_due<Remind>("remind").then();
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 10min))) << "this one repeats";
}

TEST(Timers, OfTheSameNameReplaceEachOther) {
  TestKit<Order> kit;
  kit.when(Place{15});
  kit.pass(10min).when(Postpone{30});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("overdue", 30min)));
}

TEST(Timers, RepeatUntilTheyAreCancelled) {
  TestKit<Order> kit;
  kit.when(Place{60});
  kit.when(RemindEvery{10});
  for (int n = 1; n != 4; ++n) kit.when_due<Remind>("remind").then(Reminded{10});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 10min), Pair("overdue", 30min)));
  kit.pass(25min);  // nobody ran: what was missed is not made up for
  kit.when_due<Remind>("remind").then(Reminded{10});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 5min), Pair("overdue", 5min)));
  kit.when(RemindEvery{0}).then().cancelled("remind");
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("overdue", 5min)));
}

TEST(Timers, ByCalendarComeAtItsTimesUntilTheyAreCancelled) {
  TestKit<Order> kit;
  EXPECT_EQ(kit.now().text(), "2026-01-01T00:00:00.000000Z");  // a Thursday
  kit.when(RemindBy{2}).then().scheduled_calendar("remind", "0 9 * * MON-FRI", "Europe/Berlin", Remind{2});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 8h)));
  kit.when_due<Remind>("remind").then(Reminded{2});
  kit.when_due<Remind>("remind").then(Reminded{2});
  EXPECT_EQ(kit.now().text(), "2026-01-02T08:00:00.000000Z");
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 72h))) << "on Monday";
  kit.pass(24h * 10 + 1min);  // nobody ran: what was missed is not made up for
  kit.when_due<Remind>("remind").then(Reminded{2});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 24h - 1min)));
  kit.when(RemindEvery{10});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 10min))) << "another in its place";
  kit.when(RemindBy{2});
  EXPECT_THAT(kit.pending(), UnorderedElementsAre(Pair("remind", 24h - 1min)));
  kit.when(RemindEvery{0}).then().cancelled("remind");
  EXPECT_THAT(kit.pending(), IsEmpty());
}

TEST(Timers, ByCalendarFollowTheClocksOfTheirZone) {
  TestKit<Order> kit;
  kit.pass(24h * 86);  // 2026-03-28; Berlin's clocks are set forward in the night
  kit.when(RemindBy{1});
  for (const auto* at : {"2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"}) {
    kit.when_due<Remind>("remind").then(Reminded{1});
    EXPECT_EQ(kit.now().text().substr(0, 16), at);
  }
}

TEST(Timers, ByACalendarThatCannotBeReadAreRefused) {
  TestKit<Order> kit;
  kit.when(RemindBy{4}).failed(ErrorCode::invalid_argument, "timer \"remind\": calendar \"0 9 * *\": it has 4 fields");
  kit.when(RemindBy{5}).failed(ErrorCode::invalid_argument, "time zone \"Europe/Atlantis\"");
  EXPECT_THAT(kit.pending(), IsEmpty());
}

TEST(Timers, ThatCannotBeStoredAreRefused) {
  TestKit<Order> kit;
  kit.when(Wrong{1}).failed(ErrorCode::invalid_argument, "schedules a \"placed\", which is not one of Commands");
  kit.when(Wrong{2}).failed(ErrorCode::invalid_argument, "timer");
  kit.when(Wrong{3}).failed(ErrorCode::invalid_argument, "twice by one command");
  kit.when(Wrong{4}).failed(ErrorCode::invalid_argument, "from 0 to a thousand years");
}

/// Whose the order is, only its state says.
struct SomebodysOrder : Order {
  static constexpr std::string_view type = "somebodys";
  static std::string subject(const State& order) { return order.placed == 0 ? "" : "ann"; }
};

TEST(Timers, OfWhatIsSomebodysAreSealedToo) {
  const auto kind = make_kind<SomebodysOrder>().value();
  auto state = kind->initial();
  ASSERT_TRUE(kind->apply(*state, "placed", "1"));
  const auto set = kind->decide(*state, {"remind_every", "10"}, nullptr).value();
  ASSERT_EQ(set.events.size(), 1u);
  EXPECT_EQ(set.events[0].subject, "ann") << "of whom the state is";
  // One that repeats is set anew when it fires, with what it sends.
  auto fire =
      FireTimer{decode_timers_changed(set.events[0].payload)->set.at(0), GlobalPosition{2}, "tag", Timestamp{9}};
  fire.subject = "carl";
  const auto fired = kind->decide(*kind->initial(), {std::string(fire_timer_type), encode(fire)}, nullptr).value();
  EXPECT_EQ(fired.events.back().subject, "carl") << "of whom the event was that set it";
}

TEST(Timers, OfATestAreSaidWhereTheyDiffer) {
  std::string told;
  TestKit<Order> kit("1", [&](const std::string& failure) { told = failure; });
  kit.when(Place{15}).scheduled("overdue", 16min, PayOrCancel{15});
  EXPECT_THAT(told, HasSubstr("timer \"overdue\" after 960000000 us"));
  EXPECT_THAT(told, HasSubstr("timer \"overdue\" after 900000000 us: pay_or_cancel \"15\""));
  kit.when_due<Remind>("overdue");
  EXPECT_THAT(told, HasSubstr("the timer sends another command"));
  kit.when_due<Remind>("remind");
  EXPECT_THAT(told, HasSubstr("no timer \"remind\" is set"));
  kit.when(RemindBy{2}).scheduled_every("remind", 10min, Remind{2});
  EXPECT_THAT(told, HasSubstr("timer \"remind\" by calendar \"0 9 * * MON-FRI\" in Europe/Berlin: remind \"2\""));
  kit.when(Pay{}).cancelled("other");
  EXPECT_THAT(told, HasSubstr("timer \"other\" is not"));
}

}  // namespace
}  // namespace evershard::timed
