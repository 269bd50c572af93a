#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class RemoteAdministration : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder); }
  static fs::path scratch() {
    auto name = (fs::temp_directory_path() / "evershard-door-XXXXXX").string();
    return mkdtemp(name.data());
  }

  fs::path folder = scratch();
  ServedStore served{{}, {}, {.data_dir = folder / "data", .disk_reserve_bytes = 1 << 20}};
  Remote remote = served.connect();
};

TEST_F(RemoteAdministration, GivesTheFiguresOfTheStore) {
  append_events(remote, 20);
  const auto here = *served.local.stats();
  const auto there = remote.stats();
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_EQ(there->info.store_id, here.info.store_id);
  EXPECT_EQ(there->info.shards, here.info.shards);
  EXPECT_EQ(there->info.format, here.info.format);
  EXPECT_EQ(there->info.hash, here.info.hash);
  EXPECT_EQ(there->info.created_at, here.info.created_at);
  EXPECT_EQ(there->watermark.value, 20u);
  EXPECT_EQ(there->tail_events, here.tail_events);
  EXPECT_EQ(there->appends, here.appends);
  EXPECT_GT(there->disk_free_bytes, 0u);
  EXPECT_EQ(there->details.size(), here.details.size());

  ASSERT_TRUE(remote.flush());
  EXPECT_EQ(remote.stats()->sealed.value, 20u);
}

TEST_F(RemoteAdministration, VerifiesAndTellsHowFarItIs) {
  append_events(remote, 5'000, 100);
  int told = 0;
  const auto report = remote.verify([&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    ++told;
    return true;
  });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->events, 5'000u);
  EXPECT_EQ(report->errors, 0u);
  EXPECT_GE(told, 1);
  EXPECT_TRUE(remote.vacuum());
}

TEST_F(RemoteAdministration, BacksUpIntoADirectoryOfTheServer) {
  append_events(remote, 100);
  const auto target = folder / "copy";
  const auto done = remote.backup(target);
  ASSERT_TRUE(done) << done.error().what;
  auto copy = Local::open({.data_dir = target, .create = false});
  ASSERT_TRUE(copy) << copy.error().what;
  EXPECT_EQ(copy->head()->value, 100u);

  const auto again = remote.backup(target);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(again.error().what, served.local.backup(target).error().what);
  EXPECT_EQ(remote.backup("").error().code, ErrorCode::invalid_argument);
}

TEST_F(RemoteAdministration, ABackupUpToAPositionNamesAggregatesWithoutState) {
  constexpr int aggregates = 1'100;  // more than one message names
  const auto name = [](int n) { return AggregateId{"order", std::to_string(n)}; };
  for (int n = 0; n != aggregates; ++n) ASSERT_TRUE(remote.append(Append{}.event(name(n).text(), "A", "{}")));
  const auto end = remote.head().value();
  std::vector<AggregateId> expected;
  for (int n = 0; n != aggregates; ++n) {
    ASSERT_TRUE(remote.append(Append{}.event(name(n).text(), "A", "{}")));
    Snapshot snapshot;
    snapshot.aggregate = name(n);
    snapshot.version = SeqNr{2};
    snapshot.payload = "state";
    ASSERT_TRUE(remote.put_snapshot(snapshot));
    ASSERT_TRUE(served.local.retention().truncate_aggregate(name(n), SeqNr{2}, {}));
    expected.push_back(name(n));
  }
  std::vector<AggregateId> without_state;
  BackupOptions how;
  how.up_to = end;
  how.without_state = [&](const AggregateId& aggregate) { without_state.push_back(aggregate); };
  const auto done = remote.backup(folder / "copy", how);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(*done, end);
  EXPECT_THAT(without_state, testing::UnorderedElementsAreArray(expected));
}

TEST_F(RemoteAdministration, StopsWhenAskedTo) {
  append_events(remote, 5'000, 500);
  const auto stopped = remote.verify([](std::uint64_t, std::uint64_t) { return false; });
  if (stopped)
    GTEST_LOG_(INFO) << "it was over before it could be stopped";
  else
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
  // One is left: the client's stream of appends.
  for (int tries = 0; tries < 6'000 && served.door->calls() != 1; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 1u) << "the work goes on, for nobody";
  EXPECT_TRUE(remote.verify());
}

TEST_F(RemoteAdministration, WithoutTypesThereAreNone) {
  const auto types = remote.types();
  ASSERT_TRUE(types) << types.error().what;
  EXPECT_TRUE(types->empty());
}

TEST_F(RemoteAdministration, GivesTheErrorsOfAClosedStore) {
  auto hasty = served.connect({.timeout = 2s});
  ASSERT_TRUE(hasty.head());
  served.local.close();
  EXPECT_EQ(hasty.head().error().code, ErrorCode::unavailable);
  EXPECT_EQ(hasty.append(Append{}.event("a-1", "T", "x")).error().code, ErrorCode::unavailable);
  EXPECT_EQ(hasty.read(Query::all()).next().error().code, ErrorCode::unavailable);
}

// A server that says `unavailable` is borne as long as `unavailable_timeout` says, and then its reason is the answer.
TEST(RemoteSnapshot, OnAFullDiskComesBackWithTheReasonLongBeforeTheTimeOut) {
  TemporaryFolder folder;
  const auto data = folder.path() / "data";
  {
    auto store = Local::open({.data_dir = data, .disk_reserve_bytes = 0});
    ASSERT_TRUE(store) << store.error().what;
    append_events(*store, 1);
  }
  LocalOptions full{.data_dir = data};
  full.disk_reserve_bytes = 1ull << 60;
  ServedStore served({}, {}, full);
  auto remote = served.connect({.timeout = std::chrono::seconds(120), .unavailable_timeout = std::chrono::seconds(1)});
  const auto begin = std::chrono::steady_clock::now();
  const auto refused =
      remote.put_snapshot({.aggregate = {"n", "0"}, .version = SeqNr(1), .payload = "x", .keep = {}, .ttl = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().what;
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("disk"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(RemoteSnapshot, IsSentAgainWhileTheServerCannotBeReached) {
  ServedStore served;
  append_events(served.local, 1);
  auto remote = served.connect({.timeout = std::chrono::seconds(60)});
  served.stop();
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    served.start();
  });
  const auto put =
      remote.put_snapshot({.aggregate = {"n", "0"}, .version = SeqNr(1), .payload = "x", .keep = {}, .ttl = {}});
  later.join();
  EXPECT_TRUE(put) << put.error().what;
}

}  // namespace
}  // namespace evershard
