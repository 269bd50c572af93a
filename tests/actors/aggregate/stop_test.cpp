// An orderly end: everybody is told, whatever is under way; and nothing is taken any more.

#include "tests/actors/aggregate/kit_looks.hpp"

#include "evershard/actors/kit/kit_journal.hpp"

namespace evershard {
namespace {

TEST(Stopping, TellsEverybodyWithFullStashes) {
  KitWithAccounts kit({.recovery_permits = 1}, {.stash_limit = 50});
  must(kit.account("sent").ask(Deposit{1}));
  kit.hold_appends();
  std::vector<std::future<Answer<Balance>>> pending;
  for (int i = 0; i < 60; ++i) {
    pending.push_back(kit.account("sent").ask_future(Deposit{1}));
    pending.push_back(kit.account("loading").ask_future(Look{}));
    pending.push_back(kit.account("later" + std::to_string(i)).ask_future(Book{1}));
  }
  kit.steps(12);  // some are sent, some loading, some wanting a permit, some not even looked at

  kit.stop();

  std::map<std::string, int> count;
  for (auto& one_of_them : pending) ++count[shown(one_of_them)];
  EXPECT_EQ(count["-"], 0) << "nobody waits for nothing";
  EXPECT_GT(count["unavailable"], 60);
  EXPECT_GT(count["timeout"], 0) << "what was sent, and did not come back";
  EXPECT_EQ(kit.events().size(), 1u);
  EXPECT_EQ(shown(kit.account("sent").ask(Look{})), "unavailable");
}

TEST(Stopping, WaitsForWhatIsSent) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto sent = kit.account().ask_future(Deposit{1});
  auto looked = kit.account().ask_future(Look{});
  kit.run();
  kit.release_appends();

  kit.stop();

  EXPECT_EQ(shown(sent), "1");
  EXPECT_EQ(shown(looked), "1") << "decided already, and what it saw is durable";
}

TEST(Stopping, IsForGoodAndHarmlessTwice) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}));
  kit.stop();
  kit.stop();
  kit.crash();
  EXPECT_FALSE(kit.run());

  kit.restart();

  EXPECT_EQ(shown(kit.account().ask(Look{})), "1");
}

struct Another : SmallBank {
  static constexpr std::string_view type = "another";
};

// The host itself, when somebody still holds it.
TEST(StoppedHost, RefusesEverythingAtOnce) {
  actors::KitJournal journal({.queued = false});
  actors::AggregateHost host(journal, 4, {.deterministic = true});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  auto account = door.get<SmallBank>("1");
  EXPECT_EQ(shown(account.ask(Deposit{1})), "1");

  host.stop();
  host.stop();
  auto later = account.ask_future(Deposit{1});
  const auto asking =
      account.ask_async(Deposit{1}, [](const auto& answer) { EXPECT_EQ(shown(answer), "unavailable"); });
  asking.cancel();

  EXPECT_EQ(shown(later), "unavailable");
  EXPECT_EQ(shown(account.ask(Deposit{1})), "unavailable");
  EXPECT_EQ(account.state().error().code, ErrorCode::unavailable);
  EXPECT_EQ(account.state(StateRead::eventual).error().code, ErrorCode::unavailable);
  EXPECT_EQ(account.state_at(GlobalPosition{1}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(account.snapshot().error().code, ErrorCode::unavailable);
  account.passivate();
  EXPECT_EQ(door.host<Another>().error().code, ErrorCode::unavailable);
  EXPECT_THAT(journal.events(), SizeIs(1));
}

}  // namespace
}  // namespace evershard
