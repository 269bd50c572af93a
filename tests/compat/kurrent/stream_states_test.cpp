#include "evershard/compat/kurrent/stream_states.hpp"

#include <gtest/gtest.h>

#include <future>

#include "evershard/compat/kurrent/followed_states.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/local/local.hpp"

namespace evershard::kurrent {
namespace {

const AggregateId order{"order", "7"};

RecordedEvent metadata_written(std::string json, std::uint64_t version, std::uint64_t position) {
  RecordedEvent event;
  event.aggregate = metadata_of(order).value();
  event.type = "$metadata";
  event.payload = std::move(json);
  event.seq_nr = SeqNr(version);
  event.position = GlobalPosition(position);
  return event;
}

}  // namespace

TEST(StreamMetadata, IsWhatItsJsonSays) {
  const auto metadata = metadata_from(R"({"$maxCount":3,"$maxAge":60,"$tb":5,"$acl":{"$r":["a"]},"own":1})");

  EXPECT_EQ(metadata.count_max, 3u);
  EXPECT_EQ(metadata.age_max_s, 60u);
  EXPECT_EQ(metadata.from, 5u);
  EXPECT_FALSE(metadata.is_deleted());
}

TEST(StreamMetadata, SaysNothingWhereItIsNone) {
  for (const char* json : {"", "[]", "nonsense", R"({"$maxCount":"3","$maxAge":-1,"$tb":null})", R"({"$maxCount":0})"})
    EXPECT_EQ(metadata_from(json), StreamMetadata{}) << json;
}

TEST(StreamMetadata, KnowsADeletionAlsoAsAFloatingNumber) {
  EXPECT_TRUE(metadata_from(R"({"$tb":9223372036854775807})").is_deleted());
  EXPECT_TRUE(metadata_from(R"({"$tb":9.223372036854775807e18})").is_deleted());
}

TEST(StreamMetadata, KeepsAllElseWhenABeginningIsSet) {
  EXPECT_EQ(with_first_revision(R"({"$acl":{"$r":["a"]},"$tb":1})", 4), R"({"$acl":{"$r":["a"]},"$tb":4})");
  EXPECT_EQ(with_first_revision("no json", deleted_mark), R"({"$tb":9223372036854775807})");
}

TEST(VisibleOf, IsTheLatestOfAllBeginnings) {
  const Timestamp now{1'000'000'000};
  StreamMetadata metadata;
  EXPECT_EQ(visible_of(metadata, SeqNr{10}, SeqNr{0}, now).first, SeqNr{1});
  metadata.count_max = 3;
  EXPECT_EQ(visible_of(metadata, SeqNr{10}, SeqNr{0}, now).first, SeqNr{8});
  EXPECT_EQ(visible_of(metadata, SeqNr{2}, SeqNr{0}, now).first, SeqNr{1});
  metadata.from = 8;
  EXPECT_EQ(visible_of(metadata, SeqNr{10}, SeqNr{0}, now).first, SeqNr{9});
  EXPECT_EQ(visible_of(metadata, SeqNr{10}, SeqNr{10}, now).first, SeqNr{11});
}

TEST(VisibleOf, HidesWhatIsTooOld) {
  StreamMetadata metadata;
  metadata.age_max_s = 60;
  const auto visible = visible_of(metadata, SeqNr{10}, SeqNr{0}, Timestamp{100'000'000});

  EXPECT_FALSE(visible.shows(SeqNr{1}, Timestamp{39'999'999}));
  EXPECT_TRUE(visible.shows(SeqNr{1}, Timestamp{40'000'000}));
  metadata.age_max_s = std::uint64_t(-1);
  EXPECT_TRUE(visible_of(metadata, SeqNr{10}, SeqNr{0}, Timestamp::now()).shows(SeqNr{1}, Timestamp{0}));
}

TEST(StreamStates, AreTheLastMetadataAndTheLastDeletion) {
  StreamStates states;
  EXPECT_FALSE(states.find(order));

  states.apply(metadata_written(R"({"$tb":9223372036854775807})", 1, 20));
  states.apply(metadata_written(R"({"$tb":3})", 2, 30));

  const auto state = states.find(order);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->metadata.from, 3u);
  EXPECT_EQ(state->metadata_version, SeqNr{2});
  EXPECT_EQ(state->deleted_at, GlobalPosition{20}) << "what came before a deletion stays gone";
  EXPECT_FALSE(state->tombstoned);
}

TEST(StreamStates, KnowAnEndForGoodAndNothingOfOthersEvents) {
  StreamStates states;
  auto event = metadata_written("{}", 1, 1);
  event.aggregate = order;  // an application's own, of that type, in an ordinary stream
  states.apply(event);
  EXPECT_FALSE(states.find(order));

  event.type = "$streamDeleted";
  states.apply(event);
  EXPECT_TRUE(states.find(order)->tombstoned);
}

TEST(StreamStates, ARemovalIsADeletionAndKeepsAnEnd) {
  StreamStates states;
  auto event = metadata_written("{}", 5, 30);
  event.aggregate = order;
  event.type = "$AggregateRemoved";
  event.payload = R"({"operation":"x","version":4})";
  states.apply(event);
  const auto removed = states.find(order);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->deleted_at, GlobalPosition{30});
  EXPECT_EQ(removed->removed_version, SeqNr{5});
  EXPECT_FALSE(removed->tombstoned);

  event.payload = R"({"operation":"x","version":4,"stream_had_ended":true})";
  states.apply(event);
  EXPECT_TRUE(states.find(order)->tombstoned) << "the event that said so is gone";

  states.apply(metadata_written(R"({"$maxCount":1})", 1, 40));
  event.aggregate = metadata_of(order).value();
  event.seq_nr = SeqNr{2};
  states.apply(event);
  EXPECT_EQ(states.find(order)->metadata, StreamMetadata{});
  EXPECT_EQ(states.find(order)->metadata_version, SeqNr{2});
}

TEST(FollowedStates, AreAsOfNowWhenTheyCaughtUp) {
  auto store = Local::open({}).value();
  FollowedStates states(store.all_names());
  EXPECT_FALSE(states.is_current());
  ASSERT_TRUE(states.catch_up());
  EXPECT_TRUE(states.is_current());

  Event event;
  event.aggregate = metadata_of(order).value();
  event.type = "$metadata";
  event.payload = R"({"$maxCount":1})";
  const auto appended = store.all_names().append(Append().event(event)).value();
  states.changed_at(appended.last_position);

  EXPECT_FALSE(states.is_current());
  ASSERT_TRUE(states.catch_up());
  EXPECT_TRUE(states.is_current());
  EXPECT_EQ(states.find(order)->metadata.count_max, 1u);
  ASSERT_TRUE(states.catch_up()) << "with nothing new";
}

TEST(FollowedStates, WaitForWhatWasAnswered) {
  auto store = Local::open({}).value();
  FollowedStates states(store.all_names());
  ASSERT_TRUE(store.append(Append().event("order-1", "Placed", "{}")));
  states.answered_at(GlobalPosition{2});
  auto waiting = std::async(std::launch::async, [&] { return states.catch_up(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  ASSERT_TRUE(store.append(Append().event("order-1", "Placed", "{}")));
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(states.applied(), GlobalPosition{2});
}

}  // namespace evershard::kurrent
