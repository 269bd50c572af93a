#include "evershard/storage/journal/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/event_body.hpp"
#include "tests/storage/random_values.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// What came out is what went in, or nothing came out.
void expect_undamaged_or_corruption(std::string_view bytes, const std::vector<RecordedEvent>& written) {
  const auto view = RecordView::open(bytes, shard, first);
  if (!view) {
    EXPECT_EQ(view.error().code, ErrorCode::corruption);
    return;
  }
  ASSERT_EQ(view->size(), written.size());
  for (std::size_t i = 0; i < view->size(); ++i) {
    const auto event = view->event(i);
    if (event) {
      EXPECT_EQ(to_event(*event, written[i].position, {shard, first, static_cast<std::uint16_t>(i)}), written[i]);
    } else {
      EXPECT_EQ(event.error().code, ErrorCode::corruption);
    }
  }
}

RC_GTEST_PROP(Record, GivesEveryEventBackAsItWas, (std::uint64_t seed)) {
  RandomValues random(seed);
  const Append append = random.append();
  const ShardId any_shard{random.small_number()};
  const ShardOffset any_first{random.number() / 2};

  const auto events = events_of(record_of(encode_example(append), any_shard, any_first), any_shard, any_first);

  RC_ASSERT(events.has_value());
  RC_ASSERT(events->size() == append.events.size());
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    RC_ASSERT((*events)[i] == recorded(append, i, any_shard, any_first + i, SeqNr{i + 1}));
  }
}

TEST(Record, KeepsWhatMakesARequestAndACommand) {
  const EncodedAppend append = encode_example(example_append());
  const std::string bytes = record_of(append, shard, first);
  const auto record = RecordView::open(bytes, shard, first);
  ASSERT_TRUE(record);

  const auto placed = record->event(0);
  const auto paid = record->event(1);

  ASSERT_TRUE(placed && paid);
  EXPECT_EQ(placed->index, 0u);
  EXPECT_EQ(placed->count, 3u);
  EXPECT_EQ(placed->request, append.request);
  EXPECT_EQ(placed->content_hash, append.content_hash);
  EXPECT_EQ(placed->command_id, "pay");
  EXPECT_EQ(placed->reply, "ok");
  EXPECT_EQ(paid->index, 1u);
  EXPECT_EQ(paid->count, 3u);
  EXPECT_FALSE(paid->request || paid->content_hash || paid->command_id);
}

TEST(Record, LeavesOutARequestThatIsTheFirstEventsId) {
  Append append = example_append();
  append.request_id.reset();
  const std::string bytes = record_of(encode_example(append), shard, first);

  const auto placed = RecordView::open(bytes, shard, first)->event(0);

  ASSERT_TRUE(placed);
  EXPECT_FALSE(placed->request);
  EXPECT_TRUE(placed->content_hash);
}

TEST(Record, CountsItsBytesWhileItIsBuilt) {
  const EncodedAppend append = encode_example(example_append());
  RecordBuilder builder;
  builder.begin(shard, first);

  for (const EncodedEvent& event : append.events) builder.add(append.body_of(event), event.body_hash, SeqNr{1});
  const std::size_t counted = builder.bytes();

  EXPECT_EQ(builder.events(), 3u);
  EXPECT_EQ(builder.finish().size(), counted);
}

TEST(Record, OfSomeOfItsEventsIsAsItWouldHaveBeenMadeOfThem) {
  const EncodedAppend append = encode_example(example_append());
  const auto record_from = [&](std::size_t from, std::size_t until) {
    RecordBuilder builder;
    builder.begin(shard, first + from);
    for (std::size_t i = from; i != until; ++i)
      builder.add(append.body_of(append.events[i]), append.events[i].body_hash, SeqNr{i + 1});
    return std::string(builder.finish());
  };
  const std::string whole = record_from(0, 3);

  for (std::size_t events = 1; events <= 3; ++events)
    EXPECT_EQ(first_events(whole, shard, first, events), record_from(0, events));
  for (std::size_t events = 0; events < 3; ++events)
    EXPECT_EQ(last_events(whole, shard, first, events), record_from(events, 3));
  EXPECT_EQ(last_events(whole, shard, first, 3).error().code, ErrorCode::corruption);
  for (std::size_t bit = 0; bit != whole.size() * 8; ++bit) {
    auto damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const auto last = last_events(damaged, shard, first, 1);
    if (last) {
      EXPECT_EQ(*last, record_from(1, 3)) << "the damaged one is left out";
    }
  }
}

TEST(Record, BeginsAnewAfterBegin) {
  const EncodedAppend append = encode_example(example_append());
  RecordBuilder builder;
  builder.begin(ShardId{1}, ShardOffset{1});
  builder.add("something else", 0, SeqNr{1});
  (void)builder.finish();

  builder.begin(shard, first);
  SeqNr seq_nr{1};
  for (const EncodedEvent& event : append.events) {
    builder.add(append.body_of(event), event.body_hash,
                event.aggregate == EncodedEvent::no_aggregate ? SeqNr{0} : seq_nr);
    ++seq_nr;
  }

  EXPECT_EQ(builder.finish(), example_record());
}

TEST(Record, HoldsSixtyFiveThousandEventsAndNotOneMore) {
  RecordBuilder builder;
  builder.begin(shard, first);
  const EncodedAppend append = encode_example(example_append());
  const EncodedEvent& paid = append.events[1];

  for (int i = 0; i < 65'535; ++i) builder.add(append.body_of(paid), paid.body_hash, SeqNr{1});
  const std::string bytes(builder.finish());

  const auto record = RecordView::open(bytes, shard, first);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->size(), 65'535u);
  EXPECT_EQ(record->event(65'534)->type, "Paid");
  EXPECT_DEATH(builder.add("", 0, SeqNr{1}), "65,535");
}

TEST(Record, WithAnyBitFlippedIsFoundOut) {
  std::vector<Append> appends{example_append()};
  appends.push_back({});
  appends.back().events.push_back(example_append().events[2]);
  RandomValues random(3);
  appends.push_back({});
  appends.back().events = {random.event(), random.event()};
  for (Event& event : appends.back().events) event.payload.resize(20), event.also.clear(), event.tags.resize(1);

  for (const Append& append : appends) {
    const std::string record = record_of(encode_example(append), shard, first);
    const auto written = events_of(record, shard, first);
    ASSERT_TRUE(written);
    for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
      SCOPED_TRACE("bit " + std::to_string(bit) + " of " + std::to_string(8 * record.size()));
      std::string flipped = record;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      expect_undamaged_or_corruption(flipped, *written);
      EXPECT_FALSE(events_of(flipped, shard, first));
    }
  }
}

TEST(Record, WithAnyByteReplacedOrSwappedIsFoundOut) {
  const std::string record = example_record();
  const auto written = events_of(record, shard, first);
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomValues random(seed);
    std::string damaged = record;
    const std::size_t a = random.below(record.size()), b = random.below(record.size());
    if (random.sometimes())
      std::swap(damaged[a], damaged[b]);
    else
      damaged[a] = static_cast<char>(random.below(256));

    expect_undamaged_or_corruption(damaged, *written);

    EXPECT_EQ(events_of(damaged, shard, first).has_value(), damaged == record);
  }
}

TEST(Record, CutShortOrLengthenedIsFoundOut) {
  const std::string record = example_record();

  for (std::size_t size = 0; size < record.size(); ++size) {
    // A copy of its own: reading behind it would be seen by the address sanitizer.
    const std::vector<char> cut(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(RecordView::open({cut.data(), cut.size()}, shard, first)) << size;
  }

  EXPECT_FALSE(RecordView::open(record + "x", shard, first));
}

TEST(Record, OfRandomBytesIsRefused) {
  for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
    RandomValues random(seed);
    std::string bytes = random.bytes(random.below(100));
    if (bytes.size() >= 4 && random.sometimes()) bytes.replace(0, 4, std::string("\1\0\1\0", 4));

    EXPECT_FALSE(RecordView::open(bytes, shard, first)) << seed;
  }
}

// Even where a checksum were to match by chance: no part of a body reaches behind its end.
TEST(Record, WithASoundChecksumOverANonsenseBodyIsRefusedOrRead) {
  const EncodedAppend append = encode_example(example_append());
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    RandomValues random(seed);
    std::string body(append.body_of(append.events[0]));
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i)
      body[random.below(body.size())] = static_cast<char>(random.number());
    if (random.sometimes()) body.resize(random.below(body.size()));
    RecordBuilder builder;
    builder.begin(shard, first);
    builder.add(body, checksum(body), SeqNr{1});

    const std::string bytes(builder.finish());
    const auto events = events_of(bytes, shard, first);

    if (!events) {
      EXPECT_THAT(events.error().what, HasSubstr("its parts do not fit"));
    }
  }
}

TEST(Record, WithFlagsNobodyKnowsIsRefusedThoughItsChecksumMatches) {
  std::string record = example_record();
  record[1] = 1;
  const std::string_view table(record.data() + 8, 3 * 4);
  put_fixed(record.data() + 4, record_checksum(record, table, shard, first));

  const auto view = RecordView::open(record, shard, first);

  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().what, HasSubstr("it has flags 1"));
}

TEST(Record, WithAnIndexBehindItsAppendsCountIsRefused) {
  const BodyParts parts{.id = example_append().events[0].id, .occurred_at = {}, .index = 1, .count = 1};
  std::string body(body_size(parts), '\0');
  write_body(parts, body.data());
  RecordBuilder builder;
  builder.begin(shard, first);
  builder.add(body, checksum(body), SeqNr{0});

  const auto view = RecordView::open(builder.finish(), shard, first);

  ASSERT_TRUE(view);
  EXPECT_FALSE(view->event(0));
}

TEST(Record, WithADamagedTableIsRefusedWhole) {
  const std::string record = example_record();

  for (std::size_t byte = 0; byte < 8 + 3 * 4; ++byte) {
    std::string damaged = record;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    EXPECT_FALSE(RecordView::open(damaged, shard, first)) << byte;
  }
}

TEST(Record, WhoseEventsChangedPlacesIsFoundOut) {
  Append append;
  append.events = {example_append().events[2], example_append().events[2], example_append().events[2]};
  append.events[1].id.bytes[0] ^= 1;
  append.events[2].id.bytes[0] ^= 2;
  const EncodedAppend encoded = encode_example(append);
  std::string record = record_of(encoded, shard, first);
  const auto event_bytes = static_cast<std::ptrdiff_t>(4 + 1 + 1 + encoded.body_of(encoded.events[2]).size());
  ASSERT_TRUE(events_of(record, shard, first));

  std::swap_ranges(record.end() - event_bytes, record.end(), record.end() - 2 * event_bytes);

  const auto view = RecordView::open(record, shard, first);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->event(0));
  EXPECT_FALSE(view->event(1));
  EXPECT_FALSE(view->event(2));
}

TEST(Record, UnderAnotherKeyIsFoundOut) {
  const std::string record = example_record();

  EXPECT_FALSE(RecordView::open(record, ShardId{8}, first));
  EXPECT_FALSE(RecordView::open(record, shard, first + 1));
}

TEST(Record, NamesShardAndOffsetOfWhatIsDamaged) {
  std::string record = example_record();
  record[record.size() - 1] = static_cast<char>(record.back() ^ 1);

  const auto event = RecordView::open(record, shard, first)->event(2);

  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, ErrorCode::corruption);
  EXPECT_EQ(event.error().what, "the event at offset 1002 of shard 7 is damaged: its checksum does not match");
  ASSERT_TRUE(event.error().details);
  EXPECT_EQ(event.error().details->shard, shard);
  EXPECT_EQ(event.error().details->offset, ShardOffset{1'002});
}

TEST(Record, KeepsServingTheEventsBesideADamagedOne) {
  std::string record = example_record();
  record[record.size() - 1] = static_cast<char>(record.back() ^ 1);

  const auto view = RecordView::open(record, shard, first);

  ASSERT_TRUE(view);
  EXPECT_TRUE(view->event(0));
  EXPECT_TRUE(view->event(1));
  EXPECT_FALSE(view->event(2));
}

TEST(Record, HasNoEventBehindItsLast) {
  const std::string record = example_record();

  const auto event = RecordView::open(record, shard, first)->event(3);

  ASSERT_FALSE(event);
  EXPECT_THAT(event.error().what, AllOf(HasSubstr("offset 1003"), HasSubstr("only 3 events")));
}

}  // namespace
}  // namespace evershard::storage
