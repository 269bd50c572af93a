// Our pages as UmaDB's responses: what is written is what the generated code reads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/compat/umadb/words/uma_pages.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::umadb {
namespace {

using testing::ElementsAre;

namespace pb = ::umadb::v1;

RecordedEvent recorded(std::uint64_t position) {
  RecordedEvent event;
  event.position = GlobalPosition(position);
  event.shard = ShardId(3);
  event.offset = ShardOffset(position);
  event.id = EventId::random();
  event.type = "Opened";
  event.tags = {"a", "b"};
  event.payload = std::string(300, 'p');
  event.metadata = R"({"k":"v"})";
  event.occurred_at = Timestamp{5};
  event.append_index = 1;
  event.append_events = 4;
  return event;
}

void add(const std::vector<RecordedEvent>& events, UmaResponse& response) {
  RecordedView view;
  for (const auto& event : events) {
    show(event, view);
    response.add(view);
  }
}

TEST(UmaPages, AreReadByTheGeneratedCode) {
  auto plain = recorded(1), of_aggregate = recorded(1'000'000), tracked = recorded(1'000'001);
  of_aggregate.aggregate = AggregateId{"order", "7"};
  of_aggregate.seq_nr = SeqNr(2);
  tracked.tags.push_back("evershard-tracking:s");
  tracked.metadata = R"({"evershard-tracking-position":"300"})";

  UmaResponse response;
  add({plain, of_aggregate, tracked}, response);
  EXPECT_EQ(response.events(), 3u);
  EXPECT_EQ(response.last_position(), 1'000'001u);

  pb::ReadResponse read;
  auto bytes = response.take();
  put_head(2'000'000, bytes);
  ASSERT_TRUE(read.ParseFromString(bytes));
  EXPECT_EQ(response.events(), 0u);
  EXPECT_EQ(read.head(), 2'000'000u);
  ASSERT_EQ(read.events_size(), 3);
  EXPECT_EQ(read.events(0).position(), 1u);
  EXPECT_EQ(read.events(0).event().event_type(), "Opened");
  EXPECT_THAT(read.events(0).event().tags(), ElementsAre("a", "b"));
  EXPECT_EQ(read.events(0).event().data(), std::string(300, 'p'));
  EXPECT_EQ(read.events(0).event().uuid(), plain.id.text());
  ASSERT_EQ(read.events(0).event().metadata_size(), 1);
  EXPECT_EQ(read.events(0).event().metadata(0).key(), "k");
  EXPECT_EQ(read.events(0).event().metadata(0).value(), "v");
  EXPECT_FALSE(read.events(0).has_tracking_info());
  EXPECT_EQ(read.events(1).position(), 1'000'000u);
  EXPECT_EQ(read.events(1).event().metadata_size(), 3);
  EXPECT_EQ(read.events(2).tracking_info().source(), "s");
  EXPECT_EQ(read.events(2).tracking_info().position(), 300u);
  EXPECT_THAT(read.events(2).event().tags(), ElementsAre("a", "b"));
}

TEST(UmaPages, KeepNothingOfTheEventBefore) {
  auto full = recorded(1);
  RecordedEvent bare;
  bare.position = GlobalPosition(2);
  bare.id = id_of(NoId::none);
  bare.type = "T";
  UmaResponse response;
  add({full, bare}, response);
  pb::ReadResponse read;
  ASSERT_TRUE(read.ParseFromString(response.take()));
  pb::Event expected;
  expected.set_event_type("T");
  EXPECT_EQ(read.events(1).event().SerializeAsString(), expected.SerializeAsString());
  EXPECT_FALSE(read.has_head());
}

}  // namespace
}  // namespace evershard::umadb
