// A node's disk fails: cuts are applied without a sync, and the cut log repeats those that are lost.

#include <cstdlib>
#include <random>

#include <gmock/gmock.h>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/learned/learned_shards.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "evershard/storage/steps.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/contract/raw_database.hpp"
#include "tests/contract/rocks_folder.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::storage {
namespace {

/// Of CI, or of scripts/soak, which sets EVERSHARD_ROUNDS.
std::uint64_t either(std::uint64_t few, std::uint64_t many) {
  return std::getenv("EVERSHARD_ROUNDS") == nullptr ? few : many;
}

class NodeFaults : public RocksFolder {
 protected:
  ~NodeFaults() override { close_node(); }
  void close_node() {
    node_.reset();
    opened_.reset();
  }
  void open_node() {
    close_node();
    auto options = this->options();
    options.shards = NodeWriter::shards;
    options.member = NodeWriter::member();
    options.env = disk_.env();
    options.log_zeros_max = 64u << 10;
    auto opened = open_node_store(options);
    ASSERT_TRUE(opened) << opened.error().what;
    opened_ = std::move(*opened);
    node_ = std::make_unique<NodeWriter>(*opened_);
  }

  FaultEnv disk_;
  std::unique_ptr<NodeStore> opened_;
  std::unique_ptr<NodeWriter> node_;
};

TEST_F(NodeFaults, LosesNoEventWhenThePowerFailsAndAppliesItsCutsAgain) {
  std::mt19937_64 random(17);
  const std::array names{aggregate_in(0), aggregate_in(1)};
  for (std::uint64_t round = 0; round < either(6, 12); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    close_node();
    std::filesystem::remove_all(data_dir());
    ASSERT_NO_FATAL_FAILURE(open_node());
    std::vector<sharding::Cut> log;  // the coordinator's
    std::array<std::uint64_t, 2> journaled{1, 1}, covered{1, 1};
    std::uint64_t elsewhere = 1;
    std::vector<std::string> payloads[2];
    const auto steps = 20 + random() % 120;
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (random() % 2 == 0) {
        std::vector<Append> appends;
        for (auto n = 1 + random() % 20; n != 0; --n) {
          const auto shard = random() % 2;
          payloads[shard].push_back(std::to_string(step) + "." + std::to_string(n));
          appends.push_back(one(names[shard], "Placed", payloads[shard].back()));
          ++journaled[shard];
        }
        ASSERT_TRUE(node_->journal(std::move(appends)));
      } else {
        std::vector<sharding::Segment> segments;
        for (std::uint16_t shard = 0; shard < 2; ++shard) {
          if (covered[shard] == journaled[shard] || random() % 3 == 0) continue;
          const auto end = covered[shard] + 1 + random() % (journaled[shard] - covered[shard]);
          segments.push_back(node_->segment(shard, covered[shard], end));
          covered[shard] = end;
        }
        if (random() % 2 == 0) {
          segments.push_back(node_->segment(3, elsewhere, elsewhere + 3));
          elsewhere += 3;
        }
        log.push_back(node_->cut(std::move(segments)));
        ASSERT_TRUE(node_->apply(log.back()));
      }
      if (random() % 50 == 0) {
        ASSERT_TRUE(opened_->seal());
      }
    }
    disk_.cut_power();
    close_node();
    disk_.lose_unsynced(random());

    ASSERT_NO_FATAL_FAILURE(open_node());

    const auto recovered = opened_->recovered();
    ASSERT_LE(recovered.last_cut.value, log.size());
    for (auto next = recovered.last_cut.value; next < log.size(); ++next) ASSERT_TRUE(node_->apply(log[next]));
    for (std::uint16_t shard = 0; shard < 2; ++shard) {
      EXPECT_EQ(node_->next(ShardId{shard}), ShardOffset{journaled[shard]}) << "what was acknowledged as durable";
      auto expected = payloads[shard];
      expected.resize(covered[shard] - 1);
      EXPECT_EQ(payloads_of(stream_of(*opened_, names[shard])), expected);
    }
    EXPECT_EQ(everything(*opened_).size(), covered[0] + covered[1] - 2);
    if (!log.empty()) {
      EXPECT_EQ(opened_->view().watermark, log.back().last_position());
    }
  }
}

TEST_F(NodeFaults, HasTheCutsOfWhatIsSealed) {
  for (std::uint64_t seed = 1; seed <= either(4, 8); ++seed) {
    close_node();
    std::filesystem::remove_all(data_dir());
    ASSERT_NO_FATAL_FAILURE(open_node());
    ASSERT_TRUE(node_->journal({one(aggregate_in(0), "Placed", "1")}));
    ASSERT_TRUE(node_->apply(node_->cut({node_->segment(0, 1, 2)})));
    ASSERT_TRUE(opened_->seal());
    disk_.cut_power();
    close_node();
    disk_.lose_unsynced(seed);

    ASSERT_NO_FATAL_FAILURE(open_node());

    EXPECT_EQ(opened_->view().watermark, GlobalPosition{1});
    EXPECT_EQ(payloads_of(stream_of(*opened_, aggregate_in(0))), std::vector<std::string>{"1"});
  }
}

// Taking off what was given up is broken off by a loss of power, between any two of its parts, and done again.
TEST_F(NodeFaults, TakesOffWhatWasGivenUpHoweverOftenItIsBrokenOff) {
  const auto a = aggregate_in(0), b = aggregate_in(1);
  for (std::uint64_t seed = 1; seed <= either(6, 12); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    close_node();
    std::filesystem::remove_all(data_dir());
    ASSERT_NO_FATAL_FAILURE(open_node());
    std::vector<std::string> kept{"1"};
    for (std::uint64_t i = 1; i <= 40; ++i) {
      auto placed = one(a, "Placed", std::to_string(i), {"x"});
      auto& snapshot = placed.snapshots.emplace_back();
      snapshot.aggregate = AggregateId::parse(a).value();
      snapshot.payload = std::to_string(i);
      snapshot.keep = 3;
      std::vector<Append> appends{std::move(placed)};
      appends.push_back(one(b, "Placed", std::to_string(i), {"x"}));
      ASSERT_TRUE(node_->journal(std::move(appends)));
      ASSERT_TRUE(node_->apply(
          node_->cut({node_->segment(0, i, i + 1), node_->segment(3, i, i + 1), node_->segment(1, i, i + 1)})));
      if (i == 20 && seed % 3 != 0) {
        ASSERT_TRUE(opened_->seal());
      }
    }
    ASSERT_TRUE(node_->apply(node_->losing(0, 2, 41, 2)));
    ASSERT_TRUE(node_->journal({one(b, "Placed", "41", {"x"})}));  // syncs it
    close_node();

    for (std::uint64_t broken = 0; broken != 3; ++broken) {
      std::uint64_t left = (seed + broken * 7) % 6;
      auto options = this->options();
      options.shards = NodeWriter::shards;
      options.member = NodeWriter::member();
      options.env = disk_.env();
      options.log_zeros_max = 64u << 10;
      options.at_step = [&](const char* step) {
        if (step == std::string_view(steps::open_given_up) && left-- == 0) disk_.cut_power();
      };
      auto opened = open_node_store(options);
      opened = refuse(ErrorCode::io, "closed");
      disk_.lose_unsynced(seed * 31 + broken);
    }
    ASSERT_NO_FATAL_FAILURE(open_node());

    EXPECT_EQ(payloads_of(stream_of(*opened_, a)), kept);
    EXPECT_EQ(stream_of(*opened_, b).size(), 40u);
    EXPECT_EQ(everything(*opened_).size(), 41u);
    EXPECT_EQ(matching(*opened_, Query().tags({"x"})).size(), 41u);
    EXPECT_EQ(node_->next(ShardId{0}), ShardOffset{41});
    const auto latest = Reader(*opened_).latest_snapshot(AggregateId::parse(a).value());
    ASSERT_TRUE(latest);
    EXPECT_FALSE(*latest) << "three copies were kept, none of version 1";
    const auto verified = verify(*opened_);
    ASSERT_TRUE(verified);
    EXPECT_THAT(verified->findings, testing::IsEmpty());
  }
}

// A shard that the node learned beside its store: taking it in is broken off by a loss of power, between any two of its
// parts, and done again. The order that comes with it ends earlier than the node's own.
TEST_F(NodeFaults, TakesInWhatWasLearnedHoweverOftenItIsBrokenOff) {
  constexpr std::uint64_t cuts = 40, learned_up_to = 30;
  const auto a = aggregate_in(0), b = aggregate_in(1), c = aggregate_in(3);
  const auto keeps_all = [](const sharding::Segment& segment) { return segment.shard.value != 2; };
  for (std::uint64_t seed = 1; seed <= either(6, 15); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    close_node();
    std::filesystem::remove_all(data_dir());
    ASSERT_NO_FATAL_FAILURE(open_node());
    auto elsewhere = options();
    elsewhere.data_dir.clear();
    elsewhere.shards = NodeWriter::shards;
    elsewhere.member = NodeWriter::member(2);
    auto source = open_node_store(elsewhere);
    ASSERT_TRUE(source) << source.error().what;
    NodeWriter writer(**source);
    std::vector<sharding::Cut> log;
    for (std::uint64_t i = 1; i <= cuts; ++i) {
      ASSERT_TRUE(
          node_->journal({one(a, "Placed", std::to_string(i), {"x"}), one(b, "Placed", std::to_string(i), {"x"})}));
      ASSERT_TRUE(writer.journal({one(c, "Placed", std::to_string(i), {"x"})}));
      log.push_back(node_->cut({node_->segment(0, i, i + 1), node_->segment(3, i, i + 1), node_->segment(2, i, i + 1),
                                node_->segment(1, i, i + 1)}));
      ASSERT_TRUE(node_->apply(log.back()));
      auto staged = (*source)->stage_cut(sharding::cut_of_node(
          log.back(), [](const sharding::Segment& segment) { return segment.shard.value == 3; }, {}));
      ASSERT_TRUE((*source)->commit(*staged));
      if (i == 20 && seed % 3 != 0) {
        ASSERT_TRUE(opened_->seal());
      }
    }
    ASSERT_TRUE(node_->journal({one(a, "Placed", "behind", {"x"})}));  // no cut covers it
    {
      auto learned = LearnedShards::open(options());
      ASSERT_TRUE(learned) << learned.error().what;
      const auto rows = (*source)->journal_from(ShardId{3}, ShardOffset{1}, 1u << 20);
      ASSERT_TRUE(rows);
      ASSERT_TRUE((*learned)->add(*rows));
      EXPECT_FALSE((*learned)->add(*rows)) << "it begins where it began before";
      if (seed % 2 == 0) {  // another process goes on with what the one before had
        ASSERT_TRUE((*learned)->begin_order());
        learned = LearnedShards::open(options());
        ASSERT_TRUE(learned);
        EXPECT_EQ((*learned)->end(ShardId{3}), ShardOffset{cuts + 1});
        EXPECT_FALSE(has_learned(data_dir()));
      }
      ASSERT_TRUE((*learned)->begin_order());
      for (std::uint64_t i = 0; i != learned_up_to; ++i)
        ASSERT_TRUE((*learned)->add(sharding::cut_of_node(log[i], keeps_all, {})));
      LearnedOrder order;
      order.last_cut = log[learned_up_to - 1].number;
      order.watermark = log[learned_up_to - 1].last_position();
      order.coordinator = Epoch{1};
      const ShardOffset end{learned_up_to + 1};
      order.shards = {{ShardId{0}, end, Epoch{1}, false, {}, {}},
                      {ShardId{1}, end, Epoch{1}, false, {}, {}},
                      {ShardId{3}, end, Epoch{1}, true, ShardOffset{cuts + 1}, Epoch{1}}};
      ASSERT_TRUE((*learned)->finish(order));
      EXPECT_TRUE(has_learned(data_dir()));
    }
    close_node();

    for (std::uint64_t broken = 0; broken != 3; ++broken) {
      std::uint64_t left = (seed + broken * 7) % 6;
      auto options = this->options();
      options.shards = NodeWriter::shards;
      options.member = NodeWriter::member();
      options.env = disk_.env();
      options.log_zeros_max = 64u << 10;
      options.at_step = [&](const char* step) {
        if (step == std::string_view(steps::open_learned) && left-- == 0) disk_.cut_power();
      };
      auto opened = open_node_store(options);
      opened = refuse(ErrorCode::io, "closed");
      disk_.lose_unsynced(seed * 31 + broken);
    }
    ASSERT_NO_FATAL_FAILURE(open_node());

    EXPECT_FALSE(std::filesystem::exists(data_dir() / "learned"));
    EXPECT_EQ(opened_->recovered().last_cut, log[learned_up_to - 1].number);
    EXPECT_EQ(everything(*opened_).size(), 3 * learned_up_to);
    EXPECT_EQ(stream_of(*opened_, c).size(), learned_up_to);
    EXPECT_EQ(node_->next(ShardId{0}), ShardOffset{cuts + 2}) << "nothing that was synced is lost";
    for (std::uint64_t i = learned_up_to; i != cuts; ++i) {
      auto staged = opened_->stage_cut(sharding::cut_of_node(log[i], keeps_all, {}));
      ASSERT_TRUE(opened_->commit(*staged));
    }
    for (const auto& name : {a, b, c}) EXPECT_EQ(stream_of(*opened_, name).size(), cuts) << name;
    EXPECT_EQ(matching(*opened_, Query().tags({"x"})).size(), 3 * cuts);
    const auto verified = verify(*opened_);
    ASSERT_TRUE(verified);
    EXPECT_THAT(verified->findings, testing::IsEmpty());
  }
}

// Without a row it would be taken for one that this node has from the beginning, should it be kept again.
// A follower that was away is told of the removal before it applies the cut that brings the snapshot.
TEST_F(NodeFaults, TakesNoSnapshotOfAnAggregateThatWasRemovedBehindIt) {
  ASSERT_NO_FATAL_FAILURE(open_node());
  const auto id = *AggregateId::parse(aggregate_in(0));
  const auto commit = [&](const CommitBatch& batch) {
    auto staged = opened_->stage(batch);
    ASSERT_TRUE(opened_->commit(*staged));
  };
  const auto snapshot_at = [&](std::uint64_t version) {
    CommitBatch batch;
    auto& placed = batch.snapshots.emplace_back();
    placed.snapshot.aggregate = id;
    placed.snapshot.version = SeqNr{version};
    placed.snapshot.payload = "state";
    placed.position = GlobalPosition{version};
    return batch;
  };
  RemovalRow removal;
  removal.before = SeqNr{6};
  removal.aggregate = true;
  CommitBatch removed;
  removed.state.push_back({removed_key(id), encode_removal(removal, id)});
  removed.snapshots_to_go.push_back({id, SeqNr{6}, true});
  commit(removed);
  const Reader reader(*opened_);
  commit(snapshot_at(5));
  EXPECT_FALSE(*reader.latest_snapshot(id)) << "it was removed with its events";
  commit(snapshot_at(7));
  EXPECT_TRUE(*reader.latest_snapshot(id)) << "the aggregate goes on";
}

TEST_F(NodeFaults, KnowsThatItHasNothingOfWhatItKeepsNoLongerOnceItHasLearnedMore) {
  ASSERT_NO_FATAL_FAILURE(open_node());
  const auto keeps_first = [](const sharding::Segment& segment) { return segment.shard.value == 0; };
  std::vector<sharding::Cut> log;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(node_->journal({one(aggregate_in(0), "Placed", "", {}), one(aggregate_in(1), "Placed", "", {})}));
    log.push_back(node_->cut({node_->segment(0, i, i + 1), node_->segment(1, i, i + 1)}));
    ASSERT_TRUE(node_->apply(log.back()));
  }
  CommitBatch snapshots;
  for (const std::uint16_t shard : {0, 1}) {
    auto& placed = snapshots.snapshots.emplace_back();
    placed.snapshot.aggregate = *AggregateId::parse(aggregate_in(shard));
    placed.snapshot.version = SeqNr{1};
    placed.snapshot.payload = "state";
    placed.position = GlobalPosition{shard + 1u};
  }
  {
    auto staged = opened_->stage(snapshots);
    ASSERT_TRUE(opened_->commit(*staged));
  }
  {
    auto learned = LearnedShards::open(options());
    ASSERT_TRUE(learned) << learned.error().what;
    ASSERT_TRUE((*learned)->begin_order());
    for (const auto& cut : log) ASSERT_TRUE((*learned)->add(sharding::cut_of_node(cut, keeps_first, {})));
    LearnedOrder order;
    order.last_cut = log.back().number;
    order.watermark = log.back().last_position();
    order.coordinator = Epoch{1};
    order.shards = {{ShardId{0}, ShardOffset{4}, Epoch{1}, false, {}, {}}};
    ASSERT_TRUE((*learned)->finish(order));
  }
  close_node();
  ASSERT_NO_FATAL_FAILURE(open_node());

  const auto covered = covered_rows(opened_->rows(), NodeWriter::shards);
  ASSERT_TRUE(covered) << covered.error().what;
  EXPECT_FALSE(covered->at(ShardId{0}).damaged);
  ASSERT_TRUE(covered->contains(ShardId{1}));
  EXPECT_TRUE(covered->at(ShardId{1}).damaged);
  EXPECT_FALSE(covered->contains(ShardId{2})) << "it never was here";
  const Reader reader(*opened_);
  EXPECT_TRUE(*reader.latest_snapshot(*AggregateId::parse(aggregate_in(0))));
  EXPECT_FALSE(*reader.latest_snapshot(*AggregateId::parse(aggregate_in(1)))) << "it goes with its events";

  // A shard's writer sends snapshots before all events are there: the shard moved away from an emptied node meanwhile.
  {
    snapshots.snapshots.erase(snapshots.snapshots.begin());
    auto staged = opened_->stage(snapshots);
    ASSERT_TRUE(opened_->commit(*staged));
  }
  const auto report = verify(*opened_);
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->errors, 0u) << report->findings.front();
  EXPECT_EQ(report->snapshots, 2u);
}

TEST_F(NodeFaults, TakesNothingInThatIsDamaged) {
  ASSERT_NO_FATAL_FAILURE(open_node());
  ASSERT_TRUE(node_->journal({one(aggregate_in(0), "Placed", "1")}));
  ASSERT_TRUE(node_->apply(node_->cut({node_->segment(0, 1, 2)})));
  close_node();
  auto learned = LearnedShards::open(options());
  ASSERT_TRUE(learned);
  ShippedRows rows;
  rows.shard = ShardId{3};
  rows.end = rows.settled = ShardOffset{2};
  rows.records = {{ShardOffset{1}, "no record"}};
  const auto refused = (*learned)->add(rows);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  ASSERT_TRUE((*learned)->finish({}));
  std::filesystem::resize_file(data_dir() / "learned" / "WHOLE", 5);
  auto opening = options();
  opening.shards = NodeWriter::shards;
  opening.member = NodeWriter::member();
  const auto opened = open_node_store(opening);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corruption);
  EXPECT_THAT(opened.error().what, testing::HasSubstr("WHOLE"));
  std::filesystem::remove_all(data_dir() / "learned");
  ASSERT_NO_FATAL_FAILURE(open_node());
  EXPECT_EQ(everything(*opened_).size(), 1u);
}

// What indexes know of a damaged record is all that tells readers of it: they are not made anew without it.
TEST_F(NodeFaults, TakesNothingOffWhereARecordThatStaysIsDamaged) {
  const auto a = aggregate_in(0), b = aggregate_in(1);
  ASSERT_NO_FATAL_FAILURE(open_node());
  for (std::uint64_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(
        node_->journal({one(a, "Placed", std::to_string(i), {"x"}), one(b, "Placed", std::to_string(i), {"x"})}));
    ASSERT_TRUE(node_->apply(node_->cut({node_->segment(0, i, i + 1), node_->segment(1, i, i + 1)})));
  }
  ASSERT_TRUE(opened_->seal());
  ASSERT_TRUE(node_->apply(node_->losing(0, 6, 11, 2)));
  ASSERT_TRUE(node_->journal({one(b, "Placed", "11", {"x"})}));  // syncs it
  const auto put_record = [&](std::uint16_t shard, std::uint64_t offset, const std::string& bytes) {
    const auto key = keys::journal(ShardId{shard}, ShardOffset{offset});
    RawDatabase raw(database());
    auto before = raw.get("journal", key);
    raw.put("journal", key, bytes);
    return before;
  };
  const auto opens = [&] {
    close_node();
    auto options = this->options();
    options.shards = NodeWriter::shards;
    options.member = NodeWriter::member();
    options.env = disk_.env();
    options.log_zeros_max = 64u << 10;
    return open_node_store(options);
  };
  close_node();
  const auto whole = put_record(1, 4, "no record");

  for (int again = 0; again < 2; ++again) {
    const auto refused = opens();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
    EXPECT_THAT(refused.error().what,
                testing::AllOf(testing::HasSubstr("shard 1"), testing::HasSubstr("nothing was changed"),
                               testing::HasSubstr("Give this node a backup")));
  }
  // Its backup: nothing but what was given up is gone.
  put_record(1, 4, whole);
  // What is given up may be damaged.
  put_record(0, 8, "no record");
  ASSERT_NO_FATAL_FAILURE(open_node());
  EXPECT_EQ(stream_of(*opened_, a).size(), 5u);
  EXPECT_EQ(stream_of(*opened_, b).size(), 10u);
  EXPECT_EQ(matching(*opened_, Query().tags({"x"})).size(), 15u);
  const auto verified = verify(*opened_);
  ASSERT_TRUE(verified);
  EXPECT_THAT(verified->findings, testing::IsEmpty());
}

}  // namespace
}  // namespace evershard::storage
