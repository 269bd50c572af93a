// Retention over the network: the same words, errors and figures as in the process that keeps the history; no reader
// sees a gap.

#include <gmock/gmock.h>

#include <atomic>
#include <map>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const AggregateId kept_order{"order", "1"}, gone_order{"order", "2"};

template <class Outcome>
std::string outcome_code(const Outcome& outcome) {
  return outcome ? "none" : std::string(name_of(outcome.error().code));
}

RetentionOrder ordered_by(std::string who) {
  RetentionOrder order;
  order.by = std::move(who);
  order.reason = "law";
  return order;
}

void add_orders(EventStore& store, int events) {
  for (int n = 0; n < events; ++n) {
    ASSERT_TRUE(store.append(Append{}
                                 .event(kept_order.text(), "Added", "kept " + std::to_string(n), {"t"})
                                 .event(gone_order.text(), "Added", "secret " + std::to_string(n), {"t"})));
  }
}

/// What is there of one aggregate: `v` live, `r` removed.
std::string states_of(EventStore& store, const AggregateId& aggregate) {
  std::string states;
  std::uint64_t expected = 1;
  auto stream = store.read(aggregate);
  for (const auto& event : stream) {
    EXPECT_EQ(event.seq_nr.value, expected++) << "a gap";
    states += event.state == EventState::removed ? 'r' : 'v';
  }
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return states;
}

TEST(RemoteRetention, IsThatOfTheServer) {
  ServedStore served;
  auto remote = served.connect();
  auto& retention = remote.retention();
  add_orders(remote, 4);

  TruncateOptions truncate;
  static_cast<RetentionOrder&>(truncate) = ordered_by("ann");
  const auto bare = retention.truncate_aggregate(kept_order, SeqNr{3}, truncate);
  EXPECT_EQ(outcome_code(bare), "invalid_argument");
  EXPECT_THAT(bare.error().what, HasSubstr("no snapshot stands for"));
  EXPECT_EQ(outcome_code(retention.truncate_aggregate({"order", "9"}, SeqNr{3}, truncate)), "not_found");
  EXPECT_EQ(outcome_code(retention.remove_aggregate({"$retention", "log"}, {})), "invalid_argument");
  EXPECT_EQ(outcome_code(retention.remove_aggregate({"", ""}, {})), "invalid_argument");
  EXPECT_EQ(states_of(remote, kept_order), "vvvv");

  ASSERT_TRUE(remote.put_snapshot(
      {.aggregate = kept_order, .version = SeqNr{3}, .payload = "s", .schema_revision = 7, .keep = {}, .ttl = {}}));
  auto look = truncate;
  look.dry_run = true;
  const auto would = retention.truncate_aggregate(kept_order, SeqNr{4}, look);
  ASSERT_TRUE(would) << would.error().what;
  EXPECT_EQ(would->events, 3u);
  EXPECT_EQ(would->operation, "");
  EXPECT_EQ(*would, *served.local.retention().truncate_aggregate(kept_order, SeqNr{4}, look));
  const auto done = retention.truncate_aggregate(kept_order, SeqNr{4}, truncate);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->events, 3u);
  EXPECT_EQ(done->covered_by, SeqNr{3});
  EXPECT_EQ(done->covered_revision, 7u);
  EXPECT_GT(done->bytes_before, done->bytes_after);
  EXPECT_EQ(states_of(remote, kept_order), "rrrv");
  EXPECT_EQ(*retention.truncate_aggregate(kept_order, SeqNr{4}, truncate),
            *served.local.retention().truncate_aggregate(kept_order, SeqNr{4}, truncate));  // again: nothing

  const auto removed = retention.remove_aggregate(gone_order, ordered_by("bob"));
  ASSERT_TRUE(removed) << removed.error().what;
  EXPECT_EQ(removed->events, 4u);
  EXPECT_EQ(states_of(remote, gone_order), "rrrrv");
  EXPECT_EQ(outcome_code(remote.aggregate(gone_order)), "not_found");

  const auto log = retention.retention_log(SeqNr{0}, 1'000);
  ASSERT_TRUE(log) << log.error().what;
  EXPECT_EQ(*log, *served.local.retention().retention_log(SeqNr{0}, 1'000));
  ASSERT_EQ(log->size(), 4u);
  EXPECT_EQ(log->at(2).what, "$RemovalOrdered");
  EXPECT_THAT(log->at(2).json, HasSubstr(R"("by":"bob","reason":"law")"));
  EXPECT_EQ(retention.retention_log(SeqNr{2}, 1)->at(0), log->at(2));
  EXPECT_TRUE(retention.retention_log(SeqNr{4}, 10)->empty());
}

TEST(RemoteRetention, PoliciesAreThoseOfTheServer) {
  ServedStore served;
  auto remote = served.connect();
  auto& retention = remote.retention();
  const auto old = *Timestamp::parse("2001-01-01T00:00:00Z");
  for (int n = 0; n < 3; ++n) {
    Event event;
    event.aggregate = AggregateId{"session", std::to_string(n)};
    event.type = "Opened";
    event.payload = "x";
    if (n != 1) event.occurred_at = old;
    ASSERT_TRUE(remote.append(Append{}.event(std::move(event))));
  }
  const RetentionPolicy policy{"sessions", RetentionPolicy::Kind::remove, "session", std::chrono::hours(24), false};
  EXPECT_EQ(outcome_code(retention.set_retention_policy({"p", {}, "session", seconds(1)}, {})), "invalid_argument");
  EXPECT_EQ(
      outcome_code(retention.set_retention_policy({"p", RetentionPolicy::Kind::remove, "session", seconds(-1)}, {})),
      "invalid_argument");
  EXPECT_EQ(
      outcome_code(retention.set_retention_policy({"p", RetentionPolicy::Kind::remove, "$group", seconds(1)}, {})),
      "invalid_argument");
  ASSERT_TRUE(retention.set_retention_policy(policy, ordered_by("ann")));
  ASSERT_TRUE(retention.set_retention_policy({"seen", RetentionPolicy::Kind::events, "Seen", seconds(5), true}, {}));
  EXPECT_THAT(*retention.retention_policies(),
              ElementsAre(RetentionPolicy{"seen", RetentionPolicy::Kind::events, "Seen", seconds(5), true}, policy));
  EXPECT_EQ(*retention.retention_policies(), *served.local.retention().retention_policies());
  ASSERT_TRUE(retention.drop_retention_policy("seen", {}));
  EXPECT_EQ(outcome_code(retention.drop_retention_policy("seen", {})), "not_found");

  const auto done = retention.apply_retention(ordered_by("ann"));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->aggregates, 2u);
  EXPECT_EQ(outcome_code(remote.aggregate({"session", "0"})), "not_found");
  EXPECT_EQ(outcome_code(remote.aggregate({"session", "1"})), "none");
}

// Whoever reads, or follows, while history goes, is given every position: live, or as one that was removed.
TEST(RemoteRetention, NoReaderSeesAGap) {
  LocalOptions small_pages;
  small_pages.limits.page_events_max = 7;
  ServedStore served({}, {}, small_pages);
  auto remote = served.connect();
  add_orders(remote, 200);
  auto paged = remote.read(Query::all());
  auto followed = remote.follow(Query::all(), {.page_events_max = 7});
  std::uint64_t last_paged = 0, last_followed = 0;
  const auto read_on = [&](int events) {
    for (int n = 0; n < events; ++n) {
      const auto event = paged.next();
      ASSERT_TRUE(event) << event.error().what;
      if (!*event) return;
      ASSERT_EQ((*event)->position.value, ++last_paged);
      ASSERT_TRUE((*event)->state == EventState::removed || !(*event)->type.empty());
    }
  };
  std::map<EventState, int> states;
  const auto follow_up_to = [&](EventFeed& feed, std::uint64_t end) {
    states.clear();
    while (last_followed < end) {
      const auto item = feed.next(seconds(60));
      ASSERT_TRUE(item) << item.error().what;
      ASSERT_NE(item->kind, FeedItem::Kind::idle) << "nothing came, behind " << last_followed;
      for (const auto& event : item->events) {
        ASSERT_EQ(event.position.value, ++last_followed);
        ++states[event.state];
      }
    }
  };
  read_on(50);
  follow_up_to(followed, 50);

  ASSERT_TRUE(remote.retention().remove_aggregate(gone_order, {}));
  const auto head = remote.head();
  ASSERT_TRUE(head);
  read_on(10'000);
  follow_up_to(followed, head->value);
  EXPECT_EQ(last_paged, 400u);  // where the read began
  EXPECT_EQ(last_followed, head->value);

  last_followed = 0;
  auto late = remote.follow(Query::all());
  follow_up_to(late, head->value);
  EXPECT_EQ(states[EventState::removed], 200);
}

TEST(RemoteRetention, StoppedItIsOrderedAndTheSameAgainDoesTheRest) {
  ServedStore served;
  auto remote = served.connect();
  for (int n = 0; n < 40; ++n)
    ASSERT_TRUE(remote.append(Append{}.event(gone_order.text(), "Added", std::string(40'000, 's'))));
  auto slow = ordered_by("ann");
  slow.bytes_per_second = 10'000;

  const auto stopped =
      remote.retention().remove_aggregate(gone_order, slow, [](std::uint64_t, std::uint64_t) { return false; });

  EXPECT_EQ(outcome_code(stopped), "cancelled");
  // The server hears of it a moment later; then it is ordered or not, and nothing between.
  const auto rest = remote.retention().remove_aggregate(gone_order, {});
  ASSERT_TRUE(rest) << rest.error().what;
  EXPECT_EQ(states_of(remote, gone_order), std::string(40, 'r') + 'v');
  EXPECT_EQ(remote.retention().retention_log(SeqNr{0}, 10)->size(), 2u);
}

// The line breaks in the middle: the client is told that it does not know, and the same again says how it is.
TEST(RemoteRetention, AServerThatGoesAwayLeavesItUnknown) {
  ServedStore served;
  auto remote = served.connect();
  for (int n = 0; n < 40; ++n)
    ASSERT_TRUE(remote.append(Append{}.event(gone_order.text(), "Added", std::string(40'000, 's'))));
  auto slow = ordered_by("ann");
  slow.bytes_per_second = 10'000;
  std::atomic<bool> begun{false};
  Result<RetentionResult> outcome;
  std::thread removing([&] {
    outcome = remote.retention().remove_aggregate(gone_order, slow,
                                                  [&](std::uint64_t, std::uint64_t) { return begun = true; });
  });
  while (!begun) std::this_thread::sleep_for(milliseconds(1));
  served.stop();
  removing.join();
  EXPECT_EQ(outcome_code(outcome), "timeout");
  EXPECT_THAT(outcome.error().what, HasSubstr("the same again tells"));

  served.start();
  const auto rest = remote.retention().remove_aggregate(gone_order, {});
  ASSERT_TRUE(rest) << rest.error().what;
  EXPECT_EQ(states_of(remote, gone_order), std::string(40, 'r') + 'v');
}

TEST(RemoteRetention, AServerWithoutItSaysSo) {
  ServedStore served;
  served.served->retention = nullptr;
  auto remote = served.connect({.timeout = milliseconds(300)});
  for (const auto& why :
       {remote.retention().remove_aggregate(gone_order, {}).error(), remote.retention().retention_policies().error(),
        remote.retention().drop_retention_policy("p", {}).error()}) {
    EXPECT_EQ(why.code, ErrorCode::unavailable);
    EXPECT_THAT(why.what, HasSubstr("offers no retention"));
  }
}

}  // namespace
}  // namespace evershard
