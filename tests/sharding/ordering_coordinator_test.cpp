// Ordering at the coordinator: durable first, ordered afterwards. Rule by rule, by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "evershard/sharding/ordering.hpp"
#include "tests/sharding/fresh_state.hpp"

namespace evershard::sharding {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

EventId id(std::uint8_t n) {
  EventId id;
  id.bytes[15] = n;
  return id;
}

ReportedAppend plain(std::vector<Term> terms = {1}) {
  return {.events = 1, .tentative = false, .conditions = {}, .terms = {terms}, .part = {}};
}
ReportedAppend unless(Term term, std::uint64_t from, std::vector<Term> terms = {1}) {
  return {.events = 1,
          .tentative = true,
          .conditions = {{TermQuery{false, {{{}, {term}}}}, GlobalPosition{from}}},
          .terms = {terms},
          .part = {}};
}
/// The part on `shard` of append `n` with one event on each of `shards`, in that order.
ReportedAppend part(std::uint8_t n, const std::vector<std::uint16_t>& shards, std::uint16_t shard) {
  ReportedAppend append{.events = 0, .tentative = true, .conditions = {}, .terms = {}, .part = PartOf{id(n), {}}};
  for (const std::uint16_t s : shards) {
    append.part->runs.emplace_back(ShardId{s}, 1);
    if (s == shard) {
      ++append.events;
      append.terms.push_back({Term{100} + n});
    }
  }
  return append;
}

Report report(std::uint16_t shard, std::uint64_t first, std::vector<ReportedAppend> appends, std::uint64_t epoch = 1) {
  return {ShardId{shard}, Epoch{epoch}, ShardOffset{first}, std::move(appends)};
}

Segment segment(std::uint16_t shard, std::uint64_t first, std::uint64_t end, std::vector<ShardOffset> refused = {},
                std::uint64_t epoch = 1) {
  return {ShardId{shard}, Epoch{epoch}, ShardOffset{first}, ShardOffset{end}, std::move(refused)};
}

TEST(OrderingAtTheCoordinator, MakesNoCutOfNothing) {
  Ordering ordering(fresh(2), {});

  EXPECT_EQ(ordering.make_cut(), std::nullopt);
}

TEST(OrderingAtTheCoordinator, TakesShardAfterShard) {
  Ordering ordering(fresh(3), {});
  EXPECT_EQ(ordering.report(report(2, 1, {plain(), plain()})), Reported::taken);
  EXPECT_EQ(ordering.report(report(0, 1, {plain()})), Reported::taken);

  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->segments, ElementsAre(segment(0, 1, 2), segment(2, 1, 3)));
  EXPECT_EQ(cut->first_position, GlobalPosition{1});
  EXPECT_EQ(ordering.state().watermark, GlobalPosition{3});
  EXPECT_EQ(ordering.state().shards[2].next, ShardOffset{3});
  EXPECT_EQ(ordering.make_cut(), std::nullopt);
}

TEST(OrderingAtTheCoordinator, TakesAReportThatJoinsOnAndNoOther) {
  Ordering ordering(fresh(1), {});
  ReportedAppend two = plain();
  two.events = 2;
  two.terms.clear();

  EXPECT_EQ(ordering.report(report(0, 2, {plain()})), Reported::gap);
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{1});
  EXPECT_EQ(ordering.report(report(0, 1, {plain(), two})), Reported::taken);
  EXPECT_EQ(ordering.report(report(0, 1, {plain(), two})), Reported::stale) << "nothing new";
  EXPECT_EQ(ordering.report(report(0, 2, {two, plain()})), Reported::taken) << "what is known is skipped";
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{5});
  EXPECT_EQ(ordering.report(report(0, 3, {two, plain(), plain()})), Reported::taken);
  EXPECT_EQ(ordering.report(report(0, 6, {two})), Reported::malformed) << "joins on in the middle of an append";
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{7});

  static_cast<void>(ordering.make_cut());
  EXPECT_EQ(ordering.report(report(0, 1, {plain(), two})), Reported::stale) << "behind the cuts";
}

TEST(OrderingAtTheCoordinator, RefusesAReportThatContradictsItself) {
  Ordering ordering(fresh(3), {});
  ReportedAppend no_events = plain();
  no_events.events = 0;
  ReportedAppend too_few_terms = plain();
  too_few_terms.events = 2;
  ReportedAppend not_tentative = unless(1, 0);
  not_tentative.tentative = false;
  ReportedAppend of_nowhere = part(1, {0, 3}, 0);
  ReportedAppend of_one_shard = part(1, {0, 0}, 0);
  ReportedAppend of_others = part(1, {1, 2}, 1);

  for (const auto& bad : {no_events, too_few_terms, not_tentative, of_nowhere, of_one_shard, of_others}) {
    EXPECT_EQ(ordering.report(report(0, 1, {plain(), bad})), Reported::malformed);
  }
  EXPECT_EQ(ordering.report(report(3, 1, {plain()})), Reported::malformed) << "no such shard";
  EXPECT_EQ(ordering.report(report(0, 0, {plain(), plain()})), Reported::malformed) << "offsets begin at 1";
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{1}) << "nothing of a bad report is taken";
  EXPECT_EQ(ordering.make_cut(), std::nullopt);
}

TEST(OrderingAtTheCoordinator, KnowsReportsByTheEpochOfTheirShard) {
  Ordering ordering(fresh(2), {});
  EXPECT_EQ(ordering.report(report(0, 1, {plain(), plain()})), Reported::taken);

  const auto epoch = ordering.open(ShardId{0}, 9, ShardOffset{2});

  ASSERT_TRUE(epoch);
  EXPECT_EQ(*epoch, Epoch{2});
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{1}) << "reports of older epochs are forgotten";
  EXPECT_EQ(ordering.report(report(0, 1, {plain()}, 1)), Reported::stale);
  EXPECT_EQ(ordering.report(report(0, 1, {plain()}, 3)), Reported::replaced);
  EXPECT_EQ(ordering.report(report(0, 1, {plain()}, 2)), Reported::taken);
  const auto cut = ordering.make_cut();
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->openings, ElementsAre(Opening{ShardId{0}, Epoch{2}, 9, ShardOffset{2}}));
  EXPECT_THAT(cut->segments, ElementsAre(segment(0, 1, 2, {}, 2)));
  EXPECT_EQ(ordering.state().shards[0].epoch, Epoch{2});
}

TEST(OrderingAtTheCoordinator, OpensNoShardThatLostWhatCutsCover) {
  Ordering ordering(fresh(2), {});
  ordering.report(report(0, 1, {plain(), plain()}));
  static_cast<void>(ordering.make_cut());

  const auto lost = ordering.open(ShardId{0}, 9, ShardOffset{2});
  const auto unknown = ordering.open(ShardId{2}, 9, ShardOffset{2});
  const auto whole = ordering.open(ShardId{0}, 9, ShardOffset{3});

  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::corruption);
  EXPECT_EQ(lost.error().what,
            "shard 0 of node 9 ends before offset 2, the cuts cover it up to offset 3: it has lost data");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(whole);
  EXPECT_THAT(ordering.make_cut()->segments, IsEmpty());
}

TEST(OrderingAtTheCoordinator, OpensAShardThatLostSomethingWhereThatIsAccepted) {
  Ordering ordering(fresh(2), {});
  ordering.report(report(0, 1, {plain(), plain()}));
  static_cast<void>(ordering.make_cut());
  ordering.report(report(0, 3, {plain()}));

  const auto nothing_lost = ordering.open_losing(ShardId{0}, 9, ShardOffset{3});
  const auto unknown = ordering.open_losing(ShardId{2}, 9, ShardOffset{1});
  const auto opened = ordering.open_losing(ShardId{0}, 9, ShardOffset{2});

  EXPECT_EQ(nothing_lost.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(opened);
  EXPECT_EQ(*opened, (Opening{ShardId{0}, Epoch{2}, 9, ShardOffset{3}, ShardOffset{2}, ShardOffset{3}}));
  const auto cut = ordering.make_cut();
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->openings, ElementsAre(*opened));
  EXPECT_THAT(cut->segments, IsEmpty()) << "what was reported under the older epoch is forgotten";
  EXPECT_EQ(ordering.known_end(ShardId{0}), ShardOffset{3}) << "and offsets go on behind the cuts";
}

TEST(OrderingAtTheCoordinator, RefusesByWhatStandsBetweenFromAndThePlace) {
  Ordering ordering(fresh(3), {});
  ordering.report(report(0, 1, {plain({7})}));
  static_cast<void>(ordering.make_cut());
  ordering.report(report(1, 1, {unless(7, 0), unless(7, 1, {8}), plain({7}), unless(7, 1)}));
  ordering.report(report(2, 1, {unless(8, 1), unless(9, 1)}));

  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->segments,
              ElementsAre(segment(1, 1, 5, {ShardOffset{1}, ShardOffset{4}}), segment(2, 1, 3, {ShardOffset{1}})));
  EXPECT_EQ(ordering.state().watermark, GlobalPosition{4});
}

TEST(OrderingAtTheCoordinator, RefusesWhatItCannotCheck) {
  OrderState state = fresh(1);
  state.watermark = GlobalPosition{5};
  Ordering ordering(state, {});
  ReportedAppend without_digest = plain();
  without_digest.terms.clear();

  ordering.report(report(0, 1, {unless(7, 4), unless(7, 5), without_digest, unless(7, 6), unless(7, 7)}));
  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->segments, ElementsAre(segment(0, 1, 6, {ShardOffset{1}, ShardOffset{4}})));
  EXPECT_EQ(ordering.window_from(), GlobalPosition{7}) << "an event without digests moves the window behind itself";
}

TEST(OrderingAtTheCoordinator, PlacesAnAppendOverSeveralShardsTogether) {
  Ordering ordering(fresh(3), {});
  ordering.report(report(0, 1, {plain(), part(1, {0, 2, 0}, 0), plain()}));
  ordering.report(report(1, 1, {plain()}));
  ordering.report(report(2, 1, {plain(), plain(), part(1, {0, 2, 0}, 2)}));

  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->segments, ElementsAre(segment(0, 1, 2), segment(2, 1, 3), segment(0, 2, 3), segment(2, 3, 4),
                                         segment(0, 3, 5), segment(1, 1, 2)));
}

TEST(OrderingAtTheCoordinator, JudgesAnAppendOverSeveralShardsOnceByItsLargestFrom) {
  Ordering ordering(fresh(2), {});
  ordering.report(report(0, 1, {plain({7})}));
  static_cast<void>(ordering.make_cut());
  ReportedAppend early = part(1, {0, 1}, 0), late = part(1, {0, 1}, 1);
  early.conditions = unless(7, 0).conditions;
  late.conditions = unless(7, 1).conditions;
  ReportedAppend refused_here = part(2, {1, 0}, 1), refused_there = part(2, {1, 0}, 0);
  refused_there.conditions = unless(101, 1).conditions;  // matches the first one

  ordering.report(report(0, 2, {early, refused_there}));
  ordering.report(report(1, 1, {late, refused_here}));
  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->segments,
              ElementsAre(segment(0, 2, 3), segment(1, 1, 3, {ShardOffset{2}}), segment(0, 3, 4, {ShardOffset{3}})));
}

TEST(OrderingAtTheCoordinator, HoldsAPartBackForACountedNumberOfCuts) {
  Ordering ordering(fresh(2), {.cuts_held_max = 2});
  ordering.report(report(0, 1, {plain(), part(1, {0, 1}, 0), plain()}));

  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(0, 1, 2)));
  EXPECT_THAT(ordering.make_cut()->segments, IsEmpty());
  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(0, 2, 4, {ShardOffset{2}})));
  EXPECT_EQ(ordering.make_cut(), std::nullopt);

  ordering.report(report(1, 1, {part(1, {0, 1}, 1)}));
  EXPECT_THAT(ordering.make_cut()->segments, IsEmpty()) << "the refused part completes nothing";
  ordering.report(report(0, 4, {part(1, {0, 1}, 0)}));
  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(0, 4, 5), segment(1, 1, 2)));
}

TEST(OrderingAtTheCoordinator, HoldsWhatStandsBehindAHeldPart) {
  Ordering ordering(fresh(3), {});
  ordering.report(report(0, 1, {part(1, {0, 2}, 0), part(2, {0, 1}, 0)}));
  ordering.report(report(1, 1, {plain(), part(2, {0, 1}, 1), plain()}));

  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(1, 1, 2)));
  ordering.report(report(2, 1, {part(1, {0, 2}, 2)}));

  EXPECT_THAT(ordering.make_cut()->segments,
              ElementsAre(segment(0, 1, 2), segment(2, 1, 2), segment(0, 2, 3), segment(1, 2, 4)));
}

TEST(OrderingAtTheCoordinator, RefusesOneOfARingAndPlacesTheOthers) {
  for (std::uint16_t length = 2; length <= 4; ++length) {
    SCOPED_TRACE(length);
    Ordering ordering(fresh(5), {});
    // Append i lies on shards i and i + 1; on each shard the one that comes from below stands second.
    for (std::uint16_t i = 0; i != length; ++i) {
      const std::uint16_t below = static_cast<std::uint16_t>((i + length - 1) % length);
      const auto shards_of = [&](std::uint16_t n) {
        return std::vector<std::uint16_t>{n, static_cast<std::uint16_t>((n + 1) % length)};
      };
      ordering.report(report(i, 1,
                             {part(static_cast<std::uint8_t>(i + 1), shards_of(i), i),
                              part(static_cast<std::uint8_t>(below + 1), shards_of(below), i), plain()}));
    }

    const auto cut = ordering.make_cut();

    ASSERT_TRUE(cut);
    std::size_t refused = 0;
    for (const Segment& s : cut->segments) refused += s.refused.size();
    EXPECT_EQ(refused, 2u) << "the two events of one append";
    EXPECT_EQ(cut->events(), 3u * length - 2);
    EXPECT_EQ(ordering.make_cut(), std::nullopt);
  }
}

TEST(OrderingAtTheCoordinator, StopsWhenItSeesAnAppendTwice) {
  Ordering ordering(fresh(2), {});
  EXPECT_EQ(ordering.report(report(0, 1, {part(1, {0, 1}, 0)})), Reported::taken);

  EXPECT_EQ(ordering.report(report(0, 2, {part(1, {0, 1}, 0)})), Reported::replaced);
  EXPECT_EQ(ordering.report(report(1, 1, {part(2, {0, 1}, 1), part(2, {0, 1}, 1)})), Reported::replaced);
  EXPECT_EQ(ordering.report(report(1, 1, {part(1, {1, 0}, 1)})), Reported::malformed)
      << "not the append its sibling is of";
}

TEST(OrderingAtTheCoordinator, MakesACutForWhoAsksForOne) {
  Ordering ordering(fresh(2), {});
  ordering.report(report(0, 1, {plain()}));
  static_cast<void>(ordering.make_cut());

  EXPECT_EQ(ordering.report(report(0, 2, {})), Reported::taken);
  EXPECT_EQ(ordering.report(report(1, 1, {}, 0)), Reported::stale);
  const auto cut = ordering.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->number, CutNumber{2});
  EXPECT_EQ(cut->last_position(), GlobalPosition{1});
  EXPECT_EQ(ordering.make_cut(), std::nullopt);
}

TEST(OrderingAtTheCoordinator, GoesOnWhereAnotherEnded) {
  Ordering first(fresh(2), {});
  first.report(report(0, 1, {plain({7})}));
  static_cast<void>(first.make_cut());
  first.report(report(1, 1, {plain({7})}));  // lost with it, and reported again

  OrderState state = first.state();
  state.coordinator = Epoch{2};
  Ordering second(state, {});
  EXPECT_EQ(second.report(report(0, 1, {plain({7}), unless(7, 0), unless(7, 1)})), Reported::taken);
  const auto cut = second.make_cut();

  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->coordinator, Epoch{2});
  EXPECT_EQ(cut->number, CutNumber{2});
  EXPECT_EQ(cut->first_position, GlobalPosition{2});
  EXPECT_THAT(cut->segments, ElementsAre(segment(0, 2, 4, {ShardOffset{2}}))) << "it has no window and pretends none";
}

/// Undecided by nothing of its own, on top of others of its shard.
ReportedAppend on_top_of(std::vector<ShardOffset> bases, std::vector<Term> terms = {1}) {
  return {
      .events = 1, .tentative = true, .conditions = {}, .terms = {terms}, .part = {}, .builds_on = std::move(bases)};
}

TEST(OrderingAtTheCoordinator, RefusesWhatBuildsOnWhatItRefused) {
  Ordering ordering(fresh(1), {});
  ASSERT_EQ(ordering.report(report(0, 1,
                                   {plain({7}), unless(7, 0), on_top_of({ShardOffset{2}}), plain(),
                                    on_top_of({ShardOffset{3}, ShardOffset{2}})})),
            Reported::taken);

  EXPECT_THAT(ordering.make_cut()->segments,
              ElementsAre(segment(0, 1, 6, {ShardOffset{2}, ShardOffset{3}, ShardOffset{5}})));
}

TEST(OrderingAtTheCoordinator, KnowsInLaterCutsWhatItRefused) {
  Ordering ordering(fresh(1), {});
  static_cast<void>(ordering.report(report(0, 1, {plain({7}), unless(7, 0), unless(8, 0)})));
  static_cast<void>(ordering.make_cut());
  static_cast<void>(ordering.report(report(0, 4, {on_top_of({ShardOffset{2}}), on_top_of({ShardOffset{3}})})));

  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(0, 4, 6, {ShardOffset{4}})));
}

TEST(OrderingAtTheCoordinator, RefusesWhatItsNodeSaysIsBuiltOnARefusedOne) {
  Ordering ordering(fresh(1), {});
  static_cast<void>(ordering.report(report(0, 1, {plain(), on_top_of({ShardOffset{0}})})));

  EXPECT_THAT(ordering.make_cut()->segments, ElementsAre(segment(0, 1, 3, {ShardOffset{2}})));
}

TEST(OrderingAtTheCoordinator, RefusesWhatBuildsOnWhatItRemembersNoMore) {
  Ordering ordering(fresh(1), {});
  std::vector<ReportedAppend> many{plain({7})};
  for (std::size_t i = 0; i != Reports::refused_max + 2; ++i) many.push_back(unless(7, 0));
  const auto end = 1 + many.size();
  static_cast<void>(ordering.report(report(0, 1, std::move(many))));
  static_cast<void>(ordering.make_cut());
  static_cast<void>(ordering.report(report(0, end, {on_top_of({ShardOffset{1}}), on_top_of({ShardOffset{2}})})));

  EXPECT_THAT(ordering.make_cut()->segments,
              ElementsAre(segment(0, end, end + 2, {ShardOffset{end}, ShardOffset{end + 1}})));
}

TEST(OrderingAtTheCoordinator, FindsWhatBuildsAndIsNotTentativeMalformed) {
  Ordering ordering(fresh(2), {});
  auto decided = on_top_of({ShardOffset{1}});
  decided.tentative = false;

  EXPECT_EQ(ordering.report(report(0, 1, {decided})), Reported::malformed);
}

TEST(OrderingAtTheCoordinator, RefusesAnAppendOverSeveralShardsOfWhichOnePartBuildsOnARefusedOne) {
  Ordering ordering(fresh(2), {});
  auto here = part(1, {0, 1}, 0);
  here.builds_on = {ShardOffset{2}};
  static_cast<void>(ordering.report(report(0, 1, {plain({7}), unless(7, 0), here})));
  static_cast<void>(ordering.report(report(1, 1, {part(1, {0, 1}, 1)})));

  EXPECT_THAT(ordering.make_cut()->segments,
              ElementsAre(segment(0, 1, 4, {ShardOffset{2}, ShardOffset{3}}), segment(1, 1, 2, {ShardOffset{1}})));
}

}  // namespace
}  // namespace evershard::sharding
