#include "evershard/storage/repair/backup.hpp"

#include <thread>

#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/repair/vacuum.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Backup : public MaintainedStore {
 protected:
  [[nodiscard]] std::filesystem::path target() const { return folder_.path() / "copy"; }
  [[nodiscard]] std::filesystem::path part() const { return folder_.path() / "copy.part"; }
  static std::unique_ptr<Store> opened(const std::filesystem::path& path) {
    auto store = open_store(options_for(path));
    if (!store) throw std::logic_error(store.error().what);
    return std::move(*store);
  }
  static void touch(const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "mine";
  }
};

TEST_F(Backup, OpensAsAPrefixOfAStoreThatGoesOn) {
  open();
  fill(500);
  auto acknowledged = store().view().watermark;
  std::thread committing([&] { fill(500); });

  auto made = backup(store(), target());
  committing.join();

  ASSERT_TRUE(made) << made.error().what;
  auto copy = opened(target());
  auto copied = payloads_of(everything(*copy)), all = payloads_of(everything(store()));
  ASSERT_GE(copied.size(), acknowledged.value);
  ASSERT_LE(copied.size(), all.size());
  EXPECT_TRUE(std::equal(copied.begin(), copied.end(), all.begin()));
  EXPECT_THAT(verify(*copy)->findings, IsEmpty());
  EXPECT_EQ(copy->identity().store, store().identity().store);
  EXPECT_NE(copy->identity().fork, store().identity().fork);
  EXPECT_TRUE(std::filesystem::exists(target() / "MARK"));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(Backup, CarriesTheTypesBesideTheDatabaseBothWays) {
  open();
  fill(10);
  std::ofstream(data_dir() / "TYPES") << "of payloads";
  auto there = folder_.path() / "back";
  ASSERT_TRUE(backup(store(), target()));

  auto back = restore(target(), there);

  ASSERT_TRUE(back) << back.error().what;
  for (const auto& path : {target(), there}) {
    std::ifstream in(path / "TYPES");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "of payloads") << path;
  }
}

TEST_F(Backup, GoesOnByItself) {
  open();
  fill(150);
  ASSERT_TRUE(backup(store(), target()));
  auto copy = opened(target());

  ASSERT_TRUE(StoreWriter(*copy).commit({one("order-1", "paid", "of the copy")}));

  EXPECT_EQ(everything(*copy).size(), 151u);
  EXPECT_EQ(everything(store()).size(), 150u);
  EXPECT_THAT(verified().findings, IsEmpty());
}

TEST_F(Backup, LeavesATargetAloneThatHoldsSomething) {
  open();
  fill(10);
  touch(target() / "letter");

  auto refused = backup(store(), target());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(std::filesystem::exists(target() / "letter"));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

TEST_F(Backup, ReplacesARestOfItsOwnAndNothingElse) {
  open();
  fill(10);
  touch(part() / "db" / "CURRENT");
  touch(folder_.path() / "other.part" / "letter");

  auto made = backup(store(), target());
  auto refused = backup(store(), folder_.path() / "other");

  EXPECT_TRUE(made) << made.error().what;
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "other.part" / "letter"));
}

TEST_F(Backup, IsRefusedInMemory) {
  auto in_memory = options();
  in_memory.data_dir.clear();
  auto memory = std::move(*open_store(in_memory));

  auto refused = backup(*memory, target());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST_F(Backup, LeavesNothingWhenItIsStopped) {
  open();
  fill(10);
  for (std::uint64_t at = 0; at < 3; ++at) {
    auto stopped = backup(store(), target(), [&](std::uint64_t done, std::uint64_t) { return done < at; });

    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
    EXPECT_FALSE(std::filesystem::exists(target()));
    EXPECT_FALSE(std::filesystem::exists(part()));
  }
}

TEST_F(Backup, RestoresAClosedStoreWithWhatItsLogHolds) {
  make(150, 20);

  auto restored = restore(data_dir(), target());

  ASSERT_TRUE(restored) << restored.error().what;
  auto copy = opened(target());
  open();
  EXPECT_EQ(payloads_of(everything(*copy)), payloads_of(everything(store())));
  EXPECT_EQ(everything(*copy).size(), 170u);
  EXPECT_NE(copy->identity().fork, store().identity().fork);
}

TEST_F(Backup, RestoresIntoAnEmptyFolderOnly) {
  make(20);
  std::filesystem::create_directories(target());
  touch(folder_.path() / "full" / "letter");

  EXPECT_TRUE(restore(data_dir(), target()));
  auto refused = restore(data_dir(), folder_.path() / "full");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST_F(Backup, RestoresNothingOfWhatIsDamagedOpenUnfinishedOrAbsent) {
  make(200);
  std::filesystem::copy(data_dir(), folder_.path() / "unfinished.part", std::filesystem::copy_options::recursive);
  std::filesystem::copy(data_dir(), folder_.path() / "whole", std::filesystem::copy_options::recursive);
  raw([&](RocksFamilies& families) { erase(families, Family::journal, rows_of(families, Family::journal)[10].first); });
  auto damaged = restore(data_dir(), target());
  std::filesystem::remove_all(data_dir());
  std::filesystem::rename(folder_.path() / "whole", data_dir());
  open();

  auto is_open = restore(data_dir(), target());
  auto unfinished = restore(folder_.path() / "unfinished.part", target());
  auto absent = restore(folder_.path() / "nowhere", target());

  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corruption);
  ASSERT_FALSE(is_open);
  EXPECT_EQ(is_open.error().code, ErrorCode::unavailable);
  EXPECT_EQ(unfinished.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(target()));
  EXPECT_FALSE(std::filesystem::exists(part()));
}

// A damaged index made every backup impossible to restore.
TEST_F(Backup, RestoresWithoutWhatIsDamagedAndDerived) {
  make(200);
  flip(files_of(Family::postings).front(), 100);
  std::vector<std::string> said;

  const auto restored =
      restore(data_dir(), target(), {.left_out = [&](const std::string& what) { said.push_back(what); }});

  ASSERT_TRUE(restored) << restored.error().what;
  EXPECT_THAT(said, ::testing::ElementsAre("makes all indexes anew from journal and order"));
  const auto there = verify_directory(target());
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_EQ(there->report.events, 200u);
  EXPECT_THAT(there->report.findings, IsEmpty());
}

/// What a snapshot is of is asked of the indexes: those that are damaged themselves condemn none, here the only state
/// of events that are removed, perhaps. One that is of no event is found behind them.
TEST_F(Backup, KeepsSnapshotsWhereAnIndexIsDamaged) {
  make(200);
  open();
  write({snapshot_of("order-1", 3, 16), snapshot_of("order-2", 200, 136)});
  ASSERT_TRUE(store().seal());
  close();
  raw([&](RocksFamilies& families) {
    for (const auto& [key, value] : rows_of(families, Family::streams)) erase(families, Family::streams, key);
  });
  std::vector<std::string> said;

  const auto restored =
      restore(data_dir(), target(), {.left_out = [&](const std::string& what) { said.push_back(what); }});

  ASSERT_TRUE(restored) << restored.error().what;
  EXPECT_THAT(said, ::testing::ElementsAre("makes all indexes anew from journal and order",
                                           ::testing::HasSubstr("the snapshot of \"order-2\"")));
  const auto there = open_store(options_for(target()));
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_TRUE(*Reader(**there).latest_snapshot({"order", "1"}));
  EXPECT_FALSE(*Reader(**there).latest_snapshot({"order", "2"}));
}

/// The indexes' mark may be all that knows of commits that are lost: to make indexes anew is no way around that.
TEST_F(Backup, RefusesWhatLostTheEndOfItsLogThoughOnlyTheIndexesKnow) {
  make(200);
  raw([&](RocksFamilies& families) {
    ASSERT_TRUE(families.db().Put({}, families.mark(), mark_key, std::string("\0\0\0\0\0\0\x01\x00", 8)).ok());
  });
  std::filesystem::remove(data_dir() / "MARK");

  const auto restored = restore(data_dir(), target());

  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::corruption);
  EXPECT_THAT(restored.error().what, ::testing::HasSubstr("acknowledged commits are lost"));
}

class Vacuum : public MaintainedStore {};

TEST_F(Vacuum, KeepsEverythingThatIsThere) {
  make(350, 20);
  open();
  std::uint64_t last = 0, all = 1;

  auto done = vacuum(store(), [&](std::uint64_t now, std::uint64_t total) {
    last = now;
    all = total;
    return true;
  });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(last, all);
  EXPECT_EQ(verified().events, 370u);
  EXPECT_THAT(verified().findings, IsEmpty());
}

TEST_F(Vacuum, GivesTheSpaceOfErasedRowsBack) {
  make(20);
  std::string noise;
  for (int i = 0; i < 100'000; ++i)
    noise += static_cast<char>((random_ = random_ * 6364136223846793005u + 1442695040888963407u) >> 56);
  raw([&](RocksFamilies& families) { put(families, Family::state, keys::checkpoint("group"), noise); });
  ASSERT_FALSE(files_of(Family::state).empty());
  raw([&](RocksFamilies& families) { erase(families, Family::state, keys::checkpoint("group")); });
  auto bytes = [&] {
    std::uint64_t sum = 0;
    for (const auto& path : files_of(Family::state)) sum += std::filesystem::file_size(path);
    return sum;
  };
  ASSERT_GT(bytes(), noise.size());
  open();

  ASSERT_TRUE(vacuum(store()));
  close();

  EXPECT_LT(bytes(), noise.size());
}

TEST_F(Vacuum, StopsWhenItIsToldTo) {
  make(150);
  open();

  auto stopped = vacuum(store(), [](std::uint64_t, std::uint64_t) { return false; });

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evershard::storage
