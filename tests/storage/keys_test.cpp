#include "evershard/storage/journal/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>

#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

RC_GTEST_PROP(Keys, ComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const ShardId shard{random.small_number()};
  const std::uint64_t a = random.number(), b = random.number(), c = random.number();
  const EventId id = random.id();
  const AggregateId aggregate = random.aggregate();

  const auto journal = keys::decode_journal(keys::journal(shard, ShardOffset{a}));
  const auto posting = keys::decode_posting(keys::posting(a, GlobalPosition{b}));
  const auto stream = keys::decode_stream(keys::stream(a, SeqNr{b}, GlobalPosition{c}));
  const auto id_key = keys::decode_id(keys::id(id, shard));
  const auto run = keys::decode_run(keys::run(shard, GlobalPosition{a}));

  RC_ASSERT(journal && journal->shard == shard && journal->offset == ShardOffset{a});
  RC_ASSERT(keys::decode_order(keys::order(GlobalPosition{a})) == GlobalPosition{a});
  RC_ASSERT(posting && posting->term == a && posting->first == GlobalPosition{b});
  RC_ASSERT(stream && stream->stream == a && stream->first_seq_nr == SeqNr{b} && stream->first == GlobalPosition{c});
  RC_ASSERT(id_key && id_key->id == id && id_key->shard == shard);
  RC_ASSERT(run && run->shard == shard && run->first == GlobalPosition{a});
  RC_ASSERT(keys::decode_directory(keys::directory(aggregate))->aggregate == aggregate);
}

RC_GTEST_PROP(Keys, OfTheStateComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const AggregateId aggregate = random.aggregate();
  const SeqNr slot{1 + random.number() / 2};
  const std::string name = random.bytes(random.below(20));

  const auto latest = keys::decode_state(keys::snapshot(aggregate, std::nullopt));
  const auto retained = keys::decode_state(keys::snapshot(aggregate, slot));
  const auto checkpoint = keys::decode_state(keys::checkpoint(name));

  RC_ASSERT(latest && latest->kind == keys::StateKey::Kind::snapshot && latest->aggregate == aggregate &&
            !latest->retained);
  RC_ASSERT(retained && retained->aggregate == aggregate && retained->retained == slot);
  RC_ASSERT(checkpoint && checkpoint->kind == keys::StateKey::Kind::checkpoint && checkpoint->name == name);
  const ShardId shard{random.small_number()};
  const ShardOffset offset{random.number()};
  const auto covered = keys::decode_state(keys::covered(shard));
  const auto waiting = keys::decode_state(keys::waiting(shard, offset));
  RC_ASSERT(covered && covered->kind == keys::StateKey::Kind::covered && covered->shard == shard);
  RC_ASSERT(waiting && waiting->kind == keys::StateKey::Kind::waiting && waiting->shard == shard &&
            waiting->offset == offset);
  RC_ASSERT(keys::decode_state(keys::identity())->kind == keys::StateKey::Kind::identity);
  RC_ASSERT(keys::decode_state(keys::applied())->kind == keys::StateKey::Kind::applied);
}

// The trap: sort keys that are not big-endian.
RC_GTEST_PROP(Keys, SortAsTheirNumbersCount, (std::uint64_t seed)) {
  RandomValues random(seed);
  const ShardId s{random.small_number()}, t{random.small_number()};
  const std::uint64_t a = random.number(), b = random.number(), c = random.number(), d = random.number();

  RC_ASSERT((keys::journal(s, ShardOffset{a}) < keys::journal(t, ShardOffset{b})) ==
            (std::tuple(s, a) < std::tuple(t, b)));
  RC_ASSERT((keys::order(GlobalPosition{a}) < keys::order(GlobalPosition{b})) == (a < b));
  RC_ASSERT((keys::posting(a, GlobalPosition{b}) < keys::posting(c, GlobalPosition{d})) ==
            (std::tuple(a, b) < std::tuple(c, d)));
  RC_ASSERT((keys::stream(a, SeqNr{b}, GlobalPosition{c}) < keys::stream(a, SeqNr{d}, GlobalPosition{a})) ==
            (std::tuple(b, c) < std::tuple(d, a)));
  RC_ASSERT((keys::run(s, GlobalPosition{a}) < keys::run(t, GlobalPosition{b})) ==
            (std::tuple(s, a) < std::tuple(t, b)));
}

RC_GTEST_PROP(Keys, OfTheDirectorySortByTypeThenValue, (std::uint64_t seed)) {
  RandomValues random(seed);
  AggregateId a = random.aggregate(), b = random.aggregate();
  if (random.sometimes()) b.type = a.type + (random.sometimes() ? "" : random.name(3, false));
  if (random.sometimes()) b.value = a.value + (random.sometimes() ? "" : random.name(3));

  RC_ASSERT((keys::directory(a) < keys::directory(b)) == (a < b));
  RC_ASSERT(keys::directory(b).starts_with(keys::directory_type_prefix(a.type)) == (a.type == b.type));
}

// The trap: sort keys joined with an unescaped separator. Names are taken apart and put together differently.
RC_GTEST_PROP(Keys, OfDifferentAggregatesAreNeverAlike, (std::uint64_t seed)) {
  RandomValues random(seed);
  const std::string name = random.name(8, false) + random.name(8, false);
  const std::size_t cut = 1 + random.below(name.size() - 1), other_cut = 1 + random.below(name.size() - 1);
  const AggregateId a{name.substr(0, cut), name.substr(cut)}, b{name.substr(0, other_cut), name.substr(other_cut)};
  const SeqNr slot{random.number()};

  RC_ASSERT((keys::directory(a) == keys::directory(b)) == (a == b));
  RC_ASSERT((keys::snapshot(a, slot) == keys::snapshot(b, slot)) == (a == b));
  RC_ASSERT(keys::snapshot(b, slot).starts_with(keys::snapshot_prefix(a)) == (a == b));
}

TEST(Keys, OfSnapshotsHaveTheLatestFirstThenRetainedOnesByVersion) {
  const AggregateId order{"order", "1"};

  const std::vector<std::string> slots{keys::snapshot(order, std::nullopt), keys::snapshot(order, SeqNr{1}),
                                       keys::snapshot(order, SeqNr{256}),
                                       keys::snapshot({"order", "10"}, std::nullopt)};

  EXPECT_TRUE(std::ranges::is_sorted(slots));
}

TEST(Keys, OfAnyOtherSizeAreDamagedAndShown) {
  const std::string key = keys::journal(ShardId{3}, ShardOffset{70'000}) + "x";

  const auto decoded = keys::decode_journal(key);

  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::corruption);
  EXPECT_EQ(decoded.error().what, "a key of journal is damaged: 11 bytes instead of 10, in 0003000000000001117078");
}

TEST(Keys, OfRandomBytesAreDecodedOrRefused) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomValues random(seed);
    std::string key = random.bytes(random.below(30));
    if (!key.empty() && random.sometimes()) key[0] = '\4';

    if (const auto state = keys::decode_state(key); state && state->kind == keys::StateKey::Kind::snapshot) {
      EXPECT_EQ(keys::snapshot(state->aggregate, state->retained), key);
    }
    if (const auto directory = keys::decode_directory(key)) {
      EXPECT_EQ(keys::directory(directory->aggregate), key);
    }
    EXPECT_EQ(keys::decode_order(key).has_value(), key.size() == 8);
    EXPECT_EQ(keys::decode_posting(key).has_value(), key.size() == 16);
    EXPECT_EQ(keys::decode_stream(key).has_value(), key.size() == 24);
    EXPECT_EQ(keys::decode_id(key).has_value(), key.size() == 18);
    EXPECT_EQ(keys::decode_run(key).has_value(), key.size() == 10);
  }
}

TEST(KeysDeathTest, OfAnUncheckedAggregateStopTheProcess) {
  EXPECT_DEATH((void)keys::directory({"order", std::string("1\0002", 3)}), "was checked");
  EXPECT_DEATH((void)keys::snapshot_prefix({std::string("or\0der", 6), "1"}), "was checked");
}

}  // namespace
}  // namespace evershard::storage
