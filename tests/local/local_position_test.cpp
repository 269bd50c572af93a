// The position at a time, of a store in this process: what was removed or erased, and times that the store makes.

#include "tests/api/position_contract.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

void append_dated(EventStore& store, const std::string& aggregate, int minutes, const std::string& subject = "") {
  Append append;
  append.event(aggregate, "Placed", "{}");
  append.events.back().occurred_at = minute(minutes);
  append.events.back().subject = subject;
  const auto done = store.append(std::move(append));
  ASSERT_TRUE(done) << done.error().what;
}

std::uint64_t position_of(EventStore& store, Timestamp at) { return store.position_at(at).value().value; }

TEST(LocalPosition, IsFoundByTime) {
  auto store = open_store();
  answers_positions_by_time(store, [&](Timestamp at) { return position_of(store, at); });
}

TEST(LocalPosition, OfAnEventWithoutATimeIsByItsAppends) {
  auto store = open_store();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Placed", "{}").event("order-2", "Placed", "{}")));
  const auto stored = store.event_at(GlobalPosition{1}).value().occurred_at;
  EXPECT_EQ(position_of(store, stored), 2u);
  EXPECT_EQ(position_of(store, {stored.micros - 1}), 0u);
}

TEST(LocalPosition, GoesByWhatStillHasATime) {
  ScratchDir keys;
  auto store = open_store({.keys_dir = keys.path() / "keys"});
  append_dated(store, "kept-1", 1);
  append_dated(store, "gone-1", 2);
  append_dated(store, "gone-1", 3);
  append_dated(store, "person-1", 4, "ada");
  append_dated(store, "kept-1", 5);
  ASSERT_TRUE(store.retention().remove_aggregate({"gone", "1"}, {}));
  ASSERT_TRUE(store.retention().erase_subject("ada", {}));
  ASSERT_EQ(store.event_at(GlobalPosition{2}).value().state, EventState::removed);
  ASSERT_EQ(store.event_at(GlobalPosition{4}).value().state, EventState::erased);

  EXPECT_EQ(position_of(store, minute(1)), 1u);
  EXPECT_EQ(position_of(store, minute(3)), 1u) << "nobody knows the time of what was removed";
  EXPECT_EQ(position_of(store, minute(4)), 4u) << "what was erased has its time";
  EXPECT_EQ(position_of(store, minute(5)), 5u);
  EXPECT_EQ(position_of(store, Timestamp::last()), store.head()->value) << "also the store's own events of the removal";
}

TEST(LocalPosition, OfAClosedStoreIsRefused) {
  auto store = open_store();
  append_dated(store, "order-1", 1);
  store.close();
  EXPECT_EQ(code_of(store.position_at(minute(1))), "unavailable");
}

// A store is restored as it was at a time, and a reader misses nothing that came after it.
TEST(LocalPosition, IsWhereACopyEnds) {
  const ScratchDir scratch;
  auto store = open_store({.data_dir = scratch.path() / "store"});
  answers_positions_by_time(store, [&](Timestamp at) { return position_of(store, at); });
  for (const int at : {0, 4, 7, 9}) {
    const auto found = store.position_at(minute(at)).value();
    const auto copied = store.backup(scratch.path() / ("copy-" + std::to_string(at)), {.up_to = found});
    ASSERT_TRUE(copied) << copied.error().what;
    EXPECT_EQ(*copied, found);
  }
}

}  // namespace
}  // namespace evershard
