// SealedBank: an account whose money, and whose state, is Ada's affair.

#pragma once

#include <string>
#include <string_view>

#include "tests/actors/aggregate/small_bank.hpp"

namespace evershard {

struct SealedBank {
  static constexpr std::string_view type = "account";
  static constexpr std::uint32_t schema_revision = 1;
  static constexpr Retention retention{.snapshot_every = 3, .replayed_max = 0, .keep = 2};
  using State = small::Account;
  using Commands = Types<small::Deposit, small::Look>;
  using Events = Types<small::Deposited>;
  static small::Balance balance(const State& account) { return {account.balance}; }
  static Effect<small::Balance> on(const State&, const small::Deposit& c) {
    return persist(small::Deposited{c.n}).reply(&balance);
  }
  static small::Balance on(const State& account, const small::Look&) { return balance(account); }
  static void apply(State& account, const small::Deposited& e) {
    account.balance += e.n;
    ++account.events;
  }
  static std::string subject(const small::Deposited&) { return "ada"; }
  static std::string subject(const State&) { return "ada"; }
};

}  // namespace evershard
