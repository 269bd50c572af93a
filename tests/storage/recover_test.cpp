#include "evershard/storage/repair/recover.hpp"

#include <map>

#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/steps.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Every file below, with its bytes; but for the lock and who holds it.
std::map<std::string, std::string> bytes_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "LOCK" || entry.path().filename() == "OWNER") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[std::filesystem::relative(entry.path(), folder).string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

class Recover : public MaintainedStore {
 protected:
  RecoveryPlan planned(const RecoverOptions& how = {}) {
    auto plan = plan_recovery(options(), how);
    EXPECT_TRUE(plan) << plan.error().what;
    return plan.value_or(RecoveryPlan{});
  }
  RecoveryPlan recovered(const RecoverOptions& how = {}) {
    auto plan = recover(options(), how);
    EXPECT_TRUE(plan) << plan.error().what;
    return plan.value_or(RecoveryPlan{});
  }
  ErrorCode refusal_of_opening() {
    auto opened = open_store(options());
    return opened ? ErrorCode{} : opened.error().code;
  }
  /// Payloads begin with the number of their commit.
  void expect_first(std::size_t events) {
    auto payloads = payloads_of(everything(store()));
    ASSERT_EQ(payloads.size(), events);
    for (std::size_t i = 0; i < events; ++i) EXPECT_THAT(payloads[i], ::testing::StartsWith(std::to_string(i) + ":"));
  }
  /// Opens, verifies, takes a commit and opens again.
  void expect_sound(std::size_t events) {
    open();
    expect_first(events);
    EXPECT_THAT(verified().findings, IsEmpty());
    ASSERT_TRUE(writer_->commit({one("order-1", "paid", "after")}));
    close();
    open();
    EXPECT_EQ(everything(store()).size(), events + 1);
    EXPECT_THAT(verified().findings, IsEmpty());
    close();
    EXPECT_THAT(planned().steps, IsEmpty());
  }
};

TEST_F(Recover, HasNothingToDoWithAStoreThatIsWhole) {
  make(250, 30);

  auto plan = planned();

  EXPECT_THAT(plan.findings, IsEmpty());
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_EQ(plan.keeps, GlobalPosition{280});
  EXPECT_EQ(plan.lost, 0u);
}

TEST_F(Recover, OpensAStoreWhoseLogIsTruncated) {
  make(0, 200);
  auto log = newest_log();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) / 2);

  auto plan = planned();
  EXPECT_EQ(refusal_of_opening(), ErrorCode::corruption);  // it changed nothing
  auto done = recovered();

  EXPECT_EQ(plan.acknowledged, GlobalPosition{200});
  EXPECT_GT(plan.keeps, GlobalPosition{50});
  EXPECT_LT(plan.keeps, GlobalPosition{150});
  EXPECT_EQ(plan.lost, 200 - plan.keeps.value);
  EXPECT_THAT(plan.findings, Contains(HasSubstr(log.filename().string())));
  EXPECT_THAT(plan.steps,
              Contains(HasSubstr("positions " + std::to_string(plan.keeps.value + 1) + " to 200 are lost")));
  EXPECT_EQ(done.keeps, plan.keeps);
  expect_sound(plan.keeps.value);
}

TEST_F(Recover, OpensAStoreWithAFlippedByteInItsLog) {
  make(0, 200);
  auto log = newest_log();
  flip(log, std::filesystem::file_size(log) / 2);
  ASSERT_EQ(refusal_of_opening(), ErrorCode::corruption);

  auto plan = recovered();

  EXPECT_GT(plan.keeps, GlobalPosition{50});
  EXPECT_LT(plan.keeps, GlobalPosition{150});
  expect_sound(plan.keeps.value);
}

TEST_F(Recover, OpensAStoreThatSealedMoreThanItsLogKept) {
  make(100);
  files_of(Family::journal);  // what is there is in files
  open();
  fill(70);
  ASSERT_TRUE(store().seal());
  close();
  std::filesystem::remove(newest_log());
  ASSERT_EQ(refusal_of_opening(), ErrorCode::corruption);

  auto plan = recovered();

  EXPECT_EQ(plan.acknowledged, GlobalPosition{170});
  EXPECT_EQ(plan.keeps, GlobalPosition{100});
  EXPECT_EQ(plan.lost, 70u);
  EXPECT_THAT(plan.steps, Contains(HasSubstr("all indexes anew")));
  expect_sound(100);
}

TEST_F(Recover, MakesDamagedIndexesAnew) {
  make(250, 30);
  for (auto family : {Family::postings, Family::streams}) flip(files_of(family).front(), 50);
  auto ids = files_of(Family::ids).front();
  flip(ids, std::filesystem::file_size(ids) - 4);  // in its footer

  auto plan = recovered();

  EXPECT_EQ(plan.lost, 0u);
  EXPECT_THAT(plan.findings, Contains(HasSubstr("of family postings is damaged")));
  EXPECT_THAT(plan.findings, Contains(HasSubstr("of family ids is damaged")));
  expect_sound(280);
}

TEST_F(Recover, MakesIndexesAnewWhoseFilesAreMissing) {
  make(250, 30);
  std::filesystem::remove(files_of(Family::directory).front());
  ASSERT_EQ(refusal_of_opening(), ErrorCode::corruption);

  auto plan = recovered();

  EXPECT_EQ(plan.lost, 0u);
  expect_sound(280);
}

TEST_F(Recover, MakesIndexesAnewThatLackRows) {
  make(250, 30);
  raw([&](RocksFamilies& families) { erase(families, Family::runs, rows_of(families, Family::runs).front().first); });

  EXPECT_THAT(recovered().steps, Contains(HasSubstr("all indexes anew")));

  expect_sound(280);
}

TEST_F(Recover, InventsNothingForARecordThatIsMissing) {
  make(200, 10);
  open();
  auto gone = everything(store())[99];
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(gone.shard, gone.offset)); });

  auto plan = recovered();

  EXPECT_THAT(plan.holes, ElementsAre(Hole{GlobalPosition{100}, GlobalPosition{101}}));
  EXPECT_EQ(plan.lost, 1u);
  EXPECT_EQ(plan.keeps, GlobalPosition{210});
  EXPECT_THAT(plan.steps, IsEmpty());
  open();
  auto read = Reader(store()).event_at(store().view(), GlobalPosition{100});
  EXPECT_EQ(read.error().code, ErrorCode::corruption);
  EXPECT_TRUE(Reader(store()).event_at(store().view(), GlobalPosition{101}));
}

TEST_F(Recover, CutsBackToADensePrefixWhenAsked) {
  make(200, 10);
  open();
  auto gone = everything(store())[99];
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(gone.shard, gone.offset)); });

  auto plan = recovered({.cut_back = true});

  EXPECT_EQ(plan.keeps, GlobalPosition{99});
  EXPECT_EQ(plan.lost, 111u);
  EXPECT_THAT(plan.holes, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(data_dir() / "db.damaged-1" / "CURRENT"));
  expect_sound(99);
}

TEST_F(Recover, KeepsSnapshotsOfVersionsThatItKeeps) {
  make(200);
  open();
  auto gone = everything(store())[99];
  write({snapshot_of("order-1", 3, 16), snapshot_of("order-2", 20, 136)});
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(gone.shard, gone.offset)); });

  recovered({.cut_back = true});

  open();
  EXPECT_TRUE(*Reader(store()).latest_snapshot({"order", "1"}));
  EXPECT_FALSE(*Reader(store()).latest_snapshot({"order", "2"}));
}

/// Indexes that are damaged themselves condemn no snapshot: the next ones say which is of no event.
TEST_F(Recover, KeepsSnapshotsWhereAnIndexIsDamagedAndLeavesOutWhatNoEventMade) {
  make(200);
  open();
  write({snapshot_of("order-1", 3, 16), snapshot_of("order-2", 200, 136)});
  ASSERT_TRUE(store().seal());
  close();
  raw([&](RocksFamilies& families) {
    for (const auto& [key, value] : rows_of(families, Family::streams)) erase(families, Family::streams, key);
  });

  const auto plan = recovered();

  EXPECT_THAT(plan.steps, ::testing::Contains(::testing::HasSubstr("the snapshot of \"order-2\"")));
  expect_sound(200);
  open();
  EXPECT_TRUE(*Reader(store()).latest_snapshot({"order", "1"}));
  EXPECT_FALSE(*Reader(store()).latest_snapshot({"order", "2"}));
}

TEST_F(Recover, EndsWithTheLastCutThatIsWhole) {
  make(200, 10);
  open();
  auto last = everything(store()).back();
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(last.shard, last.offset)); });
  ASSERT_EQ(refusal_of_opening(), ErrorCode::corruption);

  auto plan = recovered();

  EXPECT_EQ(plan.keeps, GlobalPosition{209});
  EXPECT_EQ(plan.lost, 1u);
  expect_sound(209);
}

TEST_F(Recover, RefusesWhereOnlyCuttingBackHelps) {
  make(200, 10);
  open();
  // The last record of another shard than the last event's.
  auto events = everything(store());
  auto last = std::find_if(events.rbegin(), events.rend(),
                           [&](const auto& event) { return event.shard != events.back().shard; });
  auto gone = *last;
  close();
  raw([&](RocksFamilies& families) {
    put(families, Family::journal, keys::journal(gone.shard, gone.offset), "damaged");
  });
  ASSERT_EQ(refusal_of_opening(), ErrorCode::corruption);

  auto refused = recover(options());
  auto plan = recovered({.cut_back = true});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("the last record of shard " + std::to_string(gone.shard.value)));
  EXPECT_EQ(plan.keeps, gone.position - 1);
  expect_sound(plan.keeps.value);
}

TEST_F(Recover, KeepsWhatADamagedFileOfTheJournalHasLeft) {
  make(300, 0, 1'000);
  auto file = files_of(Family::journal).front();
  flip(file, std::filesystem::file_size(file) / 2);

  auto plan = recovered();

  EXPECT_EQ(plan.keeps, GlobalPosition{300});
  EXPECT_GT(plan.lost, 0u);
  EXPECT_LT(plan.lost, 40u);
  EXPECT_THAT(plan.holes, Not(IsEmpty()));
  EXPECT_THAT(plan.findings, Contains(HasSubstr(file.filename().string())));
  open();
  auto report = verified();
  EXPECT_EQ(report.events, 300 - plan.lost);
  for (const auto& finding : report.findings) EXPECT_THAT(finding, Not(HasSubstr("family")));
}

TEST_F(Recover, SaysThatMarkIsMissingAndWritesIt) {
  make(100);
  std::filesystem::remove(data_dir() / "MARK");

  auto plan = recovered();

  EXPECT_THAT(plan.findings, ElementsAre(HasSubstr("there is no MARK")));
  EXPECT_THAT(plan.steps, ElementsAre("writes MARK for position 100"));
  expect_sound(100);
}

TEST_F(Recover, TellsAStoreThatLostEventsFromTheOneItWas) {
  open();
  fill(100);
  auto fork = store().identity().fork;
  close();
  std::filesystem::resize_file(newest_log(), std::filesystem::file_size(newest_log()) / 2);

  recovered();

  open();
  EXPECT_NE(store().identity().fork, fork);
}

TEST_F(Recover, RefusesAStoreThatIsOpenOrNotThere) {
  EXPECT_EQ(plan_recovery(options()).error().code, ErrorCode::not_found);
  open();

  EXPECT_EQ(plan_recovery(options()).error().code, ErrorCode::unavailable);
  EXPECT_EQ(recover(options()).error().code, ErrorCode::unavailable);
}

TEST_F(Recover, ChangesNothingWhenItIsStopped) {
  make(0, 100);
  std::filesystem::resize_file(newest_log(), std::filesystem::file_size(newest_log()) / 2);

  auto stopped = recover(options(), {}, [](std::uint64_t done, std::uint64_t) { return done < 40; });

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  EXPECT_EQ(refusal_of_opening(), ErrorCode::corruption);
}

TEST_F(Recover, RefusesACutLogAndTouchesNothing) {
  CutLogOptions log;
  log.data_dir = data_dir();
  log.shards = 4;
  ASSERT_TRUE(open_cut_log(log));
  const auto before = bytes_below(data_dir());

  const auto refused = recover(options(), {true});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("a coordinator's cut log"));
  EXPECT_EQ(bytes_below(data_dir()), before);
}

// What does not open takes the place of nothing.
TEST_F(Recover, OpensWhatItMadeBeforeItTakesTheDatabasesPlace) {
  const auto recover_spoiling = [&](const RecoverOptions& how) {
    auto spoiling = options();
    int made = 0;
    spoiling.at_step = [&](const char* step) {
      if (step != std::string_view(steps::recover_made)) return;
      ++made;
      std::filesystem::remove(data_dir() / "recover.part" / "db" / "CURRENT");
    };
    const auto before = bytes_below(data_dir());
    const auto failed = recover(spoiling, how);
    EXPECT_FALSE(failed);
    EXPECT_EQ(made, 1);
    EXPECT_EQ(bytes_below(data_dir()), before) << "nothing was swapped in, and nothing is left beside it";
  };
  make(200, 10);
  const auto mark = data_dir() / "MARK";
  std::filesystem::rename(mark, folder_.path() / "MARK");
  recover_spoiling({});  // MARK is missing: the database would stay
  std::filesystem::rename(folder_.path() / "MARK", mark);
  flip(files_of(Family::postings).front(), 50);
  recover_spoiling({});  // the truth stays
  open();
  const auto gone = everything(store())[99];
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(gone.shard, gone.offset)); });
  recover_spoiling({.cut_back = true});  // the truth is copied

  recovered({.cut_back = true});
  expect_sound(99);
}

// Indexes were dropped in the database itself: broken off there, nothing of what was there was left.
TEST_F(Recover, MakesIndexesAnewInACopyAndKeepsTheDatabase) {
  make(250, 30);
  flip(files_of(Family::postings).front(), 50);
  const auto before = bytes_below(data_dir() / "db");

  recovered();

  EXPECT_EQ(bytes_below(data_dir() / "db.damaged-1"), before);
  EXPECT_FALSE(std::filesystem::exists(data_dir() / "recover.part"));
  expect_sound(280);
}

/// A node's part, which has 40 events of its own in 80 positions, and some without a place.
class RecoverNode : public Recover {
 protected:
  [[nodiscard]] StoreOptions node_options() const {
    auto node = options();
    node.member = NodeWriter::member(2);
    return node;
  }
  std::unique_ptr<NodeStore> open_node() {
    auto opened = open_node_store(node_options());
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? std::move(*opened) : nullptr;
  }
  /// The first `sealed` of 40 rounds are in indexes' and journal's files.
  void make_node(std::uint64_t sealed) {
    auto node = open_node();
    ASSERT_TRUE(node);
    NodeWriter writer(*node);
    for (std::uint64_t i = 1; i <= 40; ++i) {
      ASSERT_TRUE(writer.journal({one(aggregate_in(0), "placed", std::to_string(i), {"x"})}));
      ASSERT_TRUE(writer.apply(writer.cut({writer.segment(0, i, i + 1), writer.segment(3, i, i + 1)})));
      if (i == sealed) {
        ASSERT_TRUE(node->seal());
      }
    }
    ASSERT_TRUE(writer.journal({one(aggregate_in(1), "waits", "w", {"x"})}));
  }
  void expect_node(std::size_t events, std::size_t waiting) {
    auto node = open_node();
    ASSERT_TRUE(node);
    EXPECT_EQ(node->identity().node, 2u);
    EXPECT_EQ(node->identity().store, NodeWriter::member().store);
    EXPECT_EQ(node->identity().fork, NodeWriter::member().fork) << "it is of its cluster still";
    EXPECT_EQ(everything(*node).size(), events);
    EXPECT_EQ(matching(*node, Query().tags({"x"})).size(), events);
    const auto report = verify(*node);
    ASSERT_TRUE(report);
    EXPECT_THAT(report->findings, IsEmpty());
    EXPECT_EQ(node->take_unordered().size(), waiting);
  }
};

// Mended as a whole store, a healthy node never joined its cluster again.
TEST_F(RecoverNode, FindsAHealthyPartHealthyAndTouchesNothing) {
  make_node(25);
  const auto before = bytes_below(data_dir());

  for (const bool cut_back : {false, true}) {
    const auto plan = planned({cut_back});
    EXPECT_EQ(plan.node, 2u);
    EXPECT_EQ(plan.keeps, GlobalPosition{80});
    EXPECT_THAT(plan.findings, IsEmpty());
    EXPECT_THAT(plan.steps, IsEmpty());
    EXPECT_EQ(plan.refusal, "");
    recovered({cut_back});
  }

  EXPECT_EQ(bytes_below(data_dir()), before);
  expect_node(40, 1);
}

TEST_F(RecoverNode, MakesDamagedIndexesAnewAndStaysOfItsCluster) {
  make_node(40);
  for (auto family : {Family::postings, Family::streams}) flip(files_of(family).front(), 50);

  EXPECT_EQ(planned({.cut_back = true}).refusal.substr(0, 30), "a node's part is not cut back:");
  const auto plan = recovered();

  EXPECT_EQ(plan.lost, 0u);
  EXPECT_FALSE(plan.more_may_be_lost);
  EXPECT_THAT(plan.steps, Contains(HasSubstr("all indexes anew")));
  EXPECT_TRUE(std::filesystem::exists(data_dir() / "db.damaged-1" / "CURRENT"));
  expect_node(40, 1);
  EXPECT_THAT(planned().steps, IsEmpty());
}

TEST_F(RecoverNode, MakesIndexesAnewWhoseFilesAreMissing) {
  make_node(40);
  std::filesystem::remove(files_of(Family::directory).front());
  ASSERT_FALSE(open_node_store(node_options()));

  recovered();

  expect_node(40, 1);
}

// What is left is as an old copy of its disk: its coordinator says which shards have lost events.
TEST_F(RecoverNode, OpensAPartWhoseLogIsTruncated) {
  make_node(0);
  const auto log = newest_log();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) / 2);
  const auto refused = open_node_store(node_options());
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().code, ErrorCode::corruption);

  const auto plan = recovered();

  EXPECT_TRUE(plan.more_may_be_lost);
  EXPECT_GT(plan.keeps, GlobalPosition{20});
  EXPECT_LT(plan.keeps, GlobalPosition{60});
  EXPECT_EQ(plan.acknowledged, GlobalPosition{80});
  EXPECT_THAT(plan.steps, Contains(HasSubstr("its coordinator tells it the cuts behind again")));
  auto node = open_node();
  ASSERT_TRUE(node);
  EXPECT_EQ(node->identity().fork, NodeWriter::member().fork);
  EXPECT_EQ(node->recovered().watermark, plan.keeps);
  EXPECT_EQ(everything(*node).size(), plan.keeps.value / 2);
  // The cuts behind come again, of what it has and of what it has not.
  NodeWriter writer(*node);
  ASSERT_TRUE(writer.apply(writer.cut({writer.segment(3, plan.keeps.value / 2 + 1, plan.keeps.value / 2 + 2)})));
}

TEST_F(RecoverNode, RefusesToMendRecordsThatNoOtherDiskHasAndSaysWhatToDo) {
  make_node(40);
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(ShardId{0}, ShardOffset{7})); });
  flip(files_of(Family::postings).front(), 50);  // with it indexes that would be made anew without that record
  const auto before = bytes_below(data_dir());

  const auto plan = planned();
  const auto refused = recover(options());

  EXPECT_THAT(plan.holes, ElementsAre(Hole{GlobalPosition{13}, GlobalPosition{14}}));
  EXPECT_EQ(plan.lost, 1u);
  EXPECT_THAT(plan.steps, IsEmpty());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().what, plan.refusal);
  EXPECT_THAT(plan.refusal, HasSubstr("`evershard restore`"));
  EXPECT_THAT(plan.refusal, HasSubstr("`evershard cluster assign --of 2 --to 2`, then with --accept-loss"));
  EXPECT_EQ(bytes_below(data_dir()), before);
}

TEST_F(RecoverNode, RefusesToMendARowOfItsState) {
  make_node(40);
  raw([&](RocksFamilies& families) { put(families, Family::state, keys::covered(ShardId{0}), "damaged"); });
  ASSERT_FALSE(open_node_store(node_options()));

  const auto refused = recover(options());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("no other disk has them"));
}

TEST_F(RecoverNode, WritesAMarkThatIsMissing) {
  make_node(25);
  std::filesystem::remove(data_dir() / "MARK");

  EXPECT_THAT(recovered().steps, ElementsAre("writes MARK for position 80"));

  EXPECT_TRUE(std::filesystem::exists(data_dir() / "MARK"));
  EXPECT_FALSE(std::filesystem::exists(data_dir() / "db.damaged-1"));
  expect_node(40, 1);
}

// Broken off between the swap and what follows, the damaged database lay under the name that the next try removes.
TEST_F(Recover, NeverRemovesADatabaseThatItDidNotMake) {
  make(200, 10);
  open();
  const auto gone = everything(store())[99];
  close();
  raw([&](RocksFamilies& families) { erase(families, Family::journal, keys::journal(gone.shard, gone.offset)); });
  std::filesystem::create_directory(data_dir() / "db.part");
  std::ofstream(data_dir() / "db.part" / "the-original") << "x";
  std::filesystem::create_directory(data_dir() / "recover.part");  // an earlier try's

  recovered({.cut_back = true});

  EXPECT_TRUE(std::filesystem::exists(data_dir() / "db.part" / "the-original"));
  EXPECT_TRUE(std::filesystem::exists(data_dir() / "db.damaged-1" / "CURRENT"));
  EXPECT_FALSE(std::filesystem::exists(data_dir() / "recover.part"));
  expect_sound(99);
}

}  // namespace
}  // namespace evershard::storage
