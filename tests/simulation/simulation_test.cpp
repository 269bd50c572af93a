// The cluster of plain classes under faults: every invariant holds, and each rule that is switched off is missed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "tests/simulation/simulation.hpp"

namespace evershard::simulation {
namespace {

constexpr std::size_t lines_shown = 40;

std::string end_of(const std::vector<std::string>& trace) {
  std::string text;
  for (std::size_t i = trace.size() - std::min(trace.size(), lines_shown); i != trace.size(); ++i)
    text += trace[i] + "\n";
  return text;
}

void expect_every_invariant(const SimulationOutcome& outcome, const SimulationOptions& options) {
  EXPECT_EQ(outcome.invariant, "") << end_of(outcome.trace) << "again: evershard-sim --seed " << options.seed
                                   << " --steps " << options.steps
                                   << (options.links          ? " --links"
                                       : options.real_writers ? " --real"
                                                              : "")
                                   << (options.aggregates ? " --aggregates" : "")
                                   << (options.processes ? " --processes" : "") << " --nodes " << options.nodes
                                   << " --replicas " << options.replicas
                                   << (options.changing_sets ? " --changing-sets" : "")
                                   << (options.row_logs ? " --row-logs" : "") << " --trace";
}

TEST(Simulation, KeepsEveryInvariant) {
  SimulationOutcome all;
  for (std::uint64_t seed = 1; seed != 31; ++seed) {
    const SimulationOptions options{.seed = seed, .steps = 8'000};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::cuts, &SimulationOutcome::placed, &SimulationOutcome::placed_over_several,
                        &SimulationOutcome::placed_conditional, &SimulationOutcome::refused_conditional,
                        &SimulationOutcome::acknowledged, &SimulationOutcome::pages, &SimulationOutcome::reads,
                        &SimulationOutcome::losses, &SimulationOutcome::folds, &SimulationOutcome::crashes,
                        &SimulationOutcome::disk_faults, &SimulationOutcome::leaders, &SimulationOutcome::fences,
                        &SimulationOutcome::coordinators_refused, &SimulationOutcome::jumps}) {
      all.*member += outcome.*member;
    }
  }

  // Not vacuous: everything that can happen did.
  EXPECT_GT(all.cuts, 3'000u);
  EXPECT_GT(all.placed, 10'000u);
  EXPECT_GT(all.placed_over_several, 150u);
  EXPECT_GT(all.placed_conditional, 50u);
  EXPECT_GT(all.refused_conditional, 100u);
  EXPECT_GT(all.acknowledged, 4'000u);
  EXPECT_GT(all.pages, 1'500u);
  EXPECT_GT(all.reads, 250u);
  EXPECT_GT(all.losses, 10u);
  EXPECT_GT(all.folds, 150u);
  EXPECT_GT(all.crashes, 50u);
  EXPECT_GT(all.disk_faults, 10u);
  EXPECT_GT(all.leaders, 75u);
  EXPECT_GT(all.fences, 4u);
  EXPECT_GT(all.coordinators_refused, 2u);
  EXPECT_GT(all.jumps, 25u);
}

TEST(Simulation, KeepsThemWithTheRealWriters) {
  SimulationOutcome all;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 10;  // five times as slow; whether they reach everything is seen without
#else
  constexpr std::uint64_t seeds = 50;  // a writer is fenced in every ninth or so
#endif
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SimulationOptions options{.seed = seed, .steps = 8'000, .real_writers = true};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::placed, &SimulationOutcome::placed_over_several,
                        &SimulationOutcome::placed_conditional, &SimulationOutcome::acknowledged,
                        &SimulationOutcome::refused, &SimulationOutcome::crashes, &SimulationOutcome::leaders,
                        &SimulationOutcome::losses, &SimulationOutcome::disk_faults, &SimulationOutcome::fences}) {
      all.*member += outcome.*member;
    }
  }
  if (seeds < 50) return;
  EXPECT_GT(all.placed, 2'500u);
  EXPECT_GT(all.placed_over_several, 150u);
  EXPECT_GT(all.placed_conditional, 25u);
  EXPECT_GT(all.acknowledged, 1'000u);
  EXPECT_GT(all.refused, 250u);
  EXPECT_GT(all.crashes, 50u);
  EXPECT_GT(all.leaders, 30u);
  EXPECT_GT(all.losses, 10u);
  EXPECT_GT(all.disk_faults, 10u);
  EXPECT_GT(all.fences, 2u);
}

// And aggregates that are loaded from their snapshots, and write the next ones.
TEST(Simulation, KeepsThemOfAggregatesWithSnapshots) {
  SimulationOutcome all;
  for (std::uint64_t seed = 1; seed != 41; ++seed) {
    const SimulationOptions options{.seed = seed, .steps = 8'000, .real_writers = true, .aggregates = true};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::placed, &SimulationOutcome::snapshots, &SimulationOutcome::loads,
                        &SimulationOutcome::loads_from_snapshots, &SimulationOutcome::loads_refused,
                        &SimulationOutcome::crashes, &SimulationOutcome::losses, &SimulationOutcome::disk_faults}) {
      all.*member += outcome.*member;
    }
  }
  EXPECT_GT(all.placed, 2'500u);
  EXPECT_GT(all.snapshots, 150u);
  EXPECT_GT(all.loads, 6'000u);
  EXPECT_GT(all.loads_from_snapshots, 2'000u);
  EXPECT_GT(all.loads_refused, 400u);
  EXPECT_GT(all.crashes, 100u);
  EXPECT_GT(all.losses, 20u);
  EXPECT_GT(all.disk_faults, 20u);
}

// A kept cut was applied behind folded ones of a shard's own: readers up to that one were not told that events before
// it are lost.
TEST(Simulation, TellsOfALossThatBeganBeforeItWasNoticed) {
  const SimulationOptions options{.seed = 534, .steps = 8'000, .real_writers = true, .aggregates = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// A disk was emptied, and the cuts with what it lost were folded: the loss was remembered as one of no positions.
TEST(Simulation, TellsOfALossAmongCutsThatWereFolded) {
  const SimulationOptions options{.seed = 4'388, .steps = 8'000, .real_writers = true, .aggregates = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// A node was away, and its shard another's by then: the cut with its own opening was kept for it, the other's opening
// was folded.
TEST(Simulation, OpensNoShardUnderAnEpochThatIsOver) {
  const SimulationOptions options{.seed = 2'679, .steps = 8'000, .real_writers = true, .aggregates = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// A loss was accepted while a put was under way; by its end an old copy of the disk was there, which had all of it, and
// the cut with the loss opened the shard for that as for one that had lost nothing.
TEST(Simulation, BringsBackNothingThatWasGivenUp) {
  const SimulationOptions options{.seed = 5'326, .steps = 8'000, .real_writers = true, .aggregates = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// Who had been replaced sent a checkpoint, nothing behind it, and word that there was more: the node that took it
// ended.
TEST(Simulation, TakesACheckpointWithoutCutsFromWhoWasReplaced) {
  const SimulationOptions options{.seed = 721'014, .steps = 8'000};

  expect_every_invariant(Simulation(options).run(), options);
}

// An old copy that caught up in short answers said hello behind a kept cut and before the checkpoint: what was folded
// before that cut was taken for held, and too little was named as lost.
TEST(Simulation, NamesAllThatAnOldCopyLacksInTheMiddleOfAnAnswer) {
  const SimulationOptions options{.seed = 720'798, .steps = 8'000, .real_writers = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// What an operator gave up is asked for again by a message that was two seconds under way: nobody knows it any more,
// and it is done anew.
TEST(Simulation, DoesAnewWhatWasGivenUp) {
  const SimulationOptions options{.seed = 3'300'334, .steps = 8'000};

  expect_every_invariant(Simulation(options).run(), options);
}

// The same over the product's link sessions, whose bytes are most of the steps.
TEST(Simulation, KeepsThemOverLinks) {
  SimulationOutcome all;
  for (std::uint64_t seed = 1; seed != 13; ++seed) {
    const SimulationOptions options{.seed = seed, .steps = 30'000, .real_writers = true, .links = true};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::placed, &SimulationOutcome::placed_over_several,
                        &SimulationOutcome::acknowledged, &SimulationOutcome::refused, &SimulationOutcome::crashes,
                        &SimulationOutcome::leaders, &SimulationOutcome::losses, &SimulationOutcome::clocks}) {
      all.*member += outcome.*member;
    }
    using Counts = Letters::Counts;
    for (auto member : {&Counts::sessions, &Counts::refused, &Counts::silent, &Counts::unknown, &Counts::not_sent,
                        &Counts::waited, &Counts::handled})
      all.letters.*member += outcome.letters.*member;
  }
  EXPECT_GT(all.placed, 1'250u);
  EXPECT_GT(all.placed_over_several, 60u);
  EXPECT_GT(all.acknowledged, 500u);
  EXPECT_GT(all.refused, 250u);
  EXPECT_GT(all.crashes, 50u);
  EXPECT_GT(all.leaders, 25u);
  EXPECT_GT(all.losses, 1u);
  EXPECT_GT(all.clocks, 60u);
  EXPECT_GT(all.letters.sessions, 400u);
  EXPECT_GT(all.letters.refused, 40u);
  EXPECT_GT(all.letters.silent, 10u);
  EXPECT_GT(all.letters.unknown, 600u);
  EXPECT_GT(all.letters.not_sent, 1'000u);
  EXPECT_GT(all.letters.waited, 4'000u);
  EXPECT_GT(all.letters.handled, 20'000u);
}

// Nodes host the product's aggregates, and run timers, scheduled appends and a process over them.
TEST(Simulation, DoesOnceWhatFollowsFromEvents) {
  SimulationOutcome all;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 4;  // as above
#else
  constexpr std::uint64_t seeds = 12;
#endif
  std::vector<std::uint64_t> played;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) played.push_back(seed);
  for (const std::uint64_t seed : {20, 36, 37, 227})  // in some of these who lost the process has it again
    played.push_back(seed);
  for (const auto seed : played) {
    const SimulationOptions options{
        .seed = seed, .steps = 8'000, .real_writers = true, .processes = true, .replicas = seed % 2 == 0 ? 3u : 1u};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member :
         {&SimulationOutcome::fired, &SimulationOutcome::by_calendar, &SimulationOutcome::overtaken,
          &SimulationOutcome::made, &SimulationOutcome::cancelled, &SimulationOutcome::taken_over,
          &SimulationOutcome::payments, &SimulationOutcome::taken_back, &SimulationOutcome::refused_payments,
          &SimulationOutcome::performed, &SimulationOutcome::crashes, &SimulationOutcome::clocks})
      all.*member += outcome.*member;
  }
  if (seeds < 12) return;
  EXPECT_GT(all.fired, 300u);
  EXPECT_GT(all.by_calendar, 60u);
  EXPECT_GT(all.overtaken, 10u);
  EXPECT_GT(all.made, 60u);
  EXPECT_GT(all.cancelled, 5u);
  EXPECT_GT(all.taken_over, 12u);
  EXPECT_GT(all.payments, 60u);
  EXPECT_GT(all.taken_back, 30u);
  EXPECT_GT(all.refused_payments, 30u);
  EXPECT_GT(all.performed, 60u);
  EXPECT_GT(all.crashes, 20u);
  EXPECT_GT(all.clocks, 60u);
}

// Each shard is kept by several nodes: a minority of the disks may be lost, and nobody accepts a loss.
TEST(Simulation, KeepsThemWithReplicas) {
  SimulationOutcome all;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 4;  // as above
#else
  constexpr std::uint64_t seeds = 24;
#endif
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const bool five = seed % 4 == 3;
    const std::uint32_t replicas = seed % 8 == 7 ? 5 : seed % 4 == 2 ? 2 : 3;
    const SimulationOptions options{
        .seed = seed, .steps = 20'000, .real_writers = true, .nodes = five ? 5u : 3u, .replicas = replicas};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::placed, &SimulationOutcome::acknowledged, &SimulationOutcome::crashes,
                        &SimulationOutcome::leaders, &SimulationOutcome::disk_faults, &SimulationOutcome::histories,
                        &SimulationOutcome::shipped, &SimulationOutcome::read_behind, &SimulationOutcome::follows,
                        &SimulationOutcome::taken_off, &SimulationOutcome::losses, &SimulationOutcome::ghosts,
                        &SimulationOutcome::ghosts_unheard, &SimulationOutcome::counted_again})
      all.*member += outcome.*member;
  }
  if (seeds < 24) return;
  EXPECT_GT(all.ghosts, 2u);
  EXPECT_GT(all.ghosts_unheard, 5u);
  EXPECT_GT(all.counted_again, 5u);
  EXPECT_GT(all.placed, 1'500u);
  EXPECT_GT(all.acknowledged, 500u);
  EXPECT_GT(all.crashes, 150u);
  EXPECT_GT(all.leaders, 50u);
  EXPECT_GT(all.disk_faults, 5u);
  EXPECT_GT(all.histories, 10u);
  EXPECT_GT(all.shipped, 2'500u);
  EXPECT_GT(all.read_behind, 1'000u);
  EXPECT_GT(all.follows, 400u);
  EXPECT_GT(all.taken_off, 250u);
  EXPECT_EQ(all.losses, 0u);
}

// Who keeps what changes all the time: nodes learn shards, leave them, are gone for good and come back.
TEST(Simulation, KeepsThemWithSetsThatChange) {
  SimulationOutcome all;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 4;  // as above
#else
  constexpr std::uint64_t seeds = 12;
#endif
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SimulationOptions options{.seed = seed,
                                    .steps = 20'000,
                                    .real_writers = true,
                                    .nodes = static_cast<std::uint32_t>(4 + seed % 3),
                                    .replicas = 3,
                                    .changing_sets = true};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member : {&SimulationOutcome::placed, &SimulationOutcome::acknowledged, &SimulationOutcome::learned,
                        &SimulationOutcome::follows, &SimulationOutcome::losses})
      all.*member += outcome.*member;
  }
  if (seeds < 12) return;
  EXPECT_GT(all.placed, 750u);
  EXPECT_GT(all.acknowledged, 350u);
  EXPECT_GT(all.learned, 10u);
  EXPECT_EQ(all.losses, 0u);
}

// Writers keep states beside the journal, as groups do. One may die with some that nobody else has.
TEST(Simulation, KeepsThemWithRowLogs) {
  SimulationOutcome all;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 4;  // as above
#else
  constexpr std::uint64_t seeds = 24;
#endif
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const bool changes = seed % 3 == 0;
    const SimulationOptions options{.seed = seed,
                                    .steps = 20'000,
                                    .real_writers = true,
                                    .nodes = changes || seed % 4 == 1 ? 5u : 3u,
                                    .replicas = seed % 4 == 1 && !changes ? 5u : 3u,
                                    .changing_sets = changes,
                                    .row_logs = true};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
    if (HasFailure()) return;
    for (auto member :
         {&SimulationOutcome::settled, &SimulationOutcome::settled_answered, &SimulationOutcome::rows_asked,
          &SimulationOutcome::rows_asked_late, &SimulationOutcome::disk_faults, &SimulationOutcome::learned})
      all.*member += outcome.*member;
  }
  if (seeds < 24) return;
  EXPECT_GT(all.settled, 500u);
  EXPECT_GT(all.settled_answered, 250u);
  EXPECT_GT(all.rows_asked, 25u);
  EXPECT_GT(all.rows_asked_late, 5u);
  EXPECT_GT(all.disk_faults, 3u);
  EXPECT_GT(all.learned, 3u);
}

// A writer had counted who an earlier coordinator had named, under a higher number than the next one counts with.
TEST(Simulation, CountsAnewWhomTheNextCoordinatorNames) {
  const SimulationOptions options{
      .seed = 84, .steps = 20'000, .real_writers = true, .nodes = 3, .replicas = 3, .row_logs = true};
  const auto outcome = Simulation(options).run();
  expect_every_invariant(outcome, options);
}

// An operator gave a shard away and back while one cut was being put: its writer has to begin anew behind both.
TEST(Simulation, OpensAShardThatOneCutGivesTwice) {
  const SimulationOptions options{.seed = 223, .steps = 8'000, .real_writers = true};

  expect_every_invariant(Simulation(options).run(), options);
}

// Who writes was said by a cut that was folded, and heard of before; the cuts up to the checkpoint came one by one: the
// former writer never followed, and had no say in any quorum.
TEST(Simulation, FollowsWhomOnlyAFoldedCutNamed) {
  const SimulationOptions options{.seed = 2'009'103, .steps = 8'000, .real_writers = true, .nodes = 3, .replicas = 3};

  expect_every_invariant(Simulation(options).run(), options);
}

// A shard was moved to a node that was removed: it was given and taken for ever.
TEST(Simulation, ComesToRestWhereAMoveGoesToANodeThatIsRemoved) {
  const SimulationOptions options{
      .seed = 920'591, .steps = 8'000, .real_writers = true, .nodes = 5, .replicas = 3, .changing_sets = true};

  expect_every_invariant(Simulation(options).run(), options);
}

TEST(Simulation, KeepsThemWithSeedsNobodyTried) {
  std::random_device fresh;
  for (int i = 0; i != 10; ++i) {
    const bool links = i % 5 == 4, aggregates = i % 5 >= 3;
    const SimulationOptions options{.seed = fresh(),
                                    .steps = links ? 30'000u : 8'000u,
                                    .real_writers = aggregates || i % 2 == 1,
                                    .links = links,
                                    .aggregates = aggregates};
    const auto outcome = Simulation(options).run();
    expect_every_invariant(outcome, options);
  }
}

TEST(Simulation, IsTheSameWithTheSameSeed) {
  for (const bool links : {false, true}) {
    const SimulationOptions options{.seed = 7, .steps = 3'000, .real_writers = links, .links = links};

    EXPECT_EQ(Simulation(options).run().trace, Simulation(options).run().trace);
  }
}

class SwitchedOff : public testing::TestWithParam<Mutant> {};

// The invariants that a rule's absence breaks. Some show first as a refusal that the real rules never give.
TEST_P(SwitchedOff, IsMissed) {
  constexpr std::uint64_t seeds_max = 150;
  for (std::uint64_t seed = GetParam().seed; seed != GetParam().seed + seeds_max; ++seed) {
    const auto outcome = Simulation({.seed = seed,
                                     .steps = GetParam().steps,
                                     .off = GetParam().off,
                                     .real_writers = GetParam().real_writers,
                                     .links = GetParam().links,
                                     .aggregates = GetParam().aggregates,
                                     .processes = GetParam().processes,
                                     .nodes = GetParam().changing_sets ? 5u : 3u,
                                     .replicas = GetParam().replicas,
                                     .changing_sets = GetParam().changing_sets,
                                     .row_logs = GetParam().row_logs})
                             .run();
    if (outcome.invariant.empty()) continue;
    std::printf("%.*s: seed %ju, %s\n", static_cast<int>(GetParam().name.size()), GetParam().name.data(),
                static_cast<std::uintmax_t>(seed), outcome.what.c_str());
    EXPECT_TRUE(outcome.invariant.starts_with("I-"));
    return;
  }
  ADD_FAILURE() << "nobody noticed";
}

INSTANTIATE_TEST_SUITE_P(Rule, SwitchedOff, testing::ValuesIn(mutants),
                         [](const auto& mutant) { return std::string(mutant.param.name); });

}  // namespace
}  // namespace evershard::simulation
