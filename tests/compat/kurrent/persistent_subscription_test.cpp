// PersistentSubscription: nothing is lost, nothing settled comes again, whoever comes, goes or says nothing.

#include "evershard/compat/kurrent/persistent_subscription.hpp"

#include <gtest/gtest.h>

#include <random>

namespace evershard::kurrent {
namespace {

using Nack = PersistentSubscription::Nack;
using Keys = std::vector<std::uint64_t>;

EventId id_for(std::uint64_t key) {
  EventId id;
  for (std::size_t i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::uint8_t>(key >> 8 * i);
  id.bytes[15] = 1;
  return id;
}

PersistentSubscription::Time at_ms(int ms) { return PersistentSubscription::Time{} + std::chrono::milliseconds(ms); }

void add_up_to(PersistentSubscription& group, std::uint64_t first, std::uint64_t last) {
  for (auto key = first; key <= last; ++key) group.add({key, id_for(key), key % 3, 0});
}

Keys keys_given(PersistentSubscription& group, int ms = 0, std::optional<std::uint64_t> to = {}) {
  Keys keys;
  for (const auto& given : group.give(at_ms(ms))) {
    if (!to || given.consumer == *to) keys.push_back(given.item.key);
  }
  return keys;
}

TEST(PersistentSubscription, GivesNoMoreThanAConsumerHasSlots) {
  PersistentSubscription group({}, {});
  add_up_to(group, 0, 4);
  group.join(1, 2);
  EXPECT_EQ(keys_given(group), (Keys{0, 1}));
  EXPECT_EQ(keys_given(group), Keys{});
  EXPECT_EQ(group.acknowledge(1, id_for(1)), 1u);
  EXPECT_EQ(keys_given(group), Keys{2});
}

TEST(PersistentSubscription, GivesNoMoreBytesThanAConsumerMayHave) {
  constexpr auto half = PersistentSubscription::consumer_bytes_max / 2;
  PersistentSubscription group({}, {});
  for (std::uint64_t key = 0; key != 6; ++key) group.add({key, id_for(key), 0, 0, half});
  group.join(1, 100);
  EXPECT_EQ(keys_given(group), (Keys{0, 1}));
  group.join(2, 100);
  EXPECT_EQ(keys_given(group, 0, 2), (Keys{2, 3})) << "one that is full holds up no other";
  EXPECT_EQ(group.acknowledge(1, id_for(0)), 0u);
  EXPECT_EQ(keys_given(group), Keys{4});
  (void)group.expire(at_ms(60'000));
  EXPECT_EQ(keys_given(group, 60'000).size(), 4u);
}

TEST(PersistentSubscription, GivesAnEventThatIsLargerThanAllThatOneMayHave) {
  PersistentSubscription group({}, {});
  for (std::uint64_t key = 0; key != 2; ++key)
    group.add({key, id_for(key), 0, 0, 2 * PersistentSubscription::consumer_bytes_max});
  group.join(1, 100);
  EXPECT_EQ(keys_given(group), Keys{0});
  EXPECT_EQ(group.acknowledge(1, id_for(0)), 0u);
  EXPECT_EQ(keys_given(group), Keys{1});
}

TEST(PersistentSubscription, ReadsAheadAsManyBytesAsItMay) {
  constexpr auto half = PersistentSubscription::ready_bytes_max / 2;
  PersistentSubscription group({}, {});
  group.add({0, id_for(0), 0, 0, half});
  EXPECT_TRUE(group.has_room());
  group.add({1, id_for(1), 0, 0, half});
  EXPECT_FALSE(group.has_room());
  group.join(1, 1);
  (void)group.give(at_ms(0));
  EXPECT_TRUE(group.has_room()) << "what is out does not count";
  (void)group.leave(1);
  EXPECT_FALSE(group.has_room()) << "and comes back";
  group.join(2, 2);
  (void)group.give(at_ms(0));
  (void)group.expire(at_ms(60'000));
  EXPECT_FALSE(group.has_room());
}

TEST(PersistentSubscription, TheCheckpointStopsAtWhatIsNotSettled) {
  PersistentSubscription group({}, {});
  add_up_to(group, 0, 3);
  group.join(1, 10);
  (void)group.give(at_ms(0));
  (void)group.acknowledge(1, id_for(1));
  (void)group.acknowledge(1, id_for(3));
  EXPECT_EQ(group.checkpoint(), std::nullopt);
  EXPECT_EQ(group.progress().settled, (std::set<std::uint64_t>{1, 3}));
  (void)group.acknowledge(1, id_for(0));
  EXPECT_EQ(group.checkpoint(), 1u);
  EXPECT_EQ(group.progress().settled, (std::set<std::uint64_t>{3}));
  (void)group.acknowledge(1, id_for(2));
  EXPECT_EQ(group.checkpoint(), 3u);
  EXPECT_TRUE(group.progress().settled.empty());
}

TEST(PersistentSubscription, WhatWasSettledOutOfOrderDoesNotComeAgainBehindARestart) {
  PersistentSubscription before({}, {});
  add_up_to(before, 0, 5);
  before.join(1, 10);
  (void)before.give(at_ms(0));
  (void)before.acknowledge(1, id_for(0));
  (void)before.acknowledge(1, id_for(4));
  (void)before.refuse_event(1, id_for(3), Nack::park, "no");

  PersistentSubscription after({}, before.progress());
  EXPECT_EQ(after.seen(), 0u);
  after.join(7, 10);
  add_up_to(after, 1, 1);
  EXPECT_EQ(keys_given(after), Keys{1});
  (void)after.acknowledge(7, id_for(1));  // everything that was read is settled, 4 was not read again yet
  add_up_to(after, 2, 5);
  EXPECT_EQ(keys_given(after), (Keys{2, 5}));
  EXPECT_EQ(after.parked(), 1u);
}

TEST(PersistentSubscription, IsTriedAgainAndParkedBehindItsLastTry) {
  PersistentLimits limits;
  limits.retries_max = 2;
  PersistentSubscription group(limits, {});
  add_up_to(group, 0, 0);
  group.join(1, 1);
  for (std::uint32_t retries = 0; retries <= 2; ++retries) {
    const auto given = group.give(at_ms(0));
    ASSERT_EQ(given.size(), 1u);
    EXPECT_EQ(given[0].item.retries, retries);
    (void)group.refuse_event(1, id_for(0), Nack::retry, "no stock");
  }
  EXPECT_EQ(keys_given(group), Keys{});
  EXPECT_EQ(group.progress().reason_of(0), "no stock");
  EXPECT_EQ(group.checkpoint(), 0u);
}

TEST(PersistentSubscription, WhatIsNotSettledInTimeComesAgain) {
  PersistentLimits limits;
  limits.message_timeout = std::chrono::milliseconds(100);
  PersistentSubscription group(limits, {});
  add_up_to(group, 0, 0);
  group.join(1, 1);
  EXPECT_EQ(keys_given(group, 0), Keys{0});
  EXPECT_FALSE(group.expire(at_ms(99)));
  EXPECT_TRUE(group.expire(at_ms(100)));
  EXPECT_EQ(group.acknowledge(1, id_for(0)), std::nullopt);  // too late
  EXPECT_EQ(keys_given(group, 100), Keys{0});
}

TEST(PersistentSubscription, KnowsWhenTheFirstOfThoseThatAreOutIsLate) {
  PersistentSubscription group({.message_timeout = std::chrono::milliseconds(100)}, {});
  EXPECT_EQ(group.next_late(), std::nullopt);
  add_up_to(group, 0, 1);
  group.join(1, 1);
  (void)group.give(at_ms(10));
  EXPECT_EQ(group.next_late(), at_ms(110));
  group.join(2, 1);
  (void)group.give(at_ms(20));
  EXPECT_EQ(group.next_late(), at_ms(110));
  (void)group.acknowledge(1, id_for(0));
  EXPECT_EQ(group.next_late(), at_ms(120));
  PersistentSubscription patient({.message_timeout = std::chrono::milliseconds(0)}, {});
  add_up_to(patient, 0, 0);
  patient.join(1, 1);
  (void)patient.give(at_ms(0));
  EXPECT_EQ(patient.next_late(), std::nullopt) << "nothing is ever late";
}

TEST(PersistentSubscription, WhatAConsumerHadWhenItLeftIsGivenToOthersAndThatIsNoTry) {
  PersistentSubscription group({}, {});
  add_up_to(group, 0, 3);
  group.join(1, 2);
  group.join(2, 2);
  (void)group.give(at_ms(0));
  EXPECT_FALSE(group.leave(1));
  EXPECT_EQ(keys_given(group), Keys{});
  group.join(3, 4);
  for (const auto& given : group.give(at_ms(0))) {
    EXPECT_EQ(given.consumer, 3u);
    EXPECT_EQ(given.item.retries, 0u);
  }
  EXPECT_EQ(group.in_flight(), 4u);
}

/// Consumers settle by the id alone: the second one waits until the first is settled, and what comes behind does not.
TEST(PersistentSubscription, OfEventsWithOneIdOneIsOutAtATime) {
  for (const auto choice : {ConsumerChoice::round_robin, ConsumerChoice::single, ConsumerChoice::pinned}) {
    PersistentSubscription group({.choice = choice}, {});
    for (std::uint64_t key = 0; key != 4; ++key) group.add({key, id_for(key == 2 ? 0 : key), 0, 0});
    group.join(1, 10);
    group.join(2, 10);
    std::map<std::uint64_t, PersistentSubscription::Consumer> whose;
    for (const auto& given : group.give(at_ms(0))) whose[given.item.key] = given.consumer;
    EXPECT_EQ(whose.size(), 3u);
    EXPECT_FALSE(whose.contains(2));
    EXPECT_EQ(group.acknowledge(whose.at(0), id_for(0)), 0u);
    EXPECT_EQ(group.acknowledge(whose.at(0), id_for(0)), std::nullopt) << "nobody was given it";
    const auto then = group.give(at_ms(0));
    ASSERT_EQ(then.size(), 1u);
    EXPECT_EQ(then.front().item.key, 2u);
    EXPECT_EQ(group.refuse_event(then.front().consumer, id_for(0), Nack::park, "no"), 2u);
    EXPECT_EQ(group.progress().parked.count(2), 1u) << "and not the one that was acknowledged";
    EXPECT_EQ(group.progress().parked.count(0), 0u);
  }
}

TEST(PersistentSubscription, AReplayedOneStaysParkedUntilItIsSettled) {
  PersistentSubscription group({}, {});
  add_up_to(group, 0, 1);
  group.join(1, 5);
  (void)group.give(at_ms(0));
  (void)group.refuse_event(1, id_for(0), Nack::park, "a");
  (void)group.refuse_event(1, id_for(1), Nack::park, "b");
  EXPECT_EQ(group.replay(1), Keys{0});
  EXPECT_EQ(group.replay(1), Keys{1});
  EXPECT_EQ(group.parked(), 0u);
  group.add_replayed({0, id_for(0), 0, 9});
  EXPECT_EQ(keys_given(group), Keys{0});
  EXPECT_EQ(group.progress().parked.size(), 2u);
  (void)group.acknowledge(1, id_for(0));
  EXPECT_EQ(group.progress().parked.size(), 1u);
}

/// Neither lost nor given again at once: later, and ever more rarely, until there is room.
TEST(PersistentSubscription, WhatCannotBeParkedWaits) {
  PersistentSubscription group({.buffer_max = 20'000}, {});
  group.join(1, 100'000);
  constexpr auto most = PersistentSubscription::parked_max;
  add_up_to(group, 0, most);
  ASSERT_EQ(keys_given(group).size(), most + 1);
  for (std::uint64_t key = 0; key <= most; ++key) (void)group.refuse_event(1, id_for(key), Nack::park, "no");
  EXPECT_TRUE(group.is_full());
  EXPECT_EQ(group.waiting(), 1u);
  EXPECT_EQ(keys_given(group, 999), Keys{});
  EXPECT_EQ(group.next_late(), at_ms(1'000));
  for (const int wait : {1'000, 2'000, 4'000}) {
    static int now = 0;
    now += wait;
    (void)group.expire(at_ms(now - 1));
    EXPECT_EQ(keys_given(group, now - 1), Keys{});
    (void)group.expire(at_ms(now));
    ASSERT_EQ(keys_given(group, now), Keys{most});
    (void)group.refuse_event(1, id_for(most), Nack::park, "no");
  }
  EXPECT_EQ(group.checkpoint(), most - 1) << "it is not settled";
  ASSERT_EQ(group.replay(1), Keys{0});
  group.add_replayed({0, id_for(0), 0, 0});
  ASSERT_EQ(keys_given(group, 7'000), Keys{0});
  (void)group.acknowledge(1, id_for(0));
  (void)group.expire(at_ms(70'000));
  ASSERT_EQ(keys_given(group, 70'000), Keys{most});
  (void)group.refuse_event(1, id_for(most), Nack::park, "no");
  EXPECT_EQ(group.waiting(), 0u);
  EXPECT_TRUE(group.is_full());
}

TEST(PersistentSubscription, KeepsEachReasonOnceAndNoMoreThanHasRoom) {
  PersistentSubscription group({.buffer_max = 20'000}, {});
  group.join(1, 100'000);
  add_up_to(group, 0, 5'999);
  (void)keys_given(group);
  const auto park = [&](std::uint64_t from, std::uint64_t to, auto reason) {
    for (auto key = from; key != to; ++key) (void)group.refuse_event(1, id_for(key), Nack::park, reason(key));
  };
  park(0, 3'000, [](auto) { return std::string(1'000, 'x'); });
  EXPECT_EQ(group.progress().reasons.texts().size(), 1u);
  EXPECT_EQ(group.progress().reason_of(7), std::string(500, 'x'));
  park(3'000, 6'000, [](auto key) { return std::to_string(key) + std::string(1'000, 'y'); });
  EXPECT_LE(group.progress().reasons.bytes(), PersistentSubscription::reasons_bytes_max + 500);
  EXPECT_EQ(group.progress().reason_of(5'999), "(there is no room for more different reasons)");
  EXPECT_EQ(group.parked(), 6'000u);
  for (const auto key : group.replay(10'000)) group.gone(key);
  EXPECT_EQ(group.progress().reasons.bytes(), 0u);
  EXPECT_EQ(group.parked(), 0u);
  EXPECT_TRUE(group.is_changed());
}

TEST(PersistentSubscription, WhatWasNotReplayedStaysParked) {
  PersistentSubscription group({}, {});
  group.join(1, 10);
  add_up_to(group, 0, 2);
  (void)keys_given(group);
  for (std::uint64_t key = 0; key != 3; ++key) (void)group.refuse_event(1, id_for(key), Nack::park, "no");
  ASSERT_EQ(group.replay(10), (Keys{0, 1, 2}));
  EXPECT_EQ(group.parked(), 0u);
  group.not_replayed(2);
  EXPECT_EQ(group.parked(), 1u);
  EXPECT_EQ(group.replay(10), Keys{2});
}

TEST(PersistentSubscription, SharesAsItsStrategySays) {
  PersistentLimits limits;
  {
    PersistentSubscription group(limits, {});
    group.join(1, 9), group.join(2, 9);
    add_up_to(group, 0, 3);
    EXPECT_EQ(keys_given(group, 0, 1), (Keys{0, 2}));
  }
  limits.choice = ConsumerChoice::single;
  {
    PersistentSubscription group(limits, {});
    group.join(1, 3), group.join(2, 9);
    add_up_to(group, 0, 3);
    EXPECT_EQ(keys_given(group, 0, 1), (Keys{0, 1, 2}));
  }
  limits.choice = ConsumerChoice::pinned;
  {
    PersistentSubscription group(limits, {});
    group.join(1, 1), group.join(2, 9);
    for (std::uint64_t key = 0; key < 4; ++key) group.add({key, id_for(key), key % 2, 0});
    EXPECT_EQ(keys_given(group, 0), (Keys{0, 1, 3}));  // 2 waits for the first
  }
}

TEST(PersistentSubscription, EveryEventIsSettledOnceOrMoreWhateverHappens) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    PersistentLimits limits;
    limits.retries_max = 1;
    limits.message_timeout = std::chrono::milliseconds(50);
    auto group = std::make_unique<PersistentSubscription>(limits, PersistentSubscription::Progress{});
    std::set<std::uint64_t> settled;
    constexpr std::uint64_t events = 40;
    std::uint64_t next = 0;
    group->join(1, 4);
    for (int ms = 0; ms < 3'000 && settled.size() < events; ++ms) {
      if (next < events && group->has_room() && random() % 2 == 0) add_up_to(*group, next, next), ++next;
      group->expire(at_ms(ms));
      for (const auto& given : group->give(at_ms(ms))) {
        EXPECT_FALSE(settled.contains(given.item.key)) << given.item.key;
        const auto what = random() % 6;
        if (what < 3) settled.insert(*group->acknowledge(1, given.item.id));
        if (what == 3) (void)group->refuse_event(1, given.item.id, Nack::retry, "");
        if (what == 4) (void)group->refuse_event(1, given.item.id, Nack::park, "");
      }
      if (random() % 40 == 0) {  // it was killed: what was kept is what is known
        group = std::make_unique<PersistentSubscription>(limits, group->progress());
        group->join(1, 4);
        next = group->seen() ? *group->seen() + 1 : 0;
      }
      if (random() % 20 == 0) {
        for (const auto key : group->replay(3)) group->add_replayed({key, id_for(key), 0, 0});
      }
    }
    EXPECT_EQ(settled.size(), events) << "round " << round;
  }
}

}  // namespace
}  // namespace evershard::kurrent
