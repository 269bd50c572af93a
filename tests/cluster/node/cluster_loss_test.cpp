// Shards whose node is gone for good, or came back with less: they go on where an operator says, and readers are told
// what is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t loss_shards = 4;

std::string name_in(std::uint16_t shard) {
  for (int i = 0;; ++i) {
    AggregateId id{"order", std::to_string(i)};
    if (sharding::shard_of(sharding::stream_hash(id), loss_shards).value == shard) return id.text();
  }
}

class ClusterLoss : public testing::Test {
 protected:
  ClusterLoss()
      : cluster_({.nodes = 3,
                  .shards = loss_shards,
                  .data_dir = folder_.path(),
                  .timeout = std::chrono::seconds(5),
                  .limits = {}}) {
    EXPECT_TRUE(cluster_.wait_until_open());
  }

  static bool soon(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < until) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }
  /// One event in each shard; by `node`, which goes on trying: shards move.
  void append_round(std::uint32_t node, const std::string& payload) {
    for (std::uint16_t s = 0; s < loss_shards; ++s) {
      Append one;
      one.event(name_in(s), "Placed", payload, {"x"});
      one.request_id = EventId::random();
      Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
      EXPECT_TRUE(soon([&] {
        done = cluster_.node(node).append(one);
        return done.has_value();
      })) << done.error().what;
      if (done) last_ = done->last_position;
    }
  }
  std::vector<ShardId> shards_of(std::uint32_t node) {
    std::vector<ShardId> shards;
    const auto owners = cluster_.node(1).committer().owners();
    for (std::size_t s = 0; s != owners.size(); ++s)
      if (owners[s] == node) shards.push_back(ShardId{static_cast<std::uint16_t>(s)});
    return shards;
  }
  /// The node is here, and its disk is refused, for what it has lost.
  bool is_refused(std::uint32_t node, ShardId shard) {
    const auto status = cluster_.status();
    const auto here =
        std::ranges::any_of(status.nodes, [&](const auto& known) { return known.is.node == node && known.is.up; });
    return here && status.shards[shard.value].trouble.find("has lost data") != std::string::npos;
  }
  /// What is accepted is what the first try names.
  ShardsAssigned assign_losing(std::uint32_t node, const std::vector<ShardId>& shards) {
    ShardAssignment wanted{node, shards, {}};
    auto looked = cluster_.assign(wanted);
    EXPECT_TRUE(looked) << looked.error().what;
    if (!looked) return {};
    EXPECT_FALSE(looked->done);
    wanted.accepted = looked->losses;
    auto done = cluster_.assign(wanted);
    EXPECT_TRUE(done && done->done);
    return done.value_or(ShardsAssigned{});
  }
  Result<std::size_t> count(std::uint32_t node, GlobalPosition after = GlobalPosition{0}) {
    std::size_t events = 0;
    auto stream = cluster_.node(node).read(Query().tags({"x"}), {.after = after, .at_least = last_});
    for (const auto& event : stream) events += event.position > after;
    if (stream.error()) return refuse(*stream.error());
    return events;
  }
  /// Until shards that move are there: anything but what is expected of them passes.
  Result<std::size_t> settled_count(std::uint32_t node, GlobalPosition after = GlobalPosition{0}) {
    Result<std::size_t> found = refuse(ErrorCode::unavailable, "not tried");
    (void)soon([&] {
      found = count(node, after);
      return found.has_value() || found.error().code == ErrorCode::corruption;
    });
    return found;
  }

  /// Payloads of an aggregate.
  Result<std::vector<std::string>> payloads(std::uint32_t node, std::uint16_t shard, StreamOptions options = {}) {
    std::vector<std::string> found;
    auto stream = cluster_.node(node).read(AggregateId::parse(name_in(shard)).value(), options);
    for (const auto& event : stream) found.push_back(event.payload);
    if (stream.error()) return refuse(*stream.error());
    return found;
  }

  TemporaryFolder folder_;
  SmallCluster cluster_;
  GlobalPosition last_;
};

TEST_F(ClusterLoss, ShardsGoOnEmptyAndReadersAreTold) {
  for (int i = 0; i < 3; ++i) append_round(1, std::to_string(i));
  const auto before = last_;
  const auto lost = shards_of(2);
  ASSERT_FALSE(lost.empty());
  EXPECT_EQ(cluster_.assign({3, lost, {}}).error().code, ErrorCode::invalid_argument) << "their node is here";
  cluster_.stop(2);
  ASSERT_TRUE(soon([&] { return !cluster_.status().shards[lost.front().value].open; }));

  const auto answer = assign_losing(3, lost);
  ASSERT_EQ(answer.losses.size(), lost.size());
  EXPECT_EQ(answer.losses.front(), (ShardLoss{lost.front(), ShardOffset{1}, ShardOffset{4}}));
  const auto of_lost = AggregateId::parse(name_in(lost.front().value)).value();
  for (const std::uint32_t node : {1u, 3u}) {
    Result<AggregateInfo> version = refuse(ErrorCode::unavailable, "not asked");
    ASSERT_TRUE(soon([&] {
      version = cluster_.node(node).aggregate(of_lost);
      return !version && version.error().code == ErrorCode::corruption;
    })) << (version ? "it is there" : version.error().what);
    EXPECT_TRUE(cluster_.node(node).aggregate(of_lost, GlobalPosition{0}).error().code == ErrorCode::not_found);
    EXPECT_TRUE(soon([&] {  // all shards that are lost are open
      const auto all = cluster_.node(node).aggregates({}, {}, 10);
      return !all && all.error().code == ErrorCode::corruption;
    }));
    EXPECT_EQ(cluster_.node(node).snapshot(of_lost).error().code, ErrorCode::corruption) << "it may have had one";
    EXPECT_EQ(cluster_.node(node).snapshots(of_lost).error().code, ErrorCode::corruption);
  }
  append_round(1, "after");

  for (const std::uint32_t node : {1u, 3u}) {
    Result<AggregateInfo> info = refuse(ErrorCode::unavailable, "not asked");
    ASSERT_TRUE(soon([&] {  // it may not have heard of the append yet
      info = cluster_.node(node).aggregate(of_lost);
      return info.has_value();
    })) << info.error().what;
    EXPECT_EQ(info->version, SeqNr{1}) << "behind the loss it is known";
    EXPECT_TRUE(cluster_.node(node).snapshot(of_lost));
    const auto over = settled_count(node);
    ASSERT_FALSE(over) << "it would be silent";
    EXPECT_EQ(over.error().code, ErrorCode::corruption) << over.error().what;
    EXPECT_THAT(over.error().what, HasSubstr("has lost 3 events"));
    EXPECT_EQ(over.error().details->shard, lost.front());
    const auto behind = settled_count(node, before);
    ASSERT_TRUE(behind) << behind.error().what;
    EXPECT_EQ(*behind, loss_shards);
  }
  // One aggregate of the shard alone: whoever begins behind the loss, by a version that is there, or ends before it,
  // reads on.
  for (const std::uint32_t node : {1u, 3u}) {
    const auto shard = lost.front().value;
    EXPECT_EQ(payloads(node, shard).error().code, ErrorCode::corruption) << "its versions would begin anew, silently";
    EXPECT_EQ(payloads(node, shard, {.direction = Direction::backwards}).error().code, ErrorCode::corruption);
    EXPECT_EQ(payloads(node, shard, {.up_to = before}).error().code, ErrorCode::corruption);
    EXPECT_TRUE(payloads(node, shard, {.from = SeqNr{2}})) << "behind it";
    EXPECT_EQ(payloads(node, shard, {.from = SeqNr{4}}).error().code, ErrorCode::corruption)
        << "versions 2 and 3 were there when they were read";
    const auto other =
        std::ranges::find(lost, ShardId{0}) == lost.end() ? std::uint16_t{0} : shards_of(1).front().value;
    EXPECT_EQ(payloads(node, other).value_or(std::vector<std::string>{}),
              (std::vector<std::string>{"0", "1", "2", "after"}));
  }
  // What was lost may have matched.
  auto conditional = Append().event(name_in(lost.front().value), "Placed", "c");
  conditional.fail_if(Query().tags({"nobody"}), GlobalPosition{0});
  EXPECT_EQ(cluster_.node(3).append(conditional).error().code, ErrorCode::corruption);

  // It is remembered, and so is what was written since.
  cluster_.stop(3);
  cluster_.start(3);
  const auto again = settled_count(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::corruption) << again.error().what;
  append_round(1, "later");
  EXPECT_EQ(settled_count(1, before).value_or(0), 2 * loss_shards);

  // Who had them comes back, and is not believed.
  cluster_.start(2);
  append_round(2, "last");
  EXPECT_EQ(settled_count(2, before).value_or(0), 3 * loss_shards);
  EXPECT_TRUE(shards_of(2).empty());
}

// One event needs the node of its own shard, and no other.
TEST_F(ClusterLoss, AnEventIsReadFromItsOwnShardAndWhereItIsLostThatIsTold) {
  for (int i = 0; i < 2; ++i) append_round(1, std::to_string(i));
  std::map<std::uint32_t, RecordedEvent> of_node;  // one of each
  const auto owners = cluster_.node(1).committer().owners();
  for (const auto& event : cluster_.node(1).read(Query().tags({"x"}), {.at_least = last_}))
    of_node.emplace(owners[event.shard.value], event);
  ASSERT_EQ(of_node.size(), 3u);
  const auto& here = of_node.at(1);
  const auto& there = of_node.at(2);
  const auto lost = shards_of(2);
  constexpr auto patient = std::chrono::seconds(10);
  const auto read = [&](std::uint32_t node, const RecordedEvent& event) {
    return cluster_.node(node).event_at(event.position, event.shard, patient);
  };
  EXPECT_EQ(read(1, there).value(), there);
  EXPECT_EQ(cluster_.node(1).event_at(here.position, there.shard, patient).value(), here)
      << "it lies in another shard after all";

  cluster_.stop(2);
  ASSERT_TRUE(soon([&] { return !cluster_.status().shards[lost.front().value].open; }));
  EXPECT_EQ(read(3, here).value(), here);
  EXPECT_FALSE(read(3, there));
  EXPECT_FALSE(cluster_.node(3).event_at(here.position)) << "of all nodes one is away";
  EXPECT_EQ(cluster_.node(3).event_again(here.position, here.aggregate, here.id).value(), here);
  const auto ahead = cluster_.node(3).event_again(last_ + 1, here.aggregate, here.id);
  ASSERT_FALSE(ahead);
  EXPECT_NE(ahead.error().code, ErrorCode::not_found) << "another node may have come to it already";

  (void)assign_losing(3, lost);
  append_round(1, "after");
  for (const std::uint32_t node : {1u, 3u}) {
    EXPECT_EQ(read(node, here).value(), here);
    EXPECT_TRUE(soon([&] { return read(node, there).error().code == ErrorCode::corruption; }))
        << read(node, there).error().what;
  }
  cluster_.skip_lost();
  for (const std::uint32_t node : {1u, 3u}) {
    cluster_.stop(node);
    cluster_.start(node);
  }
  for (const std::uint32_t node : {1u, 3u}) {
    ASSERT_TRUE(cluster_.node(node).wait_for(last_, std::chrono::seconds(60)));
    EXPECT_TRUE(soon([&] {
      const auto found = read(node, there);
      return !found && found.error().code == ErrorCode::not_found;
    })) << read(node, there).error().what;
    EXPECT_TRUE(soon([&] { return cluster_.node(node).event_at(here.position).has_value(); }));
  }
}

TEST_F(ClusterLoss, ANodeThatComesBackWithAnOldBackupGoesOnWithThat) {
  for (int i = 0; i < 3; ++i) append_round(1, std::to_string(i));
  const auto own = shards_of(2);
  ASSERT_TRUE(soon([&] { return cluster_.node(2).head().value_or(GlobalPosition{0}) >= last_; }));
  // While it runs.
  const auto& running = cluster_.node(2).committer().store();
  EXPECT_EQ(storage::backup(running, folder_.path() / "part", {.up_to = GlobalPosition{1}}).error().code,
            ErrorCode::invalid_argument);
  const auto copied = storage::backup(running, folder_.path() / "copy");
  ASSERT_TRUE(copied) << copied.error().what;
  append_round(1, "gone");
  const auto before = last_;
  cluster_.stop(2);
  std::filesystem::remove_all(folder_.path() / "2");
  const auto restored = storage::restore(folder_.path() / "copy", folder_.path() / "2");
  ASSERT_TRUE(restored) << restored.error().what;
  cluster_.start(2);
  ASSERT_TRUE(soon([&] { return is_refused(2, own.front()); })) << "it is refused, loudly";
  EXPECT_TRUE(soon([&] {
    const auto read = payloads(1, own.front().value);
    return !read && read.error().code == ErrorCode::unavailable && read.error().lasting();
  })) << "whoever asks another node need not try again";

  // Starting it again does not mend it.
  cluster_.stop(2);
  cluster_.start(2);
  ASSERT_TRUE(soon([&] { return is_refused(2, own.front()); }));

  const auto answer = assign_losing(2, own);
  ASSERT_EQ(answer.losses.size(), own.size());
  EXPECT_EQ(answer.losses.front().from, ShardOffset{4}) << "the copy has three of each";
  append_round(1, "after");
  const auto over = settled_count(3);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::corruption) << over.error().what;
  EXPECT_EQ(settled_count(3, before).value_or(0), loss_shards);
  ASSERT_TRUE(cluster_.node(1).wait_for(last_, std::chrono::seconds(60)));
  using Payloads = std::vector<std::string>;
  const auto shard = own.front().value;
  EXPECT_EQ(payloads(1, shard).error().code, ErrorCode::corruption) << "version 4 was \"gone\" once";
  EXPECT_EQ(payloads(1, shard, {.from = SeqNr{2}}).error().code, ErrorCode::corruption);
  EXPECT_EQ(payloads(1, shard, {.from = SeqNr{4}}).error().code, ErrorCode::corruption)
      << "who has seen version 3 has missed \"gone\"";
  EXPECT_EQ(payloads(1, shard, {.from = SeqNr{5}}).value_or(Payloads{"?"}), Payloads{}) << "behind the loss";
  EXPECT_EQ(payloads(1, shard, {.from = SeqNr{6}}).error().code, ErrorCode::corruption)
      << "who has seen version 5 has seen what was lost";
  EXPECT_EQ(payloads(1, shard, {.up_to = copied.value()}).value_or(Payloads{}), (Payloads{"0", "1", "2"}))
      << "before it: what the copy has is there";
  EXPECT_EQ(payloads(1, shard, {.from = SeqNr{3}, .direction = Direction::backwards, .up_to = {}}).value_or(Payloads{}),
            (Payloads{"2", "1", "0"}));
}

}  // namespace
}  // namespace evershard::cluster
