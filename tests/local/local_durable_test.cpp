// Local on disk: what is there after opening again, and what is refused to be opened.

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LocalOptions in(const ScratchDir& dir, std::uint32_t shards = 0) {
  LocalOptions options;
  options.data_dir = dir.path() / "store";
  options.shards = shards;
  options.tail_events = 64;
  return options;
}

TEST(LocalDurable, HasEverythingAfterOpeningAgain) {
  const ScratchDir dir;
  {
    auto store = open_store(in(dir, 5));
    append_many(store, 1, 150);
    ASSERT_TRUE(store.append(
        Append{}.event("order-1", "Placed", "p").snapshot(snapshot_of("order-1", 0, "state")).request(id_of(1))));
  }

  auto store = open_store(in(dir));

  EXPECT_EQ(store.head(), GlobalPosition{150});
  EXPECT_EQ(store.stats().value().info.shards, 5u);
  EXPECT_THAT(positions_of(store.read(Query::all())), SizeIs(150));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"even"}), {.after = GlobalPosition{145}})), ElementsAre(146, 148));
  EXPECT_THAT(positions_of(store.read("order-1")), ElementsAre(150));
  EXPECT_EQ((*store.snapshot({"order", "1"}))->payload, "state");
  EXPECT_TRUE(store.append(Append{}.event("order-1", "Placed", "p").request(id_of(1)))->duplicate);
  EXPECT_EQ(append_one(store, "order-1", "Paid"), 151u);
}

TEST(LocalDurable, KeepsItsIdentity) {
  const ScratchDir dir;
  const auto first = open_store(in(dir)).stats().value().info;

  const auto second = open_store(in(dir)).stats().value().info;

  EXPECT_EQ(first.store_id, second.store_id);
  EXPECT_EQ(first.created_at, second.created_at);
  EXPECT_EQ(second.shards, 16u);
}

TEST(LocalDurable, RefusesAnotherShardCount) {
  const ScratchDir dir;
  { auto store = open_store(in(dir, 4)); }

  const auto refused = Local::open(in(dir, 8));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("4"));
  EXPECT_THAT(refused.error().what, HasSubstr("8"));
}

TEST(LocalDurable, IsNotCreatedWhereItMustNot) {
  const ScratchDir dir;
  auto options = in(dir);
  options.create = false;

  const auto refused = Local::open(options);

  EXPECT_EQ(code_of(refused), "not_found");
  EXPECT_FALSE(std::filesystem::exists(options.data_dir));
}

TEST(LocalDurable, IsOpenedOnce) {
  const ScratchDir dir;
  auto store = open_store(in(dir));

  const auto second = Local::open(in(dir));
  store.close();
  const auto third = Local::open(in(dir));

  EXPECT_EQ(code_of(second), "unavailable");
  EXPECT_EQ(code_of(third), "ok");
}

TEST(LocalDurable, ClosesUnderAReadThatIsStillHeld) {
  const ScratchDir dir;
  auto options = in(dir);
  options.limits.page_events_max = 3;
  std::optional<Local> first = open_store(options);
  append_many(*first, 1, 100);
  auto stream = first->read(Query::all());
  ASSERT_TRUE(stream.next_page());

  first.reset();
  const auto second = Local::open(options);

  EXPECT_EQ(code_of(second), "ok");
  EXPECT_EQ(code_of(stream.next()), "unavailable");
}

TEST(LocalDurable, RefusesSizesThatCannotBe) {
  const ScratchDir dir;
  auto shards = in(dir, 70'000);
  auto payload = in(dir);
  payload.limits.payload_bytes_max = 1u << 30;
  auto page = in(dir);
  page.limits.page_events_max = 0;
  auto tail = in(dir);
  tail.tail_events = 0;

  EXPECT_EQ(code_of(Local::open(shards)), "invalid_argument");
  EXPECT_EQ(code_of(Local::open(payload)), "invalid_argument");
  EXPECT_EQ(code_of(Local::open(page)), "invalid_argument");
  EXPECT_EQ(code_of(Local::open(tail)), "invalid_argument");
}

TEST(LocalDurable, DoesNotTakeAFileForItsDirectory) {
  const ScratchDir dir;
  auto options = in(dir);
  std::ofstream(options.data_dir) << "not a store";

  const auto refused = Local::open(options);

  EXPECT_FALSE(refused);
}

TEST(LocalDurable, SealsItsTailOnRequest) {
  const ScratchDir dir;
  auto options = in(dir);
  options.tail_events = 100'000;
  auto store = open_store(options);
  append_many(store, 1, 30);

  const auto before = store.stats().value();
  const auto flushed = store.flush();
  const auto after = store.stats().value();

  ASSERT_TRUE(flushed) << flushed.error().what;
  EXPECT_EQ(before.sealed, GlobalPosition{0});
  EXPECT_EQ(before.tail_events, 29u);
  EXPECT_EQ(after.sealed, GlobalPosition{29});
  EXPECT_EQ(after.tail_events, 0u);
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"odd"}), {.after = GlobalPosition{25}})), ElementsAre(27, 29));
}

TEST(LocalDurable, CountsWhatItDid) {
  const ScratchDir dir;
  auto store = open_store(in(dir, 3));
  append_many(store, 1, 11);
  (void)store.append(Append{}.event("n-1", "T", "").expect("n-1", Version::none()));

  const auto stats = store.stats().value();

  EXPECT_EQ(stats.watermark, GlobalPosition{10});
  EXPECT_EQ(stats.appends, 10u);
  EXPECT_EQ(stats.refused, 1u);
  EXPECT_GE(stats.commits, 1u);
  EXPECT_GT(stats.disk_free_bytes, 0u);
  EXPECT_EQ(stats.info.format, 1u);
}

TEST(LocalDurable, FindsNothingWrongWithItself) {
  const ScratchDir dir;
  auto store = open_store(in(dir, 3));
  append_many(store, 1, 200);
  ASSERT_TRUE(store.put_snapshot(snapshot_of("n-1", 1, "state")));

  const auto report = store.verify();
  const auto stopped = store.verify([](std::uint64_t, std::uint64_t) { return false; });

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_THAT(report->findings, IsEmpty());
  EXPECT_EQ(report->errors, 0u);
  EXPECT_EQ(report->events, 199u);
  EXPECT_EQ(report->snapshots, 1u);
  EXPECT_EQ(code_of(stopped), "cancelled");
}

TEST(LocalDurable, ReadsTheSameAfterVacuum) {
  const ScratchDir dir;
  auto store = open_store(in(dir));
  append_many(store, 1, 200);
  ASSERT_TRUE(store.flush());

  const auto done = store.vacuum();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(positions_of(store.read(Query::all())), SizeIs(199));
  EXPECT_EQ(store.verify()->errors, 0u);
}

TEST(LocalDurable, IsCopiedWhileItRuns) {
  const ScratchDir dir;
  auto store = open_store(in(dir, 3));
  append_many(store, 1, 100);

  const auto copied = store.backup(dir.path() / "copy");
  append_many(store, 100, 120);
  const auto again = store.backup(dir.path() / "copy");

  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(code_of(again), "invalid_argument");
  auto options = in(dir);
  options.data_dir = dir.path() / "copy";
  auto copy = open_store(options);
  EXPECT_THAT(positions_of(copy.read(Query::all())), SizeIs(99));
  EXPECT_EQ(append_one(copy, "n-1", "T"), 100u);
  EXPECT_EQ(store.head(), GlobalPosition{119});
}

TEST(LocalDurable, AnAppendThatWasCutOffIsNewAndOneThatWasKeptIsKnown) {
  const ScratchDir dir;
  auto store = open_store(in(dir, 3));
  const auto request = [](std::uint64_t n) {
    return Append{}
        .event("order-1", "Placed", std::to_string(n))
        .event("order-2", "Placed", "p")
        .expect("order-1", Version::exactly(n - 1))
        .request(id_of(n));
  };
  for (std::uint64_t n = 1; n <= 4; ++n) ASSERT_TRUE(store.append(request(n)));

  const auto made = store.backup(dir.path() / "copy", {.up_to = GlobalPosition{4}});
  const auto torn = store.backup(dir.path() / "torn", {.up_to = GlobalPosition{5}});

  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(*made, GlobalPosition{4});
  EXPECT_EQ(code_of(torn), "invalid_argument");
  EXPECT_THAT(torn.error().what, HasSubstr("positions 5 to 6"));
  auto options = in(dir);
  options.data_dir = dir.path() / "copy";
  auto copy = open_store(options);
  EXPECT_EQ(copy.stats()->info.store_id, store.stats()->info.store_id);
  EXPECT_NE(copy.stats()->info.fork_id, store.stats()->info.fork_id);
  const auto kept = copy.append(request(2)), cut_off = copy.append(request(3)), again = copy.append(request(3));
  ASSERT_TRUE(kept && cut_off && again);
  EXPECT_TRUE(kept->duplicate);
  EXPECT_FALSE(cut_off->duplicate);
  EXPECT_EQ(cut_off->first_position, GlobalPosition{5});
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(copy.aggregate({"order", "1"})->version, SeqNr{3});
}

TEST(LocalDurable, BreaksOffLongWorkWhenItCloses) {
  const ScratchDir dir;
  auto store = open_store(in(dir));
  append_many(store, 1, 200);
  std::promise<void> begun;
  std::atomic<bool> told{false};
  std::thread closer([&] {
    begun.get_future().wait();
    store.close();
  });

  const auto verified = store.verify([&](std::uint64_t, std::uint64_t) {
    if (!told.exchange(true)) begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return true;
  });
  closer.join();

  EXPECT_TRUE(verified || verified.error().code == ErrorCode::cancelled) << verified.error().what;
  EXPECT_EQ(code_of(store.verify()), "unavailable");
}

TEST(LocalDurable, MovesAsAWhole) {
  const ScratchDir dir;
  auto first = open_store(in(dir));
  append_many(first, 1, 3);

  auto second = std::move(first);
  first = open_store();

  EXPECT_EQ(second.head(), GlobalPosition{2});
  EXPECT_EQ(first.head(), GlobalPosition{0});
}

}  // namespace
}  // namespace evershard
