// The row log: rows in their sequence, and what they do to a journal whose records lie otherwise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "tests/storage/map_rows.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ShardId logged_shard{2};

RowLogEntry entry_at(std::uint64_t epoch, std::uint64_t number, std::vector<std::uint64_t> removed = {}) {
  RowLogEntry entry;
  entry.at = {Epoch{epoch}, number};
  for (const auto offset : removed) entry.removed.push_back(ShardOffset{offset});
  return entry;
}

void put(MapRows& rows, const RowLogEntry& entry) {
  rows[Family::state][row_log_key(logged_shard, entry.at)] = encode_row_log(logged_shard, entry);
}

std::vector<RowLogAt> ats(const RowLogRange& range) {
  std::vector<RowLogAt> all;
  for (const auto& row : range.rows) all.push_back(decode_row_log(logged_shard, row)->at);
  return all;
}

/// Ten events of the shard from offset 1 on, in records of so many.
MapRows journal_in_records_of(std::size_t size) {
  Append append;
  for (int i = 0; i != 10; ++i) append.event("order-" + std::to_string(i), "Placed", "payload " + std::to_string(i));
  append.request_id = EventId::random();
  for (auto& event : append.events) event.id = EventId::derived(*append.request_id, 0);
  const auto encoded = encode_example(append);
  MapRows rows;
  RecordBuilder builder;
  for (std::size_t i = 0; i != encoded.events.size(); ++i) {
    const ShardOffset offset{i + 1};
    if (i % size == 0) builder.begin(logged_shard, offset);
    builder.add(encoded.body_of(encoded.events[i]), encoded.events[i].body_hash, SeqNr{1});
    if (i % size == size - 1 || i + 1 == encoded.events.size()) {
      const ShardOffset first{i - i % size + 1};
      rows[Family::journal][keys::journal(logged_shard, first)] = std::string(builder.finish());
    }
  }
  return rows;
}

/// `l`ive, `r`emoved, `e`rased, by offset.
std::string states_of(const MapRows& rows, const RowWrites& writes) {
  auto journal = rows[Family::journal];
  for (const auto& rewrite : writes.rewrites) journal[keys::journal(rewrite.shard, rewrite.record)] = rewrite.bytes;
  std::string states;
  for (const auto& [key, bytes] : journal) {
    const auto first = keys::decode_journal(key)->offset;
    const auto record = RecordView::open(bytes, logged_shard, first);
    if (!record) return record.error().what;
    for (std::size_t i = 0; i != record->size(); ++i) states += "lre"[static_cast<int>(record->event(i)->state)];
  }
  return states;
}

TEST(RowLog, ARowIsReadAsItWasWritten) {
  auto entry = entry_at(3, 14, {1, 2, 900});
  entry.erased = {ShardOffset{7}, ShardOffset{1ull << 40}};
  entry.state = {{"key", "value"}, {"gone", std::nullopt}};
  entry.snapshots_to_go = {{{"order", "1"}, SeqNr{4}, true}};
  entry.snapshots = {{"order", "2"}, {"order", "3"}};
  const auto row = encode_row_log(logged_shard, entry);

  const auto read = decode_row_log(logged_shard, row);

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->at, entry.at);
  EXPECT_EQ(read->removed, entry.removed);
  EXPECT_EQ(read->erased, entry.erased);
  EXPECT_EQ(read->snapshots, entry.snapshots);
  EXPECT_EQ(encode_row_log(logged_shard, *read), row);
  EXPECT_EQ(read->end(), ShardOffset{(1ull << 40) + 1});
  EXPECT_FALSE(decode_row_log(ShardId{1}, row)) << "it is bound to its shard";
  for (std::size_t i = 0; i != row.size(); ++i) {
    auto damaged = row;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(decode_row_log(logged_shard, damaged)) << i;
    EXPECT_FALSE(decode_row_log(logged_shard, std::string_view(row).substr(0, i))) << i;
  }
}

TEST(RowLog, RowsLieInTheSequenceOfEpochsAndNumbers) {
  MapRows rows;
  EXPECT_TRUE(row_log_ends(rows, logged_shard)->empty());
  for (const auto& entry : {entry_at(2, 9), entry_at(2, 10), entry_at(11, 4), entry_at(11, 5)}) put(rows, entry);
  rows[Family::state][row_log_key(ShardId{20}, {Epoch{99}, 1})] = encode_row_log(ShardId{20}, entry_at(99, 1));

  EXPECT_THAT(*row_log_ends(rows, logged_shard),
              ElementsAre(testing::Pair(Epoch{2}, 10u), testing::Pair(Epoch{11}, 5u)));
  EXPECT_TRUE(row_log_ends(rows, ShardId{0})->empty());
  const auto all = row_log_range(rows, logged_shard, {Epoch{2}, 0}, ShardOffset{99}, 1u << 20);
  ASSERT_TRUE(all);
  EXPECT_THAT(ats(*all), ElementsAre(RowLogAt{Epoch{2}, 9}, RowLogAt{Epoch{2}, 10})) << "of one epoch";
  EXPECT_FALSE(all->more);
  EXPECT_THAT(ats(*row_log_range(rows, logged_shard, {Epoch{11}, 4}, ShardOffset{99}, 1u << 20)),
              ElementsAre(RowLogAt{Epoch{11}, 5}));
  const RowLogEnds ends{{Epoch{2}, 10}, {Epoch{11}, 5}};
  EXPECT_TRUE(has_all(ends, {{Epoch{2}, 10}}));
  EXPECT_FALSE(has_all(ends, {{Epoch{3}, 1}}));
  EXPECT_FALSE(has_all({{Epoch{11}, 9}}, ends)) << "more of a newer one says nothing of an older one";
}

TEST(RowLog, APartIsAsLongAsItMayAndEndsBeforeWhatIsNotThereYet) {
  MapRows rows;
  for (std::uint64_t n = 1; n <= 9; ++n) put(rows, entry_at(1, n, {n * 10}));
  const auto one = row_log_range(rows, logged_shard, {Epoch{1}, 0}, ShardOffset{99}, 1);
  ASSERT_TRUE(one);
  EXPECT_THAT(one->rows, SizeIs(1));
  EXPECT_TRUE(one->more);
  EXPECT_THAT(row_log_range(rows, logged_shard, {Epoch{1}, 0}, ShardOffset{31}, 1u << 20)->rows, SizeIs(3));
  EXPECT_THAT(row_log_range(rows, logged_shard, {Epoch{1}, 0}, ShardOffset{10}, 1u << 20)->rows, IsEmpty());
}

TEST(RowLog, StubsTheSameEventsWhateverRecordsTheyLieIn) {
  auto first = entry_at(1, 1, {2, 3, 4, 9}), second = entry_at(1, 2, {1, 4});
  second.erased = {ShardOffset{3}, ShardOffset{10}};  // 3 is removed, and stays so
  for (std::size_t size = 1; size <= 10; ++size) {
    SCOPED_TRACE(size);
    const auto rows = journal_in_records_of(size);
    RowLogWrites writes(rows, logged_shard);
    ASSERT_TRUE(writes.add(first));
    ASSERT_TRUE(writes.add(second));
    const auto taken = writes.take();
    EXPECT_EQ(states_of(rows, taken), "rrrrllllre");
    EXPECT_THAT(taken.state, SizeIs(2)) << "the entries' own rows";
    RowLogWrites again(rows, logged_shard);
    EXPECT_THAT(again.take().rewrites, IsEmpty());
  }
}

TEST(RowLog, TheNextSnapshotOfAnAggregateTakesThePlaceOfItsEntry) {
  MapRows rows;
  const auto write = [&](std::uint64_t number, const AggregateId& aggregate, std::vector<std::uint64_t> removed = {}) {
    auto entry = entry_at(1, number, std::move(removed));
    entry.snapshots = {aggregate};
    const auto with_it = row_log_of(rows, logged_shard, aggregate, entry.at).value();
    for (const auto& state : with_it) {
      if (state.value)
        rows[Family::state][state.key] = *state.value;
      else
        rows[Family::state].erase(state.key);
    }
    put(rows, entry);
  };
  write(1, {"$group", "a"});
  write(2, {"$group", "b"});
  write(3, {"$group", "a"}, {7});
  write(4, {"$group", "a"});
  write(5, {"$group", "a"});
  EXPECT_THAT(ats(*row_log_range(rows, logged_shard, {Epoch{1}, 0}, ShardOffset{99}, 1u << 20)),
              ElementsAre(RowLogAt{Epoch{1}, 2}, RowLogAt{Epoch{1}, 3}, RowLogAt{Epoch{1}, 5}))
      << "what has more than that stays";
  EXPECT_EQ(number_of(*row_log_ends(rows, logged_shard), Epoch{1}), 5u);
  rows[Family::state][row_log_of_key({"$group", "b"})] = "damaged";
  write(6, {"$group", "b"});
  EXPECT_THAT(row_log_range(rows, logged_shard, {Epoch{1}, 0}, ShardOffset{99}, 1u << 20)->rows, SizeIs(4));
}

// It comes late, from a writer whom this node did not hear then.
TEST(RowLog, AnOlderEntryStubsEventsAndLeavesWhatNewerOnesWrote) {
  auto rows = journal_in_records_of(3);
  auto newer = entry_at(6, 1);
  newer.state = {{"row", "newer"}};
  newer.snapshots = {{"group", "a"}};
  put(rows, newer);
  auto older = entry_at(5, 7, {2});
  older.state = {{"row", "older"}, {"other", "older"}};
  older.snapshots = {{"group", "a"}, {"group", "b"}};
  RowLogWrites writes(rows, logged_shard);
  ASSERT_TRUE(writes.add(older));
  EXPECT_THAT(writes.newer_snapshots(), ElementsAre(AggregateId{"group", "a"}));
  const auto taken = writes.take();
  EXPECT_EQ(states_of(rows, taken), "lrllllllll");
  std::vector<std::string> keys;
  for (const auto& write : taken.state) keys.push_back(write.key);
  EXPECT_THAT(keys, ElementsAre("other", row_log_key(logged_shard, older.at), row_log_of_key({"group", "b"})));
}

// A new writer that ends before it has logged them anew is asked for it by the next one, or asks again itself.
TEST(RowLog, AnEntryStaysWithTheSnapshotThatItCameWith) {
  const AggregateId order{"order", "1"}, other{"order", "2"};
  const auto named = [](std::uint64_t epoch, std::uint64_t number, std::vector<AggregateId> snapshots,
                        std::vector<std::uint64_t> removed = {}) {
    auto entry = entry_at(epoch, number, std::move(removed));
    entry.snapshots = std::move(snapshots);
    return entry;
  };
  const auto with = [](MapRows& rows, const RowLogEntry& entry) {
    for (const auto& aggregate : entry.snapshots) {
      const auto of = row_log_of(rows, logged_shard, aggregate, entry.at).value();
      for (const auto& state : of) rows[Family::state][state.key] = state.value.value();
    }
    put(rows, entry);
  };
  const auto all = [](MapRows& rows, const RowWrites& writes) {
    for (const auto& state : writes.state) {
      if (state.value)
        rows[Family::state][state.key] = *state.value;
      else
        rows[Family::state].erase(state.key);
    }
    return *row_log_ends(rows, logged_shard);
  };
  auto rows = journal_in_records_of(3);
  with(rows, named(2, 4, {order}));

  // The one here is of a later version than the newer entry's.
  auto late = rows;
  RowLogWrites kept(late, logged_shard);
  ASSERT_TRUE(kept.look_behind({Epoch{3}, 1}));
  kept.keeps(order);
  EXPECT_TRUE(*kept.is_superseded(named(3, 1, {order})));
  ASSERT_TRUE(kept.add(named(3, 2, {order, other}, {5})));
  const auto of_kept = kept.take();
  EXPECT_EQ(all(late, of_kept), (RowLogEnds{{Epoch{2}, 4}, {Epoch{3}, 2}}));
  EXPECT_EQ(*row_log_at_of(late, order), (RowLogAt{Epoch{2}, 4}));
  EXPECT_EQ(*row_log_at_of(late, other), (RowLogAt{Epoch{3}, 2}));

  // The older entry's is.
  RowLogWrites gone(rows, logged_shard);
  ASSERT_TRUE(gone.look_behind({Epoch{1}, 7}));
  EXPECT_TRUE(*gone.is_superseded(named(1, 7, {order})));
  gone.gives_way(order);
  EXPECT_FALSE(*gone.is_superseded(named(1, 7, {order})));
  ASSERT_TRUE(gone.add(named(1, 7, {order})));
  EXPECT_EQ(all(rows, gone.take()), (RowLogEnds{{Epoch{1}, 7}}));
  EXPECT_EQ(*row_log_at_of(rows, order), (RowLogAt{Epoch{1}, 7}));
}

TEST(RowLog, NothingOfAnEntryIsTakenWhoseEventsAreNotHere) {
  const auto rows = journal_in_records_of(4);
  RowLogWrites writes(rows, logged_shard);
  const auto refused = writes.add(entry_at(1, 1, {2, 11}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  const auto taken = writes.take();
  EXPECT_TRUE(taken.empty());
}

}  // namespace
}  // namespace evershard::storage
