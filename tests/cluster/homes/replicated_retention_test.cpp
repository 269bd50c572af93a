// Retention where each shard has three replicas: what is removed is removed on all of them, whoever writes, and whoever
// was away.

#include <functional>
#include <future>
#include <utility>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/open.hpp"
#include "tests/cluster/homes/retention_cluster.hpp"

namespace evershard::cluster {
namespace {

using ::testing::IsEmpty;

class ReplicatedRetention : public ClusterRetentionTest {
 protected:
  explicit ReplicatedRetention(std::uint32_t spares = 0) : ClusterRetentionTest({}, 3, spares) {}

  /// Behind the node's back, while it is stopped: its own commits have their order.
  void change_disk(std::uint32_t n, const std::function<storage::CommitBatch(storage::NodeStore& store)>& change) {
    const auto is = cluster_->store(n).identity();
    stop(n);
    storage::StoreOptions options;
    options.data_dir = folder_.path() / "nodes" / std::to_string(n);
    options.shards = is.shards;
    options.member = storage::ClusterMember{is.node, is.store, is.fork, is.term_key, is.created_at};
    options.disk_reserve_bytes = 0;
    auto store = storage::open_node_store(options).value();
    ASSERT_TRUE(store->commit(*store->stage(change(*store))));  // what is staged ends before the store
    store->close();
    store.reset();
    start(n);
  }

  /// The shard's journal as this node has it, event by event: which append, and what is left of it.
  std::vector<std::string> journal_of(std::uint32_t n, ShardId shard) {
    std::vector<std::string> events;
    for (ShardOffset from{1};;) {
      auto range = cluster_->store(n).journal_from(shard, from, 1u << 20);
      EXPECT_TRUE(range) << range.error().what;
      if (!range || range->records.empty()) return events;
      for (const auto& [first, bytes] : range->records) {
        const auto record = storage::RecordView::open(bytes, shard, first);
        EXPECT_TRUE(record) << record.error().what;
        for (std::size_t i = 0; record && i != record->size(); ++i) {
          const auto event = record->event(i);
          EXPECT_TRUE(event) << event.error().what;
          if (event)
            events.push_back(std::to_string(static_cast<int>(event->state)) + " " + event->id.text() + " " +
                             std::string(event->type) + " " + std::string(event->payload));
        }
      }
      from = range->end;
    }
  }
  std::vector<std::string> removing_at(std::uint32_t n) {
    std::vector<std::string> names;
    const auto rows = storage::removal_rows(cluster_->store(n).rows(), storage::removing_prefix);
    EXPECT_TRUE(rows) << rows.error().what;
    if (rows)
      for (const auto& [aggregate, row] : rows->rows) names.push_back(aggregate.text());
    return names;
  }
  bool waits_until_open(std::uint32_t n, ShardId shard) {
    std::promise<void> open;
    node(n).committer().watch_shards(this, [&, once = false](const NodeCommitter::OpenShards& shards) mutable {
      if (shards.contains(shard) && !std::exchange(once, true)) open.set_value();
    });
    const auto is_open = open.get_future().wait_for(retention_patience) == std::future_status::ready;
    std::promise<void> over;
    node(n).committer().watch_shards(this, {});
    node(n).committer().watch_shards(&over, [&, once = false](const auto&) mutable {
      if (!std::exchange(once, true)) over.set_value();
    });
    over.get_future().wait();
    node(n).committer().watch_shards(&over, {});
    return is_open;
  }
  void put_unanswered(std::uint32_t n, const Snapshot& snapshot) {
    const auto shard = node(n).shard_of(snapshot.aggregate);
    node(n).committer().put_snapshot_here(snapshot, node(n).committer().view().shards[shard.value].epoch,
                                          [](const Result<void>&) {});
    const storage::Reader reader(cluster_->store(n));
    EXPECT_TRUE(in_time([&] {
      const auto there = reader.latest_snapshot(snapshot.aggregate);
      return there && *there && (*there)->payload == snapshot.payload;
    }));
  }
  /// Returns: who writes the shard instead, and has heard what a quorum had.
  std::uint32_t stop_writer(std::uint32_t n, const AggregateId& aggregate) {
    stop(n);
    const auto asked = other_than(n);
    std::uint32_t writer = 0;
    EXPECT_TRUE(in_time([&] {
      writer = owner_of_at(asked, aggregate);
      return writer != n && writer != 0;
    }));
    EXPECT_TRUE(waits_until_open(writer, node(asked).shard_of(aggregate)));
    cluster_->lose_row_logs_to(0);
    return writer;
  }
  void expect_compared() {
    std::vector<std::string> found;
    EXPECT_TRUE(in_time([&] {
      const auto compared = node(2).compare_replicas({});
      if (compared) found = compared->findings;
      return compared && compared->findings.empty();
    })) << ::testing::PrintToString(found);
  }
  /// All disks have the same, stubs included, and nothing of it is under way.
  void expect_same(const AggregateId& aggregate, const std::string& states) {
    const auto shard = node(1).shard_of(aggregate);
    EXPECT_TRUE(in_time([&] {
      return journal_of(1, shard) == journal_of(2, shard) && journal_of(1, shard) == journal_of(3, shard);
    })) << "of shard "
        << shard.value;
    for (std::uint32_t n = 1; n <= 3; ++n) {
      // A disk that was lost may have the journal, stubs and all, before it has the rows.
      EXPECT_TRUE(in_time([&] {
        const auto removed = storage::removed_of(cluster_->store(n).rows(), aggregate);
        return removed && *removed && removing_at(n).empty();
      })) << "node "
          << n;
      EXPECT_EQ(states_at(n, aggregate), states) << "node " << n;
    }
    expect_sound();
  }
};

TEST_F(ReplicatedRetention, EveryReplicaRemovesWhatTheWriterRemoves) {
  const auto order = owned_by(1), gone = owned_by(2);
  append_some(order, 6);
  append_some(gone, 4);
  snapshot(order, 4);
  snapshot(gone, 4);

  const auto truncated = at(2).truncate_aggregate(order, SeqNr{5}, {});
  ASSERT_TRUE(truncated) << truncated.error().what;
  EXPECT_EQ(truncated->events, 4u);
  const auto removed = at(3).remove_aggregate(gone, {});
  ASSERT_TRUE(removed) << removed.error().what;

  expect_same(order, "rrrrll");
  expect_same(gone, "rrrrl");
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const storage::Reader reader(cluster_->store(n));
    EXPECT_FALSE(*reader.latest_snapshot(gone)) << "node " << n;
    EXPECT_TRUE(*reader.latest_snapshot(order)) << "node " << n;
  }
}

TEST_F(ReplicatedRetention, ANodeThatWasAwayRemovesItWhenItIsBack) {
  const auto order = owned_by(1), later = owned_by(1);
  append_some(order, 4);
  append_some(later, 4);
  stop(3);
  ASSERT_TRUE(in_time([&] { return code(at(1).remove_aggregate(order, {})) == "ok"; }));
  ASSERT_TRUE(in_time([&] { return code(at(1).truncate_aggregate(later, SeqNr{3}, uncovered())) == "ok"; }));
  start(3);
  expect_same(order, "rrrrl");
  expect_same(later, "rrll");
}

TEST_F(ReplicatedRetention, ADiskThatIsLostIsFilledWithWhatIsLeft) {
  const auto order = owned_by(1), after = owned_by(1);
  append_some(order, 4);
  ASSERT_TRUE(at(1).remove_aggregate(order, {}));
  stop(3);
  std::filesystem::remove_all(folder_.path() / "nodes" / "3");
  append_some(after, 0);
  start(3);
  for (int i = 0; i != 3; ++i) append(1, after);
  ASSERT_TRUE(in_time([&] { return code(at(2).truncate_aggregate(after, SeqNr{2}, uncovered())) == "ok"; }));
  expect_same(order, "rrrrl");
  expect_same(after, "rll");
}

class RetentionWithASpareNode : public ReplicatedRetention {
 protected:
  RetentionWithASpareNode() : ReplicatedRetention(1) {}
};

// It is given journals, which may have been copied before something was removed, and the row log behind them.
TEST_F(RetentionWithASpareNode, ANodeThatLearnsAShardRemovesWhatWasRemoved) {
  const auto order = owned_by(1), gone = owned_by(1);
  append_some(order, 6);
  append_some(gone, 4);
  snapshot(order, 4);
  ASSERT_TRUE(at(2).truncate_aggregate(order, SeqNr{5}, {}));
  ASSERT_TRUE(at(3).remove_aggregate(gone, {}));
  cluster_->start(4);
  ShardAssignment wanted{.node = 4, .shards = {node(1).shard_of(order)}, .sets = ShardAssignment::Sets::move};
  if (node(1).shard_of(gone) != wanted.shards.front()) wanted.shards.push_back(node(1).shard_of(gone));
  ASSERT_TRUE(in_time([&] {
    if (cluster_->node(4).committer().failed()) {
      cluster_->stop(4);
      cluster_->start(4);
    }
    const auto done = cluster_->assign(wanted);
    return done && done->left == 0;
  }));
  ASSERT_TRUE(in_time([&] { return cluster_->node(4).committer().reader().owns(wanted.shards.front()); }));
  for (const auto& aggregate : {order, gone})
    EXPECT_TRUE(in_time([&] {
      const auto removed = storage::removed_of(cluster_->store(4).rows(), aggregate);
      return removed && *removed && removing_at(4).empty();
    })) << aggregate.text();
  EXPECT_EQ(states_at(4, order), "rrrrll");
  EXPECT_EQ(states_at(4, gone), "rrrrl");
  const storage::Reader reader(cluster_->store(4));
  EXPECT_TRUE(in_time([&] { return (*reader.latest_snapshot(order)).has_value(); }))
      << "it stands for what was truncated";
  const auto report = storage::verify(cluster_->store(4), {});
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
  cluster_->stop(4);
}

// No truncation names it: the policy removes events of a type, as far as a snapshot stands for them. The node that is
// to keep the shard was not there when the snapshot was written.
TEST_F(RetentionWithASpareNode, ASnapshotThatStandsForWhatAPolicyRemovedMovesWithItsShard) {
  const auto order = owned_by(1);
  append_some(order, 5, 7200s);
  append(1, order, "Kept");
  snapshot(order, 5);
  ASSERT_TRUE(at(1).set_retention_policy(policy("told", RetentionPolicy::Kind::events, "Placed"), {}));
  ASSERT_TRUE(in_time([&] { return code(at(1).apply_retention({})) == "ok" && states_of(order) == "rrrrrl"; }));

  cluster_->start(4);
  const ShardAssignment wanted{.node = 4, .shards = {node(1).shard_of(order)}, .sets = ShardAssignment::Sets::move};
  ASSERT_TRUE(in_time([&] {
    if (cluster_->node(4).committer().failed()) {
      cluster_->stop(4);
      cluster_->start(4);
    }
    const auto done = cluster_->assign(wanted);
    return done && done->left == 0;
  }));
  const storage::Reader reader(cluster_->store(4));
  EXPECT_TRUE(in_time([&] {
    const auto there = *reader.latest_snapshot(order);
    return there && there->version == SeqNr{5} && there->payload == "state";
  })) << "the state of the aggregate is on the other disks alone";
  cluster_->stop(4);
}

// They stand for nothing: without them the replica would be slow.
TEST_F(RetentionWithASpareNode, ANodeThatLearnsAShardHasTheLatestSnapshotsOfItsAggregates) {
  const auto alone = owned_by(1);
  append_some(alone, 3);
  snapshot(alone, 3);
  AggregateId with;
  do {
    with = owned_by(1);
  } while (node(1).shard_of(with) != node(1).shard_of(alone));
  Append append;
  append.event(with.text(), "Placed", "{}");
  Snapshot taken;
  taken.aggregate = with;
  taken.payload = "with its append";
  append.snapshots.push_back(taken);
  const auto appended = node(2).append(append);
  ASSERT_TRUE(appended) << appended.error().what;

  cluster_->start(4);
  const ShardAssignment wanted{.node = 4, .shards = {node(1).shard_of(alone)}, .sets = ShardAssignment::Sets::move};
  ASSERT_TRUE(in_time([&] {
    if (cluster_->node(4).committer().failed()) {
      cluster_->stop(4);
      cluster_->start(4);
    }
    const auto done = cluster_->assign(wanted);
    return done && done->left == 0;
  }));
  const storage::Reader reader(cluster_->store(4));
  EXPECT_TRUE(in_time([&] { return (*reader.latest_snapshot(alone)).has_value(); }));
  EXPECT_TRUE(in_time([&] {
    const auto there = *reader.latest_snapshot(with);
    return there && there->payload == "with its append";
  }));
  cluster_->stop(4);
}

/// What was removed lives on in the snapshot alone.
TEST_F(ReplicatedRetention, ADiskThatIsLostHasTheSnapshotThatStandsForWhatWasTruncated) {
  const auto order = owned_by(1);
  append_some(order, 5);
  snapshot(order, 4);
  ASSERT_TRUE(at(2).truncate_aggregate(order, SeqNr{4}, {}));
  stop(3);
  std::filesystem::remove_all(folder_.path() / "nodes" / "3");
  start(3);
  expect_same(order, "rrrll");
  const storage::Reader reader(cluster_->store(3));
  EXPECT_TRUE(in_time([&] {
    const auto there = *reader.latest_snapshot(order);
    return there && there->version == SeqNr{4} && there->payload == "state";
  }));
}

/// As a group's: it is answered when a quorum has it, and node 3 is none of that.
TEST_F(ReplicatedRetention, AStateThatLiesInItsSnapshotAloneIsWithEveryLaterWriter) {
  const auto order = owned_by(1);
  const auto shard = node(1).shard_of(order);
  append_some(order, 2);
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  cluster_->lose_row_logs_to(3);
  Snapshot state;
  state.aggregate = order;
  state.version = SeqNr{2};
  for (int i = 1; i <= 3; ++i) {
    state.payload = "state " + std::to_string(i);
    const auto put = node(1).put_snapshot_here(state, node(1).committer().view().shards[shard.value].epoch);
    ASSERT_TRUE(put) << put.error().what;
  }
  ShardAssignment wanted;
  wanted.shards = {shard};
  wanted.node = 3;
  ASSERT_TRUE(in_time([&] {
    static_cast<void>(cluster_->assign(wanted));
    return owner_of_at(2, order) == 3;
  }));
  ASSERT_TRUE(waits_until_open(3, shard));
  const storage::Reader reader(cluster_->store(3));
  const auto there = *reader.latest_snapshot(order);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->payload, "state 3");
  const auto log = storage::row_log_range(cluster_->store(3).rows(), shard, {Epoch{1}, 0}, ShardOffset{99}, 1u << 20);
  ASSERT_TRUE(log);
  EXPECT_EQ(log->rows.size(), 1u) << "of one aggregate only the newest is kept";
}

/// What it was under the writer before is on no disk any more, and a follower that starts again counts what is.
TEST_F(ReplicatedRetention, AStateIsKeptAfterAHandOverWithAFollowerThatWasStartedAgain) {
  const auto order = owned_by(1);
  const auto shard = node(1).shard_of(order);
  append_some(order, 2);
  Snapshot state;
  state.aggregate = order;
  state.version = SeqNr{2};
  const auto put = [&](std::uint32_t n, const std::string& payload) {
    state.payload = payload;
    return node(n).put_snapshot_here(state, node(n).committer().view().shards[shard.value].epoch);
  };
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  ASSERT_TRUE(put(1, "under the first writer"));
  ShardAssignment wanted;
  wanted.shards = {shard};
  wanted.node = 2;
  ASSERT_TRUE(in_time([&] {
    static_cast<void>(cluster_->assign(wanted));
    return owner_of_at(3, order) == 2;
  }));
  ASSERT_TRUE(waits_until_open(2, shard));
  ASSERT_TRUE(put(2, "under the second"));
  ASSERT_TRUE(in_time([&] {
    return *storage::row_log_ends(cluster_->store(3).rows(), shard) ==
           *storage::row_log_ends(cluster_->store(2).rows(), shard);
  }));
  stop(1);
  stop(3);
  start(3);
  ASSERT_TRUE(in_time([&] {
    const auto kept = put(2, "with node 3 alone");
    return kept.has_value();
  }));
}

/// As a group's with much that is parked: of each settlement a disk gets what changed
/// (storage/journal/latest_snapshot).
class LargeStates : public RetentionWithASpareNode {
 protected:
  LargeStates() : group_(owned_by(1, "$group")), shard_(node(1).shard_of(group_)) {
    for (std::size_t n = 0; n != 100'000; ++n) state_.payload += static_cast<char>('!' + (n * n + n / 90) % 90);
    state_.aggregate = group_;
    state_.version = SeqNr{1};
  }
  Result<void> settle(std::uint32_t n, const std::string& what) {
    state_.payload += what;
    return node(n).put_snapshot_here(state_, node(n).committer().view().shards[shard_.value].epoch);
  }
  void make_group() {
    append(1, group_, "$GroupChanged");
    ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
    for (int n = 0; n != 5; ++n) {
      const auto kept = settle(1, "settled " + std::to_string(n));
      ASSERT_TRUE(kept) << kept.error().what;
    }
  }
  /// On the disk of that node, as a base and a difference.
  bool is_at(std::uint32_t n) {
    const auto there = storage::latest_snapshot_of(cluster_->store(n).rows(), group_);
    const auto key = storage::snapshot_base_key(group_);
    const std::string_view wanted[] = {key};
    return there && *there && (*there)->payload == state_.payload && (*there)->version == SeqNr{1} &&
           (*cluster_->store(n).rows().get(storage::Family::state, wanted))->found(0);
  }
  /// It writes the shard from now on, and has all that was answered.
  void hand_over_to(std::uint32_t n, std::uint32_t asked) {
    ShardAssignment wanted;
    wanted.shards = {shard_};
    wanted.node = n;
    ASSERT_TRUE(in_time([&] {
      static_cast<void>(cluster_->assign(wanted));
      return owner_of_at(asked, group_) == n;
    }));
    ASSERT_TRUE(waits_until_open(n, shard_));
  }
  const AggregateId group_;
  const ShardId shard_;
  Snapshot state_;
};

TEST_F(LargeStates, AreTheSameOnAllReplicas) {
  make_group();
  for (const std::uint32_t n : {1, 2, 3}) EXPECT_TRUE(in_time([&] { return is_at(n); })) << n;
  expect_compared();
  expect_sound();
}

// 100 KB to each of two followers, each time.
TEST_F(LargeStates, ASettlementSendsWhatChanged) {
  make_group();
  for (const std::uint32_t n : {2, 3}) EXPECT_TRUE(in_time([&] { return is_at(n); })) << n;
  const auto bytes_of = [&](int settlements) {
    const auto before = cluster_->row_log_bytes();
    for (int n = 0; n != settlements; ++n) EXPECT_TRUE(settle(1, "more"));
    for (const std::uint32_t n : {2, 3}) EXPECT_TRUE(in_time([&] { return is_at(n); })) << n;
    return cluster_->row_log_bytes() - before;
  };
  EXPECT_LT(bytes_of(20), 60'000u);

  // Who starts again does not know what it has, and is sent it once.
  stop(3);
  start(3);
  ASSERT_TRUE(settle(1, "more"));
  EXPECT_TRUE(in_time([&] { return is_at(3); }));
  EXPECT_LT(bytes_of(20), 60'000u);
  expect_compared();

  cluster_->be_of_an_earlier_release(true);
  ASSERT_TRUE(in_time([&] { return bytes_of(1) > 150'000; }));
  cluster_->be_of_an_earlier_release(false);
  ASSERT_TRUE(in_time([&] { return bytes_of(1) < 10'000; }));
  expect_compared();
}

// It says that it has a base, and has not: it is sent the base.
TEST_F(LargeStates, AFollowerThatHasAnotherBaseIsSentItsWriters) {
  make_group();
  EXPECT_TRUE(in_time([&] { return is_at(2) && is_at(3); }));
  const auto key = storage::snapshot_base_key(group_);
  for (const std::uint32_t n : {2, 3}) {
    std::promise<void> done;
    node(n).committer().write_rows_here({.state = {{key, std::nullopt}}}, {}, {},
                                        [&](const Result<void>&) { done.set_value(); });
    done.get_future().wait();
  }
  ASSERT_TRUE(in_time([&] { return settle(1, "more").has_value(); }));
  EXPECT_TRUE(in_time([&] { return is_at(2) && is_at(3); }));
}

TEST_F(LargeStates, AreWithEveryLaterWriterThatSettlesOn) {
  make_group();
  cluster_->lose_row_logs_to(3);  // a quorum has it, and node 3 is none of that
  for (int n = 0; n != 5; ++n) ASSERT_TRUE(settle(1, "without node 3"));
  ASSERT_FALSE(is_at(3));
  hand_over_to(3, 2);
  EXPECT_TRUE(is_at(3));
  cluster_->lose_row_logs_to(0);
  for (int n = 0; n != 5; ++n) ASSERT_TRUE(in_time([&] { return settle(3, "by node 3").has_value(); }));
  stop(2);
  ASSERT_TRUE(in_time([&] { return settle(3, "with node 1").has_value(); }));
  start(2);
  for (const std::uint32_t n : {1, 2, 3}) EXPECT_TRUE(in_time([&] { return is_at(n); })) << n;
  expect_compared();
}

TEST_F(LargeStates, MoveWithTheirShard) {
  make_group();
  cluster_->start(4);
  const ShardAssignment wanted{.node = 4, .shards = {shard_}, .sets = ShardAssignment::Sets::move};
  ASSERT_TRUE(in_time([&] {
    if (cluster_->node(4).committer().failed()) {
      cluster_->stop(4);
      cluster_->start(4);
    }
    const auto done = cluster_->assign(wanted);
    return done && done->left == 0;
  }));
  EXPECT_TRUE(in_time([&] { return is_at(4); })) << "the state is on the other disks alone";
  cluster_->stop(4);
}

// Its writer had it alone, and comes back when others have settled on, or nothing: theirs was answered, and has the
// same version.
TEST_F(LargeStates, OfAWriterThatDiedBeforeAnybodyHadThemAreNotTaken) {
  for (const bool settles_on : {false, true}) {
    SCOPED_TRACE(settles_on);
    make_group();
    for (const std::uint32_t n : {1, 2, 3}) ASSERT_TRUE(in_time([&] { return is_at(n); })) << n;
    const auto answered = state_;
    cluster_->lose_row_logs_to(SmallCluster::everybody);
    state_.payload += "seen by nobody";
    put_unanswered(1, state_);
    const auto writer = stop_writer(1, group_);
    state_ = answered;
    if (settles_on) {
      ASSERT_TRUE(in_time([&] { return settle(writer, "by the next writer").has_value(); }));
    }
    start(1);
    for (const std::uint32_t n : {1, 2, 3}) EXPECT_TRUE(in_time([&] { return is_at(n); })) << n;
    expect_compared();
    hand_over_to(1, 2);  // or it writes already, and is waited for
    EXPECT_TRUE(is_at(1));
  }
}

// Of events that all have: whoever has the later one, it is as good as another.
TEST_F(ReplicatedRetention, ALaterSnapshotOfAWriterThatDiedIsOnAllReplicas) {
  const auto order = owned_by(1), quiet = owned_by(1);
  append_some(order, 5);
  append_some(quiet, 5);
  snapshot(order, 2);
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  cluster_->lose_row_logs_to(SmallCluster::everybody);
  Snapshot later;
  later.version = SeqNr{4};
  later.payload = "later";
  for (const auto& aggregate : {order, quiet}) {
    later.aggregate = aggregate;
    put_unanswered(1, later);
  }
  stop_writer(1, order);
  ASSERT_TRUE(in_time([&] { return owner_of_at(2, quiet) != 1; }));
  ASSERT_TRUE(waits_until_open(owner_of_at(2, quiet), node(2).shard_of(quiet)));
  Snapshot newer = later;
  newer.aggregate = order;
  newer.version = SeqNr{3};
  newer.payload = "newer";
  ASSERT_TRUE(in_time([&] { return node(2).put_snapshot(newer).has_value(); }));
  start(1);
  for (const auto& aggregate : {order, quiet})
    for (const std::uint32_t n : {1, 2, 3}) {
      EXPECT_TRUE(in_time([&] {
        const auto there = storage::Reader(cluster_->store(n)).latest_snapshot(aggregate);
        return there && *there && (*there)->version == SeqNr{4} && (*there)->payload == "later";
      })) << aggregate.text()
          << " at node " << n;
    }
  expect_compared();
}

// The second one had answered an earlier version; its successor asks who wrote before, or is that one.
TEST_F(ReplicatedRetention, ALaterSnapshotOfAWriterThatDiedIsOnAllReplicasWhoeverWritesNext) {
  const auto order = owned_by(1);
  append_some(order, 5);
  snapshot(order, 2);
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  cluster_->lose_row_logs_to(SmallCluster::everybody);
  Snapshot later;
  later.aggregate = order;
  later.version = SeqNr{4};
  later.payload = "later";
  put_unanswered(1, later);
  const auto second = stop_writer(1, order);
  Snapshot earlier = later;
  earlier.version = SeqNr{3};
  earlier.payload = "earlier";
  ASSERT_TRUE(in_time([&] { return node(second).put_snapshot(earlier).has_value(); }));
  stop(second);
  start(1);
  const auto has_later = [&](std::uint32_t n) {
    return in_time([&] {
      const auto there = storage::Reader(cluster_->store(n)).latest_snapshot(order);
      return there && *there && (*there)->version == SeqNr{4} && (*there)->payload == "later";
    });
  };
  for (const std::uint32_t n : {1u, 5 - second}) EXPECT_TRUE(has_later(n)) << "at node " << n;
  start(second);
  EXPECT_TRUE(has_later(second));
  expect_compared();
}

// The events have that aggregate's state. The others' entries come behind that one's.
TEST_F(ReplicatedRetention, ADamagedSnapshotOfTheWritersHoldsUpNobodyElses) {
  const auto damaged = owned_by(1);
  auto other = owned_by(1);
  while (node(1).shard_of(other) != node(1).shard_of(damaged)) other = owned_by(1);
  append_some(damaged, 4);
  append_some(other, 4);
  ASSERT_TRUE(node(1).wait_for(last_, retention_patience));
  stop(3);
  snapshot(damaged, 4);
  snapshot(other, 4);
  for (const std::uint32_t n : {1, 2})
    change_disk(n, [&](storage::NodeStore&) {
      storage::CommitBatch batch;
      batch.state.push_back({storage::keys::snapshot(damaged, std::nullopt), "no snapshot"});
      return batch;
    });
  start(3);
  EXPECT_TRUE(in_time([&] {
    const auto there = storage::Reader(cluster_->store(3)).latest_snapshot(other);
    return there && *there && (*there)->version == SeqNr{4};
  }));
  EXPECT_FALSE(*storage::Reader(cluster_->store(3)).latest_snapshot(damaged));

  // It lies there as before once somebody has made it anew.
  ASSERT_TRUE(in_time([&] {
    Snapshot anew;
    anew.aggregate = damaged;
    anew.version = SeqNr{4};
    anew.payload = "anew";
    return node(1).put_snapshot(anew).has_value();
  }));
  for (const std::uint32_t n : {1, 2, 3})
    EXPECT_TRUE(in_time([&] {
      const auto there = storage::Reader(cluster_->store(n)).latest_snapshot(damaged);
      return there && *there && (*there)->payload == "anew";
    })) << "at node "
        << n;
  expect_compared();
}

// They cannot be taken back. What the next writer had read to write it anew is from before they came.
TEST_F(ReplicatedRetention, EventsThatAWriterRemovedThatDiedAreRemovedOnAllReplicas) {
  const auto order = owned_by(1);
  const auto shard = node(1).shard_of(order);
  Append append;
  for (int n = 0; n != 5; ++n) append.event(order.text(), "Placed", "{}");
  const auto appended = node(1).append(append);
  ASSERT_TRUE(appended) << appended.error().what;
  last_ = std::max(last_, appended->last_position);
  ASSERT_TRUE(in_time([&] {
    return journal_of(1, shard).size() >= 5 && journal_of(1, shard) == journal_of(2, shard) &&
           journal_of(1, shard) == journal_of(3, shard);
  }));
  const auto removes = [](storage::NodeStore& store, ShardId of, storage::RowLogEntry entry) {
    storage::RowLogWrites writes(store.rows(), of);
    EXPECT_TRUE(writes.add(entry));
    return writes.take();
  };
  const auto epoch = node(1).committer().view().shards[shard.value].epoch;
  storage::RowLogEntry by_dead, by_next;
  by_next.removed = {ShardOffset{3}};
  std::uint32_t writer = 0;
  storage::RowWrites read_before;
  change_disk(1, [&](storage::NodeStore& store) {
    writer = 2;
    EXPECT_TRUE(in_time([&] { return (writer = owner_of_at(2, order)) > 1; }));
    EXPECT_TRUE(waits_until_open(writer, shard));
    read_before.rewrites = removes(cluster_->store(writer), shard, by_next).rewrites;
    const auto ends = storage::row_log_ends(store.rows(), shard).value();
    by_dead.at = {epoch, storage::number_of(ends, epoch) + 1};
    by_dead.removed = {ShardOffset{1}, ShardOffset{2}};
    storage::CommitBatch batch;
    auto rows = removes(store, shard, by_dead);
    batch.rewrites = std::move(rows.rewrites);
    batch.state = std::move(rows.state);
    return batch;
  });
  ASSERT_EQ(read_before.rewrites.size(), 1u);
  const auto removed_at = [&](std::uint32_t n) {
    return std::ranges::count_if(journal_of(n, shard), [](const auto& event) { return event.starts_with("1 "); });
  };
  for (const std::uint32_t n : {1, 2, 3}) EXPECT_TRUE(in_time([&] { return removed_at(n) == 2; })) << n;

  const auto written = node(writer).write_rows_here(
      std::move(read_before), {{shard, by_next}}, {{shard, node(writer).committer().view().shards[shard.value].epoch}});
  ASSERT_TRUE(written) << written.error().what;
  for (const std::uint32_t n : {1, 2, 3}) EXPECT_TRUE(in_time([&] { return removed_at(n) == 3; })) << n;
  expect_compared();
}

TEST_F(LargeStates, AreOnADiskThatWasLost) {
  make_group();
  stop(3);
  std::filesystem::remove_all(folder_.path() / "nodes" / "3");
  start(3);
  EXPECT_TRUE(in_time([&] { return is_at(3); }));
  ASSERT_TRUE(settle(1, "once more"));
  EXPECT_TRUE(in_time([&] { return is_at(3); }));
  expect_compared();
}

/// The node that does it goes for good: whoever writes the shard next has what it had begun, or knows nothing of it.
TEST_F(ReplicatedRetention, IsWholeWhereverItsNodeIsLost) {
  using Steps = StoreRetention::Steps;
  std::size_t lost = 0;
  for (const char* step :
       {NodeWriter::Steps::intended, NodeWriter::Steps::decided, Steps::ordered, Steps::rewritten, Steps::done}) {
    for (const bool whole : {true, false}) {
      SCOPED_TRACE(std::string(step) + (whole ? " remove" : " truncate"));
      std::uint32_t owner = lost % 3 + 1;
      while (std::ranges::count(node(1).committer().owners(), owner) == 0) owner = owner % 3 + 1;
      const auto order = owned_by(owner);
      const auto asker = other_than(owner);
      append_some(order, 5);
      break_off_at(step);

      const auto broken =
          whole ? at(asker).remove_aggregate(order, {}) : at(asker).truncate_aggregate(order, SeqNr{4}, uncovered());
      EXPECT_EQ(code(broken), "timeout") << (broken ? "" : broken.error().what);
      stop(owner);
      std::filesystem::remove_all(folder_.path() / "nodes" / std::to_string(owner));
      at_steps({});
      ++lost;

      ASSERT_TRUE(in_time([&] { return owner_of_at(asker, order) != owner; }));
      const std::string gone = whole ? "rrrrrl" : "rrrll";
      EXPECT_TRUE(in_time([&] { return states_at(asker, order) == gone; })) << states_at(asker, order);
      ASSERT_TRUE(in_time([&] {
        return code(whole ? at(asker).remove_aggregate(order, {})
                          : at(asker).truncate_aggregate(order, SeqNr{4}, uncovered())) == "ok";
      }));
      start(owner);
      ASSERT_TRUE(cluster_->wait_until_open());
      expect_same(order, gone);
    }
  }
}

/// It was no part of the quorum that has it, and is opened all the same: its journal has everything.
TEST_F(ReplicatedRetention, AWriterAsksForWhatAQuorumHadBeforeItRemovesAnything) {
  const auto order = owned_by(1), other = owned_by(1);
  const auto shard = node(1).shard_of(order);
  append_some(order, 4);
  append_some(other, 2);
  cluster_->lose_row_logs_to(3);
  ASSERT_TRUE(at(1).remove_aggregate(order, {}));
  EXPECT_TRUE(storage::row_log_ends(cluster_->store(3).rows(), shard)->empty());
  const auto had = *storage::row_log_ends(cluster_->store(2).rows(), shard);
  ShardAssignment wanted;
  wanted.shards = {shard};
  wanted.node = 3;
  ASSERT_TRUE(in_time([&] {
    static_cast<void>(cluster_->assign(wanted));
    return owner_of_at(2, order) == 3;
  }));

  ASSERT_TRUE(waits_until_open(3, shard));
  for (const auto& end : had) {  // beside what it has logged itself since
    EXPECT_THAT(*storage::row_log_ends(cluster_->store(3).rows(), shard), ::testing::Contains(end));
  }
  cluster_->lose_row_logs_to(0);
  expect_same(order, "rrrrl");
}

/// What only one of them has otherwise is named; what is on its way is not.
TEST_F(ReplicatedRetention, ReplicasAreComparedEventByEvent) {
  const auto order = owned_by(1), other = owned_by(2);
  const auto shard = node(1).shard_of(order);
  append_some(order, 40);
  append_some(other, 10);
  ASSERT_TRUE(at(1).truncate_aggregate(other, SeqNr{3}, uncovered()));
  for (std::uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(node(n).wait_for(node(1).head().value(), retention_patience));
    std::uint64_t events = 0;
    EXPECT_TRUE(in_time([&] {  // what one replica does not have yet is not compared
      const auto compared = node(n).compare_replicas({});
      if (!compared) return false;
      EXPECT_EQ(compared->errors, 0u) << compared->findings.front();
      events = compared->events;
      return compared->errors != 0 || events > 100;
    })) << events
        << " events at node " << n;
  }

  change_disk(3, [&](storage::NodeStore& store) {
    storage::RowLogEntry only_here;
    only_here.erased = {ShardOffset{7}};
    storage::RowLogWrites writes(store.rows(), shard);
    EXPECT_TRUE(writes.add(only_here));
    storage::CommitBatch batch;
    batch.rewrites = writes.take().rewrites;
    return batch;
  });
  ASSERT_TRUE(in_time([&] { return node(3).wait_for(head_of(1), retention_patience).has_value(); }));
  const auto found_by = [&](std::uint32_t n, std::size_t count) {  // node 3 has been away: until it can be compared
    std::vector<std::string> found;
    EXPECT_TRUE(in_time([&] {
      const auto compared = node(n).compare_replicas({});
      if (compared) found = compared->findings;
      return compared && compared->errors == count && found.size() == count;
    })) << n;
    return found;
  };
  for (std::uint32_t n = 1; n <= 2; ++n) {
    EXPECT_THAT(found_by(n, 1), ::testing::ElementsAre(::testing::AllOf(
                                    ::testing::StartsWith("shard " + std::to_string(shard.value) + ", offsets 1 to"),
                                    ::testing::HasSubstr("node 3 has something else"))));
  }
  EXPECT_EQ(found_by(3, 2).size(), 2u) << "both others have something else";
  stop(2);
  Result<ComparedReplicas> away = refuse(ErrorCode::unavailable, "not asked");
  EXPECT_TRUE(in_time([&] { return (away = node(1).compare_replicas({})) && away->errors == 1; }))
      << "what node 3 has otherwise";
  ASSERT_TRUE(away) << away.error().what;
  EXPECT_THAT(away->findings, ::testing::Contains(::testing::HasSubstr("of node 2 cannot be compared")));
}

/// Also those that came with appends. A node that looks while others are written says of none that they differ.
TEST_F(ReplicatedRetention, ReplicasAreComparedSnapshotBySnapshot) {
  const auto order = owned_by(1), busy = owned_by(2);
  append_some(order, 5);
  snapshot(order, 4);
  EXPECT_TRUE(in_time([&] {
    const auto compared = node(1).compare_replicas({});
    return compared && compared->findings.empty();
  }));

  change_disk(3, [&](storage::NodeStore&) {
    storage::CommitBatch batch;
    batch.state.push_back({storage::keys::snapshot(order, std::nullopt), std::nullopt});
    return batch;
  });
  const auto other = [&](std::uint32_t n) {
    return "shard " + std::to_string(node(1).shard_of(order).value) + ": node 3 has other snapshots than node " +
           std::to_string(n);
  };
  for (std::uint32_t n = 1; n <= 2; ++n) {
    std::vector<std::string> found;
    EXPECT_TRUE(in_time([&] {
      const auto compared = node(n).compare_replicas({});
      if (compared) found = compared->findings;
      return compared && compared->errors == 1 && found.size() == 1;
    }));
    EXPECT_THAT(found, ::testing::ElementsAre(other(n)));
  }

  std::jthread writes([&](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      Append append;
      append.event(busy.text(), "Placed", "{}");
      Snapshot taken;
      taken.aggregate = busy;
      taken.payload = "state";
      append.snapshots.push_back(taken);
      EXPECT_TRUE(node(2).append(append));
    }
  });
  const auto compared = node(1).compare_replicas({});
  ASSERT_TRUE(compared) << compared.error().what;
  EXPECT_EQ(compared->errors, 1u);
  EXPECT_THAT(compared->findings, ::testing::Contains(other(1)));
}

TEST_F(ReplicatedRetention, NothingIsRemovedWithoutAQuorumAndGoesOnWithOne) {
  const auto order = owned_by(1);
  append_some(order, 4);
  stop(2);
  stop(3);
  const auto refused = at(1).remove_aggregate(order, {});
  EXPECT_FALSE(refused);
  start(2);
  start(3);
  ASSERT_TRUE(cluster_->wait_until_open());
  ASSERT_TRUE(in_time([&] { return code(at(2).remove_aggregate(order, {})) == "ok"; }));
  expect_same(order, "rrrrl");
}

}  // namespace
}  // namespace evershard::cluster
