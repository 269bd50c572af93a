// A bank account: the smallest aggregate that is worth having. Plain functions: no base class, no macro, no runtime.

#pragma once

#include <evershard/aggregate.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "examples/bank_account/bank.pb.h"

struct BankAccount {
  static constexpr std::string_view type = "bank_account";  // the first half of its ids: bank_account-4711
  using State = bank::Account;
  using Commands =
      evershard::Types<bank::OpenAccount, bank::Deposit, bank::Withdraw, bank::CloseAccount, bank::GetBalance>;
  using Events = evershard::Types<bank::AccountOpened, bank::Deposited, bank::Withdrawn, bank::AccountClosed>;

  // Deciding. A handler looks at the state and the command, and says what has happened, or no. It changes nothing.

  static evershard::Effect<bank::Balance> on(const State& account, const bank::OpenAccount& command) {
    if (account.open()) return evershard::reject("the account is open already");
    if (command.owner().empty()) return evershard::reject("an account needs an owner");
    bank::AccountOpened opened;
    opened.set_owner(command.owner());
    opened.set_overdraft(command.overdraft());
    return evershard::persist(opened).reply(balance);
  }

  static evershard::Effect<bank::Balance> on(const State& account, const bank::Deposit& command) {
    if (!account.open()) return evershard::reject("the account is not open");
    if (command.amount() <= 0) return evershard::reject("the amount must be positive");
    bank::Deposited deposited;
    deposited.set_amount(command.amount());
    return evershard::persist(deposited).reply(
        balance);  // from the state after the event, sent when the event is durable
  }

  static evershard::Effect<bank::Balance> on(const State& account, const bank::Withdraw& command) {
    if (!account.open()) return evershard::reject("the account is not open");
    if (command.amount() <= 0) return evershard::reject("the amount must be positive");
    if (command.amount() > account.balance() + account.overdraft()) return evershard::reject("insufficient funds");
    bank::Withdrawn withdrawn;
    withdrawn.set_amount(command.amount());
    return evershard::persist(withdrawn).reply(balance);
  }

  // Two events, one atomic unit; closing twice is not an error, and writes nothing.
  static evershard::Effect<bank::Balance> on(const State& account, const bank::CloseAccount&) {
    if (!account.open()) return evershard::reply(balance);
    if (account.balance() < 0) return evershard::reject("the account is overdrawn");
    bank::AccountClosed closed;
    closed.set_paid_out(account.balance());
    if (account.balance() == 0) return evershard::persist(closed).reply(balance);
    bank::Withdrawn rest;
    rest.set_amount(account.balance());
    return evershard::persist(rest, closed).reply(balance);
  }

  // Returns its reply itself, so it is a query: it cannot persist anything.
  static bank::Balance on(const State& account, const bank::GetBalance&) { return balance(account); }

  // Applying. What has happened cannot be refused; the same events give the same state, today and in ten years.

  static void apply(State& account, const bank::AccountOpened& event) {
    account.set_open(true);
    account.set_owner(event.owner());
    account.set_overdraft(event.overdraft());
  }
  static void apply(State& account, const bank::Deposited& event) {
    account.set_balance(account.balance() + event.amount());
  }
  static void apply(State& account, const bank::Withdrawn& event) {
    account.set_balance(account.balance() - event.amount());
  }
  static void apply(State& account, const bank::AccountClosed&) { account.set_open(false); }

  // All that follows is optional.

  // By which others find events, on whatever shard they are: read({.tags = {"owner:ann"}}).
  static std::vector<evershard::Tag> tags(const bank::AccountOpened& event) { return {"owner:" + event.owner()}; }

  // What events of an older shape mean today.
  using OldEvents = evershard::Types<bank::MoneyMoved>;
  static std::variant<bank::Deposited, bank::Withdrawn> upcast(const bank::MoneyMoved& old) {
    if (old.euros() < 0) {
      bank::Withdrawn withdrawn;
      withdrawn.set_amount(-old.euros() * 100);
      return withdrawn;
    }
    bank::Deposited deposited;
    deposited.set_amount(old.euros() * 100);
    return deposited;
  }

  static constexpr evershard::Retention retention{.snapshot_every = 100};
  static constexpr std::uint32_t schema_revision = 1;  // of State: snapshots of another revision are replayed, not read

  static bank::Balance balance(const State& account) {
    bank::Balance balance;
    balance.set_amount(account.balance());
    return balance;
  }
};
