// The same words and errors, in this process and of a server: random operations on both, compared whole.
//
// A failure names its seed: EVERSHARD_SEED=<seed> repeats that one round, EVERSHARD_ROUNDS=<n> runs more of them.

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "evershard/protocol/validate.hpp"
#include "tests/doors/remote/dice.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

std::string text_of(const Error& error) {
  std::string text = std::string(name_of(error.code)) + ": " + error.what;
  if (!error.details) return text;
  const auto& d = *error.details;
  if (d.aggregate) text += " | aggregate " + d.aggregate->text();
  if (d.actual) text += " | actual " + std::to_string(d.actual->value);
  if (d.condition) text += " | condition " + std::to_string(*d.condition);
  if (d.position) text += " | position " + std::to_string(d.position->value);
  return text;
}

template <class T>
void expect_equal(const Result<T>& local, const Result<T>& remote) {
  ASSERT_EQ(local.has_value(), remote.has_value()) << "local: " << (local ? "ok" : text_of(local.error()))
                                                   << "; remote: " << (remote ? "ok" : text_of(remote.error()));
  if (!local) {
    ASSERT_EQ(text_of(local.error()), text_of(remote.error()));
    ASSERT_TRUE(local.error() == remote.error());
  } else if constexpr (!std::is_void_v<T>) {
    ASSERT_TRUE(*local == *remote);
  }
}

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// `twin` is asked as Local only and goes through the same appends as the one that is served.
class LocalAndRemote : public ::testing::Test {
 protected:
  static LocalOptions small() {
    LocalOptions options;
    options.tail_events = 100'000;
    options.at_least_timeout = 20ms;
    options.limits.page_events_max = 5;
    return options;
  }
  static Local twin_of(LocalOptions options) { return *Local::open(std::move(options)); }

  void act() {
    const auto choice = dice->below(100);
    if (choice < 45)
      append();
    else if (choice < 60)
      read_query();
    else if (choice < 68)
      read_stream();
    else if (choice < 80)
      look_up();
    else if (choice < 88)
      put_snapshot();
    else if (choice < 92)
      follow();
    else
      wait();
  }

  void append() {
    auto append = !accepted.empty() && dice->one_in(6) ? accepted[dice->below(accepted.size())] : dice->append(head());
    const auto expected = twin.append(append);
    const auto answer = remote.append(append);
    // Of two mistakes the client may tell the one that no store would take, and the store the one of its own limits.
    if (const auto checked = check(append, Limits::most()); !checked) {
      ASSERT_FALSE(expected);
      ASSERT_FALSE(answer);
      ASSERT_EQ(text_of(answer.error()), text_of(checked.error()));
      return;
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(expected, answer));
    if (!answer) return;
    ++stored;
    const bool named = append.request_id || std::any_of(append.events.begin(), append.events.end(),
                                                        [](const Event& e) { return e.id.given(); });
    if (named) accepted.push_back(std::move(append));
    for (auto position = answer->first_position; position <= answer->last_position; ++position) {
      auto a = *twin.event_at(position);
      const auto b = *remote.event_at(position);
      if (!named) a.id = b.id;
      ASSERT_TRUE(a == b) << position.value;
    }
  }

  std::uint64_t head() { return served.local.head()->value; }

  static void compare(EventStream local, EventStream over) {
    while (true) {
      const auto a = local.next();
      const auto b = over.next();
      ASSERT_NO_FATAL_FAILURE(expect_equal(a, b));
      if (!a || !*a) break;
    }
    ASSERT_EQ(local.watermark(), over.watermark());
    ASSERT_EQ(local.error().has_value(), over.error().has_value());
  }

  void read_query() {
    const auto query = dice->query();
    ReadOptions options;
    if (dice->one_in(2)) options.after = dice->position(head());
    if (dice->one_in(3)) options.before = dice->position(head());
    if (dice->one_in(3)) options.up_to = dice->position(head());
    if (dice->one_in(3)) options.limit = dice->below(30);
    if (dice->one_in(4)) options.at_least = GlobalPosition(dice->below(head() + 1));
    if (dice->one_in(2)) options.direction = Direction::backwards;
    if (dice->one_in(3)) options.per_aggregate = dice->below(4);
    if (options.per_aggregate && dice->one_in(2)) {
      if (options.direction == Direction::forwards)
        options.per_aggregate_from = GlobalPosition{dice->below(std::max<std::uint64_t>(options.after.value, 1))};
      else if (options.before && options.before->value < 1u << 30)
        options.per_aggregate_from = *options.before + dice->below(5);
    }
    compare(served.local.read(query, options), remote.read(query, options));
  }

  void read_stream() {
    const auto aggregate = dice->aggregate();
    StreamOptions options;
    if (dice->one_in(2)) options.from = SeqNr(dice->below(30));
    if (dice->one_in(3)) options.up_to = dice->position(head());
    if (dice->one_in(3)) options.limit = dice->below(10);
    if (dice->one_in(2)) options.direction = Direction::backwards;
    compare(served.local.read(aggregate, options), remote.read(aggregate, options));
  }

  void look_up() {
    const auto at = dice->position(head());
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.event_at(at), remote.event_at(at)));
    const auto id = dice->aggregate();
    const auto up_to = dice->one_in(2) ? std::optional(dice->position(head())) : std::nullopt;
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.aggregate(id, up_to), remote.aggregate(id, up_to)));
    const auto type = dice->one_in(2) ? std::optional(id.type) : std::nullopt;
    const auto after = dice->one_in(2) ? std::optional(dice->aggregate()) : std::nullopt;
    const auto limit = dice->below(9);
    ASSERT_NO_FATAL_FAILURE(
        expect_equal(served.local.aggregates(type, after, limit), remote.aggregates(type, after, limit)));
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.head(), remote.head()));
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.snapshot(id), remote.snapshot(id)));
    const auto version = SeqNr(dice->below(6));
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.snapshot(id, version), remote.snapshot(id, version)));
    const auto as_of = dice->position(head());
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.snapshot_as_of(id, as_of), remote.snapshot_as_of(id, as_of)));
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.snapshots(id), remote.snapshots(id)));
  }

  void put_snapshot() {
    const auto snapshot = dice->snapshot();
    ASSERT_NO_FATAL_FAILURE(expect_equal(twin.put_snapshot(snapshot), remote.put_snapshot(snapshot)));
  }

  void follow() {
    const auto query = dice->query();
    FollowOptions options{.after = dice->position(head()), .page_events_max = dice->below(8)};
    auto local = served.local.follow(query, options);
    auto over = remote.follow(query, options);
    const auto gather = [&](EventFeed& feed, std::vector<RecordedEvent>& events) -> Result<void> {
      for (bool caught_up = false; !caught_up;) {
        auto item = feed.next(10s);
        if (!item) return refuse(item.error());
        std::move(item->events.begin(), item->events.end(), std::back_inserter(events));
        caught_up = item->kind == FeedItem::Kind::caught_up;
        if (caught_up && item->watermark < GlobalPosition(head())) return refuse(ErrorCode::io, "caught up too early");
        if (item->kind == FeedItem::Kind::idle) return refuse(ErrorCode::timeout, "it never said that it caught up");
      }
      return {};
    };
    std::vector<RecordedEvent> a;
    std::vector<RecordedEvent> b;
    const auto ended_a = gather(local, a);
    const auto ended_b = gather(over, b);
    ASSERT_NO_FATAL_FAILURE(expect_equal(ended_a, ended_b));
    ASSERT_TRUE(a == b);
    if (ended_b) {
      const auto nothing = over.next(0ms);
      ASSERT_TRUE(nothing) << nothing.error().what;
      ASSERT_EQ(nothing->kind, FeedItem::Kind::idle);
      ASSERT_GE(nothing->watermark, options.after);
    }
    over.cancel();
    ASSERT_EQ(over.next(1s).error().code, ended_b ? ErrorCode::cancelled : ended_b.error().code);
  }

  void wait() {
    const auto at = GlobalPosition(dice->below(head() + 2));
    const auto timeout = dice->any({0ms, 3ms, -5ms});
    ASSERT_NO_FATAL_FAILURE(expect_equal(served.local.wait_for(at, timeout), remote.wait_for(at, timeout)));
  }

  ServedStore served{{}, {}, small()};
  Local twin = twin_of(small());
  Remote remote = served.connect({.timeout = 20s});
  std::unique_ptr<Dice> dice;
  std::vector<Append> accepted;
  int stored = 0;
};

TEST_F(LocalAndRemote, GiveTheSameAnswers) {
  const auto given = env("EVERSHARD_SEED");
  const auto rounds = !given.empty() ? 1 : !env("EVERSHARD_ROUNDS").empty() ? std::stoi(env("EVERSHARD_ROUNDS")) : 3;
  ASSERT_TRUE(remote.head()) << "who has no connection yet and little time is told that instead";
  for (int round = 0; round < rounds; ++round) {
    const auto seed = given.empty() ? std::random_device{}() : std::stoull(given);
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
    dice = std::make_unique<Dice>(seed);
    for (int operation = 0; operation < 400; ++operation) {
      SCOPED_TRACE("operation " + std::to_string(operation));
      ASSERT_NO_FATAL_FAILURE(act());
    }
    ASSERT_NO_FATAL_FAILURE(compare(served.local.read(Query::all()), remote.read(Query::all())));
    ASSERT_NO_FATAL_FAILURE(compare(served.local.read(Query::all(), {.direction = Direction::backwards}),
                                    remote.read(Query::all(), {.direction = Direction::backwards})));
  }
  EXPECT_GT(stored, 20 * rounds) << "hardly anything is accepted";
}

// The request's id names it: the same request through another client, or after all is forgotten, is the same append.
TEST_F(LocalAndRemote, ARequestIdNamesTheAppendAcrossClients) {
  EventId name;
  name.bytes.fill(7);
  const auto append = Append{}.event("a-1", "T", "x").event("a-1", "T", "y").request(name);
  const auto first = remote.append(append);
  ASSERT_TRUE(first) << first.error().what;
  auto other = served.connect();
  const auto again = other.append(append);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
  const auto here = served.local.append(append);
  ASSERT_TRUE(here) << here.error().what;
  EXPECT_TRUE(here->duplicate) << "the ids follow from the name, whoever appends";
  EXPECT_EQ(served.local.head()->value, 2u);
}

TEST_F(LocalAndRemote, ALongWaitIsNoShortOne) {
  append_events(remote, 3);
  EXPECT_EQ(remote.wait_for(GlobalPosition(2), std::chrono::milliseconds::max())->value, 3u);
  EXPECT_EQ(remote.follow(Query::all()).next(std::chrono::milliseconds::max())->events.size(), 3u);
  auto patient = served.connect({.timeout = std::chrono::milliseconds::max()});
  EXPECT_TRUE(patient.append(Append{}.event("a-1", "T", "x")));
  EXPECT_EQ(positions_of(patient.read(Query::all(), {.at_least = GlobalPosition(4)})).size(), 4u);
  const auto page = patient.follow(Query::all(), {.page_events_max = std::size_t{1} << 32}).next(5s);
  ASSERT_TRUE(page) << page.error().what;
}

}  // namespace
}  // namespace evershard
