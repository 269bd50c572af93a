// Faults of the disk: what the store does about each row of docs/operations.md, "Faults".

#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "evershard/storage/repair/store_maintenance.hpp"
#include "evershard/storage/rocks/disk_space.hpp"
#include "evershard/storage/steps.hpp"
#include "tests/contract/raw_database.hpp"
#include "tests/contract/rocks_folder.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::storage {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class RocksFaults : public RocksFolder {
 protected:
  ~RocksFaults() override { close(); }  // before the faulty disk goes
  [[nodiscard]] StoreOptions faulty() const {
    auto options = this->options();
    options.env = disk_.env();
    return options;
  }
  [[nodiscard]] static Result<std::unique_ptr<Store>> open_again(const StoreOptions& options) {
    return open_store(options);
  }

  FaultEnv disk_;
};

TEST_F(RocksFaults, FailsForGoodWhenASyncFails) {
  open(faulty());
  write(0, 50);
  disk_.fail_next_sync();

  auto failed = writer().commit({one("order-1", "placed", "lost")});
  auto next = writer().commit({one("order-1", "placed", "refused")});

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::io);
  EXPECT_EQ(store().admission().kind, Admission::Kind::failed);
  EXPECT_EQ(store().view().watermark, GlobalPosition{50});
  EXPECT_EQ(store().seal().error().code, ErrorCode::io);
  expect_all_there(store(), 50);
}

TEST_F(RocksFaults, HasAllThatWasAcknowledgedAfterAFailedSync) {
  open(faulty());
  write(0, 50);
  disk_.fail_next_sync();
  ASSERT_FALSE(writer().commit({one("order-16", "type2", "50", {"mod5:0"})}));

  open();

  // The outcome of the failed one is unknown: there whole, or not at all.
  EXPECT_THAT(store().view().watermark.value, AnyOf(50u, 51u));
  expect_all_there(store(), static_cast<int>(store().view().watermark.value));
}

/// How many zeros lie behind the log at most, in bytes.
class PowerLoss : public RocksFaults, public ::testing::WithParamInterface<std::size_t> {
 protected:
  [[nodiscard]] StoreOptions over_zeros() const {
    auto options = faulty();
    options.log_zeros_max = GetParam();
    return options;
  }
};

TEST_P(PowerLoss, LosesNothingAcknowledged) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::filesystem::remove_all(data_dir());
    open(over_zeros());
    int acknowledged = 0;
    auto until = 100 + static_cast<int>(random() % 1'500);
    while (acknowledged < until) {
      write(acknowledged, 10);
      acknowledged += 10;
      if (random() % 40 == 0) {
        ASSERT_TRUE(store().seal());
      }
    }
    if (random() % 2 == 0) {  // one that is written and not synced, of several sectors
      disk_.fail_next_sync();
      auto last = one("order-" + std::to_string(acknowledged % 17), "type" + std::to_string(acknowledged % 3),
                      std::to_string(acknowledged), {"mod5:" + std::to_string(acknowledged % 5)});
      std::string noise(random() % 3'000, ' ');
      for (auto& byte : noise) byte = static_cast<char>(random());
      last.events.front().metadata = noise;
      static_cast<void>(writer().commit({last}));
    }
    disk_.cut_power();
    close();
    disk_.lose_unsynced(random());

    auto opened = open_again(over_zeros());
    ASSERT_TRUE(opened) << opened.error().what;
    auto there = static_cast<int>((*opened)->view().watermark.value);
    EXPECT_THAT(there, AnyOf(acknowledged, acknowledged + 1));
    expect_all_there(**opened, there);
  }
  EXPECT_EQ(disk_.sectors_lost_over_zeros() > 0, GetParam() > 0);
}

INSTANTIATE_TEST_SUITE_P(Zeros, PowerLoss, ::testing::Values(0, 16u << 10, 256u << 10));

TEST_F(RocksFaults, SealsAgainWhenTheDiskHadNoRoomForAWhile) {
  open(faulty());
  write(0, 300);
  disk_.fill_disk();

  auto sealed = store().seal();

  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, ErrorCode::io);
  EXPECT_EQ(store().view().mark, GlobalPosition{0});
  expect_all_there(store(), 300);
  disk_.free_disk();
  ASSERT_TRUE(store().seal());
  write(300, 100);
  expect_all_there(store(), 400);
  open();
  expect_all_there(store(), 400);
}

TEST_F(RocksFaults, LosesNothingAcknowledgedWhenTheDiskIsFull) {
  open(faulty());
  write(0, 300);
  disk_.fill_disk();

  auto failed = writer().commit({one("order-11", "type0", "300", {"mod5:0"})});

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_EQ(store().admission().kind, Admission::Kind::failed);
  close();
  disk_.free_disk();
  open(faulty());
  EXPECT_THAT(store().view().watermark.value, AnyOf(300u, 301u));
  expect_all_there(store(), static_cast<int>(store().view().watermark.value));
}

TEST_F(RocksFaults, TakesNoAppendsBelowTheDiskReserve) {
  auto greedy = options();
  greedy.disk_reserve_bytes = ~std::size_t{0};
  open(greedy);

  auto admission = store().admission();

  EXPECT_EQ(admission.kind, Admission::Kind::disk);
  EXPECT_THAT(admission.what, HasSubstr("are to stay free"));
}

TEST_F(RocksFaults, KeepRoomForWhatAllDatabasesOfADiskHaveInMemory) {
  open();  // its folder is there
  const DiskSpace own(options().data_dir, 0);
  EXPECT_FALSE(own.below_reserve());
  EXPECT_TRUE(own.has_room_to_merge());
  {
    DiskSpace other(options().data_dir, 0);
    other.poll(std::uint64_t{1} << 50);
    EXPECT_TRUE(own.below_reserve());
    EXPECT_FALSE(own.has_room_to_merge());
  }
  EXPECT_FALSE(own.below_reserve()) << "it is closed";
}

TEST_F(RocksFaults, RefusesALogWithAFlippedByteInTheMiddle) {
  open();
  write(0, 1'000);
  close();
  auto log = files_of(".log").back();
  flip_byte(log, std::filesystem::file_size(log) / 2);

  auto opened = open_again(options());

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corruption);
  EXPECT_THAT(opened.error().what, HasSubstr("to 1000 are missing"));
  EXPECT_THAT(opened.error().what, HasSubstr(".log"));
  opened = open_again(options());  // and again: nothing was changed by looking
  EXPECT_FALSE(opened);
}

TEST_F(RocksFaults, RefusesADeletedLog) {
  open();
  write(0, 200);
  close();
  for (const auto& log : files_of(".log")) std::filesystem::remove(log);

  auto opened = open_again(options());

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corruption);
}

TEST_F(RocksFaults, OpensWhatIsLeftWhenTheLossIsAccepted) {
  open();
  write(0, 500);
  ASSERT_TRUE(store().seal());
  write(500, 500);
  close();
  auto log = files_of(".log").back();
  flip_byte(log, std::filesystem::file_size(log) / 2);
  auto accepting = options();
  accepting.accept_loss = true;

  open(accepting);

  auto left = static_cast<int>(store().view().watermark.value);
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 1'000);
  expect_all_there(store(), left);
  write(left, 100);
  open();
  expect_all_there(store(), left + 100);
}

TEST_F(RocksFaults, OpensWhatWasInFilesWhenTheLossOfALogIsAccepted) {
  open();
  for (int i = 0; i < 300; ++i) {
    if (i == 100) {  // at least this much is in files
      ASSERT_TRUE(store().maintenance()->flush_log());
    }
    std::vector<Append> appends;
    for (int k = 10 * i; k < 10 * i + 10; ++k)
      appends.push_back(one("order-" + std::to_string(k % 17), "type0", std::to_string(k) + std::string(400, ' ')));
    ASSERT_TRUE(writer().commit(std::move(appends)));
  }
  ASSERT_TRUE(store().seal());
  close();
  ASSERT_FALSE(files_of(".sst").empty());
  for (const auto& log : files_of(".log")) std::filesystem::remove(log);
  ASSERT_FALSE(open_again(options()));
  auto accepting = options();
  accepting.accept_loss = true;

  open(accepting);

  auto events = everything(store());
  EXPECT_GE(events.size(), 1'000u);
  EXPECT_LT(events.size(), 3'000u);
  EXPECT_EQ(store().view().watermark, GlobalPosition{events.size()});
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_TRUE(events[i].payload.starts_with(std::to_string(i) + " ")) << i;
  ASSERT_TRUE(writer().commit({one("order-1", "placed", "next")}));
  open();
  EXPECT_EQ(everything(store()).size(), events.size() + 1);
}

TEST_F(RocksFaults, IsTheSameStoreWhenEveryLogIsLostBeforeAnythingWasInFiles) {
  open();
  const auto id = store().identity().store;
  write(0, 10);
  close();
  for (const auto& log : files_of(".log")) std::filesystem::remove(log);
  auto accepting = options();
  accepting.accept_loss = true;

  open(accepting);

  EXPECT_EQ(store().identity().store, id);
  EXPECT_EQ(store().view().watermark, GlobalPosition{0});
  write(0, 10);
}

TEST_F(RocksFaults, RebuildsIndexesThatWentFurtherThanTheRecoveredLog) {
  open();
  write(0, 500);
  ASSERT_TRUE(store().seal());
  close();
  auto log = files_of(".log").back();
  flip_byte(log, std::filesystem::file_size(log) / 3);
  ASSERT_FALSE(open_again(options()));
  auto accepting = options();
  accepting.accept_loss = true;

  open(accepting);

  auto left = static_cast<int>(store().view().watermark.value);
  EXPECT_LT(left, 500);
  expect_all_there(store(), left);
  write(left, 300);
  ASSERT_TRUE(store().seal());
  expect_all_there(store(), left + 300);
}

TEST_F(RocksFaults, RebuildsIndexesWhoseDroppingWasBrokenOff) {
  open();
  write(0, 500);
  ASSERT_TRUE(store().seal());
  close();
  auto log = files_of(".log").back();
  flip_byte(log, std::filesystem::file_size(log) / 3);
  auto accepting = options();
  accepting.accept_loss = true;
  accepting.at_step = [&](const char* step) {
    if (step == std::string_view(steps::open_clearing) || step == std::string_view(steps::open_cleared))
      take_image(folder_.path() / step);
  };
  open(accepting);
  auto left = static_cast<int>(store().view().watermark.value);
  close();
  for (const char* step : {steps::open_clearing, steps::open_cleared}) {
    auto again = options();
    again.data_dir = folder_.path() / step;

    auto opened = open_again(again);

    ASSERT_TRUE(opened) << opened.error().what;
    expect_all_there(**opened, left);
    // What follows stands elsewhere than what was lost: a row left over would show.
    StoreWriter writer(**opened);
    ASSERT_TRUE(writer.commit({one("other-1", "other", "shift", {"shift"})}));
    std::vector<std::string> expected;
    for (int i = 0; i < left; ++i)
      if (i % 5 == 2) expected.push_back(std::to_string(i));
    for (int i = 0; i < 600; ++i) {
      ASSERT_TRUE(writer.commit({one("order-3", "new", "n" + std::to_string(i), {i % 3 == 0 ? "mod5:2" : "mod5:4"})}));
      if (i % 3 == 0) expected.push_back("n" + std::to_string(i));
    }
    ASSERT_TRUE((*opened)->seal());
    EXPECT_EQ(payloads_of(matching(**opened, Query().tags({"mod5:2"}))), expected) << step;
    auto rows = (*opened)->rows().cursor(Family::ids);
    std::size_t ids = 0;
    for (rows->seek({}); rows->valid(); rows->next()) ++ids;
    EXPECT_EQ(ids, static_cast<std::size_t>(left) + 601) << step;
  }
}

class DeletedFile : public RocksFaults, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeletedFile, IsRefusedAsDamage) {
  open();
  for (int i = 0; i < 3; ++i) {  // a megabyte of memtable is flushed on the way
    std::vector<Append> appends;
    for (int k = 0; k < 500; ++k) appends.push_back(one("order-1", "placed", std::string(1'000, 'x')));
    ASSERT_TRUE(writer().commit(std::move(appends)));
    ASSERT_TRUE(store().seal());
  }
  close();
  std::string prefix = GetParam();
  int deleted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(database())) {
    auto name = entry.path().filename().string();
    if (deleted == 0 && (name.starts_with(prefix) || name.ends_with(prefix))) {
      std::filesystem::remove(entry.path());
      ++deleted;
    }
  }
  ASSERT_EQ(deleted, 1);

  auto opened = open_again(options());

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corruption) << opened.error().what;
}

INSTANTIATE_TEST_SUITE_P(EachKind, DeletedFile, ::testing::Values(".sst", "MANIFEST", "CURRENT", ".log"));

TEST_F(RocksFaults, NeverReadsAWrongByteFromASortedFile) {
  open();
  write(0, 2'000);
  ASSERT_TRUE(store().seal());
  close();
  take_image(folder_.path() / "good");
  auto tables = files_of(".sst");
  std::mt19937_64 random(5);
  int found = 0;

  for (int round = 0; round < 30; ++round) {
    std::filesystem::remove_all(data_dir());
    std::filesystem::copy(folder_.path() / "good", data_dir(), std::filesystem::copy_options::recursive);
    auto table = tables[random() % tables.size()];
    flip_byte(table, random() % std::filesystem::file_size(table));

    auto opened = open_again(options());
    if (!opened) {
      EXPECT_THAT(opened.error().code, AnyOf(ErrorCode::corruption, ErrorCode::io)) << opened.error().what;
      ++found;
      continue;
    }
    // What is answered is right; what is not is an error, which all_of() puts at the end.
    auto events = matching(**opened, Query().tags({"mod5:1"}));
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].payload == std::to_string(5 * i + 1)) continue;
      EXPECT_EQ(i + 1, events.size());
      EXPECT_EQ(events[i].position, GlobalPosition{0}) << events[i].payload;
      ++found;
    }
    if (events.empty() || events.back().position != GlobalPosition{0}) {
      EXPECT_EQ(events.size(), 400u);
    }
  }
  EXPECT_GE(found, 3);
}

class DamagedRows : public RocksFaults {
 protected:
  void write_and_close() {
    open();
    write(0, 100);
    ASSERT_TRUE(store().seal());
    write(100, 100);
    close();
  }
  Error refusal() {
    auto opened = open_again(options());
    return opened ? Error(ErrorCode{}, "it was opened") : opened.error();
  }
};

TEST_F(DamagedRows, AreRefusedWhereARecordIsMissing) {
  write_and_close();
  {
    RawDatabase raw(database());
    auto keys = raw.keys("journal");
    raw.erase("journal", keys[keys.size() - 3]);
  }

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::corruption);
  EXPECT_THAT(error.what, HasSubstr("is missing"));
  ASSERT_TRUE(error.details);
  EXPECT_EQ(error.details->shard, ShardId{3});
}

TEST_F(DamagedRows, AreRefusedWhereTheLastRecordIsMissing) {
  write_and_close();
  {
    RawDatabase raw(database());
    raw.erase("journal", raw.keys("journal").back());
  }

  EXPECT_EQ(refusal().code, ErrorCode::corruption);
}

TEST_F(DamagedRows, AreRefusedWhereACutIsMissing) {
  write_and_close();
  {
    RawDatabase raw(database());
    auto keys = raw.keys("order");
    raw.erase("order", keys[keys.size() - 4]);
  }

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::corruption);
  EXPECT_THAT(error.what, HasSubstr("the cut of position 161 is missing"));
}

TEST_F(DamagedRows, AreRefusedWhereTheLastCutIsMissing) {
  write_and_close();
  {
    RawDatabase raw(database());
    raw.erase("order", raw.keys("order").back());
  }

  EXPECT_EQ(refusal().code, ErrorCode::corruption);
}

TEST_F(DamagedRows, AreNamedWhereARecordsBytesAreWrong) {
  write_and_close();
  {
    RawDatabase raw(database());
    auto key = raw.keys("journal").back();
    auto record = raw.get("journal", key);
    record[record.size() - 3] ^= 1;
    raw.put("journal", key, record);
  }

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::corruption);
  EXPECT_THAT(error.what, HasSubstr("shard 3"));
}

TEST_F(DamagedRows, AreSkippedWhenTheLossIsAccepted) {
  write_and_close();
  {
    RawDatabase raw(database());
    auto keys = raw.keys("journal");
    auto record = raw.get("journal", keys[keys.size() - 3]);
    record[record.size() / 2] ^= 1;
    raw.put("journal", keys[keys.size() - 3], record);
  }
  auto accepting = options();
  accepting.accept_loss = true;

  open(accepting);

  EXPECT_EQ(store().view().watermark, GlobalPosition{200});
  int damaged = 0;
  for (std::uint64_t position = 1; position <= 200; ++position) {
    auto event = Reader(store()).event_at(store().view(), GlobalPosition{position});
    if (!event) {
      EXPECT_EQ(event.error().code, ErrorCode::corruption);
      ++damaged;
    } else {
      ASSERT_TRUE(*event);
      EXPECT_EQ((*event)->payload, std::to_string(position - 1));
    }
  }
  EXPECT_EQ(damaged, 1);
  ASSERT_TRUE(store().seal());
}

}  // namespace
}  // namespace evershard::storage
