// The account under the runtime's own actors, in a world where the journal fails and the process dies when the test
// says so.

#include "examples/bank_account/bank_account.hpp"

#include <gtest/gtest.h>
#include <evershard/actor_kit.hpp>

#include <chrono>
#include <future>

namespace {

using namespace std::chrono_literals;
using evershard::ActorKit;
using evershard::ErrorCode;
using Answer = evershard::Answer<bank::Balance>;

template <class Message>
Message of(std::int64_t amount) {
  Message message;
  message.set_amount(amount);
  return message;
}

/// Ann's account, open, with 100 in it.
struct BankAccountActor : ::testing::Test {
  BankAccountActor() {
    EXPECT_TRUE(kit.host<BankAccount>());
    bank::OpenAccount open;
    open.set_owner("ann");
    EXPECT_TRUE(ann.ask(open, {.command_id = "open"}));
    EXPECT_TRUE(ann.ask(of<bank::Deposit>(100), {.command_id = "first"}));
  }
  std::int64_t balance() { return ann.ask(bank::GetBalance{})->amount(); }
  /// What is not there by now would never come: nothing happens but what the test makes happen.
  static Answer told(std::future<Answer>& future) {
    return heard(future) ? future.get() : Answer(evershard::AnyAnswer::failed({ErrorCode::cancelled, "no answer"}));
  }
  static bool heard(const std::future<Answer>& future) { return future.wait_for(0s) == std::future_status::ready; }

  ActorKit kit;
  evershard::AggregateRef<BankAccount> ann = kit.get<BankAccount>("ann");
};

TEST_F(BankAccountActor, TellsNobodyWhatIsNotWritten) {
  kit.hold_appends();
  auto withdrawal = ann.ask_future(of<bank::Withdraw>(60));
  auto too_much = ann.ask_future(of<bank::Withdraw>(60));
  auto look = ann.ask_future(bank::GetBalance{});
  kit.run();

  EXPECT_FALSE(heard(withdrawal));
  EXPECT_FALSE(heard(too_much)) << "it was refused because of money that is not gone for good yet";
  EXPECT_FALSE(heard(look));

  kit.release_appends();
  kit.run();
  EXPECT_EQ(told(withdrawal)->amount(), 40);
  EXPECT_EQ(told(too_much).rejection(), "insufficient funds");
  EXPECT_EQ(told(look)->amount(), 40);
}

TEST_F(BankAccountActor, DecidesAgainWhenTheWriteBeforeItFailed) {
  kit.fail_next_append(evershard::Fault::refused, ErrorCode::overloaded);
  auto withdrawal = ann.ask_future(of<bank::Withdraw>(60));
  auto another = ann.ask_future(of<bank::Withdraw>(60));
  kit.run();

  EXPECT_EQ(told(withdrawal).error().code, ErrorCode::overloaded);
  kit.advance(10ms);  // the pause before the next try
  ASSERT_TRUE(heard(another));
  EXPECT_EQ(told(another)->amount(), 40) << "the first was never written, so there is money for the second";
}

TEST_F(BankAccountActor, CarriesOutACommandOnceWhateverIsLost) {
  kit.fail_next_append(evershard::Fault::lost_written);
  const Answer unheard = ann.ask(of<bank::Deposit>(5), {.command_id = "slip-7"});
  const Answer again = ann.ask(of<bank::Deposit>(5), {.command_id = "slip-7"});

  EXPECT_EQ(unheard.error().code, ErrorCode::timeout) << "it may be written, or not: the account does not guess";
  ASSERT_TRUE(again);
  EXPECT_TRUE(again.duplicate());
  EXPECT_EQ(again->amount(), 105);
  EXPECT_EQ(balance(), 105);
}

TEST_F(BankAccountActor, LivesThroughACrash) {
  kit.hold_appends();
  auto unwritten = ann.ask_future(of<bank::Deposit>(5), {.command_id = "slip-7"});
  kit.run();
  kit.crash();
  kit.restart();
  kit.release_appends();

  EXPECT_FALSE(heard(unwritten));
  EXPECT_EQ(balance(), 100);
  EXPECT_FALSE(ann.ask(of<bank::Deposit>(5), {.command_id = "slip-7"}).duplicate());
  EXPECT_TRUE(ann.ask(of<bank::Deposit>(100), {.command_id = "first"}).duplicate())
      << "what was answered before is known";
  EXPECT_EQ(balance(), 105);
}

TEST_F(BankAccountActor, NoticesThatSomebodyElseHasWritten) {
  auto written = kit.append_from_outside(
      evershard::Append{}.event("bank_account-ann", "bank.Withdrawn", of<bank::Withdrawn>(90).SerializeAsString()));
  ASSERT_TRUE(written);

  const Answer refused = ann.ask(of<bank::Deposit>(1));
  ASSERT_TRUE(refused) << "it lost the race, loaded again and decided again";
  EXPECT_EQ(refused->amount(), 11);
  EXPECT_EQ(ann.ask(of<bank::Withdraw>(12)).rejection(), "insufficient funds");
}

TEST_F(BankAccountActor, IsForgottenAndComesBackFromItsSnapshotAndEvents) {
  ASSERT_TRUE(ann.snapshot());
  EXPECT_TRUE(ann.ask(of<bank::Deposit>(1)));
  kit.advance(61s);
  EXPECT_EQ(kit.figures().live, 0u);

  EXPECT_EQ(balance(), 101);
  EXPECT_EQ(kit.figures().counters.snapshots_used, 1u);

  // One that cannot be read is passed over; the events say the same.
  EXPECT_EQ(kit.damage_snapshot(ann.id()), 1u);
  ann.passivate();
  EXPECT_EQ(balance(), 101);
}

}  // namespace
