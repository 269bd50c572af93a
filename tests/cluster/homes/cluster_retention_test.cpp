// Retention on a cluster: asked for at any node, done by the owner of the shard, whole wherever it is broken off.

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/removal/cluster_retention.hpp"
#include "evershard/cluster/removal/retention_intent.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "tests/cluster/homes/retention_cluster.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(ClusterRetentionTest, TruncatesFromAnyNodeAndEveryNodeSeesIt) {
  for (std::uint32_t owner = 1; owner <= 3; ++owner) {
    const auto order = owned_by(owner);
    const auto asker = other_than(owner);
    append_some(order, 6);
    snapshot(order, 4);

    const auto done = at(asker).truncate_aggregate(order, SeqNr{5}, {});

    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->events, 4u);
    EXPECT_EQ(done->covered_by, SeqNr{4});
    EXPECT_NE(done->operation, "");
    EXPECT_EQ(states_of(order), "rrrrll");
    EXPECT_EQ(node(asker).aggregate(order)->version, SeqNr{6});
    EXPECT_EQ(at(asker).truncate_aggregate(order, SeqNr{5}, {})->events, 0u);
  }
  EXPECT_THAT(log(), ElementsAre("$TruncationOrdered", "$TruncationDone", "$TruncationOrdered", "$TruncationDone",
                                 "$TruncationOrdered", "$TruncationDone"));
  expect_sound();
}

TEST_F(ClusterRetentionTest, RemovesAnAggregateUntilItsNextEvent) {
  const auto order = owned_by(2), other = owned_by(2);
  append_some(order, 3);
  append_some(other, 1);
  snapshot(order, 3);

  const auto done = at(3).remove_aggregate(order, {.by = "ann", .reason = "asked for"});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 3u);
  EXPECT_EQ(done->snapshots, 1u);
  EXPECT_EQ(states_of(order), "rrrl");
  EXPECT_THAT(touched_, Contains(order.text()));
  ASSERT_TRUE(node(1).wait_for(node(3).head().value(), retention_patience));
  for (std::uint32_t n = 1; n <= 3; n += 2) {
    const auto info = node(n).aggregate(order);
    EXPECT_EQ(code(info), "not_found");
    EXPECT_THAT(info.error().what, HasSubstr("was removed at position"));
    EXPECT_THAT(listed_at(n), ElementsAre(other.text()));
    EXPECT_FALSE(*node(n).snapshot(order));
  }
  EXPECT_THAT(log_at(3), ElementsAre("$RemovalOrdered", "$RemovalDone"));
  EXPECT_EQ(at(1).remove_aggregate(order, {})->events, 0u);  // again: nothing is left to do
  // Whoever decided on what is gone is refused; whoever comes now continues the versions.
  EXPECT_EQ(code(node(1).append(Append{}.event(order.text(), "T", "{}").expect(order, ExpectedVersion::exactly(3)))),
            "version_conflict");
  EXPECT_EQ(code(node(1).append(Append{}.event(order.text(), "T", "{}").expect(order, ExpectedVersion::none()))),
            "version_conflict");
  append(1, order);
  EXPECT_EQ(states_of(order), "rrrll");
  EXPECT_EQ(node(1).aggregate(order)->version, SeqNr{5});
  // What is removed matches no query by its tags any more, and no condition.
  std::size_t matches = 0;
  for (const auto& event : node(1).read(Query{}.tags({"customer:7"}))) matches += event.aggregate == order ? 1 : 0;
  EXPECT_EQ(matches, 1u);
  expect_sound();
}

/// The coordinator's window still knows the tags of what was removed: the condition is looked up, and holds.
TEST_F(ClusterRetentionTest, WhatIsRemovedMatchesNoConditionAnyMore) {
  for (std::uint32_t owner = 1; owner <= 3; ++owner) {
    const auto order = owned_by(owner), probe = owned_by(other_than(owner), "probe");
    const auto before = node(1).head().value();
    append_some(order, 3);
    const auto asking = [&] {
      return node(1).append(Append{}.event(probe.text(), "P", "{}").fail_if(Query{}.tags({"customer:7"}), before));
    };
    EXPECT_EQ(code(asking()), "condition_failed");
    ASSERT_TRUE(at(1).remove_aggregate(order, {}));

    const auto holds = asking();

    EXPECT_TRUE(holds) << holds.error().what;
  }
}

TEST_F(ClusterRetentionTest, RefusesWhatIsNotThereAndChangesNothingInADryRun) {
  const auto order = owned_by(1);
  append_some(order, 4);
  auto dry = uncovered();
  dry.dry_run = true;
  const auto head = node(1).head();

  EXPECT_EQ(code(at(2).remove_aggregate(owned_by(1), {})), "not_found");
  EXPECT_EQ(code(at(2).remove_aggregate({"$retention", "log"}, {})), "invalid_argument");
  EXPECT_EQ(code(at(2).truncate_aggregate(order, SeqNr{3}, {})), "invalid_argument");  // no snapshot
  EXPECT_EQ(code(at(2).erase_subject("person", {})), "invalid_argument");
  const auto truncated = at(2).truncate_aggregate(order, SeqNr{3}, dry);
  const auto removed = at(2).remove_aggregate(order, dry);

  ASSERT_TRUE(truncated && removed);
  EXPECT_EQ(truncated->events, 2u);
  EXPECT_EQ(removed->events, 4u);
  EXPECT_EQ(truncated->operation + removed->operation, "");
  EXPECT_EQ(node(1).head(), head);
  EXPECT_EQ(states_of(order), "llll");
}

TEST_F(ClusterRetentionTest, TakesAWriterInBetweenAlong) {
  const auto order = owned_by(1);
  append_some(order, 3);
  at_steps([&, once = std::make_shared<std::atomic<bool>>(false)](std::string_view step) {
    if (step == NodeWriter::Steps::intended && !once->exchange(true))
      append(2, order);  // looked at, and not appended yet
  });

  const auto done = at(3).remove_aggregate(order, {});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 4u);
  EXPECT_EQ(states_of(order), "rrrrl");
  EXPECT_THAT(log(), ElementsAre("$RemovalOrdered", "$RemovalDone"));
}

/// What was broken off stands or falls as a whole, and is resolved by itself where its append hangs.
TEST_F(ClusterRetentionTest, IsWholeWhereverItIsBrokenOff) {
  using Steps = StoreRetention::Steps;
  std::size_t operations = 0;
  for (const bool restart : {false, true}) {
    for (const char* step :
         {NodeWriter::Steps::intended, NodeWriter::Steps::decided, Steps::ordered, Steps::rewritten, Steps::done}) {
      for (const bool whole : {true, false}) {
        SCOPED_TRACE(std::string(step) + (whole ? " remove" : " truncate") + (restart ? ", restarted" : ""));
        const std::uint32_t owner = operations % 3 + 1;
        const auto order = owned_by(owner), other = owned_by(owner);
        append_some(order, 5);
        append_some(other, 2);
        break_off_at(step);
        const auto asker = other_than(owner);

        const auto broken =
            whole ? at(asker).remove_aggregate(order, {}) : at(asker).truncate_aggregate(order, SeqNr{4}, uncovered());

        EXPECT_EQ(code(broken), "timeout") << (broken ? "" : broken.error().what);
        ++operations;
        if (restart) {
          stop(owner);
          at_steps({});
          start(owner);
          ASSERT_TRUE(cluster_->wait_until_open());
        }
        const std::string gone = whole ? "rrrrrl" : "rrrll";
        // The intent was durable: it is carried out by itself.
        EXPECT_TRUE(in_time([&] { return states_at(asker, order) == gone; })) << states_at(asker, order);
        at_steps({});
        // And the rest by whoever comes next.
        const auto again =
            whole ? at(asker).remove_aggregate(order, {}) : at(asker).truncate_aggregate(order, SeqNr{4}, uncovered());
        ASSERT_TRUE(again) << again.error().what;
        EXPECT_EQ(states_of(order), gone);
        EXPECT_EQ(states_of(other), "ll");
        EXPECT_EQ(log().size(), 2 * operations);
      }
    }
  }
  expect_sound();
}

/// The log's shard is away: nobody knows whether it was ordered, until it is back. Then it is, once.
TEST_F(ClusterRetentionTest, WhatHangsOnANodeThatIsAwayIsDoneWhenItIsBack) {
  const auto log_owner = owner_of(retention_log());
  const auto owner = other_than(log_owner), asker = other_than(owner) == log_owner ? owner : other_than(owner);
  const auto order = owned_by(owner), second = owned_by(owner);
  append_some(order, 3);
  append_some(second, 3);
  stop(log_owner);

  const auto removed = at(asker).remove_aggregate(order, {});

  ASSERT_FALSE(removed);
  EXPECT_THAT(code(removed), testing::AnyOf("unavailable", "timeout"));
  EXPECT_THAT(removed.error().what, HasSubstr("it is not known whether it was ordered"));
  EXPECT_EQ(states_at(asker, order), "lll");
  start(log_owner);
  ASSERT_TRUE(cluster_->wait_until_open());
  EXPECT_TRUE(in_time([&] { return states_at(asker, order) == "rrrl"; })) << states_at(asker, order);
  EXPECT_EQ(states_of(order), "rrrl");
  EXPECT_EQ(states_of(second), "lll");
  ASSERT_TRUE(at(asker).remove_aggregate(second, {}));  // and does what was left of the first
  EXPECT_THAT(log(),
              testing::UnorderedElementsAre("$RemovalOrdered", "$RemovalDone", "$RemovalOrdered", "$RemovalDone"));
  expect_sound();
}

/// A removal whose aggregate was written to while nobody knew of it is refused, and nothing of it stays.
TEST_F(ClusterRetentionTest, WhatHangsAndIsRefusedLaterRemovesNothing) {
  const auto order = owned_by(1);
  append_some(order, 3);
  break_off_at(NodeWriter::Steps::intended);
  parts_[1].retention->close();  // nobody settles it
  auto& homes = *parts_[1].homes;
  parts_[1].retention = nullptr;
  NodeRetentionOptions slow;
  slow.settle_every = 1h;
  slow.at_step = at_step_;
  slow.touched = [](const AggregateId&) {};
  parts_[1].retention = std::make_unique<ClusterRetention>(node(1), cluster_->store(1), homes, slow);
  auto broken = at(2).remove_aggregate(order, {});
  // On a busy machine what was made a moment ago is not reached at once.
  for (const auto until = std::chrono::steady_clock::now() + 30s;
       (code(broken) == "unavailable" || code(broken) == "wrong_shard") && std::chrono::steady_clock::now() < until;)
    broken = at(2).remove_aggregate(order, {});
  ASSERT_EQ(code(broken), "timeout") << (broken ? "" : broken.error().what);
  append(2, order);

  ASSERT_TRUE(parts_[1].retention->finish_here({}));

  EXPECT_EQ(states_of(order), "llll");
  EXPECT_THAT(log(), IsEmpty());
  const auto done = at(2).remove_aggregate(order, {});
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(states_of(order), "rrrrl");
}

/// Behind a loss that was accepted an aggregate's numbers are other events'.
TEST_F(ClusterRetentionTest, WhatHangsRemovesNoOtherEventsThanItWasAbout) {
  const auto order = owned_by(1);
  append_some(order, 3);
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  Append lost_append;
  lost_append.event(retention_event(retention_log(), retention::truncation_ordered, "{}"));
  lost_append.events[0].id = EventId::random();
  lost_append.request_id = EventId::random();
  const storage::RemovalRow row{
      .before = SeqNr{3}, .from = SeqNr{1}, .last = last_ + 100, .aggregate = false, .operation = "of what is lost"};
  storage::RowWrites rows, intent;
  for (auto key : {storage::removing_key(order), storage::removed_key(order)})
    rows.state.push_back({std::move(key), storage::encode_removal(row, order)});
  intent.state.push_back({intent_key(lost_append), encode_intent({lost_append, rows})});
  ASSERT_TRUE(node(1).write_rows_here(std::move(intent), {}, {}));

  ASSERT_TRUE(parts_[1].retention->finish_here({}));

  EXPECT_EQ(states_of(order), "lll");
  EXPECT_THAT(log(), IsEmpty());
  EXPECT_EQ(storage::removed_of(cluster_->store(1).rows(), order).value(), std::nullopt);
  ASSERT_TRUE(at(2).remove_aggregate(order, {}));
  EXPECT_EQ(states_of(order), "rrrl");
}

/// Its writer died with it alone and is back; another one has done that removal meanwhile, and begun the next.
TEST_F(ClusterRetentionTest, WhatSaysThatAnEarlierRemovalIsDoneLeavesALaterOneToBeDone) {
  for (const std::string row_of : {"later", ""}) {
    SCOPED_TRACE("row of: " + row_of);
    const auto order = owned_by(1);
    append_some(order, 4);
    ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
    Append done;
    done.event(retention_event(retention_log(), retention::truncation_done, R"({"operation":"earlier"})"));
    done.events[0].id = EventId::random();
    done.events[0].occurred_at = Timestamp::now();
    done.request_id = EventId::random();
    storage::RowWrites rows, its;
    its.state.push_back({storage::removing_key(order), std::nullopt});
    rows.state.push_back({intent_key(done), encode_intent({done, its})});
    const storage::RemovalRow row{
        .before = SeqNr{4}, .from = SeqNr{1}, .last = last_, .aggregate = false, .operation = row_of};
    if (!row_of.empty())
      for (auto key : {storage::removing_key(order), storage::removed_key(order)})
        rows.state.push_back({std::move(key), storage::encode_removal(row, order)});
    ASSERT_TRUE(node(1).write_rows_here(std::move(rows), {}, {}));

    ASSERT_TRUE(parts_[1].retention->finish_here({}));

    EXPECT_EQ(states_of(order), row_of.empty() ? "llll" : "rrrl");
    EXPECT_EQ(std::ranges::count(log(), "$TruncationDone"), 1) << "of the later one alone";
  }
}

TEST_F(ClusterRetentionTest, WhatTheLogHasNoRoomForIsRefusedBeforeAnythingIsDone) {
  const auto cart = owned_by(2, "cart");
  append_some(cart, 3, 7200s);
  ASSERT_TRUE(at(1).set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"),
                                         {.by = std::string(1'024, 'b'), .reason = std::string(1'024, 'r')}));
  const auto head = node(1).head();

  for (const bool of_by : {false, true}) {
    RetentionOrder order;
    (of_by ? order.by : order.reason) = std::string(1'025, 'x');
    TruncateOptions options = uncovered();
    static_cast<RetentionOrder&>(options) = order;
    EXPECT_EQ(code(at(1).remove_aggregate(cart, order)), "invalid_argument");
    EXPECT_EQ(code(at(1).truncate_aggregate(cart, SeqNr{2}, options)), "invalid_argument");
    EXPECT_EQ(code(at(1).apply_retention(order)), "invalid_argument");
    EXPECT_EQ(code(at(1).apply_here(order, {})), "invalid_argument");
    EXPECT_EQ(code(at(1).set_retention_policy(policy("more", RetentionPolicy::Kind::remove, "cart"), order)),
              "invalid_argument");
    EXPECT_EQ(code(at(1).drop_retention_policy("carts", order)), "invalid_argument");
  }

  EXPECT_EQ(node(1).head(), head);
  EXPECT_EQ(states_of(cart), "lll");
}

/// Payloads of up to 700 bytes.
class RetentionOfSmallPayloads : public ClusterRetentionTest {
 protected:
  RetentionOfSmallPayloads()
      : ClusterRetentionTest([] {
          Limits limits;
          limits.payload_bytes_max = 700;
          return limits;
        }()) {}
};

TEST_F(RetentionOfSmallPayloads, NothingIsRemovedThatTheLogCannotHave) {
  const auto order = owned_by(1);
  for (int i = 0; i < 100; ++i) {  // a range of positions each
    append(1, order, "Heartbeat", 7200s);
    append(1, order, "Placed");
  }
  auto beats = policy("beats", RetentionPolicy::Kind::events, "Heartbeat");
  beats.uncovered = true;
  ASSERT_TRUE(at(1).set_retention_policy(beats, {}));
  ASSERT_TRUE(
      node(2).wait_for(node(1).head().value(), retention_patience));  // a node knows what was set at another then

  const auto run = at(2).apply_retention({});

  EXPECT_EQ(code(run), "too_large") << (run ? "" : run.error().what);
  EXPECT_EQ(code(at(2).remove_aggregate(order, {.reason = std::string(300, 'x')})), "too_large");
  EXPECT_EQ(code(at(2).truncate_aggregate(order, SeqNr{2},
                                          [&] {
                                            auto options = uncovered();
                                            options.reason = std::string(300, 'x');
                                            return options;
                                          }())),
            "too_large");
  EXPECT_EQ(states_of(order), std::string(200, 'l'));
  EXPECT_THAT(log(), IsEmpty());
  const auto done = at(2).remove_aggregate(order, {.reason = "fits"});
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(log().size(), 2u);
  expect_sound();
}

/// Behind an accepted loss one event of a removal may be gone: what the order still has of it decides.
class RemovalInPart : public ClusterRetentionTest {
 protected:
  void SetUp() override {
    log_owner_ = owner_of(retention_log());
    marker_.id = EventId::random();
    ordered_ = retention_event(retention_log(), retention::removal_ordered, "{}");
    ordered_.id = EventId::random();
  }
  /// Three events, and the intent to remove them, whose append was sent.
  void intend(const AggregateId& order) {
    const auto id = marker_.id;
    marker_ = retention_event(order, retention::aggregate_removed, "{}");
    marker_.id = id;
    row_ = {.before = SeqNr{4},
            .from = SeqNr{1},
            .last = events_of(order).at(2),
            .aggregate = true,
            .operation = "broken-off"};
    Append whole;
    whole.event(marker_).event(ordered_).expect(order, ExpectedVersion::exactly(3));
    for (auto& event : whole.events) event.occurred_at = Timestamp::now();
    whole.request_id = EventId::random();
    storage::RowWrites rows, intent;
    for (auto key : {storage::removing_key(order), storage::removed_key(order)})
      rows.state.push_back({std::move(key), storage::encode_removal(row_, order)});
    rows.snapshots_to_go.push_back({order, SeqNr{4}, true});
    intent.state.push_back({intent_key(whole), encode_intent({whole, rows})});
    ASSERT_TRUE(node(owner_of(order)).write_rows_here(std::move(intent), {}, {}));
  }
  std::vector<GlobalPosition> events_of(const AggregateId& order) {
    std::vector<GlobalPosition> positions;
    EXPECT_TRUE(node(owner_of(order)).wait_for(last_, retention_patience));
    auto stream = node(owner_of(order)).read(order);
    for (const auto& event : stream) positions.push_back(event.position);
    return positions;
  }
  void append_event(const Event& event) {
    const auto done = node(1).append(Append{}.event(event));
    ASSERT_TRUE(done) << done.error().what;
    last_ = done->last_position;
  }
  [[nodiscard]] bool any_intent(const AggregateId& order) {
    const auto prefix = storage::keys::checkpoint(intent_prefix);
    const auto cursor = cluster_->store(owner_of(order)).rows().cursor(storage::Family::state, {.prefix = prefix});
    cursor->seek(prefix);
    return cursor->valid() && cursor->key().starts_with(prefix);
  }
  std::uint32_t log_owner_ = 0;
  Event marker_, ordered_;
  storage::RemovalRow row_;
};

TEST_F(RemovalInPart, WhereOnlyTheLogHasItTheAggregateIsRemovedAllTheSame) {
  for (std::uint32_t owner = 1; owner <= 3; ++owner) {
    SCOPED_TRACE("at node " + std::to_string(owner) + ", the log at " + std::to_string(log_owner_));
    const auto order = owned_by(owner);
    append_some(order, 3);
    SetUp();
    append_event(ordered_);
    intend(order);

    EXPECT_TRUE(in_time([&] { return states_at(owner, order) == "rrrl" && !any_intent(order); }))
        << states_at(owner, order);

    const auto again = at(other_than(owner)).remove_aggregate(order, {});
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->aggregates, 0u) << "it is gone already";
    EXPECT_EQ(states_of(order), "rrrl");
    EXPECT_EQ(log().size(), 2 * owner);
    EXPECT_EQ(log().back(), "$RemovalDone");
  }
  expect_sound();
}

TEST_F(RemovalInPart, WhereItWasWrittenToSinceItIsDroppedAndTheLogSaysSo) {
  for (std::uint32_t owner = 1; owner <= 3; ++owner) {
    const auto order = owned_by(owner);
    append_some(order, 4);  // the fourth has the lost one's number
    SetUp();
    append_event(ordered_);
    intend(order);

    EXPECT_TRUE(in_time([&] { return !any_intent(order); }));

    EXPECT_EQ(states_of(order), "llll");
    ASSERT_TRUE(in_time([&] {
      return std::ranges::count(log_at(owner), "$RemovalDropped") == static_cast<int>(owner);
    })) << "the log of node "
        << owner;
    const auto said = at(owner).retention_log(SeqNr{0}, 100)->back().json;
    EXPECT_THAT(said, HasSubstr(R"("operation":"broken-off")"));
    EXPECT_THAT(said, HasSubstr(order.text()));
    const auto now = at(other_than(owner)).remove_aggregate(order, {});
    ASSERT_TRUE(now) << now.error().what;
    EXPECT_EQ(states_of(order), "rrrrl");
    ASSERT_TRUE(at(owner).remove_aggregate(order, {}));
  }
  expect_sound();
}

/// The same with disks: a node comes back with a backup that was made between the intent and the append.
TEST_F(ClusterRetentionTest, ABackupWithAnIntentIsCarriedThroughBehindTheLossOfTheRest) {
  const auto log_owner = owner_of(retention_log()), owner = other_than(log_owner), asker = log_owner;
  const auto order = owned_by(owner), other = owned_by(owner);
  append_some(order, 3);
  append_some(other, 2);
  ASSERT_TRUE(node(owner).wait_for(last_, retention_patience));
  const auto copy = folder_.path() / "copy";
  at_steps([&, once = std::make_shared<std::atomic<bool>>(false)](std::string_view step) {
    if (step != NodeWriter::Steps::intended || once->exchange(true)) return;
    const auto made = storage::backup(cluster_->store(owner), copy);
    EXPECT_TRUE(made) << made.error().what;
  });
  ASSERT_TRUE(at(asker).remove_aggregate(order, {}));
  at_steps({});
  ASSERT_EQ(log().size(), 2u);
  stop(owner);
  const auto disk = folder_.path() / "nodes" / std::to_string(owner);
  std::filesystem::remove_all(disk);
  const auto restored = storage::restore(copy, disk);
  ASSERT_TRUE(restored) << restored.error().what;
  cluster_->skip_lost();
  start(owner);
  const auto shard = node(asker).shard_of(order);
  ASSERT_TRUE(in_time([&] { return !cluster_->status().shards[shard.value].trouble.empty(); }))
      << "what it lost is told";

  ShardAssignment wanted{owner, {shard}, {}};
  const auto looked = cluster_->assign(wanted);
  ASSERT_TRUE(looked) << looked.error().what;
  wanted.accepted = looked->losses;
  ASSERT_TRUE(cluster_->assign(wanted));

  const auto states = [&](const AggregateId& of) {
    std::string seen;
    auto stream = node(asker).read(of);
    for (const auto& event : stream) seen += event.state == EventState::removed ? 'r' : 'l';
    return stream.error() ? stream.error()->what : seen;
  };
  EXPECT_TRUE(in_time([&] { return states(order) == "rrrl"; })) << states(order);
  EXPECT_TRUE(in_time([&] { return at(asker).remove_aggregate(order, {}).has_value(); }));
  EXPECT_EQ(states(order), "rrrl");
  EXPECT_EQ(states(other), "ll");
  EXPECT_THAT(log_at(asker), ElementsAre("$RemovalOrdered", "$RemovalDone", "$RemovalDone"));
}

/// A node's disk is lost, its shards go on at another node; then it comes back with a backup that has an intent on one
/// of them, and is given them again. What the intent is about is neither there nor here: new events have the numbers it
/// names.
class IntentOfAShardThatMoved : public ClusterRetentionTest {
 protected:
  void SetUp() override {
    log_owner_ = owner_of(retention_log());
    owner_ = other_than(log_owner_);
    elsewhere_ = 6 - log_owner_ - owner_;
    order_ = owned_by(owner_);
    append_some(order_, 3);
    ASSERT_TRUE(node(owner_).wait_for(last_, retention_patience));
  }
  std::vector<ShardId> shards_of(std::uint32_t n) {
    std::vector<ShardId> shards;
    const auto owners = node(log_owner_).committer().owners();
    for (std::size_t s = 0; s != owners.size(); ++s)
      if (owners[s] == n) shards.push_back(ShardId{static_cast<std::uint16_t>(s)});
    return shards;
  }
  /// Whatever is lost by it.
  void assign(std::vector<ShardId> shards, std::uint32_t to) {
    ShardAssignment wanted{to, std::move(shards), {}};
    Result<ShardsAssigned> done = refuse(ErrorCode::unavailable, "not tried");
    EXPECT_TRUE(in_time([&] {
      wanted.accepted.clear();
      const auto looked = cluster_->assign(wanted);
      if (!looked || looked->done) return (done = looked).has_value();
      wanted.accepted = looked->losses;
      done = cluster_->assign(wanted);
      return done && done->done;
    })) << (done ? "a loss was not accepted" : done.error().what);
  }
  bool wait_open(std::uint32_t at) {
    return in_time([&] {
      return cluster_->status().shards[node(log_owner_).shard_of(order_).value].open && owner_of_order() == at;
    });
  }
  std::uint32_t owner_of_order() { return node(log_owner_).committer().owner(node(log_owner_).shard_of(order_)); }
  [[nodiscard]] std::size_t intents() {
    std::size_t found = 0;
    const auto prefix = storage::keys::checkpoint(intent_prefix);
    const auto cursor = cluster_->store(owner_).rows().cursor(storage::Family::state, {.prefix = prefix});
    for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) ++found;
    return found;
  }
  /// As the log's node reads it: it is there all the time.
  std::string states() {
    EXPECT_TRUE(node(log_owner_).wait_for(last_, retention_patience));
    std::string seen;
    auto stream = node(log_owner_).read(order_);
    for (const auto& event : stream) seen += event.state == EventState::removed ? 'r' : 'l';
    return stream.error() ? stream.error()->what : seen;
  }
  void append_three() {
    for (int i = 0; i < 3; ++i) append(log_owner_, order_, "Anew");
  }

  void run(bool whole) {
    const auto copy = folder_.path() / "copy";
    at_steps([&, once = std::make_shared<std::atomic<bool>>(false)](std::string_view step) {
      if (step != NodeWriter::Steps::intended || once->exchange(true)) return;
      const auto made = storage::backup(cluster_->store(owner_), copy);
      EXPECT_TRUE(made) << made.error().what;
    });
    const auto removed = whole ? at(log_owner_).remove_aggregate(order_, {})
                               : at(log_owner_).truncate_aggregate(order_, SeqNr{3}, uncovered());
    ASSERT_TRUE(removed) << removed.error().what;
    at_steps({});
    const auto before = log_at(log_owner_);
    ASSERT_EQ(before.size(), 2u);
    const auto shards = shards_of(owner_);

    stop(owner_);
    const auto disk = folder_.path() / "nodes" / std::to_string(owner_);
    std::filesystem::remove_all(disk);
    cluster_->skip_lost();
    stop(elsewhere_);
    start(elsewhere_);
    assign(shards, elsewhere_);
    ASSERT_TRUE(wait_open(elsewhere_));
    append_three();
    ASSERT_EQ(states(), "lll");

    // It comes back, and its intent is of a shard that is not its own.
    const auto restored = storage::restore(copy, disk);
    ASSERT_TRUE(restored) << restored.error().what;
    start(owner_);
    ASSERT_TRUE(in_time([&] { return node(owner_).wait_for(last_, 100ms).has_value(); }));
    ASSERT_EQ(intents(), 1u);
    EXPECT_TRUE(at(owner_).finish_here({}));
    EXPECT_EQ(states(), "lll");
    EXPECT_EQ(log_at(log_owner_), before) << "nothing was said again";
    EXPECT_EQ(intents(), 1u) << "its owner's, and nobody else's, to settle";

    // The shard is its own again: what was given up goes from its disk, at its next start.
    stop(elsewhere_);
    assign(shards, owner_);
    ASSERT_TRUE(in_time([&] { return owner_of_order() == owner_; }));
    stop(owner_);
    start(owner_);
    start(elsewhere_);
    ASSERT_TRUE(wait_open(owner_));
    append_three();
    EXPECT_TRUE(in_time([&] { return intents() == 0; }));
    EXPECT_EQ(states(), "lll") << "they are other events than it was about";
    EXPECT_FALSE(*storage::removed_of(cluster_->store(owner_).rows(), order_));
    auto dropped = before;
    dropped.push_back(whole ? "$RemovalDropped" : "$TruncationDropped");
    EXPECT_TRUE(in_time([&] { return log_at(log_owner_) == dropped; }));

    // And it can be removed, for its own sake.
    const auto again = whole ? at(log_owner_).remove_aggregate(order_, {})
                             : at(log_owner_).truncate_aggregate(order_, SeqNr{3}, uncovered());
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_TRUE(in_time([&] { return states() == (whole ? "rrrl" : "rrl"); })) << states();
    expect_sound();
  }

  std::uint32_t log_owner_ = 0, owner_ = 0, elsewhere_ = 0;
  AggregateId order_;
};

TEST_F(IntentOfAShardThatMoved, RemovesNothingThere) { run(true); }
TEST_F(IntentOfAShardThatMoved, TruncatesNothingThere) { run(false); }

TEST_F(RemovalInPart, WhereOnlyTheAggregateHasItItStands) {
  const auto order = owned_by(log_owner_);
  append_some(order, 3);
  const auto id = marker_.id;
  marker_ = retention_event(order, retention::aggregate_removed, "{}");
  marker_.id = id;
  append_event(marker_);
  intend(order);

  EXPECT_TRUE(in_time([&] { return states_at(log_owner_, order) == "rrrl"; })) << states_at(log_owner_, order);
  EXPECT_FALSE(any_intent(order));
}

TEST_F(RemovalInPart, WhereItsEventsAreLostTheLogSaysThatItWasDropped) {
  const auto order = owned_by(1);
  append_some(order, 3);
  append_event(ordered_);
  const auto third = events_of(order).at(2);
  ASSERT_LT(third, last_);
  Append whole;
  whole.event(retention_event(order, retention::aggregate_removed, "{}")).event(ordered_);
  whole.events[0].id = EventId::random();
  whole.request_id = EventId::random();
  const storage::RemovalRow row{
      .before = SeqNr{4}, .from = SeqNr{1}, .last = third - 1, .aggregate = true, .operation = "of what is lost"};
  storage::RowWrites rows, intent;
  for (auto key : {storage::removing_key(order), storage::removed_key(order)})
    rows.state.push_back({std::move(key), storage::encode_removal(row, order)});
  intent.state.push_back({intent_key(whole), encode_intent({whole, rows})});
  ASSERT_TRUE(node(1).write_rows_here(std::move(intent), {}, {}));

  EXPECT_TRUE(in_time([&] { return !any_intent(order) && log().size() == 2; }));

  EXPECT_EQ(states_of(order), "lll");
  EXPECT_THAT(log(), ElementsAre("$RemovalOrdered", "$RemovalDropped"));
}

TEST_F(ClusterRetentionTest, PoliciesAreAppliedByEveryOwner) {
  std::vector<AggregateId> old_carts, young_carts, old_orders;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    old_carts.push_back(owned_by(n, "cart"));
    young_carts.push_back(owned_by(n, "cart"));
    old_orders.push_back(owned_by(n));
    append_some(old_carts.back(), 3, 7200s);
    append_some(young_carts.back(), 3);
    append_some(old_orders.back(), 4, 7200s);
    snapshot(old_orders.back(), 2);
    append(n, old_orders.back(), "Heartbeat", 7200s);
    snapshot(old_orders.back(), 5);
  }
  ASSERT_TRUE(at(1).set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));
  ASSERT_TRUE(at(1).set_retention_policy(policy("beats", RetentionPolicy::Kind::events, "Heartbeat"), {}));
  ASSERT_EQ(at(1).retention_policies()->size(), 2u);
  const auto head = node(1).head();

  const auto would = at(1).apply_retention({.dry_run = true});
  ASSERT_TRUE(would) << would.error().what;
  EXPECT_EQ(would->events, 12u);
  EXPECT_EQ(node(1).head(), head);
  const auto done = at(1).apply_retention({.by = "ann"});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 12u);
  EXPECT_EQ(done->aggregates, 3u);
  for (const auto& cart : old_carts) EXPECT_EQ(states_of(cart), "rrrl");
  for (const auto& cart : young_carts) EXPECT_EQ(states_of(cart), "lll");
  for (const auto& order : old_orders) EXPECT_EQ(states_of(order), "llllr");
  const auto words = log();
  EXPECT_EQ(words.back(), "$PoliciesApplied");
  EXPECT_EQ(std::ranges::count(words, "$EventsRemoved"), 3);
  EXPECT_EQ(std::ranges::count(words, "$RemovalDone"), 3);
  EXPECT_EQ(at(1).apply_retention({})->events, 0u);
  EXPECT_EQ(log().size(), words.size());  // nothing was done, nothing is recorded
  ASSERT_TRUE(at(1).drop_retention_policy("carts", {}));
  EXPECT_EQ(at(1).retention_policies()->size(), 1u);
  EXPECT_EQ(code(at(1).drop_retention_policy("carts", {})), "not_found");
  expect_sound();
}

TEST_F(ClusterRetentionTest, ANodeAppliesThePoliciesOnItsOwnShards) {
  const auto here = owned_by(1, "cart"), there = owned_by(2, "cart");
  append_some(here, 2, 7200s);
  append_some(there, 2, 7200s);
  ASSERT_TRUE(at(1).set_retention_policy(policy("carts", RetentionPolicy::Kind::remove, "cart"), {}));

  const auto done = at(1).apply_here({.by = "retention-every"}, {});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->aggregates, 1u);
  EXPECT_EQ(states_of(here), "rrl");
  EXPECT_EQ(states_of(there), "ll");
  EXPECT_THAT(at(1).retention_log(SeqNr{0}, 10)->back().json, HasSubstr(R"("node":1)"));
}

TEST_F(ClusterRetentionTest, ANodeRemovesSettledSchedulesOfItsOwnShards) {
  const auto settle = [&](std::uint32_t owner) {
    const auto schedule = owned_by(owner, std::string(schedule_type));
    ScheduledAt at;
    at.append = Append{}.event("order-1", "Placed", "{}");
    Event set;
    set.aggregate = schedule;
    set.type = append_scheduled_type;
    set.payload = encode(at);
    set.format = PayloadFormat::protobuf;
    EXPECT_TRUE(node(owner).append(Append{}.event(set)));
    set.type = schedule_settled_type;
    set.payload = encode(ScheduleSettled{ScheduledState::cancelled});
    const auto done = node(owner).append(Append{}.event(set));
    EXPECT_TRUE(done);
    for (std::uint32_t n = 1; n <= 3; ++n) EXPECT_TRUE(node(n).wait_for(done->last_position, retention_patience));
    return schedule;
  };
  const auto here = settle(1), there = settle(2);

  EXPECT_EQ(at(1).remove_settled_schedules_here(1h, {}, {})->events, 0u);
  const auto done = at(1).remove_settled_schedules_here(0ms, {.by = "schedule-keep"}, {});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->aggregates, 1u);
  EXPECT_EQ(done->events, 2u);
  EXPECT_EQ(states_of(here), "rr");
  EXPECT_EQ(states_of(there), "ll");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto listed = node(n).aggregates(std::string(schedule_type), {}, 10);
    ASSERT_TRUE(listed) << listed.error().what;
    ASSERT_EQ(listed->size(), 1u) << "asked on node " << n;
    EXPECT_EQ(listed->front().aggregate, there);
  }
  EXPECT_EQ(at(1).remove_settled_schedules_here(0ms, {}, {})->events, 0u);
  EXPECT_EQ(log().back(), "$EventsRemoved");
  expect_sound();
}

TEST_F(ClusterRetentionTest, ARunDoesWhatItCanAndNamesWhatIsAway) {
  const auto log_owner = owner_of(retention_log());
  // The log and the policy have to be there; what is left is the third node.
  std::uint32_t away = other_than(log_owner);
  std::string name = "carts";
  for (int i = 0; owner_of({"$policy", name}) == away; ++i) name = "carts" + std::to_string(i);
  const auto here = owned_by(log_owner, "cart"), gone = owned_by(away, "cart");
  append_some(here, 2, 7200s);
  append_some(gone, 2, 7200s);
  ASSERT_TRUE(at(log_owner).set_retention_policy(policy(name, RetentionPolicy::Kind::remove, "cart"), {}));
  const auto policies = at(log_owner).retention_policies();
  ASSERT_TRUE(policies);
  network_.refuse_calls_to(away, Error(ErrorCode::unavailable, "the link is down"));

  const auto done = at(log_owner).apply_retention({});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  EXPECT_THAT(done.error().what, HasSubstr("not done for shard"));
  EXPECT_EQ(states_of(here), "rrl");
  EXPECT_EQ(states_of(gone), "ll");
  network_.refuse_calls_to(away, std::nullopt);
  ASSERT_TRUE(at(log_owner).apply_retention({}));
  EXPECT_EQ(states_of(gone), "rrl");
}

/// Each policy says by itself what goes: one that cannot be read keeps no other from being applied.
TEST_F(ClusterRetentionTest, ARunAppliesThePoliciesThatCanBeRead) {
  const auto log_owner = owner_of(retention_log()), away = other_than(log_owner), third = 6 - log_owner - away;
  const auto named_on = [&](std::uint32_t n, const std::string& prefix) {
    for (int i = 0;; ++i)
      if (auto name = prefix + std::to_string(i); owner_of({"$policy", name}) == n) return name;
  };
  const auto here = owned_by(log_owner, "cart"), there = owned_by(third, "cart"), gone = owned_by(away, "cart"),
             order = owned_by(log_owner);
  for (const auto& aggregate : {here, there, gone, order}) append_some(aggregate, 2, 7200s);
  ASSERT_TRUE(
      at(log_owner).set_retention_policy(policy(named_on(third, "carts"), RetentionPolicy::Kind::remove, "cart"), {}));
  ASSERT_TRUE(
      at(log_owner).set_retention_policy(policy(named_on(away, "orders"), RetentionPolicy::Kind::remove, "order"), {}));
  const auto dropped = named_on(third, "dropped");
  ASSERT_TRUE(at(log_owner).set_retention_policy(policy(dropped, RetentionPolicy::Kind::remove, "order"), {}));
  ASSERT_TRUE(at(log_owner).drop_retention_policy(dropped, {}));
  ASSERT_EQ(at(log_owner).retention_policies().value().size(), 2u);
  stop(away);

  const auto done = at(log_owner).apply_retention({});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable);
  EXPECT_THAT(done.error().what, HasSubstr("not done for shard"));
  EXPECT_THAT(done.error().what, HasSubstr("could not be read, and were not applied"));
  EXPECT_EQ(states_at(log_owner, here), "rrl");
  EXPECT_EQ(states_at(log_owner, there), "rrl");
  EXPECT_EQ(states_at(log_owner, order), "ll");
  EXPECT_THAT(log_at(log_owner), Contains("$PoliciesApplied"));
  start(away);
  ASSERT_TRUE(cluster_->wait_until_open());
  EXPECT_TRUE(in_time([&] { return at(log_owner).apply_retention({}).has_value(); }));
  EXPECT_EQ(states_of(gone), "rrl");
  EXPECT_EQ(states_of(order), "rrl");
}

TEST_F(ClusterRetentionTest, VerifyLooksAtIntents) {
  RetentionIntent intent;
  intent.append = Append{}.event("order-1", "T", "{}").request(EventId::random());
  auto bytes = encode_intent(intent);
  const auto write = [&] {
    storage::RowWrites rows;
    rows.state.push_back({storage::keys::checkpoint("retention/intent/unknown"), bytes});
    ASSERT_TRUE(node(1).write_rows_here(std::move(rows), {}, {}));
  };
  parts_[1].retention->close();  // nobody settles it
  write();
  EXPECT_EQ(storage::verify(cluster_->store(1), {})->errors, 0u);
  bytes[3] = static_cast<char>(bytes[3] ^ 1);
  write();

  const auto report = storage::verify(cluster_->store(1), {});

  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings.front(), HasSubstr("what is to be removed by an append is not known"));
}

TEST_F(ClusterRetentionTest, RowsAreWrittenUnderTheEpochThatIsHeldAndNoOther) {
  const auto order = owned_by(1);
  append(1, order);
  const auto shard = node(1).shard_of(order);
  const auto held = *parts_[1].homes->epoch(order);
  const auto key = storage::removed_key(order);
  const auto row_under = [&](Epoch epoch) {
    storage::RowWrites rows;
    rows.state.push_back(
        {key, storage::encode_removal({.before = SeqNr{2}, .last = GlobalPosition{1}, .operation = "op"}, order)});
    return node(1).write_rows_here(std::move(rows), {}, {{shard, epoch}});
  };

  EXPECT_EQ(code(row_under(held + 1)), "wrong_shard");
  EXPECT_FALSE(*storage::removed_of(cluster_->store(1).rows(), order));
  EXPECT_EQ(code(row_under(held)), "ok");
  EXPECT_TRUE(*storage::removed_of(cluster_->store(1).rows(), order));
}

TEST(RetentionIntent, IsReadAsItWasWrittenAndADamagedOneIsTold) {
  RetentionIntent intent;
  intent.append =
      Append{}.event("order-1", "T", "{}").expect("order-1", ExpectedVersion::exactly(7)).request(EventId::random());
  intent.append.events[0].id = EventId::random();
  intent.append.events[0].occurred_at = Timestamp{1'700'000'000'000'000};
  intent.rows.state = {{"key", "value"}, {"gone", std::nullopt}};
  intent.rows.snapshots_to_go.push_back({{"order", "1"}, SeqNr{8}, true});
  const auto bytes = encode_intent(intent);

  const auto read = decode_intent(bytes);

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->append, intent.append);
  EXPECT_EQ(encode_intent(*read), bytes);
  EXPECT_EQ(read->rows.state[1].value, std::nullopt);
  for (std::size_t i = 0; i != bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    const auto refused = decode_intent(damaged);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  }
  EXPECT_FALSE(decode_intent(std::string_view(bytes).substr(0, 5)));
}

/// What has ended is kept for who did not hear of it, and keeps nobody else out.
TEST_F(ClusterRetentionTest, TakesMoreWorkThanItKeeps) {
  int done = 0;
  const auto until = std::chrono::steady_clock::now() + retention_patience;
  while (done < 100 && std::chrono::steady_clock::now() < until) {
    const auto run = at(1).apply_retention({.dry_run = true});
    // On a busy machine a node may be taken for gone for a moment.
    ASSERT_TRUE(run || run.error().what.find("The same again does what is left") != std::string::npos)
        << run.error().what;
    if (run) ++done;
  }
  EXPECT_EQ(done, 100);
}

TEST_F(ClusterRetentionTest, WhoStopsItFindsTheRestDoneLater) {
  const auto order = owned_by(1);
  for (int i = 0; i < 40; ++i) {
    Append append;
    for (int k = 0; k < 20; ++k) append.event(order.text(), "T", std::string(2'000, 'x'));
    ASSERT_TRUE(node(1).append(append));
  }
  RetentionOrder slow;
  slow.bytes_per_second = 100'000;
  std::atomic<bool> ordered{false};
  at_steps([&](std::string_view step) { ordered = ordered || step == StoreRetention::Steps::ordered; });

  const auto stopped = at(2).remove_aggregate(order, slow, [&](std::uint64_t, std::uint64_t) { return !ordered; });

  EXPECT_EQ(code(stopped), "cancelled");
  EXPECT_EQ(states_of(order), std::string(800, 'r') + 'l');
  EXPECT_THAT(log(), ElementsAre("$RemovalOrdered"));
  ASSERT_TRUE(at(3).apply_retention({}));
  EXPECT_THAT(log(), ElementsAre("$RemovalOrdered", "$RemovalDone"));
  expect_sound();
}

}  // namespace
}  // namespace evershard::cluster
