// What a store promises to a node of a cluster: durable first, placed by cuts afterwards, nothing shown before.

#include <gmock/gmock.h>

#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/order/rebuild_cut_log.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/contract/store_contract.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Opened>
std::optional<Error> error_of(const Result<Opened>& opened) {
  if (opened) return std::nullopt;
  return opened.error();
}

Snapshot snapshot_of(std::string_view aggregate, std::string payload) {
  Snapshot snapshot;
  snapshot.aggregate = AggregateId::parse(aggregate).value();
  snapshot.payload = std::move(payload);
  return snapshot;
}

std::vector<std::uint64_t> positions_of(const std::vector<RecordedEvent>& events) {
  std::vector<std::uint64_t> positions;
  for (const auto& event : events) positions.push_back(event.position.value);
  return positions;
}

class NodeStoreContract : public StoreContract {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(open_node()); }
  void open_node() {
    node_.reset();
    writer_.reset();
    store_.reset();
    auto opened = open_node_store(node_options());
    ASSERT_TRUE(opened) << opened.error().what;
    node_ = std::make_unique<NodeWriter>(**opened);
    store_ = std::move(*opened);
  }
  [[nodiscard]] StoreOptions node_options() const {
    auto node = options();
    node.member = NodeWriter::member();
    return node;
  }
  NodeWriter& node() { return *node_; }
  std::vector<std::uint64_t> positions() {
    std::vector<std::uint64_t> positions;
    for (const auto& event : everything(store())) positions.push_back(event.position.value);
    return positions;
  }

  std::unique_ptr<NodeWriter> node_;
  const std::string a = aggregate_in(0), b = aggregate_in(1), a2 = aggregate_in(0, 1);
};

TEST_P(NodeStoreContract, ShowsNothingOfWhatIsDurableBeforeItHasAPlace) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1", {"x"}), one(b, "Placed", "2")}));

  EXPECT_EQ(store().view().watermark, GlobalPosition{0});
  EXPECT_THAT(everything(store()), IsEmpty());
  EXPECT_THAT(matching(store(), Query().tags({"x"})), IsEmpty());
  EXPECT_THAT(stream_of(store(), a), IsEmpty());
}

TEST_P(NodeStoreContract, GivesPlacesByACutAndLeavesOutOtherNodesPositions) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1", {"x"}), one(a, "Paid", "2"), one(b, "Placed", "3", {"x"})}));

  ASSERT_TRUE(node().apply(node().cut({node().segment(2, 1, 4), node().segment(0, 1, 3), node().segment(3, 1, 2),
                                       node().segment(1, 1, 2), node().segment(2, 4, 6)})));

  EXPECT_EQ(store().view().watermark, GlobalPosition{9});
  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("1", "2", "3"));
  EXPECT_THAT(positions(), ElementsAre(4, 5, 7));
  EXPECT_THAT(payloads_of(matching(store(), Query().tags({"x"}))), ElementsAre("1", "3"));
  EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1", "2"));
  EXPECT_EQ(Reader(store()).head(store().view(), AggregateId::parse(a).value())->last_position, GlobalPosition{5});
}

TEST_P(NodeStoreContract, ScansItsEventsBothWaysWithLimitsAndBounds) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1"), one(a, "Placed", "2"), one(b, "Placed", "3")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(2, 1, 4), node().segment(0, 1, 3), node().segment(3, 1, 2),
                                       node().segment(1, 1, 2), node().segment(2, 4, 6)})));

  const auto read = [&](ReadOptions options) {
    return payloads_of(all_of(Reader(store()).open(store().view(), Query::all(), options)));
  };

  EXPECT_THAT(read({.direction = Direction::backwards}), ElementsAre("3", "2", "1"));
  EXPECT_THAT(read({.limit = 2}), ElementsAre("1", "2"));
  EXPECT_THAT(read({.limit = 2, .direction = Direction::backwards}), ElementsAre("3", "2"));
  EXPECT_THAT(read({.after = GlobalPosition{4}}), ElementsAre("2", "3"));
  EXPECT_THAT(read({.up_to = GlobalPosition{6}}), ElementsAre("1", "2"));
  EXPECT_THAT(read({.after = GlobalPosition{7}}), IsEmpty());
  EXPECT_THAT(read({.up_to = GlobalPosition{3}}), IsEmpty());
  EXPECT_THAT(read({.limit = 0}), IsEmpty());
  const auto first =
      Reader(store()).first_match(store().view(), Query::all(), GlobalPosition{0}, store().view().watermark);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->position, GlobalPosition{4});
  const auto none =
      Reader(store()).first_match(store().view(), Query::all(), GlobalPosition{7}, store().view().watermark);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_EQ(Reader(store()).event_at(store().view(), GlobalPosition{1}).error().code, ErrorCode::wrong_shard);
}

TEST_P(NodeStoreContract, NeverShowsWhatACutRefuses) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1", {"x"})}));
  auto refused = one(a, "Paid", "refused", {"x"});
  refused.snapshots.push_back(snapshot_of(a, "never"));
  ASSERT_TRUE(node().journal({std::move(refused)}, true));
  node().forget(AggregateId::parse(a).value());
  node().version_of(AggregateId::parse(a).value()) = SeqNr{1};
  ASSERT_TRUE(node().journal({one(a, "Shipped", "2", {"x"})}));

  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 4, {ShardOffset{2}})})));

  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("1", "2"));
  EXPECT_THAT(positions(), ElementsAre(1, 2));
  EXPECT_THAT(payloads_of(matching(store(), Query().tags({"x"}))), ElementsAre("1", "2"));
  EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1", "2"));
  const auto snapshot = Reader(store()).latest_snapshot(AggregateId::parse(a).value());
  ASSERT_TRUE(snapshot);
  EXPECT_FALSE(*snapshot);
}

TEST_P(NodeStoreContract, WritesASnapshotWhereItsEventHasItsPlace) {
  auto append = one(a, "Placed", "1");
  append.event(a, "Paid", "2");
  append.snapshots.push_back(snapshot_of(a, "state"));
  append.snapshots.back().keep = 2;
  ASSERT_TRUE(node().journal({std::move(append)}));
  EXPECT_FALSE(*Reader(store()).latest_snapshot(AggregateId::parse(a).value()));

  ASSERT_TRUE(node().apply(node().cut({node().segment(3, 1, 11), node().segment(0, 1, 3)})));

  const auto snapshot = Reader(store()).latest_snapshot(AggregateId::parse(a).value());
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->payload, "state");
  EXPECT_EQ((*snapshot)->version, SeqNr{2});
  EXPECT_EQ((*snapshot)->position, GlobalPosition{12});
  EXPECT_EQ(Reader(store()).snapshots(AggregateId::parse(a).value(), Timestamp::now())->size(), 2u);
}

// An append whose events lie on shards in turn: its part in one shard is covered by several segments of one cut.
TEST_P(NodeStoreContract, PlacesAPartThatStandsInTurnWithOthers) {
  auto append = one(a, "Moved", "1");
  append.event(a, "Moved", "3");
  append.snapshots.push_back(snapshot_of(a, "state"));
  ASSERT_TRUE(node().journal({std::move(append)}, true));

  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 2), node().segment(2, 1, 2), node().segment(0, 2, 3)})));

  EXPECT_THAT(positions(), ElementsAre(1, 3));
  const auto snapshot = Reader(store()).latest_snapshot(AggregateId::parse(a).value());
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->version, SeqNr{2});
  EXPECT_EQ((*snapshot)->position, GlobalPosition{3});
}

TEST_P(NodeStoreContract, AppliesCutsThatNameNoneOfItsShards) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(2, 1, 5)})));
  ASSERT_TRUE(node().apply(node().cut({})));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 2)})));
  ASSERT_TRUE(node().apply(node().cut({})));

  EXPECT_EQ(store().view().watermark, GlobalPosition{5});
  EXPECT_THAT(positions(), ElementsAre(5));
}

// Of a shard that goes on behind a loss readers are told between which positions that lies: not too few.
TEST_P(NodeStoreContract, RemembersBetweenWhichPositionsALossLies) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1"), one(b, "Placed", "2")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 2), node().segment(1, 1, 2)})));
  ASSERT_TRUE(node().apply(node().cut({node().segment(3, 1, 9)})));
  // Both have more in the order than here; of shard 1 it began before this cut.
  ASSERT_TRUE(node().apply_in_part(node().cut({node().segment(2, 1, 6)}), {ShardId{0}, ShardId{1}}, {ShardId{1}}));
  auto losing = node().cut({});
  for (std::uint16_t s = 0; s != 2; ++s)
    losing.openings.push_back({ShardId{s}, Epoch{2}, 1, ShardOffset{6}, ShardOffset{2}, ShardOffset{6}});
  ASSERT_TRUE(node().apply(losing));

  const auto covered = covered_rows(store().rows(), NodeWriter::shards);
  ASSERT_TRUE(covered) << covered.error().what;
  EXPECT_THAT(covered->at(ShardId{0}).lost,
              ElementsAre(LostRange{ShardOffset{2}, ShardOffset{6}, GlobalPosition{10}, GlobalPosition{15}, Epoch{2}}))
      << "up to the cut nothing was missing";
  EXPECT_THAT(covered->at(ShardId{1}).lost,
              ElementsAre(LostRange{ShardOffset{2}, ShardOffset{6}, GlobalPosition{0}, GlobalPosition{15}, Epoch{2}}))
      << "nobody knows";
}

// The disk is empty, and the cuts with what was lost were folded: their positions are told of with this one.
TEST_P(NodeStoreContract, RemembersALossAmongCutsThatWereFolded) {
  auto losing = node().cut({node().segment(3, 1, 9)});
  losing.number = losing.number + 4;
  losing.openings.push_back({ShardId{0}, Epoch{2}, 1, ShardOffset{6}, ShardOffset{1}, ShardOffset{6}});
  ASSERT_TRUE(node().apply(losing));

  const auto covered = covered_rows(store().rows(), NodeWriter::shards);
  ASSERT_TRUE(covered) << covered.error().what;
  EXPECT_THAT(covered->at(ShardId{0}).lost,
              ElementsAre(LostRange{ShardOffset{1}, ShardOffset{6}, GlobalPosition{0}, GlobalPosition{8}, Epoch{2}}));
}

// The disk has what an operator gave up: its store is to be opened anew, before anybody reads the shard.
TEST_P(NodeStoreContract, SaysThatWhatWasGivenUpIsHere) {
  const auto gone_from = [&] { return covered_rows(store().rows(), NodeWriter::shards)->at(ShardId{0}).gone_from; };
  ASSERT_TRUE(
      node().journal({one(a, "Placed", "1"), one(a, "Placed", "2"), one(a, "Placed", "3"), one(a, "Placed", "waits")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 4)})));

  ASSERT_TRUE(node().apply(node().losing(0, 4, 6, 2)));
  EXPECT_EQ(gone_from(), ShardOffset{0}) << "only what no cut covers";
  ASSERT_TRUE(node().apply(node().losing(0, 2, 6, 3)));
  EXPECT_EQ(gone_from(), ShardOffset{2});
  ASSERT_TRUE(node().apply(node().losing(0, 3, 6, 4)));
  EXPECT_EQ(gone_from(), ShardOffset{2});

  EXPECT_EQ(covered_rows(store().rows(), NodeWriter::shards)->at(ShardId{0}).lost.back().epoch, Epoch{4});
}

TEST_P(NodeStoreContract, SealsWithOtherNodesPositionsInBetween) {
  for (std::uint64_t i = 0; i < 40; ++i) {
    std::vector<Append> appends;
    for (int n = 0; n < 50; ++n) appends.push_back(one(n % 2 ? a : b, "Placed", std::to_string(i * 50 + n), {"x"}));
    ASSERT_TRUE(node().journal(std::move(appends)));
    const auto first = i * 25 + 1;
    ASSERT_TRUE(
        node().apply(node().cut({node().segment(1, first, first + 25), node().segment(2, i * 30 + 1, i * 30 + 31),
                                 node().segment(0, first, first + 25)})));
  }
  ASSERT_TRUE(store().seal());

  EXPECT_GT(store().stats().sealed_runs, 0u);
  EXPECT_EQ(everything(store()).size(), 2'000u);
  EXPECT_EQ(matching(store(), Query().tags({"x"})).size(), 2'000u);
  EXPECT_EQ(stream_of(store(), a).size(), 1'000u);
  EXPECT_EQ(stream_of(store(), b).size(), 1'000u);
  EXPECT_EQ(store().view().watermark, GlobalPosition{40 * 80});
}

TEST_P(NodeStoreContract, IsVerified) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    std::vector<Append> appends;
    for (int n = 0; n < 50; ++n) appends.push_back(one(n % 2 ? a : b, "Placed", std::to_string(i * 50 + n), {"x"}));
    ASSERT_TRUE(node().journal(std::move(appends)));
    const auto first = i * 25 + 1;
    ASSERT_TRUE(
        node().apply(node().cut({node().segment(1, first, first + 25), node().segment(2, i * 30 + 1, i * 30 + 31),
                                 node().segment(0, first, first + 25)})));
    if (i == 20) {
      ASSERT_TRUE(store().seal());
    }
  }
  ASSERT_TRUE(node().journal({one(a, "Paid", "not placed yet")}, true));

  const auto verified = verify(store(), {});

  ASSERT_TRUE(verified) << verified.error().what;
  EXPECT_THAT(verified->findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Stores, NodeStoreContract,
                         ::testing::Values(StoreKind{"memory", false}, StoreKind{"rocks", true}),
                         [](const auto& kind) { return kind.param.name; });

// -- what only a store on disk can promise

class NodeStoreOnDisk : public NodeStoreContract {};

TEST_P(NodeStoreOnDisk, GoesOnWithWhatNoCutCovered) {
  auto conditional = one(b, "Placed", "3", {"x"});
  conditional.events.front().id = EventId::random();
  conditional.snapshots.push_back(snapshot_of(b, "state"));
  auto several = one(a, "Placed", "1");
  several.event(a, "Paid", "2");
  ASSERT_TRUE(node().journal({one(a2, "Placed", "0")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(3, 1, 3), node().segment(0, 1, 2)})));
  ASSERT_TRUE(node().journal({std::move(several)}));
  {
    auto prepared = node().prepare({});
    prepared->appends.push_back(encode_append(std::move(conditional), std::array{true}, NodeWriter::shards,
                                              store().hasher(), Timestamp::now()));
    node().add(*prepared, prepared->appends.back(), ShardId{1}, true,
               sharding::PartOf{EventId{}, {{ShardId{1}, 1}, {ShardId{3}, 2}}});
    prepared->places.back().conditions = {{{.everything = false, .items = {{{1, 2}, {3}}}}, GlobalPosition{17}}};
    ASSERT_TRUE(node().commit(*prepared));
  }

  ASSERT_NO_FATAL_FAILURE(open_node());

  ASSERT_EQ(node().found().size(), 2u);
  const auto& [first, first_place] = node().found()[0];
  EXPECT_EQ(first_place.shard, ShardId{0});
  EXPECT_EQ(first_place.first, ShardOffset{2});
  EXPECT_FALSE(first_place.tentative);
  EXPECT_THAT(first_place.seq_nrs, ElementsAre(SeqNr{1}, SeqNr{2}));
  ASSERT_EQ(first.events.size(), 2u);
  ASSERT_EQ(first.aggregates.size(), 1u);
  EXPECT_EQ(first.aggregates[0].text, a);
  EXPECT_THAT(first.terms_of(first.events[1]),
              ElementsAre(store().hasher().type("Paid"), store().hasher().aggregate(a)));
  EXPECT_EQ(first.request, first.events[0].id);
  EXPECT_NE(first.content_hash, 0u);
  const auto& [second, second_place] = node().found()[1];
  EXPECT_TRUE(second_place.tentative);
  ASSERT_TRUE(second_place.part);
  EXPECT_THAT(second_place.part->runs, ElementsAre(std::pair(ShardId{1}, 1u), std::pair(ShardId{3}, 2u)));
  ASSERT_EQ(second_place.conditions.size(), 1u);
  EXPECT_EQ(second_place.conditions[0].from, GlobalPosition{17});
  EXPECT_THAT(second_place.conditions[0].query.items[0].types, ElementsAre(1, 2));
  EXPECT_THAT(second.terms,
              ElementsAre(store().hasher().type("Placed"), store().hasher().tag("x"), store().hasher().aggregate(b)));

  ASSERT_TRUE(node().apply(node().cut({node().segment(1, 1, 2), node().segment(0, 2, 4)})));
  EXPECT_THAT(payloads_of(everything(store())), ElementsAre("0", "3", "1", "2"));
  EXPECT_THAT(positions(), ElementsAre(3, 4, 5, 6));
  EXPECT_EQ((*Reader(store()).latest_snapshot(AggregateId::parse(b).value()))->position, GlobalPosition{4});
  ASSERT_NO_FATAL_FAILURE(open_node());
  EXPECT_THAT(node().found(), IsEmpty());
  EXPECT_THAT(positions(), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1", "2"));
}

TEST_P(NodeStoreOnDisk, KnowsAfterOpeningWhatWasRefusedAtTheEnd) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1")}));
  ASSERT_TRUE(node().journal({one(a, "Paid", "refused")}, true));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 3, {ShardOffset{2}})})));
  ASSERT_TRUE(node().apply(node().cut({})));

  ASSERT_NO_FATAL_FAILURE(open_node());

  EXPECT_THAT(node().found(), IsEmpty());
  EXPECT_EQ(node().next(ShardId{0}), ShardOffset{3}) << "an offset is never used again";
  EXPECT_EQ(store().recovered().last_cut, CutNumber{2});
  ASSERT_TRUE(node().journal({one(a, "Paid", "2")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 3, 4)})));
  EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1", "2"));
}

TEST_P(NodeStoreOnDisk, IsOpenedByItsNodeOnly) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1")}));
  node_.reset();
  store_.reset();
  const auto refusal = [&](std::optional<ClusterMember> member) {
    auto other = options();
    other.member = std::move(member);
    const auto opened = other.member ? error_of(open_node_store(other)) : error_of(open_store(other));
    return opened.value_or(Error(ErrorCode::io, "opened"));
  };
  auto stranger = NodeWriter::member();
  stranger.store.bytes[0] = 9;
  auto fork = NodeWriter::member();
  fork.fork.bytes[0] = 9;
  auto key = NodeWriter::member();
  key.term_key = 9;

  EXPECT_THAT(refusal(std::nullopt).what, HasSubstr("node 1's part of a cluster's store"));
  EXPECT_THAT(refusal(NodeWriter::member(2)).what, HasSubstr("is node 1's, not node 2's"));
  EXPECT_THAT(refusal(stranger).what, HasSubstr("is of cluster"));
  EXPECT_THAT(refusal(fork).what, HasSubstr("is of fork"));
  EXPECT_THAT(refusal(key).what, HasSubstr("another key"));
  EXPECT_EQ(refusal(std::nullopt).code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(NodeWriter::member()).what, "opened");
}

// Its base alone would stay for nothing, and the difference for ever: nothing that is settled later would be stored.
TEST_P(NodeStoreOnDisk, HasNoStateInTwoRowsOfWhatWasGivenUp) {
  std::string group;
  for (int n = 0; group.empty(); ++n) {
    const auto name = "$group-g" + std::to_string(n);
    const auto shard = sharding::shard_of(sharding::stream_hash(AggregateId::parse(name).value()), NodeWriter::shards);
    if (shard == ShardId{0}) group = name;
  }
  const auto with_state = [&](char last) {
    auto append = one(group, "$GroupChanged", "{}");
    append.snapshots.push_back(snapshot_of(group, std::string(20'000, 's') + last));
    return append;
  };
  ASSERT_NO_FATAL_FAILURE(open_node());
  for (const char state : {'1', '2'}) {
    ASSERT_TRUE(node().journal({with_state(state)}));
    const auto offset = static_cast<std::uint64_t>(state - '0');
    ASSERT_TRUE(node().apply(node().cut({node().segment(0, offset, offset + 1)})));
  }
  const auto id = AggregateId::parse(group).value();
  const auto rows_of_state = [&] {
    const auto base = snapshot_base_key(id), slot = keys::snapshot(id, std::nullopt);
    const std::string_view keys[] = {base, slot};
    const auto found = store().rows().get(Family::state, keys).value();
    return std::pair(found->found(0), found->found(1));
  };
  ASSERT_EQ(rows_of_state(), std::pair(true, true));
  ASSERT_EQ((*Reader(store()).latest_snapshot(id))->version, SeqNr{2});

  ASSERT_TRUE(node().apply(node().losing(0, 2, 3, 2)));
  ASSERT_NO_FATAL_FAILURE(open_node());

  EXPECT_EQ(rows_of_state(), std::pair(false, false));
  EXPECT_FALSE(*Reader(store()).latest_snapshot(id));
}

// A disk that comes back has events, in indexes, snapshots and tails, that readers were told are lost.
TEST_P(NodeStoreOnDisk, HasNothingOfWhatWasGivenUpOnceItIsOpenedAgain) {
  const auto id_of = [](std::uint8_t n) {
    EventId id;
    id.bytes.fill(n);
    return id;
  };
  const auto with = [&](const std::string& aggregate, std::uint8_t n, std::optional<std::string> snapshot = {},
                        std::optional<std::uint32_t> keep = {}) {
    auto append = one(aggregate, "Placed", std::to_string(n), {"x"});
    append.events.front().id = id_of(n);
    if (snapshot) {
      append.snapshots.push_back(snapshot_of(aggregate, *snapshot));
      append.snapshots.back().keep = keep;
    }
    return append;
  };
  const auto id = [](const std::string& text) { return AggregateId::parse(text).value(); };
  for (const bool sealed : {false, true}) {
    SCOPED_TRACE(sealed ? "in runs" : "in the tail");
    node_.reset();
    store_.reset();
    std::filesystem::remove_all(options().data_dir);
    ASSERT_NO_FATAL_FAILURE(open_node());
    ASSERT_TRUE(node().journal({with(a, 1, "a of 1", 2), with(b, 2, "b of 2"), with(a, 3)}));
    ASSERT_TRUE(node().apply(node().cut({node().segment(2, 1, 3), node().segment(0, 1, 2), node().segment(1, 1, 2)})));
    ASSERT_TRUE(node().journal({with(a, 4, "a of 4", 2), with(a2, 5, "a2 of 5"), with(b, 6)}));
    ASSERT_TRUE(node().apply(node().cut({node().segment(0, 2, 5, {ShardOffset{3}}), node().segment(1, 2, 3)})));
    if (sealed) {
      ASSERT_TRUE(store().seal());
    }
    ASSERT_TRUE(node().journal({with(a2, 7), with(b, 8)}));
    ASSERT_TRUE(node().apply(node().cut({node().segment(0, 5, 6), node().segment(1, 3, 4)})));
    ASSERT_TRUE(node().journal({with(a2, 9, "waits")}));
    CommitBatch removed;
    removed.state.push_back({removed_key(id(a)), encode_removal({SeqNr{2}, SeqNr{1}, GlobalPosition{3}}, id(a))});
    removed.state.push_back({removed_key(id(a2)), encode_removal({SeqNr{2}, SeqNr{1}, GlobalPosition{6}}, id(a2))});
    ASSERT_TRUE(store().commit(*store().stage(removed)));
    const auto watermark = store().view().watermark;
    const auto positions_of_b = positions_of(stream_of(store(), b));

    ASSERT_TRUE(node().apply(node().losing(0, 2, 8, 2)));
    ASSERT_NO_FATAL_FAILURE(open_node());

    const Reader reader(store());
    const auto view = store().view();
    EXPECT_EQ(view.watermark, watermark);
    EXPECT_THAT(payloads_of(everything(store())), ElementsAre("1", "2", "6", "8"));
    EXPECT_THAT(payloads_of(matching(store(), Query().tags({"x"}))), ElementsAre("1", "2", "6", "8"));
    EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1"));
    EXPECT_THAT(positions_of(stream_of(store(), b)), positions_of_b) << "other shards lose nothing";
    EXPECT_EQ(reader.head(view, id(a))->version, SeqNr{1});
    EXPECT_EQ(reader.head(view, id(a2))->version, SeqNr{0});
    for (const std::uint8_t gone : {3, 4, 5, 7, 9})
      EXPECT_FALSE(*reader.find_id(view, id_of(gone), ShardId{0})) << int{gone};
    EXPECT_TRUE(*reader.find_id(view, id_of(1), ShardId{0}));
    const auto latest = reader.latest_snapshot(id(a));
    ASSERT_TRUE(latest && *latest);
    EXPECT_EQ((*latest)->payload, "a of 1") << "the copy that was kept is the latest again";
    EXPECT_EQ(reader.snapshots(id(a), Timestamp::now())->size(), 2u);
    EXPECT_FALSE(*reader.latest_snapshot(id(a2)));
    EXPECT_TRUE(*reader.latest_snapshot(id(b)));
    EXPECT_THAT(*reader.aggregates(view, std::nullopt, std::nullopt, 10), testing::SizeIs(2));
    EXPECT_THAT(node().found(), IsEmpty());
    {
      const auto records = store().rows().cursor(Family::journal);
      records->seek(keys::journal(ShardId{0}, ShardOffset{2}));
      EXPECT_TRUE(!records->valid() || keys::decode_journal(records->key())->shard != ShardId{0})
          << "no record begins there";
    }
    EXPECT_TRUE(*removed_of(store().rows(), id(a)));
    EXPECT_FALSE(*removed_of(store().rows(), id(a2))) << "what comes under these numbers is something else";
    EXPECT_EQ(reader.event_at(view, GlobalPosition{5}).error().code, ErrorCode::wrong_shard);
    const auto covered = covered_rows(store().rows(), NodeWriter::shards)->at(ShardId{0});
    EXPECT_EQ(covered.gone_from, ShardOffset{0});
    EXPECT_EQ(covered.lost.size(), 1u);
    const auto verified = verify(store());
    ASSERT_TRUE(verified);
    EXPECT_THAT(verified->findings, IsEmpty());

    // It goes on where the cuts end: under the same ids, versions and aggregates.
    EXPECT_EQ(node().next(ShardId{0}), ShardOffset{8});
    ASSERT_TRUE(node().journal({with(a, 3), with(a2, 5, "a2 again")}));
    ASSERT_TRUE(node().apply(node().cut({node().segment(0, 8, 10)})));
    const auto goes_on = [&] {
      EXPECT_THAT(payloads_of(stream_of(store(), a)), ElementsAre("1", "3"));
      EXPECT_EQ(Reader(store()).head(store().view(), id(a2))->version, SeqNr{1});
      EXPECT_EQ((*Reader(store()).find_id(store().view(), id_of(5), ShardId{0}))->position, watermark + 2);
      EXPECT_EQ((*Reader(store()).latest_snapshot(id(a2)))->payload, "a2 again");
      const auto again = verify(store());
      ASSERT_TRUE(again);
      EXPECT_THAT(again->findings, IsEmpty());
    };
    goes_on();
    ASSERT_TRUE(store().seal());
    goes_on();
    ASSERT_NO_FATAL_FAILURE(open_node());
    goes_on();
  }
}

// The cut that gave it up gives no position, and has no row.
TEST_P(NodeStoreOnDisk, TellsOfALossWhereTheCutLogIsMadeAnew) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1"), one(a, "Placed", "2")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 3)})));
  ASSERT_TRUE(node().apply(node().losing(0, 2, 3, 4)));
  ASSERT_TRUE(node().journal({one(b, "Placed", "syncs it")}));
  for (const bool taken_off : {false, true}) {
    if (taken_off) {
      ASSERT_NO_FATAL_FAILURE(open_node());
    }
    node_.reset();
    store_.reset();

    const auto rebuilt = look_for_cut_log({options().data_dir});
    ASSERT_TRUE(rebuilt) << rebuilt.error().what;
    const auto& shard = rebuilt->order.state.shards[0];
    EXPECT_EQ(shard.written, Epoch{4});
    EXPECT_EQ(shard.next, ShardOffset{3});
    EXPECT_EQ(shard.lost_after(Epoch{3}), ShardOffset{2}) << "an old copy of this disk is known as one";
    EXPECT_EQ(rebuilt->order.unknown_positions, taken_off ? 1u : 0u);
  }
}

TEST_P(NodeStoreOnDisk, GivesACutLogAnewWithTheOtherPartsOfItsCluster) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1"), one(a, "Placed", "2")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 3)})));
  ASSERT_TRUE(node().journal({one(b, "Placed", "not ordered")}));
  node_.reset();
  store_.reset();
  const auto looked_with = [&](const std::string& name, const std::optional<ClusterMember>& member,
                               std::uint32_t shards = 4) {
    auto other = options();
    other.data_dir = folder_.path() / name;
    other.member = member;
    other.shards = shards;
    EXPECT_FALSE(member ? error_of(open_node_store(other)) : error_of(open_store(other))) << name;
    return look_for_cut_log({options().data_dir, other.data_dir});
  };
  const auto refused_with = [&](const std::string& name, const std::optional<ClusterMember>& member,
                                std::uint32_t shards = 4) {
    return error_of(looked_with(name, member, shards)).value_or(Error(ErrorCode::io, "taken"));
  };
  auto stranger = NodeWriter::member(2), fork = stranger, key = stranger;
  stranger.store.bytes[0] = 9;
  fork.fork.bytes[0] = 9;
  key.term_key = 9;

  EXPECT_EQ(look_for_cut_log({}).error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused_with("whole", std::nullopt).what, HasSubstr("is a whole store"));
  EXPECT_THAT(refused_with("stranger", stranger).what, HasSubstr("is of cluster"));
  EXPECT_THAT(refused_with("fork", fork).what, HasSubstr("is of cluster"));
  EXPECT_THAT(refused_with("key", key).what, HasSubstr("is of cluster"));
  EXPECT_THAT(refused_with("shards", NodeWriter::member(2), 8).what, HasSubstr("is of cluster"));
  EXPECT_THAT(refused_with("again", NodeWriter::member()).what, HasSubstr("node 1 is given twice"));

  const auto rebuilt = looked_with("second", NodeWriter::member(2));
  ASSERT_TRUE(rebuilt) << rebuilt.error().what;
  EXPECT_EQ(rebuilt->identity.node, 0u);
  EXPECT_EQ(rebuilt->identity.format, format_of_whole_store);
  const auto& shards = rebuilt->order.state.shards;
  EXPECT_EQ(shards[0].node, 1u);
  EXPECT_EQ(shards[0].next, ShardOffset{3});
  EXPECT_EQ(shards[1].node, 1u) << "what is not ordered yet is here all the same";
  EXPECT_THAT(rebuilt->order.unowned, ElementsAre(ShardId{2}, ShardId{3}));
  EXPECT_THAT(rebuilt->order.behind, ElementsAre(testing::Pair(2u, CutNumber{0})));
  ASSERT_TRUE(write_cut_log(folder_.path() / "order", *rebuilt));
  EXPECT_EQ(write_cut_log(folder_.path() / "order", *rebuilt).error().code, ErrorCode::invalid_argument)
      << "there is one now";
}

TEST_P(NodeStoreOnDisk, IsNotReadAsLongAsItHasWhatWasGivenUp) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 2)})));
  ASSERT_TRUE(node().apply(node().losing(0, 1, 2, 2)));
  node_.reset();
  store_.reset();
  auto looking = options();
  looking.read_only = true;

  const auto refusal = error_of(open_store(looking));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ErrorCode::unavailable);
  EXPECT_THAT(refusal->what, HasSubstr("still has what was given up of shard 0"));

  ASSERT_NO_FATAL_FAILURE(open_node());
  node_.reset();
  store_.reset();
  EXPECT_FALSE(error_of(open_store(looking)));
}

TEST_P(NodeStoreOnDisk, IsReadBackBehindTheMarkWithOtherNodesPositions) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    std::vector<Append> appends;
    for (int n = 0; n < 50; ++n) appends.push_back(one(n % 2 ? a : b, "Placed", std::to_string(i * 50 + n), {"x"}));
    ASSERT_TRUE(node().journal(std::move(appends)));
    const auto first = i * 25 + 1;
    ASSERT_TRUE(
        node().apply(node().cut({node().segment(1, first, first + 25), node().segment(2, i * 30 + 1, i * 30 + 31),
                                 node().segment(0, first, first + 25)})));
  }

  ASSERT_NO_FATAL_FAILURE(open_node());

  EXPECT_EQ(store().view().watermark, GlobalPosition{30 * 80});
  EXPECT_EQ(everything(store()).size(), 1'500u);
  EXPECT_EQ(matching(store(), Query().tags({"x"})).size(), 1'500u);
  EXPECT_EQ(stream_of(store(), a).size(), 750u);
}

INSTANTIATE_TEST_SUITE_P(Stores, NodeStoreOnDisk, ::testing::Values(StoreKind{"rocks", true}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace evershard::storage
