// Single events in memory: found again, never older than their record, in the memory that blocks have, too.

#include "evershard/storage/index/event_cache.hpp"

#include <gtest/gtest.h>
#include <rocksdb/cache.h>

#include <algorithm>
#include <string>
#include <vector>

#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/record_rewrite.hpp"
#include "evershard/storage/store.hpp"
#include "tests/contract/rocks_folder.hpp"

namespace evershard::storage {
namespace {

constexpr ShardId shard{3};

class AnEventCache : public ::testing::Test {
 protected:
  [[nodiscard]] std::string kept(std::uint64_t offset) const {
    const auto found = events_.find(shard, ShardOffset{offset});
    return found ? std::string(found.bytes()) : "";
  }
  void keep(std::uint64_t offset, const std::string& bytes) {
    events_.keep(shard, ShardOffset{offset}, bytes, events_.rewrites());
  }
  std::shared_ptr<rocksdb::Cache> memory_ = rocksdb::NewLRUCache(1u << 20, 0);
  EventCache events_{memory_};
};

TEST_F(AnEventCache, FindsWhatWasKeptUnderItsPlace) {
  keep(7, "seven");
  keep(8, std::string("\0eight", 6));
  EXPECT_EQ(kept(7), "seven");
  EXPECT_EQ(kept(8), std::string("\0eight", 6));
  EXPECT_EQ(kept(9), "");
  EXPECT_FALSE(events_.find(ShardId{4}, ShardOffset{7}));
  keep(7, "seven again");
  EXPECT_EQ(kept(7), "seven again");
}

TEST_F(AnEventCache, KeepsApartFromOthersInTheSameMemory) {
  keep(7, "seven");
  EventCache others(memory_);
  EXPECT_FALSE(others.find(shard, ShardOffset{7}));
}

TEST_F(AnEventCache, HoldsWhatSomebodyLooksAt) {
  keep(7, "seven");
  const auto found = events_.find(shard, ShardOffset{7});
  for (std::uint64_t offset = 100; offset != 1'100; ++offset) keep(offset, std::string(4'000, 'x'));
  ASSERT_TRUE(found);
  EXPECT_EQ(found.bytes(), "seven");
}

TEST_F(AnEventCache, ForgetsWhatWasWrittenAnew) {
  for (std::uint64_t offset = 1; offset != 10; ++offset) keep(offset, "old");
  events_.forget(std::vector<EventCache::Range>{{shard, ShardOffset{3}, 4}});
  for (std::uint64_t offset = 1; offset != 10; ++offset)
    EXPECT_EQ(kept(offset), offset >= 3 && offset < 7 ? "" : "old") << offset;
  events_.forget_all();
  for (std::uint64_t offset = 1; offset != 10; ++offset) EXPECT_EQ(kept(offset), "") << offset;
  keep(1, "new");
  EXPECT_EQ(kept(1), "new");
}

TEST_F(AnEventCache, KeepsNothingThatWasReadBeforeItsRecordWasWrittenAnew) {
  const auto before = events_.rewrites();
  events_.forget(std::vector<EventCache::Range>{{shard, ShardOffset{3}, 1}});
  events_.keep(shard, ShardOffset{3}, "old", before);
  EXPECT_EQ(kept(3), "");
  const auto between = events_.rewrites();
  events_.forget_all();
  events_.keep(shard, ShardOffset{3}, "old", between);
  EXPECT_EQ(kept(3), "");
}

TEST_F(AnEventCache, StaysWithinTheMemoryAndLetsOneOfFourInWhereItIsFull) {
  for (std::uint64_t offset = 1; offset != 1'000; ++offset) {
    keep(offset, std::string(2'000, 'x'));
    EXPECT_LE(memory_->GetUsage(), memory_->GetCapacity());
    static_cast<void>(events_.has_room());
  }
  EXPECT_FALSE(events_.has_room());
  std::uint64_t in = 0;
  for (std::uint64_t offset = 2'001; offset != 2'101; ++offset) {
    keep(offset, "small");
    in += kept(offset).empty() ? 0 : 1;
  }
  EXPECT_EQ(in, 25u);
}

class ABatchOfEvents : public AnEventCache {
 protected:
  static std::vector<FoundEvent> places(std::uint64_t from, std::uint64_t until) {
    std::vector<FoundEvent> found;
    for (auto offset = from; offset != until; ++offset)
      found.push_back(
          {GlobalPosition{offset}, {shard, ShardOffset{offset - offset % 4}, static_cast<std::uint16_t>(offset % 4)}});
    return found;
  }
  void keep_batch(const std::vector<FoundEvent>& found, std::uint64_t rewrites) {
    std::vector<EventCache::Found> events;
    for (const auto& event : found) events.push_back(events_.find(shard, event.location.offset()));
    events_.keep_batch(found, events, rewrites);
  }
  void SetUp() override {
    for (std::uint64_t offset = 0; offset != 40; ++offset)
      keep(offset, std::string(offset % 7, 'x') + std::to_string(offset));
  }
};

TEST_F(ABatchOfEvents, IsFoundWhereJustTheseAreAskedFor) {
  const auto found = places(10, 30);
  EXPECT_FALSE(events_.find_batch(found));
  keep_batch(found, events_.rewrites());
  const auto batch = events_.find_batch(found);
  ASSERT_TRUE(batch);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != found.size(); ++i) {
    EXPECT_EQ(batch.bytes(i), kept(10 + i));
    bytes += batch.bytes(i).size();
  }
  EXPECT_EQ(batch.bytes_of_all(), bytes);
  auto others = found;
  EXPECT_FALSE(events_.find_batch(std::span(others).first(19)));
  std::swap(others[3], others[4]);
  EXPECT_FALSE(events_.find_batch(others));
  others = found;
  others.back().location.shard = ShardId{4};
  EXPECT_FALSE(events_.find_batch(others));
  EXPECT_FALSE(EventCache(memory_).find_batch(found)) << "another store's, in the same memory";
}

TEST_F(ABatchOfEvents, IsLeftAsItIsWhereItIsSmallOrLarge) {
  keep_batch(places(0, EventCache::batch_min - 1), events_.rewrites());
  EXPECT_FALSE(events_.find_batch(places(0, EventCache::batch_min - 1)));
  for (std::uint64_t offset = 50; offset != 60; ++offset)
    keep(offset, std::string(EventCache::batch_bytes_max / 10 + 1, 'x'));
  keep_batch(places(50, 60), events_.rewrites());
  EXPECT_FALSE(events_.find_batch(places(50, 60)));
  keep_batch(places(50, 59), events_.rewrites());
  EXPECT_TRUE(events_.find_batch(places(50, 59)));
}

TEST_F(ABatchOfEvents, IsNoneOfBeforeAnyRecordWasWrittenAnew) {
  const auto found = places(10, 30);
  keep_batch(found, events_.rewrites());
  const auto before = events_.rewrites();
  events_.forget(std::vector<EventCache::Range>{{shard, ShardOffset{35}, 1}});
  EXPECT_FALSE(events_.find_batch(found));
  // Whoever had read before, or while it was going on, puts nothing in its place.
  keep_batch(found, before);
  EXPECT_FALSE(events_.find_batch(found));
  keep_batch(found, before + 1);
  EXPECT_FALSE(events_.find_batch(found));
  keep_batch(found, events_.rewrites());
  EXPECT_TRUE(events_.find_batch(found));
  events_.forget_all();
  EXPECT_FALSE(events_.find_batch(found));
}

class CachedEvents : public RocksFolder {
 protected:
  void SetUp() override {
    open();
    write(0, 100);
    ASSERT_TRUE(store().seal());
  }
  [[nodiscard]] std::uint64_t figure(const std::string& name) {
    for (const auto& [known, value] : store().stats().details)
      if (known == name) return value;
    ADD_FAILURE() << name;
    return 0;
  }
  [[nodiscard]] std::vector<RecordedEvent> found() { return matching(store(), Query{}.tags({"mod5:3"})); }
  /// The record that has the event, with a stub in its place.
  [[nodiscard]] RecordRewrite without(const RecordedEvent& event, EventState state) {
    auto journal = store().rows().cursor(Family::journal);
    journal->seek_for_prev(keys::journal(event.shard, event.offset));
    const auto first = keys::decode_journal(journal->key())->offset;
    const auto index = static_cast<std::uint16_t>(event.offset - first);
    auto bytes = with_stubs(journal->value(), event.shard, first, {{index, state}});
    EXPECT_TRUE(bytes);
    return {event.shard, first, *std::move(bytes), journal->value().size(), {event.offset}, state};
  }
};

TEST_F(CachedEvents, AreReadFromFilesOnce) {
  const auto first = found();
  ASSERT_EQ(first.size(), 20u);
  EXPECT_EQ(figure("event_cache.hits"), 0u);
  EXPECT_EQ(figure("event_cache.misses"), 20u);
  EXPECT_EQ(found(), first);
  EXPECT_EQ(figure("event_cache.hits"), 20u);
  EXPECT_EQ(figure("event_cache.misses"), 20u);
  EXPECT_EQ(found(), first) << "out of batches";
  EXPECT_EQ(figure("event_cache.hits"), 40u);
}

TEST_F(CachedEvents, AreStubsAsSoonAsTheirRecordHasThem) {
  for (const auto state : {EventState::erased, EventState::removed}) {
    static_cast<void>(found());
    static_cast<void>(found());
    const auto before = found();  // out of batches
    const auto& going = before[state == EventState::erased ? 4 : 5];
    CommitBatch batch;
    batch.rewrites.push_back(without(going, state));
    auto staged = store().stage(batch);
    ASSERT_TRUE(store().commit(*staged));
    for (int round = 0; round != 2; ++round) {
      const auto loaded = Reader(store()).event_at(store().view(), going.position);
      ASSERT_TRUE(loaded && *loaded);
      EXPECT_EQ((*loaded)->state, state);
      EXPECT_EQ((*loaded)->payload, "");
      for (const auto& event : found()) {
        if (event.position == going.position) {
          EXPECT_EQ(event.payload, "");
        }
      }
    }
  }
}

TEST_F(CachedEvents, AreNoneOfThoseOfAStoreThatWasOpenBefore) {
  const auto first = found();
  open();
  EXPECT_EQ(found(), first);
  EXPECT_EQ(figure("event_cache.hits"), 0u);
}

TEST_F(CachedEvents, LeaveManyEventsOfOneRecordToItsBlock) {
  const auto all = all_of(Reader(store()).open(store().view(), Query{}.types({"type0", "type1", "type2"}), {}));
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(figure("event_cache.hits"), 0u);
  const auto again = all_of(Reader(store()).open(store().view(), Query{}.types({"type0", "type1", "type2"}), {}));
  EXPECT_EQ(again, all);
}

}  // namespace
}  // namespace evershard::storage
