#include "evershard/storage/journal/encoded_append.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "evershard/sharding/route.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "tests/storage/random_values.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::uint64_t content_hash(const Append& append, bool ids_given = true) {
  return encode_example(append, ids_given).content_hash;
}

TEST(EncodedAppend, HasTermsOfTypeTagsConcernedAndOwnLast) {
  const EncodedAppend append = encode_example(example_append());

  const auto terms = append.terms_of(append.events[0]);

  EXPECT_THAT(std::vector(terms.begin(), terms.end()),
              ElementsAre(example_hasher.type("Placed"), example_hasher.tag("a"), example_hasher.tag("b"),
                          example_hasher.aggregate("c-42"), example_hasher.aggregate("order-1")));
}

TEST(EncodedAppend, OfAnEventWithoutAggregateHasNoOwnTerm) {
  const EncodedAppend append = encode_example(example_append());

  const auto terms = append.terms_of(append.events[2]);

  EXPECT_THAT(std::vector(terms.begin(), terms.end()),
              ElementsAre(example_hasher.type("Seen"), example_hasher.tag("b")));
  EXPECT_EQ(append.events[2].aggregate, EncodedEvent::no_aggregate);
}

TEST(EncodedAppend, HasEachTermOnceWhenHashesCollideButForTheOwn) {
  Append append = example_append();
  const bool given[] = {true, true, true};
  const sharding::TermHasher colliding(1, 1);

  const EncodedAppend encoded = encode_append(std::move(append), given, 16, colliding, example_now);

  EXPECT_THAT(encoded.terms_of(encoded.events[0]), ElementsAre(1, 1));
  EXPECT_THAT(encoded.terms_of(encoded.events[2]), ElementsAre(1));
}

TEST(EncodedAppend, GoesToTheShardsThatRoutingNames) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    const Append append = random.append();
    const auto shard_count = static_cast<std::uint32_t>(1 + random.below(65'535));

    const EncodedAppend encoded = encode_example(append, true, shard_count);

    ASSERT_THAT(encoded.events, SizeIs(append.events.size()));
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      EXPECT_EQ(encoded.events[i].shard, sharding::shard_of(append.events[i], append.events[0].id, shard_count));
    }
  }
}

TEST(EncodedAppend, ListsItsAggregatesOnceInOrderOfFirstEvent) {
  for (const std::size_t distinct : {1u, 2u, 8u, 9u, 10u, 40u, 1'000u}) {
    SCOPED_TRACE(distinct);
    RandomValues random(distinct);
    Append append;
    std::vector<AggregateId> expected;
    for (std::size_t i = 0; i < 3 * distinct; ++i) {
      Event event = random.event();
      const std::size_t which = i < distinct ? i : random.below(distinct);
      event.aggregate = AggregateId{"order", std::to_string(which)};
      if (i < distinct) expected.push_back(*event.aggregate);
      append.events.push_back(event);
    }

    const EncodedAppend encoded = encode_example(append);

    ASSERT_THAT(encoded.aggregates, SizeIs(distinct));
    for (std::size_t i = 0; i < distinct; ++i) {
      EXPECT_EQ(encoded.aggregates[i].id, expected[i]);
      EXPECT_EQ(encoded.aggregates[i].text, expected[i].text());
      EXPECT_EQ(encoded.aggregates[i].stream, example_hasher.aggregate(expected[i].text()));
    }
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      EXPECT_EQ(encoded.aggregates[encoded.events[i].aggregate].id, append.events[i].aggregate);
    }
  }
}

TEST(EncodedAppend, TellsAggregatesApartWhoseTermsAreTheSame) {
  Append append = example_append();
  append.events[1].aggregate = AggregateId{"order", "2"};
  const bool given[] = {true, true, true};

  const EncodedAppend encoded = encode_append(std::move(append), given, 16, sharding::TermHasher(1, 1), example_now);

  ASSERT_THAT(encoded.aggregates, SizeIs(2));
  EXPECT_EQ(encoded.aggregates[0].stream, encoded.aggregates[1].stream);
  EXPECT_EQ(encoded.events[0].aggregate, 0u);
  EXPECT_EQ(encoded.events[1].aggregate, 1u);
}

TEST(EncodedAppend, IsNamedByItsRequestOrByItsFirstEvent) {
  Append named = example_append(), unnamed = example_append();
  unnamed.request_id.reset();

  EXPECT_EQ(encode_example(named).request, *named.request_id);
  EXPECT_EQ(encode_example(unnamed).request, unnamed.events[0].id);
}

TEST(EncodedAppend, KeepsACommandOnTheFirstEventOfItsAggregate) {
  Append append = example_append();
  append.events[0].aggregate = AggregateId{"invoice", "9"};

  const EncodedAppend encoded = encode_example(append);
  const auto events = record_of(encoded, ShardId{1}, ShardOffset{1});
  const auto record = RecordView::open(events, ShardId{1}, ShardOffset{1});

  EXPECT_EQ(encoded.command, command_key({"order", "1"}, "pay"));
  EXPECT_FALSE(encoded.command_of(0).given());
  EXPECT_EQ(encoded.command_of(1), encoded.command);
  EXPECT_FALSE(record->event(0)->command_id);
  EXPECT_EQ(record->event(1)->command_id, "pay");
}

TEST(EncodedAppend, NamesTheAggregateOfEachSnapshot) {
  Append append = example_append();
  append.events[2].aggregate = AggregateId{"invoice", "9"};
  append.snapshots.emplace_back().aggregate = {"invoice", "9"};
  append.snapshots.back().payload = "state";

  const EncodedAppend encoded = encode_example(append);

  ASSERT_THAT(encoded.snapshots, SizeIs(1));
  EXPECT_EQ(encoded.snapshots[0].aggregate, 1u);
  EXPECT_EQ(encoded.snapshots[0].snapshot.payload, "state");
}

TEST(EncodedAppend, HashesEveryBodyAsItIs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const EncodedAppend append = encode_example(RandomValues(seed).append());
    for (const EncodedEvent& event : append.events) EXPECT_EQ(event.body_hash, checksum(append.body_of(event)));
  }
}

TEST(EncodedAppend, SetsTheTimeOfEventsThatHaveNone) {
  const std::string record = record_of(encode_example(example_append()), ShardId{1}, ShardOffset{1});

  const auto events = events_of(record, ShardId{1}, ShardOffset{1});

  ASSERT_TRUE(events);
  EXPECT_EQ((*events)[0].occurred_at, Timestamp{1});
  EXPECT_EQ((*events)[1].occurred_at, example_now);
}

TEST(ContentHash, IsTheSameForTheSameEventsLaterAndWithOtherIdsOfTheStores) {
  Append again = example_append();
  for (Event& event : again.events) event.id = EventId::random();
  const bool no_ids_given[] = {false, false, false};

  const EncodedAppend later =
      encode_append(std::move(again), no_ids_given, 16, example_hasher, Timestamp{example_now.micros + 1});

  EXPECT_EQ(later.content_hash, content_hash(example_append(), false));
}

TEST(ContentHash, DoesNotDependOnWhatIsNotAnEvent) {
  Append other = example_append();
  other.request_id = EventId::random();
  other.command.reset();
  other.expect("order-1", Version::exists());

  EXPECT_EQ(content_hash(other), content_hash(example_append()));
}

TEST(ContentHash, ChangesWithEverythingThatWasGivenAndWithTheOrder) {
  using Change = std::function<void(Append&)>;
  const std::vector<Change> changes{
      [](Append& a) { a.events[0].id.bytes[15] ^= 1; },
      [](Append& a) { a.events[0].aggregate->value = "2"; },
      [](Append& a) { a.events[0].aggregate->type = "orde"; },
      [](Append& a) { a.events[0].aggregate.reset(); },
      [](Append& a) { a.events[0].type = "Placee"; },
      [](Append& a) { a.events[0].tags = {"ab"}; },
      [](Append& a) { a.events[0].tags.pop_back(); },
      [](Append& a) { a.events[0].tags.clear(); },
      [](Append& a) { a.events[0].also.clear(); },
      [](Append& a) {
        a.events[0].also[0] = {"c4", "2"};
      },
      [](Append& a) { a.events[0].payload = "{ }"; },
      [](Append& a) { a.events[0].format = PayloadFormat::text; },
      [](Append& a) { a.events[0].metadata = "n"; },
      [](Append& a) { a.events[0].metadata.reset(); },
      [](Append& a) { a.events[0].metadata = ""; },
      [](Append& a) { a.events[0].payload = "m{}", a.events[0].metadata.reset(); },
      [](Append& a) { a.events[0].occurred_at = Timestamp{2}; },
      [](Append& a) { a.events[0].occurred_at.reset(); },
      [](Append& a) { a.events[1].occurred_at = example_now; },
      [](Append& a) { a.events[1].occurred_at = Timestamp{0}; },
      [](Append& a) { std::swap(a.events[0], a.events[1]); },
      [](Append& a) { a.events.pop_back(); },
      [](Append& a) { a.events.push_back(a.events[2]); },
  };
  std::vector<std::uint64_t> hashes{content_hash(example_append())};

  for (const Change& change : changes) {
    Append changed = example_append();
    changed.command.reset();
    change(changed);
    hashes.push_back(content_hash(changed));
  }

  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " and " << j;
  }
}

TEST(CommandKey, DiffersByAggregateAndId) {
  const std::vector<EventId> keys{command_key({"order", "1"}, "pay"), command_key({"order", "1p"}, "ay"),
                                  command_key({"order", "2"}, "pay"), command_key({"order", "1"}, "pay2"),
                                  command_key({"order", "1"}, std::string("\0pay", 4))};

  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(keys[i].given());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
  }
}

TEST(EncodedAppendDeathTest, StopsAtWhatWasNotChecked) {
  Append without_id = example_append(), strange_snapshot = example_append();
  without_id.events[1].id = {};
  strange_snapshot.snapshots.emplace_back().aggregate = {"invoice", "9"};

  EXPECT_DEATH((void)encode_example(without_id), "has an id");
  EXPECT_DEATH((void)encode_example(strange_snapshot), "writes to");
  EXPECT_DEATH((void)encode_example({}), "was checked");
}

}  // namespace
}  // namespace evershard::storage
