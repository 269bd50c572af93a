#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "evershard/local/local.hpp"
#include "evershard/local/maintenance.hpp"
#include "evershard/services/groups/host/hosted_group.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "tests/contract/raw_database.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto patience = 60s;

Local opened(const std::filesystem::path& folder = {}) {
  auto store = Local::open({.data_dir = folder,
                            .shards = 4,
                            .tail_events = 4'096,
                            .block_cache_bytes = 1u << 20,
                            .memtable_bytes = 1u << 20});
  EXPECT_TRUE(store) << (store ? "" : store.error().what);
  return *std::move(store);
}

void append_to(Local& store, const std::string& aggregate, int events, const std::string& type = "Placed") {
  for (int i = 0; i < events; ++i) ASSERT_TRUE(store.append(Append{}.event(aggregate, type, "{}", {"kind:test"})));
}

GroupSettings impatient() { return {.attempts_max = 2, .retry_first = 1ms, .retry_jitter_percent = 0}; }

GroupDelivery next_of(GroupWorker& worker) {
  auto next = worker.next(patience);
  EXPECT_TRUE(next) << (next ? "" : next.error().what);
  EXPECT_TRUE(*next) << "nothing came";
  return next && *next ? **std::move(next) : GroupDelivery{};
}

/// Until it holds; what a group tells lags behind what its threads do.
template <class Holds>
void eventually(Holds holds) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(2ms);
  EXPECT_TRUE(holds());
}

TEST(Groups, GiveOutWhatIsThereAndWhatComes) {
  auto store = opened();
  append_to(store, "order-1", 2);
  ASSERT_TRUE(store.groups().create_group({.name = "billing", .query = Query{}.types({"Placed"})}));
  auto worker = store.groups().join_group("billing").value();
  for (int i = 1; i <= 2; ++i) {
    const auto delivery = next_of(worker);
    EXPECT_EQ(delivery.event.seq_nr.value, static_cast<std::uint64_t>(i));
    EXPECT_EQ(delivery.event.payload, "{}");
    ASSERT_TRUE(worker.acknowledge(delivery));
  }
  EXPECT_FALSE(worker.next(0ms).value());
  append_to(store, "order-1", 1, "Other");
  append_to(store, "order-1", 1);
  EXPECT_EQ(next_of(worker).event.seq_nr.value, 4u);
  const auto info = store.groups().group("billing").value();
  EXPECT_EQ(info.acknowledged, 2u);
  EXPECT_EQ(info.in_flight, 1u);
  ASSERT_THAT(info.workers, SizeIs(1));
  EXPECT_EQ(info.workers[0].in_flight, 1u);
  EXPECT_GE(info.lag(), 1u);
}

TEST(Groups, BeginWhereTheyAreTold) {
  auto store = opened();
  append_to(store, "order-1", 5);
  ASSERT_TRUE(store.groups().create_group({.name = "start"}));
  ASSERT_TRUE(store.groups().create_group({.name = "behind-3", .after = store.head().value() - 1}));
  const auto now = store.groups().create_group({.name = "now", .after = std::nullopt});
  ASSERT_TRUE(now);
  EXPECT_EQ(now->position, store.head().value() - 1) << "the head before its own definition";
  append_to(store, "order-1", 1);
  for (const auto& [name, first] : std::map<std::string, std::uint64_t>{{"start", 1}, {"now", 6}}) {
    auto worker = store.groups().join_group(name).value();
    EXPECT_EQ(next_of(worker).event.seq_nr.value, first) << name << ": and never an event of the store's own";
  }
}

// Behind what is not there yet, the events to come would be left out without a word.
TEST(Groups, DoNotBeginBehindTheHead) {
  auto store = opened();
  append_to(store, "order-1", 3);
  const auto head = *store.head();
  const auto refused = store.groups().create_group({.name = "later", .after = head + 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("head"));
  EXPECT_EQ(store.groups().group("later").error().code, ErrorCode::not_found);
  ASSERT_TRUE(store.groups().create_group({.name = "now", .after = *store.head()}));
  EXPECT_EQ(store.groups().reset_group("now", *store.head() + 1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.groups().group("now").value().position, head);
}

TEST(Groups, RefuseWhatIsWrongAndSayWhy) {
  auto store = opened();
  EXPECT_EQ(store.groups().create_group({.name = "no name"}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.groups().create_group({.name = "x", .query = Query::of({})}).error().code, ErrorCode::invalid_query);
  EXPECT_THAT(store.groups().create_group({.name = "x", .settings = {.window = 0}}).error().what,
              HasSubstr("window is 0"));
  EXPECT_EQ(store.groups().join_group("x").error().code, ErrorCode::not_found);
  EXPECT_EQ(store.groups().group("x").error().code, ErrorCode::not_found);
  EXPECT_EQ(store.groups().drop_group("x").error().code, ErrorCode::not_found);
  ASSERT_TRUE(store.groups().create_group({.name = "x"}));
  EXPECT_EQ(store.groups().create_group({.name = "x"}).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(store.groups().create_group({.name = "x", .after = std::nullopt}, IfThere::give))
      << "where it begins is not compared";
  EXPECT_EQ(store.groups().create_group({.name = "x", .settings = {.window = 7}}, IfThere::give).error().code,
            ErrorCode::already_exists);
  EXPECT_EQ(store.groups().join_group("x", {.credit = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.groups().change_group("x", {.order = GroupOrder::global}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.groups().replay_parked("x", GlobalPosition(1)).error().code, ErrorCode::not_found);
  EXPECT_EQ(store.append(Append{}.event("$group-x", "GroupDropped", "{}")).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(
      store.put_snapshot({.aggregate = {"$group", "x"}, .version = SeqNr{1}, .payload = "x", .keep = {}, .ttl = {}})
          .error()
          .code,
      ErrorCode::invalid_argument);
  ASSERT_THAT(store.groups().list_groups().value(), SizeIs(1));
  ASSERT_TRUE(store.groups().drop_group("x"));
  EXPECT_THAT(store.groups().list_groups().value(), IsEmpty());
}

TEST(Groups, TryAgainThenParkThenReplay) {
  auto store = opened();
  append_to(store, "order-1", 2);
  ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = impatient()}));
  auto worker = store.groups().join_group("g").value();
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    const auto delivery = next_of(worker);
    EXPECT_EQ(delivery.event.seq_nr.value, 1u);
    EXPECT_EQ(delivery.attempt, attempt);
    ASSERT_TRUE(worker.reject(delivery, "out of stock"));
  }
  const auto second = next_of(worker);
  EXPECT_EQ(second.event.seq_nr.value, 2u);
  ASSERT_TRUE(worker.park(second, "broken"));
  const auto parked = store.groups().parked_events("g", GlobalPosition(0), 10).value();
  ASSERT_THAT(parked, SizeIs(2));
  EXPECT_EQ(parked[0].reason, "out of stock");
  EXPECT_EQ(parked[0].attempts, 2u);
  EXPECT_EQ(parked[0].aggregate->text(), "order-1");
  EXPECT_EQ(parked[1].reason, "broken");
  EXPECT_THAT(store.groups().parked_events("g", parked[0].position, 10).value(), SizeIs(1));
  EXPECT_EQ(store.groups().discard_parked("g", parked[1].position).value(), 1u);
  EXPECT_EQ(store.groups().replay_parked("g", std::nullopt).value(), 1u);
  const auto again = next_of(worker);
  EXPECT_EQ(again.event.seq_nr.value, 1u);
  EXPECT_EQ(again.attempt, 1u);
  ASSERT_TRUE(worker.acknowledge(again));
  const auto info = store.groups().group("g").value();
  EXPECT_EQ(info.unsettled + info.parked, 0u);
  EXPECT_EQ(info.replayed, 1u);
  EXPECT_EQ(info.discarded, 1u);
}

TEST(Groups, AFrozenWorkersShareIsTakenOverAndItsLateAnswerRefused) {
  auto store = opened();
  append_to(store, "order-1", 1);
  ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = {.attempts_max = 100, .lease = 6s}}));
  auto frozen = store.groups().join_group("g", {.name = "frozen"}).value();
  const auto first = next_of(frozen);
  auto other = store.groups().join_group("g", {.name = "other"}).value();
  const auto second = next_of(other);
  EXPECT_EQ(second.event.position, first.event.position);
  EXPECT_GE(second.attempt, 2u);
  EXPECT_EQ(frozen.acknowledge(first).error().code, ErrorCode::fenced);
  ASSERT_TRUE(other.acknowledge(second));
  EXPECT_TRUE(other.acknowledge(second)) << "once more";
  append_to(store, "order-1", 1);
  auto next = frozen.next(0ms);
  EXPECT_TRUE(next) << "it joins again: " << next.error().what;
}

TEST(Groups, GiveNobodyWhatWasRemoved) {
  auto store = opened();
  append_to(store, "order-1", 10);
  ASSERT_TRUE(store.retention().remove_aggregate({"order", "1"}, {}));
  append_to(store, "order-2", 1);
  ASSERT_TRUE(store.groups().create_group({.name = "all"}));
  ASSERT_TRUE(store.groups().create_group({.name = "one", .query = Query{}.concerning({{"order", "1"}})}));
  // What the store notes about the aggregate concerns it: it is given, and nothing of what went.
  const std::map<std::string, std::vector<std::string>> expected{
      {"all", {"$AggregateRemoved", "Placed"}}, {"one", {"$AggregateRemoved", "$RemovalDone", "$RemovalOrdered"}}};
  for (const auto& [name, of_name] : expected) {
    auto worker = store.groups().join_group(name, {.credit = 100}).value();
    std::vector<std::string> types;
    while (types.size() < of_name.size()) {
      const auto delivery = next_of(worker);
      ASSERT_NE(delivery.event.position.value, 0u);
      types.push_back(delivery.event.type);
      ASSERT_TRUE(worker.acknowledge(delivery));
    }
    std::ranges::sort(types);
    EXPECT_EQ(types, of_name);
    eventually([&] { return store.groups().group(name)->position == store.head().value(); });
  }
}

/// Its thread would turn round and round as long as the disk takes for the write.
TEST(Groups, AreNotLookedAtAgainAndAgainWhileTheirStateIsBeingKept) {
  auto store = opened();
  append_to(store, "order-1", 3);
  cluster::GroupSpec spec;
  spec.definition = {.name = "g", .after = GlobalPosition(0)};
  auto bell = std::make_shared<cluster::GroupBell>();
  cluster::HostedGroup group({store, bell, {.kept_every = 0ms}, {"group", "g"}}, spec, SeqNr{1},
                             actors::GroupState({}, GlobalPosition(0), 1, 1));
  ASSERT_TRUE(group.join({.name = "w"}, [] {}));

  const auto again = group.work();

  EXPECT_EQ(group.info(GlobalPosition(3)).read_to, GlobalPosition(3));
  EXPECT_TRUE(bell->keep);
  EXPECT_GT(again, cluster::group_time() + 1'000);
  group.end({ErrorCode::unavailable, "over"});
}

TEST(Groups, AWorkerThatRenewsKeepsWhatItHas) {
  auto store = opened();
  append_to(store, "order-1", 1);
  ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = {.lease = 20s}}));
  auto slow = store.groups().join_group("g", {.name = "slow"}).value();
  const auto delivery = next_of(slow);
  ASSERT_TRUE(slow.renew());
  EXPECT_EQ(store.groups().group("g")->expired, 0u);
  EXPECT_TRUE(slow.acknowledge(delivery));
}

TEST(Groups, LeavingHandsOverAtOnceAndCountsNothing) {
  auto store = opened();
  append_to(store, "order-1", 1);
  ASSERT_TRUE(store.groups().create_group({.name = "g"}));
  {
    auto gone = store.groups().join_group("g").value();
    (void)next_of(gone);
  }
  auto other = store.groups().join_group("g").value();
  EXPECT_EQ(next_of(other).attempt, 1u);
  other.cancel();
  EXPECT_EQ(other.next(patience).error().code, ErrorCode::cancelled);
}

TEST(Groups, GoOnWhereTheyWereAfterAReopening) {
  const TemporaryFolder folder;
  {
    auto store = opened(folder.path());
    append_to(store, "order-1", 3);
    append_to(store, "order-2", 3);
    ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = impatient()}));
    auto worker = store.groups().join_group("g", {.credit = 1}).value();
    const auto first = next_of(worker);
    ASSERT_TRUE(worker.acknowledge(first));
    const auto second = next_of(worker);
    ASSERT_TRUE(worker.park(second, "why not"));
    (void)next_of(worker);
  }
  auto store = opened(folder.path());
  const auto info = store.groups().group("g").value();
  EXPECT_EQ(info.acknowledged, 1u);
  EXPECT_EQ(info.parked, 1u);
  EXPECT_EQ(store.groups().parked_events("g", GlobalPosition(0), 9)->at(0).reason, "why not");
  auto worker = store.groups().join_group("g").value();
  for (int i = 0; i < 4; ++i) {
    const auto delivery = next_of(worker);
    EXPECT_EQ(delivery.attempt, 1u) << "that the process went is not the event's fault";
    ASSERT_TRUE(worker.acknowledge(delivery));
  }
  EXPECT_FALSE(worker.next(50ms).value());
  eventually([&] { return store.groups().group("g")->position == store.head().value(); });
}

// It would give out again all that was settled, and write over what is left of its state.
TEST(Groups, DoNotBeginAnewWhereTheirStateIsDamaged) {
  for (const int parked : {1, 60}) {
    SCOPED_TRACE(parked == 1 ? "in one row" : "in two rows, of which one is missing");
    const TemporaryFolder folder;
    {
      auto store = opened(folder.path());
      append_to(store, "order-1", parked);
      ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = impatient()}));
      auto worker = store.groups().join_group("g", {.credit = 1}).value();
      for (int n = 0; n != parked; ++n)
        ASSERT_TRUE(worker.park(next_of(worker), std::to_string(n) + std::string(450, 'x')));
    }
    {
      storage::RawDatabase raw(folder.path() / "db");
      const AggregateId group{"$group", "g"};
      if (parked == 1) {
        const auto key = storage::keys::snapshot(group, std::nullopt);
        auto row = raw.get("state", key);
        row.back() ^= 1;
        raw.put("state", key, row);
      } else {
        const auto key = storage::snapshot_base_key(group);
        ASSERT_FALSE(raw.get("state", key).empty());
        raw.erase("state", key);
      }
    }
    {
      auto store = opened(folder.path());
      const auto joined = store.groups().join_group("g");
      ASSERT_FALSE(joined);
      EXPECT_EQ(joined.error().code, ErrorCode::corruption) << joined.error().what;
      const auto shown = store.groups().group("g");
      ASSERT_FALSE(shown);
      EXPECT_EQ(shown.error().code, ErrorCode::corruption) << shown.error().what;
    }
    ASSERT_TRUE(recover(folder.path()));
    auto store = opened(folder.path());
    EXPECT_EQ(store.groups().group("g")->parked, 0u) << "recover leaves the state out: only then it begins anew";
  }
}

TEST(Groups, BeginAnewWhenReset) {
  auto store = opened();
  append_to(store, "order-1", 2);
  ASSERT_TRUE(store.groups().create_group({.name = "g"}));
  auto worker = store.groups().join_group("g").value();
  const auto first = next_of(worker);
  ASSERT_TRUE(worker.acknowledge(first));
  const auto second = next_of(worker);
  ASSERT_TRUE(store.groups().reset_group("g", GlobalPosition(0)));
  EXPECT_EQ(store.groups().group("g")->acknowledged, 0u);
  EXPECT_FALSE(worker.acknowledge(second));
  EXPECT_EQ(next_of(worker).event.position, first.event.position);
  ASSERT_TRUE(store.groups().drop_group("g"));
  EXPECT_EQ(worker.next(patience).error().code, ErrorCode::not_found);
  ASSERT_TRUE(store.groups().create_group({.name = "g"})) << "a name can be used again";
  auto other = store.groups().join_group("g").value();
  EXPECT_EQ(next_of(other).event.position, first.event.position) << "and nothing of the one before is left";
}

TEST(Groups, OtherSettingsHoldFromTheNextAttemptOn) {
  auto store = opened();
  append_to(store, "order-1", 1);
  ASSERT_TRUE(store.groups().create_group({.name = "g"}));
  auto worker = store.groups().join_group("g").value();
  EXPECT_EQ(store.groups().change_group("g", {.attempts_max = 1})->definition.settings,
            (GroupSettings{.attempts_max = 1}));
  ASSERT_TRUE(worker.reject(next_of(worker), "no"));
  EXPECT_EQ(store.groups().group("g")->parked, 1u);
}

TEST(Groups, AChangeThatChangesNothingIsNoEvent) {
  auto store = opened();
  ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = {.attempts_max = 2}}));
  const auto head = store.head().value();

  EXPECT_EQ(store.groups().change_group("g", {})->definition.settings, (GroupSettings{.attempts_max = 2}));
  EXPECT_EQ(store.groups().change_group("g", {.attempts_max = 2})->definition.settings,
            (GroupSettings{.attempts_max = 2}));
  EXPECT_EQ(store.head().value(), head);

  ASSERT_TRUE(store.groups().change_group("g", {.attempts_max = 3}));
  EXPECT_GT(store.head().value(), head);
}

/// Of changes at the same time each has what it names, and none undoes another one's.
TEST(Groups, ChangesOfDifferentSettingsAtTheSameTimeAllHold) {
  TemporaryFolder folder;
  constexpr std::uint32_t rounds = 40;
  {
    auto store = opened(folder.path() / "data");
    ASSERT_TRUE(store.groups().create_group({.name = "g"}));
    const std::vector<std::function<GroupSettingsChange(std::uint32_t)>> changes{
        [](std::uint32_t n) { return GroupSettingsChange{.attempts_max = n}; },
        [](std::uint32_t n) { return GroupSettingsChange{.lease = n * 1s}; },
        [](std::uint32_t n) { return GroupSettingsChange{.window = n}; }};
    std::vector<std::thread> threads;
    for (const auto& change : changes) {
      threads.emplace_back([&store, change] {
        for (std::uint32_t n = 1; n <= rounds; ++n) {
          const auto changed = store.groups().change_group("g", change(n));
          EXPECT_TRUE(changed) << changed.error().what;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(store.groups().group("g")->definition.settings,
              (GroupSettings{.attempts_max = rounds, .lease = rounds * 1s, .window = rounds}));
  }
  auto store = opened(folder.path() / "data");
  EXPECT_EQ(store.groups().group("g")->definition.settings,
            (GroupSettings{.attempts_max = rounds, .lease = rounds * 1s, .window = rounds}))
      << "as it is written";
}

TEST(Groups, ReadNoFurtherThanTheirWindowAndGoOnWhenThereIsRoom) {
  auto store = opened();
  for (int i = 0; i < 60; ++i) append_to(store, "order-" + std::to_string(i), 1);
  ASSERT_TRUE(store.groups().create_group({.name = "g", .settings = {.window = 10}}));
  auto worker = store.groups().join_group("g", {.credit = 3}).value();
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 60; ++i) {
    const auto delivery = next_of(worker);
    const auto info = store.groups().group("g").value();
    EXPECT_LE(info.unsettled, 15u);
    EXPECT_LE(info.in_flight, 3u);
    EXPECT_TRUE(seen.insert(delivery.event.position.value).second);
    ASSERT_TRUE(worker.acknowledge(delivery));
  }
  EXPECT_THAT(seen, SizeIs(60));
}

TEST(Groups, ARestoredStoreIsReadAgainFromWhereItsHistoryParts) {
  const TemporaryFolder folder, copies;
  const auto backup = copies.path() / "backup", again = copies.path() / "again";
  {
    auto store = opened(folder.path());
    ASSERT_TRUE(store.groups().create_group({.name = "g"}));
    append_to(store, "order-1", 3);
    const auto end = store.head().value();
    append_to(store, "order-1", 3);
    auto worker = store.groups().join_group("g").value();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(worker.acknowledge(next_of(worker)));
    ASSERT_TRUE(store.backup(backup, BackupOptions{.up_to = end}));
  }
  ASSERT_TRUE(restore(backup, again, RestoreOptions{}));
  auto store = opened(again);
  append_to(store, "order-9", 5);  // other events where the ones that were acknowledged had stood
  auto worker = store.groups().join_group("g").value();
  std::size_t of_nine = 0;
  while (of_nine < 5) {
    const auto delivery = next_of(worker);
    ASSERT_NE(delivery.event.position.value, 0u);
    of_nine += delivery.event.aggregate->text() == "order-9" ? 1u : 0u;
    ASSERT_TRUE(worker.acknowledge(delivery));
  }
  EXPECT_EQ(of_nine, 5u) << "none of them was ever seen";
}

TEST(Groups, KeepOrderAndSettleAllUnderManyWorkersThatComeAndGo) {
  auto store = opened();
  constexpr int aggregates = 12, events = 25, workers = 4;
  ASSERT_TRUE(store.groups().create_group(
      {.name = "g", .settings = {.attempts_max = 1'000, .retry_first = 1ms, .lease = 500ms, .window = 64}}));
  std::mutex mutex;
  std::map<std::string, std::uint64_t> seen;  // of each aggregate the last that was given out for the first time
  std::size_t acknowledged = 0;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      std::mt19937 random(static_cast<std::uint32_t>(w));
      while (!done) {
        auto worker = store.groups().join_group("g", {.credit = static_cast<std::uint32_t>(1 + random() % 8)});
        ASSERT_TRUE(worker) << worker.error().what;
        for (auto left = random() % 20; left > 0 && !done; --left) {
          const auto next = worker->next(20ms);
          ASSERT_TRUE(next) << next.error().what;
          if (!*next) continue;
          const auto& event = (*next)->event;
          {
            const std::lock_guard lock(mutex);
            auto& last = seen[event.aggregate->text()];
            EXPECT_LE(event.seq_nr.value, last + 1) << event.aggregate->text() << " was overtaken";
            last = std::max(last, event.seq_nr.value);
          }
          if (random() % 10 == 0) {
            (void)worker->reject(**next, "not now");
            continue;
          }
          if (!worker->acknowledge(**next)) continue;
          const std::lock_guard lock(mutex);
          if (++acknowledged >= aggregates * events && store.groups().group("g")->unsettled == 0) done = true;
        }
      }
    });
  }
  for (int i = 0; i < events; ++i) {
    for (int a = 0; a < aggregates; ++a)
      ASSERT_TRUE(store.append(Append{}.event("order-" + std::to_string(a), "Placed", "{}")));
  }
  const auto deadline = std::chrono::steady_clock::now() + patience * 3;
  while (!done && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(done) << acknowledged;
  done = true;
  for (auto& thread : threads) thread.join();
  const auto info = store.groups().group("g").value();
  EXPECT_EQ(info.acknowledged, static_cast<std::uint64_t>(aggregates * events));
  EXPECT_EQ(info.unsettled, 0u);
}

}  // namespace
}  // namespace evershard
