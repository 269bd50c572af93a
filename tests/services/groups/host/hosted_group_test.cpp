// Groups over a store that does what a test says: what ends, fails or comes late while a worker is being served, or a
// definition is changed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/protocol/kept_pace.hpp"
#include "evershard/services/groups/group_state_bytes.hpp"
#include "evershard/services/groups/host/group_figures.hpp"
#include "evershard/services/groups/host/group_host.hpp"
#include "evershard/services/groups/host/hosted_group.hpp"
#include "tests/services/groups/host/groups_with_hooks.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using WorkerId = actors::GroupWorkerId;

/// One group, whose threads are the test. Nothing is read ahead: each event is read again when it is given out.
class HostedGroupByHand : public GroupsWithHooks {
 protected:
  HostedGroupByHand() { append("$group-g", 3, "Defined"); }
  [[nodiscard]] std::unique_ptr<HostedGroup> hosted(GroupSettings settings = {}) {
    return std::make_unique<HostedGroup>(HostedGroup::Parts{store_, bell_, options_, {"$group", "g"}},
                                         spec_of(settings), SeqNr{1},
                                         actors::GroupState(settings, GlobalPosition(0), 1, 1));
  }
  static Result<void> settled(HostedGroup& group, WorkerId worker, GroupSettlement::Kind kind,
                              const GroupDelivery& delivery) {
    std::vector<Result<void>> results;
    group.settle(worker, {{.kind = kind, .position = delivery.event.position, .delivery = delivery.delivery}},
                 [&](std::vector<Result<void>> all) { results = std::move(all); });
    (void)group.keep();
    return results.at(0);
  }
  static Result<void> acknowledged(HostedGroup& group, WorkerId worker, const GroupDelivery& delivery) {
    return settled(group, worker, GroupSettlement::Kind::acknowledge, delivery);
  }

  std::shared_ptr<GroupBell> bell_ = std::make_shared<GroupBell>();
  GroupHostOptions options_{.cached_bytes_max = 0, .retry_after = 0ms};
  const Error over_{ErrorCode::not_found, "it was reset"};
};

TEST_F(HostedGroupByHand, NothingIsGivenOutOfOneThatEndsWhileAnEventIsRead) {
  append("order-1");
  append("order-2");
  for (const auto code : {ErrorCode::unavailable, ErrorCode::not_found}) {
    auto group = hosted();
    const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
    (void)group->work();
    store_.reads_again = [&](GlobalPosition) -> Result<RecordedEvent> {
      group->end(over_);
      return refuse(code, "it went with its node");
    };

    const auto taken = group->take(worker, 1);

    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().what, over_.what);
  }
}

// A worker is told a moment later than others: what it is given is what a reader would be given then.
TEST_F(HostedGroupByHand, WhatWasReadAheadIsNotGivenOutOnceItIsRemoved) {
  options_.cached_bytes_max = 1u << 20;
  options_.rewritten = [this] { return node_->rewritten(); };
  append("order-1", 2);
  append("order-2");
  auto group = hosted();
  const auto worker = group->join({.name = "w", .credit = 3}, [] {}).value();
  (void)group->work();
  int read_again = 0;
  store_.reads_again = [&](GlobalPosition position) {
    ++read_again;
    return events_.event_at(position);
  };
  const auto first = group->take(worker, 1);
  ASSERT_TRUE(first);
  ASSERT_THAT(*first, SizeIs(1));
  EXPECT_EQ(read_again, 0);
  ASSERT_TRUE(acknowledged(*group, worker, first->front()));

  ASSERT_TRUE(node_->retention().remove({"order", "1"}, {}, {}));

  (void)group->work();
  std::vector<std::string> given;
  for (auto taken = group->take(worker, 3); taken && !taken->empty(); taken = group->take(worker, 3))
    for (const auto& one : *taken) {
      given.push_back(one.event.aggregate->text());
      EXPECT_EQ(one.event.state, EventState::live);
    }
  EXPECT_THAT(given, ::testing::ElementsAre("order-2"));
  EXPECT_GE(read_again, 2);
}

TEST_F(HostedGroupByHand, OneThatIsRemovedWhileAnotherIsReadIsNotGivenOut) {
  options_.cached_bytes_max = 400;  // one of them
  options_.rewritten = [this] { return node_->rewritten(); };
  append("order-1");
  append("order-2");
  auto group = hosted();
  const auto worker = group->join({.name = "w", .credit = 2}, [] {}).value();
  (void)group->work();
  bool removed = false;
  store_.reads_again = [&](GlobalPosition position) {
    auto event = events_.event_at(position);
    if (!std::exchange(removed, true)) {
      EXPECT_TRUE(node_->retention().remove({"order", "1"}, {}, {}));
    }
    return event;
  };
  const auto taken = group->take(worker, 2);
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_TRUE(removed);
  ASSERT_THAT(*taken, SizeIs(1));
  EXPECT_EQ(taken->front().event.aggregate->text(), "order-2");
  group->end(over_);
}

// What is removed all the time keeps nobody in a loop, and nothing that was looked at before is given out.
TEST_F(HostedGroupByHand, WhereThingsAreRemovedAllTheTimeItIsTriedAgainLater) {
  std::uint64_t rewritten = 0;
  options_.rewritten = [&] { return rewritten; };
  append("order-1");
  auto group = hosted();
  const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
  (void)group->work();
  store_.reads_again = [&](GlobalPosition position) {
    ++rewritten;
    return events_.event_at(position);
  };
  EXPECT_THAT(group->take(worker, 1).value(), IsEmpty());
  store_.reads_again = {};
  (void)group->work();
  const auto taken = group->take(worker, 1).value();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken.front().attempt, 1u);
  group->end(over_);
}

// The first time its whole state is written; then what changed, which nobody has to wait behind.
TEST_F(HostedGroupByHand, OneWithMuchParkedIsWrittenForEachSettlementOnceItsStateIsThere) {
  constexpr std::uint64_t parked = 2'000;
  const GroupSettings settings{.window = parked};
  actors::GroupState state(settings, GlobalPosition(0), 1, 1);
  std::vector<actors::GroupEvent> events;
  for (std::uint64_t i = 1; i <= parked; ++i) events.push_back({GlobalPosition(i), i});
  state.read(events, GlobalPosition(parked), 0);
  const auto worker = state.join("w", parked, 0);
  for (const auto& out : state.deliver(0)) {
    const auto reason = std::to_string(out.position.value) + std::string(500, 'x');
    ASSERT_TRUE(state.park(out.position, out.delivery, reason, 0, 0));
  }
  state.leave(worker, 0);
  HostedGroup group(HostedGroup::Parts{store_, bell_, options_, {"$group", "g"}}, spec_of(settings), SeqNr{1},
                    std::move(state));
  const auto discarded = [&](std::uint64_t position) {
    auto asked = std::async(std::launch::async, [&] { return group.discard(GlobalPosition(position)); });
    while (asked.wait_for(0ms) != std::future_status::ready) {
      (void)group.keep();
      std::this_thread::sleep_for(1ms);
    }
    return asked.get();
  };
  const auto began = group_time();  // in front of the write that the second one waits behind
  ASSERT_EQ(discarded(1), 1u);
  ASSERT_EQ(discarded(2), 1u);
  EXPECT_GE(group_time() - began, 200) << "768 KiB of reasons";
  const auto behind_all = group_time();
  constexpr std::uint64_t more = 100;
  for (std::uint64_t position = 3; position != 3 + more; ++position) ASSERT_EQ(discarded(position), 1u);
  EXPECT_LT(group_time() - behind_all, 200 * more);
  EXPECT_EQ(pace_behind(60'000, 60'000), 0ms) << "a small one is written at once";
  group.end(over_);
}

TEST_F(HostedGroupByHand, OtherSettingsGiveNothingOutOfOneThatHasEnded) {
  append("order-1", 2);
  const GroupSettings blocks{.after_parked = AfterParked::block, .parked_max = 1};
  auto group = hosted(blocks);
  const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
  (void)group->work();
  const auto first = group->take(worker, 1).value().at(0);
  ASSERT_TRUE(settled(*group, worker, GroupSettlement::Kind::park, first));
  ASSERT_TRUE(group->take(worker, 1)->empty()) << "what is parked blocks it";
  group->end(over_);
  group->change(spec_of({.parked_max = 1}), SeqNr{2});
  EXPECT_EQ(group->take(worker, 1).error().what, over_.what);
}

// What is kept under an older version than the one that is there is not kept.
TEST_F(HostedGroupByHand, AChangeThatComesLateTakesNothingBack) {
  append("order-1");
  append("order-2");
  auto group = hosted();
  const auto worker = group->join({.name = "w"}, [] {}).value();
  (void)group->work();
  const auto out = group->take(worker, 2).value();
  ASSERT_THAT(out, SizeIs(2));
  group->change(spec_of({.attempts_max = 7}), SeqNr{3});
  ASSERT_TRUE(acknowledged(*group, worker, out[0]));

  group->change(spec_of({.attempts_max = 9}), SeqNr{2});

  EXPECT_EQ(group->info(GlobalPosition(9)).definition.settings.attempts_max, 7u);
  ASSERT_TRUE(acknowledged(*group, worker, out[1]));
  const auto kept = store_.snapshot({"$group", "g"});
  ASSERT_TRUE(kept && *kept);
  const auto state = actors::GroupStateBytes::decode((*kept)->payload, {}, group_time(), group_wall_ms(), 1, 1);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->state.counters().acknowledged, 2u) << "the second was answered as kept";
}

TEST_F(HostedGroupByHand, AnEventThatCannotBeReadHoldsUpNothingElse) {
  append("order-1");
  append("order-2");
  for (const auto code : {ErrorCode::unavailable, ErrorCode::timeout, ErrorCode::wrong_shard, ErrorCode::overloaded}) {
    auto group = hosted();
    const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
    (void)group->work();
    bool away = true;
    const auto first = GlobalPosition(4);
    store_.reads_again = [&](GlobalPosition position) -> Result<RecordedEvent> {
      if (away && position == first) return refuse(code, "its node does not answer");
      return events_.event_at(position);
    };

    const auto nothing = group->take(worker, 1);
    ASSERT_TRUE(nothing) << "it is still there: " << nothing.error().what;
    EXPECT_THAT(*nothing, IsEmpty());
    EXPECT_THAT(group->info(GlobalPosition(9)).trouble, HasSubstr("does not answer"));
    const auto other = group->take(worker, 1).value();
    ASSERT_THAT(other, SizeIs(1));
    EXPECT_GT(other[0].event.position, first);
    ASSERT_TRUE(acknowledged(*group, worker, other[0]));
    away = false;
    std::vector<GroupDelivery> again;
    for (const auto until = group_time() + 60'000; again.empty() && group_time() < until;) {  // it waits a moment
      (void)group->work();
      again = group->take(worker, 1).value();
    }
    ASSERT_THAT(again, SizeIs(1));
    EXPECT_EQ(again[0].event.position, first);
    EXPECT_EQ(again[0].attempt, 1u) << "that its node was away is not the event's fault";
    EXPECT_THAT(group->info(GlobalPosition(9)).trouble, IsEmpty());
    group->end(over_);
  }
}

// A thread that looks again at once, for as long as nobody comes.
TEST_F(HostedGroupByHand, WhatCannotBeReadIsNotLookedAtForNobody) {
  append("order-1");
  const auto never = std::numeric_limits<actors::GroupTime>::max();
  auto group = hosted();
  store_.follows = [] { return std::optional(Error(ErrorCode::unavailable, "its node is away")); };
  const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
  EXPECT_LT(group->work(), never) << "it is tried again for the worker";
  ASSERT_THAT(group->info(GlobalPosition(9)).trouble, HasSubstr("away"));

  group->leave(worker, false);

  EXPECT_EQ(group->work(), never);
  store_.follows = nullptr;
  const auto other = group->join({.name = "v", .credit = 1}, [] {}).value();
  (void)group->work();
  EXPECT_THAT(group->take(other, 1).value(), SizeIs(1));
}

TEST_F(HostedGroupByHand, WhoGetsNothingForAnEventThatIsNotThereComesForTheNext) {
  append("order-1");
  append("order-2");
  for (const auto code : {ErrorCode::unavailable, ErrorCode::not_found}) {
    auto group = hosted();
    int woken = 0;
    const auto worker = group->join({.name = "w", .credit = 2}, [&] { ++woken; }).value();
    (void)group->work();
    const auto before = woken;
    store_.reads_again = [&](GlobalPosition) -> Result<RecordedEvent> { return refuse(code, "it is not there"); };
    EXPECT_THAT(group->take(worker, 1).value(), IsEmpty());
    EXPECT_GT(woken, before);
    store_.reads_again = {};
    EXPECT_THAT(group->take(worker, 1).value(), SizeIs(1));
    group->end(over_);
  }
}

TEST_F(HostedGroupByHand, ADamagedEventIsToldAndHoldsUpNothingElse) {
  append("order-1");
  append("order-2");
  auto group = hosted();
  const auto worker = group->join({.name = "w", .credit = 1}, [] {}).value();
  (void)group->work();
  store_.reads_again = [&](GlobalPosition position) -> Result<RecordedEvent> {
    if (position == GlobalPosition(4)) return refuse(ErrorCode::corruption, "its checksum is wrong");
    return events_.event_at(position);
  };
  EXPECT_EQ(group->take(worker, 1).error().code, ErrorCode::corruption);
  EXPECT_THAT(group->info(GlobalPosition(9)).trouble, HasSubstr("checksum"));
  const auto other = group->take(worker, 1);
  ASSERT_TRUE(other) << other.error().what;
  EXPECT_THAT(*other, SizeIs(1));
  group->end(over_);
}

TEST_F(HostedGroupByHand, ADamagedEventThatIsReadTheFirstTimeIsPassedOverSaidAndCounted) {
  append("order-1");
  const auto first = events_.head().value();
  append("order-2");
  const auto damaged = events_.head().value();
  append("order-3");
  auto group = hosted();
  int failures = 1;
  store_.follows = [&]() -> std::optional<Error> {
    if (failures-- <= 0) return {};
    ErrorDetails details;
    details.position = damaged;
    return Error(ErrorCode::corruption, "its checksum is wrong", std::move(details));
  };
  const auto worker = group->join({.name = "w", .credit = 10}, [] {}).value();
  (void)group->work();
  (void)group->work();
  const auto given = group->take(worker, 10);
  ASSERT_TRUE(given) << given.error().what;
  ASSERT_THAT(*given, SizeIs(2));
  EXPECT_EQ(given->front().event.position, first);
  EXPECT_THAT(group->info(GlobalPosition(9)).trouble,
              ::testing::AllOf(HasSubstr("1 event that cannot be read was passed over, at position " +
                                         std::to_string(damaged.value)),
                               HasSubstr("checksum")));
  std::vector<std::pair<std::string, std::uint64_t>> figures;
  add_figures(figures, group->info(GlobalPosition(9)));
  EXPECT_THAT(figures, ::testing::Contains(::testing::Pair(::testing::EndsWith(".damaged"), 1)));
  group->end(over_);
}

/// A host of its own, with its threads.
class GroupHostWithHooks : public GroupsWithHooks {
 protected:
  GroupHostWithHooks() { EXPECT_TRUE(host_.create_group(defined())); }
  /// The outcome of the next append is unknown.
  void lose_the_next_answer() {
    store_.appended = [this](Appended) -> Result<Appended> {
      store_.appended = {};
      return refuse(ErrorCode::timeout, "the outcome is unknown");
    };
  }
  GroupHost host_{store_};
};

// A group's shard may have no quorum for as long as it likes.
TEST_F(GroupsWithHooks, OneThatIsNotKeptHoldsUpNoOther) {
  std::mutex mutex;
  std::vector<std::function<void(Result<void>)>> unanswered;
  GroupHostOptions options{.keep =
                               [&](Snapshot state, std::uint64_t, std::function<void(Result<void>)> done) {
                                 if (state.aggregate.value != "stuck")
                                   return done(events_.put_snapshot(std::move(state)));
                                 const std::lock_guard lock(mutex);
                                 unanswered.push_back(std::move(done));
                               },
                           .keep_most = 1'500ms};
  GroupHost host(store_, options);
  append("order-1", 2);
  std::map<std::string, std::pair<std::shared_ptr<GroupSession>, GroupDelivery>> given;
  for (const auto* name : {"stuck", "well"}) {
    auto definition = defined();
    definition.name = name;
    ASSERT_TRUE(host.create_group(definition));
    auto session = host.open_session(name, {.name = "w", .credit = 1}, [] {}).value();
    std::vector<GroupDelivery> taken;
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         taken.empty() && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms))
      taken = session->take(1).value();
    ASSERT_THAT(taken, SizeIs(1));
    given.emplace(name, std::pair(std::move(session), taken.front()));
  }
  const auto acknowledge = [&](const std::string& name) {
    auto answered = std::make_shared<std::promise<std::vector<Result<void>>>>();
    const auto& [session, delivery] = given.at(name);
    session->settle({{.kind = GroupSettlement::Kind::acknowledge,
                      .position = delivery.event.position,
                      .delivery = delivery.delivery}},
                    [answered](std::vector<Result<void>> results) { answered->set_value(std::move(results)); });
    return answered->get_future();
  };
  auto stuck = acknowledge("stuck");
  const auto written = [&] {
    const std::lock_guard lock(mutex);
    return !unanswered.empty();
  };
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !written() && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
  }
  ASSERT_TRUE(written());
  auto well = acknowledge("well");
  ASSERT_EQ(well.wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(well.get().at(0));
  ASSERT_EQ(stuck.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(stuck.get().at(0).error().code, ErrorCode::timeout) << "nobody knows";
  given.clear();
  host.stop();
}

TEST_F(GroupHostWithHooks, OneWhoseDropMayHaveBeenDoneIsLookedUpAnew) {
  append("order-1");
  auto worker = host_.join_group("g").value();
  lose_the_next_answer();
  EXPECT_EQ(host_.drop_group("g").error().code, ErrorCode::timeout);
  EXPECT_EQ(host_.group("g").error().code, ErrorCode::not_found);
  EXPECT_EQ(worker.next(10s).error().code, ErrorCode::not_found);
  auto other = defined();
  other.query = Query{}.types({"Other"});
  ASSERT_TRUE(host_.create_group(other));
  EXPECT_EQ(host_.group("g")->definition.query, other.query);
}

TEST_F(GroupHostWithHooks, OneWhoseResetMayHaveBeenDoneIsLookedUpAnew) {
  append("order-1");
  auto worker = host_.join_group("g").value();
  const auto delivery = worker.next(60s).value().value();
  ASSERT_TRUE(worker.acknowledge(delivery));
  lose_the_next_answer();
  EXPECT_EQ(host_.reset_group("g", GlobalPosition(0)).error().code, ErrorCode::timeout);
  EXPECT_EQ(host_.group("g")->acknowledged, 0u);
  EXPECT_EQ(worker.next(60s).value().value().event.position, delivery.event.position);
}

// What was done is never answered as if it were not: it would be made again.
TEST_F(GroupHostWithHooks, WhatWasDoneIsNotRefusedWhenItCannotBeReadAtOnce) {
  const auto cannot_be_read_after_an_append = [this] {
    store_.appended = [this](Appended done) -> Result<Appended> {
      store_.reads_aggregate = [] { return std::optional(Error(ErrorCode::wrong_shard, "its shard has just gone")); };
      return done;
    };
  };
  const auto other = [] {
    auto definition = defined();
    definition.name = "other";
    return definition;
  }();
  for (const auto& change : std::vector<std::function<Result<GroupInfo>()>>{
           [&] { return host_.create_group(other); }, [&] { return host_.reset_group("g", GlobalPosition(0)); },
           [&] { return host_.change_group("g", {.attempts_max = 7}); }}) {
    cannot_be_read_after_an_append();
    EXPECT_EQ(change().error().code, ErrorCode::timeout);
    store_.reads_aggregate = {};
    store_.appended = {};
  }
  EXPECT_TRUE(host_.group("other"));
  EXPECT_EQ(host_.group("g")->definition.settings.attempts_max, 7u);
}

TEST_F(GroupHostWithHooks, OneWhoseChangeMayHaveBeenDoneIsLookedUpAnew) {
  lose_the_next_answer();
  EXPECT_EQ(host_.change_group("g", {.attempts_max = 7}).error().code, ErrorCode::timeout);
  EXPECT_EQ(host_.group("g")->definition.settings.attempts_max, 7u);
}

}  // namespace
}  // namespace evershard::cluster
