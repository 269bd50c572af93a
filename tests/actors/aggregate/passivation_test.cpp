// Who stays in memory: idle time, the limit of live ones, on request; and that loading never gets stuck.

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard {
namespace {

TEST(Passivation, OfWhoIsIdle) {
  KitWithAccounts kit({.idle_after = 10s});
  must(kit.account("1").ask(Deposit{1}));
  kit.advance(6s);
  must(kit.account("2").ask(Deposit{1}));

  kit.advance(5s);

  EXPECT_EQ(kit.figures().live, 1u) << "the second was asked 5 s ago";
  EXPECT_EQ(kit.figures().counters.passivated, 1u);
  kit.advance(6s);
  EXPECT_EQ(kit.figures().live, 0u);
  EXPECT_EQ(kit.figures().known, 0u) << "a passive aggregate costs nothing";
  EXPECT_EQ(shown(kit.account("1").ask(Look{})), "1");
}

TEST(Passivation, NeverOfWhoIsBusy) {
  KitWithAccounts kit({.idle_after = 1s});
  kit.hold_appends();
  auto pending = kit.account().ask_future(Deposit{1}, {.timeout = 25s});
  kit.advance(20s);
  EXPECT_EQ(kit.figures().live, 1u);

  kit.release_appends();
  kit.run();

  EXPECT_EQ(shown(pending), "1");
  kit.advance(2s);
  EXPECT_EQ(kit.figures().live, 0u);
}

TEST(Passivation, IsOffWhereItIsSaidSo) {
  KitWithAccounts kit({.idle_after = 0s});
  must(kit.account().ask(Deposit{1}));

  kit.advance(1h);

  EXPECT_EQ(kit.figures().live, 1u);
}

TEST(Passivation, KeepsToTheLimit) {
  KitWithAccounts kit({.shards = 1, .live_limit = 10});

  for (int i = 0; i < 100; ++i) must(kit.account(std::to_string(i)).ask(Deposit{i}));

  EXPECT_EQ(kit.figures().live, 10u);
  EXPECT_EQ(kit.figures().counters.evicted, 90u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(shown(kit.account(std::to_string(i)).ask(Look{})), std::to_string(i));
  EXPECT_LE(kit.figures().live, 10u);
}

// Whoever is asked often survives those who pass by once.
TEST(Passivation, SparesWhoIsUsed) {
  KitWithAccounts kit({.shards = 1, .live_limit = 10});
  must(kit.account("hot").ask(Deposit{1}));
  must(kit.account("hot").ask(Deposit{1}));
  const auto loads = [&] { return kit.figures().counters.loads; };
  const auto before = loads();

  for (int i = 0; i < 30; ++i) must(kit.account(std::to_string(i)).ask(Deposit{1}));
  must(kit.account("hot").ask(Look{}));

  EXPECT_EQ(loads() - before, 30u) << "it did not have to be loaded again";
}

TEST(Passivation, NeverEvictsWhoIsBusy) {
  KitWithAccounts kit({.shards = 1, .live_limit = 2});
  kit.hold_appends();
  std::vector<std::future<Answer<Balance>>> pending;
  for (int i = 0; i < 10; ++i) pending.push_back(kit.account(std::to_string(i)).ask_future(Deposit{i}));
  kit.run();
  EXPECT_EQ(kit.figures().live, 10u) << "over the limit, but none of them can go";

  kit.release_appends();
  kit.run();

  for (int i = 0; i < 10; ++i) EXPECT_EQ(shown(pending[static_cast<std::size_t>(i)]), std::to_string(i));
  EXPECT_EQ(kit.figures().live, 2u);
}

// No command is lost between two lives.
TEST(Passivation, OnRequestAnswersWhatWasAskedBeforeAndKeepsWhatComesBehind) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto before = kit.account().ask_future(Deposit{1});
  kit.run();
  kit.account().passivate();
  auto behind = kit.account().ask_future(Deposit{2});
  kit.run();
  EXPECT_EQ(kit.appends_undecided(), 1u) << "what came behind waits for the next life";

  kit.release_appends();
  kit.run();

  EXPECT_EQ(shown(before), "1");
  EXPECT_EQ(shown(behind), "3");
  EXPECT_EQ(kit.figures().counters.passivated, 1u);
  EXPECT_EQ(kit.figures().counters.loads, 2u);
}

// A permit is given back whatever happens to who had it.
TEST(RecoveryPermits, AreNeverLost) {
  KitWithAccounts kit({.shards = 3, .recovery_permits = 1});
  for (int round = 0; round < 5; ++round) {
    kit.fail_next(JournalCall::stream, ErrorCode::io);
    const std::string mine = "p" + std::to_string(round);
    std::vector<std::future<Answer<Balance>>> pending;
    for (int i = 0; i < 6; ++i) pending.push_back(kit.account(mine + std::to_string(i)).ask_future(Look{}));
    const auto cancelled = kit.account(mine + "cancelled").ask_async(Look{}, [](const auto&) {});
    kit.steps(2);
    cancelled.cancel();
    kit.run();
    int answered = 0;
    for (auto& one_of_them : pending) answered += shown(one_of_them) != "-" ? 1 : 0;
    EXPECT_EQ(answered, 6);
  }
}

}  // namespace
}  // namespace evershard
