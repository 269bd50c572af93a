// The node's side of the order, rule by rule, by hand.

#include "evershard/cluster/order/node_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/order/order_words.hpp"
#include "tests/sharding/cuts.hpp"

namespace evershard::cluster {
namespace {

using sharding::Cut;
using sharding::opening_of;
using sharding::segment_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ShardId shard_0{0};

Cut cut_of(std::uint64_t number, std::uint64_t first_position, std::vector<sharding::Segment> segments,
           std::vector<sharding::Opening> openings = {}, std::uint64_t coordinator = 1) {
  return {CutNumber{number}, Epoch{coordinator}, GlobalPosition{first_position}, std::move(segments),
          std::move(openings)};
}
Announce announce_of(Cut cut) { return {std::move(cut), GlobalPosition{0}, false}; }
Opens opens_of(std::uint16_t shard, std::uint64_t epoch, std::uint64_t coordinator = 1, NodeProcess to = process(1)) {
  return {to, Epoch{coordinator}, ShardId{shard}, Epoch{epoch}};
}

/// A node that applies at once what it is given.
class NodeOrderByHand : public testing::Test {
 protected:
  void start(NodeStart at = {process(1), "host-1", {}, {}, {}}) { order_ = std::make_unique<NodeOrder>(std::move(at)); }
  void connect(std::uint64_t last_cut = 0, std::uint64_t coordinator = 1) {
    EXPECT_TRUE(order().connected().say_hello);
    EXPECT_FALSE(apply(order().welcome(welcome_of(last_cut, coordinator))).coordinator_refused);
  }
  Welcome welcome_of(std::uint64_t last_cut, std::uint64_t coordinator = 1) {
    Welcome welcome;
    welcome.to = process(1);
    welcome.session = order().hello({}).session;
    welcome.coordinator = Epoch{coordinator};
    welcome.last_cut = CutNumber{last_cut};
    welcome.watermark = order().watermark();
    welcome.map = sharding::ShardMap(2);
    return welcome;
  }
  NodeActions apply(NodeActions actions) {
    for (const auto& given : steps<NodeStep::Apply>(actions)) order().applied(given.number);
    return actions;
  }
  /// As welcome_of(), of a coordinator that says who led.
  Welcome welcome_of(std::uint64_t last_cut, sharding::Leaderships leaderships) {
    auto welcome = welcome_of(last_cut, leaderships.back().epoch.value);
    welcome.leaderships = std::move(leaderships);
    return welcome;
  }
  /// Shard 0 is open under epoch 1, by cut 1.
  void start_open() {
    start();
    connect();
    order().opens(opens_of(0, 1));
    apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}))));
    order().synced(CutNumber{1});
    ASSERT_EQ(order().writes(shard_0), Epoch{1});
  }
  NodeOrder& order() { return *order_; }
  std::unique_ptr<NodeOrder> order_;
};

const EventId first_leader = *EventId::parse("00000000-0000-4000-8000-000000000001");
const EventId second_leader = *EventId::parse("00000000-0000-4000-8000-000000000002");

// Copies of one log reach the same epochs: who made what was applied here is told by its identity.
TEST_F(NodeOrderByHand, TakesNothingOfWhoLedACopyUnderTheSameEpoch) {
  start();
  order().connected();
  ASSERT_FALSE(order().welcome(welcome_of(0, {{Epoch{1}, first_leader}})).coordinator_refused);
  const auto applied = apply(order().announce(announce_of(cut_of(1, 1, {}))));
  ASSERT_THAT(steps<NodeStep::Apply>(applied), SizeIs(1));
  const sharding::Leadership led{Epoch{1}, first_leader};
  EXPECT_EQ(steps<NodeStep::Apply>(applied).front().led, led) << "it goes to the disk before the cut";
  EXPECT_EQ(order().hello({}).led, led);
  EXPECT_EQ(steps<NodeStep::Apply>(apply(order().announce(announce_of(cut_of(2, 1, {}))))).front().led, std::nullopt)
      << "once";

  for (const bool restarted : {false, true}) {
    if (restarted) {
      NodeStart at{process(1), "host-1", CutNumber{2}, {}, {}};
      at.led = led;
      start(std::move(at));
      EXPECT_EQ(order().leaderships(), sharding::Leaderships{led});
    }
    order().connected();
    const auto refused = order().welcome(welcome_of(2, {{Epoch{1}, second_leader}})).coordinator_refused;
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::corruption);
    EXPECT_THAT(refused->what, HasSubstr("a copy that went on by itself"));
    EXPECT_FALSE(order().welcomed());
    EXPECT_FALSE(
        order().welcome(welcome_of(2, {{Epoch{1}, first_leader}, {Epoch{2}, second_leader}})).coordinator_refused)
        << "a newer one of the same log";
  }
}

TEST_F(NodeOrderByHand, DropsWhatAnotherOfTheSameEpochSays) {
  start();
  order().connected();
  ASSERT_FALSE(order().welcome(welcome_of(0, {{Epoch{1}, first_leader}})).coordinator_refused);
  auto announce = announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}));
  announce.leader = second_leader;
  EXPECT_THAT(order().announce(announce).steps, IsEmpty());
  auto opens = opens_of(0, 1);
  opens.leader = second_leader;
  order().opens(opens);
  announce.leader = first_leader;
  apply(order().announce(announce));
  order().synced(CutNumber{1});
  EXPECT_EQ(order().writes(shard_0), std::nullopt) << "the promise was another's";
}

// Nothing of the first was applied: the second is taken, and what the first promised is void.
TEST_F(NodeOrderByHand, VoidsThePromisesOfWhomItLeaves) {
  start();
  order().connected();
  ASSERT_FALSE(order().welcome(welcome_of(0, {{Epoch{1}, first_leader}})).coordinator_refused);
  auto opens = opens_of(0, 1);
  opens.leader = first_leader;
  order().opens(opens);
  order().connected();
  ASSERT_FALSE(order().welcome(welcome_of(0, {{Epoch{1}, second_leader}})).coordinator_refused);
  auto announce = announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}));
  announce.leader = second_leader;
  apply(order().announce(announce));
  order().synced(CutNumber{1});
  EXPECT_EQ(order().writes(shard_0), std::nullopt);
}

TEST_F(NodeOrderByHand, WritesOnceItsOpeningIsSynced) {
  start();
  connect();
  order().opens(opens_of(0, 1));

  const auto taken =
      apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1), opening_of(1, 1, 2, 1)}))));
  ASSERT_THAT(steps<NodeStep::Apply>(taken), SizeIs(1));
  EXPECT_THAT(steps<NodeStep::Apply>(taken)[0].openings, ElementsAre(opening_of(0, 1, 1, 1))) << "its own alone";
  EXPECT_THAT(steps<NodeStep::Sync>(taken), SizeIs(1));
  EXPECT_EQ(order().writes(shard_0), std::nullopt);
  EXPECT_EQ(order().page(shard_0, GlobalPosition{0}), NodeOrder::Page::not_here);
  EXPECT_THAT(order().synced(CutNumber{0}).steps, IsEmpty()) << "that sync began before";
  const auto synced = order().synced(CutNumber{1});

  ASSERT_THAT(steps<NodeStep::Opened>(synced), SizeIs(1));
  EXPECT_THAT(steps<NodeStep::ReportAgain>(synced), SizeIs(1));
  EXPECT_EQ(order().writes(shard_0), Epoch{1});
  EXPECT_EQ(order().page(shard_0, GlobalPosition{0}), NodeOrder::Page::answer);
  EXPECT_EQ(order().page(ShardId{1}, GlobalPosition{0}), NodeOrder::Page::not_here);
  ASSERT_THAT(synced.send, SizeIs(1));
  EXPECT_EQ(std::get<Held>(synced.send[0]).cut, CutNumber{1});
}

TEST_F(NodeOrderByHand, TakesNoOpeningThatIsNotForThisProcess) {
  for (const auto& other : {opens_of(0, 1, 2), opens_of(0, 2), opens_of(1, 1), opens_of(0, 1, 1, process(1, 2))}) {
    start();
    connect();
    order().opens(other);

    const auto actions = apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}))));

    EXPECT_THAT(steps<NodeStep::Apply>(actions)[0].openings, IsEmpty());
    order().synced(CutNumber{1});
    EXPECT_EQ(order().writes(shard_0), std::nullopt);
    EXPECT_TRUE(order().again().say_hello) << "so it asks to be opened";
  }
}

TEST_F(NodeOrderByHand, TakesNoOpeningThatIsForAnotherNode) {
  start();
  connect();
  order().opens(opens_of(0, 1));

  const auto actions = apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 2, 1)}))));

  EXPECT_THAT(steps<NodeStep::Apply>(actions)[0].openings, IsEmpty());
  EXPECT_FALSE(order().again().say_hello) << "what was promised is over, there is nothing to ask for";
}

TEST_F(NodeOrderByHand, TakesTheNewestOpeningInWhateverSequenceTheyArePromised) {
  for (const auto& [newer, late] :
       {std::pair(opens_of(0, 2, 2), opens_of(0, 2, 1)), std::pair(opens_of(0, 2, 2), opens_of(0, 1, 2)),
        std::pair(opens_of(0, 2, 2), opens_of(0, 3, 1))}) {
    start();
    connect(0, 2);
    order().opens(newer);
    order().opens(late);

    const auto actions = apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 2, 1, 1)}, 2))));

    EXPECT_THAT(steps<NodeStep::Apply>(actions)[0].openings, SizeIs(1));
  }
}

TEST_F(NodeOrderByHand, AppliesCutsInTheirOrderAndAsksForWhatIsMissing) {
  start_open();

  const auto third = apply(order().announce(announce_of(cut_of(3, 2, {segment_of(0, 1, 2, 4)}))));
  EXPECT_THAT(third.steps, IsEmpty());
  ASSERT_THAT(third.send, SizeIs(1));
  EXPECT_EQ(std::get<CutsAfter>(third.send[0]).after, CutNumber{1});
  EXPECT_THAT(order().announce(announce_of(cut_of(4, 4, {}))).send, IsEmpty()) << "asked once";
  const auto second = apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 2)}))));

  const auto applied = steps<NodeStep::Apply>(second);
  ASSERT_THAT(applied, SizeIs(3));
  EXPECT_EQ(applied[1].number, CutNumber{3});
  EXPECT_EQ(applied[1].watermark, GlobalPosition{3});
  ASSERT_THAT(applied[1].own, SizeIs(1));
  EXPECT_EQ(applied[1].own[0].first_position, GlobalPosition{2});
  EXPECT_EQ(order().cut(), CutNumber{4});
  EXPECT_THAT(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 2)}))).steps, IsEmpty()) << "doubled";
}

TEST_F(NodeOrderByHand, AnswersAPageOnlyWithItsCutsApplied) {
  start_open();
  const auto given = order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 3)})));

  EXPECT_EQ(order().page(shard_0, GlobalPosition{2}), NodeOrder::Page::not_yet) << "given out, not applied";
  EXPECT_EQ(order().watermark(), GlobalPosition{0});
  apply(given);

  EXPECT_EQ(order().page(shard_0, GlobalPosition{2}), NodeOrder::Page::answer);
  EXPECT_EQ(order().page(shard_0, GlobalPosition{3}), NodeOrder::Page::not_yet);
  EXPECT_EQ(order().watermark(), GlobalPosition{2});
}

TEST_F(NodeOrderByHand, StopsAWriterBeforeACutOfANewerEpoch) {
  for (const bool by_segment : {false, true}) {
    start_open();
    const auto newer = by_segment ? cut_of(2, 1, {segment_of(0, 2, 1, 3)}) : cut_of(2, 1, {}, {opening_of(0, 2, 2, 1)});

    const auto actions = apply(order().announce(announce_of(newer)));

    ASSERT_THAT(actions.steps, SizeIs(2));
    EXPECT_EQ(std::get<NodeStep::Fence>(actions.steps[0].what).epoch, Epoch{2});
    EXPECT_THAT(steps<NodeStep::Apply>(actions)[0].own, IsEmpty()) << "what another wrote does not lie here";
    EXPECT_EQ(order().writes(shard_0), std::nullopt);
    EXPECT_EQ(order().page(shard_0, GlobalPosition{0}), NodeOrder::Page::not_here);
    EXPECT_THAT(steps<NodeStep::ReportAgain>(order().report_from({shard_0, Epoch{1}, ShardOffset{1}})), IsEmpty());
  }
}

TEST_F(NodeOrderByHand, StopsAWriterThatTheMapOrTheCheckpointKnowsToBeReplaced) {
  start_open();
  order().connected();
  auto welcome = welcome_of(5);
  ASSERT_TRUE(welcome.map.assign(shard_0, {2, "host-2", Epoch{2}}));
  EXPECT_THAT(steps<NodeStep::Fence>(order().welcome(welcome)), SizeIs(1));

  start_open();
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{5};
  folded.shards[0] = {Epoch{2}, 2, ShardOffset{9}, {}, Epoch{2}, {}};
  const auto actions = apply(order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false}));

  EXPECT_THAT(steps<NodeStep::Fence>(actions), SizeIs(1));
  EXPECT_EQ(order().cut(), CutNumber{5});
  EXPECT_THAT(actions.warnings, IsEmpty()) << "what another wrote is not missing here";
  EXPECT_THAT(steps<NodeStep::Apply>(actions).at(0).damaged, IsEmpty());
}

TEST_F(NodeOrderByHand, OpensNothingThatWasReplacedBeforeItsSync) {
  start();
  connect();
  order().opens(opens_of(0, 1));
  apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}))));

  const auto replaced = apply(order().announce(announce_of(cut_of(2, 1, {}, {opening_of(0, 2, 2, 1)}))));

  EXPECT_THAT(steps<NodeStep::Fence>(replaced), SizeIs(1));
  EXPECT_THAT(order().synced(CutNumber{2}).steps, IsEmpty());
  EXPECT_EQ(order().writes(shard_0), std::nullopt);
}

// The map may be ahead of its cuts: what its writer wrote before is still to get its places.
TEST_F(NodeOrderByHand, PlacesWhatAWriterWroteBeforeItWasStopped) {
  start_open();
  order().disconnected();
  order().connected();
  auto welcome = welcome_of(3);
  ASSERT_TRUE(welcome.map.assign(shard_0, {2, "host-2", Epoch{2}}));
  ASSERT_THAT(steps<NodeStep::Fence>(order().welcome(welcome)), SizeIs(1));

  const auto actions = apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))));

  ASSERT_THAT(steps<NodeStep::Apply>(actions).at(0).own, SizeIs(1));
  EXPECT_EQ(steps<NodeStep::Apply>(actions)[0].own[0].segment, segment_of(0, 1, 1, 4));
  EXPECT_THAT(actions.warnings, IsEmpty());
}

// What was promised is no excuse, unless it is that very opening: it may be of a coordinator that was replaced, or
// over.
TEST_F(NodeOrderByHand, StopsAWriterThatTheCheckpointKnowsToBeReplacedWhateverWasPromised) {
  for (const auto& [promised, epoch, owner] :
       {std::tuple(opens_of(0, 2, 1), Epoch{2}, 2u), std::tuple(opens_of(0, 2, 2), Epoch{3}, 1u)}) {
    start_open();
    order().disconnected();
    order().connected();
    order().welcome(welcome_of(5, 2));
    order().opens(promised);
    sharding::CutLogState folded(2);
    folded.last_cut = CutNumber{5};
    folded.shards[0] = {epoch, owner, ShardOffset{1}, {}, {}, {}};

    const auto actions = apply(order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false}));

    EXPECT_THAT(steps<NodeStep::Fence>(actions), SizeIs(1));
    EXPECT_EQ(order().writes(shard_0), std::nullopt);
  }
}

// It was away: the cut with its opening is kept for it, those with the next owner's opening and events are folded.
TEST_F(NodeOrderByHand, TakesNoOpeningThatIsOverAlready) {
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{8};
  folded.watermark = GlobalPosition{40};
  folded.shards[0] = {Epoch{3}, 2, ShardOffset{9}, {}, Epoch{3}, {}};
  const auto own = cut_of(3, 10, {}, {opening_of(0, 2, 1, 5)});
  const auto expect_closed = [&](const NodeActions& actions) {
    for (const auto& applied : steps<NodeStep::Apply>(actions)) EXPECT_THAT(applied.openings, IsEmpty());
    EXPECT_THAT(steps<NodeStep::Opened>(order().synced(order().cut())), IsEmpty());
    EXPECT_EQ(order().writes(shard_0), std::nullopt);
    EXPECT_EQ(order().page(shard_0, GlobalPosition{9}), NodeOrder::Page::not_here)
        << "what the next owner wrote is missing";
  };
  const NodeStart disk{process(1),
                       "host-1",
                       CutNumber{2},
                       GlobalPosition{9},
                       {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{5}, false}}}};

  for (const bool more : {false, true}) {
    start(disk);
    connect(9);
    order().opens(opens_of(0, 2));
    expect_closed(apply(order().cuts({process(1), CutNumber{2}, {{own}, folded, more}, {}, false})));
    EXPECT_EQ(order().cut(), CutNumber{more ? 3u : 8u});
  }

  start(disk);
  order().connected();
  order().opens(opens_of(0, 2));
  auto welcome = welcome_of(9);
  ASSERT_TRUE(welcome.map.assign(shard_0, {2, "host-2", Epoch{3}}));
  order().welcome(welcome);
  expect_closed(apply(order().announce(announce_of(own))));
}

TEST_F(NodeOrderByHand, RefusesACoordinatorThatKnowsLess) {
  start({process(1), "host-1", CutNumber{7}, GlobalPosition{70}, {}});
  order().connected();

  const auto actions = order().welcome(welcome_of(6));

  ASSERT_TRUE(actions.coordinator_refused);
  EXPECT_EQ(actions.coordinator_refused->code, ErrorCode::corruption);
  EXPECT_THAT(actions.coordinator_refused->what, HasSubstr("it knows cuts up to 6, this node holds cut 7"));
  EXPECT_FALSE(order().welcomed());
  EXPECT_THAT(order().announce(announce_of(cut_of(8, 71, {}))).steps, IsEmpty()) << "nothing of it is followed";
}

TEST_F(NodeOrderByHand, RefusesCutsOfAnotherHistory) {
  // Its log is an old copy that went on without this node: cut 7 is another one there, with fewer events.
  const NodeStart disk{process(1),
                       "host-1",
                       CutNumber{7},
                       GlobalPosition{70},
                       {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, false}}}};
  const auto refused = [&](const NodeActions& actions) {
    ASSERT_TRUE(actions.coordinator_refused);
    EXPECT_EQ(actions.coordinator_refused->code, ErrorCode::corruption);
    EXPECT_THAT(actions.coordinator_refused->what,
                HasSubstr("its cut 8 begins with position 61, here cut 7 ends with position 70"));
    EXPECT_FALSE(order().welcomed());
    EXPECT_EQ(order().cut(), CutNumber{7});
    EXPECT_THAT(order().announce(announce_of(cut_of(8, 71, {}))).steps, IsEmpty()) << "nothing more of it is followed";
  };
  start(disk);
  connect(7);
  refused(apply(order().announce(announce_of(cut_of(8, 61, {segment_of(1, 1, 1, 3)})))));

  start(disk);
  connect(9);
  refused(apply(order().cuts({process(1),
                              CutNumber{7},
                              {{cut_of(8, 61, {segment_of(1, 1, 1, 3)}), cut_of(9, 63, {})}, {}, false},
                              {},
                              false})));

  start(disk);
  connect(7);
  apply(order().announce(announce_of(cut_of(9, 63, {}))));
  refused(apply(order().announce(announce_of(cut_of(8, 61, {segment_of(1, 1, 1, 3)})))));

  start(disk);
  connect(8);
  EXPECT_TRUE(apply(order().announce(announce_of(cut_of(8, 75, {})))).coordinator_refused)
      << "nor may positions be left out";

  // With cuts folded in between it can only lie behind.
  start(disk);
  connect(9);
  sharding::CutLogState reached(2);
  reached.last_cut = CutNumber{9};
  reached.watermark = GlobalPosition{71};
  EXPECT_TRUE(
      apply(order().cuts(
                {process(1), CutNumber{7}, {{cut_of(9, 70, {segment_of(1, 1, 1, 3)})}, reached, false}, {}, false}))
          .coordinator_refused);
  start(disk);
  connect(9);
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{8};
  folded.watermark = GlobalPosition{69};
  const auto behind = apply(order().cuts({process(1), CutNumber{7}, {{cut_of(9, 70, {})}, folded, false}, {}, false}));
  EXPECT_TRUE(behind.coordinator_refused) << "the checkpoint gave fewer positions than were applied here";
}

// It went on to just as many cuts as this node has: what it orders from then on, other nodes acknowledge.
TEST_F(NodeOrderByHand, RefusesAnotherHistoryOfAsManyCuts) {
  const NodeStart disk{process(1),
                       "host-1",
                       CutNumber{7},
                       GlobalPosition{70},
                       {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, false}}}};
  const auto welcomed = [&](std::uint64_t last_cut, std::uint64_t watermark) {
    order().disconnected();
    order().connected();
    auto welcome = welcome_of(last_cut);
    welcome.watermark = GlobalPosition{watermark};
    return order().welcome(welcome);
  };
  start(disk);
  const auto refused = welcomed(7, 60);
  ASSERT_TRUE(refused.coordinator_refused);
  EXPECT_EQ(refused.coordinator_refused->code, ErrorCode::corruption);
  EXPECT_THAT(refused.coordinator_refused->what, HasSubstr("its cut 7 ends with position 60, here with position 70"));
  EXPECT_FALSE(order().welcomed());
  EXPECT_FALSE(order().reports());
  EXPECT_TRUE(order().again().say_hello);
  EXPECT_FALSE(welcomed(7, 70).coordinator_refused);
  EXPECT_TRUE(order().reports());

  // What is still being applied here is known as well.
  const auto applying = order().announce(announce_of(cut_of(8, 71, {segment_of(1, 1, 1, 3)})));
  EXPECT_THAT(steps<NodeStep::Apply>(applying), SizeIs(1));
  EXPECT_TRUE(welcomed(8, 71).coordinator_refused);
  EXPECT_TRUE(welcomed(7, 71).coordinator_refused)
      << "it has not got the newest one yet, but the one before is another";
  EXPECT_FALSE(welcomed(8, 72).coordinator_refused);
  EXPECT_FALSE(welcomed(7, 70).coordinator_refused);
  EXPECT_FALSE(welcomed(9, 99).coordinator_refused) << "its cuts will tell";
}

// What a coordinator of another history orders is acknowledged by other nodes, at positions that are others' events
// here.
TEST_F(NodeOrderByHand, ReportsNothingToACoordinatorWhoseHistoryIsNotKnownToBeItsOwn) {
  const auto reconnect = [&](std::uint64_t last_cut) {
    order().disconnected();
    order().connected();
    return apply(order().welcome(welcome_of(last_cut)));
  };
  start_open();
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))));
  EXPECT_TRUE(order().reports());

  EXPECT_THAT(steps<NodeStep::ReportAgain>(reconnect(3)), IsEmpty());
  EXPECT_FALSE(order().reports()) << "cut 3 may be of another history";
  EXPECT_THAT(steps<NodeStep::ReportAgain>(order().again()), IsEmpty());
  const auto foreign =
      apply(order().cuts({process(1), CutNumber{2}, {{cut_of(3, 2, {segment_of(1, 1, 1, 3)})}, {}, false}, {}, false}));
  EXPECT_TRUE(foreign.coordinator_refused);
  EXPECT_FALSE(order().reports());
  EXPECT_THAT(steps<NodeStep::ReportAgain>(order().again()), IsEmpty());
  EXPECT_TRUE(order().again().say_hello);
  EXPECT_THAT(steps<NodeStep::ReportAgain>(apply(order().welcome(welcome_of(3)))), IsEmpty())
      << "welcome again, and as unknown";

  order().disconnected();
  order().connected();
  order().announce(announce_of(cut_of(3, 2, {segment_of(1, 1, 1, 3)})));
  const auto buffered = apply(order().welcome(welcome_of(3)));
  EXPECT_TRUE(buffered.coordinator_refused) << "it came before the welcome";
  EXPECT_THAT(steps<NodeStep::ReportAgain>(buffered), IsEmpty());

  // Nor does a shard that opens meanwhile.
  start();
  connect(5);
  order().opens(opens_of(0, 1));
  apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}))));
  const auto opened = order().synced(CutNumber{1});
  EXPECT_THAT(steps<NodeStep::Opened>(opened), SizeIs(1));
  EXPECT_THAT(steps<NodeStep::ReportAgain>(opened), IsEmpty());

  start_open();
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))));
  for (const bool announced : {false, true}) {
    reconnect(order().cut().value + 2);
    const Cut next = cut_of(order().cut().value + 1, order().watermark().value + 1, {}),
              last = cut_of(order().cut().value + 2, order().watermark().value + 1, {});
    const auto one = apply(announced ? order().announce(announce_of(next))
                                     : order().cuts({process(1), order().cut(), {{next}, {}, true}, {}, false}));
    EXPECT_THAT(steps<NodeStep::ReportAgain>(one), IsEmpty()) << "not all of them";
    const auto both = apply(announced ? order().announce(announce_of(last))
                                      : order().cuts({process(1), order().cut(), {{last}, {}, false}, {}, false}));
    ASSERT_THAT(steps<NodeStep::ReportAgain>(both), SizeIs(1)) << "its own after all";
    EXPECT_EQ(steps<NodeStep::ReportAgain>(both)[0].first, ShardOffset{4});
    EXPECT_TRUE(order().reports());
  }
}

TEST_F(NodeOrderByHand, RefusesACoordinatorThatHasBeenReplaced) {
  start();
  connect(0, 5);
  order().disconnected();
  order().connected();

  EXPECT_EQ(order().welcome(welcome_of(0, 4)).coordinator_refused->code, ErrorCode::fenced);
}

TEST_F(NodeOrderByHand, FollowsNoWelcomeOfAnotherSessionOrProcess) {
  start();
  connect();
  const auto late = welcome_of(0);
  order().disconnected();
  order().connected();
  auto of_another = welcome_of(0);
  of_another.to = process(1, 2);

  EXPECT_THAT(order().welcome(late).steps, IsEmpty());
  order().welcome(of_another);

  EXPECT_FALSE(order().welcomed());
  EXPECT_TRUE(order().again().say_hello) << "it asks again";

  const auto behind_its_end = welcome_of(0);
  order().disconnected();
  order().welcome(behind_its_end);
  EXPECT_FALSE(order().welcomed());
}

// Hello was said twice, and the first answer comes when the second was followed for a while.
TEST_F(NodeOrderByHand, PassesOverAnEarlierWelcomeOfItsSession) {
  start_open();
  const auto earlier = welcome_of(0);

  EXPECT_FALSE(order().welcome(earlier).coordinator_refused);
  EXPECT_TRUE(order().welcomed());
}

// What a session told of epochs ends with it: that coordinator may have been of another history.
TEST_F(NodeOrderByHand, ForgetsWithASessionWhichEpochsItWasToldOf) {
  start();
  order().connected();
  auto foreign = welcome_of(3);
  ASSERT_TRUE(foreign.map.assign(shard_0, {2, "host-2", Epoch{7}}));
  order().welcome(foreign);
  order().disconnected();
  connect();
  order().opens(opens_of(0, 1));

  apply(order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)}))));
  order().synced(CutNumber{1});

  EXPECT_EQ(order().writes(shard_0), Epoch{1});
}

TEST_F(NodeOrderByHand, ReportsAgainFromItsLastCutAfterEveryReconnect) {
  start_open();
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))));
  order().disconnected();
  order().connected();

  const auto again = steps<NodeStep::ReportAgain>(order().welcome(welcome_of(2)));

  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].first, ShardOffset{4});
  EXPECT_THAT(steps<NodeStep::ReportAgain>(order().again()), SizeIs(1)) << "and from time to time";
  EXPECT_EQ(steps<NodeStep::ReportAgain>(order().report_from({shard_0, Epoch{1}, ShardOffset{9}})).at(0).first,
            ShardOffset{9});
  EXPECT_EQ(steps<NodeStep::ReportAgain>(order().report_from({shard_0, Epoch{1}, ShardOffset{1}})).at(0).first,
            ShardOffset{4})
      << "what is behind a cut is not reported";
  EXPECT_THAT(steps<NodeStep::ReportAgain>(order().report_from({shard_0, Epoch{2}, ShardOffset{9}})), IsEmpty());
}

TEST_F(NodeOrderByHand, SaysItsDoorOnceItIsOpen) {
  start();
  EXPECT_FALSE(order_->serves_at("door-1").say_hello) << "there is nobody to say it to";
  EXPECT_EQ(order_->hello({}).door, "door-1");
  order_->connected();
  EXPECT_FALSE(order_->serves_at("door-1").say_hello) << "it was said";
  EXPECT_TRUE(order_->serves_at("door-2").say_hello);
  EXPECT_EQ(order_->hello({}).door, "door-2");
}

TEST_F(NodeOrderByHand, SaysInItsHelloWhatItsDiskHas) {
  start({process(1),
         "host-1",
         CutNumber{7},
         GlobalPosition{70},
         {{shard_0, {Epoch{3}, ShardOffset{5}, ShardOffset{9}, false}},
          {ShardId{1}, {Epoch{1}, ShardOffset{2}, ShardOffset{9}, true}}}});

  const auto hello = order().hello({{shard_0, ShardOffset{9}}, {ShardId{1}, ShardOffset{9}}});

  EXPECT_EQ(hello.cut, CutNumber{7});
  ASSERT_THAT(hello.shards, SizeIs(2));
  EXPECT_EQ(hello.shards[0].epoch, Epoch{3});
  EXPECT_FALSE(hello.shards[0].taken);
  EXPECT_EQ(hello.shards[0].covered, ShardOffset{5});
  EXPECT_EQ(hello.shards[0].tail, ShardOffset{9});
  EXPECT_EQ(hello.shards[1].tail, ShardOffset{2}) << "behind a hole nothing counts";
}

TEST_F(NodeOrderByHand, SaysInItsHelloWhatIsAppliedAndTaken) {
  start();
  connect();
  order().opens(opens_of(0, 1));
  const auto given = order().announce(announce_of(cut_of(1, 1, {}, {opening_of(0, 1, 1, 1)})));

  EXPECT_EQ(order().hello({}).cut, CutNumber{0}) << "given out, not applied";
  apply(given);
  EXPECT_EQ(order().hello({}).cut, CutNumber{1});
  EXPECT_TRUE(order().hello({}).shards.at(0).taken) << "and not synced: it opens when it is";
}

TEST_F(NodeOrderByHand, TakesOverWhatWasFoldedAndNoMore) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, false}}}});
  connect(9);
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{8};
  folded.watermark = GlobalPosition{40};
  folded.shards[0] = {Epoch{1}, 1, ShardOffset{7}, {}, Epoch{1}, {}};

  EXPECT_THAT(order().cuts({process(1), CutNumber{3}, {{}, folded, false}, {}, false}).steps, IsEmpty())
      << "asked by somebody who knew more: cut 3 would be skipped";
  EXPECT_THAT(order().cuts({process(1, 2), CutNumber{2}, {{}, folded, false}, {}, false}).steps, IsEmpty())
      << "asked by another process";
  order().disconnected();
  order().connected();
  EXPECT_THAT(order().cuts({process(1), CutNumber{2}, {{}, folded, false}, {}, false}).steps, IsEmpty())
      << "asked in a session that is over";
  connect(9);
  const auto actions =
      apply(order().cuts({process(1),
                          CutNumber{2},
                          {{cut_of(6, 30, {segment_of(0, 1, 5, 7)}), cut_of(9, 41, {})}, folded, false},
                          {},
                          false}));

  const auto applied = steps<NodeStep::Apply>(actions);
  ASSERT_THAT(applied, SizeIs(3));
  EXPECT_EQ(applied[0].number, CutNumber{6});
  EXPECT_EQ(applied[1].number, CutNumber{8});
  EXPECT_EQ(applied[1].watermark, GlobalPosition{40});
  EXPECT_EQ(applied[2].number, CutNumber{9});
  EXPECT_THAT(actions.warnings, IsEmpty());
}

TEST_F(NodeOrderByHand, TakesNoCutBehindAHoleThatNoCheckpointAnswersFor) {
  start_open();

  const auto actions =
      apply(order().cuts({process(1), CutNumber{1}, {{cut_of(2, 1, {}), cut_of(4, 1, {})}, {}, false}, {}, false}));

  EXPECT_THAT(steps<NodeStep::Apply>(actions), SizeIs(1));
  EXPECT_EQ(order().cut(), CutNumber{2});
}

TEST_F(NodeOrderByHand, NoticesThatCutsOfItsOwnWereFoldedWithoutIt) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, false}}}});
  connect(9);
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{8};
  folded.watermark = GlobalPosition{40};
  folded.shards[0] = {Epoch{1}, 1, ShardOffset{7}, {}, Epoch{1}, {}};

  const auto actions = apply(order().cuts({process(1), CutNumber{2}, {{cut_of(9, 41, {})}, folded, false}, {}, false}));

  EXPECT_THAT(actions.warnings, SizeIs(1));
  EXPECT_THAT(steps<NodeStep::Apply>(actions).at(0).damaged, ElementsAre(shard_0)) << "and its disk remembers";
  EXPECT_THAT(steps<NodeStep::Apply>(actions).at(0).holes, ElementsAre(shard_0))
      << "what is missing has positions before this";
  EXPECT_EQ(order().hello({{shard_0, ShardOffset{9}}}).shards.at(0).tail, ShardOffset{5});

  // The last one before the checkpoint was kept, for somebody else: it is as far as the log is.
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, false}}}});
  connect(9);
  const auto kept = apply(
      order().cuts({process(1), CutNumber{2}, {{cut_of(8, 39, {segment_of(1, 1, 1, 3)})}, folded, false}, {}, false}));
  ASSERT_THAT(steps<NodeStep::Apply>(kept), SizeIs(1));
  EXPECT_THAT(steps<NodeStep::Apply>(kept)[0].damaged, ElementsAre(shard_0));
}

TEST_F(NodeOrderByHand, PlacesWhatIsThereOfASegmentThatReachesFurther) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{7}, false}}}});
  connect(3);

  const auto actions =
      apply(order().cuts({process(1),
                          CutNumber{2},
                          {{cut_of(3, 10, {segment_of(0, 1, 5, 9, {ShardOffset{5}, ShardOffset{8}})})}, {}, false},
                          {},
                          false}));

  const auto applied = steps<NodeStep::Apply>(actions);
  ASSERT_THAT(applied, SizeIs(1));
  ASSERT_THAT(applied[0].own, SizeIs(1));
  EXPECT_EQ(applied[0].own[0].segment, segment_of(0, 1, 5, 7, {ShardOffset{5}}));
  EXPECT_THAT(applied[0].damaged, ElementsAre(shard_0));
  EXPECT_THAT(applied[0].holes, IsEmpty()) << "before this cut nothing is missing";
  EXPECT_THAT(actions.warnings, SizeIs(1));
}

// Cuts of its own were folded without it, and a kept one that names nobody here was applied since: what is missing lies
// before both.
TEST_F(NodeOrderByHand, KnowsThatMoreIsMissingThanACutThatDoesNotJoinOn) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{7}, false}}}});
  connect(9);
  sharding::CutLogState folded(2);
  folded.last_cut = CutNumber{9};
  folded.watermark = GlobalPosition{40};
  folded.shards[0] = {Epoch{1}, 1, ShardOffset{9}, {}, Epoch{1}, {}};

  const auto actions =
      apply(order().cuts({process(1),
                          CutNumber{2},
                          {{cut_of(6, 30, {}), cut_of(8, 30, {segment_of(0, 1, 8, 9)})}, folded, false},
                          {},
                          false}));

  const auto applied = steps<NodeStep::Apply>(actions);
  ASSERT_THAT(applied, SizeIs(3));
  EXPECT_THAT(applied[0].damaged, IsEmpty()) << "nobody can know yet";
  EXPECT_THAT(applied[1].damaged, ElementsAre(shard_0));
  EXPECT_THAT(applied[1].holes, ElementsAre(shard_0));
}

TEST_F(NodeOrderByHand, PlacesNothingMoreOfAShardThatIsDamaged) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{9}, true}}}});
  connect(3);

  const auto actions = apply(order().announce(announce_of(cut_of(3, 10, {segment_of(0, 1, 5, 7)}))));

  EXPECT_THAT(steps<NodeStep::Apply>(actions).at(0).own, IsEmpty()) << "behind a hole nothing counts";
  EXPECT_THAT(actions.warnings, IsEmpty()) << "that was said";
}

TEST_F(NodeOrderByHand, GoesOnBehindALossThatWasAccepted) {
  start({process(1),
         "host-1",
         CutNumber{2},
         GlobalPosition{9},
         {{shard_0, {Epoch{1}, ShardOffset{5}, ShardOffset{6}, true}}}});
  connect(3);
  order().opens(opens_of(0, 2));
  auto losing = opening_of(0, 2, 1, 9);
  losing.lost_from = ShardOffset{5};
  losing.lost_until = ShardOffset{9};

  apply(order().announce(announce_of(cut_of(3, 10, {}, {losing}))));
  const auto opened = order().synced(CutNumber{3});
  EXPECT_EQ(steps<NodeStep::Opened>(opened).at(0).opening, losing);
  const auto next = apply(order().announce(announce_of(cut_of(4, 10, {segment_of(0, 2, 9, 11)}))));

  EXPECT_THAT(steps<NodeStep::Apply>(next).at(0).own, SizeIs(1));
  EXPECT_THAT(next.warnings, IsEmpty());
}

// -- shards that several nodes keep: docs/internals/replication.md, rules 20 to 24

/// Node 1 keeps shard 0, which node 2 writes under epoch 1, by cut 1.
class NodeOrderFollows : public NodeOrderByHand {
 protected:
  void start_following() {
    start();
    connect();
    auto opened = cut_of(1, 1, {}, {opening_of(0, 1, 2, 1)});
    opened.replicas = {{shard_0, {2, {1, 2, 3}}}};
    const auto actions = apply(order().announce(announce_of(opened)));
    ASSERT_THAT(steps<NodeStep::Follow>(actions), SizeIs(1));
    ASSERT_EQ(order().follows(shard_0), Epoch{1});
  }
};

TEST_F(NodeOrderFollows, ACutWaitsForWhatIsNotShippedYetAndNoticesOpeningsMeanwhile) {
  start_following();
  EXPECT_THAT(steps<NodeStep::Apply>(apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))))),
              IsEmpty());
  EXPECT_EQ(order().waits(), 1u);

  // The next writer ships it: who it is has to be noticed before the cut can be applied (21).
  const auto opened = order().announce(announce_of(cut_of(3, 4, {}, {opening_of(0, 2, 3, 6)})));
  const auto follow = steps<NodeStep::Follow>(opened);
  ASSERT_THAT(follow, SizeIs(1));
  EXPECT_EQ(follow[0].epoch, Epoch{2});
  EXPECT_EQ(follow[0].writer, 3u);
  EXPECT_EQ(follow[0].from, ShardOffset{4}) << "where known cuts end, not those that are applied";

  EXPECT_THAT(steps<NodeStep::Apply>(apply(order().shipped(shard_0, ShardOffset{3}))), IsEmpty());
  const auto applied = steps<NodeStep::Apply>(apply(order().shipped(shard_0, ShardOffset{4})));
  ASSERT_THAT(applied, SizeIs(2));
  EXPECT_THAT(applied[0].own, SizeIs(1));
  EXPECT_THAT(applied[1].followed, SizeIs(1)) << "its epoch goes to the disk";
  EXPECT_EQ(order().waits(), 0u);
}

TEST_F(NodeOrderFollows, TakesNothingOffForAnOpeningOfItsOwnWhosePromiseComesLater) {
  start_following();
  const auto opened = apply(order().announce(announce_of(cut_of(2, 1, {}, {opening_of(0, 2, 1, 1)}))));
  EXPECT_THAT(steps<NodeStep::Follow>(opened), IsEmpty());
  EXPECT_EQ(order().follows(shard_0), Epoch{1}) << "nobody writes it";
}

TEST_F(NodeOrderFollows, ShipsFromTheMomentThatItsOwnOpeningIsKnown) {
  start_following();
  order().opens(opens_of(0, 2));
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 3)}))));
  const auto opened = order().announce(announce_of(cut_of(3, 3, {}, {opening_of(0, 2, 1, 3)})));
  EXPECT_THAT(steps<NodeStep::Apply>(opened), IsEmpty()) << "it waits for offsets 1 and 2";
  EXPECT_THAT(steps<NodeStep::Ships>(opened), SizeIs(1));
}

TEST_F(NodeOrderFollows, ACopyIsNoneBehindAnAcceptedLossAndTheDiskIsToldSo) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{4}));
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 4)}))));
  auto losing = opening_of(0, 2, 3, 4);
  losing.lost_from = ShardOffset{2};
  losing.lost_until = ShardOffset{4};
  const auto actions = apply(order().announce(announce_of(cut_of(3, 4, {}, {losing}))));

  EXPECT_THAT(actions.warnings, SizeIs(1));
  const auto applied = steps<NodeStep::Apply>(actions);
  ASSERT_THAT(applied, SizeIs(1));
  EXPECT_THAT(applied[0].damaged, ElementsAre(shard_0));
  EXPECT_EQ(order().follows(shard_0), std::nullopt);
}

TEST_F(NodeOrderFollows, IsGivenAgainWhatWasRefusedAndTakesItOnce) {
  start_following();
  apply(order().announce(announce_of(cut_of(2, 1, {segment_of(0, 1, 1, 3, {ShardOffset{1}, ShardOffset{2}})}))));
  auto row = cut_of(4, 1, {segment_of(0, 1, 2, 4, {ShardOffset{2}, ShardOffset{3}}), segment_of(0, 1, 4, 6)});
  const auto whole = order().whole(NodeHistory{{row}, CutNumber{4}, GlobalPosition{2}, {}});
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_THAT(whole[0].segments, ElementsAre(segment_of(0, 1, 3, 4, {ShardOffset{3}}), segment_of(0, 1, 4, 6)));
}

TEST_F(NodeOrderFollows, WhatWasRefusedBeforeAnOpeningOfTheSameRowIsTakenWithIt) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{3}));
  auto row = cut_of(3, 1, {segment_of(0, 1, 1, 3, {ShardOffset{1}, ShardOffset{2}}), segment_of(0, 2, 3, 5)},
                    {opening_of(0, 2, 3, 3)});
  const auto whole = order().whole(NodeHistory{{row}, CutNumber{3}, GlobalPosition{2}, {}});
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_THAT(whole[0].segments,
              ElementsAre(segment_of(0, 1, 1, 3, {ShardOffset{1}, ShardOffset{2}}), segment_of(0, 2, 3, 5)));
}

TEST_F(NodeOrderFollows, AnOpeningOfACutThatPlacedNothingIsTakenWithARowThatSaysWhatWasRefusedBefore) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{3}));
  const auto row =
      cut_of(5, 1, {segment_of(0, 1, 1, 3, {ShardOffset{1}, ShardOffset{2}}), sharding::Segment::elsewhere(1)});
  const auto whole =
      order().whole(NodeHistory{{row}, CutNumber{5}, GlobalPosition{1}, {{shard_0, ShardOffset{3}, Epoch{2}, 3}}});
  ASSERT_THAT(whole, SizeIs(1));
  ASSERT_THAT(whole[0].openings, SizeIs(1));
  EXPECT_EQ(whole[0].openings[0].epoch, Epoch{2});
  EXPECT_EQ(whole[0].openings[0].node, 3u);
}

// Its directory was deleted: what lies here is what others shipped under older epochs.
TEST_F(NodeOrderFollows, TakesOffWhatIsNotOfTheEpochThatItWroteItselfOnceOnAnotherDisk) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{4}));
  apply(order().announce(announce_of(cut_of(2, 1, {}, {opening_of(0, 2, 1, 1)}))));
  const auto follow =
      steps<NodeStep::Follow>(apply(order().announce(announce_of(cut_of(3, 1, {segment_of(0, 2, 1, 3)})))));
  ASSERT_THAT(follow, SizeIs(1));
  EXPECT_EQ(follow[0].epoch, Epoch{2});
  EXPECT_EQ(follow[0].from, ShardOffset{1});
  EXPECT_EQ(follow[0].writer, 0u) << "nobody is known who ships it";
}

TEST_F(NodeOrderFollows, StopsWritingBeforeItShipsUnderItsNextEpoch) {
  start_following();
  order().opens(opens_of(0, 2));
  apply(order().announce(announce_of(cut_of(2, 1, {}, {opening_of(0, 2, 1, 1)}))));
  apply(order().synced(CutNumber{2}));
  ASSERT_EQ(order().writes(shard_0), Epoch{2});
  order().opens(opens_of(0, 3));
  const auto again = apply(order().announce(announce_of(cut_of(3, 1, {}, {opening_of(0, 3, 1, 1)}))));
  ASSERT_GE(again.steps.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<NodeStep::Fence>(again.steps[0].what));
  EXPECT_TRUE(std::holds_alternative<NodeStep::Ships>(again.steps[1].what)) << "a fence ends what was shipped";
}

// The replica that was asked is itself behind, or gone: what was not folded the coordinator has.
TEST_F(NodeOrderFollows, GoesOnWithTheCoordinatorsCutsOnceItLacksNothingThatWasFolded) {
  start_following();
  sharding::CutLogState folded(1);
  folded.last_cut = CutNumber{5};
  folded.watermark = GlobalPosition{2};
  folded.shards[0].folded = ShardOffset{2};
  folded.shards[0].epoch = Epoch{1};
  folded.shards[0].node = 2;
  auto asked = order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false});
  ASSERT_TRUE(asked.history);
  const auto behind = apply(order().history(GlobalPosition{0}, {}, false));
  EXPECT_TRUE(order().catches_up()) << "offsets 1 and 2 are still lacking";
  const auto given = apply(order().history(GlobalPosition{0}, {cut_of(5, 1, {segment_of(0, 1, 1, 3)})}, false));
  ASSERT_TRUE(given.history) << "that replica may have more";
  EXPECT_TRUE(order().catches_up());
  const auto nothing = apply(order().history(GlobalPosition{2}, {}, false));
  EXPECT_FALSE(order().catches_up());
  EXPECT_THAT(nothing.send, SizeIs(1)) << "it asks the coordinator";
}

// Who was asked had no owner of that epoch to name, and no cut comes any more that would.
TEST_F(NodeOrderFollows, FollowsWhoWroteLastOfWhatWasFoldedThoughNoReplicaNamesHim) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{5}));
  sharding::CutLogState folded(1);
  folded.last_cut = CutNumber{5};
  folded.watermark = GlobalPosition{2};
  folded.shards[0].folded = ShardOffset{2};
  folded.shards[0].epoch = Epoch{2};
  folded.shards[0].node = 3;
  ASSERT_TRUE(order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false}).history);

  const auto given = order().history(GlobalPosition{0}, {cut_of(5, 1, {segment_of(0, 1, 1, 3)})}, true);

  EXPECT_FALSE(order().catches_up());
  const auto follow = steps<NodeStep::Follow>(given);
  ASSERT_THAT(follow, SizeIs(1)) << "what lies behind is of the writer before";
  EXPECT_EQ(follow[0].epoch, Epoch{2});
  EXPECT_EQ(follow[0].writer, 3u);
  EXPECT_EQ(follow[0].from, ShardOffset{3});
}

// It was opened, for the last time, by a cut that placed nothing, before this node learned the shard: that cut is in no
// history, and does not come again. Who writes it would wait for this node, which counts, for ever.
TEST_F(NodeOrderFollows, WhoWroteLastWhatItLearnedThoughNoCutComesThatSaysSo) {
  NodeStart at{process(1), "host-1", CutNumber{4}, GlobalPosition{2}, {}};
  at.shards[shard_0] = {Epoch{1}, ShardOffset{3}, ShardOffset{4}, false, Epoch{1}};
  start(std::move(at));
  order().connected();
  auto welcome = welcome_of(4);
  ASSERT_TRUE(welcome.map.assign(shard_0, {2, "host-2", Epoch{2}}));
  welcome.replicas = {{2, {2, 3}, {1}}};
  ASSERT_THAT(steps<NodeStep::Follow>(apply(order().welcome(welcome))), IsEmpty()) << "its cut may be under way";
  ASSERT_EQ(order().follows(shard_0), Epoch{1});

  auto counts = cut_of(5, 3, {});
  counts.replicas = {{shard_0, {2, {1, 2, 3}, {1}}}};
  const auto follow = steps<NodeStep::Follow>(apply(order().announce(announce_of(counts))));

  ASSERT_THAT(follow, SizeIs(1));
  EXPECT_EQ(follow[0].epoch, Epoch{2});
  EXPECT_EQ(follow[0].writer, 2u);
  EXPECT_EQ(follow[0].from, ShardOffset{3}) << "what lies behind is of the writer before";
  EXPECT_EQ(order().follows(shard_0), Epoch{2});
}

// Its order ends where it began to learn, perhaps: what it says it holds is folded with it, and goes with the next
// disk.
TEST_F(NodeOrderFollows, WhileItLearnsItSaysNoMoreThanItHeldWhenItBegan) {
  const auto held = [](const NodeOrder::Actions& actions) {
    std::vector<CutNumber> cuts;
    for (const auto& message : actions.send)
      if (const auto* said = std::get_if<Held>(&message)) cuts.push_back(said->cut);
    return cuts;
  };
  start_following();
  order().synced(CutNumber{1});
  ASSERT_EQ(order().held().cut, CutNumber{1});

  auto learns = cut_of(2, 1, {});
  learns.replicas = {{ShardId{1}, {2, {2, 3}, {1}}}};
  apply(order().announce(announce_of(learns)));
  ASSERT_THAT(order().to_learn(), ElementsAre(ShardId{1}));
  EXPECT_THAT(held(order().synced(CutNumber{2})), IsEmpty());
  EXPECT_EQ(order().held().cut, CutNumber{1});
  EXPECT_EQ(order().held().applied, CutNumber{2}) << "for people";

  auto given_up = cut_of(3, 1, {});
  given_up.replicas = {{ShardId{1}, {2, {2, 3}}}};
  apply(order().announce(announce_of(given_up)));
  EXPECT_THAT(held(order().synced(CutNumber{3})), ElementsAre(CutNumber{3}));
}

// It may be kept again, to be learned: after a crash that comes first, a disk without a mark would say that it has it.
TEST_F(NodeOrderFollows, WhatItKeepsNoLongerIsMarkedWhereTheCutThatSaysSoWasFolded) {
  start_following();
  sharding::CutLogState folded(1);
  folded.last_cut = CutNumber{6};
  folded.shards[0].replicas = {2, {2, 3}};
  folded.shards[0].epoch = Epoch{1};
  folded.shards[0].node = 2;
  const auto marked = [](const NodeOrder::Actions& actions) {
    std::vector<ShardId> damaged;
    for (const auto& apply : steps<NodeStep::Apply>(actions))
      damaged.insert(damaged.end(), apply.damaged.begin(), apply.damaged.end());
    return damaged;
  };
  EXPECT_THAT(marked(order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false})), ElementsAre(shard_0));
}

/// Node 1 has applied cut 5, of other shards, and its disk has nothing of shard 0, of which it is a member.
class NodeOrderWithoutARow : public NodeOrderFollows {
 protected:
  NodeActions comes(GlobalPosition last_of_the_shard, std::uint64_t last_cut = 5) {
    start({process(1), "host-1", CutNumber{5}, GlobalPosition{9}, {}});
    order().connected();
    auto welcome = welcome_of(last_cut);
    welcome.map = sharding::ShardMap(2);
    welcome.replicas = {{2, {1, 2, 3}}, {}};
    welcome.last_positions = {last_of_the_shard, GlobalPosition{9}};
    return apply(order().welcome(welcome));
  }
  static std::vector<ShardId> marked(const NodeActions& actions) {
    std::vector<ShardId> damaged;
    for (const auto& apply : steps<NodeStep::Apply>(actions))
      damaged.insert(damaged.end(), apply.damaged.begin(), apply.damaged.end());
    return damaged;
  }
};

// A member that has no row is one from the beginning only where there was no beginning yet. Else what went by would be
// taken for what cuts refused.
TEST_F(NodeOrderWithoutARow, IsNoReplicaWhereCutsThatCoverTheShardWentBy) {
  const auto welcomed = comes(GlobalPosition{7});
  EXPECT_THAT(welcomed.warnings, SizeIs(1));
  EXPECT_FALSE(order().has_whole(shard_0));
  EXPECT_EQ(order().page(shard_0, GlobalPosition{9}), NodeOrder::Page::not_here);
  const auto told = order().hello({{shard_0, ShardOffset{4}}}).shards;
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].damaged);
  const auto next =
      apply(order().announce(announce_of(cut_of(6, 10, {segment_of(0, 1, 4, 5)}, {opening_of(0, 1, 2, 4)}))));
  EXPECT_THAT(marked(next), testing::Contains(shard_0)) << "the disk is told";
  EXPECT_THAT(steps<NodeStep::Follow>(next), IsEmpty());
  for (const auto& applied : steps<NodeStep::Apply>(next)) EXPECT_THAT(applied.own, IsEmpty());
}

// Later events were given positions since: only what comes next says that there were earlier ones.
TEST_F(NodeOrderWithoutARow, IsNoReplicaWhereWhatComesFirstIsNotTheBeginning) {
  EXPECT_THAT(comes(GlobalPosition{10}, 6).warnings, IsEmpty());
  order().shipped(shard_0, ShardOffset{5});
  const auto next = apply(order().announce(announce_of(cut_of(6, 10, {segment_of(0, 1, 4, 5)}))));
  EXPECT_THAT(next.warnings, SizeIs(1));
  EXPECT_FALSE(order().has_whole(shard_0));
  EXPECT_THAT(marked(next), testing::Contains(shard_0));
  for (const auto& applied : steps<NodeStep::Apply>(next))
    for (const auto& own : applied.own)
      EXPECT_THAT(own.segment.refused, IsEmpty()) << "nothing that went by is refused";
}

TEST_F(NodeOrderWithoutARow, IsOneWhereTheShardBeginsNow) {
  EXPECT_THAT(comes(GlobalPosition{0}).warnings, IsEmpty());
  EXPECT_TRUE(order().has_whole(shard_0));
  apply(order().announce(announce_of(cut_of(6, 10, {}, {opening_of(0, 1, 2, 1)}))));
  EXPECT_EQ(order().follows(shard_0), Epoch{1});
  EXPECT_THAT(steps<NodeStep::Apply>(apply(order().announce(announce_of(cut_of(7, 10, {segment_of(0, 1, 1, 4)}))))),
              IsEmpty())
      << "it waits for what is shipped";
  const auto applied = steps<NodeStep::Apply>(apply(order().shipped(shard_0, ShardOffset{4})));
  ASSERT_THAT(applied, SizeIs(1));
  ASSERT_THAT(applied[0].own, SizeIs(1));
  EXPECT_THAT(applied[0].damaged, IsEmpty());
  EXPECT_TRUE(order().has_whole(shard_0));
}

// The log deletes cuts up to its checkpoint a few at a time: those that are left cover what is here.
TEST_F(NodeOrderFollows, TakesNothingOffThatCutsCoverWhichAreNotDeletedYet) {
  start_following();
  apply(order().shipped(shard_0, ShardOffset{5}));
  sharding::CutLogState folded(1);
  folded.last_cut = CutNumber{6};
  folded.watermark = GlobalPosition{4};
  folded.shards[0].folded = ShardOffset{2};
  folded.shards[0].epoch = Epoch{2};
  folded.shards[0].node = 3;
  ASSERT_TRUE(order().cuts({process(1), CutNumber{1}, {{}, folded, false}, {}, false}).history);

  const auto given = order().history(GlobalPosition{0}, {cut_of(5, 1, {segment_of(0, 1, 1, 3)})}, true);
  EXPECT_THAT(steps<NodeStep::Follow>(given), IsEmpty()) << "cut 6 covers offsets 3 and 4 under epoch 1";
}

TEST_F(NodeOrderFollows, BelievesNobodyWhoSaysThatMoreWasRefusedThanCanBe) {
  start_following();
  NodeHistory history{{}, CutNumber{9}, GlobalPosition{0}, {{shard_0, ShardOffset{~0ull}, Epoch{1}, 2}}};
  EXPECT_THAT(order().whole(history), IsEmpty());
  history.ends[0].end = ShardOffset{3};
  ASSERT_THAT(order().whole(history), SizeIs(1));
  EXPECT_THAT(order().whole(history)[0].segments[0].refused, ElementsAre(ShardOffset{1}, ShardOffset{2}));
}

}  // namespace
}  // namespace evershard::cluster
