// Traps: each happened in a real event store. A test here, or the name of one elsewhere; or why there is none yet.
//
//  1 retention deletes the newest snapshots       RetentionKeepsTheNewestSnapshots;
//                                                 StoreContract.RetainsTheNewestCopies...
//  2 a duplicate seq_nr overwrites the journal    ASecondEventOfTheSameVersionIsRefusedAndOverwritesNothing
//  3 a read stops after one page                  AReadDoesNotStopAfterOnePage
//  4 the shard hash differs, or is negative       AShardIsTheSameAfterOpeningAgain; StreamHash.KeepsThePublishedVectors
//  5 one kind of error told as another            AMissingAggregateAConflictAndADuplicateAreToldApart;
//                                         CommitterTest.AnswersAFailedWriteAsUnknownAndAllThatComesAfterAsNotWritten
//  6 sort keys not big-endian, or ambiguous       NumbersSortAsNumbers, NoIdLooksLikeAnother; Keys.* and their golden
//                                                 bytes
//  7 event and index written separately           WhatCanBeReadCanBeFound;
//                                                 RocksReopen.GivesBackEverythingAfterAKillAtAnyStep
//  8 the snapshot's own event applied twice       TheSnapshotsOwnEventIsNotReadAgain
//  9 check-then-insert race                       OneOfManyRivalsWins; CommitterTest.LetsOneOfManyRivalsWin
// 10 checkpoint never written, index from 0       AFollowerGoesOnFromItsCheckpoint. The stored checkpoints of
//                                                 projections and value indexes come with them, in a later issue.
// 11 start sequence taken as a row offset         AReadBeginsAtAVersionNotAtARow
// 12 one bad request sinks the whole batch        OneBadRequestHarmsNobodyElse;
//                                                 CommitterTest.GivesABadAppendItsOwnError...
// 13 update lost; collision panics; index before  TheLaterSnapshotWins, HashCollisionsAreHarmless; RocksFaults.
//    data; no fsync                               LosesNothingAcknowledgedWhenThePowerFails,
//                                                 RebuildsIndexesThatWentFurther...
// 14 NOT parsed as OR                             There are no filter expressions before table projections, a later
//                                                 issue. What a query has:
//                                                 TypesAreAlternativesAndTagsAreNot
// 15 2^n index entries, odd tags, repeated tags   TagsCostOneEntryEachAndMayLookLikeAnything
// 16 batch index wraps at 65,536                  MoreEventsThanSixteenBitsCount;
//                                                 GroupCommit.PlacesMoreEventsInOneBatch...
// 17 an empty query as a condition never fails    AnEmptyConditionIsAMistake
// 18 a retried read yields events twice           AReadThatIsTakenUpAgainGivesNothingTwice
// 19 an event commits later with a lower number   NoEventAppearsBehindAReader;
//                                                 LocalFollow.GivesSeveralFollowersEverything...
// 20 a retried append refused by its own event    ARetriedConditionalAppendIsNotRefusedByItself;
//                                                 GroupCommit.AnswersARetried...
// 21 a page from behind the reader's watermark    One process has one view:
//                                                 LocalRead.SeesNothingThatIsAppendedAfterItBegan,
//                                                 StoreContract.IsReadByManyWhileItCommitsAndSeals. Pages of other
//                                                 nodes come with the cluster.
// 22 admitting what can no longer be checked      AConditionFromBeforeItWasOpenedIsStillChecked;
//                                                 OrderingAtTheCoordinator.RefusesWhatItCannotCheck
// 23 a replaced owner acknowledges or refuses     No owner is replaced in one process. The rule:
//                                                 OrderingAtTheCoordinator.KnowsReportsByTheEpochOfTheirShard
// 24 a stale report of a disk that was restored   Nobody reports in one process. The rule:
//                                                 OrderingAtTheCoordinator.OpensNoShardThatLostWhatCutsCover

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "evershard/local/local_pages.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(LocalTraps, RetentionKeepsTheNewestSnapshots) {
  auto store = open_store();
  for (std::uint64_t version = 1; version <= 5; ++version) {
    append_one(store, "order-1", "T");
    ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", version, std::to_string(version), 2)));
  }

  const auto kept = store.snapshots({"order", "1"});

  std::vector<std::uint64_t> versions;
  for (const auto& snapshot : *kept) versions.push_back(snapshot.version.value);
  EXPECT_THAT(versions, ElementsAre(5, 5, 4));
  EXPECT_TRUE(kept->at(0).latest);
}

TEST(LocalTraps, ASecondEventOfTheSameVersionIsRefusedAndOverwritesNothing) {
  auto store = open_store();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "T", "first").expect("order-1", Version::none())));

  const auto second = store.append(Append{}.event("order-1", "T", "second").expect("order-1", Version::none()));

  EXPECT_EQ(code_of(second), "version_conflict");
  EXPECT_EQ(store.event_at(GlobalPosition{1})->payload, "first");
  EXPECT_THAT(positions_of(store.read("order-1")), ElementsAre(1));
}

TEST(LocalTraps, AReadDoesNotStopAfterOnePage) {
  auto store = open_store();
  for (int i = 0; i < 5; ++i) {
    Append append;
    for (int e = 0; e < 500; ++e) append.event("order-1", "T", std::string(1'000, 'x'), {"tag"});
    ASSERT_TRUE(store.append(append));
  }

  EXPECT_THAT(positions_of(store.read(Query::all())), SizeIs(2'500));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"tag"}))), SizeIs(2'500));
  EXPECT_THAT(positions_of(store.read("order-1", {.direction = Direction::backwards})), SizeIs(2'500));
}

TEST(LocalTraps, AShardIsTheSameAfterOpeningAgain) {
  const ScratchDir dir;
  const auto shards_of_all = [&] {
    auto store = open_store({.data_dir = dir.path() / "store", .shards = 7});
    if (store.head()->value == 0) append_many(store, 1, 30);
    std::vector<unsigned> shards;
    for (std::uint64_t i = 1; i < 30; ++i) shards.push_back(store.aggregate({"n", std::to_string(i)})->shard.value);
    return shards;
  };

  const auto first = shards_of_all(), second = shards_of_all();

  EXPECT_EQ(first, second);
  EXPECT_LT(*std::max_element(first.begin(), first.end()), 7u);
}

TEST(LocalTraps, AMissingAggregateAConflictAndADuplicateAreToldApart) {
  auto store = open_store();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "T", "").request(id_of(1))));

  EXPECT_EQ(code_of(store.aggregate({"order", "2"})), "not_found");
  EXPECT_EQ(code_of(store.append(Append{}.event("order-2", "T", "").expect("order-2", Version::exactly(3)))),
            "version_conflict");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-1", "T", "").fail_if(Query{}.types({"T"})))), "condition_failed");
  EXPECT_EQ(code_of(store.append(Append{}.event("order-1", "Other", "").request(id_of(1)))), "duplicate_event");
  EXPECT_EQ(code_of(store.put_snapshot(snapshot_of("order-2", 1, ""))), "not_found");
  EXPECT_EQ(store.head(), GlobalPosition{1});
}

TEST(LocalTraps, NoIdLooksLikeAnother) {
  auto store = open_store();
  const std::vector<std::string> ids{"a-b", "a-b-", "a--b", "ab-", "a-b\x01", "a-b/", "ab-c", "a-bc", "A-b", "a-b-c"};
  for (const auto& id : ids) {
    if (AggregateId::parse(id)) append_one(store, id, "T", {"t"});
  }

  std::uint64_t position = 0;
  for (const auto& id : ids) {
    if (!AggregateId::parse(id)) continue;
    EXPECT_THAT(positions_of(store.read(id)), ElementsAre(++position)) << id;
  }
  EXPECT_EQ(position, 9u) << "one of them has no value";
}

TEST(LocalTraps, NumbersSortAsNumbers) {
  auto store = open_store({.shards = 2, .tail_events = 64});
  for (int i = 0; i < 300; ++i) append_one(store, "order-1", "T", {"tag"});
  std::vector<std::uint64_t> expected(300);
  std::iota(expected.begin(), expected.end(), 1);

  EXPECT_EQ(positions_of(store.read("order-1")), expected);
  EXPECT_EQ(positions_of(store.read(Query{}.tags({"tag"}))), expected);
}

TEST(LocalTraps, WhatCanBeReadCanBeFound) {
  auto store = open_store({.tail_events = 64});
  std::atomic<bool> done{false};
  std::thread writer([&] {
    append_many(store, 1, 600);
    done = true;
  });

  bool found = true;
  while (!done && found) {
    auto all = store.read(Query::all());
    const auto everything = positions_of(std::move(all));
    const auto tagged = positions_of(store.read(Query{}.tags({"all"}), {.up_to = GlobalPosition{everything.size()}}));
    found = everything == tagged;
  }
  writer.join();

  EXPECT_TRUE(found);
}

TEST(LocalTraps, TheSnapshotsOwnEventIsNotReadAgain) {
  auto store = open_store();
  for (const auto* amount : {"1", "2", "3"}) append_one(store, "account-1", "Paid", {}, amount);
  ASSERT_TRUE(store.append(Append{}.event("account-1", "Paid", "4").snapshot(snapshot_of("account-1", 0, "10"))));
  append_one(store, "account-1", "Paid", {}, "5");

  const auto snapshot = store.snapshot({"account", "1"});
  int balance = std::stoi((*snapshot)->payload);
  auto rest = store.read("account-1", {.from = (*snapshot)->version + 1});
  for (const auto& event : rest) balance += std::stoi(event.payload);

  EXPECT_EQ(balance, 15);
}

TEST(LocalTraps, OneOfManyRivalsWins) {
  auto store = open_store();
  std::atomic<int> won{0}, lost{0};

  std::vector<std::thread> rivals;
  for (int i = 0; i < 8; ++i) {
    rivals.emplace_back([&] {
      for (std::uint64_t version = 0; version < 50; ++version) {
        const auto answer =
            store.append(Append{}.event("order-1", "T", "").expect("order-1", Version::exactly(version)));
        (answer ? won : lost) += 1;
      }
    });
  }
  for (auto& rival : rivals) rival.join();

  EXPECT_LE(won, 50);
  EXPECT_EQ(store.aggregate({"order", "1"})->version.value, static_cast<std::uint64_t>(won));
  EXPECT_EQ(won + lost, 8 * 50);
}

TEST(LocalTraps, AFollowerGoesOnFromItsCheckpoint) {
  auto store = open_store();
  append_many(store, 1, 40);
  GlobalPosition checkpoint;
  std::vector<std::uint64_t> seen;
  for (int restart = 0; restart < 10; ++restart) {
    auto feed = store.follow(Query{}.tags({"odd"}), {.after = checkpoint, .page_events_max = 3});
    const auto item = feed.next(0ms);
    ASSERT_TRUE(item);
    checkpoint = item->watermark;
    for (const auto position : positions_of(item->events)) seen.push_back(position);
  }

  EXPECT_EQ(checkpoint, GlobalPosition{39});
  EXPECT_THAT(seen, SizeIs(20));
  EXPECT_THAT(std::set(seen.begin(), seen.end()), SizeIs(20));
}

TEST(LocalTraps, AReadBeginsAtAVersionNotAtARow) {
  auto store = open_store();
  append_many(store, 1, 10);
  for (int i = 0; i < 5; ++i) append_one(store, "order-1", "T");

  EXPECT_THAT(positions_of(store.read("order-1", {.from = SeqNr{3}})), ElementsAre(12, 13, 14));
  EXPECT_THAT(positions_of(store.read("order-1", {.from = SeqNr{6}})), IsEmpty());
}

TEST(LocalTraps, OneBadRequestHarmsNobodyElse) {
  auto store = open_store();
  std::vector<std::future<Result<Appended>>> answers;
  for (int i = 0; i < 60; ++i) {
    Append append;
    append.event("order-" + std::to_string(i), i % 3 == 1 ? "" : "T", "");
    if (i % 3 == 2) append.expect("order-" + std::to_string(i), Version::exists());
    answers.push_back(store.append_future(std::move(append)));
  }

  for (int i = 0; i < 60; ++i) {
    const auto code = code_of(answers[static_cast<std::size_t>(i)].get());
    EXPECT_EQ(code, i % 3 == 0 ? "ok" : i % 3 == 1 ? "invalid_argument" : "version_conflict") << i;
  }
  EXPECT_EQ(store.head(), GlobalPosition{20});
}

TEST(LocalTraps, TheLaterSnapshotWins) {
  auto store = open_store();
  append_one(store, "order-1", "T");

  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 1, "first")));
  ASSERT_TRUE(store.put_snapshot(snapshot_of("order-1", 1, "second")));

  EXPECT_EQ((*store.snapshot({"order", "1"}))->payload, "second");
}

TEST(LocalTraps, HashCollisionsAreHarmless) {
  cluster::NodeOptions options;
  options.store.tail_events = 64;
  options.store.term_mask = 1;  // two hashes for all types, tags and aggregates
  auto node = cluster::Node::open(options).value();
  for (int i = 0; i < 200; ++i) {
    const auto n = std::to_string(i % 10);
    const auto append = Append{}
                            .event("order-" + n, "T" + n, "", {"tag:" + n})
                            .expect("order-" + n, Version::exactly(static_cast<std::uint64_t>(i / 10)));
    auto done = node->committer().append(append);
    while (!done && done.error().code == ErrorCode::overloaded) done = node->committer().append(append);
    ASSERT_TRUE(done) << done.error().what;
  }

  const auto by_tag =
      positions_of(EventStream(std::make_unique<cluster::QueryPages>(node, Query{}.tags({"tag:3"}), ReadOptions{}, 7)));
  const auto by_type =
      positions_of(EventStream(std::make_unique<cluster::QueryPages>(node, Query{}.types({"T4"}), ReadOptions{}, 7)));
  const auto stream = positions_of(
      EventStream(std::make_unique<cluster::StreamPages>(node, AggregateId{"order", "5"}, StreamOptions{}, 7)));

  EXPECT_THAT(by_tag, SizeIs(20));
  EXPECT_THAT(by_type, SizeIs(20));
  EXPECT_THAT(stream, SizeIs(20));
  EXPECT_EQ(stream.front(), 6u);
}

TEST(LocalTraps, TypesAreAlternativesAndTagsAreNot) {
  auto store = open_store();
  append_one(store, "a-1", "A", {"x"});
  append_one(store, "a-1", "B", {"y"});
  append_one(store, "a-1", "C", {"x", "y"});

  EXPECT_THAT(positions_of(store.read(Query{}.types({"A", "B"}))), ElementsAre(1, 2));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"x", "y"}))), ElementsAre(3));
  EXPECT_THAT(positions_of(store.read(Query{}.types({"A", "B"}).tags({"x", "y"}))), IsEmpty());
}

TEST(LocalTraps, TagsCostOneEntryEachAndMayLookLikeAnything) {
  auto store = open_store();
  std::vector<Tag> tags{"a,b", "a", ",", "a,b", ":", "-", "\x01", "{}", "a b"};
  while (tags.size() < 64) tags.push_back("tag:" + std::to_string(tags.size()));
  append_one(store, "a-1", "T", tags);
  append_one(store, "a-2", "T", {"b"});

  EXPECT_THAT(positions_of(store.read(Query{}.tags(tags))), ElementsAre(1));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"a,b", "a,b"}))), ElementsAre(1));
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"b"}))), ElementsAre(2));
  EXPECT_THAT(store.event_at(GlobalPosition{1})->tags, SizeIs(63));
}

TEST(LocalTraps, MoreEventsThanSixteenBitsCount) {
  LocalOptions options;
  options.limits = Limits::most();
  auto store = open_store(options);
  append_one(store, "n-1", "T");
  Append append;
  for (std::uint32_t i = 0; i < 65'535; ++i) append.event("n-1", "T", "", {i % 1'000 == 0 ? "rare" : "frequent"});

  const auto done = store.append(std::move(append));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->last_position, GlobalPosition{65'536});
  EXPECT_EQ(store.aggregate({"n", "1"})->version, SeqNr{65'536});
  EXPECT_THAT(positions_of(store.read(Query{}.tags({"rare"}))), SizeIs(66));
  EXPECT_EQ(store.event_at(GlobalPosition{65'536})->append_index, 65'534u);
}

TEST(LocalTraps, AnEmptyConditionIsAMistake) {
  auto store = open_store();
  append_one(store, "a-1", "T");

  EXPECT_EQ(code_of(store.append(Append{}.event("a-2", "T", "").fail_if(Query{}))), "invalid_query");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-2", "T", "").fail_if(Query::of({QueryItem{}})))), "invalid_query");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-2", "T", "").fail_if(Query::all()))), "condition_failed");
  EXPECT_EQ(code_of(store.append(Append{}.event("a-2", "T", "").fail_if(Query::all(), GlobalPosition{1}))), "ok");
}

TEST(LocalTraps, AReadThatIsTakenUpAgainGivesNothingTwice) {
  LocalOptions options;
  options.tail_events = 64;
  options.limits.page_events_max = 7;
  auto store = open_store(options);
  append_many(store, 1, 400);
  std::vector<std::uint64_t> expected(399);
  std::iota(expected.begin(), expected.end(), 1);

  std::vector<std::uint64_t> seen;
  while (seen.size() < expected.size()) {  // a reader that is broken off after every page, and asks again
    auto stream = store.read(Query{}.tags({"all"}), {.after = GlobalPosition{seen.empty() ? 0 : seen.back()}});
    const auto page = stream.next_page();
    ASSERT_TRUE(page && !page->events.empty());
    for (const auto position : positions_of(page->events)) seen.push_back(position);
  }

  EXPECT_EQ(seen, expected);
}

TEST(LocalTraps, NoEventAppearsBehindAReader) {
  auto store = open_store({.shards = 8, .tail_events = 128});
  constexpr std::uint64_t writers = 3, each = 250;
  std::vector<std::thread> threads;
  for (std::uint64_t w = 0; w < writers; ++w)
    threads.emplace_back([&, w] { append_many(store, w * each, (w + 1) * each); });

  std::uint64_t last = 0;
  bool dense = true;
  while (last < writers * each && dense) {
    auto stream = store.read(Query::all(), {.after = GlobalPosition{last}});
    for (const auto& event : stream) dense = dense && event.position.value == ++last;
  }
  for (auto& thread : threads) thread.join();

  EXPECT_TRUE(dense);
}

TEST(LocalTraps, ARetriedConditionalAppendIsNotRefusedByItself) {
  auto store = open_store();
  const auto request =
      Append{}.event("user-1", "Registered", "", {"name:ann"}).fail_if(Query{}.tags({"name:ann"})).request(id_of(7));
  ASSERT_TRUE(store.append(request));
  std::atomic<int> same{0};

  std::vector<std::thread> retries;
  for (int i = 0; i < 4; ++i) {
    retries.emplace_back([&] {
      const auto again = store.append(request);
      same += again && again->duplicate && again->first_position == GlobalPosition{1};
    });
  }
  for (auto& retry : retries) retry.join();

  EXPECT_EQ(same, 4);
}

TEST(LocalTraps, AConditionFromBeforeItWasOpenedIsStillChecked) {
  const ScratchDir dir;
  const LocalOptions options{.data_dir = dir.path() / "store", .tail_events = 64};
  {
    auto store = open_store(options);
    append_many(store, 1, 100);
    append_one(store, "user-1", "Registered", {"name:ann"});
    append_many(store, 100, 200);
  }
  auto store = open_store(options);

  const auto refused =
      store.append(Append{}.event("user-2", "Registered", "").fail_if(Query{}.tags({"name:ann"}), GlobalPosition{50}));
  const auto accepted =
      store.append(Append{}.event("user-2", "Registered", "").fail_if(Query{}.tags({"name:ann"}), GlobalPosition{100}));

  EXPECT_EQ(code_of(refused), "condition_failed");
  EXPECT_EQ(refused.error().details->position, GlobalPosition{100});
  EXPECT_EQ(code_of(accepted), "ok");
}

}  // namespace
}  // namespace evershard
