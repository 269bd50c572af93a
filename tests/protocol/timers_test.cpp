// What sets, cancels and fires timers, as bytes in an aggregate's stream.

#include "evershard/protocol/timers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/protocol/hex.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TimerSet after(std::string name, std::chrono::microseconds time, std::chrono::microseconds every = 0us) {
  return {std::move(name), time, {}, "do", std::string("\0\xff", 2), every};
}
TimerSet at(std::string name, std::int64_t micros) { return {std::move(name), 0us, Timestamp{micros}, "do", "", 0us}; }
TimerSet by(std::string name, std::string times, std::string zone = "UTC") {
  return TimerSet{
      .name = std::move(name), .command = "do", .calendar = TimerCalendar{std::move(times), std::move(zone)}};
}

TEST(TimerBytes, ComeBackAsTheyWere) {
  auto again = by("g", "@daily", "Europe/Berlin");
  again.at = Timestamp{5};
  const TimersChanged changed{
      {after("a", 15min), at("b", 1), after("c", 0us, 1h), by("h", "", "\xff"), again}, {"d", "e"}, "f"};
  EXPECT_EQ(decode_timers_changed(encode(changed)).value(), changed);
  EXPECT_EQ(decode_timers_changed(encode(TimersChanged{})).value(), TimersChanged{});
  for (const auto& fire : {FireTimer{after("a", 1s, 1s), GlobalPosition{7}, "tag", Timestamp{9}},
                           FireTimer{at("b", 5), GlobalPosition{1}, "tag", {}, "ann"},
                           FireTimer{by("c", "@daily"), GlobalPosition{1}, "tag", Timestamp{9}, ""}})
    EXPECT_EQ(decode_fire_timer(encode(fire)).value(), fire);
}

// They stand on disks.
TEST(TimerBytes, AreFrozen) {
  EXPECT_EQ(hex(encode(TimersChanged{{TimerSet{"a", 2us, {}, "c", "p", 3us}, at("b", 1)}, {"d"}, "f"})),
            "0a0d0a016110042201632a01703003"  // set: name, after, command, payload, every
            "0a090a016218022202646f"          // set: name, at, command
            "120164"                          // cancelled
            "1a0166");                        // fired
  EXPECT_EQ(
      hex(encode(TimersChanged{{by("a", "@daily")}, {}, ""})),
      "0a180a016110002202646f3a0d0a06406461696c791203555443");  // set: name, after, command, calendar: times, zone
  EXPECT_EQ(timer_tag(timer_key({"order", "1"}, "overdue")), "$timer:9387a9dbcea9dc0d46fb5a6a9b968d83");
}

TEST(TimerBytes, ThatAreOthersAreRefused) {
  EXPECT_EQ(decode_timers_changed("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_fire_timer("\xff").error().code, ErrorCode::corruption);
  EXPECT_EQ(decode_fire_timer("").error().code, ErrorCode::corruption);
}

TEST(Timers, HaveAKeyOfTheirAggregateAndName) {
  const auto key = timer_key({"order", "1"}, "overdue");
  EXPECT_EQ(key, timer_key({"order", "1"}, "overdue"));
  EXPECT_NE(key, timer_key({"order", "1"}, "overdu"));
  EXPECT_NE(key, timer_key({"order", "1o"}, "verdue"));
  EXPECT_EQ(timer_tag(key).size(), 7u + 32u);
}

TEST(Timers, AreDueAfterTheirEventOrAtATime) {
  EXPECT_EQ(due_of(after("a", 5us), Timestamp{100}), Timestamp{105});
  EXPECT_EQ(due_of(at("a", 7), Timestamp{100}), Timestamp{7});
  EXPECT_EQ(due_of(after("a", std::chrono::hours(24 * 365 * 900)), Timestamp::last()), Timestamp::last());
}

TEST(Timers, ThatRepeatSkipWhatWasMissed) {
  const auto timer = after("a", 10us, 10us);
  EXPECT_EQ(next_due(timer, Timestamp{100}, Timestamp{100}), Timestamp{110});
  EXPECT_EQ(next_due(timer, Timestamp{100}, Timestamp{109}), Timestamp{110});
  EXPECT_EQ(next_due(timer, Timestamp{100}, Timestamp{110}), Timestamp{120});
  EXPECT_EQ(next_due(timer, Timestamp{100}, Timestamp{1'234}), Timestamp{1'240});
  EXPECT_EQ(next_due(timer, Timestamp{100}, Timestamp{5}), Timestamp{110}) << "a clock that was set back";
}

TEST(Timers, ByCalendarAreDueAtItsTimes) {
  const auto time = [](const char* text) { return Timestamp::parse(text).value(); };
  auto timer = by("a", "30 9 * * *", "Europe/Berlin");
  EXPECT_TRUE(timer.repeats());
  EXPECT_FALSE(after("a", 1s).repeats());
  EXPECT_EQ(due_of(timer, time("2026-07-01T07:00:00Z")), time("2026-07-01T07:30:00Z"));
  EXPECT_EQ(due_of(timer, time("2026-07-01T07:30:00Z")), time("2026-07-02T07:30:00Z"));
  const auto due = time("2026-07-01T07:30:00Z");
  EXPECT_EQ(next_due(timer, due, due), time("2026-07-02T07:30:00Z"));
  EXPECT_EQ(next_due(timer, due, time("2026-07-05T07:29:59Z")), time("2026-07-05T07:30:00Z")) << "some were missed";
  EXPECT_EQ(next_due(timer, due, time("2026-07-01T07:29:00Z")), time("2026-07-02T07:30:00Z"))
      << "a clock that was set back";
  EXPECT_EQ(due_of(timer, Timestamp::last()), Timestamp::last());
  timer.at = Timestamp{7};
  EXPECT_EQ(due_of(timer, due), Timestamp{7}) << "as it was said when it fired";
}

TEST(Timers, ByACalendarThatCannotBeReadHereAreDueAtOnce) {
  const auto timer = by("a", "@daily", "Europe/Atlantis");
  EXPECT_EQ(due_of(timer, Timestamp{100}), Timestamp{100});
  ASSERT_FALSE(next_due(timer, Timestamp{100}, Timestamp{100}));
  EXPECT_THAT(next_due(timer, Timestamp{100}, Timestamp{100}).error().what, HasSubstr("Europe/Atlantis"));
}

TEST(Timers, ThatCannotBeSetAreRefused) {
  const auto why = [](TimersChanged changed) {
    const auto checked = check(changed);
    return checked ? std::string("fine") : checked.error().what;
  };
  EXPECT_EQ(why({{after("a", 0us), at("b", 0)}, {"c"}, {}}), "fine");
  EXPECT_THAT(why({{after("", 1s)}, {}, {}}), HasSubstr("timer"));
  EXPECT_THAT(why({{}, {std::string(129, 'x')}, {}}), HasSubstr("128"));
  EXPECT_THAT(why({{after("a", 1s), after("a", 2s)}, {}, {}}), HasSubstr("twice"));
  EXPECT_THAT(why({{after("a", 1s)}, {"a"}, {}}), HasSubstr("twice"));
  EXPECT_THAT(why({{after("a", -1us)}, {}, {}}), HasSubstr("a thousand years"));
  EXPECT_THAT(why({{at("a", -1)}, {}, {}}), HasSubstr("from 1970"));
  EXPECT_THAT(why({{after("a", 1s, 1us)}, {}, {}}), HasSubstr("from 1 ms"));
  EXPECT_EQ(why({{by("a", "@daily")}, {}, {}}), "fine");
  EXPECT_THAT(why({{by("a", "0 9 * *")}, {}, {}}), HasSubstr("timer \"a\": calendar \"0 9 * *\": it has 4 fields"));
  EXPECT_THAT(why({{by("a", "")}, {}, {}}), HasSubstr("it has 0 fields"));
  EXPECT_THAT(why({{by("a", "@daily", "")}, {}, {}}), HasSubstr("time zone \"\""));
  auto both = by("a", "@daily");
  both.every = 1h;
  EXPECT_THAT(why({{both}, {}, {}}), HasSubstr("both a calendar and a time to wait"));
  both.every = 0us;
  both.after = 1h;
  EXPECT_THAT(why({{both}, {}, {}}), HasSubstr("both a calendar and a time to wait"));
  TimersChanged many;
  for (int n = 0; n != 65; ++n) many.cancelled.push_back("t" + std::to_string(n));
  EXPECT_THAT(why(many), HasSubstr("at most 64"));
  EXPECT_EQ(check(many).error().code, ErrorCode::too_large);
}

TEST(Timers, AreNamedOnce) {
  EXPECT_THAT((TimersChanged{{after("b", 1s)}, {"a"}, "b"}.names()), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace evershard
