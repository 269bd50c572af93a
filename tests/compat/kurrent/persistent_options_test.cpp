// What the options of a persistent subscription say.

#include "evershard/compat/kurrent/persistent_options.hpp"

#include <gtest/gtest.h>

namespace evershard::kurrent {
namespace {

esps::GroupOptions group_of(const std::string& stream) {
  esps::GroupOptions options;
  options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
  options.mutable_stream()->mutable_start();
  options.set_group_name("g");
  options.mutable_settings()->set_consumer_strategy("Pinned");
  return options;
}

TEST(SubscriptionName, IsKeptInAnAggregateOfItsOwn) {
  for (const auto& name : {SubscriptionName{"order-1", "g"}, {"a::b", "c"}, {"a", "b::c"}, {"$all", "9:x::y"}})
    EXPECT_EQ(name_kept_in(kept_in_of(name)), name) << name.stream;
  EXPECT_NE(kept_in_of({"a::b", "c"}), kept_in_of({"a", "b::c"}));
  for (const auto* value : {"", "x", "3", "3:", "9:abc::g", "3:abcg", "99999999999999999999:a::b"})
    EXPECT_EQ(name_kept_in({persistent_type, value}), std::nullopt) << value;
  EXPECT_EQ(name_kept_in({"order", "1:a::b"}), std::nullopt);
}

TEST(PersistentOptions, AreTakenAsOlderClientsSayThem) {
  esps::GroupOptions older;
  older.mutable_stream_identifier()->set_stream_name("order-1");
  older.mutable_settings()->set_revision(~std::uint64_t{0});
  EXPECT_TRUE(begins_at_end(with_stream(older)));
  older.mutable_settings()->set_revision(7);
  EXPECT_EQ(begins_behind(with_stream(older)), 6u);
  older.mutable_settings()->set_revision(0);
  EXPECT_EQ(begins_behind(with_stream(older)), std::nullopt);
  EXPECT_EQ(name_of(with_stream(older)).stream, "order-1");
}

TEST(PersistentOptions, AChangeLeavesWhatItDoesNotName) {
  auto asked = group_of("order-1");
  asked.mutable_settings()->set_consumer_strategy("");
  asked.mutable_settings()->set_max_retry_count(3);
  const auto kept = changed(group_of("order-1"), asked);
  EXPECT_EQ(strategy_of(kept.settings()), "Pinned");
  EXPECT_EQ(kept.settings().max_retry_count(), 3);
  asked.mutable_settings()->set_named_consumer_strategy(esps::RoundRobin);
  EXPECT_EQ(strategy_of(changed(kept, asked).settings()), "RoundRobin");

  esps::GroupOptions all;
  all.mutable_all()->mutable_start();
  all.mutable_all()->mutable_filter()->mutable_event_type()->add_prefix("A");
  esps::GroupOptions later;
  later.mutable_all()->mutable_position()->set_commit_position(5);
  const auto moved = changed(all, later);
  EXPECT_EQ(moved.all().filter().event_type().prefix(0), "A");
  EXPECT_FALSE(begin_alike(all, moved));
  EXPECT_TRUE(begin_alike(moved, later));
}

TEST(PersistentOptions, RefuseWhatIsNegativeOrUnknown) {
  esps::Settings settings;
  EXPECT_TRUE(check_settings(settings));
  settings.set_message_timeout_ms(-1);
  EXPECT_FALSE(check_settings(settings));
  settings.set_message_timeout_ticks(20'000);
  EXPECT_TRUE(check_settings(settings));
  EXPECT_EQ(message_timeout_ms_of(settings), 2);
  settings.set_consumer_strategy("Whoever");
  EXPECT_FALSE(check_settings(settings));
}

TEST(PersistentOptions, BufferMoreThanIsReadAtOnce) {
  esps::Settings settings;
  settings.set_read_batch_size(100);
  settings.set_history_buffer_size(100);
  EXPECT_FALSE(check_settings(settings));
  settings.set_history_buffer_size(101);
  EXPECT_TRUE(check_settings(settings));
}

TEST(PersistentOptions, GiveASecondAtLeast) {
  esps::Settings settings;
  EXPECT_EQ(limits_of(settings).message_timeout, std::chrono::milliseconds(0)) << "never late";
  settings.set_message_timeout_ms(100);
  EXPECT_EQ(limits_of(settings).message_timeout, std::chrono::milliseconds(1'000));
  settings.set_message_timeout_ms(1'001);
  EXPECT_EQ(limits_of(settings).message_timeout, std::chrono::milliseconds(1'001));
}

}  // namespace
}  // namespace evershard::kurrent
