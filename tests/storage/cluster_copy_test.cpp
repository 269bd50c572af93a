// A store spread over the nodes of a cluster, and a store made of what nodes keep: there and back.

#include "evershard/storage/repair/cluster_copy.hpp"

#include <fstream>
#include <memory>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/order/rebuild_cut_log.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/repair/cluster_spread.hpp"
#include "evershard/storage/repair/part_rows.hpp"
#include "evershard/storage/repair/stopped_parts.hpp"
#include "evershard/storage/repair/truth_source.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ClusterCopies : public MaintainedStore {
 protected:
  ~ClusterCopies() override { close(); }
  [[nodiscard]] std::filesystem::path cluster() const { return folder_.path() / "cluster"; }
  [[nodiscard]] std::filesystem::path target() const { return folder_.path() / "copy"; }

  /// Events of several aggregates, appends over several shards, a snapshot, a history that was cut off.
  void make_store() {
    open();
    fill(150);
    for (int i = 0; i != 20; ++i) {
      Append several;
      for (int of = 0; of != 5; ++of)
        several.event("basket-" + std::to_string(of), "added", std::to_string(i), {"of:" + std::to_string(of)});
      ASSERT_TRUE(writer_->commit({several}));
    }
    write({snapshot_of("order-1", 3, 16)});
    const AggregateId truncated{"order", "2"};
    removed_ = encode_removal({SeqNr{2}, SeqNr{1}, GlobalPosition{3}, false, "op"}, truncated);
    close();
    raw([&](RocksFamilies& families) { put(families, Family::state, removed_key(truncated), removed_); });
    std::ofstream(data_dir() / "TYPES") << "of payloads";
    open();
  }
  Result<GlobalPosition> spread(const SpreadOptions& how, const Progress& progress = {}) {
    return spread_store(
        data_dir(), cluster(), how,
        [&](const std::filesystem::path& folder, const SpreadStore& spread) {
          RebuiltCutLog log;
          log.identity = spread.identity;
          log.order.state = spread.state;
          return write_cut_log(folder / "coordinator", log);
        },
        progress);
  }
  /// What node `n` gives of these shards.
  static void give(ClusterCopy& copy, const std::filesystem::path& node, std::uint32_t n, std::vector<ShardId> shards,
                   std::vector<GivenPart>& parts) {
    auto source = TruthSource::of_closed(node);
    ASSERT_TRUE(source) << source.error().what;
    auto head = head_of_part(source->rows(), source->identity(), shards);
    ASSERT_TRUE(head) << head.error().what;
    ASSERT_EQ(head->shards, shards);
    auto folder = copy.begin_part(n);
    ASSERT_TRUE(folder) << folder.error().what;
    const auto given = give_part(
        source->rows(), *head,
        [&](Family family, std::string_view key, std::string_view value) { return (*folder)->put(family, key, value); },
        {});
    ASSERT_TRUE(given) << given.error().what;
    ASSERT_TRUE((*folder)->finish());
    parts.push_back({n, head->identity, std::move(shards)});
  }
  /// Each shard of the node that owns it.
  Result<void> join(const SpreadOptions& how, const ClusterCopyOptions& options, const Progress& progress = {}) {
    auto copy = ClusterCopy::begin(target());
    if (!copy) return refuse(copy.error());
    std::map<std::uint32_t, std::vector<ShardId>> of;
    for (std::uint16_t s = 0; s != 4; ++s) of[keepers_of(ShardId{s}, how).front()].push_back(ShardId{s});
    std::vector<GivenPart> parts;
    for (auto& [node, shards] : of) give(**copy, cluster() / spread_node_name(node), node, shards, parts);
    return (*copy)->finish(parts, options, progress);
  }
  static void expect_none(const std::filesystem::path& path) {
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
  }

  std::string removed_;
};

TEST_F(ClusterCopies, OfAnyNumberOfNodesAreTheStoreThatWasSpread) {
  for (const SpreadOptions& how : {SpreadOptions{1, 1, {}}, SpreadOptions{3, 2, {}}}) {
    make_store();
    const auto events = everything(store());
    const auto tagged = matching(store(), Query{}.tags({"of:3"}));
    const auto identity = store().identity();
    close();

    const auto end = spread(how);
    ASSERT_TRUE(end) << end.error().what;
    const auto joined = join(how, {.keeps = *end, .types = "of payloads"});
    ASSERT_TRUE(joined) << joined.error().what;

    EXPECT_EQ(*end, events.back().position);
    auto copy = open_store(options_for(target()));
    ASSERT_TRUE(copy) << copy.error().what;
    EXPECT_EQ(everything(**copy), events);
    EXPECT_EQ(matching(**copy, Query{}.tags({"of:3"})), tagged);
    EXPECT_THAT(verify(**copy)->findings, IsEmpty());
    EXPECT_EQ((*copy)->view().mark, *end) << "indexes lie in files";
    EXPECT_EQ((*copy)->identity().store, identity.store);
    EXPECT_NE((*copy)->identity().fork, identity.fork);
    EXPECT_EQ(Reader(**copy).latest_snapshot({"order", "1"}).value()->version, SeqNr{3});
    EXPECT_EQ(removed_of((*copy)->rows(), {"order", "2"}).value()->operation, "op");
    EXPECT_TRUE(std::filesystem::exists(target() / "TYPES"));
    EXPECT_TRUE(StoreWriter(**copy).commit({one("order-1", "placed", "behind")}));
    EXPECT_EQ(everything(**copy).back().position, *end + 1);
    (*copy)->close();
    copy->reset();
    for (const auto& folder : {data_dir(), cluster(), target()}) std::filesystem::remove_all(folder);
    filled_ = 0;
  }
}

TEST_F(ClusterCopies, MakeACutLogThatFitsTheNodes) {
  make_store();
  close();
  const SpreadOptions how{.nodes = 3, .replicas = 2};

  const auto end = spread(how);

  ASSERT_TRUE(end) << end.error().what;
  auto log = open_cut_log({.data_dir = cluster() / "coordinator", .create = false});
  ASSERT_TRUE(log) << log.error().what;
  EXPECT_EQ((*log)->state().watermark, *end);
  EXPECT_EQ((*log)->state().shards[1].replicas.nodes, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ((*log)->state().shards[2].replicas.nodes, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ((*log)->state().shards[2].replicas.quorum, 2u);
  for (std::uint32_t n = 1; n <= how.nodes; ++n) {
    auto node = TruthSource::of_closed(cluster() / spread_node_name(n));
    ASSERT_TRUE(node) << node.error().what;
    EXPECT_EQ(node->identity().node, n);
    EXPECT_EQ(node->identity().fork, (*log)->identity().fork);
    EXPECT_EQ(node->end(), *end);
    const auto covered = covered_rows(node->rows(), 4);
    ASSERT_TRUE(covered);
    for (std::uint16_t s = 0; s != 4; ++s) {
      const auto keepers = keepers_of(ShardId{s}, how);
      const bool keeps = std::ranges::find(keepers, n) != keepers.end();
      ASSERT_EQ(covered->contains(ShardId{s}), keeps);
      if (keeps) {
        EXPECT_EQ(covered->at(ShardId{s}).end, (*log)->state().shards[s].next);
      }
    }
  }
}

TEST_F(ClusterCopies, KeepWhatALostReplicaIsGivenBesideItsJournal) {
  make_store();
  close();
  const auto shard = sharding::shard_of(sharding::stream_hash(AggregateId{"order", "2"}), 4);
  const SpreadOptions how{.nodes = 2, .replicas = 2};

  ASSERT_TRUE(spread(how));

  auto node = TruthSource::of_closed(cluster() / spread_node_name(2));
  ASSERT_TRUE(node);
  const auto entries = row_log_range(node->rows(), shard, {Epoch{1}, 0}, ShardOffset{1'000}, 1u << 20);
  ASSERT_TRUE(entries);
  ASSERT_THAT(entries->rows, SizeIs(1));
  EXPECT_EQ(decode_row_log(shard, entries->rows.front())->state.front().value, removed_);
}

TEST_F(ClusterCopies, EndWithAnyAppendAndWithNoneInPart) {
  make_store();
  const auto events = everything(store());
  close();
  const SpreadOptions all{.nodes = 3, .replicas = 2};
  ASSERT_TRUE(spread(all));

  // Positions 151 to 155 are one append.
  const auto in_part = join(all, {.keeps = GlobalPosition{153}});
  expect_none(target());
  const auto whole = join(all, {.keeps = GlobalPosition{155}});

  ASSERT_FALSE(in_part);
  EXPECT_EQ(in_part.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(in_part.error().what, HasSubstr("the append at positions 151 to 155"));
  ASSERT_TRUE(whole) << whole.error().what;
  {
    auto copy = open_store(options_for(target()));
    ASSERT_TRUE(copy) << copy.error().what;
    EXPECT_EQ(everything(**copy), std::vector(events.begin(), events.begin() + 155));
    EXPECT_THAT(verify(**copy)->findings, IsEmpty());
  }
  std::filesystem::remove_all(cluster());
  std::filesystem::remove_all(target());
  SpreadOptions earlier = all;
  earlier.up_to = GlobalPosition{160};
  const auto end = spread(earlier);
  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(*end, GlobalPosition{160});
  ASSERT_TRUE(join(all, {.keeps = *end}));
  auto copy = open_store(options_for(target()));
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ(everything(**copy), std::vector(events.begin(), events.begin() + 160));
}

TEST_F(ClusterCopies, OfAnEmptyStoreAreEmpty) {
  open();
  close();
  const SpreadOptions how{.nodes = 2, .replicas = 2};

  const auto end = spread(how);
  ASSERT_TRUE(end) << end.error().what;
  ASSERT_TRUE(join(how, {.keeps = *end}));

  auto copy = open_store(options_for(target()));
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_TRUE(StoreWriter(**copy).commit({one("order-1", "placed", "first")}));
}

TEST_F(ClusterCopies, LeaveNothingWhereverTheyAreStopped) {
  make_store();
  close();
  const SpreadOptions how{.nodes = 2, .replicas = 1};
  for (std::uint64_t stop_at : {0, 30, 60, 95}) {
    const auto stopped = spread(how, [&](std::uint64_t done, std::uint64_t) { return done < stop_at; });

    ASSERT_FALSE(stopped) << stop_at;
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
    expect_none(cluster());
  }
  ASSERT_TRUE(spread(how));
  for (std::uint64_t stop_at : {5, 40, 90}) {
    const auto stopped =
        join(how, {.keeps = GlobalPosition{250}}, [&](std::uint64_t done, std::uint64_t) { return done < stop_at; });

    ASSERT_FALSE(stopped) << stop_at;
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
    expect_none(target());
  }
  EXPECT_TRUE(join(how, {.keeps = GlobalPosition{250}}));
}

TEST_F(ClusterCopies, OfStoppedNodesTakeEachShardFromWhoHasMostOfIt) {
  make_store();
  const auto events = everything(store());
  close();
  const auto end = spread({.nodes = 3, .replicas = 2});
  ASSERT_TRUE(end) << end.error().what;
  std::ofstream(cluster() / "node-3" / "TYPES") << "of payloads";
  const auto node = [&](int n) { return cluster() / ("node-" + std::to_string(n)); };
  const auto joined = [&](const std::vector<std::filesystem::path>& folders) -> Result<void> {
    std::filesystem::remove_all(target());
    const auto stopped = open_stopped_parts(folders);
    if (!stopped) return refuse(stopped.error());
    EXPECT_EQ(stopped->end, *end);
    EXPECT_EQ(stopped->known, *end);
    auto copy = ClusterCopy::begin(target());
    if (!copy) return refuse(copy.error());
    return (*copy)->finish_from(stopped->parts, {.keeps = stopped->end, .types = stopped->types}, {});
  };

  for (const auto& folders :
       {std::vector{node(1), node(2), node(3)}, std::vector{node(3), node(1)}, std::vector{node(2), node(3)}}) {
    const auto made = joined(folders);
    ASSERT_TRUE(made) << made.error().what;
    auto copy = open_store(options_for(target()));
    ASSERT_TRUE(copy) << copy.error().what;
    EXPECT_EQ(everything(**copy), events);
    EXPECT_THAT(verify(**copy)->findings, IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(target() / "TYPES"));
    (*copy)->close();
  }
  const auto too_few = joined({node(1)});
  ASSERT_FALSE(too_few);
  EXPECT_EQ(too_few.error().code, ErrorCode::corruption);
  EXPECT_THAT(too_few.error().what, HasSubstr("are in none of them"));
  expect_none(target());
  std::filesystem::copy(node(1), folder_.path() / "twice", std::filesystem::copy_options::recursive);
  const auto twice = open_stopped_parts({node(1), folder_.path() / "twice"});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().what, HasSubstr("are both node 1's"));
  EXPECT_THAT(open_stopped_parts({node(1), node(2), node(1)}).error().what, HasSubstr("is named twice"));
  const auto alone = open_stopped_parts({data_dir()});
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().what, HasSubstr("is one process's store"));
  EXPECT_EQ(open_stopped_parts({}).error().code, ErrorCode::invalid_argument);
}

TEST_F(ClusterCopies, RefuseWhatIsDamagedMissingOrAnothers) {
  make_store();
  close();
  const SpreadOptions how{.nodes = 2, .replicas = 1};
  ASSERT_TRUE(spread(how));
  auto copy = ClusterCopy::begin(target());
  ASSERT_TRUE(copy);
  std::vector<GivenPart> parts;
  give(**copy, cluster() / "node-1", 1, {ShardId{0}, ShardId{2}}, parts);

  const auto missing = (*copy)->finish(parts, {.keeps = GlobalPosition{250}}, {});
  give(**copy, cluster() / "node-2", 2, {ShardId{1}, ShardId{3}}, parts);
  const auto beyond = (*copy)->finish(parts, {.keeps = GlobalPosition{251}}, {});
  parts.back().identity.fork = EventId::random();
  const auto foreign = (*copy)->finish(parts, {.keeps = GlobalPosition{250}}, {});
  const auto node = spread_store(cluster() / "node-1", folder_.path() / "other", how, {}, {});
  const auto filled = spread(how);

  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, HasSubstr("shard 1 is in 0 parts"));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::corruption);
  EXPECT_THAT(beyond.error().what, HasSubstr("position 251 is in none of them"));
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, ErrorCode::invalid_argument);
  ASSERT_FALSE(node);
  EXPECT_THAT(node.error().what, HasSubstr("one node's part of a cluster"));
  ASSERT_FALSE(filled);
  EXPECT_THAT(filled.error().what, HasSubstr("is not empty"));
}

}  // namespace
}  // namespace evershard::storage
