// Scheduled appends as a store offers them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/local.hpp>
#include <string>
#include <thread>

#include "evershard/local/maintenance.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/validate.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error().code);
}

ScheduleOrder order(std::string id, std::chrono::microseconds after, Append append) {
  return {.id = std::move(id), .after = after, .append = std::move(append)};
}
Append placed(const std::string& aggregate = "order-1") { return Append{}.event(aggregate, "Placed", "{}"); }

ScheduledAppend settled(ScheduledAppends& scheduled, const std::string& id) {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;) {
    auto now = scheduled.get(id);
    if (now && now->state != ScheduledState::pending) return *now;
    std::this_thread::sleep_for(5ms);
  }
  ADD_FAILURE() << id << " still waits";
  return {};
}

std::vector<std::string> ids(const Result<ScheduledPage>& page) {
  std::vector<std::string> ids;
  if (!page) ADD_FAILURE() << page.error().what;
  if (page)
    for (const auto& one : page->scheduled) ids.push_back(one.id);
  return ids;
}

TEST(Scheduled, IsMadeWhenItIsDueAndSaysWhereItsEventsStand) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  const auto before = Timestamp::now();
  const auto one = scheduled.schedule(order("a", 50ms, placed().event("order-2", "Placed", "{}")));
  ASSERT_TRUE(one) << one.error().what;
  EXPECT_EQ(one->state, ScheduledState::pending);
  EXPECT_GE(one->due.micros, before.micros + 50'000);
  const auto made = settled(scheduled, "a");
  EXPECT_EQ(made.state, ScheduledState::appended);
  EXPECT_GE(*made.settled_at, made.due);
  const auto first = store.event_at(made.first_position);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->aggregate->text(), "order-1");
  EXPECT_EQ(store.event_at(made.last_position)->aggregate->text(), "order-2");
  EXPECT_EQ(store.aggregate({"order", "1"})->version, SeqNr{1});
}

TEST(Scheduled, ItsExpectationsAndConditionsAreCheckedWhenItIsMade) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Placed", "{}", {"customer:1"})));
  ASSERT_TRUE(scheduled.schedule(order("version", 1'500ms, placed().expect("order-1", ExpectedVersion::exactly(1)))));
  ASSERT_TRUE(scheduled.schedule(order("query", 0ms, placed("order-2").fail_if(Query{}.tags({"customer:1"})))));
  ASSERT_TRUE(store.append(placed()));  // meanwhile
  const auto version = settled(scheduled, "version");
  EXPECT_EQ(version.state, ScheduledState::refused);
  EXPECT_EQ(version.refusal->code, ErrorCode::version_conflict);
  EXPECT_EQ(version.refusal->details->actual, SeqNr{2});
  const auto query = settled(scheduled, "query");
  EXPECT_EQ(query.state, ScheduledState::refused);
  EXPECT_EQ(query.refusal->code, ErrorCode::condition_failed);
  EXPECT_EQ(code_of(store.aggregate({"order", "2"})), ErrorCode::not_found);
}

TEST(Scheduled, TheSameAgainIsTheSameAndAnotherUnderItsIdIsRefused) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  const auto first = scheduled.schedule(order("a", 1h, placed()));
  ASSERT_TRUE(first);
  const auto again = scheduled.schedule(order("a", 2h, placed()));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->due, first->due);
  EXPECT_EQ(code_of(scheduled.schedule({.id = "a", .due = first->due, .append = placed("order-9")})),
            ErrorCode::version_conflict);
  EXPECT_EQ(code_of(scheduled.schedule({.id = "a", .due = Timestamp{first->due.micros + 1}, .append = placed()})),
            ErrorCode::version_conflict);
  auto other = order("a", 2h, placed("order-9"));
  other.replace = true;
  const auto replaced = scheduled.schedule(other);
  ASSERT_TRUE(replaced) << replaced.error().what;
  EXPECT_GT(replaced->due, first->due);
  other.after = 3h;
  EXPECT_GT(scheduled.schedule(other)->due, replaced->due) << "the same append, at another time";
  EXPECT_THAT(ids(scheduled.list({})), ElementsAre("a"));
  ASSERT_TRUE(scheduled.cancel("a"));
  EXPECT_EQ(code_of(scheduled.schedule(order("a", 0ms, placed("order-8")))), ErrorCode::version_conflict);
  auto late = order("a", 0ms, placed("order-8"));
  late.replace = true;
  EXPECT_EQ(code_of(scheduled.schedule(late)), ErrorCode::version_conflict) << "it does not wait any more";
  EXPECT_EQ(code_of(scheduled.schedule(other)), ErrorCode::version_conflict);
  other.replace = false;
  const auto cancelled = scheduled.schedule(other);
  ASSERT_TRUE(cancelled);
  EXPECT_TRUE(cancelled->duplicate);
  EXPECT_EQ(cancelled->state, ScheduledState::cancelled) << "a request that comes late begins nothing anew";
}

TEST(Scheduled, IsCancelledOnceAndNotWhenItWasMade) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  EXPECT_EQ(code_of(scheduled.cancel("nobody")), ErrorCode::not_found);
  EXPECT_EQ(code_of(scheduled.get("nobody")), ErrorCode::not_found);
  // The machine may be so slow that one is made before it is cancelled: then the next has more time.
  auto after = 100ms;
  std::string id, value;
  for (; id.empty() && after < 60s; after *= 3) {
    value = std::to_string(after.count());
    ASSERT_TRUE(scheduled.schedule(order("in-" + value, after, placed("order-" + value))));
    if (scheduled.cancel("in-" + value)) id = "in-" + value;
  }
  ASSERT_NE(id, "") << "none is cancelled";
  EXPECT_EQ(scheduled.cancel(id)->state, ScheduledState::cancelled);
  ASSERT_TRUE(scheduled.schedule(order("b", 0ms, placed("order-2"))));
  EXPECT_EQ(settled(scheduled, "b").state, ScheduledState::appended);
  EXPECT_EQ(code_of(scheduled.cancel("b")), ErrorCode::condition_failed);
  std::this_thread::sleep_for(after / 3 + 50ms);
  EXPECT_EQ(code_of(store.aggregate({"order", value})), ErrorCode::not_found);
}

TEST(Scheduled, ListsThoseThatWaitInOrderOfTheirTimesAndAllInOrderOfIds) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  EXPECT_THAT(ids(scheduled.list({})), ElementsAre());
  for (const auto& [id, after] : {std::pair("d", 3h), {"a", 4h}, {"c", 1h}, {"b", 2h}})
    ASSERT_TRUE(scheduled.schedule(order(id, after, placed())));
  EXPECT_THAT(ids(scheduled.list({})), ElementsAre("c", "b", "d", "a"));
  const auto page = scheduled.list({.limit = 3});
  EXPECT_THAT(ids(page), ElementsAre("c", "b", "d"));
  ASSERT_TRUE(page->next);
  EXPECT_THAT(ids(scheduled.list({.after = *page->next, .limit = 3})), ElementsAre("a"));
  ASSERT_TRUE(scheduled.cancel("b"));
  EXPECT_THAT(ids(scheduled.list({})), ElementsAre("c", "d", "a"));
  const auto all = scheduled.list({.all = true, .limit = 2});
  EXPECT_THAT(ids(all), ElementsAre("a", "b"));
  EXPECT_EQ(all->scheduled[1].state, ScheduledState::cancelled);
  EXPECT_THAT(ids(scheduled.list({.all = true, .after = *all->next, .limit = 2})), ElementsAre("c", "d"));
  EXPECT_EQ(code_of(scheduled.list({.limit = 0})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(scheduled.list({.limit = 1'001})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(scheduled.list({.after = "soon"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(scheduled.list({.at_least = GlobalPosition{1'000}, .timeout = 10ms})), ErrorCode::timeout);
}

TEST(Scheduled, APageOfLargeOnesEndsEarlyAndGoesOn) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  for (int n = 0; n != 9; ++n)
    ASSERT_TRUE(scheduled.schedule(order(std::to_string(n), std::chrono::hours(n + 1),
                                         Append{}.event("order-1", "Placed", std::string(900'000, 'x')))));
  for (const bool all : {false, true}) {
    std::vector<std::string> seen;
    ScheduledListing listing{.all = all};
    for (int pages = 0; pages != 9; ++pages) {
      const auto page = scheduled.list(listing);
      ASSERT_TRUE(page) << page.error().what;
      EXPECT_LE(page->scheduled.size(), 5u);
      for (const auto& one : page->scheduled) seen.push_back(one.id);
      if (!page->next) break;
      listing.after = *page->next;
    }
    EXPECT_THAT(seen, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8"));
  }
}

TEST(Scheduled, ComesDueWhileNobodyRunsAndIsMadeAtTheNextOpening) {
  const TemporaryFolder folder;
  {
    auto store = Local::open({.data_dir = folder.path() / "data"}).value();
    ASSERT_TRUE(store.scheduled().schedule(order("a", 80ms, placed())));
    ASSERT_TRUE(store.scheduled().schedule(order("b", 1h, placed("order-2"))));
  }
  std::this_thread::sleep_for(120ms);
  auto store = Local::open({.data_dir = folder.path() / "data"}).value();
  EXPECT_EQ(settled(store.scheduled(), "a").state, ScheduledState::appended);
  EXPECT_EQ(store.scheduled().get("b")->state, ScheduledState::pending);
  EXPECT_THAT(ids(store.scheduled().list({})), ElementsAre("b"));
}

TEST(Scheduled, WhatCannotBeStoredLaterIsRefusedAtOnce) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  const auto refused = [&](ScheduleOrder of) { return code_of(scheduled.schedule(std::move(of))); };
  EXPECT_EQ(refused({.id = "a", .append = placed()}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({.id = "a", .due = Timestamp::now(), .after = 1s, .append = placed()}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", -1s, placed())), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({.id = "a", .due = Timestamp{-1}, .append = placed()}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", std::chrono::hours(24 * 366 * 9'000), placed())), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order(std::string(201, 'x'), 1s, placed())), ErrorCode::too_large);
  EXPECT_EQ(refused(order(std::string("a\0b", 3), 1s, placed())), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, {})), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, placed().request(EventId::random()))), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, placed("$order-1"))), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, Append{}.event("$copy-orders", "$CopyBegan", "{}"))), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, placed("order"))), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, placed().expect("$schedule-a", ExpectedVersion::any()))),
            ErrorCode::invalid_argument);
  Snapshot snapshot;
  snapshot.aggregate = AggregateId{"order", "1"};
  EXPECT_EQ(refused(order("a", 1s, placed().snapshot(snapshot))), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(order("a", 1s, Append{}.event("order-1", "Placed", std::string(1u << 20, 'x')))),
            ErrorCode::too_large)
      << "with what is around it, it is more than a payload may have";
  Append two = placed().event("order-2", "Placed", "{}");
  two.events[0].subject = "ada";
  two.events[1].subject = "bob";
  EXPECT_EQ(refused(order("a", 1s, two)), ErrorCode::invalid_argument);
  EXPECT_EQ(store.head()->value, 0u) << "nothing was written";
}

TEST(Scheduled, IsSealedForWhoseItIsAndEndsWithThatOnesKey) {
  const TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "data", .keys_dir = folder.path() / "keys"}).value();
  Append append = placed();
  append.events[0].subject = "ada";
  ASSERT_TRUE(store.scheduled().schedule(order("a", 1h, append)));
  EXPECT_EQ(store.scheduled().get("a")->append->events[0].subject, "ada");
  ASSERT_TRUE(store.retention().erase_subject("ada", {}));
  store = Local::open({.data_dir = folder.path() / "other"}).value();  // the first one ends
  auto again = Local::open({.data_dir = folder.path() / "data", .keys_dir = folder.path() / "keys"}).value();
  const auto gone = settled(again.scheduled(), "a");
  EXPECT_EQ(gone.state, ScheduledState::refused);
  EXPECT_FALSE(gone.append);
  EXPECT_EQ(code_of(again.aggregate({"order", "1"})), ErrorCode::not_found);
}

TEST(Scheduled, CannotBeWrittenByUsers) {
  auto store = Local::open().value();
  EXPECT_EQ(code_of(store.append(Append{}.event("$schedule-a", std::string(append_scheduled_type), ""))),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(store.append(Append{}.event("order-1", std::string(schedule_settled_type), ""))),
            ErrorCode::invalid_argument);
}

TEST(Scheduled, AThousandAtOnceAreMadeOnceEach) {
  auto store = Local::open().value();
  const auto due = Timestamp{Timestamp::now().micros + 500'000};
  for (int n = 0; n != 1'000; ++n)
    ASSERT_TRUE(store.scheduled().schedule(
        {.id = std::to_string(n), .due = due, .append = placed("order-" + std::to_string(n))}));
  for (int n = 0; n != 1'000; ++n)
    EXPECT_EQ(settled(store.scheduled(), std::to_string(n)).state, ScheduledState::appended);
  std::size_t made = 0;
  for (const auto& event : store.read(Query{}.types({"Placed"}))) made += event.seq_nr == SeqNr{1} ? 1 : 100'000;
  EXPECT_EQ(made, 1'000u);
}

std::vector<std::string> names_of(Local& store) {
  std::vector<std::string> names;
  const auto found = store.aggregates(std::nullopt, {}, 1'000);
  if (!found) ADD_FAILURE() << found.error().what;
  if (found)
    for (const auto& info : *found) names.push_back(info.aggregate.text());
  return names;
}

TEST(Scheduled, SettledOnesGoAfterTheirTimeAndAreNeverMadeAgain) {
  TemporaryFolder folder;
  LocalOptions options{.data_dir = folder.path() / "data"};
  {
    auto store = Local::open(options).value();
    auto& scheduled = store.scheduled();
    ASSERT_TRUE(store.append(placed("order-3")));
    ASSERT_TRUE(scheduled.schedule(order("made", 0ms, placed().event("order-2", "Placed", "{}"))));
    ASSERT_TRUE(
        scheduled.schedule(order("refused", 0ms, placed("order-3").expect("order-3", ExpectedVersion::none()))));
    ASSERT_TRUE(scheduled.schedule(order("cancelled", 1h, placed())));
    ASSERT_TRUE(scheduled.schedule(order("waits", 1h, placed("order-4"))));
    const auto made = settled(scheduled, "made");
    settled(scheduled, "refused");
    ASSERT_TRUE(scheduled.cancel("cancelled"));
    ASSERT_TRUE(store.wait_for(*store.head(), 60s));

    const auto kept = store.remove_settled_schedules(1h);
    ASSERT_TRUE(kept) << kept.error().what;
    EXPECT_EQ(kept->events, 0u);
    EXPECT_THAT(ids(scheduled.list({.all = true})), ElementsAre("cancelled", "made", "refused", "waits"));
    RetentionOrder dry;
    dry.dry_run = true;
    const auto head = store.head();
    const auto would = store.remove_settled_schedules(0ms, dry);
    ASSERT_TRUE(would) << would.error().what;
    EXPECT_EQ(would->events, 6u);
    EXPECT_EQ(store.head(), head);

    RetentionOrder by;
    by.by = "test";
    const auto done = store.remove_settled_schedules(0ms, by);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->aggregates, 3u);
    EXPECT_EQ(done->events, 6u);
    EXPECT_EQ(store.event_at(made.first_position)->type, "Placed") << "what was appended stays";
    EXPECT_EQ(store.event_at(made.last_position)->type, "Placed");
    EXPECT_EQ(store.remove_settled_schedules(0ms)->events, 0u);
    const auto log = store.retention().retention_log(SeqNr{0}, 10);
    ASSERT_TRUE(log) << log.error().what;
    ASSERT_EQ(log->size(), 1u);
    EXPECT_EQ(log->front().what, "$EventsRemoved");
    EXPECT_THAT(log->front().json, HasSubstr(R"("by":"test")"));
    EXPECT_THAT(log->front().json, HasSubstr(R"("schedules":3)"));
  }
  auto store = Local::open(options).value();
  auto& scheduled = store.scheduled();
  EXPECT_THAT(names_of(store), ElementsAre("$retention-log", "$schedule-waits", "order-1", "order-2", "order-3"));
  EXPECT_THAT(ids(scheduled.list({.all = true})), ElementsAre("waits"));
  for (const auto* id : {"made", "refused", "cancelled"}) {
    EXPECT_EQ(code_of(scheduled.get(id)), ErrorCode::not_found);
    EXPECT_EQ(code_of(scheduled.cancel(id)), ErrorCode::not_found);
    EXPECT_EQ(code_of(store.aggregate({"$schedule", id})), ErrorCode::not_found);
    for (const bool replace : {false, true}) {
      auto late = order(id, 0ms, placed().event("order-2", "Placed", "{}"));
      late.replace = replace;
      EXPECT_EQ(code_of(scheduled.schedule(late)), ErrorCode::version_conflict) << "a retry that comes late";
    }
  }
  EXPECT_EQ(store.aggregate({"order", "1"})->version, SeqNr{1});
  const auto sound = store.verify();
  ASSERT_TRUE(sound) << sound.error().what;
  EXPECT_EQ(sound->errors, 0u) << sound->findings.front();
  ASSERT_TRUE(scheduled.cancel("waits"));
  EXPECT_EQ(store.remove_settled_schedules(0ms)->aggregates, 1u);
}

/// More than one write takes, between some that are to stay.
TEST(Scheduled, ManySettledOnesGoAndYoungOnesBetweenThemStay) {
  auto store = Local::open().value();
  auto& scheduled = store.scheduled();
  for (int n = 0; n != 300; ++n) {
    ASSERT_TRUE(scheduled.schedule(order("old" + std::to_string(n), 1h, placed())));
    ASSERT_TRUE(scheduled.cancel("old" + std::to_string(n)));
  }
  std::this_thread::sleep_for(8s);
  const auto began = std::chrono::steady_clock::now();
  for (int n = 0; n != 10; ++n) {
    ASSERT_TRUE(scheduled.schedule(order("young" + std::to_string(n), 1h, placed())));
    ASSERT_TRUE(scheduled.cancel("young" + std::to_string(n)));
  }
  // Between the ages of the young ones and of the old ones, however long that took.
  const auto keep =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began) + 7'000ms;
  const auto done = store.remove_settled_schedules(keep);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->aggregates, 300u);
  EXPECT_EQ(scheduled.list({.all = true})->scheduled.size(), 10u);
  EXPECT_EQ(store.remove_settled_schedules(1h)->aggregates, 0u);
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(store.remove_settled_schedules(1s)->aggregates, 10u) << "it goes on where it ended";
  EXPECT_EQ(scheduled.list({.all = true})->scheduled.size(), 0u);
}

TEST(Scheduled, NothingIsMadeByWhoOnlyLooksNorInABackup) {
  TemporaryFolder folder;
  const auto nothing_happens = [](Local& store) {
    const auto before = store.head().value();
    EXPECT_EQ(ids(store.scheduled().list({})), std::vector<std::string>{"due"});
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(store.scheduled().get("due")->state, ScheduledState::pending);
    EXPECT_EQ(store.head().value(), before);
  };
  {
    auto store = Local::open({.data_dir = folder.path() / "store", .shards = 4, .makes_scheduled = false}).value();
    ASSERT_TRUE(store.scheduled().schedule(order("due", 0ms, placed())));
    ASSERT_TRUE(store.scheduled().schedule(order("other", 0ms, placed())));
    ASSERT_TRUE(store.scheduled().cancel("other")) << "whoever cancels makes nothing either";
    nothing_happens(store);
    ASSERT_TRUE(store.backup(folder.path() / "backup"));
    ASSERT_TRUE(store.backup(folder.path() / "clone", {.up_to = store.head().value()}));
  }
  for (const auto* copy : {"backup", "clone"}) {
    std::string warned;
    LocalOptions options{.data_dir = folder.path() / copy};
    options.warn = [&](const Error& error) { warned = error.what; };
    auto store = Local::open(std::move(options)).value();
    EXPECT_THAT(warned, HasSubstr("is a backup"));
    nothing_happens(store);
  }
  ASSERT_TRUE(restore(folder.path() / "backup", folder.path() / "restored"));
  auto restored = Local::open({.data_dir = folder.path() / "restored"}).value();
  EXPECT_EQ(settled(restored.scheduled(), "due").state, ScheduledState::appended);
}

}  // namespace
}  // namespace evershard
