// A copy from store to store: what it takes, how it goes on, what it refuses; into targets that refuse and fail.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include <evershard/local.hpp>

#include "evershard/local/maintenance.hpp"
#include "evershard/services/copy/store_copy.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Local memory_store() { return Local::open({.shards = 4}).value(); }

StoreName name_of(const Local& store) {
  const auto info = store.stats().value().info;
  return {info.store_id, info.fork_id};
}

std::vector<RecordedEvent> events_of(EventStore& store) {
  std::vector<RecordedEvent> events;
  auto stream = store.read(Query::all());
  for (const auto& event : stream) {
    if (!event.aggregate || !event.aggregate->type.starts_with('$')) events.push_back(event);
  }
  EXPECT_FALSE(stream.error());
  return events;
}

/// What a copy keeps of an event.
Event kept(const RecordedEvent& event) {
  return {event.id,      event.aggregate, event.type,     event.tags,        event.also,
          event.payload, event.format,    event.metadata, event.occurred_at, event.subject};
}

std::map<std::string, std::vector<EventId>> streams_of(const std::vector<RecordedEvent>& events) {
  std::map<std::string, std::vector<EventId>> streams;
  for (const auto& event : events) {
    if (event.aggregate) streams[event.aggregate->text()].push_back(event.id);
  }
  return streams;
}

/// Everything the filter takes, each once, in the order of each aggregate, whole appends together.
void expect_copy(Local& source, EventStore& target, const CopyFilter& filter, bool in_order) {
  std::vector<RecordedEvent> wanted;
  for (auto& event : events_of(source)) {
    if (filter.takes(event)) wanted.push_back(event);
  }
  const auto found = events_of(target);
  ASSERT_EQ(found.size(), wanted.size());
  EXPECT_EQ(streams_of(found), streams_of(wanted));
  std::map<EventId, const RecordedEvent*> by_id;
  for (const auto& event : found) by_id[event.id] = &event;
  ASSERT_EQ(by_id.size(), found.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_TRUE(by_id.contains(wanted[i].id)) << i;
    const auto& copy = *by_id[wanted[i].id];
    ASSERT_EQ(kept(copy), kept(wanted[i]));
    if (in_order) {
      ASSERT_EQ(found[i].id, wanted[i].id);
    }
    if (i == 0) continue;
    const auto& before = *by_id[wanted[i - 1].id];
    const bool one_append =
        wanted[i].position - wanted[i].append_index == wanted[i - 1].position - wanted[i - 1].append_index;
    const bool one_there = copy.position - copy.append_index == before.position - before.append_index;
    ASSERT_EQ(one_there, one_append) << "append boundaries, at " << wanted[i].position.value;
    if (one_append) {
      ASSERT_EQ(copy.position, before.position + 1);
    }
  }
}

void append_at_random(EventStore& store, std::mt19937_64& random, int appends, int aggregates = 12) {
  for (int i = 0; i < appends; ++i) {
    Append append;
    const auto count = random() % 4 == 0 ? 1 + random() % 6 : 1;
    for (std::uint64_t e = 0; e < count; ++e) {
      Event event;
      if (random() % 8 != 0)
        event.aggregate = AggregateId{random() % 2 ? "order" : "account",
                                      std::to_string(random() % static_cast<unsigned>(aggregates))};
      event.type = std::string("T") + std::to_string(random() % 3);
      event.tags = {"t:" + std::to_string(random() % 4)};
      if (random() % 5 == 0) event.also = {AggregateId{"customer", std::to_string(random() % 3)}};
      event.payload = std::string(random() % 40, '\xff') + std::to_string(random());
      event.format = PayloadFormat(random() % 2 ? 0 : 1001);
      if (random() % 3 == 0) event.metadata = "\x01meta";
      if (random() % 2 == 0) event.occurred_at = Timestamp{static_cast<std::int64_t>(random() % 4'000'000'000'000'000)};
      append.event(std::move(event));
    }
    ASSERT_TRUE(store.append(std::move(append)));
  }
}

CopyFilter filter_at_random(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return CopyFilter::of(Query{}.types({"T1"}), {}).value();
    case 1:
      return CopyFilter::of(Query{}.tags({"t:2"}).or_().types({"T0"}), {}).value();
    case 2:
      return CopyFilter::of(Query::all(), {{"order", "1"}, {"account", "2"}, {"order", "3"}}).value();
    default:
      return {};
  }
}

Result<CopyReport> copy(Local& source, EventStore& target, const StoreName& target_name,
                        StoreCopyOptions options = {}) {
  StoreCopy run({source, name_of(source)}, {target, target_name}, std::move(options));
  return run.run([](const CopyReport&) { return true; });
}

Result<CopyReport> copy(Local& source, Local& target, StoreCopyOptions options = {}) {
  return copy(source, target, name_of(target), std::move(options));
}

std::uint64_t rounds(std::uint64_t usual) {
  const char* set = std::getenv("EVERSHARD_ROUNDS");
  return set != nullptr ? std::stoull(set) : usual;
}

TEST(StoreCopy, TakesEverythingOrWhatTheFilterSaysWithAppendsWholeAndInOrder) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    auto source = memory_store();
    append_at_random(source, random, 400);
    const auto filter = seed == 1 ? CopyFilter{} : filter_at_random(random);
    auto target = memory_store();

    const auto report = copy(source, target, {.filter = filter});

    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->position, source.head().value());
    EXPECT_EQ(report->events_new, events_of(target).size());
    expect_copy(source, target, filter, true);
  }
}

TEST(StoreCopy, GoesOnBehindItsCheckpointAndReadsNothingAgain) {
  std::mt19937_64 random(5);
  auto source = memory_store();
  auto target = memory_store();
  append_at_random(source, random, 200);
  ASSERT_TRUE(copy(source, target));
  const auto before = source.head().value();
  append_at_random(source, random, 50);

  const auto again = copy(source, target);
  const auto nothing_new = copy(source, target);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->from, before);
  EXPECT_EQ(again->events_known, 0u);
  ASSERT_TRUE(nothing_new);
  EXPECT_EQ(nothing_new->events_new + nothing_new->events_known, 0u);
  expect_copy(source, target, {}, true);
}

TEST(StoreCopy, RestartedKnowsWhatIsThere) {
  std::mt19937_64 random(6);
  auto source = memory_store();
  auto target = memory_store();
  append_at_random(source, random, 300);
  ASSERT_TRUE(copy(source, target));

  const auto again = copy(source, target, {.restart = true});

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->from, GlobalPosition{0});
  EXPECT_EQ(again->events_new, 0u);
  EXPECT_EQ(again->events_known, source.head().value().value);
  expect_copy(source, target, {}, true);
}

TEST(StoreCopy, CopiesBackIntoWhereTheEventsCameFromAndFindsThemKnown) {
  std::mt19937_64 random(7);
  auto source = memory_store();
  auto target = memory_store();
  append_at_random(source, random, 100);
  // An append that named its request: a copy does not carry that.
  ASSERT_TRUE(source.append(Append{}.event("order-9", "A", "1").event("order-9", "B", "2").request(EventId::random())));
  ASSERT_TRUE(copy(source, target));

  const auto back = copy(target, source);

  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->events_new, 0u);
  EXPECT_EQ(back->events_known, events_of(target).size());
}

TEST(StoreCopy, LeavesOutWhatTheStoreKeepsForItself) {
  auto source = memory_store();
  auto between = memory_store();
  auto target = memory_store();
  ASSERT_TRUE(source.append(Append{}.event("order-1", "A", "1")));
  ASSERT_TRUE(copy(source, between));  // its checkpoint lies in `between`

  ASSERT_TRUE(copy(between, target));

  EXPECT_EQ(events_of(target).size(), 1u);
  EXPECT_FALSE(target.aggregate({"$copy", name_of(source).store_id}));
  EXPECT_TRUE(target.aggregate({"$copy", name_of(between).store_id}));
}

TEST(StoreCopy, TakesTheStoresEventsInUsersAggregates) {
  auto source = memory_store();
  auto target = memory_store();
  Append made;
  for (const auto* type : {"Placed", "$TimersChanged", "$CommandPrepared", "$ProcessReacted"})
    made.event("order-1", type, "");
  made.from_export = true;
  ASSERT_TRUE(source.append(std::move(made)));

  const auto report = copy(source, target);

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->events_new, 4u);
  EXPECT_EQ(target.aggregate({"order", "1"})->version, SeqNr{4});
}

TEST(StoreCopy, GoesIntoATargetThatWasRestoredToAnEarlierPositionWhenItIsRestarted) {
  TemporaryFolder folder;
  auto source = memory_store();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(source.append(Append{}.event("order-1", "A", std::to_string(i))));
  {
    auto target = Local::open({.data_dir = folder.path() / "target", .shards = 4}).value();
    ASSERT_TRUE(copy(source, target));
  }
  RestoreOptions earlier;
  earlier.up_to = GlobalPosition{4};  // where its run began, and three of the events
  ASSERT_TRUE(restore(folder.path() / "target", folder.path() / "restored", earlier));
  auto restored = Local::open({.data_dir = folder.path() / "restored"}).value();

  const auto goes_on = copy(source, restored);
  const auto anew = copy(source, restored, {.restart = true});

  ASSERT_FALSE(goes_on);
  EXPECT_EQ(goes_on.error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(anew) << anew.error().what;
  EXPECT_EQ(anew->events_known, 3u);
  EXPECT_EQ(anew->events_new, 3u);
  expect_copy(source, restored, {}, true);
}

TEST(StoreCopy, LeavesOutThatAnAggregateWasRemoved) {
  for (const bool alone : {false, true}) {
    auto source = memory_store();
    auto target = memory_store();
    ASSERT_TRUE(source.append(Append{}.event("order-1", "A", "1")));
    ASSERT_TRUE(source.append(Append{}.event("order-2", "A", "2")));
    ASSERT_TRUE(source.retention().remove_aggregate({"order", "1"}, {}));
    ASSERT_TRUE(source.append(Append{}.event("order-1", "A", "3")));
    StoreCopyOptions options;
    if (alone) options.filter = CopyFilter::of(Query::all(), {{"order", "1"}}).value();

    const auto report = copy(source, target, options);

    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->events_gone, 1u);
    const auto there = events_of(target);
    ASSERT_EQ(there.size(), alone ? 1u : 2u);
    EXPECT_EQ(there.back().payload, "3");
    EXPECT_EQ(target.aggregate({"order", "1"})->version, SeqNr{1});
  }
}

/// Nobody's data in clear where it was sealed: under its subject's key there it can be erased there too.
TEST(StoreCopy, KeepsWhoseDataAPayloadIs) {
  TemporaryFolder keys;
  auto source = Local::open({.keys_dir = keys.path() / "source", .shards = 4}).value();
  auto target = Local::open({.keys_dir = keys.path() / "target", .shards = 4}).value();
  auto keyless = memory_store();
  Event event;
  event.aggregate = AggregateId{"order", "1"};
  event.type = "A";
  event.payload = "Ada, 12 St James's Square";
  event.subject = "ada";
  ASSERT_TRUE(source.append(Append{}.event(event)));

  const auto report = copy(source, target);
  const auto refused = copy(source, keyless);

  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(events_of(target).front().payload, event.payload);
  EXPECT_EQ(events_of(target).front().subject, "ada");
  ASSERT_TRUE(target.retention().erase_subject("ada", {}));
  EXPECT_EQ(events_of(target).front().state, EventState::erased);
  EXPECT_EQ(events_of(source).front().state, EventState::live);
  for (const bool restart : {true, false}) {
    const auto again = copy(source, target, {.restart = restart});
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->events_new, 0u) << "what is erased in the target is known there";
    EXPECT_EQ(events_of(target).size(), 1u);
  }
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(events_of(keyless).size(), 0u);
}

TEST(StoreCopy, RefusesItselfOtherSourcesFiltersAndForks) {
  auto source = memory_store();
  auto other = memory_store();
  auto target = memory_store();
  ASSERT_TRUE(source.append(Append{}.event("order-1", "A", "1")));
  const auto refused = [&](Result<CopyReport> report, ErrorCode code, const char* words) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, code);
    EXPECT_THAT(report.error().what, HasSubstr(words));
  };
  refused(copy(source, source), ErrorCode::invalid_argument, "the same store");
  ASSERT_TRUE(copy(source, target, {.name = "x"}));

  refused(copy(other, target, {.name = "x"}), ErrorCode::invalid_argument, "this copy is one of store");
  refused(copy(source, target, {.name = "x", .filter = CopyFilter::of(Query{}.types({"A"}), {}).value()}),
          ErrorCode::invalid_argument, "this copy takes");
  auto clone = name_of(target);
  clone.fork_id = "another";
  refused(copy(source, target, clone, {.name = "x"}), ErrorCode::invalid_argument, "the target was restored");
  StoreCopy restored({source, {name_of(source).store_id, "another"}}, {target, name_of(target)}, {.name = "x"});
  refused(restored.run([](const CopyReport&) { return true; }), ErrorCode::invalid_argument, "the source was restored");
  EXPECT_TRUE(copy(source, target, clone, {.name = "x", .restart = true}));
}

TEST(StoreCopy, NoticesASideThatEndsBeforeItsCheckpoint) {
  const StoreName a{"a", "1"}, b{"b", "1"};
  const CopyCheckpoint checkpoint{a, b, "{}", GlobalPosition{10}, GlobalPosition{7}, 5, 1};
  EXPECT_EQ(read_copy_checkpoint(to_json(checkpoint)).value(), checkpoint);
  const auto code = [&](GlobalPosition source, GlobalPosition target) {
    const auto checked = check_resume(checkpoint, "{}", {a, source}, {b, target});
    return checked ? std::optional<ErrorCode>() : checked.error().code;
  };
  EXPECT_EQ(code(GlobalPosition{10}, GlobalPosition{7}), std::nullopt);
  EXPECT_EQ(code(GlobalPosition{9}, GlobalPosition{7}), ErrorCode::unavailable);
  EXPECT_EQ(code(GlobalPosition{10}, GlobalPosition{6}), ErrorCode::unavailable);
  for (const char* bad : {"", "{}", "[]", R"({"source":{"store_id":"a","fork_id":"1"}})", R"({"position":-1})"})
    EXPECT_EQ(read_copy_checkpoint(bad).error().code, ErrorCode::corruption) << bad;
}

TEST(StoreCopy, RefusesAnEventThatIsThereWithAnotherContent) {
  auto source = memory_store();
  auto target = memory_store();
  Event event{EventId::random(), AggregateId{"order", "1"}, "A", {}, {}, "1", PayloadFormat::unspecified, {},
              Timestamp{1}};
  ASSERT_TRUE(source.append(Append{}.event(event)));
  event.payload = "2";
  ASSERT_TRUE(target.append(Append{}.event(event)));

  const auto report = copy(source, target);

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::duplicate_event);
}

TEST(StoreCopy, AnOlderRunIsFenced) {
  std::mt19937_64 random(8);
  auto source = memory_store();
  auto target = memory_store();
  append_at_random(source, random, 50);
  StoreCopy older({source, name_of(source)}, {target, name_of(target)}, {.follow = true, .checkpoint_every = 1ms});
  bool begun = false;

  const auto report = older.run([&](const CopyReport& so_far) {
    if (!begun && so_far.position == source.head().value()) {
      begun = true;
      EXPECT_TRUE(copy(source, target));
      append_at_random(source, random, 5);
    }
    return true;
  });

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::fenced);
}

/// Refuses, fails with the append stored or not, and from some call on is gone for good.
class UnsteadyStore final : public testing::ForwardingStore {
 public:
  UnsteadyStore(EventStore& to, std::uint64_t seed, std::uint64_t calls)
      : ForwardingStore(to), random_(seed), calls_(calls) {}

  Result<Appended> append(Append append) override {
    if (gone()) return refuse(ErrorCode::unavailable, "gone");
    if (random_() % 4 == 0) return refuse(ErrorCode::overloaded, "later");
    auto done = to_.append(std::move(append));
    if (gone()) return refuse(ErrorCode::timeout, "who knows");
    return done;
  }
  void append_async(Append append, AppendCompletion done) override {
    if (gone()) return done(refuse(ErrorCode::unavailable, "gone"));
    switch (random_() % 10) {
      case 0:
        return done(refuse(ErrorCode::overloaded, "later"));
      case 1: {
        (void)to_.append(std::move(append));
        return done(refuse(ErrorCode::overloaded, "later, although it is stored"));
      }
      default:
        return to_.append_async(std::move(append), std::move(done));
    }
  }
  Result<AggregateInfo> aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to = {}) override {
    if (gone()) return refuse(ErrorCode::unavailable, "gone");
    return to_.aggregate(aggregate, up_to);
  }
  Result<void> put_snapshot(Snapshot snapshot) override {
    if (gone()) return refuse(ErrorCode::unavailable, "gone");
    return to_.put_snapshot(std::move(snapshot));
  }

 private:
  bool gone() { return calls_ == 0 || --calls_ == 0; }
  std::mt19937_64 random_;
  std::uint64_t calls_;
};

TEST(StoreCopyProperty, IntoATargetThatRefusesAndGoesAwayAtAnyPointNothingIsLostDoubledOrOutOfOrder) {
  for (std::uint64_t seed = 1; seed <= rounds(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    auto source = memory_store();
    auto target = memory_store();
    const auto filter = filter_at_random(random);
    append_at_random(source, random, 60, 4);
    bool done = false;
    for (int run = 0; !done; ++run) {
      if (run > 0 && run < 4) append_at_random(source, random, 20, 4);
      UnsteadyStore unsteady(target, random(), run < 12 ? 1 + random() % 250 : 1'000'000);
      const auto report = copy(
          source, unsteady, name_of(target),
          {.filter = filter, .restart = random() % 6 == 0, .in_flight = 1 + random() % 40, .checkpoint_every = 0ms});
      done = report.has_value();
      if (done) continue;
      const auto code = report.error().code;
      ASSERT_TRUE(code == ErrorCode::unavailable || code == ErrorCode::timeout) << report.error().what;
    }
    expect_copy(source, target, filter, false);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace evershard::cluster
