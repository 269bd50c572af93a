// PersistentHost: subscriptions of a store, without a socket: loaded, changed, begun anew; and as a home that is lost.

#include "evershard/compat/kurrent/persistent_host.hpp"
#include "evershard/compat/kurrent/event_form.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "evershard/local/local.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::kurrent {
namespace {

using namespace std::chrono_literals;

/// One node that is a home, or is not.
class OneHome final : public serving::Homes {
 public:
  explicit OneHome(EventStore& events) : events_(events) {}
  void serve(std::string, Handler) override {}
  void serve_later(std::string, LateHandler) override {}
  Result<std::string> call(Asked, bool) override { return refuse(ErrorCode::unavailable, "nobody"); }
  void ask(Asked, Done done) override { done(refuse(ErrorCode::wrong_shard, "nobody")); }
  Result<std::uint64_t> term(const AggregateId&) override {
    if (now == 0) return refuse(ErrorCode::wrong_shard, "not here");
    return now.load();
  }
  Result<void> settled(const AggregateId&) override { return {}; }
  Result<void> keep(Snapshot state, std::uint64_t term) override {
    if (term != now) return refuse(ErrorCode::fenced, "an earlier term");
    return events_.put_snapshot(std::move(state));
  }
  void watch(std::function<void()>) override {}
  std::atomic<std::uint64_t> now{1};

 private:
  EventStore& events_;
};

class Listener final : public PersistentConsumer {
 public:
  void joined() override { ++joins; }
  void give(esps::ReadResp event, std::uint64_t) override {
    const std::lock_guard lock(mutex);
    given.push_back(std::move(event));
  }
  void drop(const Dropped& how) override {
    moved = how.moved;
    ++drops;
  }
  [[nodiscard]] std::vector<std::uint64_t> revisions() {
    const std::lock_guard lock(mutex);
    std::vector<std::uint64_t> all;
    for (const auto& each : given) all.push_back(each.event().event().stream_revision());
    return all;
  }
  [[nodiscard]] std::vector<EventId> ids(std::size_t first, std::size_t end) {
    const std::lock_guard lock(mutex);
    std::vector<EventId> all;
    for (auto i = first; i < end; ++i) all.push_back(id_of(given.at(i).event().event().id()).value());
    return all;
  }
  std::mutex mutex;
  std::vector<esps::ReadResp> given;
  std::atomic<int> joins{0}, drops{0};
  std::atomic<bool> moved{false};
};

/// Streams that cannot be read for a while.
class StreamsAway final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    if (left != 0) {
      --left;
      return ForwardingStore::read(std::move(aggregate), options);
    }
    return EventStream(Error(ErrorCode::unavailable, "its node is away"));
  }
  std::atomic<int> left{-1};  ///< reads that still work; negative: all do
};

class PersistentHostTest : public ::testing::Test {
 protected:
  PersistentHostTest() : local(Local::open({}).value()), watch(local) {
    served.all_names = &names;
    served.rewritten = [this] { return local.rewritten(); };
    kurrent = std::make_unique<Kurrent>(calls, KurrentOptions{});
    host = std::make_unique<PersistentHost>(*kurrent, &homes);
    append(6);
  }
  ~PersistentHostTest() override {
    host->stop({subscription_dropped(name, "over")});
    EXPECT_TRUE(wait([&] { return calls.under_way == 0; }));
    watch.close();
  }
  void append(int events) {
    for (int i = 0; i < events; ++i) ASSERT_TRUE(local.append(Append{}.event("order-1", "Placed", "{}")));
  }
  template <class Holds>
  static bool wait(Holds holds) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!holds() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    return holds();
  }
  [[nodiscard]] esps::GroupOptions options(int retries = 3) const {
    esps::GroupOptions options;
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name(name.stream);
    options.mutable_stream()->mutable_start();
    options.set_group_name(name.group);
    options.mutable_settings()->set_max_retry_count(retries);
    options.mutable_settings()->set_message_timeout_ms(60'000);
    options.mutable_settings()->set_max_checkpoint_count(1);
    options.mutable_settings()->set_live_buffer_size(100);
    options.mutable_settings()->set_consumer_strategy("RoundRobin");
    return options;
  }
  std::shared_ptr<PersistentSession> join(const std::shared_ptr<Listener>& listener, std::size_t slots = 10) {
    auto joined = host->join(name, listener, {"here", "me", "one", slots});
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<PersistentSession>>(joined));
    auto session = std::get<std::shared_ptr<PersistentSession>>(joined);
    session->start();
    return session;
  }
  [[nodiscard]] esps::SubscriptionInfo info() {
    esps::SubscriptionInfo info;
    EXPECT_FALSE(host->info(name, info));
    return info;
  }

  const SubscriptionName name{"order-1", "g"};
  Local local;
  StreamsAway names{local.all_names()};
  cluster::WorkPool pool{2};
  cluster::WorkPool answers{1};
  serving::HeadWatch watch;
  serving::Served served{local,
                         local,
                         pool,
                         watch,
                         [] { return std::make_shared<const serving::Access>(); },
                         [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  door::Calls calls{"kurrent", served, answers, 0, 0, 0, {}};
  std::unique_ptr<Kurrent> kurrent;
  OneHome homes{local.all_names()};
  std::unique_ptr<PersistentHost> host;
};

TEST_F(PersistentHostTest, WhatWasKeptIsThereInTheNextTerm) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->acknowledge(listener->ids(0, 2));
  session->refuse_events(listener->ids(2, 3), PersistentSubscription::Nack::park, "bad");
  ASSERT_TRUE(wait([&] { return info().last_checkpointed_event_position() == "2"; }));
  homes.now = 2;
  host->look_at_homes();
  EXPECT_EQ(listener->drops, 1);
  EXPECT_TRUE(listener->moved);
  const auto again = std::make_shared<Listener>();
  const auto next = join(again);
  ASSERT_TRUE(wait([&] { return again->revisions().size() == 3; }));
  EXPECT_EQ(again->revisions(), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(info().parked_message_count(), 1);
}

TEST_F(PersistentHostTest, WhoIsNoHomeAnyMoreKeepsNothing) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  homes.now = 2;  // it has not heard of it
  session->acknowledge(listener->ids(0, 6));
  host->look_at_homes();
  const auto again = std::make_shared<Listener>();
  const auto next = join(again);
  ASSERT_TRUE(wait([&] { return again->revisions().size() == 6; })) << "what was not kept comes again";
  homes.now = 0;
  esps::SubscriptionInfo none;
  const auto refused = host->info(name, none);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error.code, ErrorCode::wrong_shard) << "whoever asks goes on to where it is";
}

TEST_F(PersistentHostTest, AChangeEndsItsCallsAndKeepsItsPlace) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->acknowledge(listener->ids(0, 4));
  auto asked = options(9);
  asked.mutable_stream()->set_revision(2);
  ASSERT_FALSE(host->update(asked));
  EXPECT_EQ(listener->drops, 1);
  EXPECT_FALSE(listener->moved);
  const auto again = std::make_shared<Listener>();
  const auto next = join(again);
  ASSERT_TRUE(wait([&] { return again->revisions().size() == 2; }));
  EXPECT_EQ(again->revisions(), (std::vector<std::uint64_t>{4, 5})) << "its place counts, not where it was to begin";
  EXPECT_EQ(info().max_retry_count(), 9);
  EXPECT_EQ(info().start_from(), "2");
}

TEST_F(PersistentHostTest, WhereNothingWasSettledAChangeOfItsStartCounts) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  auto asked = options();
  asked.mutable_stream()->set_revision(4);
  ASSERT_FALSE(host->update(asked));
  const auto second = std::make_shared<Listener>();
  session = join(second);
  ASSERT_TRUE(wait([&] { return second->revisions().size() == 2; }));
  EXPECT_EQ(second->revisions(), (std::vector<std::uint64_t>{4, 5}));
  asked.mutable_stream()->mutable_end();
  ASSERT_FALSE(host->update(asked));
  const auto third = std::make_shared<Listener>();
  session = join(third);
  append(1);
  ASSERT_TRUE(wait([&] { return third->revisions().size() == 1; }));
  EXPECT_EQ(third->revisions(), std::vector<std::uint64_t>{6});
}

TEST_F(PersistentHostTest, OfADeletedOneNothingIsLeft) {
  ASSERT_FALSE(host->create(options()));
  EXPECT_TRUE(host->create(options())) << "it is there";
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->acknowledge(listener->ids(0, 6));
  ASSERT_TRUE(wait([&] { return info().last_checkpointed_event_position() == "5"; }));
  ASSERT_FALSE(host->remove(name));
  EXPECT_TRUE(host->remove(name)) << "it is gone";
  ASSERT_FALSE(host->create(options()));
  homes.now = 2;
  EXPECT_EQ(info().last_checkpointed_event_position(), "");
}

TEST_F(PersistentHostTest, WhatIsGivenNextDoesNotDependOnHowMuchIsSettledAtOnce) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener, 3);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 3; }));
  ASSERT_TRUE(wait([&] { return calls.under_way == 0; }));
  std::promise<void> go_on;
  const auto until = go_on.get_future().share();
  std::atomic<int> held{0};
  for (int i = 0; i < 2; ++i) {
    pool.run([&held, until] {
      ++held;
      until.wait();
    });
  }
  ASSERT_TRUE(wait([&] { return held == 2; }));
  session->acknowledge(listener->ids(0, 2));
  session->refuse_events(listener->ids(2, 3), PersistentSubscription::Nack::retry, "no");
  go_on.set_value();
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  EXPECT_EQ(listener->revisions(), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 2}));
}

TEST_F(PersistentHostTest, MeasuresHowLongConsumersTakeWhereThatIsAskedFor) {
  auto asked = options();
  for (const bool measured : {false, true}) {
    asked.mutable_settings()->set_extra_statistics(measured);
    ASSERT_FALSE(measured ? host->update(asked) : host->create(asked));
    const auto listener = std::make_shared<Listener>();
    const auto session = join(listener, 3);
    ASSERT_TRUE(wait([&] { return listener->revisions().size() == 3; }));
    EXPECT_EQ(info().connections(0).observed_measurements_size(), 0) << "nothing is settled";
    std::this_thread::sleep_for(20ms);
    session->refuse_events(listener->ids(0, 1), PersistentSubscription::Nack::retry, "no");
    const auto shown = info().connections(0).observed_measurements();
    ASSERT_EQ(shown.empty(), !measured);
    for (const auto& each : shown) EXPECT_GE(each.value(), 20) << each.key();
  }
}

TEST_F(PersistentHostTest, LooksAgainWhenSomethingIsDueThoughNothingHappens) {
  auto asked = options(1);
  asked.mutable_settings()->set_message_timeout_ms(150);
  asked.mutable_settings()->set_max_checkpoint_count(1'000);
  asked.mutable_settings()->set_checkpoint_after_ms(400);
  ASSERT_FALSE(host->create(asked));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() >= 6; }));
  session->acknowledge(listener->ids(0, 1));
  EXPECT_TRUE(wait([&] { return info().parked_message_count() == 5; })) << "late, tried again, and late once more";
  EXPECT_TRUE(wait([&] { return info().last_checkpointed_event_position() == "5"; })) << "kept, when it was time";
  EXPECT_TRUE(wait([&] { return calls.under_way == 0; }));
}

TEST_F(PersistentHostTest, AReplayThatBreaksOffHidesNothing) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->refuse_events(listener->ids(0, 6), PersistentSubscription::Nack::park, "bad");
  ASSERT_TRUE(wait([&] { return info().parked_message_count() == 6; }));
  names.left = 2;
  EXPECT_TRUE(host->replay(name, 100)) << "it is refused";
  names.left = -1;
  EXPECT_EQ(info().parked_message_count(), 4) << "two are given again, the others are parked as before";
  EXPECT_FALSE(host->replay(name, 100));
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 12; }));
  session->acknowledge(listener->ids(6, 12));
  EXPECT_TRUE(wait([&] { return info().parked_message_count() == 0; }));
}

TEST_F(PersistentHostTest, AParkedEventThatIsGoneIsParkedNoMore) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->refuse_events(listener->ids(0, 6), PersistentSubscription::Nack::park, "bad");
  ASSERT_TRUE(wait([&] { return info().parked_message_count() == 6; }));
  TruncateOptions order;
  order.uncovered = true;
  ASSERT_TRUE(local.retention().truncate_aggregate({"order", "1"}, SeqNr(5), order, {}));
  EXPECT_FALSE(host->replay(name, 100));
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 8; })) << "of the others";
  session->acknowledge(listener->ids(6, 8));
  ASSERT_TRUE(wait([&] { return info().parked_message_count() == 0 && calls.under_way == 0; }));
  homes.now = 2;  // as it was kept
  EXPECT_EQ(info().parked_message_count(), 0);
}

// A subscription has read some of what it gives next. Who removes an event counts on nobody being given it afterwards.
TEST_F(PersistentHostTest, WhatWasRemovedIsNotGivenOutOfMemory) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  auto session = join(listener, 2);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 2 && info().read_buffer_count() == 4; }));
  TruncateOptions order;
  order.uncovered = true;
  ASSERT_TRUE(local.retention().truncate_aggregate({"order", "1"}, SeqNr(5), order, {}));
  session->acknowledge(listener->ids(0, 2));
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 4; }));
  EXPECT_EQ(listener->revisions(), (std::vector<std::uint64_t>{0, 1, 4, 5}));
  session->acknowledge(listener->ids(2, 4));
  EXPECT_TRUE(wait([&] { return info().last_checkpointed_event_position() == "5"; })) << "what is gone is settled";
}

// What cannot be looked at again is neither given as it was nor lost.
TEST_F(PersistentHostTest, WhatCannotBeLookedAtAgainIsGivenLater) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  auto session = join(listener, 2);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 2 && info().read_buffer_count() == 4; }));
  TruncateOptions order;
  order.uncovered = true;
  ASSERT_TRUE(local.retention().truncate_aggregate({"order", "1"}, SeqNr(2), order, {}));
  names.left = 0;
  session->acknowledge(listener->ids(0, 2));
  ASSERT_TRUE(wait([&] { return listener->drops == 1; })) << "as where it cannot read on";
  EXPECT_EQ(listener->revisions().size(), 2u);
  names.left = -1;
  const auto again = std::make_shared<Listener>();
  auto next = join(again);
  ASSERT_TRUE(wait([&] { return again->revisions().size() == 4; }));
  EXPECT_EQ(again->revisions(), (std::vector<std::uint64_t>{2, 3, 4, 5}));
}

TEST_F(PersistentHostTest, ParkedEventsCanBeSettledAsTheyAre) {
  ASSERT_FALSE(host->create(options()));
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; }));
  session->refuse_events(listener->ids(0, 6), PersistentSubscription::Nack::park, "bad");
  ASSERT_TRUE(wait([&] { return info().parked_message_count() == 6; }));
  EXPECT_FALSE(host->truncate_parked(name, 2));
  EXPECT_EQ(info().parked_message_count(), 4);
  EXPECT_FALSE(host->replay(name, 1));
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 7; }));
  EXPECT_EQ(listener->revisions().back(), 2u) << "the first two are gone";
  EXPECT_FALSE(host->truncate_parked(name, 100));
  EXPECT_EQ(info().parked_message_count(), 0);
  session->refuse_events(listener->ids(6, 7), PersistentSubscription::Nack::park, "bad");
  ASSERT_TRUE(wait([&] { return info().parked_message_count() == 1; })) << "what is out is no concern of it";
  ASSERT_TRUE(wait([&] { return calls.under_way == 0; }));
  homes.now = 2;
  EXPECT_EQ(info().parked_message_count(), 1) << "as it is kept";
  EXPECT_TRUE(host->truncate_parked({"order-1", "none"}, 1));
}

TEST_F(PersistentHostTest, AFilterThatMatchesNothingMovesItsPlace) {
  esps::GroupOptions asked = options();
  asked.mutable_all()->mutable_start();
  asked.mutable_all()->mutable_filter()->mutable_event_type()->add_prefix("Nothing");
  const SubscriptionName its{"$all", name.group};
  ASSERT_FALSE(host->create(asked));
  const auto shown = [&] {
    esps::SubscriptionInfo info;
    EXPECT_FALSE(host->info(its, info));
    return info;
  };
  const auto listener = std::make_shared<Listener>();
  auto joined = host->join(its, listener, {"here", "me", "one", 10});
  auto session = std::get<std::shared_ptr<PersistentSession>>(joined);
  session->start();
  const auto head = local.head()->value;
  const auto place = "C:" + std::to_string(head) + "/P:" + std::to_string(head);
  ASSERT_TRUE(wait([&] { return shown().last_known_event_position() == place; }));
  session.reset();
  ASSERT_TRUE(wait([&] { return shown().last_checkpointed_event_position() == place; }));
  homes.now = 2;
  EXPECT_EQ(shown().last_checkpointed_event_position(), place) << "it is kept";
}

TEST_F(PersistentHostTest, TheEndOfAStreamOfWhichNothingIsShownIsItsEnd) {
  TruncateOptions order;
  order.uncovered = true;
  ASSERT_TRUE(local.retention().truncate_aggregate({"order", "1"}, SeqNr(7), order, {}));
  auto asked = options();
  asked.mutable_stream()->mutable_end();
  ASSERT_FALSE(host->create(asked));
  append(1);
  const auto listener = std::make_shared<Listener>();
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 1; }));
  EXPECT_EQ(listener->revisions(), std::vector<std::uint64_t>{6});
}

TEST_F(PersistentHostTest, NothingRunsWhereNothingHappens) {
  constexpr int many = 200;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::vector<std::shared_ptr<PersistentSession>> sessions;
  for (int i = 0; i < many; ++i) {
    auto one = options();
    const SubscriptionName its{"idle-" + std::to_string(i), "g"};
    one.mutable_stream()->mutable_stream_identifier()->set_stream_name(its.stream);
    ASSERT_FALSE(host->create(one));
    listeners.push_back(std::make_shared<Listener>());
    auto joined = host->join(its, listeners.back(), {"here", "me", "one", 10});
    sessions.push_back(std::get<std::shared_ptr<PersistentSession>>(joined));
    sessions.back()->start();
  }
  ASSERT_TRUE(wait([&] { return calls.under_way == 0; })) << "each waits in the watch, and for nothing else";
  const auto listener = std::make_shared<Listener>();
  ASSERT_FALSE(host->create(options()));
  const auto session = join(listener);
  ASSERT_TRUE(wait([&] { return listener->revisions().size() == 6; })) << "and is in nobody's way";
  ASSERT_TRUE(local.append(Append{}.event("idle-7", "Placed", "{}")));
  EXPECT_TRUE(wait([&] { return listeners[7]->revisions().size() == 1; }));
  for (int i = 0; i < many; ++i)
    EXPECT_EQ(listeners[static_cast<std::size_t>(i)]->revisions().size(), i == 7 ? 1u : 0u);
}

}  // namespace
}  // namespace evershard::kurrent
