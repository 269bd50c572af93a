// Three nodes and a coordinator as one store, in one process: what is promised of one process holds unchanged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "evershard/sharding/stream_hash.hpp"
#include "tests/api/position_contract.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t shards = 4;
constexpr auto patience = std::chrono::seconds(60);

/// Names of an aggregate in each shard.
std::string aggregate_in(std::uint16_t shard, int nth = 0) {
  for (int i = 0;; ++i) {
    AggregateId id{"order", std::to_string(i)};
    if (sharding::shard_of(sharding::stream_hash(id), shards).value == shard && nth-- == 0) return id.text();
  }
}

Append one(std::string_view aggregate, std::string type, std::string payload, std::vector<Tag> tags = {}) {
  return Append().event(aggregate, std::move(type), std::move(payload), std::move(tags));
}

std::vector<RecordedEvent> all_of(EventStream stream) {
  std::vector<RecordedEvent> events;
  for (const auto& event : stream) events.push_back(event);
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return events;
}

std::vector<std::string> payloads_of(const std::vector<RecordedEvent>& events) {
  std::vector<std::string> payloads;
  for (const auto& event : events) payloads.push_back(event.payload);
  return payloads;
}

bool wait_for(const std::function<bool()>& condition) {
  for (const auto until = std::chrono::steady_clock::now() + patience;
       !condition() && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return condition();
}

// Which is what `cluster log` shows, and `cluster status` of clocks.
TEST(ClusterNode, TheCoordinatorKnowsWhatHappenedAndWhatTimeItIsThere) {
  using Cause = ClusterChange::Cause;
  const TemporaryFolder folder;
  SmallCluster cluster({.replicas = 3, .data_dir = folder.path()});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto last = [&] { return cluster.status().changes.back(); };
  EXPECT_EQ(last().cause, Cause::leads) << "nothing is said of shards that are given out";
  EXPECT_TRUE(wait_for([&] {
    return std::ranges::all_of(cluster.status().nodes,
                               [](const auto& node) { return node.clock_ahead_ms.has_value(); });
  }));
  for (const auto& node : cluster.status().nodes) {
    EXPECT_LE(*node.clock_ahead_ms, 0) << "it is the same clock, and words need time";
    EXPECT_FALSE(node.clock_differs);
  }

  cluster.stop(2);
  ASSERT_TRUE(wait_for([&] {
    return std::ranges::all_of(cluster.status().shards,
                               [](const auto& shard) { return shard.open && shard.node != 2; });
  }));
  ASSERT_TRUE(wait_for([&] { return last().cause == Cause::node_lost; }));
  EXPECT_EQ(last().from, 2u);
  EXPECT_NE(last().to, 2u);
  EXPECT_FALSE(last().shards.empty());
  for (const auto& shard : cluster.status().shards) EXPECT_EQ(shard.without_writer_ms, 0u);

  cluster.stop(3);
  ASSERT_TRUE(wait_for([&] { return cluster.status().shards[0].without_quorum; }));
  const auto sets = cluster.status().sets();
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].up, 1u);
  EXPECT_THAT(sets[0].trouble, HasSubstr("start node 2, or node 3"));
}

TEST(ClusterNode, EveryNodeKnowsTheDoorsAndTheOwners) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  for (std::uint32_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(wait_for([&] { return cluster.node(n).view().nodes.size() == 3; }));
    const auto view = cluster.node(n).view();
    EXPECT_EQ(view.self, n);
    ASSERT_NE(view.find(2), nullptr);
    EXPECT_EQ(view.find(2)->door, "door 2");
    EXPECT_TRUE(view.find(2)->up);
    EXPECT_NE(view.find(2)->since, Timestamp{});
    ASSERT_EQ(view.shards.size(), shards);
    for (const auto& shard : view.shards) EXPECT_EQ(shard.epoch, Epoch{1});
  }
  cluster.node(3).committer().serves_at("another door");
  EXPECT_TRUE(wait_for([&] { return cluster.node(1).view().find(3)->door == "another door"; }));
  cluster.stop(2);
  EXPECT_TRUE(wait_for([&] { return !cluster.node(1).view().find(2)->up; }));
  EXPECT_EQ(cluster.node(1).view().find(2)->door, "door 2") << "it may come back there";
  cluster.start(2);
  EXPECT_TRUE(wait_for([&] { return cluster.node(1).view().find(2)->up; }));
}

TEST(ClusterNode, AppendsAnywhereAndReadsEverythingEverywhere) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());

  std::vector<std::string> expected;
  GlobalPosition last;
  for (std::uint16_t i = 0; i < 12; ++i) {
    const auto done = cluster.node(1 + i % 3).append(one(aggregate_in(i % shards), "Placed", std::to_string(i), {"x"}));
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->first_position, GlobalPosition{i + 1u}) << "I-Dense, I-RealTime";
    expected.push_back(std::to_string(i));
    last = done->last_position;
  }

  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto events = all_of(cluster.node(n).read(Query::all(), {.at_least = last}));
    EXPECT_EQ(payloads_of(events), expected);
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].position, GlobalPosition{i + 1});
    EXPECT_EQ(payloads_of(all_of(cluster.node(n).read(Query().tags({"x"}), {.after = GlobalPosition{9}}))),
              (std::vector<std::string>{"9", "10", "11"}));
    EXPECT_EQ(payloads_of(all_of(cluster.node(n).read(Query::all(), {.limit = 2, .direction = Direction::backwards}))),
              (std::vector<std::string>{"11", "10"}));
    EXPECT_THAT(payloads_of(all_of(cluster.node(n).read(AggregateId::parse(aggregate_in(1)).value()))),
                ElementsAre("1", "5", "9"));
    EXPECT_EQ(cluster.node(n).aggregate(AggregateId::parse(aggregate_in(2)).value())->version, SeqNr{3});
  }
}

TEST(ClusterNode, FindsThePositionAtATimeOnEveryNode) {
  SmallCluster cluster({.gateways = 1});
  ASSERT_TRUE(cluster.wait_until_open());

  answers_positions_by_time(cluster.node(1), [&](Timestamp at) {
    const auto head = cluster.node(1).head().value();
    const auto found = cluster.node(1).position_at(at).value();
    for (std::uint32_t n = 2; n <= 4; ++n) {
      EXPECT_TRUE(cluster.node(n).wait_for(head, patience));
      EXPECT_EQ(cluster.node(n).position_at(at).value(), found) << "node " << n << " at " << at.text();
    }
    return found.value;
  });
}

TEST(ClusterNode, AGatewayServesTheWholeStoreAndOwnsNothingOfIt) {
  SmallCluster cluster({.nodes = 2, .gateways = 1});
  ASSERT_TRUE(cluster.wait_until_open());
  auto& gateway = cluster.node(3);
  EXPECT_THAT(gateway.view().shards, testing::Each(testing::Field(&ClusterView::Shard::node, testing::AnyOf(1u, 2u))));
  EXPECT_TRUE(wait_for([&] {
    const auto view = gateway.view();
    return view.find(3) != nullptr && view.find(3)->gateway;
  }));

  GlobalPosition last;
  for (std::uint16_t i = 0; i < 8; ++i)
    last = gateway.append(one(aggregate_in(i % shards), "Placed", std::to_string(i), {"x"})).value().last_position;
  EXPECT_THAT(payloads_of(all_of(gateway.read(Query().tags({"x"}), {.at_least = last}))), testing::SizeIs(8));
  EXPECT_EQ(gateway.append(one(aggregate_in(1), "Placed", "again", {"y"}).fail_if(Query().tags({"x"}))).error().code,
            ErrorCode::condition_failed);

  cluster.stop(3);  // its disk goes with it
  cluster.start(3);
  ASSERT_TRUE(cluster.wait_until_open());
  EXPECT_THAT(payloads_of(all_of(cluster.node(3).read(Query::all(), {.at_least = last}))), testing::SizeIs(8))
      << "nothing of the store was on it";
  const auto assigned = cluster.assign({.node = 3, .shards = {ShardId{0}}});
  ASSERT_FALSE(assigned);
  EXPECT_EQ(assigned.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(assigned.error().what.find("gateway"), std::string::npos) << assigned.error().what;
}

TEST(ClusterNode, HoldsVersionsAndConditionsOverShards) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto a = aggregate_in(0), b = aggregate_in(1), c = aggregate_in(2);
  auto first = cluster.node(1).append(one(a, "Taken", "1", {"name:joe"}).expect(a, Version::none()));
  ASSERT_TRUE(first) << first.error().what;

  const auto again = cluster.node(2).append(one(a, "Taken", "2").expect(a, Version::none()));
  const auto unique =
      cluster.node(3).append(one(b, "Taken", "3", {"name:joe"}).fail_if(Query().tags({"name:joe"}), GlobalPosition{0}));
  const auto other =
      cluster.node(3).append(one(b, "Taken", "4", {"name:ann"}).fail_if(Query().tags({"name:ann"}), GlobalPosition{0}));
  const auto after = cluster.node(2).append(
      one(c, "Taken", "5", {"name:joe"}).fail_if(Query().tags({"name:joe"}), first->last_position));

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::version_conflict) << again.error().what;
  ASSERT_FALSE(unique);
  EXPECT_EQ(unique.error().code, ErrorCode::condition_failed) << unique.error().what;
  ASSERT_TRUE(unique.error().details);
  EXPECT_EQ(unique.error().details->position, first->first_position) << "I-Honest";
  ASSERT_TRUE(other) << other.error().what;
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(payloads_of(all_of(cluster.node(1).read(Query::all(), {.at_least = after->last_position}))),
            (std::vector<std::string>{"1", "4", "5"}));
}

TEST(ClusterNode, AppendsOverShardsOfSeveralNodesTogether) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto a = aggregate_in(0), b = aggregate_in(1), c = aggregate_in(2);
  for (int i = 0; i < 5; ++i) {
    Append append;
    append.event(a, "Moved", std::to_string(i) + "a")
        .event(b, "Moved", std::to_string(i) + "b")
        .event(a, "Moved", std::to_string(i) + "A")
        .event(c, "Moved", std::to_string(i) + "c");

    const auto done = cluster.node(1 + static_cast<std::uint32_t>(i) % 3).append(std::move(append));

    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->last_position, done->first_position + 3) << "I-Together";
    ASSERT_EQ(done->versions.size(), 3u);
    EXPECT_EQ(done->versions[0].version, SeqNr{static_cast<std::uint64_t>(2 * i + 2)});
    EXPECT_EQ(done->versions[1].version, SeqNr{static_cast<std::uint64_t>(i + 1)});
    const auto read = all_of(
        cluster.node(2).read(Query::all(), {.after = done->first_position - 1, .at_least = done->last_position}));
    EXPECT_THAT(payloads_of(read), ElementsAre(std::to_string(i) + "a", std::to_string(i) + "b",
                                               std::to_string(i) + "A", std::to_string(i) + "c"));
  }
  auto conflict = cluster.node(1).append(
      Append().event(a, "Moved", "no").event(b, "Moved", "no").expect(b, Version::exactly(SeqNr{2})));
  ASSERT_FALSE(conflict);
  EXPECT_EQ(conflict.error().code, ErrorCode::version_conflict) << conflict.error().what;
  EXPECT_EQ(all_of(cluster.node(3).read(Query::all(), {.at_least = GlobalPosition{20}})).size(), 20u) << "I-Atomic";
}

// A door makes the stream, waits for the position that was asked for, and reads then.
TEST(ClusterNode, ReadsAsOfTheFirstPage) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  auto query = cluster.node(1).read(Query::all());
  auto stream = cluster.node(1).read(AggregateId::parse(aggregate_in(1)).value());
  const auto done = cluster.node(2).append(one(aggregate_in(1), "Placed", "1"));
  ASSERT_TRUE(done) << done.error().what;
  ASSERT_TRUE(cluster.node(1).wait_for(done->last_position, patience));

  EXPECT_THAT(payloads_of(all_of(std::move(query))), ElementsAre("1"));
  EXPECT_THAT(payloads_of(all_of(std::move(stream))), ElementsAre("1"));
}

TEST(ClusterNode, OneOfManyWinsAName) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  std::atomic<int> won{0}, lost{0}, other{0};
  std::vector<std::thread> clients;
  for (std::uint32_t n = 0; n < 6; ++n) {
    clients.emplace_back([&, n] {
      for (int i = 0; i < 10; ++i) {
        const auto name = "name:" + std::to_string(i);
        const auto done = cluster.node(1 + n % 3).append(
            one(aggregate_in(static_cast<std::uint16_t>(n % shards), 1), "Taken", name, {name})
                .fail_if(Query().tags({name}), GlobalPosition{0}));
        if (done)
          ++won;
        else if (done.error().code == ErrorCode::condition_failed)
          ++lost;
        else {
          ++other;
          ADD_FAILURE() << done.error().what;
        }
      }
    });
  }
  for (auto& client : clients) client.join();

  EXPECT_EQ(won, 10);
  EXPECT_EQ(lost, 50);
  std::set<std::string> names;
  for (const auto& event : all_of(cluster.node(2).read(Query::all(), {.at_least = GlobalPosition{10}})))
    EXPECT_TRUE(names.insert(event.payload).second) << "I-Condition: " << event.payload << " twice";
}

TEST(ClusterNode, AnswersARetryWithWhatWasStored) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  auto append = one(aggregate_in(0), "Placed", "1", {"x"}).fail_if(Query().tags({"x"}), GlobalPosition{0});
  append.request_id = EventId::random();
  const auto first = cluster.node(1).append(append);
  ASSERT_TRUE(first) << first.error().what;

  const auto again = cluster.node(2).append(append);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
  EXPECT_EQ(all_of(cluster.node(3).read(Query::all(), {.at_least = again->last_position})).size(), 1u) << "I-Once";
}

Append with_id(std::string_view aggregate, const EventId& id) {
  auto append = one(aggregate, "Placed", "1");
  append.events[0].id = id;
  return append;
}

class ClusterNames : public testing::TestWithParam<std::uint32_t> {};

// Sent at once for aggregates of four shards, through three nodes.
TEST_P(ClusterNames, AnIdIsOneEventsOverAllShards) {
  SmallCluster cluster({.replicas = GetParam()});
  ASSERT_TRUE(cluster.wait_until_open());
  constexpr std::size_t ids = 20;
  std::vector<EventId> named;
  for (std::size_t i = 0; i != ids; ++i) named.push_back(EventId::random());
  std::atomic<int> won{0}, known{0};
  std::vector<std::thread> clients;
  for (std::uint32_t n = 0; n < shards; ++n) {
    clients.emplace_back([&, n] {
      for (const auto& id : named) {
        const auto done = cluster.node(1 + n % 3).append(with_id(aggregate_in(static_cast<std::uint16_t>(n)), id));
        if (done)
          ++won;
        else if (done.error().code == ErrorCode::duplicate_event)
          ++known;
        else
          ADD_FAILURE() << done.error().what;
      }
    });
  }
  for (auto& client : clients) client.join();

  EXPECT_EQ(won, ids);
  EXPECT_EQ(known, (shards - 1) * ids);
  std::set<EventId> seen;
  for (const auto& event : all_of(cluster.node(2).read(Query::all(), {.at_least = GlobalPosition{ids}})))
    EXPECT_TRUE(seen.insert(event.id).second) << "I-Once: " << event.id.text() << " twice";
  EXPECT_EQ(seen.size(), ids);
}

TEST_P(ClusterNames, WhatHasTheIdIsNamedWhereverItLies) {
  SmallCluster cluster({.replicas = GetParam()});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto id = EventId::random(), request = EventId::random();
  ASSERT_TRUE(cluster.node(1).append(one(aggregate_in(3), "Placed", "0")));
  const auto first = cluster.node(1).append(with_id(aggregate_in(0), id));
  ASSERT_TRUE(first) << first.error().what;
  auto named = with_id(aggregate_in(0, 1), EventId::random());
  named.request_id = request;
  const auto second = cluster.node(1).append(named);
  ASSERT_TRUE(second) << second.error().what;

  for (std::uint16_t shard = 1; shard != shards; ++shard) {
    const auto of_event = cluster.node(2).append(with_id(aggregate_in(shard), id));
    auto again = with_id(aggregate_in(shard), EventId::random());
    again.request_id = request;
    const auto of_request = cluster.node(3).append(again);

    ASSERT_FALSE(of_event);
    EXPECT_EQ(of_event.error().code, ErrorCode::duplicate_event) << of_event.error().what;
    EXPECT_THAT(of_event.error().what, HasSubstr(id.text() + " is stored already, at position " +
                                                 std::to_string(first->first_position.value)));
    ASSERT_FALSE(of_request);
    EXPECT_EQ(of_request.error().code, ErrorCode::duplicate_event) << of_request.error().what;
    EXPECT_THAT(of_request.error().what, HasSubstr("request " + request.text() + " is stored already, at position " +
                                                   std::to_string(second->first_position.value)));
  }
}

// Each is looked for in the coordinator's memory.
TEST_P(ClusterNames, AnAppendOfManyIdsIsJudgedWhole) {
  SmallCluster cluster({.replicas = GetParam()});
  ASSERT_TRUE(cluster.wait_until_open());
  Append many;
  for (std::size_t i = 0; i != 300; ++i) many.event(aggregate_in(0), "Placed", "", {});
  many.request_id = EventId::random();
  auto other = with_id(aggregate_in(1), EventId::derived(*many.request_id, 299));

  const auto first = cluster.node(1).append(many);
  const auto again = cluster.node(2).append(many);
  const auto one_of_them = cluster.node(3).append(other);

  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  ASSERT_FALSE(one_of_them);
  EXPECT_EQ(one_of_them.error().code, ErrorCode::duplicate_event) << one_of_them.error().what;
}

INSTANTIATE_TEST_SUITE_P(Replicas, ClusterNames, testing::Values(1u, 3u));

TEST(ClusterNode, AnswersARetryOfAnAppendOverShardsWithWhatWasStored) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto a = aggregate_in(0), b = aggregate_in(1), c = aggregate_in(2);
  ASSERT_TRUE(cluster.node(1).append(one(b, "Placed", "0")));
  Append append;
  append.event(a, "Moved", "1")
      .event(b, "Moved", "2")
      .event(b, "Moved", "3")
      .event(c, "Moved", "4")
      .expect(b, Version::exactly(SeqNr{1}));
  append.request_id = EventId::random();
  const auto first = cluster.node(1).append(append);
  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(cluster.node(3).append(one(b, "Placed", "5")));

  const auto again = cluster.node(2).append(append);
  auto other = append;
  other.events[3].payload = "another";
  const auto misused = cluster.node(3).append(other);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
  EXPECT_EQ(again->last_position, first->last_position);
  EXPECT_EQ(again->versions, first->versions);
  ASSERT_FALSE(misused);
  EXPECT_EQ(misused.error().code, ErrorCode::duplicate_event) << misused.error().what;
  EXPECT_EQ(all_of(cluster.node(3).read(Query::all(), {.at_least = GlobalPosition{6}})).size(), 6u) << "I-Once";
}

TEST(ClusterNode, KnowsACommandThatWasDecidedOnAnotherNode) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto a = aggregate_in(0), b = aggregate_in(1);
  auto first = one(b, "Paid", "1");
  first.command = CommandRecord{AggregateId::parse(b).value(), "pay-1", "done"};
  ASSERT_TRUE(cluster.node(1).append(first));
  auto second = Append().event(a, "Charged", "2").event(b, "Paid", "2");
  second.command = first.command;

  const auto again = cluster.node(3).append(second);

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::duplicate_event) << again.error().what;
}

TEST(ClusterNode, TakesARetryWhoseFirstEventHasNoNameOfItsOwn) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  Append append;
  append.events.resize(2);
  append.events[0].type = append.events[1].type = "Noted";
  append.events[1].id = EventId::random();
  const auto first = cluster.node(1).append(append);
  ASSERT_TRUE(first) << first.error().what;

  const auto again = cluster.node(2).append(append);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
}

TEST(ClusterNode, RefusesWhatItHasNoRoomFor) {
  Limits limits;
  limits.shard_queue_appends_max = 8;
  SmallCluster cluster({.limits = limits});
  ASSERT_TRUE(cluster.wait_until_open());
  std::atomic<int> stored{0}, overloaded{0}, other{0}, answered{0};
  constexpr int sent = 2'000;
  for (int i = 0; i < sent; ++i) {
    cluster.node(1).append_async(one(aggregate_in(0), "Placed", std::to_string(i)), [&](const Result<Appended>& done) {
      ++(done ? stored : done.error().code == ErrorCode::overloaded ? overloaded : other);
      ++answered;
    });
  }
  ASSERT_TRUE(wait_for([&] { return answered >= sent; }));

  EXPECT_EQ(answered, sent) << "each exactly once";
  EXPECT_EQ(other, 0);
  EXPECT_GT(stored, 0);
  EXPECT_GT(overloaded, 0);
  EXPECT_EQ(all_of(cluster.node(2).read(Query::all(),
                                        {.at_least = GlobalPosition{static_cast<std::uint64_t>(stored.load())}}))
                .size(),
            static_cast<std::size_t>(stored));
}

TEST(ClusterNode, GoesOnWhenTheCoordinatorIsReplaced) {
  SmallCluster cluster({});
  ASSERT_TRUE(cluster.wait_until_open());
  for (int round = 0; round < 5; ++round) {
    for (std::uint16_t i = 0; i < 8; ++i) {
      const auto done =
          cluster.node(1 + i % 3).append(one(aggregate_in(i % shards), "Placed", std::to_string(round * 8 + i)));
      ASSERT_TRUE(done) << done.error().what;
      EXPECT_EQ(done->first_position, GlobalPosition{static_cast<std::uint64_t>(round * 8 + i + 1)});
    }
    cluster.replace_coordinator();
  }
  EXPECT_EQ(all_of(cluster.node(1).read(Query::all(), {.at_least = GlobalPosition{40}})).size(), 40u);
}

TEST(ClusterNode, ANodeComesBackWithWhatItHad) {
  TemporaryFolder folder;
  SmallCluster cluster({.data_dir = folder.path()});
  ASSERT_TRUE(cluster.wait_until_open());
  std::vector<std::string> expected;
  GlobalPosition last;
  const auto append = [&](std::uint32_t node, std::uint16_t shard) {
    Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
    auto wanted = one(aggregate_in(shard), "Placed", std::to_string(expected.size()));
    wanted.request_id = EventId::random();
    ASSERT_TRUE(wait_for([&] { return (done = cluster.node(node).append(wanted)).has_value(); })) << done.error().what;
    expected.push_back(std::to_string(expected.size()));
    last = done->last_position;
  };
  for (std::uint16_t i = 0; i < 8; ++i) append(1 + i % 3, i % shards);
  for (std::uint32_t n = 1; n <= 3; ++n) {
    cluster.stop(n);
    const auto owners = cluster.node(n % 3 + 1).committer().owners();
    const auto mine = static_cast<std::uint16_t>(std::ranges::find(owners, n) - owners.begin());
    const auto refused = cluster.node(n % 3 + 1).append(one(aggregate_in(mine), "Placed", "no"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().what;
    for (std::uint16_t s = 0; s < shards; ++s)
      if (owners[s] != n) append(n % 3 + 1, s);
    cluster.start(n);
    for (std::uint16_t i = 0; i < 8; ++i) append(n, i % shards);
    for (std::uint32_t m = 1; m <= 3; ++m)
      EXPECT_EQ(payloads_of(all_of(cluster.node(m).read(Query::all(), {.at_least = last}))), expected);
  }
}

// Of many events it would show none, and a subscription "from now" would begin with the first.
TEST(ClusterNode, ANodeWithAnEmptyDiskAnswersNothingBeforeItHasWhatThereIs) {
  SmallCluster cluster({.shards = shards, .replicas = 3});
  ASSERT_TRUE(cluster.wait_until_open());
  const auto id = aggregate_in(0);
  for (int i = 0; i != 20; ++i) {
    auto done = cluster.node(1).append(one(id, "Placed", std::to_string(i)));
    ASSERT_TRUE(done) << done.error().what;
  }
  const auto here = *AggregateId::parse(id);
  const auto code = [](const auto& answer) {
    return answer ? std::string("ok") : std::string(name_of(answer.error().code));
  };
  const auto read = [&]() -> std::string {
    std::size_t events = 0;
    auto stream = cluster.node(3).read(Query::all());
    for ([[maybe_unused]] const auto& event : stream) ++events;
    return stream.error() ? std::string(name_of(stream.error()->code)) : std::to_string(events);
  };

  cluster.stop(3);
  cluster.hold_hellos();
  cluster.start(3);
  EXPECT_EQ(read(), "unavailable");
  EXPECT_EQ(code(cluster.node(3).head()), "unavailable");
  EXPECT_EQ(code(cluster.node(3).aggregate(here)), "unavailable");
  EXPECT_EQ(code(cluster.node(3).aggregates(std::nullopt, std::nullopt, 10)), "unavailable");
  EXPECT_EQ(code(cluster.node(3).event_at(GlobalPosition{20})), "unavailable");
  EXPECT_EQ(code(cluster.node(3).snapshot(here)), "unavailable");
  auto followed = cluster.node(3).follow(Query::all(), {.after = GlobalPosition{0}});
  const auto first = followed.next(std::chrono::milliseconds(0));
  EXPECT_TRUE(!first || first->events.empty());

  cluster.let_hellos_go();
  std::string said;
  EXPECT_TRUE(wait_for([&] { return (said = read()) != "unavailable"; }));
  EXPECT_EQ(said, "20");
  EXPECT_EQ(cluster.node(3).head(), GlobalPosition{20});
}

/// What a process said before it was gone is heard no more: else the next one would be refused for its sake, for good.
TEST(ClusterNode, AHelloThatIsUnderWayWhenItsNodeStopsIsNobodys) {
  const TemporaryFolder folder;
  SmallCluster cluster(
      {.nodes = 2, .shards = shards, .data_dir = folder.path(), .timeout = std::chrono::seconds(5), .limits = {}});
  ASSERT_TRUE(cluster.wait_until_open());
  cluster.hold_hellos();
  cluster.node(2).committer().serves_at("another door");
  ASSERT_TRUE(wait_for([&] { return cluster.hellos_held() != 0; }));
  cluster.stop(2);
  cluster.let_hellos_go();
  EXPECT_TRUE(wait_for([&] {
    return !std::ranges::any_of(cluster.status().nodes,
                                [](const auto& node) { return node.is.node == 2 && node.is.up; });
  }));
  cluster.start(2);
  for (std::uint16_t s = 0; s != shards; ++s) {
    Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
    EXPECT_TRUE(wait_for([&] {
      done = cluster.node(1).append(one(aggregate_in(s), "Placed", "1"));
      return done.has_value();
    })) << done.error().what;
  }
}

}  // namespace
}  // namespace evershard::cluster
