#include "examples/bank_account/bank_account.hpp"

#include <gtest/gtest.h>
#include <evershard/test_kit.hpp>

namespace {

using evershard::TestKit;

bank::OpenAccount open(std::string owner, std::int64_t overdraft = 0) {
  bank::OpenAccount command;
  command.set_owner(std::move(owner));
  command.set_overdraft(overdraft);
  return command;
}
bank::AccountOpened opened(std::string owner, std::int64_t overdraft = 0) {
  bank::AccountOpened event;
  event.set_owner(std::move(owner));
  event.set_overdraft(overdraft);
  return event;
}
bank::AccountClosed closed(std::int64_t paid_out) {
  bank::AccountClosed event;
  event.set_paid_out(paid_out);
  return event;
}
bank::MoneyMoved moved(std::int64_t euros) {
  bank::MoneyMoved event;
  event.set_euros(euros);
  return event;
}
template <class Message>
Message of(std::int64_t amount) {
  Message message;
  message.set_amount(amount);
  return message;
}

TEST(BankAccount, OpensOnce) {
  TestKit<BankAccount> kit;

  kit.given().when(open("ann")).then(opened("ann")).tagged(0, {"owner:ann"}).replied(of<bank::Balance>(0));
  kit.given(opened("ann")).when(open("bob")).rejected("the account is open already").then();
  kit.given().when(open("")).rejected("an account needs an owner");
}

TEST(BankAccount, TakesAndGivesMoney) {
  TestKit<BankAccount> kit;

  kit.given(opened("ann")).when(of<bank::Deposit>(100)).then(of<bank::Deposited>(100)).replied(of<bank::Balance>(100));
  kit.when(of<bank::Withdraw>(30)).then(of<bank::Withdrawn>(30)).replied(of<bank::Balance>(70));
  kit.when(bank::GetBalance{}).then().replied(of<bank::Balance>(70));
  kit.when(of<bank::Withdraw>(71)).rejected("insufficient funds").then();
}

TEST(BankAccount, GoesBelowZeroAsFarAsAgreed) {
  TestKit<BankAccount> kit;

  kit.given(opened("ann", 50))
      .when(of<bank::Withdraw>(50))
      .then(of<bank::Withdrawn>(50))
      .replied(of<bank::Balance>(-50));
  kit.when(of<bank::Withdraw>(1)).rejected("insufficient funds");
  kit.when(bank::CloseAccount{}).rejected("the account is overdrawn");
}

TEST(BankAccount, RefusesWhatIsNoAmount) {
  TestKit<BankAccount> kit;

  kit.given(opened("ann")).when(of<bank::Deposit>(0)).rejected("the amount must be positive");
  kit.when(of<bank::Withdraw>(-1)).rejected("the amount must be positive");
}

TEST(BankAccount, PaysOutAndClosesAsOneUnit) {
  TestKit<BankAccount> kit;

  kit.given(opened("ann"), of<bank::Deposited>(70))
      .when(bank::CloseAccount{})
      .then(of<bank::Withdrawn>(70), closed(70))
      .replied(of<bank::Balance>(0));
  kit.when(bank::CloseAccount{}).then().replied(of<bank::Balance>(0));
  kit.when(of<bank::Deposit>(1)).rejected("the account is not open");
  kit.given(opened("ann")).when(bank::CloseAccount{}).then(closed(0));
}

TEST(BankAccount, StillReadsItsFirstYear) {
  TestKit<BankAccount> kit;

  kit.given(opened("ann"), moved(3), moved(-1), of<bank::Deposited>(5))
      .when(bank::GetBalance{})
      .replied(of<bank::Balance>(205));
}

}  // namespace
