#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "tests/storage/random_values.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<std::string> stubbed(std::string_view record, std::vector<std::pair<std::uint16_t, EventState>> stubs) {
  return with_stubs(record, shard, first, stubs);
}

TEST(Stubs, OfARemovedEventKeepWhoseItWasItsNumberItsRequestAndItsCommand) {
  const auto record = stubbed(example_record(), {{0, EventState::removed}});
  ASSERT_TRUE(record);

  const auto placed = RecordView::open(*record, shard, first)->event(0);
  const auto events = events_of(*record, shard, first);

  RecordedEvent expected;
  expected.position = GlobalPosition{1'000};
  expected.shard = shard;
  expected.offset = first;
  expected.id = example_append().events[0].id;
  expected.aggregate = AggregateId{"order", "1"};
  expected.seq_nr = SeqNr{1};
  expected.append_index = 0;
  expected.append_events = 3;
  expected.state = EventState::removed;
  ASSERT_TRUE(placed && events);
  EXPECT_EQ(events->front(), expected);
  EXPECT_EQ(placed->index, 0u);
  EXPECT_EQ(placed->count, 3u);
  EXPECT_EQ(placed->request, example_append().request_id);
  EXPECT_EQ(placed->content_hash, encode_example(example_append()).content_hash);
  EXPECT_EQ(placed->command_id, "pay");
  EXPECT_EQ(placed->reply, "ok");
}

// An import, or a client of UmaDB's that tracks a source, would begin anew and store everything twice.
TEST(Stubs, OfARemovedEventKeepTheMarksOfWhoStoredIt) {
  auto append = example_append();
  append.events[0].tags = {"a", "evershard-import-position:9", "evershard-import:url", "z"};
  const std::string before = record_of(encode_example(append), shard, first);
  const auto record = with_stubs(before, shard, first, {{0, EventState::removed}});
  ASSERT_TRUE(record);
  const auto stub = events_of(*record, shard, first)->front();
  EXPECT_EQ(stub.tags, (std::vector<Tag>{"evershard-import-position:9", "evershard-import:url"}));
  EXPECT_EQ(stub.state, EventState::removed);
  auto masked = RecordView::open(before, shard, first)->event(0);
  ASSERT_TRUE(masked);
  make_removed(*masked);
  EXPECT_EQ(to_event(*masked, GlobalPosition{1'000}, {shard, first, 0}), stub);
}

TEST(Stubs, OfAnErasedEventKeepAllButItsPayload) {
  const auto record = stubbed(example_record(), {{0, EventState::erased}});
  ASSERT_TRUE(record);

  const auto placed = RecordView::open(*record, shard, first)->event(0);
  const auto events = events_of(*record, shard, first);

  RecordedEvent expected = recorded(example_append(), 0, shard, first, SeqNr{1});
  expected.payload.clear();
  expected.state = EventState::erased;
  ASSERT_TRUE(placed && events);
  EXPECT_EQ(events->front(), expected);
  EXPECT_EQ(placed->command_id, "pay");
  EXPECT_EQ(placed->reply, "ok");
}

TEST(Stubs, AreWhatTheMaskShowsBeforeThem) {
  const auto record = stubbed(example_record(), {{0, EventState::removed}});
  ASSERT_TRUE(record);
  RemovalMask mask;
  EXPECT_TRUE(mask.empty());
  mask.hide(AggregateId{"order", "1"}, SeqNr{2});
  mask.hide(AggregateId{"order", "1"}, SeqNr{1});  // the higher one counts

  const std::string before = example_record();
  auto shown = RecordView::open(before, shard, first)->event(0);
  auto other = RecordView::open(before, shard, first)->event(1);
  ASSERT_TRUE(shown && other);
  const auto other_before = to_event(*other, GlobalPosition{1'001}, {shard, first, 1});
  mask.apply(*shown);
  mask.apply(*other);

  const auto stub = RecordView::open(*record, shard, first)->event(0);
  ASSERT_TRUE(stub);
  EXPECT_EQ(to_event(*shown, GlobalPosition{1'000}, {shard, first, 0}),
            to_event(*stub, GlobalPosition{1'000}, {shard, first, 0}));
  EXPECT_EQ(shown->command_id, stub->command_id);
  EXPECT_EQ(shown->reply, stub->reply);
  EXPECT_EQ(shown->request, stub->request);
  EXPECT_EQ(to_event(*other, GlobalPosition{1'001}, {shard, first, 1}), other_before);
}

TEST(Stubs, AreMaskedAsLongAsSomebodyMayHoldOldBytesAndNoLonger) {
  RemovalMask mask;
  EventView event;
  event.aggregate_type = "order";
  event.aggregate_value = "0";
  event.seq_nr = SeqNr{1};
  for (std::size_t i = 0; i <= RemovalMask::done_max; ++i) {
    const AggregateId aggregate{"order", std::to_string(i)};
    mask.hide(aggregate, SeqNr{2});
    EXPECT_TRUE(mask.hides(event));
    mask.done(aggregate);
  }
  EXPECT_FALSE(mask.hides(event));
  event.aggregate_value = "1";
  EXPECT_TRUE(mask.hides(event));
  event.seq_nr = SeqNr{2};
  EXPECT_FALSE(mask.hides(event));
}

TEST(Stubs, AreMaskedAsLongAsASecondRemovalOfTheirAggregateIsUnderWay) {
  RemovalMask mask;
  const AggregateId twice{"order", "twice"};
  mask.hide(twice, SeqNr{2});
  mask.done(twice);
  mask.hide(twice, SeqNr{5});
  for (std::size_t i = 0; i <= RemovalMask::done_max; ++i) {
    const AggregateId other{"order", std::to_string(i)};
    mask.hide(other, SeqNr{2});
    mask.done(other);
  }

  EventView event;
  event.aggregate_type = "order";
  event.aggregate_value = "twice";
  event.seq_nr = SeqNr{4};
  EXPECT_TRUE(mask.hides(event));
}

TEST(RemovalRow, IsBoundToItsAggregate) {
  const RemovalRow row{SeqNr{250}, SeqNr{1}, GlobalPosition{70'000}, true, "op"};
  const auto bytes = encode_removal(row, {"order", "1"});

  EXPECT_EQ(decode_removal(bytes, {"order", "1"}), row);
  EXPECT_FALSE(decode_removal(bytes, {"order", "2"}));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_removal(flipped, {"order", "1"})) << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_removal(bytes.substr(0, size), {"order", "1"}));
}

TEST(RemovalRow, OfANewerFormIsNotTakenForDamage) {
  const AggregateId order{"order", "1"};
  auto bytes = encode_removal({SeqNr{250}, SeqNr{1}, GlobalPosition{70'000}, true, "op"}, order);
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  bytes.front() = 2;
  std::string bound = bytes;
  append_fixed(bound, checksum(order.text()));
  append_fixed(bytes, checksum(bound));

  const auto row = decode_removal(bytes, order);

  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(row.error().what.find("newer"), std::string::npos);
}

TEST(Stubs, LeaveTheOtherEventsAsTheyAre) {
  const auto before = events_of(example_record(), shard, first);
  const auto record = stubbed(example_record(), {{1, EventState::removed}, {2, EventState::live}});
  ASSERT_TRUE(record);

  const auto after = events_of(*record, shard, first);

  ASSERT_TRUE(before && after);
  EXPECT_EQ((*after)[0], (*before)[0]);
  EXPECT_EQ((*after)[1].state, EventState::removed);
  EXPECT_EQ((*after)[2], (*before)[2]);
}

TEST(Stubs, KeepNothingOfTheBytesThatWentAway) {
  const auto record = stubbed(example_record(), {{0, EventState::removed}, {1, EventState::erased}});
  ASSERT_TRUE(record);

  EXPECT_THAT(example_record(), HasSubstr("Placed"));
  EXPECT_THAT(*record, Not(HasSubstr("Placed")));
  EXPECT_THAT(*record, Not(HasSubstr("{}")));
  EXPECT_THAT(*record, HasSubstr("Paid"));
  EXPECT_THAT(*record, Not(HasSubstr("42")));
}

TEST(Stubs, OfWhatIsRemovedStayRemoved) {
  const auto removed = stubbed(example_record(), {{0, EventState::removed}});
  ASSERT_TRUE(removed);

  EXPECT_EQ(stubbed(*removed, {{0, EventState::erased}}), removed);
  EXPECT_EQ(stubbed(*removed, {{0, EventState::live}}), removed);
  EXPECT_EQ(stubbed(example_record(), {{0, EventState::removed}, {0, EventState::erased}}), removed);
}

TEST(Stubs, ReplaceAnErasedEventByARemovedOne) {
  const auto erased = stubbed(example_record(), {{0, EventState::erased}});
  ASSERT_TRUE(erased);

  EXPECT_EQ(stubbed(*erased, {{0, EventState::removed}}), stubbed(example_record(), {{0, EventState::removed}}));
}

TEST(Stubs, OfRandomRecordsKeepIdAggregateAndOrder) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Append append = random.append();
    std::vector<std::pair<std::uint16_t, EventState>> stubs;
    std::vector<EventState> states;
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      states.push_back(static_cast<EventState>(random.below(3)));
      stubs.emplace_back(static_cast<std::uint16_t>(i), states.back());
    }

    const auto record = stubbed(record_of(encode_example(append), shard, first), stubs);
    ASSERT_TRUE(record);
    const auto events = events_of(*record, shard, first);

    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), append.events.size());
    for (std::size_t i = 0; i < events->size(); ++i) {
      RecordedEvent expected = recorded(append, i, shard, first + i, SeqNr{i + 1});
      expected.state = states[i];
      if (states[i] != EventState::live) expected.payload.clear();
      EXPECT_EQ((*events)[i].id, expected.id);
      EXPECT_EQ((*events)[i].aggregate, expected.aggregate);
      EXPECT_EQ((*events)[i].seq_nr, expected.seq_nr);
      EXPECT_EQ((*events)[i].state, states[i]);
      if (states[i] != EventState::removed) {
        EXPECT_EQ((*events)[i], expected);
      }
    }
  }
}

TEST(Stubs, WithAnyBitFlippedAreFoundOut) {
  const auto record = stubbed(example_record(), {{0, EventState::removed}, {1, EventState::erased}});
  ASSERT_TRUE(record);

  for (std::size_t bit = 0; bit < 8 * record->size(); ++bit) {
    std::string flipped = *record;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(events_of(flipped, shard, first)) << bit;
  }
}

TEST(Stubs, AreNotMadeOfADamagedRecordNorOfEventsThatAreNotThere) {
  std::string damaged = example_record();
  damaged.back() = static_cast<char>(damaged.back() ^ 1);

  const auto of_damaged = stubbed(damaged, {{0, EventState::removed}});
  const auto of_missing = stubbed(example_record(), {{3, EventState::removed}});

  ASSERT_FALSE(of_damaged || of_missing);
  EXPECT_EQ(of_damaged.error().code, ErrorCode::corruption);
  EXPECT_EQ(of_missing.error().code, ErrorCode::corruption);
  EXPECT_THAT(of_missing.error().what, HasSubstr("offset 1003"));
}

}  // namespace
}  // namespace evershard::storage
