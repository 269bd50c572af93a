#include "evershard/storage/recover.hpp"

#include <map>

#include "evershard/storage/rocks_cut_log.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
  EXPECT_THAT(plan.steps, Contains(HasSubstr("positions " + std::to_string(plan.keeps.value + 1) + " to 200 are lost")));
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
  auto last = std::find_if(events.rbegin(), events.rend(), [&](const auto& event) { return event.shard != events.back().shard; });
  auto gone = *last;
  close();
  raw([&](RocksFamilies& families) { put(families, Family::journal, keys::journal(gone.shard, gone.offset), "damaged"); });
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

// What it is not made for is refused by its name, before anything is touched: a node that was mended as a whole store never joined its cluster again.
TEST_F(Recover, RefusesANodesPartOfAStoreAndTouchesNothing) {
  auto node = options();
  node.member = NodeWriter::member(2);
  ASSERT_TRUE(open_node_store(node));
  const auto before = bytes_below(data_dir());

  for (const bool cut_back : {false, true}) {
    for (const auto& refused : {plan_recovery(options(), {cut_back}), recover(options(), {cut_back})}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(refused.error().what, HasSubstr("node 2's part of a cluster's store"));
    }
  }
  EXPECT_EQ(bytes_below(data_dir()), before);
  EXPECT_TRUE(open_node_store(node));
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
