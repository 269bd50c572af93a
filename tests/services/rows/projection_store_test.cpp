#include "evershard/services/rows/projection_store.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/services/rows/memory_projection_store.hpp"
#include "evershard/services/rows/rocks_projection_store.hpp"
#include "evershard/services/rows/rows_check.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const ProjectionOwner one_store{EventId::derived({}, 1), EventId::derived({}, 2)};
using Rows = std::map<std::string, std::string>;

std::vector<std::pair<std::string, std::string>> walk(const ProjectionView& view, const RowRange& range = {},
                                                      bool backwards = false) {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto cursor = view.cursor(range, backwards);
  while (cursor->next()) rows.emplace_back(cursor->key(), cursor->value());
  EXPECT_FALSE(cursor->error());
  return rows;
}

ProjectionBatch batch_of(const std::string& family, const Rows& puts, std::uint64_t position) {
  ProjectionBatch batch;
  auto& changes = batch.families[family];
  for (const auto& [key, value] : puts) changes.put(key, value);
  changes.checkpoint = ProjectionCheckpoint{GlobalPosition{position}, 1, false, "s" + std::to_string(position)};
  return batch;
}

enum class Kept : std::uint8_t { in_memory, on_disk, as_files };

/// The same promises, in memory, on disk, and on disk where every write in order becomes files.
class ProjectionStoreContract : public testing::TestWithParam<Kept> {
 protected:
  ProjectionStoreContract() {
    if (GetParam() == Kept::in_memory) {
      store_ = memory_projection_store();
      return;
    }
    const std::size_t from = GetParam() == Kept::as_files ? 1 : 1'000'000;
    auto opened = open_projection_store(
        {.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{0}}, .files_from_rows = from});
    EXPECT_TRUE(opened) << opened.error().what;
    store_ = *std::move(opened);
  }
  TemporaryFolder folder_;
  std::unique_ptr<ProjectionStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Memory, ProjectionStoreContract, testing::Values(Kept::in_memory));
INSTANTIATE_TEST_SUITE_P(Rocks, ProjectionStoreContract, testing::Values(Kept::on_disk));
INSTANTIATE_TEST_SUITE_P(RocksFiles, ProjectionStoreContract, testing::Values(Kept::as_files));

TEST_P(ProjectionStoreContract, RowsAreAsTheyWereBehindSettling) {
  ASSERT_TRUE(store_->create_family("a", {}));
  Rows rows;
  for (int round = 0; round < 3; ++round) {
    for (int i = round; i < 300; i += round + 1) rows["k" + std::to_string(i)] = std::to_string(round);
    ASSERT_TRUE(store_->write(batch_of("a", rows, static_cast<std::uint64_t>(round + 1))));
    store_->settle("a");
  }
  store_->settle("not there");
  const auto view = store_->view("a");
  ASSERT_TRUE(view) << view.error().what;
  EXPECT_EQ((*view)->checkpoint().position, GlobalPosition{3});
  const auto found = walk(**view);
  EXPECT_EQ(Rows(found.begin(), found.end()), rows);
}

TEST_P(ProjectionStoreContract, WritesRowsAndCheckpointTogether) {
  ASSERT_TRUE(store_->create_family("a", {.definition = 1}));
  ASSERT_TRUE(store_->create_family("b", {.definition = 7}));
  auto batch = batch_of("a", {{"k1", "v1"}, {"k2", "v2"}}, 5);
  batch.families["b"].put("k1", "of b");
  ASSERT_TRUE(store_->write(batch));

  EXPECT_EQ(*store_->checkpoint("a"), (ProjectionCheckpoint{GlobalPosition{5}, 1, false, "s5"}));
  EXPECT_EQ(*store_->checkpoint("b"), (ProjectionCheckpoint{.definition = 7}));
  EXPECT_THAT(walk(**store_->view("a")), ElementsAre(Pair("k1", "v1"), Pair("k2", "v2")));
  EXPECT_THAT(walk(**store_->view("b")), ElementsAre(Pair("k1", "of b")));
  EXPECT_EQ(*(*store_->view("a"))->get("k2"), std::optional<std::string>("v2"));
  EXPECT_EQ(*(*store_->view("a"))->get("k3"), std::nullopt);
  EXPECT_EQ(*(*store_->view("a"))->get(""), std::nullopt);
  const std::vector<std::string> keys{"k3", "k1", "k2", "k1"};
  EXPECT_THAT(*(*store_->view("a"))->get_many(keys), ElementsAre(std::nullopt, "v1", "v2", "v1"));
}

TEST_P(ProjectionStoreContract, LooksUpAnyNumberOfRowsInTheOrderAsked) {
  constexpr std::size_t rows = 100;
  ASSERT_TRUE(store_->create_family("a", {}));
  ProjectionBatch batch;
  for (std::size_t i = 0; i < rows; i += 2) batch.families["a"].put("k" + std::to_string(i), "v" + std::to_string(i));
  ASSERT_TRUE(store_->write(batch));
  const auto view = *store_->view("a");
  ASSERT_TRUE(store_->write(batch_of("a", {{"k0", "new"}, {"k1", "new"}}, 2)));

  std::vector<std::string> names;
  for (std::size_t i = rows; i-- > 0;) names.push_back("k" + std::to_string(i));
  names.emplace_back();
  names.push_back(names.front());
  const std::vector<std::string_view> keys(names.begin(), names.end());
  std::vector<std::optional<std::string>> found;
  ASSERT_TRUE(view->look_up(keys, [&](std::size_t i, std::optional<std::string_view> row) -> Result<bool> {
    EXPECT_EQ(i, found.size());
    found.emplace_back(row);
    return true;
  }));
  EXPECT_EQ(found, *view->get_many(names));
  EXPECT_EQ(found[rows - 1], "v0");
  EXPECT_EQ(found[rows - 2], std::nullopt);

  std::size_t seen = 0;
  EXPECT_TRUE(
      view->look_up(keys, [&](std::size_t, std::optional<std::string_view>) -> Result<bool> { return ++seen < 40; }));
  EXPECT_EQ(seen, 40U);
  const auto refused = view->look_up(keys, [&](std::size_t i, std::optional<std::string_view>) -> Result<bool> {
    if (i < 35) return true;
    return refuse(ErrorCode::cancelled, "enough");
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(view->look_up({}, [](std::size_t, std::optional<std::string_view>) -> Result<bool> {
    return refuse(ErrorCode::corruption, "there is none");
  }));
}

TEST_P(ProjectionStoreContract, AViewStaysAsItWasWhateverIsWrittenOrDropped) {
  ASSERT_TRUE(store_->create_family("a", {}));
  ASSERT_TRUE(store_->write(batch_of("a", {{"k1", "v1"}}, 1)));
  const auto before = *store_->view("a");
  const auto cursor = before->cursor({});

  auto batch = batch_of("a", {{"k0", "new"}, {"k2", "new"}}, 2);
  batch.families["a"].erase("k1");
  ASSERT_TRUE(store_->write(batch));
  const auto after = *store_->view("a");
  ASSERT_TRUE(store_->drop_family("a"));

  EXPECT_THAT(walk(*before), ElementsAre(Pair("k1", "v1")));
  EXPECT_EQ(before->checkpoint().position, GlobalPosition{1});
  ASSERT_TRUE(cursor->next());
  EXPECT_EQ(cursor->key(), "k1");
  EXPECT_THAT(walk(*after), ElementsAre(Pair("k0", "new"), Pair("k2", "new")));
  EXPECT_EQ(after->checkpoint().position, GlobalPosition{2});
  EXPECT_EQ(store_->view("a").error().code, ErrorCode::not_found);
}

TEST_P(ProjectionStoreContract, FamiliesComeAndGo) {
  ASSERT_TRUE(store_->create_family("b", {}));
  ASSERT_TRUE(store_->create_family("a", {}));
  EXPECT_EQ(store_->create_family("a", {}).error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(store_->families(), ElementsAre("a", "b"));
  ASSERT_TRUE(store_->write(batch_of("a", {{"k", "v"}}, 3)));

  ASSERT_TRUE(store_->drop_family("a"));
  ASSERT_TRUE(store_->drop_family("a"));
  EXPECT_THAT(store_->families(), ElementsAre("b"));
  auto both = batch_of("b", {{"k", "v"}}, 3);
  both.families["a"].put("k", "v");
  EXPECT_EQ(store_->write(both).error().code, ErrorCode::not_found);
  EXPECT_THAT(walk(**store_->view("b")), IsEmpty()) << "half of a batch was written";

  ASSERT_TRUE(store_->create_family("a", {.definition = 2}));
  EXPECT_THAT(walk(**store_->view("a")), IsEmpty());
  EXPECT_EQ(store_->checkpoint("a")->definition, 2u);
}

TEST_P(ProjectionStoreContract, WalksRangesInBothDirectionsAsASortedMapDoes) {
  ASSERT_TRUE(store_->create_family("a", {}));
  std::mt19937_64 random(7);
  const auto key = [&] {
    std::string made(1 + random() % 3, '\0');
    for (auto& c : made)
      c = "\x00\x01"
          "ab\xFE\xFF"[random() % 6];
    return made;
  };
  Rows model;
  ProjectionBatch batch;
  for (int i = 0; i < 60; ++i) {
    const auto k = key();
    model[k] = std::to_string(i);
    batch.families["a"].put(k, std::to_string(i));
  }
  ASSERT_TRUE(store_->write(batch));
  const auto view = *store_->view("a");

  for (int i = 0; i < 400; ++i) {
    RowRange range{i % 4 == 0 ? "" : key(), i % 3 == 0 ? "" : key()};
    if (i % 5 == 0) range = RowRange::prefix(key());
    std::vector<std::pair<std::string, std::string>> expected;
    for (const auto& row : model)
      if (row.first >= range.from && (range.until.empty() || row.first < range.until)) expected.push_back(row);
    ASSERT_EQ(walk(*view, range), expected) << i;
    std::ranges::reverse(expected);
    ASSERT_EQ(walk(*view, range, true), expected) << i;
    if (expected.empty()) continue;
    const auto place = expected[random() % expected.size()].first;
    const auto forwards = view->cursor(range);
    forwards->seek(place);
    ASSERT_TRUE(forwards->next());
    ASSERT_EQ(forwards->key(), place);
    const auto backwards = view->cursor(range, true);
    backwards->seek(place);
    ASSERT_TRUE(backwards->next());
    ASSERT_EQ(backwards->key(), place);
  }
}

class RocksProjections : public testing::Test {
 protected:
  std::unique_ptr<ProjectionStore> open(ProjectionOwner owner = one_store, std::uint64_t watermark = 100,
                                        rocksdb::Env* env = nullptr) {
    auto opened = open_projection_store(
        {.folder = folder_.path() / "projections", .of = {owner, GlobalPosition{watermark}}, .env = env});
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? *std::move(opened) : nullptr;
  }
  void fill(std::uint64_t position = 50) {
    const auto store = open();
    ASSERT_TRUE(store->create_family("a", {}));
    ASSERT_TRUE(store->write(batch_of("a", {{"k", "v"}}, position)));
  }
  TemporaryFolder folder_;
};

TEST_F(RocksProjections, AreThereAgainAfterwards) {
  fill();
  const auto store = open();
  EXPECT_THAT(walk(**store->view("a")), ElementsAre(Pair("k", "v")));
  EXPECT_EQ(store->checkpoint("a")->state, "s50");
}

TEST_F(RocksProjections, OfAnotherStoreAnotherForkOrAheadOfTheWatermarkAreCleared) {
  fill();
  EXPECT_THAT(open({EventId::derived({}, 9), one_store.fork})->families(), IsEmpty());
  fill();
  EXPECT_THAT(open({one_store.store, EventId::derived({}, 9)})->families(), IsEmpty());
  fill();
  EXPECT_THAT(open(one_store, 49)->families(), IsEmpty());
  fill();
  EXPECT_THAT(open(one_store, 50)->families(), ElementsAre("a"));
}

TEST_F(RocksProjections, OfOtherEventsAtTheirPositionAreCleared) {
  const auto one = EventId::derived({}, 1), other = EventId::derived({}, 2);
  const auto left = [&](EventId written, const EventIdStanding& at) {
    {
      const auto store = open();
      if (store->families().empty()) {
        EXPECT_TRUE(store->create_family("a", {}));
      }
      auto batch = batch_of("a", {{"k", "v"}}, 50);
      batch.families["a"].checkpoint->event = written;
      EXPECT_TRUE(store->write(batch));
    }
    auto opened =
        open_projection_store({.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{100}, at}});
    EXPECT_TRUE(opened) << opened.error().what;
    return !(*opened)->families().empty();
  };
  const auto says = [](std::optional<EventId> id) {
    return [id](GlobalPosition position) -> Result<std::optional<EventId>> {
      EXPECT_EQ(position, GlobalPosition{50});
      return id;
    };
  };
  EXPECT_TRUE(left(one, says(one)));
  EXPECT_FALSE(left(one, says(other)));
  EXPECT_TRUE(left(one, says(std::nullopt))) << "what cannot be told says nothing";
  EXPECT_TRUE(left({}, says(other))) << "as programs before wrote it";
  EXPECT_TRUE(left(one, {}));
}

// On a cluster the event may lie at a node that is away: rows are not given as this store's before somebody can say so.
TEST_F(RocksProjections, WhoseEventCannotBeAskedForAreNeitherServedNorCleared) {
  {
    const auto store = open();
    EXPECT_TRUE(store->create_family("a", {.position = GlobalPosition{50}, .event = EventId::derived({}, 1)}));
  }
  Result<std::optional<EventId>> answer = refuse(ErrorCode::unavailable, "node 2 is away");
  const RocksProjectionOptions folder{
      .folder = folder_.path() / "projections",
      .of = {one_store, GlobalPosition{100}, [&answer](GlobalPosition) { return answer; }}};
  const auto refused = open_projection_store(folder);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().what, testing::AllOf(testing::HasSubstr("rows of a "), testing::HasSubstr("node 2")));
  answer = std::optional(EventId::derived({}, 1));
  {
    const auto store = open_projection_store(folder);
    ASSERT_TRUE(store) << store.error().what;
    EXPECT_THAT((*store)->families(), ElementsAre("a"));
  }
}

TEST_F(RocksProjections, WhatIsDamagedIsClearedAndWorks) {
  fill();
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "projections"))
    if (file.path().filename().string().starts_with("MANIFEST"))
      std::ofstream(file.path(), std::ios::trunc) << "nonsense";
  std::vector<std::string> told;
  {
    const auto store = open_projection_store({.folder = folder_.path() / "projections",
                                              .of = {one_store, GlobalPosition{100}},
                                              .warn = [&](const Error& why) { told.push_back(why.what); }});
    ASSERT_TRUE(store) << store.error().what;
    EXPECT_THAT((*store)->families(), IsEmpty());
  }
  EXPECT_THAT(told, ElementsAre(testing::HasSubstr("cannot be read, and are made anew from the events")));
  fill();
  EXPECT_THAT(open()->families(), ElementsAre("a"));
}

TEST_F(RocksProjections, AreCheckedWithoutBeingOpened) {
  const auto rows = folder_.path() / "projections";
  const auto wrong = [&] {
    auto found = check_rows(rows);
    EXPECT_TRUE(found) << found.error().what;
    return found ? *found : std::vector<std::string>();
  };
  const auto spoil = [&](const std::string& beginning, const std::string& end, std::size_t at) {
    for (const auto& file : std::filesystem::directory_iterator(rows)) {
      const auto name = file.path().filename().string();
      if (!name.starts_with(beginning) || !name.ends_with(end)) continue;
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      bytes.seekp(static_cast<std::streamoff>(at));
      bytes << "nonsense";
    }
  };
  EXPECT_THAT(wrong(), IsEmpty()) << "none were made yet";
  fill();
  EXPECT_THAT(wrong(), IsEmpty());
  EXPECT_THAT(open()->families(), ElementsAre("a")) << "it changes nothing";

  ASSERT_TRUE(open()->write(batch_of("a", {{"k", "v"}}, 51)));
  ASSERT_TRUE(open()->vacuum({}));
  spoil("", ".sst", 0);
  EXPECT_THAT(wrong(), testing::Contains(testing::HasSubstr("rows of \"a\"")));
  spoil("MANIFEST-", "", 0);
  EXPECT_THAT(wrong(), ElementsAre(testing::HasSubstr("projections cannot be opened")));
}

/// A process that has too many files open, say: what cannot be read just now is not damaged.
class UnreadableFiles final : public rocksdb::FileSystemWrapper {
 public:
  UnreadableFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  [[nodiscard]] const char* Name() const override { return "UnreadableFiles"; }
  rocksdb::IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* debug) override {
    if (left > 0 && left-- > 0)
      return rocksdb::IOStatus::IOError("While opening a file for sequentially reading: " + name,
                                        "Too many open files");
    return target()->NewSequentialFile(name, options, result, debug);
  }
  std::atomic<int> left{0};
};

TEST_F(RocksProjections, WhatCannotBeReadJustNowIsNotCleared) {
  fill();
  const auto files = std::make_shared<UnreadableFiles>();
  const auto env = rocksdb::NewCompositeEnv(files);
  files->left = 1;

  const auto refused = open_projection_store(
      {.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{100}}, .env = env.get()});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::io);
  EXPECT_THAT(open(one_store, 100, env.get())->families(), ElementsAre("a"));
}

/// Each write counts a row up and says so in the checkpoint; whatever a loss of power takes, they agree. Some of the
/// writes become files.
TEST_F(RocksProjections, RowsAndCheckpointAgreeAfterALossOfPower) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const TemporaryFolder folder;
    FaultEnv disk;
    const auto open = [&] {
      auto opened = open_projection_store({.folder = folder.path(),
                                           .of = {one_store, GlobalPosition{1'000'000}},
                                           .memtables_bytes = 256u << 10,
                                           .files_from_rows = 3,
                                           .env = disk.env()});
      EXPECT_TRUE(opened) << opened.error().what;
      return *std::move(opened);
    };
    std::mt19937_64 random(seed);
    auto store = open();
    ASSERT_TRUE(store->create_family("a", {}));
    ASSERT_TRUE(store->create_family("b", {}));
    const auto writes = 200 + random() % 600;
    for (std::uint64_t n = 1; n <= writes; ++n) {
      auto batch = batch_of(
          "a", {{"count", std::to_string(n)}, {"filling", std::string(2'000, static_cast<char>('a' + n % 26))}}, n);
      if (seed % 2 == 0 && random() % 20 == 0)
        batch = batch_of("a", {{"count", std::to_string(n)}, {"filling", "x"}, {"more", std::to_string(n)}}, n);
      else if (random() % 3 == 0)
        batch.families["b"] = batch_of("b", {{"count", std::to_string(n)}}, n).families["b"];
      ASSERT_TRUE(store->write(batch));
    }
    disk.cut_power();
    store.reset();
    disk.lose_unsynced(seed);

    store = open();
    for (const auto& family : store->families()) {
      const auto view = *store->view(family);
      const auto position = view->checkpoint().position.value;
      EXPECT_EQ(view->get("count")->value_or("0"), std::to_string(position)) << "seed " << seed << " family " << family;
    }
  }
}

/// One family is dropped and made again while it is written: what becomes of its rows is nobody's business, but all
/// others go on.
TEST_P(ProjectionStoreContract, WhatIsDroppedWhileItIsWrittenHarmsNoOther) {
  ASSERT_TRUE(store_->create_family("kept", {}));
  std::atomic<bool> enough{false};
  std::jthread writer([&] {
    ProjectionBatch large;
    for (int row = 10'000; row < 15'000; ++row) large.families["goes"].put(std::to_string(row), "v");
    large.families["goes"].checkpoint = ProjectionCheckpoint{};
    while (!enough) {
      const auto written = store_->write(large);
      EXPECT_TRUE(written || written.error().code == ErrorCode::not_found) << written.error().what;
    }
  });
  for (std::uint64_t round = 1; round <= 40; ++round) {
    EXPECT_TRUE(store_->create_family("goes", {}));
    std::this_thread::sleep_for(std::chrono::microseconds(round * 100));
    EXPECT_TRUE(store_->drop_family("goes"));
    const auto written = store_->write(batch_of("kept", {{"k", std::to_string(round)}}, round));
    EXPECT_TRUE(written) << written.error().what;
    if (!written) break;
  }
  enough = true;
}

TEST_F(RocksProjections, AFamilyThatGotNoCheckpointForWantOfRoomIsMadeOnceThereIsSome) {
  FaultEnv disk;
  const auto store = open(one_store, 100, disk.env());
  ASSERT_TRUE(store->create_family("a", {}));
  disk.fill_log();
  EXPECT_FALSE(store->create_family("b", {.definition = 2}));
  EXPECT_THAT(store->families(), ElementsAre("a"));
  disk.free_disk();
  // RocksDB looks itself whether there is room again.
  Result<void> made = refuse(ErrorCode::io, "not tried");
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
       !made && std::chrono::steady_clock::now() < until;) {
    made = store->create_family("b", {.definition = 3});
    if (!made) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(store->checkpoint("b")->definition, 3u);
  EXPECT_TRUE(store->write(batch_of("b", {{"k", "v"}}, 1)));
}

/// What a large write became is there as any other is, for who looks now, looked before, and opens it later.
TEST_F(RocksProjections, ManyRowsBecomeFiles) {
  Rows expected;
  {
    const auto opened = open_projection_store(
        {.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{100}}, .files_from_rows = 100});
    ASSERT_TRUE(opened) << opened.error().what;
    const auto& store = *opened;
    ASSERT_TRUE(store->create_family("a", {}));
    std::mt19937_64 random(7);
    for (std::uint64_t n = 1; n <= 30; ++n) {
      const auto before = *store->view("a");
      const Rows seen = expected;
      const std::uint64_t rows = n % 3 == 0 ? 20 : 300;
      Rows puts;
      std::vector<std::string> gone;
      for (std::uint64_t i = 0; i < rows; ++i) {
        const auto key = "k" + std::to_string(random() % 1'000);
        if (random() % 4 == 0 && !puts.contains(key))
          gone.push_back(key);
        else
          puts[key] = std::to_string(n);
      }
      std::erase_if(gone, [&](const auto& key) { return puts.contains(key); });
      std::map<std::string, std::optional<std::string>> all;
      for (const auto& [key, value] : puts) all[key] = expected[key] = value;
      for (const auto& key : gone) all[key] = std::nullopt, expected.erase(key);
      ProjectionBatch batch;
      for (const auto& [key, value] : all) batch.families["a"].rows.push_back({key, value});
      if (n % 5 == 0) std::ranges::reverse(batch.families["a"].rows);  // not in order
      if (n % 7 == 0)
        batch.families["a"].rows.push_back(batch.families["a"].rows.back());  // in order, one of them twice
      batch.families["a"].checkpoint = ProjectionCheckpoint{GlobalPosition{n}, 1, false, {}};
      ASSERT_TRUE(store->write(batch));
      ASSERT_EQ(walk(*before), (std::vector<std::pair<std::string, std::string>>(seen.begin(), seen.end())));
      ASSERT_EQ(before->checkpoint().position.value, n - 1);
      const auto now = *store->view("a");
      ASSERT_EQ(walk(*now), (std::vector<std::pair<std::string, std::string>>(expected.begin(), expected.end()))) << n;
      ASSERT_EQ(now->checkpoint().position.value, n);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "projections" / "incoming"))
        << "no write became files, or they were left behind";
  }
  std::ofstream(folder_.path() / "projections" / "incoming" / "7.rows.sst") << "of a process that ended in between";
  const auto store = open();
  EXPECT_EQ(walk(**store->view("a")),
            (std::vector<std::pair<std::string, std::string>>(expected.begin(), expected.end())));
  EXPECT_EQ(store->checkpoint("a")->position.value, 30u);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "projections" / "incoming"));
}

TEST_F(RocksProjections, ManyRowsOfSeveralFamiliesAtOnceBecomeFiles) {
  const auto opened = open_projection_store(
      {.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{100}}, .files_from_rows = 1});
  ASSERT_TRUE(opened) << opened.error().what;
  const auto& store = *opened;
  const auto name = [](int writer) { return "f" + std::to_string(writer); };
  for (int writer = 0; writer < 3; ++writer) ASSERT_TRUE(store->create_family(name(writer), {}));
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 3; ++writer) {
      writers.emplace_back([&, writer] {
        for (std::uint64_t n = 1; n <= 30; ++n) {
          Rows rows;
          for (int i = 0; i < 200; ++i) rows["k" + std::to_string(i)] = name(writer) + " " + std::to_string(n);
          const auto written = store->write(batch_of(name(writer), rows, n));
          EXPECT_TRUE(written) << written.error().what;
        }
      });
    }
  }
  for (int writer = 0; writer < 3; ++writer) {
    const auto view = *store->view(name(writer));
    EXPECT_EQ(view->checkpoint().position.value, 30u);
    const auto rows = walk(*view);
    EXPECT_EQ(rows.size(), 200u);
    for (const auto& [key, value] : rows) ASSERT_EQ(value, name(writer) + " 30");
  }
}

TEST_F(RocksProjections, ManyRowsForWhichThereIsNoRoomAreNotWritten) {
  FaultEnv disk;
  auto opened = open_projection_store({.folder = folder_.path() / "projections",
                                       .of = {one_store, GlobalPosition{100}},
                                       .files_from_rows = 1,
                                       .env = disk.env()});
  ASSERT_TRUE(opened) << opened.error().what;
  auto store = *std::move(opened);
  ASSERT_TRUE(store->create_family("a", {}));
  ASSERT_TRUE(store->write(batch_of("a", {{"k", "1"}}, 1)));
  disk.fill_disk();
  const auto refused = store->write(batch_of("a", {{"k", "2"}}, 2));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().code == ErrorCode::io || refused.error().code == ErrorCode::unavailable)
      << refused.error().what;
  EXPECT_EQ(store->checkpoint("a")->position.value, 1u);
  EXPECT_EQ((*store->view("a"))->get("k")->value(), "1");
  disk.free_disk();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "projections" / "incoming"));
  // RocksDB looks itself whether there is room again.
  Result<void> written = refuse(ErrorCode::io, "not tried");
  for (const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
       !written && std::chrono::steady_clock::now() < until;) {
    written = store->write(batch_of("a", {{"k", "2"}}, 2));
    if (!written) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(written) << written.error().what;
  EXPECT_EQ((*store->view("a"))->get("k")->value(), "2");
}

TEST_F(RocksProjections, AreOpenOnce) {
  const auto store = open();
  const auto incoming = folder_.path() / "projections" / "incoming";
  std::filesystem::create_directory(incoming);
  std::ofstream(incoming / "7.rows.sst") << "what the one who has it open is writing";
  const auto again =
      open_projection_store({.folder = folder_.path() / "projections", .of = {one_store, GlobalPosition{1}}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(std::filesystem::exists(incoming / "7.rows.sst"));
}

TEST_F(RocksProjections, DroppingGivesTheDiskSpaceBack) {
  const auto store = open();
  ASSERT_TRUE(store->create_family("a", {}));
  std::mt19937_64 random(3);
  for (int i = 0; i < 40; ++i) {
    ProjectionBatch batch;
    for (int k = 0; k < 100; ++k) {
      std::string value(4'000, '\0');
      for (auto& c : value) c = static_cast<char>(random());
      batch.families["a"].put(std::to_string(i) + "/" + std::to_string(k), std::move(value));
    }
    ASSERT_TRUE(store->write(batch));
  }
  ASSERT_TRUE(store->vacuum({}));
  const auto full = store->disk_bytes();
  EXPECT_GT(full, 12u << 20);
  ASSERT_TRUE(store->drop_family("a"));
  EXPECT_LT(store->disk_bytes(), full / 4);
}

/// What is removed of 1,000 rows of 4,000 random bytes each.
TEST_F(RocksProjections, AVacuumWithAFactorPassesOverWhatIsNotWorthIt) {
  const auto store = open();
  std::mt19937_64 random(7);
  const auto key = [](int row) { return std::to_string(row); };
  for (const auto* family : {"a", "b"}) {
    ASSERT_TRUE(store->create_family(family, {}));
    ProjectionBatch batch;
    for (int row = 0; row < 1'000; ++row) {
      std::string value(4'000, '\0');
      for (auto& c : value) c = static_cast<char>(random());
      batch.families[family].put(key(row), std::move(value));
    }
    ASSERT_TRUE(store->write(batch));
  }
  ASSERT_TRUE(store->vacuum({}));
  ProjectionBatch removed;
  for (int row = 0; row < 200; ++row) removed.families["a"].erase(key(row));
  for (int row = 0; row < 500; ++row) removed.families["b"].erase(key(row));
  ASSERT_TRUE(store->write(removed));
  const auto full = store->disk_bytes();

  ASSERT_TRUE(store->vacuum({}, 60));
  EXPECT_EQ(store->disk_bytes(), full);
  ASSERT_TRUE(store->vacuum({}, 30));
  const auto without_half_of_b = store->disk_bytes();
  EXPECT_LT(without_half_of_b + 1'800'000, full);
  EXPECT_GT(without_half_of_b, 5'900'000u) << "of a everything is there";
  ASSERT_TRUE(store->vacuum({}, 30));
  EXPECT_EQ(store->disk_bytes(), without_half_of_b) << "what was compacted away counts no more";
  ASSERT_TRUE(store->vacuum({}, 15));
  EXPECT_LT(store->disk_bytes() + 700'000, without_half_of_b);
}

}  // namespace
}  // namespace evershard::storage
