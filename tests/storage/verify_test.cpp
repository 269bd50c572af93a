#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include <rocksdb/db.h>

#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "tests/contract/node_writer.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Verify : public MaintainedStore {};

TEST_F(Verify, FindsNothingInAWholeStore) {
  make(250, 30);
  open();
  write({snapshot_of("order-1", 3, 16)});

  auto report = verified();

  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.errors, 0u);
  EXPECT_EQ(report.events, 280u);
  EXPECT_EQ(report.records, 280u);
  EXPECT_EQ(report.snapshots, 1u);
  EXPECT_GT(report.index_rows, 250u);
}

TEST_F(Verify, LooksAtAStoreInMemoryToo) {
  auto in_memory = options();
  in_memory.data_dir.clear();
  store_ = std::move(*open_store(in_memory));
  writer_ = std::make_unique<StoreWriter>(store());
  fill(250);

  auto report = verified();

  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.events, 250u);
}

TEST_F(Verify, FindsNothingWrongWithAggregatesThatASealAddsMeanwhile) {
  open();
  ASSERT_TRUE(writer_->commit({one("other-1", "placed", "x", {})}));
  bool added = false;
  const auto report = verify(store(), [&](std::uint64_t, std::uint64_t) {
    if (!std::exchange(added, true)) {
      fill(10);
      EXPECT_TRUE(store().seal());
    }
    return true;
  });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_TRUE(added);
  EXPECT_THAT(report->findings, IsEmpty());
}

TEST_F(Verify, FindsNothingWhileCommitsAndSealsGoOn) {
  open();
  std::atomic<bool> done = false;
  std::thread committing([&] {
    fill(3'000);
    done = true;
  });

  std::uint64_t rounds = 0;
  std::vector<std::string> found;
  for (; !done || rounds == 0; ++rounds) {
    auto report = verified();
    found.insert(found.end(), report.findings.begin(), report.findings.end());
  }
  committing.join();

  EXPECT_THAT(found, IsEmpty());
  EXPECT_EQ(verified().events, 3'000u);
}

TEST_F(Verify, NamesWhatAnIndexLacks) {
  make(200);
  raw([&](RocksFamilies& families) {
    for (auto family : {Family::streams, Family::postings, Family::ids, Family::directory, Family::runs}) {
      auto rows = rows_of(families, family);
      erase(families, family, rows.back().first);
    }
  });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings, Contains(HasSubstr("family streams lacks seq_nr")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family postings lacks the posting of term")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family ids lacks the event id")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family directory lacks \"order-6\"")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family runs lacks the entry at position")));
  EXPECT_GE(report.errors, 5u);
}

TEST_F(Verify, NamesWhatAnIndexHasTooMuch) {
  make(200);
  raw([&](RocksFamilies& families) {
    std::string postings, stream;
    encode_postings(std::vector<Posting>{{GlobalPosition{17}, {ShardId{0}, ShardOffset{1}, 0}, 99}}, postings);
    put(families, Family::postings, keys::posting(0xabcdef, GlobalPosition{17}), postings);
    put(families, Family::ids, keys::id(EventId{}, ShardId{1}),
        encode_id({GlobalPosition{5}, {ShardId{1}, ShardOffset{2}, 0}}));
    AggregateId nobody{"order", "nobody"};
    sharding::TermHasher hasher(0);
    put(families, Family::directory, keys::directory(nobody),
        encode_directory(hasher.aggregate(nobody.text()), ShardId{0}));
  });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings,
              Contains(HasSubstr(
                  "family postings has the posting of term 0000000000abcdef at position 17 (shard 0, offset 1)")));
  EXPECT_THAT(report.findings,
              Contains(HasSubstr("family ids has the event id 00000000000000000000000000000000 at position 5")));
  EXPECT_THAT(report.findings,
              Contains(HasSubstr("family directory leads from \"order-nobody\" to another stream or shard")));
}

TEST_F(Verify, NamesAGapInAStream) {
  make(200);
  raw([&](RocksFamilies& families) {
    erase(families, Family::streams, rows_of(families, Family::streams).front().first);
  });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings,
              Contains(::testing::AllOf(HasSubstr("stream \"order-"), HasSubstr("goes on with seq_nr 1"),
                                        HasSubstr("expected was 1"))));
  EXPECT_THAT(report.findings,
              Contains(::testing::AllOf(HasSubstr("family streams lacks"), HasSubstr("more entries"))));
}

TEST_F(Verify, NamesShardAndOffsetOfADamagedRecord) {
  make(200);
  std::string place;
  raw([&](RocksFamilies& families) {
    auto [key, value] = rows_of(families, Family::journal)[50];
    auto decoded = *keys::decode_journal(key);
    place = "shard " + std::to_string(decoded.shard.value) + ", offset " + std::to_string(decoded.offset.value);
    value[value.size() - 5] ^= 1;
    put(families, Family::journal, key, value);
  });
  open();

  auto report = verified();

  EXPECT_EQ(report.errors, 1u);
  EXPECT_EQ(report.events, 199u);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings.front(), HasSubstr("shard " + place.substr(6, place.find(',') - 6)));
  EXPECT_THAT(report.findings.front(), HasSubstr(place.substr(place.find("offset"))));
}

TEST_F(Verify, NamesARecordAndACutThatAreMissing) {
  make(200);
  raw([&](RocksFamilies& families) {
    erase(families, Family::journal, rows_of(families, Family::journal)[10].first);
    erase(families, Family::order, keys::order(GlobalPosition{100}));
  });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings, Contains(HasSubstr("its record is missing")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("position 100 cannot be read: their cut is missing")));
  EXPECT_EQ(report.events, 198u);
}

TEST_F(Verify, NamesTheFileOfADamagedBlock) {
  make(200);
  auto file = files_of(Family::postings).front();
  flip(file, 100);
  open();

  auto report = verified();

  EXPECT_THAT(report.findings, Contains(::testing::AllOf(HasSubstr(file.filename().string()),
                                                         HasSubstr("of family postings is damaged"))));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family postings cannot be read to its end")));
}

TEST_F(Verify, ReadsOnBehindADamagedBlockOfTheJournal) {
  make(300, 0, 1'000);
  auto file = files_of(Family::journal).front();
  flip(file, std::filesystem::file_size(file) / 2);
  open();

  auto report = verified();

  EXPECT_LT(report.events, 300u);
  EXPECT_GT(report.events, 260u);
  EXPECT_EQ(report.events + report.errors, 301u);  // each event once, and the file
}

TEST_F(Verify, NamesSnapshotsThatAreDamagedOrOfNoVersion) {
  make(50);
  open();
  write({snapshot_of("order-1", 3, 16), snapshot_of("order-2", 1'000, 17)});
  close();
  raw([&](RocksFamilies& families) {
    for (auto [key, value] : rows_of(families, Family::state))
      if (key == keys::snapshot({"order", "1"}, std::nullopt)) {
        value.back() ^= 1;
        put(families, Family::state, key, value);
      }
  });
  open();

  auto report = verified();

  EXPECT_EQ(report.errors, 2u);
  EXPECT_THAT(report.findings, Contains(HasSubstr("the snapshot of \"order-1\"")));
  EXPECT_THAT(report.findings,
              Contains(HasSubstr("the snapshot of \"order-2\" is of version 1000, the stream ends at 7")));
}

TEST_F(Verify, StopsWhenItIsToldTo) {
  make(50);
  open();

  auto report = verify(store(), [](std::uint64_t, std::uint64_t) { return false; });

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

/// Every file below, with its bytes; but for the lock.
std::map<std::string, std::string> bytes_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "LOCK") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[std::filesystem::relative(entry.path(), folder).string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

/// Whatever lies in a directory.
class VerifyDirectory : public MaintainedStore {
 protected:
  DirectoryReport checked(const std::filesystem::path& folder) {
    const auto before = bytes_of(folder);
    auto report = verify_directory(folder);
    EXPECT_TRUE(report) << report.error().what;
    EXPECT_EQ(bytes_of(folder), before) << "it changes nothing";
    return report.value_or(DirectoryReport{});
  }
  [[nodiscard]] StoreOptions node_options() const {
    auto node = options();
    node.member = NodeWriter::member(2);
    return node;
  }
  /// 20 events in 40 positions, of which ten are in indexes' files; and one without a place.
  void make_node() {
    auto node = open_node_store(node_options());
    ASSERT_TRUE(node) << node.error().what;
    NodeWriter writer(**node);
    for (std::uint64_t i = 1; i <= 20; ++i) {
      ASSERT_TRUE(writer.journal({one(aggregate_in(0), "placed", std::to_string(i), {"x"})}));
      ASSERT_TRUE(writer.apply(writer.cut({writer.segment(0, i, i + 1), writer.segment(3, i, i + 1)})));
      if (i == 10) {
        ASSERT_TRUE((*node)->seal());
      }
    }
    ASSERT_TRUE(writer.journal({one(aggregate_in(1), "waits", "w")}));
  }
};

TEST_F(VerifyDirectory, ChecksAStoreAndItsBackupsOfEitherKind) {
  make(150, 30);
  open();
  ASSERT_TRUE(backup(store(), folder_.path() / "whole"));
  ASSERT_TRUE(backup(store(), folder_.path() / "truth", {.truth_only = true}));
  close();

  for (const auto& [name, kind] : {std::pair{"store", DirectoryKind::store}, std::pair{"whole", DirectoryKind::store},
                                   std::pair{"truth", DirectoryKind::truth_only}}) {
    SCOPED_TRACE(name);
    const auto report = checked(folder_.path() / name);
    EXPECT_EQ(report.kind, kind);
    EXPECT_EQ(report.node, 0u);
    EXPECT_EQ(report.report.events, 180u);
    EXPECT_THAT(report.report.findings, IsEmpty());
  }
  EXPECT_GT(checked(folder_.path() / "whole").report.index_rows, 0u);
}

TEST_F(VerifyDirectory, FindsWhatIsDamagedInAnyOfThem) {
  make(150, 30);
  open();
  const auto gone = everything(store())[99];
  close();
  raw([&](RocksFamilies& families) {
    put(families, Family::journal, keys::journal(gone.shard, gone.offset), "damaged");
  });

  const auto report = checked(data_dir());

  EXPECT_EQ(report.report.errors, 1u);
  EXPECT_THAT(report.report.findings, ElementsAre(HasSubstr("position 100 cannot be read")));
}

TEST_F(VerifyDirectory, ChecksANodesPartAndABackupOfIt) {
  make_node();
  {
    auto node = open_node_store(node_options());
    ASSERT_TRUE(node);
    ASSERT_TRUE(backup(**node, folder_.path() / "backup"));
    const auto open_elsewhere = verify_directory(data_dir());
    ASSERT_FALSE(open_elsewhere);
    EXPECT_EQ(open_elsewhere.error().code, ErrorCode::unavailable);
  }

  for (const auto& folder : {data_dir(), folder_.path() / "backup"}) {
    const auto report = checked(folder);
    EXPECT_EQ(report.kind, DirectoryKind::node);
    EXPECT_EQ(report.node, 2u);
    EXPECT_EQ(report.report.events, 20u);
    EXPECT_THAT(report.report.findings, IsEmpty());
  }
  raw([&](RocksFamilies& families) {
    put(families, Family::journal, keys::journal(ShardId{0}, ShardOffset{7}), "damaged");
  });
  EXPECT_THAT(checked(data_dir()).report.findings, ElementsAre(HasSubstr("position 13 cannot be read")));
}

TEST_F(VerifyDirectory, ChecksACutLogRowByRow) {
  CutLogOptions options;
  options.data_dir = folder_.path() / "log";
  options.shards = 4;
  {
    auto log = open_cut_log(options);
    ASSERT_TRUE(log) << log.error().what;
    const auto led = (*log)->lead();
    ASSERT_TRUE(led);
    for (std::uint64_t i = 1; i <= 30; ++i) {
      sharding::Cut cut;
      cut.number = CutNumber{i};
      cut.coordinator = led->epoch;
      cut.first_position = GlobalPosition{3 * i - 2};
      if (i == 1) cut.openings.push_back({ShardId{0}, Epoch{1}, 1, ShardOffset{1}, ShardOffset{0}, ShardOffset{0}});
      cut.segments.push_back({ShardId{0}, Epoch{1}, ShardOffset{3 * i - 2}, ShardOffset{3 * i + 1}, {}});
      ASSERT_TRUE((*log)->put(cut));
    }
    EXPECT_EQ(verify_directory(options.data_dir).error().code, ErrorCode::unavailable);
  }

  const auto whole = checked(options.data_dir);
  {
    rocksdb::DB* raw = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, (options.data_dir / "db").string(), &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    ASSERT_TRUE(db->Put({}, cut_log_rows::cut_key(CutNumber{17}), "damaged").ok());
  }
  const auto damaged = checked(options.data_dir);

  EXPECT_EQ(whole.kind, DirectoryKind::cut_log);
  EXPECT_EQ(whole.report.records, 30u);
  EXPECT_EQ(whole.report.events, 90u);
  EXPECT_EQ(whole.report.errors, 0u);
  EXPECT_EQ(damaged.report.errors, 1u);
  EXPECT_THAT(damaged.report.findings, ElementsAre(HasSubstr("17")));
}

TEST_F(VerifyDirectory, RefusesByNameWhatIsNoneOfThese) {
  make(10);
  std::filesystem::copy(data_dir(), folder_.path() / "copy.part", std::filesystem::copy_options::recursive);
  std::filesystem::create_directories(folder_.path() / "other" / "db");
  {
    rocksdb::Options rocks;
    rocks.create_if_missing = true;
    rocksdb::DB* made = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(rocks, (folder_.path() / "other" / "db").string(), &made).ok());
    const std::unique_ptr<rocksdb::DB> db(made);
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily({}, "photos", &family).ok());
    db->DestroyColumnFamilyHandle(family);
  }

  const auto nothing = verify_directory(folder_.path() / "nothing");
  const auto around = verify_directory(folder_.path());
  const auto unfinished = verify_directory(folder_.path() / "copy.part");
  const auto other = verify_directory(folder_.path() / "other");

  ASSERT_FALSE(nothing || around || unfinished || other);
  EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
  EXPECT_EQ(around.error().code, ErrorCode::not_found);
  EXPECT_THAT(around.error().what, HasSubstr("name one of them: copy.part, other, store"));
  EXPECT_EQ(unfinished.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(unfinished.error().what, HasSubstr("not finished"));
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().what, HasSubstr("none of Evershard's"));
}

}  // namespace
}  // namespace evershard::storage
