#include <atomic>
#include <thread>

#include "evershard/storage/chunks.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::Contains;
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
    put(families, Family::ids, keys::id(EventId{}, ShardId{1}), encode_id({GlobalPosition{5}, {ShardId{1}, ShardOffset{2}, 0}}));
    AggregateId nobody{"order", "nobody"};
    sharding::TermHasher hasher(0);
    put(families, Family::directory, keys::directory(nobody), encode_directory(hasher.aggregate(nobody.text()), ShardId{0}));
  });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings, Contains(HasSubstr("family postings has the posting of term 0000000000abcdef at position 17 (shard 0, offset 1)")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family ids has the event id 00000000000000000000000000000000 at position 5")));
  EXPECT_THAT(report.findings, Contains(HasSubstr("family directory leads from \"order-nobody\" to another stream or shard")));
}

TEST_F(Verify, NamesAGapInAStream) {
  make(200);
  raw([&](RocksFamilies& families) { erase(families, Family::streams, rows_of(families, Family::streams).front().first); });
  open();

  auto report = verified();

  EXPECT_THAT(report.findings, Contains(::testing::AllOf(HasSubstr("stream \"order-"), HasSubstr("goes on with seq_nr 1"), HasSubstr("expected was 1"))));
  EXPECT_THAT(report.findings, Contains(::testing::AllOf(HasSubstr("family streams lacks"), HasSubstr("more entries"))));
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

  EXPECT_THAT(report.findings, Contains(::testing::AllOf(HasSubstr(file.filename().string()), HasSubstr("of family postings is damaged"))));
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
  EXPECT_THAT(report.findings, Contains(HasSubstr("the snapshot of \"order-2\" is of version 1000, the stream ends at 7")));
}

TEST_F(Verify, StopsWhenItIsToldTo) {
  make(50);
  open();

  auto report = verify(store(), [](std::uint64_t, std::uint64_t) { return false; });

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evershard::storage
