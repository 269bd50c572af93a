// The cut log on disk: what is refused at opening, by name, and what a broken disk does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "evershard/storage/open.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"
#include "evershard/storage/order/rocks_cut_log.hpp"
#include "tests/contract/raw_database.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/sharding/cuts.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::storage {
namespace {

using sharding::next_cut;
using sharding::opening_of;
using sharding::segment_of;
using testing::HasSubstr;

class RocksCutLogOnDisk : public testing::Test {
 protected:
  [[nodiscard]] CutLogOptions options(std::uint32_t shards = 2) const { return {folder_.path() / "cuts", shards}; }
  [[nodiscard]] std::filesystem::path database() const { return folder_.path() / "cuts" / "db"; }
  std::unique_ptr<DurableCutLog> open() {
    auto log = open_cut_log(options());
    EXPECT_TRUE(log) << log.error().what;
    return log ? std::move(*log) : nullptr;
  }
  static void put_three(sharding::CutLog& log) {
    ASSERT_TRUE(log.lead());
    ASSERT_TRUE(log.put(next_cut(log.state(), {}, {opening_of(0, 1, 1, 1)})));
    ASSERT_TRUE(log.put(next_cut(log.state(), {segment_of(0, 1, 1, 4)})));
    ASSERT_TRUE(log.put(next_cut(log.state(), {segment_of(0, 1, 4, 5)})));
  }
  [[nodiscard]] Error refusal(std::uint32_t shards = 2) const {
    auto log = open_cut_log(options(shards));
    EXPECT_FALSE(log);
    return log ? Error{} : log.error();
  }
  TemporaryFolder folder_;
};

TEST_F(RocksCutLogOnDisk, IsOpenOnceOnly) {
  const auto log = open();

  EXPECT_EQ(refusal().code, ErrorCode::unavailable);
  EXPECT_THAT(refusal().what, HasSubstr("is open already: process "));
}

TEST_F(RocksCutLogOnDisk, IsMadeOnlyWhereAsked) {
  auto wanted = options();
  wanted.create = false;
  EXPECT_EQ(open_cut_log(wanted).error().code, ErrorCode::not_found);
  EXPECT_EQ(open_cut_log({}).error().code, ErrorCode::invalid_argument);

  const auto identity = open()->identity();

  EXPECT_EQ(identity.shards, 2u);
  EXPECT_EQ(open()->identity(), identity);
  EXPECT_TRUE(open_cut_log(wanted));
}

TEST_F(RocksCutLogOnDisk, OfAnotherShardCountIsRefused) {
  open();

  EXPECT_EQ(refusal(3).code, ErrorCode::invalid_argument);
  EXPECT_THAT(refusal(3).what, HasSubstr("is of 2 shards, not 3"));
  EXPECT_TRUE(open_cut_log(options(0)));
}

TEST_F(RocksCutLogOnDisk, IsNoStore) {
  StoreOptions store;
  store.data_dir = options().data_dir;
  store.shards = 2;
  ASSERT_TRUE(open_store(store));

  EXPECT_EQ(refusal().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refusal().what, HasSubstr("holds a store, not a coordinator's cut log"));
}

TEST_F(RocksCutLogOnDisk, RefusesEveryDamagedRowByName) {
  put_three(*open());
  const std::pair<std::string, std::string> rows[] = {
      {cut_log_rows::identity_key(), "identity"},
      {cut_log_rows::epoch_key(), "the cut log's epoch is damaged"},
      {cut_log_rows::checkpoint_key(), "the cut log's checkpoint is damaged"},
      {cut_log_rows::cut_key(CutNumber{2}), "the cut log's cut 2 is damaged"}};
  for (const auto& [key, named] : rows) {
    SCOPED_TRACE(named);
    std::string whole;
    {
      RawDatabase raw(database());
      whole = raw.get("default", key);
    }
    for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 4);
      RawDatabase(database()).put("default", key, flipped);
      EXPECT_EQ(refusal().code, ErrorCode::corruption);
      EXPECT_THAT(refusal().what, HasSubstr(named));
    }
    RawDatabase(database()).put("default", key, whole.substr(0, 5));
    EXPECT_EQ(refusal().code, ErrorCode::corruption);
    RawDatabase(database()).erase("default", key);
    EXPECT_EQ(refusal().code, ErrorCode::corruption) << "missing";
    RawDatabase(database()).put("default", key, whole);
  }
  EXPECT_EQ(open()->state().last_cut, CutNumber{3});
}

TEST_F(RocksCutLogOnDisk, RefusesARowUnderAnothersKey) {
  put_three(*open());
  {
    RawDatabase raw(database());
    raw.put("default", cut_log_rows::cut_key(CutNumber{4}), raw.get("default", cut_log_rows::cut_key(CutNumber{3})));
  }
  EXPECT_THAT(refusal().what, HasSubstr("the cut log's cut 4 is damaged"));
}

TEST_F(RocksCutLogOnDisk, FailsForGoodWithAFailedSync) {
  FaultEnv faults;
  auto wanted = options();
  wanted.env = faults.env();
  auto log = open_cut_log(wanted);
  ASSERT_TRUE(log);
  put_three(**log);

  faults.fail_next_sync();
  const auto failed = (*log)->put(next_cut((*log)->state(), {}));

  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::io);
  EXPECT_THAT(failed.error().what, HasSubstr("the cut log has failed: cannot write cut 4"));
  EXPECT_EQ((*log)->put(next_cut((*log)->state(), {})).error().code, ErrorCode::io)
      << "what is on the disk is not known any more";
  EXPECT_EQ((*log)->lead().error().code, ErrorCode::io);
  EXPECT_EQ((*log)->cuts_after(CutNumber{2}, 1'000)->cuts.size(), 1u) << "and none is shown that may be gone tomorrow";
}

// Its files go on taking what is written, and are gone with its process.
TEST_F(RocksCutLogOnDisk, TakesNothingOnceItsFolderWasRemovedOrExchanged) {
  const auto away = folder_.path() / "away";
  for (const bool exchanged : {false, true}) {
    SCOPED_TRACE(exchanged);
    const auto log = open();
    ASSERT_NO_FATAL_FAILURE(put_three(*log));
    const auto last = log->state().last_cut;
    std::filesystem::remove_all(away);
    if (exchanged) {
      std::filesystem::rename(database(), away);
      std::filesystem::copy(away, database(), std::filesystem::copy_options::recursive);
    } else {
      std::filesystem::remove_all(database());
    }

    const auto put = log->put(next_cut(log->state(), {segment_of(0, 1, 5, 6)}));

    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::io);
    EXPECT_THAT(put.error().what, HasSubstr("was removed or exchanged while it was open"));
    EXPECT_EQ(log->state().last_cut, last);
    EXPECT_FALSE(log->lead());
  }
}

TEST_F(RocksCutLogOnDisk, KeepsWhatItAnsweredOverLossOfPower) {
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    SCOPED_TRACE(seed);
    FaultEnv faults;
    CutLogOptions wanted{folder_.path() / std::to_string(seed), 2};
    wanted.env = faults.env();
    sharding::CutLogState before;
    {
      auto log = open_cut_log(wanted);
      ASSERT_TRUE(log);
      put_three(**log);
      ASSERT_TRUE((*log)->fold(Epoch{1}, std::vector<sharding::HeldBy>{{1, CutNumber{2}}}));
      before = (*log)->state();
      faults.cut_power();
    }
    faults.lose_unsynced(seed);

    auto log = open_cut_log(wanted);

    ASSERT_TRUE(log) << log.error().what;
    EXPECT_EQ((*log)->state(), before);
  }
}

}  // namespace
}  // namespace evershard::storage
