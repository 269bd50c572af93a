// Truncation and removal in one process: what readers, writers, verify, copies and the disk have of it.

#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include "evershard/local/committing_writer.hpp"
#include "evershard/local/maintenance.hpp"
#include "evershard/local/node.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/repair/cluster_copy.hpp"
#include "evershard/storage/repair/cluster_spread.hpp"
#include "evershard/storage/repair/stopped_parts.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::_;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const AggregateId order{"order", "1"};

std::vector<RecordedEvent> all_of(EventStream stream) {
  std::vector<RecordedEvent> events;
  for (const auto& event : stream) events.push_back(event);
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return events;
}

/// `r` removed, `l` live, in order of seq_nr.
std::string states_of(Local& store, const AggregateId& aggregate) {
  std::string states;
  std::uint64_t next = 1;
  for (const auto& event : all_of(store.read(aggregate))) {
    EXPECT_EQ(event.seq_nr, SeqNr{next++});
    EXPECT_EQ(event.aggregate, aggregate);
    if (event.state == EventState::removed) {
      EXPECT_EQ(event.type + event.payload + event.metadata.value_or("has one"), "has one");
      EXPECT_THAT(event.tags, IsEmpty());
    }
    states += event.state == EventState::removed ? 'r' : 'l';
  }
  return states;
}

void expect_sound(Local& store) {
  auto report = store.verify();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
}

std::vector<std::string> log_of(Local& store) {
  std::vector<std::string> words;
  auto log = store.retention().retention_log(SeqNr{0}, 1'000);
  EXPECT_TRUE(log) << log.error().what;
  for (const auto& entry : *log) words.push_back(entry.what);
  return words;
}

RetentionOrder because(std::string reason) {
  RetentionOrder order_of;
  order_of.by = "ann";
  order_of.reason = std::move(reason);
  return order_of;
}

TruncateOptions uncovered() {
  TruncateOptions options;
  options.uncovered = true;
  return options;
}

TEST(LocalRetention, TruncatesBehindASnapshotAndGoesOn) {
  auto store = open_store();
  for (int i = 1; i <= 6; ++i) append_one(store, "order-1", "Placed", {"customer:7"}, "secret");
  append_one(store, "order-2", "Placed", {"customer:7"});
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 4, "state")));

  TruncateOptions options;
  static_cast<RetentionOrder&>(options) = because("old");
  const auto done = store.retention().truncate_aggregate(order, SeqNr{5}, options);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 4u);
  EXPECT_EQ(done->covered_by, SeqNr{4});
  EXPECT_EQ(states_of(store, order), "rrrrll");
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"customer:7"}))), ElementsAre(5, 6, 7));
  EXPECT_THAT(positions_of(store.read(Query{}.types({"Placed"}))), ElementsAre(5, 6, 7));
  EXPECT_THAT(positions_of(store.read(Query{}.concerning({order}))), ElementsAre(1, 2, 3, 4, 5, 6, 8, 9));
  EXPECT_THAT(positions_of(store.read(Query::all())), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_EQ(store.event_at(GlobalPosition{2})->state, EventState::removed);
  EXPECT_THAT(log_of(store), ElementsAre("$TruncationOrdered", "$TruncationDone"));
  EXPECT_THAT(store.retention().retention_log(SeqNr{0}, 1)->front().json,
              HasSubstr(R"("by":"ann","reason":"old","aggregate":"order-1","before":5)"));
  const auto next =
      store.append(Append{}.event("order-1", "Paid", "{}").expect("order-1", ExpectedVersion::exactly(6)));
  ASSERT_TRUE(next) << next.error().what;
  EXPECT_EQ(store.aggregate(order)->version, SeqNr{7});
  EXPECT_EQ((*store.snapshot(order))->payload, "state");
  expect_sound(store);
}

TEST(LocalRetention, RefusesWhatNoSnapshotStandsFor) {
  auto store = open_store();
  for (int i = 1; i <= 3; ++i) append_one(store, "order-1", "T");
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 1, "state")));

  const auto refused = store.retention().truncate_aggregate(order, SeqNr{4}, {});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("latest one is of version 1"));
  EXPECT_EQ(states_of(store, order), "lll");
  EXPECT_THAT(log_of(store), IsEmpty());
  EXPECT_EQ(store.retention().truncate_aggregate(order, SeqNr{2}, {})->events, 1u);
  EXPECT_EQ(store.retention().truncate_aggregate(order, SeqNr{4}, uncovered())->events, 2u);
  EXPECT_EQ(states_of(store, order), "rrr");
  EXPECT_EQ(store.aggregate(order)->version, SeqNr{3});  // truncated, not removed: it is there
}

TEST(LocalRetention, RefusesWhatIsNotThereAndWhatIsItsOwn) {
  auto store = open_store();
  append_one(store, "order-1", "T");
  ASSERT_TRUE(store.retention().remove_aggregate(order, {}));

  EXPECT_EQ(code_of(store.retention().truncate_aggregate(AggregateId{"order", "9"}, SeqNr{2}, {})), "not_found");
  EXPECT_EQ(code_of(store.retention().remove_aggregate(AggregateId{"order", "9"}, {})), "not_found");
  EXPECT_EQ(code_of(store.retention().remove_aggregate(AggregateId{"$retention", "log"}, {})), "invalid_argument");
  EXPECT_EQ(code_of(store.retention().truncate_aggregate(AggregateId{"$retention", "log"}, SeqNr{2}, uncovered())),
            "invalid_argument");
  append_one(store, "order-2", "T");
  EXPECT_EQ(code_of(store.retention().truncate_aggregate(AggregateId{"order", "2"}, SeqNr{1}, uncovered())),
            "invalid_argument");
  EXPECT_EQ(code_of(store.retention().truncate_aggregate(AggregateId{"order", "2"}, SeqNr{3}, uncovered())),
            "invalid_argument");
}

TEST(LocalRetention, SaysWhatWouldGoAndChangesNothing) {
  auto store = open_store();
  for (int i = 1; i <= 5; ++i) append_one(store, "order-1", "T", {}, std::string(100, 'x'));
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 5, "state")));
  const auto head = store.head();
  auto options = uncovered();
  options.dry_run = true;

  const auto truncated = store.retention().truncate_aggregate(order, SeqNr{4}, options);
  const auto removed = store.retention().remove_aggregate(order, options);

  ASSERT_TRUE(truncated && removed);
  EXPECT_EQ(truncated->events, 3u);
  EXPECT_EQ(removed->events, 5u);
  EXPECT_EQ(removed->snapshots, 1u);
  EXPECT_LT(removed->bytes_after + 400, removed->bytes_before);
  EXPECT_EQ(truncated->operation + removed->operation, "");
  EXPECT_EQ(store.head(), head);
  EXPECT_EQ(states_of(store, order), "lllll");
}

TEST(LocalRetention, WritesARecordOnceHoweverManyOfItsEventsGo) {
  auto store = open_store();
  Append append;
  for (int i = 0; i < 100; ++i) append.event("order-1", "T", "small");
  ASSERT_TRUE(store.append(append));
  RetentionOrder dry;
  dry.dry_run = true;

  const auto would = store.retention().remove_aggregate(order, dry);
  const auto done = store.retention().remove_aggregate(order, {});

  ASSERT_TRUE(would && done);
  EXPECT_EQ(would->events, 100u);
  EXPECT_LE(would->records, 2u);  // 12 KiB each
  EXPECT_EQ(done->records, would->records);
  EXPECT_EQ(done->bytes_before, would->bytes_before);
  EXPECT_EQ(done->bytes_after, would->bytes_after);
  EXPECT_EQ(states_of(store, order), std::string(100, 'r') + 'l');
  expect_sound(store);
}

TEST(LocalRetention, TakesNoOldStateOfARemovedAggregateAfterALaterTruncation) {
  auto store = open_store();
  for (int i = 1; i <= 7; ++i) append_one(store, "order-1", "T");
  ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
  for (int i = 9; i <= 12; ++i) append_one(store, "order-1", "T");
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 12, "state")));
  ASSERT_TRUE(store.retention().truncate_aggregate(order, SeqNr{12}, {}));

  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("order-1", 5, "what nobody may know", 3))), "not_found");
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("order-1", 10, "too old", 3))), "not_found");
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("order-1", 11, "stands for all that is gone", 3))), "ok");
  EXPECT_FALSE(*store.snapshot(order, SeqNr{10}));
}

TEST(LocalRetention, RemovesAnAggregateUntilItsNextEvent) {
  auto store = open_store();
  for (int i = 1; i <= 3; ++i) append_one(store, "order-1", "T", {"a"});
  append_one(store, "order-2", "T", {"a"});
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 2, "state", 3)));
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 3, "state", 3)));

  const auto done = store.retention().remove_aggregate(order, because("asked for"));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 3u);
  EXPECT_EQ(done->snapshots, 3u);
  EXPECT_EQ(states_of(store, order), "rrrl");
  EXPECT_EQ(all_of(store.read(order)).back().type, retention::aggregate_removed);
  EXPECT_EQ(code_of(store.aggregate(order)), "not_found");
  EXPECT_THAT(*store.aggregates("order", {}, 10), SizeIs(1));
  EXPECT_EQ(store.aggregates("order", {}, 1)->front().aggregate.value, "2");  // a page is full where there are more
  EXPECT_FALSE(*store.snapshot(order));
  EXPECT_THAT(*store.snapshots(order), IsEmpty());
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("order-1", 3, "old state"))), "not_found");
  EXPECT_EQ(store.retention().remove_aggregate(order, {})->events, 0u);  // again: nothing is left to do
  EXPECT_THAT(log_of(store), ElementsAre("$RemovalOrdered", "$RemovalDone"));
  // Whoever decided on what is gone is refused; whoever comes now continues the versions.
  EXPECT_EQ(code_of(store.append(Append{}.event("order-1", "T", "{}").expect("order-1", ExpectedVersion::exactly(3)))),
            "version_conflict");
  EXPECT_EQ(code_of(store.append(Append{}.event("order-1", "T", "{}").expect("order-1", ExpectedVersion::none()))),
            "version_conflict");
  append_one(store, "order-1", "T", {"a"});
  EXPECT_EQ(store.aggregate(order)->version, SeqNr{5});
  EXPECT_EQ(states_of(store, order), "rrrll");
  EXPECT_EQ(store.retention().remove_aggregate(order, {})->events,
            2u);  // and once more, with the event of the first removal
  EXPECT_EQ(states_of(store, order), "rrrrrl");
  expect_sound(store);
}

TEST(LocalRetention, AnswersARetriedRequestAsBefore) {
  auto store = open_store();
  auto append =
      Append{}.event("order-1", "Paid", "42").event("order-2", "Noted", "x").expect("order-1", ExpectedVersion::none());
  for (auto& event : append.events) event.id = EventId::random();
  append.command = CommandRecord{order, "pay", "ok"};
  const auto first = store.append(append);
  ASSERT_TRUE(first);

  ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
  const auto again = store.append(append);
  auto other = append;
  other.events[0].payload = "43";

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->first_position, first->first_position);
  EXPECT_EQ(code_of(store.append(other)), "duplicate_event");
  EXPECT_EQ(states_of(store, AggregateId{"order", "2"}), "l");  // the rest of its append, in the same record perhaps
}

TEST(LocalRetention, IsTheSameInTheTailInSealedRunsAndRebuilt) {
  ScratchDir dir;
  const auto look = [&](Local& store) {
    EXPECT_EQ(states_of(store, order), "rrrrrrl");
    EXPECT_THAT(positions_of(store.read(Query{}.tags({"a"}))), ElementsAre(2, 4));
    EXPECT_THAT(positions_of(store.read(Query{}.types({"T"}))), ElementsAre(2, 4));
    EXPECT_THAT(positions_of(store.read(Query{}.concerning({order}))), ElementsAre(1, 3, 5, 6, 7, 8, 9, 10, 11));
    EXPECT_TRUE(store.append(
        Append{}.event("probe-1", "P", "{}").fail_if(Query{}.tags({"b"}))));  // what is removed matches no condition
    expect_sound(store);
  };
  {
    auto store = open_store({.data_dir = dir.path() / "a"});
    for (int i = 0; i < 3; ++i) {
      append_one(store, "order-1", "T", {"a", "b"});
      if (i < 2) append_one(store, "order-2", "T", {"a"});
    }
    for (int i = 0; i < 3; ++i) append_one(store, "order-1", "T", {"b"});
    ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
    EXPECT_THAT(positions_of(store.read(Query{}.tags({"b"}))), IsEmpty());
    look(store);
    ASSERT_TRUE(store.flush());
    look(store);
    ASSERT_TRUE(store.backup(dir.path() / "truth", {.truth_only = true}));
  }
  {
    auto store = open_store({.data_dir = dir.path() / "a"});
    look(store);
  }
  ASSERT_TRUE(restore(dir.path() / "truth", dir.path() / "rebuilt"));
  auto rebuilt = open_store({.data_dir = dir.path() / "rebuilt"});
  look(rebuilt);
}

// -- what is broken off

/// Stops at the n-th report: a process that goes away leaves the same.
Progress stopping_after(int n) {
  return [n](std::uint64_t, std::uint64_t) mutable { return n-- > 0; };
}

void fill_large(Local& store, int events) {
  for (int i = 0; i < events; ++i)
    append_one(store, "order-1", "T", {"a"}, std::string(40'000, static_cast<char>('a' + i % 26)));
}

TEST(LocalRetention, HidesAllOfItAtOnceAndFinishesLater) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path()});
    fill_large(store, 40);
    const auto stopped = store.retention().remove_aggregate(order, {}, stopping_after(1));
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
    EXPECT_EQ(states_of(store, order), std::string(40, 'r') + 'l');
    EXPECT_THAT(log_of(store), ElementsAre("$RemovalOrdered"));
  }
  ScratchDir beside;
  ASSERT_TRUE(restore(dir.path(), beside.path() / "copy"));
  for (const auto& at : {dir.path(), beside.path() / "copy"}) {
    auto store = open_store({.data_dir = at});
    EXPECT_EQ(states_of(store, order), std::string(40, 'r') + 'l');
    EXPECT_THAT(positions_of(store.read(Query{}.tags({"a"}))), IsEmpty());
    append_one(store, "order-1", "T", {"a"});
    ASSERT_TRUE(store.vacuum());
    EXPECT_THAT(log_of(store), ElementsAre("$RemovalOrdered", "$RemovalDone"));
    EXPECT_EQ(states_of(store, order), std::string(40, 'r') + "ll");
    expect_sound(store);
  }
}

TEST(LocalRetention, HidesNothingThatACopyAppendsUnderTheSameNumbers) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path() / "a"});
    fill_large(store, 40);
    ASSERT_FALSE(store.retention().remove_aggregate(order, {}, stopping_after(1)));
    ASSERT_TRUE(store.backup(dir.path() / "b", {.up_to = GlobalPosition{20}}));
  }
  for (int round = 0; round < 2; ++round) {
    auto clone = open_store({.data_dir = dir.path() / "b"});
    for (int i = 0; i < 15; ++i) append_one(clone, "order-1", "T", {"new"});
    EXPECT_EQ(states_of(clone, order), std::string(20, 'r') + std::string(15 * (round + 1), 'l'));
    EXPECT_TRUE(clone.aggregate(order));
  }
  auto clone = open_store({.data_dir = dir.path() / "b"});
  ASSERT_TRUE(clone.vacuum());
  EXPECT_EQ(states_of(clone, order), std::string(20, 'r') + std::string(30, 'l'));
  EXPECT_THAT(positions_of(clone.read(Query{}.tags({"new"}))), SizeIs(30));
  expect_sound(clone);
}

/// What `kill -9` leaves at every step, opened again.
TEST(LocalRetention, IsWholeWhereverTheProcessDies) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path() / "store"});
    fill_large(store, 40);
    ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 40, "state", 2)));
  }
  std::vector<std::filesystem::path> images;
  {
    std::atomic<bool> watching{false};
    std::mutex mutex;
    cluster::NodeOptions options;
    options.store.data_dir = dir.path() / "store";
    options.store.at_step = [&](const char* step) {
      const std::string_view at = step;
      if (!watching || !(at.starts_with("retention.") || at == "commit.begin" || at == "commit.written")) return;
      const std::lock_guard lock(mutex);
      images.push_back(dir.path() / (std::to_string(images.size()) + "-" + step));
      std::filesystem::copy(dir.path() / "store", images.back(), std::filesystem::copy_options::recursive);
    };
    auto node = cluster::Node::open(options);
    ASSERT_TRUE(node) << node.error().what;
    watching = true;
    ASSERT_TRUE((*node)->retention().remove(order, {}, {}));
    watching = false;
  }
  EXPECT_GE(images.size(), 15u);
  int untouched = 0, unfinished = 0;
  for (const auto& image : images) {
    SCOPED_TRACE(image.filename().string());
    auto store = open_store({.data_dir = image});
    // All of it, or nothing: and what was begun is finished by whoever comes next.
    const auto states = states_of(store, order);
    if (states == std::string(40, 'l')) {
      ++untouched;
      EXPECT_THAT(log_of(store), IsEmpty());
      EXPECT_EQ((*store.snapshot(order))->payload, "state");
    } else {
      EXPECT_EQ(states, std::string(40, 'r') + 'l');
      EXPECT_FALSE(*store.snapshot(order));
      EXPECT_EQ(code_of(store.aggregate(order)), "not_found");
      unfinished += log_of(store).size() == 1 ? 1 : 0;
    }
    ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
    EXPECT_EQ(states_of(store, order), std::string(40, 'r') + 'l');
    EXPECT_THAT(log_of(store), ElementsAre("$RemovalOrdered", "$RemovalDone"));
    expect_sound(store);
  }
  EXPECT_GE(untouched, 1);
  EXPECT_GE(unfinished, 8);
}

// -- time to live

RetentionPolicy policy(std::string name, RetentionPolicy::Kind kind, std::string type) {
  RetentionPolicy made;
  made.name = std::move(name);
  made.kind = kind;
  made.type = std::move(type);
  made.keep = 3600s;
  return made;
}

void append_aged(Local& store, std::string_view aggregate, std::string type, std::chrono::seconds age) {
  auto append = Append{}.event(aggregate, std::move(type), "x");
  append.events[0].occurred_at = Timestamp{Timestamp::now().micros - std::chrono::microseconds(age).count()};
  ASSERT_TRUE(store.append(append));
}

TEST(LocalRetention, ADryRunCountsARecordOnce) {
  auto store = open_store({.shards = 1});
  Append together;  // one append on one shard: one record
  for (const auto* aggregate : {"cart-1", "cart-2", "cart-3"}) {
    together.event(aggregate, "Seen", std::string(100, 'x'));
    together.events.back().occurred_at = Timestamp{Timestamp::now().micros - std::chrono::microseconds(2h).count()};
  }
  ASSERT_TRUE(store.append(together));
  ASSERT_TRUE(store.retention().set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
  RetentionOrder dry;
  dry.dry_run = true;

  const auto would = store.retention().apply_retention(dry);

  ASSERT_TRUE(would) << would.error().what;
  EXPECT_EQ(would->aggregates, 3u);
  EXPECT_EQ(would->events, 3u);
  EXPECT_EQ(would->records, 1u);
  EXPECT_LT(would->bytes_after + 300, would->bytes_before);
  EXPECT_LT(would->bytes_before, 600u);
}

TEST(LocalRetention, PoliciesAreDefinitionsAndRemoveWhatIsOldAlone) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path()});
    append_aged(store, "cart-1", "Seen", 2h);  // not stood for
    append_aged(store, "cart-2", "Seen", 2h);
    append_aged(store, "cart-2", "Seen", 1min);
    append_aged(store, "cart-2", "Bought", 2h);
    append_aged(store, "", "Seen", 2h);
    ASSERT_TRUE(store.put_snapshot(snapshot_of("cart-2", 3, "state")));
    append_aged(store, "session-1", "Opened", 2h);
    append_aged(store, "session-2", "Opened", 2h);
    append_aged(store, "session-2", "Clicked", 1min);
    ASSERT_TRUE(
        store.retention().set_retention_policy(policy("seen", RetentionPolicy::Kind::events, "Seen"), because("law")));
    ASSERT_TRUE(
        store.retention().set_retention_policy(policy("sessions", RetentionPolicy::Kind::remove, "session"), {}));
    ASSERT_TRUE(store.retention().set_retention_policy(policy("gone", RetentionPolicy::Kind::remove, "cart"), {}));
    ASSERT_TRUE(store.retention().drop_retention_policy("gone", {}));
    EXPECT_EQ(code_of(store.retention().drop_retention_policy("gone", {})), "not_found");
  }
  auto store = open_store({.data_dir = dir.path()});
  EXPECT_THAT(*store.retention().retention_policies(),
              ElementsAre(policy("seen", RetentionPolicy::Kind::events, "Seen"),
                          policy("sessions", RetentionPolicy::Kind::remove, "session")));
  RetentionOrder dry;
  dry.dry_run = true;
  const auto would = store.retention().apply_retention(dry);
  const auto done = store.retention().apply_retention({});
  const auto again = store.retention().apply_retention({});

  ASSERT_TRUE(would && done && again) << done.error().what;
  EXPECT_EQ(would->events, 3u);
  EXPECT_EQ(done->events, 3u);
  EXPECT_EQ(done->aggregates, 1u);
  EXPECT_EQ(again->events, 0u);
  EXPECT_EQ(again->operation, "");
  EXPECT_EQ(states_of(store, {"cart", "1"}), "l");
  EXPECT_EQ(states_of(store, {"cart", "2"}), "rll");
  EXPECT_EQ(states_of(store, {"session", "1"}), "rl");
  EXPECT_EQ(states_of(store, {"session", "2"}), "ll");
  EXPECT_EQ(store.event_at(GlobalPosition{5})->state, EventState::removed);
  EXPECT_THAT(log_of(store), ElementsAre("$EventsRemoved", "$RemovalOrdered", "$RemovalDone", "$PoliciesApplied"));
  EXPECT_THAT(store.retention().retention_log(SeqNr{0}, 1)->front().json, HasSubstr(R"("positions":[[2,2],[5,5]])"));
  EXPECT_EQ(code_of(store.retention().set_retention_policy(policy("", RetentionPolicy::Kind::events, "T"), {})),
            "invalid_argument");
  EXPECT_EQ(code_of(store.retention().set_retention_policy(policy("p", RetentionPolicy::Kind::events, "$T"), {})),
            "invalid_argument");
  expect_sound(store);
}

/// What was acknowledged after a policy looked at its aggregate is not what the policy meant: neither where the second
/// look notices it, nor where it comes so late that the removal's own append is refused.
TEST(LocalRetention, APolicyLeavesWhatIsWrittenToWhileItRuns) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late ? "late" : "early");
    ScratchDir dir;
    {
      auto store = open_store({.data_dir = dir.path()});
      for (const auto* cart : {"cart-1", "cart-2", "cart-3"}) append_aged(store, cart, "Seen", 2h);
      ASSERT_TRUE(store.retention().set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
    }
    {
      std::shared_ptr<cluster::Node> running;
      std::atomic<bool> first{true}, holding{false}, held{false}, appended{false};
      const auto patiently = [](const auto& condition) {
        for (int tries = 0; tries < 6'000 && !condition(); ++tries) std::this_thread::sleep_for(5ms);
        EXPECT_TRUE(condition());
      };
      cluster::NodeOptions options;
      options.store.data_dir = dir.path();
      options.store.at_step = [&](const char* step) {
        const std::string_view at = step;
        if (at == "retention.done" && first.exchange(false)) {
          holding = late;
          running->committer().append_async(Append{}.event("cart-2", "Seen", "new"),
                                            [&](const Result<Appended>& done) { appended = done.has_value(); });
          patiently([&] { return late ? held.load() : appended.load(); });
        } else if (at == "commit.begin" && holding.exchange(false)) {
          // Its write begins when the removal has looked and is on its way: two are waiting for their answer.
          held = true;
          patiently([&] { return running->committer().stats().waiting >= 2; });
        }
      };
      auto node = cluster::Node::open(options);
      ASSERT_TRUE(node) << node.error().what;
      running = *std::move(node);
      const auto done = running->retention().apply({policy("carts", RetentionPolicy::Kind::remove, "cart")}, {}, {});
      ASSERT_TRUE(done) << done.error().what;
      EXPECT_FALSE(done->trouble);
      EXPECT_EQ(done->total.aggregates, 2u);
      EXPECT_EQ(done->total.events, 2u);
      EXPECT_TRUE(appended);
      running.reset();
    }
    auto store = open_store({.data_dir = dir.path()});
    EXPECT_EQ(states_of(store, {"cart", "1"}), "rl");
    EXPECT_EQ(states_of(store, {"cart", "2"}), "ll");
    EXPECT_EQ(states_of(store, {"cart", "3"}), "rl");
    expect_sound(store);
  }
}

TEST(LocalRetention, APolicyFindsAnAggregateWhoseLastEventIsGone) {
  auto store = open_store();
  append_aged(store, "cart-1", "Opened", 100h);
  append_aged(store, "cart-1", "Seen", 90h);
  append_aged(store, "cart-2", "Opened", 80h);
  append_aged(store, "cart-2", "Seen", 3h);  // not long ago, although it is gone
  append_aged(store, "other-1", "T", 2h);
  auto seen = policy("a-seen", RetentionPolicy::Kind::events, "Seen");
  seen.uncovered = true;
  ASSERT_TRUE(store.retention().set_retention_policy(seen, {}));
  ASSERT_TRUE(store.retention().apply_retention({}));
  ASSERT_EQ(states_of(store, {"cart", "1"}) + states_of(store, {"cart", "2"}), "lrlr");
  auto carts = policy("carts", RetentionPolicy::Kind::remove, "cart");
  carts.keep = 24h;
  ASSERT_TRUE(store.retention().set_retention_policy(carts, {}));

  ASSERT_TRUE(store.retention().apply_retention({}));

  EXPECT_EQ(states_of(store, {"cart", "1"}), "rrl");
  EXPECT_EQ(states_of(store, {"cart", "2"}), "lr");
}

// How far it is within each of thousands of aggregates would say nothing.
TEST(LocalRetention, APolicyTellsHowManyAggregatesItHasLookedAt) {
  auto store = open_store();
  for (const auto* aggregate : {"cart-1", "cart-2", "cart-3", "cart-4"}) append_aged(store, aggregate, "Opened", 2h);
  ASSERT_TRUE(store.retention().set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;

  ASSERT_TRUE(store.retention().apply_retention({}, [&](std::uint64_t done, std::uint64_t total) {
    told.emplace_back(done, total);
    return true;
  }));

  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_THAT(told, Each(Pair(_, 0)));
  EXPECT_THAT(told, Contains(Pair(4, 0)));
}

TEST(LocalRetention, APolicyTruncatesWhatASnapshotStandsForAndIsOld) {
  auto store = open_store();
  for (const auto age : {5h, 4h, 3h, 2h}) append_aged(store, "account-1", "T", age);
  append_aged(store, "account-1", "T", 1min);
  append_aged(store, "account-2", "T", 5h);
  ASSERT_TRUE(store.put_snapshot(snapshot_of("account-1", 3, "state")));
  ASSERT_TRUE(store.retention().set_retention_policy(policy("old", RetentionPolicy::Kind::truncate, "account"), {}));

  ASSERT_TRUE(store.retention().apply_retention({}));
  EXPECT_EQ(states_of(store, {"account", "1"}), "rrrll");
  ASSERT_TRUE(store.put_snapshot(snapshot_of("account-1", 5, "state")));
  ASSERT_TRUE(store.retention().apply_retention({}));

  EXPECT_EQ(states_of(store, {"account", "1"}), "rrrrl");
  EXPECT_EQ(states_of(store, {"account", "2"}), "l");
}

TEST(LocalRetention, ExpiredCopiesGoAndTheLatestStays) {
  auto store = open_store();
  for (int version = 1; version <= 3; ++version) {
    append_one(store, "order-1", "T");
    auto snapshot = snapshot_of("order-1", static_cast<std::uint64_t>(version), "state", 5);
    snapshot.ttl = version < 3 ? 1s : 3600s;
    ASSERT_TRUE(store.put_snapshot(std::move(snapshot)));
  }
  const auto hidden = [&] { return store.snapshots(order)->size() == 2; };  // the latest, and its copy
  for (int tries = 0; tries < 600 && !hidden(); ++tries) std::this_thread::sleep_for(50ms);
  ASSERT_TRUE(hidden());

  const auto done = store.retention().apply_retention({});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->snapshots, 2u);
  EXPECT_EQ(store.retention().apply_retention({})->snapshots, 0u);
  EXPECT_THAT(*store.snapshots(order), SizeIs(2));
  EXPECT_EQ((*store.snapshot(order))->version, SeqNr{3});
}

TEST(LocalRetention, WhatTheLogHasNoRoomForIsRefusedBeforeAnythingIsDone) {
  auto store = open_store();
  append_one(store, "order-1", "T");
  append_one(store, "order-1", "T");
  const auto long_reason = because(std::string(1'025, 'x'));
  auto options = uncovered();
  static_cast<RetentionOrder&>(options) = long_reason;

  EXPECT_EQ(code_of(store.retention().remove_aggregate(order, long_reason)), "invalid_argument");
  EXPECT_EQ(code_of(store.retention().truncate_aggregate(order, SeqNr{2}, options)), "invalid_argument");
  EXPECT_EQ(code_of(store.retention().apply_retention(long_reason)), "invalid_argument");
  EXPECT_EQ(
      code_of(store.retention().set_retention_policy(policy("p", RetentionPolicy::Kind::remove, "order"), long_reason)),
      "invalid_argument");

  EXPECT_EQ(store.head(), GlobalPosition{2});
  EXPECT_EQ(code_of(store.retention().remove_aggregate(order, because(std::string(1'024, 'x')))), "ok");
}

/// Its records would be done, and the log never be told.
TEST(LocalRetention, BeginsNothingThatSmallPayloadsDoNotLetItEnd) {
  LocalOptions options;
  options.limits.payload_bytes_max = 250;
  auto store = open_store(std::move(options));
  append_one(store, "order-1", "T");
  append_one(store, "order-1", "T");

  const auto refused = store.retention().remove_aggregate(order, {});

  EXPECT_EQ(code_of(refused), "too_large");
  EXPECT_EQ(states_of(store, order), "ll");
  EXPECT_THAT(log_of(store), IsEmpty());
  EXPECT_EQ(code_of(store.retention().truncate_aggregate(order, SeqNr{2}, uncovered())), "too_large");
}

/// Refuses to take off snapshots.
class KeepingSnapshots final : public cluster::RetentionWriter {
 public:
  explicit KeepingSnapshots(cluster::Node& node) : node_(node), writer_(node.committer(), node.limits()) {}
  [[nodiscard]] const Limits& limits() const override { return node_.limits(); }
  Result<void> append_with(Append append, storage::RowWrites rows) override {
    return writer_.append_with(std::move(append), std::move(rows));
  }
  Result<void> write_rows(storage::RowWrites rows) override {
    if (!rows.snapshots_to_go.empty()) return refuse(ErrorCode::unavailable, "the disk is full");
    return writer_.write_rows(std::move(rows));
  }

 private:
  cluster::Node& node_;
  cluster::CommittingWriter writer_;
};

TEST(LocalRetention, FiguresOfARunAreToldAlsoWhereItsSnapshotsStay) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path()});
    append_aged(store, "cart-1", "T", 2h);
    append_one(store, "order-1", "T");
    append_one(store, "order-1", "T");
    auto copy = snapshot_of("order-1", 1, "state", 5);
    copy.ttl = 1s;
    ASSERT_TRUE(store.put_snapshot(std::move(copy)));
    ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 2, "state", 5)));
    const auto expired = [&] { return store.snapshots(order)->size() == 2; };
    for (int tries = 0; tries < 600 && !expired(); ++tries) std::this_thread::sleep_for(50ms);
    ASSERT_TRUE(expired());
  }
  cluster::NodeOptions options;
  options.store.data_dir = dir.path();
  auto node = cluster::Node::open(options);
  ASSERT_TRUE(node) << node.error().what;
  KeepingSnapshots writer(**node);
  cluster::StoreRetention retention((*node)->store(), (*node)->reader(), writer, nullptr, [](const AggregateId&) {},
                                    {});
  auto seen = policy("t", RetentionPolicy::Kind::events, "T");
  seen.uncovered = true;
  seen.keep = 1h;

  const auto applied = retention.apply({seen}, {}, {});

  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_EQ(applied->total.events, 1u);
  EXPECT_EQ(applied->total.snapshots, 0u);
  ASSERT_TRUE(applied->trouble);
  EXPECT_EQ(applied->trouble->code, ErrorCode::unavailable);
}

// -- what is damaged

/// Rows of a closed store, written past everything.
void overwrite(const std::filesystem::path& dir, storage::RowWrites rows) {
  cluster::NodeOptions options;
  options.store.data_dir = dir;
  auto node = cluster::Node::open(options);
  ASSERT_TRUE(node) << node.error().what;
  ASSERT_TRUE((*node)->committer().write_rows(std::move(rows)));
}

TEST(LocalRetention, OneDamagedRecordStopsNothingElse) {
  ScratchDir dir;
  RecordedEvent damaged;
  {
    auto store = open_store({.data_dir = dir.path()});
    fill_large(store, 20);
    damaged = *store.event_at(GlobalPosition{18});
    append_one(store, "order-2", "T");
    append_one(store, "order-3", "T");
    append_aged(store, "cart-1", "Seen", 2h);
    ASSERT_TRUE(store.retention().set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
    ASSERT_TRUE(store.flush());
  }
  storage::RowWrites rows;
  rows.rewrites.push_back({damaged.shard, damaged.offset, "no record"});
  overwrite(dir.path(), std::move(rows));

  auto store = open_store({.data_dir = dir.path()});
  const auto removed = store.retention().remove_aggregate(order, {});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, ErrorCode::corruption);
  EXPECT_THAT(removed.error().what, HasSubstr("order-1"));
  EXPECT_EQ(code_of(store.retention().remove_aggregate(order, {})), "corruption");  // never told that all is done
  // Others, policies, and a vacuum: they say what is left, and do all the rest.
  EXPECT_EQ(code_of(store.retention().remove_aggregate({"order", "2"}, {})), "ok");
  EXPECT_EQ(code_of(store.retention().truncate_aggregate({"order", "3"}, SeqNr{2}, uncovered())), "ok");
  const auto run = store.retention().apply_retention({});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().what, HasSubstr("order-1"));
  EXPECT_EQ(states_of(store, {"order", "2"}), "rl");
  EXPECT_EQ(states_of(store, {"order", "3"}), "r");
  EXPECT_EQ(states_of(store, {"cart", "1"}), "rl");
  EXPECT_EQ(log_of(store).back(), "$PoliciesApplied");
  bool looked = false;
  const auto vacuum = store.vacuum([&](std::uint64_t, std::uint64_t total) {
    looked = looked || total > 1'000;  // bytes of files
    return true;
  });
  EXPECT_EQ(code_of(vacuum), "corruption");
  EXPECT_TRUE(looked);
}

/// What a removal left undone is still to be done when another one takes its row: it would be shown again otherwise.
TEST(LocalRetention, APolicyForgetsNothingOfAnUnfinishedRemoval) {
  for (const auto kind : {RetentionPolicy::Kind::remove, RetentionPolicy::Kind::truncate}) {
    SCOPED_TRACE(name_of(kind));
    ScratchDir dir;
    RecordedEvent damaged;
    {
      auto store = open_store({.data_dir = dir.path(), .shards = 1});
      for (int i = 0; i < 20; ++i) append_aged(store, "order-1", "T", 2h);
      damaged = *store.event_at(GlobalPosition{3});
      ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 20, "state")));
      ASSERT_TRUE(store.retention().set_retention_policy(policy("orders", kind, "order"), {}));
      ASSERT_TRUE(store.flush());
    }
    storage::RowWrites rows;
    rows.rewrites.push_back({damaged.shard, damaged.offset, "no record"});
    overwrite(dir.path(), std::move(rows));
    {
      auto store = open_store({.data_dir = dir.path()});
      ASSERT_EQ(code_of(store.retention().truncate_aggregate(order, SeqNr{10}, {})), "corruption");
      ASSERT_EQ(code_of(store.retention().apply_retention({})), "corruption");
    }

    auto store = open_store({.data_dir = dir.path()});

    const auto behind_the_damage = all_of(store.read(order, {.from = SeqNr{4}, .limit = 17}));
    ASSERT_THAT(behind_the_damage, SizeIs(17));
    for (const auto& event : behind_the_damage) EXPECT_EQ(event.state, EventState::removed) << event.seq_nr.value;
    EXPECT_EQ(code_of(store.vacuum()), "corruption");  // and it is still told
  }
}

TEST(LocalRetention, AnAggregateThatCannotBeReadKeepsNoOtherFromItsPolicy) {
  ScratchDir dir;
  RecordedEvent damaged;
  {
    auto store = open_store({.data_dir = dir.path(), .shards = 1});  // an end that cannot be read would not open
    for (const auto* cart : {"cart-1", "cart-2", "cart-3"}) append_aged(store, cart, "Seen", 2h);
    damaged = *store.event_at(GlobalPosition{2});
    ASSERT_TRUE(store.retention().set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
    ASSERT_TRUE(store.flush());
  }
  storage::RowWrites rows;
  rows.rewrites.push_back({damaged.shard, damaged.offset, "no record"});
  overwrite(dir.path(), std::move(rows));
  auto store = open_store({.data_dir = dir.path()});

  const auto run = store.retention().apply_retention({});

  EXPECT_EQ(code_of(run), "corruption");
  EXPECT_EQ(states_of(store, {"cart", "1"}), "rl");
  EXPECT_EQ(states_of(store, {"cart", "3"}), "rl");
  EXPECT_THAT(store.stats()->details, ::testing::Contains(::testing::Pair("retention.damaged", 1)));
}

TEST(LocalRetention, ADamagedRowOfARemovalIsLeftOutByRecover) {
  ScratchDir dir;
  {
    auto store = open_store({.data_dir = dir.path()});
    fill_large(store, 20);
    append_one(store, "order-2", "T");
    ASSERT_FALSE(store.retention().remove_aggregate(order, {}, stopping_after(1)));
  }
  storage::RowWrites rows;
  rows.state = {{storage::removing_key(order), "no row"}, {storage::removed_key(order), "no row"}};
  overwrite(dir.path(), std::move(rows));

  const auto opened = Local::open({.data_dir = dir.path()});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().what, HasSubstr("order-1"));
  const auto plan = plan_recovery(dir.path());
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->steps, ::testing::Contains(HasSubstr("2 damaged rows of removals")));
  const auto recovered = recover(dir.path());
  ASSERT_TRUE(recovered) << recovered.error().what;

  auto store = open_store({.data_dir = dir.path()});
  EXPECT_EQ(states_of(store, {"order", "2"}), "l");
  ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
  EXPECT_EQ(states_of(store, order), std::string(21, 'r') + 'l');
  expect_sound(store);
}

// -- the disk

std::uint64_t bytes_in(const std::filesystem::path& dir, const std::string& needle, bool& found) {
  std::uint64_t bytes = 0;
  found = false;
  std::error_code gone;  // files go beside us
  for (std::filesystem::recursive_directory_iterator at(dir, gone), end; at != end; at.increment(gone)) {
    if (!at->is_regular_file(gone)) continue;
    if (const auto size = at->file_size(gone); !gone) bytes += size;
    std::ifstream file(at->path(), std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    found = found || all.find(needle) != std::string::npos;
  }
  return bytes;
}

TEST(LocalRetention, VacuumGivesTheDiskBack) {
  ScratchDir dir;
  std::mt19937_64 random(7);
  const std::string needle = "4929-1234-what-nobody-may-know";
  std::uint64_t before = 0, behind = 0;
  bool found = false;
  {
    auto store = open_store({.data_dir = dir.path()});
    for (int i = 0; i < 400; ++i) {
      Append append;
      for (int j = 0; j < 20; ++j) {
        std::string noise;
        while (noise.size() < 1'000) noise += static_cast<char>(random());
        append.event("customer-" + std::to_string(i % 10), "T", i % 10 == 3 ? needle + noise : noise,
                     {"n:" + std::to_string(i)});
      }
      ASSERT_TRUE(append_patiently(store, append));
    }
    ASSERT_TRUE(store.flush());
    ASSERT_TRUE(store.vacuum());
    before = bytes_in(dir.path(), needle, found);
    EXPECT_TRUE(found);
    for (int customer = 0; customer < 9; ++customer)
      ASSERT_TRUE(store.retention().remove_aggregate({"customer", std::to_string(customer)}, {}));
    ASSERT_TRUE(store.vacuum());
    // Files that a flush or a compaction made useless go a moment later.
    for (int tries = 0; tries < 600; ++tries) {
      behind = bytes_in(dir.path(), needle, found);
      if (!found) break;
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_FALSE(found);
    expect_sound(store);
    EXPECT_EQ(states_of(store, {"customer", "9"}), std::string(800, 'l'));
  }
  behind = bytes_in(dir.path(), needle, found);
  EXPECT_FALSE(found);
  // Nine tenths of the payloads, 8 MB, are gone; stubs, indexes and the rest of the folder stay.
  EXPECT_GT(before, 8'000'000u);
  EXPECT_LT(behind, before * 35 / 100) << before << " bytes before, " << behind << " behind";
  std::cout << "vacuum: " << before << " bytes before, " << behind << " behind\n";
}

TEST(LocalRetention, GoesOnBesideAppendsAndReaders) {
  auto store = open_store({.tail_events = 1'000});
  for (int i = 0; i < 300; ++i) append_one(store, "order-1", "T", {"a"}, std::string(5'000, 'x'));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> appended{0}, torn{0};
  std::thread writer([&] {
    while (!stop) {
      append_one(store, "order-2", "T", {"a"});
      ++appended;
    }
  });
  std::thread reader([&] {
    bool gone = false;
    while (!stop) {
      std::uint64_t live = 0, removed = 0;
      for (const auto& event : all_of(store.read(order)))
        if (event.seq_nr <= SeqNr{300}) (event.state == EventState::live ? live : removed) += 1;
      // One read may begin before it and end behind it; what begins behind it has nothing of it.
      if (gone && live != 0) ++torn;
      gone = gone || removed == 300;
    }
  });
  RetentionOrder slow;
  slow.bytes_per_second = 4u << 20;
  const auto done = store.retention().remove_aggregate(order, slow);
  stop = true;
  writer.join();
  reader.join();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 300u);
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(appended, 0u);
  EXPECT_EQ(states_of(store, {"order", "2"}).size(), appended);
  expect_sound(store);
}

TEST(LocalRetentionOfCopies, WhatWasRemovedAfterThePositionStaysHiddenAndLostStatesAreNamed) {
  TemporaryFolder folder;
  const AggregateId truncated{"order", "2"}, whole{"order", "3"};
  {
    auto store = Local::open({.data_dir = folder.path() / "store", .shards = 4}).value();
    for (int i = 0; i < 3; ++i)
      for (const auto* aggregate : {"order-1", "order-2", "order-3"})
        ASSERT_TRUE(store.append(Append{}.event(aggregate, "A", "{}")));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.append(Append{}.event("order-2", "A", "{}")));
    Snapshot snapshot;
    snapshot.aggregate = truncated;
    snapshot.version = SeqNr{6};
    snapshot.payload = "state";
    ASSERT_TRUE(store.put_snapshot(snapshot));
    ASSERT_TRUE(store.retention().truncate_aggregate(truncated, SeqNr{4}, {}));
    ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
  }
  std::vector<AggregateId> without_state;
  RestoreOptions earlier{.up_to = GlobalPosition{9}};
  earlier.without_state = [&](const AggregateId& aggregate) { without_state.push_back(aggregate); };
  ASSERT_TRUE(restore(folder.path() / "store", folder.path() / "restored", earlier));
  EXPECT_THAT(without_state, ElementsAre(truncated));
  auto store = Local::open({.data_dir = folder.path() / "restored"}).value();
  EXPECT_EQ(states_of(store, order), "rrr");
  EXPECT_FALSE(store.aggregate(order)) << "it was removed";
  EXPECT_TRUE(store.aggregate(whole));
  std::vector<AggregateId> listed;
  const auto all = store.aggregates("order", {}, 10);
  ASSERT_TRUE(all) << all.error().what;
  for (const auto& info : *all) listed.push_back(info.aggregate);
  EXPECT_THAT(listed, ElementsAre(truncated, whole));
  expect_sound(store);
  ASSERT_TRUE(store.append(Append{}.event("order-1", "A", "{}")));
  EXPECT_EQ(store.aggregate(order)->version, SeqNr{4}) << "its numbers go on";
  expect_sound(store);
}

/// Three aggregates, nine events; then "order-2" is truncated behind its third event, and "order-1" removed.
void removed_later(Local& store) {
  for (int i = 0; i < 3; ++i)
    for (const auto* aggregate : {"order-1", "order-2", "order-3"})
      ASSERT_TRUE(store.append(Append{}.event(aggregate, "A", "{}")));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store.append(Append{}.event("order-2", "A", "{}")));
  Snapshot snapshot;
  snapshot.aggregate = {"order", "2"};
  snapshot.version = SeqNr{6};
  snapshot.payload = "state";
  ASSERT_TRUE(store.put_snapshot(snapshot));
  ASSERT_TRUE(store.retention().truncate_aggregate({"order", "2"}, SeqNr{4}, {}));
  ASSERT_TRUE(store.retention().remove_aggregate(order, {}));
}

TEST(LocalRetentionOfCopies, ABackupUpToAPositionNamesLostStates) {
  const TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "store", .shards = 4}).value();
  removed_later(store);
  std::vector<AggregateId> without_state;
  BackupOptions how;
  how.without_state = [&](const AggregateId& aggregate) { without_state.push_back(aggregate); };
  for (const bool truth_only : {false, true}) {
    without_state.clear();
    how.up_to = GlobalPosition{9};
    how.truth_only = truth_only;
    ASSERT_TRUE(store.backup(folder.path() / (truth_only ? "truth" : "earlier"), how));
    EXPECT_THAT(without_state, ElementsAre(AggregateId{"order", "2"}));
  }
  without_state.clear();
  how = {.without_state = how.without_state};
  ASSERT_TRUE(store.backup(folder.path() / "whole", how));
  EXPECT_THAT(without_state, IsEmpty());
}

TEST(LocalRetentionOfCopies, APartOfAClustersBackupHidesWhatWasRemovedAndNamesLostStates) {
  const TemporaryFolder folder;
  {
    auto store = Local::open({.data_dir = folder.path() / "store", .shards = 4}).value();
    removed_later(store);
  }
  ASSERT_TRUE(storage::spread_store(
      folder.path() / "store", folder.path() / "cluster", {.nodes = 2, .replicas = 1},
      [](const std::filesystem::path&, const storage::SpreadStore&) { return Result<void>(); }, {}));
  const auto stopped =
      storage::open_stopped_parts({folder.path() / "cluster" / "node-1", folder.path() / "cluster" / "node-2"});
  ASSERT_TRUE(stopped) << stopped.error().what;
  for (const bool whole : {false, true}) {
    const auto target = folder.path() / (whole ? "whole" : "earlier");
    std::vector<AggregateId> without_state;
    storage::ClusterCopyOptions how;
    how.keeps = whole ? stopped->end : GlobalPosition{9};
    how.without_state = [&](const AggregateId& aggregate) { without_state.push_back(aggregate); };
    auto copy = storage::ClusterCopy::begin(target);
    ASSERT_TRUE(copy) << copy.error().what;
    const auto made = (*copy)->finish_from(stopped->parts, how, {});
    ASSERT_TRUE(made) << made.error().what;
    auto store = Local::open({.data_dir = target}).value();
    EXPECT_FALSE(store.aggregate(order)) << "it was removed";
    if (whole)
      EXPECT_THAT(without_state, IsEmpty());
    else
      EXPECT_THAT(without_state, ElementsAre(AggregateId{"order", "2"}));
    expect_sound(store);
  }
}

}  // namespace
}  // namespace evershard
