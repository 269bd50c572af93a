// Backups of the truth only: what they are, what is refused, and what an accident leaves.

#include <fstream>

#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/recover.hpp"
#include "tests/storage/fault_env.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TruthBackup : public MaintainedStore {
 protected:
  TruthBackup() { env_.skip_syncs(); }
  ~TruthBackup() override { close(); }  // before its disk goes
  [[nodiscard]] std::filesystem::path target() const { return folder_.path() / "copy"; }
  [[nodiscard]] std::filesystem::path truth() const { return folder_.path() / "truth"; }
  void open_lazily(std::size_t reserve = 0) {
    auto lazy = options();
    lazy.env = env_.env();
    lazy.disk_reserve_bytes = reserve;
    auto opened = open_store(lazy);
    ASSERT_TRUE(opened) << opened.error().what;
    store_ = std::move(*opened);
    writer_ = std::make_unique<StoreWriter>(*store_);
  }
  Result<GlobalPosition> truth_of_store(const Progress& progress = {}) {
    return backup(store(), truth(), {.truth_only = true, .env = env_.env()}, progress);
  }
  Result<GlobalPosition> restored() { return restore(truth(), target(), {.env = env_.env()}); }
  static void expect_nothing_at(const std::filesystem::path& path) {
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
  }
  static std::uint64_t bytes_of(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".sst") bytes += entry.file_size();
    return bytes;
  }
  static std::filesystem::path largest_table(const std::filesystem::path& folder) {
    std::filesystem::path largest;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "db"))
      if (entry.path().extension() == ".sst" &&
          (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)))
        largest = entry.path();
    return largest;
  }

  FaultEnv env_;
};

TEST_F(TruthBackup, HasNoIndexesAndIsRestoredWithAllOfThem) {
  open_lazily();
  fill(500);
  ASSERT_TRUE(store().seal());
  fill(50);
  write({snapshot_of("order-1", 3, 16)});
  std::ofstream(data_dir() / "TYPES") << "of payloads";
  std::uint64_t last = 0;

  auto made = truth_of_store([&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, 100u);
    EXPECT_GE(done, last);
    last = done;
    return true;
  });
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_TRUE(backup(store(), folder_.path() / "whole"));
  auto back = restored();

  EXPECT_EQ(*made, GlobalPosition{550});
  EXPECT_EQ(last, 100u);
  EXPECT_LT(bytes_of(truth()), bytes_of(folder_.path() / "whole"));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(*back, GlobalPosition{550});
  EXPECT_FALSE(std::filesystem::exists(target() / "TRUTH_ONLY"));
  EXPECT_TRUE(std::filesystem::exists(target() / "TYPES"));
  auto copy = open_store(options_for(target()));
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ((*copy)->view().mark, GlobalPosition{550}) << "indexes lie in files: nothing is read back at opening";
  EXPECT_EQ(everything(**copy), everything(store()));
  EXPECT_EQ(matching(**copy, Query{}.tags({"t:2"})), matching(store(), Query{}.tags({"t:2"})));
  EXPECT_TRUE(*Reader(**copy).latest_snapshot({"order", "1"}));
  EXPECT_THAT(verify(**copy)->findings, IsEmpty());
  EXPECT_EQ((*copy)->identity().store, store().identity().store);
  EXPECT_NE((*copy)->identity().fork, store().identity().fork);
}

TEST_F(TruthBackup, SaysWhatItIsWhenItIsOpened) {
  open_lazily();
  fill(20);
  ASSERT_TRUE(truth_of_store());

  auto opened = open_store(options_for(truth()));
  auto mended = recover(options_for(truth()));

  ASSERT_FALSE(opened);
  ASSERT_FALSE(mended);
  for (const auto& error : {opened.error(), mended.error()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_THAT(error.what, HasSubstr("backup of the truth only"));
    EXPECT_THAT(error.what, HasSubstr("evershard restore"));
  }
  std::string line;
  std::ifstream mark(truth() / "TRUTH_ONLY");
  std::getline(mark, line);
  EXPECT_THAT(line, HasSubstr("store " + store().identity().store.text() + " up to position 20"));
  EXPECT_TRUE(restored()) << "looking at it did no harm";
}

TEST_F(TruthBackup, OfANewStoreIsANewStore) {
  open_lazily();

  ASSERT_TRUE(truth_of_store());
  ASSERT_TRUE(restored());

  auto copy = open_store(options_for(target()));
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_TRUE(StoreWriter(**copy).commit({one("order-1", "placed", "first")}));
  EXPECT_EQ(everything(**copy).front().position, GlobalPosition{1});
}

TEST_F(TruthBackup, LeavesNothingWhereverItIsStoppedAndIsBegunAgain) {
  open_lazily();
  fill(100);
  for (bool truth_only : {true, false}) {
    BackupOptions how{.truth_only = truth_only, .env = env_.env()};
    if (!truth_only) how.up_to = GlobalPosition{90};
    for (std::uint64_t stop_at : {0, 1, 45, 50, 60, 75, 90, 95}) {
      auto stopped = backup(store(), target(), how, [&](std::uint64_t done, std::uint64_t) { return done < stop_at; });

      ASSERT_FALSE(stopped) << stop_at;
      EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
      expect_nothing_at(target());
    }
    EXPECT_TRUE(backup(store(), target(), how));
    EXPECT_TRUE(std::filesystem::exists(target()));
    std::filesystem::remove_all(target());
  }
}

TEST_F(TruthBackup, StopsWhileIndexesAreMade) {
  open_lazily();
  for (int commit = 0; commit < 40; ++commit) {
    Append append;
    for (int i = 0; i < 1'000; ++i) append.event("order-" + std::to_string(i), "placed", "x");
    ASSERT_TRUE(writer_->commit({append}));
  }
  ASSERT_TRUE(truth_of_store());
  std::uint64_t reached = 0;

  // Copied at 50 of 100, indexes made at 75, then verified.
  auto stopped = restore(truth(), target(), {.env = env_.env()},
                         [&](std::uint64_t done, std::uint64_t) { return (reached = done) <= 55; });

  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  EXPECT_LT(reached, 75u);
  expect_nothing_at(target());
  EXPECT_TRUE(restored());
}

TEST_F(TruthBackup, IsVerifiedBeforeItHasItsName) {
  open_lazily();
  fill(300, 400);
  for (bool truth_only : {true, false}) {
    BackupOptions how{.truth_only = truth_only, .env = env_.env()};
    if (!truth_only) how.up_to = GlobalPosition{290};
    bool damaged = false;

    auto made = backup(store(), target(), how, [&](std::uint64_t done, std::uint64_t) {
      if (done < 50 || damaged) return true;
      auto table = largest_table(target().string() + ".part");
      if (!table.empty()) flip(table, std::filesystem::file_size(table) / 2);
      return damaged = true;
    });

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::corruption) << made.error().what;
    expect_nothing_at(target());
  }
}

TEST_F(TruthBackup, OntoAFullDiskIsAnErrorAndLeavesNothing) {
  open_lazily();
  fill(100, 2'000);
  for (std::uint64_t when : {0, 30, 60}) {
    FaultEnv disk;
    disk.skip_syncs();
    auto full = backup(store(), target(), {.up_to = GlobalPosition{90}, .env = disk.env()},
                       [&](std::uint64_t done, std::uint64_t) {
                         if (done >= when) disk.fill_disk();
                         return true;
                       });

    ASSERT_FALSE(full) << when;
    EXPECT_EQ(full.error().code, ErrorCode::io) << full.error().what;
    EXPECT_THAT(full.error().what, HasSubstr("disk is full"));
    expect_nothing_at(target());
  }
  fill(1);
  EXPECT_THAT(verified().findings, IsEmpty()) << "the store itself goes on";
}

TEST_F(TruthBackup, GivesWayOnTheStoresOwnDiskWhereAppendsAreRefused) {
  open_lazily();
  fill(20);
  close();
  open_lazily(/*reserve=*/std::size_t{1} << 62);

  auto refused = truth_of_store();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().what, HasSubstr("are to stay free"));
  expect_nothing_at(truth());
}

TEST_F(TruthBackup, IsNotMadeOfAStoreThatIsDamaged) {
  make(200);
  auto fourth = [&](Family family) {
    std::string found;
    raw([&](RocksFamilies& families) { found = rows_of(families, family)[3].first; });
    return found;
  };
  const std::vector<std::pair<Family, std::string>> places{
      {Family::journal, fourth(Family::journal)},
      {Family::order, fourth(Family::order)},
      {Family::state, keys::snapshot({"order", "1"}, std::nullopt)}};
  for (const auto& [family, key] : places) {
    SCOPED_TRACE(name_of(family));
    std::string before;
    raw([&, family = family, key = key](RocksFamilies& families) {
      families.db().Get({}, families.handle(family), key, &before);
      put(families, family, key, "damaged");
    });
    open_lazily();

    auto refused = truth_of_store();
    close();
    auto not_restored = restore(data_dir(), target(), {.up_to = GlobalPosition{190}, .env = env_.env()});

    if (family == Family::state) {
      EXPECT_TRUE(refused && not_restored) << "a snapshot can be done without";
      std::filesystem::remove_all(truth());
      std::filesystem::remove_all(target());
    } else {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, ErrorCode::corruption) << refused.error().what;
      expect_nothing_at(truth());
      ASSERT_FALSE(not_restored);
      EXPECT_EQ(not_restored.error().code, ErrorCode::corruption) << not_restored.error().what;
      expect_nothing_at(target());
    }
    raw([&, family = family, key = key](RocksFamilies& families) {
      before.empty() ? erase(families, family, key) : put(families, family, key, before);
    });
  }
  open_lazily();
  EXPECT_TRUE(truth_of_store());
}

TEST_F(TruthBackup, IsNotRestoredWhereItIsDamaged) {
  open_lazily();
  fill(300, 400);
  ASSERT_TRUE(truth_of_store());
  auto table = largest_table(truth());
  flip(table, std::filesystem::file_size(table) / 2);

  auto damaged = restored();

  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corruption) << damaged.error().what;
  expect_nothing_at(target());
  std::filesystem::remove(table);
  auto missing = restored();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::corruption) << missing.error().what;
  expect_nothing_at(target());
}

TEST_F(TruthBackup, RestoresTheSoundPartBeforeALossWhenAskedForIt) {
  open_lazily();
  fill(100);
  close();
  auto log = newest_log();
  std::filesystem::resize_file(log, std::filesystem::file_size(log) / 2);

  auto all = restore(data_dir(), target(), {.env = env_.env()});
  auto lost = restore(data_dir(), target(), {.up_to = GlobalPosition{100}, .env = env_.env()});
  auto before = restore(data_dir(), target(), {.up_to = GlobalPosition{20}, .env = env_.env()});

  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::corruption);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::corruption);
  EXPECT_THAT(lost.error().what, HasSubstr("to 100 are missing"));
  ASSERT_TRUE(before) << before.error().what;
  auto copy = open_store(options_for(target()));
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ(everything(**copy).size(), 20u);
}

TEST_F(TruthBackup, ForgetsCheckpointsOnlyWhereEventsAreCutOff) {
  make(20);
  raw([&](RocksFamilies& families) { put(families, Family::state, keys::checkpoint("mail"), "17"); });
  open_lazily();
  ASSERT_TRUE(backup(store(), target(), {.up_to = GlobalPosition{10}, .env = env_.env()}));
  ASSERT_TRUE(truth_of_store());
  ASSERT_TRUE(restore(truth(), folder_.path() / "back", {.env = env_.env()}));

  auto has_checkpoint = [](const std::filesystem::path& path) {
    auto store = open_store(options_for(path));
    auto key = keys::checkpoint("mail");
    std::string_view wanted[] = {key};
    return (*(*store)->rows().get(Family::state, wanted))->found(0);
  };

  EXPECT_FALSE(has_checkpoint(target()));
  EXPECT_TRUE(has_checkpoint(folder_.path() / "back"));
}

}  // namespace
}  // namespace evershard::storage
