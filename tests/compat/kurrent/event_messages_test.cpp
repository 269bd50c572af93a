// Messages that are written straight from stored events: what the generated code reads is what it would have written.

#include "evershard/compat/kurrent/event_messages.hpp"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::kurrent {
namespace {

std::vector<esp::ReadResp> read_back(EventMessages& messages) {
  const auto piece = messages.take();
  std::vector<esp::ReadResp> read;
  std::size_t begin = 0;
  for (const auto end : piece.ends) {
    EXPECT_TRUE(read.emplace_back().ParseFromArray(piece.bytes.get() + begin, static_cast<int>(end - begin)));
    begin = end;
  }
  return read;
}

esp::ReadResp built(const RecordedEvent& event, bool structured_ids) {
  esp::ReadResp response;
  response.mutable_event()->set_commit_position(event.position.value);
  put_event(event, structured_ids, *response.mutable_event()->mutable_event());
  return response;
}

RecordedEvent plain(std::uint64_t position) {
  RecordedEvent event;
  event.position = GlobalPosition(position);
  event.id = EventId::random();
  event.aggregate = AggregateId{"order", "7"};
  event.seq_nr = SeqNr(position);
  event.type = "Placed";
  event.payload = R"({"a":1})";
  event.format = PayloadFormat::json;
  event.occurred_at = Timestamp{1'764'292'200'000'123};
  return event;
}

std::vector<RecordedEvent> of_every_kind() {
  std::vector<RecordedEvent> events{plain(1), plain(127), plain(128), plain(std::numeric_limits<std::uint32_t>::max())};
  auto& cart = events.emplace_back(plain(2));
  cart.aggregate = AggregateId{std::string(plain_type), "cart"};
  auto& metadata = events.emplace_back(plain(3));
  metadata.aggregate = AggregateId{std::string(metadata_type), "order-7"};
  metadata.type = metadata_event_type;
  auto& loose = events.emplace_back(plain(4));
  loose.aggregate.reset();
  loose.seq_nr = SeqNr{0};
  auto& ended = events.emplace_back(plain(5));
  ended.type = stream_deleted_type;
  auto& renamed = events.emplace_back(plain(6));
  renamed.tags = {"a", "kurrent-id:" + EventId::random().text()};
  auto& bare = events.emplace_back(plain(7));
  bare.payload.clear();
  bare.format = PayloadFormat::unspecified;
  bare.id = {};
  bare.occurred_at = Timestamp{-5};
  auto& half = events.emplace_back(plain(8));
  half.id = {};
  half.id.bytes[15] = 1;
  for (const std::size_t bytes : {126u, 127u, 128u, 16'383u, 16'384u, 300'000u}) {
    auto& long_one = events.emplace_back(plain(9));
    long_one.payload.assign(bytes, '\xff');
    long_one.metadata.emplace(bytes / 2, 'm');
    long_one.aggregate->value.assign(bytes % 500 + 1, 'v');
  }
  return events;
}

TEST(EventMessages, AreReadByTheGeneratedCode) {
  for (const bool structured : {false, true}) {
    EventMessages messages;
    RecordedView view;
    const auto events = of_every_kind();
    for (const auto& event : events) {
      show(event, view);
      messages.add(view, structured);
    }
    EXPECT_EQ(messages.size(), events.size());
    const auto read = read_back(messages);
    ASSERT_EQ(read.size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto expected = built(events[i], structured);
      EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read[i], expected))
          << i << ": " << read[i].ShortDebugString().substr(0, 400) << "\n"
          << expected.ShortDebugString().substr(0, 400);
      EXPECT_EQ(read[i].ByteSizeLong(), expected.ByteSizeLong()) << i;
    }
    EXPECT_EQ(messages.size(), 0u);
    EXPECT_EQ(messages.bytes(), 0u);
  }
}

TEST(EventMessages, StandInTheOrderInWhichTheyWereAdded) {
  EventMessages messages;
  RecordedView view;
  const auto event = plain(1);
  show(event, view);
  esp::ReadResp notice;
  notice.mutable_caught_up()->set_stream_revision(4);
  messages.add(notice);
  messages.add(view, false);
  messages.add(notice);
  const auto read = read_back(messages);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].caught_up().stream_revision(), 4);
  EXPECT_TRUE(read[1].has_event());
  EXPECT_TRUE(read[2].has_caught_up());
}

}  // namespace
}  // namespace evershard::kurrent
