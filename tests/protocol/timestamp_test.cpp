#include "evershard/protocol/timestamp.hpp"

#include <rapidcheck/gtest.h>

#include <chrono>

namespace evershard {
namespace {

TEST(Timestamp, ReadsWhatRfc3339Allows) {
  struct Case {
    std::string_view text, same_as;
  };
  for (const auto& c : {
           Case{"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000Z"},
           Case{"2026-01-31t12:00:00z", "2026-01-31T12:00:00.000000Z"},
           Case{"2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.500000Z"},
           Case{"2026-01-31T12:00:00.123456789Z", "2026-01-31T12:00:00.123456Z"},
           Case{"2026-01-31T12:00:00.999999999Z", "2026-01-31T12:00:00.999999Z"},
           Case{"2026-01-31T14:30:00+02:30", "2026-01-31T12:00:00.000000Z"},
           Case{"2026-01-31T23:00:00-05:00", "2026-02-01T04:00:00.000000Z"},
           Case{"2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00.000000Z"},
           Case{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
           Case{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000000Z"},
           Case{"1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"},
           Case{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
           Case{"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
       }) {
    const auto time = Timestamp::parse(c.text);
    ASSERT_TRUE(time) << c.text;
    EXPECT_EQ(time->text(), c.same_as);
  }
}

TEST(Timestamp, CountsMicrosecondsFrom1970) {
  EXPECT_EQ(Timestamp::parse("1970-01-01T00:00:00Z")->micros, 0);
  EXPECT_EQ(Timestamp::parse("1970-01-01T00:00:01.000002Z")->micros, 1'000'002);
  EXPECT_EQ(Timestamp::parse("1969-12-31T23:59:59.999999Z")->micros, -1);
  EXPECT_EQ(Timestamp::parse("2026-01-31T12:00:00Z")->micros, 1'769'860'800'000'000);
}

TEST(Timestamp, ReadsNothingElse) {
  for (const std::string_view text : {"",
                                      "2026-01-31",
                                      "2026-01-31T12:00:00",
                                      "2026-01-31 12:00:00Z",
                                      "2026-1-31T12:00:00Z",
                                      "2026-01-31T12:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2025-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-01-31T24:00:00Z",
                                      "2026-01-31T12:60:00Z",
                                      "2026-01-31T12:00:60Z",
                                      "2026-01-31T12:00:00.Z",
                                      "2026-01-31T12:00:00.1234567890Z",
                                      "2026-01-31T12:00:00,5Z",
                                      "2026-01-31T12:00:00+24:00",
                                      "2026-01-31T12:00:00+01:60",
                                      "2026-01-31T12:00:00+0100",
                                      "2026-01-31T12:00:00+01",
                                      "2026-01-31T12:00:00ZZ",
                                      "2026-01-31T12:00:00Z ",
                                      " 2026-01-31T12:00:00Z",
                                      "+2026-01-31T12:00:00Z",
                                      "-001-01-31T12:00:00Z",
                                      "20260131T120000Z",
                                      "10000-01-01T00:00:00Z",
                                      "\xd9\xa2"
                                      "026-01-31T12:00:00Z"}) {
    EXPECT_EQ(Timestamp::parse(text), std::nullopt) << text;
  }
}

TEST(Timestamp, ReadsNothingOutsideTheYears1To9999) {
  EXPECT_EQ(Timestamp::parse("0000-12-31T23:59:59Z"), std::nullopt);
  EXPECT_EQ(Timestamp::parse("0001-01-01T00:00:00+00:01"), std::nullopt);
  EXPECT_EQ(Timestamp::parse("9999-12-31T23:59:59-00:01"), std::nullopt);
  EXPECT_EQ(Timestamp::parse("0000-12-31T23:59:00-00:01"), Timestamp::first());
}

TEST(Timestamp, SaysTheNumberWhereThereIsNoDate) {
  EXPECT_EQ(Timestamp{Timestamp::first().micros - 1}.text(), "-62135596800000001us");
  EXPECT_EQ(Timestamp{INT64_MAX}.text(), "9223372036854775807us");
}

TEST(Timestamp, IsNow) {
  const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());

  const auto now = Timestamp::now();

  EXPECT_NEAR(static_cast<double>(now.micros), static_cast<double>(seconds) * 1e6, 5e6);
}

RC_GTEST_PROP(Timestamp, IsItselfAgainAfterItsText, ()) {
  const Timestamp time{*rc::gen::inRange(Timestamp::first().micros, Timestamp::last().micros)};

  RC_ASSERT(Timestamp::parse(time.text()) == time);
  RC_ASSERT(time.text().size() == 27u);
}

RC_GTEST_PROP(Timestamp, OrdersAsItsTextDoes, ()) {
  const Timestamp a{*rc::gen::inRange(Timestamp::first().micros, Timestamp::last().micros)};
  const Timestamp b{*rc::gen::inRange(Timestamp::first().micros, Timestamp::last().micros)};

  RC_ASSERT((a < b) == (a.text() < b.text()));
}

}  // namespace
}  // namespace evershard
