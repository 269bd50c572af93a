// Opening a store on disk: what comes back, and what is refused.

#include <atomic>
#include <map>

#include <gmock/gmock.h>
#include <unistd.h>

#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/steps.hpp"
#include "tests/contract/raw_database.hpp"
#include "tests/contract/rocks_folder.hpp"

namespace evershard::storage {
namespace {

using ::testing::HasSubstr;

class RocksReopen : public RocksFolder {
 protected:
  Error refusal(const StoreOptions& options) {
    close();
    auto opened = open_store(options);
    if (opened) return Error(ErrorCode{}, "it was opened");
    return opened.error();
  }
  Error refusal() { return refusal(options()); }
};

TEST_F(RocksReopen, GivesBackEverythingFromTheTailAlone) {
  open();
  write(0, 500);
  auto before = store().view();

  open();

  EXPECT_EQ(store().view().mark, GlobalPosition{0});
  EXPECT_EQ(store().view().watermark, before.watermark);
  EXPECT_EQ(store().stats().tail_events, 500u);
  expect_all_there(store(), 500);
}

TEST_F(RocksReopen, GivesBackEverythingFromRunsAndTail) {
  open();
  write(0, 500);
  ASSERT_TRUE(store().seal());
  write(500, 300);

  open();

  EXPECT_EQ(store().view().mark, GlobalPosition{500});
  EXPECT_EQ(store().stats().tail_events, 300u);
  expect_all_there(store(), 800);
}

TEST_F(RocksReopen, GoesOnWhereItStopped) {
  int written = 0;
  for (int round = 0; round < 6; ++round) {
    open();
    EXPECT_EQ(store().recovered().watermark, GlobalPosition{static_cast<std::uint64_t>(written)});
    EXPECT_EQ(store().recovered().last_cut, CutNumber{static_cast<std::uint64_t>(written) / 10});
    write(written, 170);
    written += 170;
    if (round % 2 == 0) {
      ASSERT_TRUE(store().seal());
    }
    expect_all_there(store(), written);
  }
  open();
  expect_all_there(store(), written);
}

TEST_F(RocksReopen, KnowsTheNextOffsetOfEveryShard) {
  open();
  write(0, 200);
  auto state = store().recovered();
  std::map<ShardId, std::uint64_t> last;
  for (const auto& event : everything(store())) last[event.shard] = event.offset.value;

  open();

  for (const auto& [shard, offset] : last)
    EXPECT_EQ(store().recovered().shards[shard.value].next, ShardOffset{offset + 1});
  EXPECT_EQ(state.shards[0].next, ShardOffset{1});
}

TEST_F(RocksReopen, RebuildsMoreThanBothTailsHold) {
  auto large = options();
  large.tail_events = 100'000;
  open(large);
  write(0, 3'000);

  auto small = options();
  small.tail_events = 200;
  open(small);

  EXPECT_GE(store().stats().sealed_runs, 1u);
  expect_all_there(store(), 3'000);
}

TEST_F(RocksReopen, ReadsWithoutChangingAnything) {
  open();
  write(0, 300);
  ASSERT_TRUE(store().seal());
  write(300, 100);
  close();
  auto look = options();
  look.read_only = true;

  open(look);

  expect_all_there(store(), 400);
  EXPECT_EQ(store().admission().kind, Admission::Kind::failed);
  EXPECT_FALSE(store().seal());
  open();
  expect_all_there(store(), 400);
}

TEST_F(RocksReopen, ReadsBesideTheProcessThatWrites) {
  open();
  write(0, 300);
  auto look = options();
  look.read_only = true;

  auto reader = open_store(look);

  ASSERT_TRUE(reader) << reader.error().what;
  expect_all_there(**reader, 300);
}

TEST_F(RocksReopen, RefusesWhatIsNotThere) {
  auto missing = options();
  missing.create = false;

  EXPECT_EQ(refusal(missing).code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(data_dir()));
}

TEST_F(RocksReopen, RefusesASecondOwnerAndNamesTheFirst) {
  open();

  auto second = open_store(options());

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().what, HasSubstr("process " + std::to_string(::getpid())));
}

TEST_F(RocksReopen, RefusesAnotherShardCount) {
  open();
  auto other = options();
  other.shards = 8;

  auto error = refusal(other);

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.what, HasSubstr("has 4 shards, not 8"));
  other.shards = 0;
  open(other);
  EXPECT_EQ(store().identity().shards, 4u);
}

class ForeignIdentity : public RocksReopen {
 protected:
  /// Rewrites the identity as another program would have written it.
  void rewrite(const std::string& value, bool extra_family = false) {
    close();
    RawDatabase raw(database());
    raw.put("state", keys::identity(), value);
    if (extra_family) raw.add_family("from_the_future");
  }
};

TEST_F(ForeignIdentity, RefusesAnotherHash) {
  open();
  auto identity = store().identity();
  identity.hash = 7;
  rewrite(encode(identity));

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.what, HasSubstr("hash 7"));
}

TEST_F(ForeignIdentity, RefusesANewerFormat) {
  open();
  auto identity = store().identity();
  identity.format = format_version + 1;
  rewrite(encode(identity));

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.what, HasSubstr(std::to_string(format_version + 1)));
}

TEST_F(ForeignIdentity, RefusesANewerFormatThatHasMoreFamilies) {
  open();
  auto identity = store().identity();
  identity.format = format_version + 1;
  rewrite(encode(identity), true);

  auto error = refusal();

  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.what, HasSubstr(std::to_string(format_version + 1)));
}

TEST_F(ForeignIdentity, IsDamageWhenItCannotBeRead) {
  open();
  rewrite("x");

  EXPECT_EQ(refusal().code, ErrorCode::corruption);
}

/// What `kill -9` leaves at every step of sealing and committing, opened again.
TEST_F(RocksReopen, GivesBackEverythingAfterAKillAtAnyStep) {
  std::vector<std::pair<std::filesystem::path, int>> images;
  std::atomic<bool> watching{false};
  std::atomic<int> committed{0};
  std::map<std::string, int> taken;
  auto watched = options();
  watched.at_step = [&](const char* step) {
    if (!watching || taken[step] >= 2) return;
    auto image = folder_.path() / (std::string(step) + "-" + std::to_string(taken[step]++));
    take_image(image);
    images.emplace_back(image, committed.load());
  };
  open(watched);
  write(0, 300);
  ASSERT_TRUE(store().seal());
  write(300, 300);
  committed = 600;
  watching = true;
  ASSERT_TRUE(store().seal());
  write(600, 10);
  committed = 610;
  ASSERT_TRUE(store().seal());
  watching = false;
  close();

  EXPECT_GE(images.size(), 12u);
  for (const auto& [image, least] : images) {
    auto again = options();
    again.data_dir = image;
    auto opened = open_store(again);
    ASSERT_TRUE(opened) << image << ": " << opened.error().what;
    auto there = static_cast<int>((*opened)->view().watermark.value);
    EXPECT_TRUE(there == least || there == 610) << image;
    expect_all_there(**opened, there);
    ASSERT_TRUE((*opened)->seal()) << image;
    expect_all_there(**opened, there);
  }
}

TEST_F(RocksReopen, BeginsAnewWhenItsCreationWasBrokenOff) {
  std::vector<std::filesystem::path> images;
  auto watched = options();
  watched.at_step = [&](const char* step) {
    images.push_back(folder_.path() / step);
    take_image(images.back());
  };
  open(watched);
  close();

  EXPECT_GE(images.size(), 4u);
  for (const auto& image : images) {
    auto again = options();
    again.data_dir = image;
    auto opened = open_store(again);
    ASSERT_TRUE(opened) << image << ": " << opened.error().what;
    EXPECT_EQ((*opened)->identity().shards, 4u);
  }
}

}  // namespace
}  // namespace evershard::storage
