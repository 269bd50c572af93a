// What comes from another store and is gone there: a cluster takes it in as such, over its nodes and on their replicas.

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/api/user_events.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "tests/cluster/homes/retention_cluster.hpp"

namespace evershard::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Event gone(const AggregateId& aggregate) {
  Event event;
  event.id = EventId::random();
  event.aggregate = aggregate;
  event.state = EventState::removed;
  return event;
}

Event there(const AggregateId& aggregate, const std::string& type) {
  Event event;
  event.id = EventId::random();
  event.aggregate = aggregate;
  event.type = type;
  event.tags = {Tag{"customer:7"}};
  return event;
}

Event erased(const AggregateId& aggregate) {
  auto event = there(aggregate, "Placed");
  event.state = EventState::erased;
  event.occurred_at = Timestamp{1'000};
  return event;
}

Append exported(std::vector<Event> events) {
  Append append;
  append.events = std::move(events);
  append.from_export = true;
  return append;
}

/// 1 and 3: as many replicas of each shard.
class GoneElsewhere : public ClusterRetentionTest {
 protected:
  explicit GoneElsewhere(std::uint32_t replicas = 1) : ClusterRetentionTest({}, replicas) {}

  /// As a user of this node has it.
  UserEvents events_at(std::uint32_t n) {
    return UserEvents(node(n), [this, n](const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least) {
      return at(n).take_over(aggregate, marker, at_least);
    });
  }
  Result<Appended> append_at(std::uint32_t n, const Append& append) {
    auto events = events_at(n);
    for (const auto until = std::chrono::steady_clock::now() + retention_patience;;) {
      auto done = events.append(append);
      if (done || done.error().code != ErrorCode::unavailable || std::chrono::steady_clock::now() > until) return done;
      std::this_thread::sleep_for(10ms);
    }
  }
  std::string told_at(std::uint32_t n, const AggregateId& aggregate) {
    for (std::uint32_t other = 1; other <= 3; ++other)
      EXPECT_TRUE(node(n).wait_for(head_of(other), retention_patience));
    std::string told;
    auto stream = node(n).read(aggregate);
    for (const auto& event : stream) {
      told += event.state == EventState::live ? 'l' : event.state == EventState::removed ? 'r' : 'e';
      EXPECT_EQ(event.seq_nr.value, told.size());
      EXPECT_EQ(event.type.empty(), event.state == EventState::removed);
    }
    EXPECT_FALSE(stream.error()) << stream.error()->what;
    return told;
  }

  void is_taken_in_over_nodes() {
    for (std::uint32_t by = 1; by <= 3; ++by) {
      const auto one = owned_by(1), two = owned_by(2), three = owned_by(3);
      const auto append = exported({gone(one), there(one, "Placed"), gone(two), erased(two), gone(three), gone(three),
                                    there(three, "Placed"), gone(one)});

      const auto appended = append_at(by, append);

      ASSERT_TRUE(appended) << appended.error().what;
      EXPECT_EQ(appended->last_position - appended->first_position, 7u);
      const auto again = append_at(by % 3 + 1, append);
      ASSERT_TRUE(again) << again.error().what;
      EXPECT_TRUE(again->duplicate);
      EXPECT_EQ(again->first_position, appended->first_position);
      for (std::uint32_t n = 1; n <= 3; ++n) {
        EXPECT_EQ(told_at(n, one), "rlr") << "asked " << by << ", seen at " << n;
        EXPECT_EQ(told_at(n, two), "re") << "asked " << by << ", seen at " << n;
        EXPECT_EQ(told_at(n, three), "rrl") << "asked " << by << ", seen at " << n;
        EXPECT_EQ(node(n).aggregate(one)->version, SeqNr{3});
      }
      append_some(one, 1);
      EXPECT_EQ(told_at(by, one), "rlrl");
    }
    expect_sound();
  }

  void hides_what_was_removed() {
    for (std::uint32_t owner = 1; owner <= 3; ++owner) {
      const auto order = owned_by(owner), other = owned_by(owner, "kept" + std::to_string(owner));
      const auto by = other_than(owner);
      const auto append = exported(
          {gone(order), gone(order), there(order, std::string(retention::aggregate_removed)), there(other, "Placed")});

      const auto appended = append_at(by, append);

      ASSERT_TRUE(appended) << appended.error().what;
      for (std::uint32_t n = 1; n <= 3; ++n) {
        ASSERT_TRUE(node(n).wait_for(appended->last_position, retention_patience));
        auto info = node(n).aggregate(order);
        // A follower hears of it a moment later.
        for (const auto until = std::chrono::steady_clock::now() + retention_patience;
             info && n != owner && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(5ms))
          info = node(n).aggregate(order);
        EXPECT_EQ(code(info), "not_found") << "owner " << owner << ", node " << n;
        if (!info) {
          EXPECT_THAT(info.error().what, HasSubstr("was removed at position"));
        }
        EXPECT_EQ(node(n).aggregate(other)->version, SeqNr{1});
      }
      EXPECT_TRUE(append_at(by, append)->duplicate);
      EXPECT_EQ(told_at(by, order), "rrl");
      append_some(order, 1);
      EXPECT_EQ(told_at(by, order), "rrll");
      EXPECT_EQ(node(by).aggregate(order)->version, SeqNr{4});
      // It is there again: the same import once more hides nothing of what came since.
      EXPECT_TRUE(append_at(by, append)->duplicate);
      EXPECT_EQ(node(owner).aggregate(order)->version, SeqNr{4});
    }
    expect_sound();
  }
};

class GoneElsewhereOnReplicas : public GoneElsewhere {
 protected:
  GoneElsewhereOnReplicas() : GoneElsewhere(3) {}
};

TEST_F(GoneElsewhere, IsTakenInOverNodes) { is_taken_in_over_nodes(); }
TEST_F(GoneElsewhereOnReplicas, IsTakenInOverNodes) { is_taken_in_over_nodes(); }
TEST_F(GoneElsewhere, HidesWhatWasRemoved) { hides_what_was_removed(); }
TEST_F(GoneElsewhereOnReplicas, HidesWhatWasRemoved) { hides_what_was_removed(); }

TEST_F(GoneElsewhere, WhatIsBrokenOffBeforeItIsHiddenIsHiddenByTheSameAppend) {
  const auto order = owned_by(2);
  const auto append = exported({gone(order), there(order, std::string(retention::aggregate_removed))});
  int calls = 0;
  UserEvents broken_off(node(1), [&](const AggregateId&, const EventId&, GlobalPosition) -> Result<void> {
    ++calls;
    return refuse(ErrorCode::unavailable, "broken off");
  });
  Result<Appended> told = refuse(ErrorCode::unavailable, "nobody answered");
  broken_off.append_async(append, [&](Result<Appended> result) { told = std::move(result); });
  EXPECT_EQ(code(told), "unavailable");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(node(2).aggregate(order)->version, SeqNr{2});

  EXPECT_TRUE(append_at(1, append)->duplicate);

  EXPECT_EQ(code(node(2).aggregate(order)), "not_found");
}

/// Between the event that says so and what hides its aggregate the home dies: the next one hides it.
TEST_F(GoneElsewhereOnReplicas, HidesWhatWasRemovedWhereItsHomeDies) {
  const std::uint32_t owner = 2, by = 3;
  const auto order = owned_by(owner);
  const auto append = exported({gone(order), there(order, std::string(retention::aggregate_removed))});
  bool died = false;
  UserEvents events(node(by), [&](const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least) {
    if (!std::exchange(died, true)) stop(owner);
    return at(by).take_over(aggregate, marker, at_least);
  });

  Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
  ASSERT_TRUE(in_time([&] { return (done = events.append(append)).has_value(); })) << done.error().what;

  ASSERT_TRUE(died);
  EXPECT_NE(owner_of_at(by, order), owner);
  const auto hidden_at = [&](std::uint32_t n) {
    return in_time([&] { return code(node(n).aggregate(order)) == "not_found"; });
  };
  EXPECT_TRUE(hidden_at(1));
  EXPECT_TRUE(hidden_at(by));
  start(owner);
  EXPECT_TRUE(hidden_at(owner));
  append_some(order, 1);
  EXPECT_EQ(told_at(by, order), "rll");
  expect_sound();
}

/// Who comes with such events and does not say that they are of an export is refused, as ever.
TEST_F(GoneElsewhere, IsOfAnExportOnly) {
  auto append = exported({gone(owned_by(2))});
  append.from_export = false;

  EXPECT_EQ(code(append_at(1, append)), "invalid_argument");
}

}  // namespace
}  // namespace evershard::cluster
