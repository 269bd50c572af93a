// What a store promises of replicas: what its writer's followers are given, and what it does as one of them.

#include <gmock/gmock.h>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/record_rewrite.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/refused_rows.hpp"
#include "evershard/storage/repair/verify.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/contract/store_contract.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using AllRows = std::map<std::string, std::string>;

AllRows rows_of(const Store& store, Family family, std::string_view prefix = {}) {
  AllRows all;
  auto cursor = store.rows().cursor(family, {});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next())
    all.emplace(cursor->key(), cursor->value());
  return all;
}
AllRows journal_of(const Store& store) { return rows_of(store, Family::journal); }
AllRows waiting_of(const Store& store) { return rows_of(store, Family::state, "\6"); }

Snapshot state_of(std::string_view aggregate, std::string payload) {
  Snapshot snapshot;
  snapshot.aggregate = AggregateId::parse(aggregate).value();
  snapshot.payload = std::move(payload);
  return snapshot;
}

/// A follower's store: it takes rows, cuts and openings.
class Follower {
 public:
  explicit Follower(StoreOptions options) : options_(std::move(options)) { open(); }
  void open() {
    store_.reset();
    auto opened = open_node_store(options_);
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
  }
  /// As it would be after a loss of its process, where it is on disk.
  void reopen() {
    if (!options_.data_dir.empty()) open();
  }
  void take(const std::vector<ShippedRows>& made) {
    JournalBatch batch;
    std::vector<ReadRows> read;
    for (const auto& rows : made) {
      auto one = read_rows(rows, store_->hasher());
      ASSERT_TRUE(one) << one.error().what;
      read.push_back(*std::move(one));
    }
    for (const auto& rows : read) batch.shipped.push_back(&rows);
    auto staged = store_->stage_journal(batch);
    const auto done = store_->commit(*staged);
    ASSERT_TRUE(done) << done.error().what;
  }
  void apply(const sharding::Cut& cut) {
    auto staged = store_->stage_cut(sharding::cut_of_node(cut, NodeWriter::own_segment, cut.openings));
    ASSERT_TRUE(store_->commit(*staged));
  }
  void take_off(std::uint16_t shard, std::uint64_t from, std::uint64_t epoch) {
    auto staged = store_->stage_take_off(ShardId{shard}, ShardOffset{from}, Epoch{epoch});
    ASSERT_TRUE(store_->commit(*staged));
  }
  /// All that the writer has of a shard behind `at`, in pieces.
  void catch_up(const NodeStore& writer, std::uint16_t shard, std::uint64_t at, std::size_t bytes_max) {
    for (ShardOffset from{at};;) {
      auto piece = writer.journal_from(ShardId{shard}, from, bytes_max);
      ASSERT_TRUE(piece) << piece.error().what;
      EXPECT_EQ(piece->first, from);
      if (piece->end == from) break;
      from = piece->end;
      ASSERT_NO_FATAL_FAILURE(take({*std::move(piece)}));
    }
  }
  [[nodiscard]] ShardOffset end(std::uint16_t shard) const {
    return journal_ends(store_->rows(), NodeWriter::shards).value()[shard];
  }
  [[nodiscard]] Covered covered(std::uint16_t shard) const {
    return covered_rows(store_->rows(), NodeWriter::shards).value()[ShardId{shard}];
  }
  NodeStore& store() { return *store_; }

 private:
  const StoreOptions options_;
  std::unique_ptr<NodeStore> store_;
};

class ReplicaContract : public StoreContract {
 protected:
  void SetUp() override {
    auto opened = open_node_store(of_node("writer", 1));
    ASSERT_TRUE(opened) << opened.error().what;
    writer_store_ = std::move(*opened);
    node_ = std::make_unique<NodeWriter>(*writer_store_);
    follower_ = std::make_unique<Follower>(of_node("follower", 2));
  }
  [[nodiscard]] StoreOptions of_node(const std::string& name, std::uint32_t number) const {
    auto node = options();
    node.record_bytes = 400;
    if (durable()) node.data_dir = folder_.path() / name;
    node.member = NodeWriter::member(number);
    return node;
  }
  NodeStore& written() { return *writer_store_; }
  NodeWriter& node() { return *node_; }
  Follower& follower() { return *follower_; }

  std::vector<ShippedRows> journal(const PreparedJournal& prepared) {
    std::vector<ShippedRows> made;
    auto staged = written().stage_journal(prepared.batch, &made);
    EXPECT_TRUE(written().commit(*staged));
    return made;
  }
  std::vector<ShippedRows> journal(std::vector<Append> appends, bool tentative = false) {
    return journal(*node().prepare(std::move(appends), tentative));
  }
  Append large(const std::string& aggregate, int events, const std::string& payload) {
    auto append = one(aggregate, "Grown", payload + "0", {"x"});
    for (int i = 1; i < events; ++i) append.event(aggregate, "Grown", payload + std::to_string(i), {"x"});
    return append;
  }
  /// A bit of everything: of shard 0 offsets 1 to 28, of shard 1 offset 1 to 3. Returns what was made of it.
  std::vector<std::vector<ShippedRows>> write_everything() {
    std::vector<std::vector<ShippedRows>> made;
    made.push_back(journal({one(a, "Placed", "1", {"x"}), one(b, "Placed", "2"), one(a2, "Placed", "3")}));  // 0: 1, 2
    auto with_state = large(a, 20, "a-payload-of-some-length-");
    with_state.snapshots.push_back(state_of(a, "state"));
    made.push_back(journal({std::move(with_state), one(b, "Placed", "4", {"x"})}));  // 0: 3 to 22
    auto refused = one(a2, "Paid", "refused", {"x"});
    refused.snapshots.push_back(state_of(a2, "never"));
    made.push_back(journal({std::move(refused)}, true));  // 0: 23
    node().forget(AggregateId::parse(a2).value());
    node().version_of(AggregateId::parse(a2).value()) = SeqNr{1};
    auto prepared = node().prepare({});
    auto crossing = one(a2, "Paid", "5", {"x"});
    crossing.event(b, "Paid", "6");
    crossing.event(a2, "Paid", "7");
    prepared->appends.push_back(encode_append(with_ids(std::move(crossing)), std::array{true, true, true},
                                              NodeWriter::shards, written().hasher(), Timestamp::now()));
    const sharding::PartOf part{prepared->appends.back().events[0].id,
                                {{ShardId{0}, 1}, {ShardId{1}, 1}, {ShardId{0}, 1}}};
    node().add(*prepared, prepared->appends.back(), ShardId{0}, true, part);  // 0: 24, 25
    node().add(*prepared, prepared->appends.back(), ShardId{1}, true, part);  // 1: 3
    made.push_back(journal(*prepared));
    auto commanded = large(a, 3, "c");
    commanded.command = CommandRecord{AggregateId::parse(a).value(), "command-1", "reply"};
    made.push_back(journal({std::move(commanded)}));  // 0: 26 to 28
    return made;
  }
  static Append with_ids(Append append) {
    for (auto& event : append.events) event.id = EventId::random();
    return append;
  }
  std::vector<sharding::Cut> cuts() {
    return {
        node().cut({node().segment(2, 1, 4), node().segment(0, 1, 3), node().segment(1, 1, 2)}),
        node().cut({node().segment(0, 3, 23), node().segment(1, 2, 3)}),
        node().cut({node().segment(0, 23, 25, {ShardOffset{23}}), node().segment(1, 3, 4), node().segment(0, 25, 26)}),
        node().cut({node().segment(0, 26, 29)})};
  }
  void apply(const sharding::Cut& cut) {
    ASSERT_TRUE(node().apply(cut));
    ASSERT_NO_FATAL_FAILURE(follower().apply(cut));
  }
  void expect_same() {
    auto& ours = written();
    auto& theirs = follower().store();
    EXPECT_EQ(theirs.view().watermark, ours.view().watermark);
    EXPECT_EQ(everything(theirs), everything(ours));
    EXPECT_EQ(matching(theirs, Query().tags({"x"})), matching(ours, Query().tags({"x"})));
    for (const auto& aggregate : {a, a2, b}) {
      EXPECT_EQ(stream_of(theirs, aggregate), stream_of(ours, aggregate));
      const auto id = AggregateId::parse(aggregate).value();
      EXPECT_EQ(Reader(theirs).head(theirs.view(), id)->version, Reader(ours).head(ours.view(), id)->version);
    }
    EXPECT_EQ(journal_of(theirs), journal_of(ours));
    EXPECT_EQ(waiting_of(theirs), waiting_of(ours));
    const auto verified = verify(theirs, {});
    ASSERT_TRUE(verified) << verified.error().what;
    EXPECT_THAT(verified->findings, IsEmpty());
  }
  void expect_snapshots() {
    for (Store* store : std::initializer_list<Store*>{&written(), &follower().store()}) {
      const auto snapshot = Reader(*store).latest_snapshot(AggregateId::parse(a).value());
      ASSERT_TRUE(snapshot && *snapshot);
      EXPECT_EQ((*snapshot)->payload, "state");
      EXPECT_EQ((*snapshot)->version, SeqNr{21});
      EXPECT_FALSE(*Reader(*store).latest_snapshot(AggregateId::parse(a2).value()));
    }
  }

  std::unique_ptr<NodeStore> writer_store_;
  std::unique_ptr<NodeWriter> node_;
  std::unique_ptr<Follower> follower_;
  const std::string a = aggregate_in(0), b = aggregate_in(1), a2 = aggregate_in(0, 1);
};

TEST_P(ReplicaContract, FollowsWhatWasMade) {
  for (const auto& made : write_everything()) {
    ASSERT_NO_FATAL_FAILURE(follower().take(made));
    ASSERT_NO_FATAL_FAILURE(follower().reopen());
  }
  EXPECT_EQ(journal_of(follower().store()), journal_of(written()));
  EXPECT_EQ(waiting_of(follower().store()), waiting_of(written()));
  EXPECT_THAT(everything(follower().store()), IsEmpty()) << "no cut covers it";
  for (const auto& cut : cuts()) {
    ASSERT_NO_FATAL_FAILURE(apply(cut));
    ASSERT_NO_FATAL_FAILURE(expect_same());
    ASSERT_NO_FATAL_FAILURE(follower().reopen());
    ASSERT_NO_FATAL_FAILURE(expect_same());
  }
  ASSERT_NO_FATAL_FAILURE(expect_snapshots());
}

TEST_P(ReplicaContract, MakesEachShardOnceAscending) {
  const auto made = journal({one(b, "Placed", "1"), one(a, "Placed", "2"), one(b, "Placed", "3")}, true);

  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].shard, ShardId{0});
  EXPECT_EQ(made[1].shard, ShardId{1});
  EXPECT_EQ(made[1].end, ShardOffset{3});
  EXPECT_EQ(made[1].settled, ShardOffset{1});
  EXPECT_EQ(made[1].waiting.size(), 2u);
}

// What is given to another replica goes by these rows: each says how far all shards are covered with it.
TEST_P(ReplicaContract, TheOrderSaysWhatBecameOfEveryOffset) {
  const auto refused = [&](std::uint64_t offset) {
    return node().cut({node().segment(0, offset, offset + 1, {ShardOffset{offset}})});
  };
  const auto made = journal({one(a, "Placed", "1"), one(a, "Placed", "2"), one(a, "Placed", "3"), one(a, "Placed", "4"),
                             one(b, "Placed", "5"), one(b, "Placed", "6")},
                            true);
  ASSERT_NO_FATAL_FAILURE(follower().take(made));
  const auto placed = [&](std::uint64_t offset) { return node().cut({node().segment(1, offset, offset + 1)}); };
  const auto cuts = {refused(1), refused(2), placed(1), refused(3), placed(2), refused(4)};
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> rows;
  for (const auto& cut : cuts) {
    ASSERT_NO_FATAL_FAILURE(follower().apply(cut));
    ASSERT_NO_FATAL_FAILURE(follower().reopen());
  }
  for (const auto& [key, bytes] : rows_of(follower().store(), Family::order)) {
    const auto row = sharding::decode_cut(bytes, sharding::CutOf::node);
    ASSERT_TRUE(row);
    rows.emplace_back();
    for (const auto& segment : row->segments) rows.back().emplace_back(segment.shard.value, segment.end.value);
  }
  using Row = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_THAT(rows, ElementsAre(Row{{0, 2}, {0, 3}, {1, 2}}, Row{{0, 4}, {1, 3}}));
  const auto covered = covered_rows(follower().store().rows(), NodeWriter::shards);
  const auto left = refused_rows(follower().store().rows(), *covered);
  ASSERT_TRUE(left);
  EXPECT_THAT(left->segments, ElementsAre(node().segment(0, 4, 5, {ShardOffset{4}}))) << "for the next row";
}

TEST_P(ReplicaContract, CatchesUpInPiecesOfAnySizeWhereverCutsAre) {
  write_everything();
  const auto all = cuts();
  std::size_t applied = 0;
  for (std::size_t known = 0; known <= all.size(); ++known) {
    for (; applied < known; ++applied) ASSERT_TRUE(node().apply(all[applied]));
    // Opening a store on disk takes its time: there, the smallest pieces.
    const auto sizes = durable() ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 500, 1'000, 1u << 20};
    for (const std::size_t bytes_max : sizes) {
      SCOPED_TRACE(std::to_string(known) + " cuts, " + std::to_string(bytes_max) + " bytes");
      follower_.reset();
      if (durable()) std::filesystem::remove_all(folder_.path() / "follower");
      follower_ = std::make_unique<Follower>(of_node("follower", 2));
      for (std::uint16_t shard = 0; shard != 2; ++shard)
        ASSERT_NO_FATAL_FAILURE(follower().catch_up(written(), shard, 1, bytes_max));
      EXPECT_EQ(journal_of(follower().store()), journal_of(written()));
      EXPECT_EQ(waiting_of(follower().store()), waiting_of(written()));
      ASSERT_NO_FATAL_FAILURE(follower().reopen());
      for (std::size_t i = 0; i != known; ++i) {
        ASSERT_NO_FATAL_FAILURE(follower().apply(all[i]));
        if (i == 0) {
          ASSERT_NO_FATAL_FAILURE(follower().reopen());
        }
      }
      EXPECT_EQ(follower().covered(0).settled, ShardOffset{0}) << "cuts have passed it";
      ASSERT_NO_FATAL_FAILURE(expect_same());
    }
  }
}

TEST_P(ReplicaContract, CatchesUpFromWithinARecordAndWithRemovedEvents) {
  const auto made = write_everything();
  for (const auto& cut : cuts()) ASSERT_TRUE(node().apply(cut));
  // Of the writer's a record has stubs now.
  const auto key = keys::journal(ShardId{0}, ShardOffset{1});
  auto stubs = with_stubs(journal_of(written()).at(key), ShardId{0}, ShardOffset{1}, {{1, EventState::removed}});
  ASSERT_TRUE(stubs);
  CommitBatch batch;
  batch.rewrites.push_back({ShardId{0}, ShardOffset{1}, *std::move(stubs), 0});
  auto staged = written().stage(batch);
  ASSERT_TRUE(written().commit(*staged));

  for (std::uint64_t from = 1; from != 30; ++from) {
    const auto range = written().journal_from(ShardId{0}, ShardOffset{from}, 1u << 20);
    ASSERT_TRUE(range) << range.error().what;
    EXPECT_EQ(range->first, ShardOffset{from});
    EXPECT_EQ(range->end, ShardOffset{29});
    EXPECT_EQ(range->settled, ShardOffset{29});
    const auto read = read_rows(*range, written().hasher());
    ASSERT_TRUE(read) << from << ": " << read.error().what;
    EXPECT_EQ(read->locations.size(), 29 - from);
    EXPECT_EQ(read->appends.size(), 29 - from) << "each of its own";
  }
  const auto behind = written().journal_from(ShardId{0}, ShardOffset{30}, 1);
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind->end, ShardOffset{30});
  EXPECT_TRUE(behind->records.empty());
  // A follower that has the first event goes on within the record.
  auto first = made[0][0];
  first.records[0].bytes = first_events(first.records[0].bytes, ShardId{0}, ShardOffset{1}, 1).value();
  first.end = ShardOffset{2};
  ASSERT_NO_FATAL_FAILURE(follower().take({first, made[0][1]}));
  ASSERT_NO_FATAL_FAILURE(follower().catch_up(written(), 0, 2, 1));
  ASSERT_NO_FATAL_FAILURE(follower().catch_up(written(), 1, 2, 1));
  EXPECT_EQ(follower().end(0), ShardOffset{29});
}

TEST_P(ReplicaContract, ReadsNothingOfWhatWasLost) {
  ASSERT_TRUE(node().journal({one(a, "Placed", "1"), one(a, "Placed", "2"), one(a, "Placed", "3")}));
  ASSERT_TRUE(node().apply(node().cut({node().segment(0, 1, 3)})));
  ASSERT_TRUE(node().apply(node().losing(0, 3, 6, 2)));

  const auto before = written().journal_from(ShardId{0}, ShardOffset{1}, 1u << 20);
  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(before->end, ShardOffset{3}) << "its record has one more, which was given up";
  for (std::uint64_t from = 3; from != 7; ++from)
    EXPECT_EQ(written().journal_from(ShardId{0}, ShardOffset{from}, 1)->end, ShardOffset{from});
}

TEST_P(ReplicaContract, TakesOffAtAnyOffsetBehindTheCutsAndGoesOn) {
  const auto made = write_everything();
  const auto all = cuts();
  for (std::uint64_t from = 3; from != 31; ++from) {
    SCOPED_TRACE(from);
    // Cuts cover whole appends: nobody goes on within one.
    const bool within_an_append = (from > 3 && from < 23) || from == 25 || from == 27 || from == 28;
    if (durable() && within_an_append) continue;
    follower_.reset();
    if (durable()) std::filesystem::remove_all(folder_.path() / "follower");
    follower_ = std::make_unique<Follower>(of_node("follower", 2));
    for (const auto& rows : made) ASSERT_NO_FATAL_FAILURE(follower().take(rows));
    ASSERT_NO_FATAL_FAILURE(follower().apply(all[0]));

    ASSERT_NO_FATAL_FAILURE(follower().take_off(0, from, 3));

    EXPECT_EQ(follower().end(0), std::min(ShardOffset{from}, ShardOffset{29}));
    EXPECT_EQ(follower().end(1), ShardOffset{4}) << "another shard";
    EXPECT_EQ(follower().covered(0).followed, Epoch{3});
    for (const auto& [key, value] : waiting_of(follower().store()))
      if (keys::decode_state(key)->shard == ShardId{0}) {
        EXPECT_LT(keys::decode_state(key)->offset, ShardOffset{from});
      }
    if (within_an_append) continue;
    ASSERT_NO_FATAL_FAILURE(follower().reopen());
    ASSERT_NO_FATAL_FAILURE(follower().catch_up(written(), 0, std::min<std::uint64_t>(from, 29), 1u << 20));
    for (std::size_t i = 1; i != all.size(); ++i) ASSERT_NO_FATAL_FAILURE(follower().apply(all[i]));
    EXPECT_EQ(follower().covered(0).followed, Epoch{3}) << "cuts keep it";
    ASSERT_NO_FATAL_FAILURE(follower().reopen());
    EXPECT_EQ(payloads_of(everything(follower().store())).size(), 30u);
    const auto verified = verify(follower().store(), {});
    ASSERT_TRUE(verified) << verified.error().what;
    EXPECT_THAT(verified->findings, IsEmpty());
  }
}

TEST_P(ReplicaContract, TakesOffWhatIsStagedAndNotWrittenYet) {
  const auto made = journal({one(a, "Placed", "1"), one(a, "Placed", "2"), one(a, "Placed", "3")}, true);
  const auto read = read_rows(made[0], written().hasher());
  ASSERT_TRUE(read) << read.error().what;
  auto& store = follower().store();
  JournalBatch batch{{}, {&*read}};

  auto first = store.stage_journal(batch);
  auto second = store.stage_take_off(ShardId{0}, ShardOffset{2}, Epoch{2});
  ASSERT_TRUE(store.commit(*first));
  ASSERT_TRUE(store.commit(*second));

  EXPECT_EQ(follower().end(0), ShardOffset{2});
  EXPECT_EQ(waiting_of(store).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplicaContract,
                         ::testing::Values(StoreKind{"memory", false}, StoreKind{"rocks", true}),
                         [](const auto& kind) { return kind.param.name; });

class ReplicaOnDisk : public ReplicaContract {};

TEST_P(ReplicaOnDisk, KilledBetweenStageAndCommitLosesNothing) {
  const auto made = write_everything();
  ASSERT_NO_FATAL_FAILURE(follower().take(made[0]));
  ASSERT_NO_FATAL_FAILURE(follower().take(made[1]));
  const auto before = journal_of(follower().store());
  {
    const auto read = read_rows(made[2][0], written().hasher());
    ASSERT_TRUE(read);
    JournalBatch batch{{}, {&*read}};
    auto staged = follower().store().stage_journal(batch);
    auto off = follower().store().stage_take_off(ShardId{0}, ShardOffset{3}, Epoch{2});
  }
  ASSERT_NO_FATAL_FAILURE(follower().reopen());
  EXPECT_EQ(journal_of(follower().store()), before);
  EXPECT_EQ(follower().end(0), ShardOffset{23});
  EXPECT_EQ(follower().covered(0).followed, Epoch{0});
  for (std::size_t i = 2; i != made.size(); ++i) ASSERT_NO_FATAL_FAILURE(follower().take(made[i]));
  for (const auto& cut : cuts()) ASSERT_NO_FATAL_FAILURE(apply(cut));
  ASSERT_NO_FATAL_FAILURE(expect_same());
  ASSERT_NO_FATAL_FAILURE(expect_snapshots());
}

INSTANTIATE_TEST_SUITE_P(Stores, ReplicaOnDisk, ::testing::Values(StoreKind{"rocks", true}),
                         [](const auto& kind) { return kind.param.name; });

// -- what comes from the network

class ShippedRowsRead : public ReplicaContract {
 protected:
  void expect_refused(const ShippedRows& rows, const std::string& what) {
    const auto read = read_rows(rows, written().hasher());
    ASSERT_FALSE(read) << what;
    EXPECT_EQ(read.error().code, ErrorCode::corruption) << what;
  }
};

TEST_P(ShippedRowsRead, OfAnyBitFlippedOrCutShortAreRefused) {
  for (const auto& made : write_everything()) {
    for (const auto& rows : made) {
      for (const auto part : {&ShippedRows::records, &ShippedRows::waiting}) {
        for (std::size_t row = 0; row != (rows.*part).size(); ++row) {
          auto damaged = rows;
          auto& bytes = (damaged.*part)[row].bytes;
          const auto whole = bytes;
          for (std::size_t bit = 0; bit != whole.size() * 8; ++bit) {
            bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
            ASSERT_NO_FATAL_FAILURE(expect_refused(damaged, "bit " + std::to_string(bit)));
            bytes = whole;
          }
          for (std::size_t size = 0; size != whole.size(); ++size) {
            bytes = whole.substr(0, size);
            ASSERT_NO_FATAL_FAILURE(expect_refused(damaged, "size " + std::to_string(size)));
          }
        }
      }
    }
  }
}

TEST_P(ShippedRowsRead, OfAnotherShapeAreRefused) {
  const auto made = write_everything();
  const auto good = made[1][0];  // a large append in several records, with a row that waits
  ASSERT_TRUE(read_rows(good, written().hasher()));
  ASSERT_GT(good.records.size(), 2u);
  const auto changed = [&](const std::string& what, const std::function<void(ShippedRows&)>& change) {
    auto rows = good;
    change(rows);
    expect_refused(rows, what);
  };
  changed("another shard", [](auto& rows) { rows.shard = ShardId{1}; });
  changed("begins at 0", [](auto& rows) { rows.first = rows.settled = ShardOffset{0}; });
  changed("begins before its records", [](auto& rows) { rows.first = rows.settled = rows.first - 1; });
  changed("ends behind its records", [](auto& rows) { rows.end = rows.end + 1; });
  changed("ends before its records", [](auto& rows) { rows.end = rows.end - 1; });
  changed("ends far away", [](auto& rows) { rows.end = ShardOffset{~std::uint64_t{0}}; });
  changed("settled before it begins", [](auto& rows) { rows.settled = rows.first - 1; });
  changed("settled behind its end", [](auto& rows) { rows.settled = rows.end + 1; });
  changed("settled, with a row that waits", [](auto& rows) { rows.settled = rows.end; });
  changed("settled within", [](auto& rows) { rows.settled = rows.first + 1; });
  changed("a record is missing", [](auto& rows) { rows.records.erase(rows.records.begin() + 1); });
  changed("a record twice", [](auto& rows) { rows.records.insert(rows.records.begin(), rows.records.front()); });
  changed("records in another sequence", [](auto& rows) { std::swap(rows.records[0], rows.records[1]); });
  changed("a row twice", [](auto& rows) { rows.waiting.push_back(rows.waiting.front()); });
  changed("a row within an append", [](auto& rows) { rows.waiting.front().first = rows.first + 1; });
  changed("a row behind", [](auto& rows) { rows.waiting.front().first = rows.end; });
  changed("not whole", [](auto& rows) {
    rows.end = rows.records.back().first;
    rows.records.pop_back();
  });
  changed("not whole, and nobody waits", [](auto& rows) {
    rows.end = rows.records.back().first;
    rows.records.pop_back();
    rows.waiting.clear();
  });
  auto part = made[3][0];
  part.waiting.clear();
  expect_refused(part, "a part without its row");
  auto empty = good;
  empty.records.clear();
  empty.waiting.clear();
  empty.end = empty.settled = empty.first;
  EXPECT_TRUE(read_rows(empty, written().hasher())) << "of nothing";
}

INSTANTIATE_TEST_SUITE_P(Stores, ShippedRowsRead, ::testing::Values(StoreKind{"memory", false}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace evershard::storage
