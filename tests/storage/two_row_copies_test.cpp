// A state that lies in two rows, and everything that carries a store or mends it.

#include <gmock/gmock.h>

#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/recover.hpp"
#include "tests/storage/maintained_store.hpp"
#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

const AggregateId carried_group{"$group", "mails"};

class TwoRowCopies : public MaintainedStore {
 protected:
  /// A group at position 11, and what it has settled: a large state, written anew some times.
  void make_group() {
    open();
    fill(10);
    ASSERT_TRUE(writer_->commit({one(carried_group.text(), "$GroupChanged", "{}")}));
    fill(20);
    state_ = RandomValues(3).bytes(100'000);
    for (int n = 0; n != 4; ++n) {
      state_[static_cast<std::size_t>(1'000 * n)] ^= 1;
      state_ += "settled";
      put_state();
    }
    ASSERT_EQ(snapshot_rows(data_of_store()), 2u);
  }
  void put_state() {
    auto snapshot = snapshot_of(carried_group.text(), 1, 11);
    snapshot.snapshot.payload = state_;
    write({std::move(snapshot)});
  }
  std::map<std::string, std::string> data_of_store() {
    std::map<std::string, std::string> rows;
    const auto cursor = store().rows().cursor(Family::state, {.prefix = {}, .scan = true});
    for (cursor->seek({}); cursor->valid(); cursor->next())
      rows.emplace(std::string(cursor->key()), std::string(cursor->value()));
    return rows;
  }
  static std::size_t snapshot_rows(const std::map<std::string, std::string>& rows) {
    return rows.count(keys::snapshot(carried_group, std::nullopt)) + rows.count(snapshot_base_key(carried_group));
  }
  /// Of a folder that holds a store, which nobody has open.
  void expect_state_in(const std::filesystem::path& folder, std::size_t rows) {
    const auto report = verify_directory(folder);
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_THAT(report->report.findings, ::testing::IsEmpty()) << folder;
    auto there = open_store(options_for(folder));
    ASSERT_TRUE(there) << there.error().what;
    const auto latest = latest_snapshot_of((*there)->rows(), carried_group);
    ASSERT_TRUE(latest) << latest.error().what;
    ASSERT_TRUE(*latest);
    EXPECT_EQ((*latest)->payload, state_);
    EXPECT_EQ((*latest)->version, SeqNr{1});
    std::swap(store_, *there);
    EXPECT_EQ(snapshot_rows(data_of_store()), rows) << folder;
    std::swap(store_, *there);
  }
  std::string state_;
};

TEST_F(TwoRowCopies, TheStateIsReadAfterTheStoreWasOpenedAgain) {
  make_group();
  close();
  expect_state_in(data_dir(), 2);
  open();
  state_ += "after the start";
  put_state();
  EXPECT_EQ((*latest_snapshot_of(store().rows(), carried_group))->payload, state_);
  EXPECT_THAT(verified().findings, ::testing::IsEmpty());
}

TEST_F(TwoRowCopies, AreRestoredByBackupsOfEveryKind) {
  make_group();
  const auto in = [&](const char* name) { return folder_.path() / name; };
  ASSERT_TRUE(backup(store(), in("whole")));
  ASSERT_TRUE(backup(store(), in("truth"), BackupOptions{.truth_only = true}));
  ASSERT_TRUE(backup(store(), in("earlier"), BackupOptions{.up_to = GlobalPosition{20}}));
  close();
  for (const char* name : {"whole", "truth"}) {
    const auto to = in(name).string() + "-back";
    const auto restored = restore(in(name), to);
    ASSERT_TRUE(restored) << restored.error().what;
    expect_state_in(to, name == std::string_view("whole") ? 2 : 1);
  }
  expect_state_in(in("earlier"), 1);
  const auto to = in("earlier-by-restore");
  ASSERT_TRUE(restore(data_dir(), to, RestoreOptions{.up_to = GlobalPosition{20}}));
  expect_state_in(to, 1);
}

// Without its base the state cannot be made: recover says so, and the store is whole again.
TEST_F(TwoRowCopies, ADamagedBaseIsFoundAndLeftOutByRecover) {
  make_group();
  close();
  for (const bool gone : {false, true}) {
    SCOPED_TRACE(gone);
    raw([&](RocksFamilies& families) {
      if (gone)
        erase(families, Family::state, snapshot_base_key(carried_group));
      else
        put(families, Family::state, snapshot_base_key(carried_group), "damaged");
    });
    const auto found = verify_directory(data_dir());
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_THAT(found->report.findings, ::testing::Contains(::testing::HasSubstr("the snapshot of \"$group-mails\"")));
    open();
    const auto refused = Reader(store()).latest_snapshot(carried_group);
    ASSERT_FALSE(refused) << "its owner would begin anew over what is left of it";
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
    close();
    const auto plan = recover(options());
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(plan->steps, ::testing::Contains(::testing::HasSubstr("leaves out the snapshot of \"$group-mails\"")));
    const auto mended = verify_directory(data_dir());
    ASSERT_TRUE(mended) << mended.error().what;
    EXPECT_THAT(mended->report.findings, ::testing::IsEmpty());
    open();
    EXPECT_FALSE(*latest_snapshot_of(store().rows(), carried_group));
    EXPECT_EQ(snapshot_rows(data_of_store()), 0u);
    put_state();
    close();
    expect_state_in(data_dir(), 2);
  }
}

}  // namespace
}  // namespace evershard::storage
