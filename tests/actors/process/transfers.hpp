// Money that moves between accounts: a process that takes it from one, gives it to the other, and gives it back where
// that one does not take it, or does not answer in time.

#pragma once

#include <chrono>
#include <cstdint>
#include <evershard/aggregate.hpp>
#include <evershard/process.hpp>
#include <sstream>
#include <string>
#include <string_view>

namespace evershard::bank {

using namespace std::chrono_literals;

/// All that is ever said of a transfer, under several names.
template <class Name>
struct Said {
  std::string transfer{"-"};
  std::string from{"-"};
  std::string to{"-"};
  std::int64_t amount = 0;
  friend bool operator==(const Said&, const Said&) = default;
  template <class Other>
  [[nodiscard]] Said<Other> as() const {
    return {transfer, from, to, amount};
  }
};
#define EVERSHARD_SAID(Type, Text)                 \
  struct Type##Name {                              \
    static constexpr std::string_view text = Text; \
  };                                               \
  using Type = Said<Type##Name>
EVERSHARD_SAID(Open, "open");  // commands of accounts
EVERSHARD_SAID(Close, "close");
EVERSHARD_SAID(Debit, "debit");
EVERSHARD_SAID(Credit, "credit");
EVERSHARD_SAID(Refund, "refund");
EVERSHARD_SAID(Opened, "opened");  // their events
EVERSHARD_SAID(Closed, "closed");
EVERSHARD_SAID(Debited, "debited");
EVERSHARD_SAID(Credited, "credited");
EVERSHARD_SAID(Refunded, "refunded");
EVERSHARD_SAID(Request, "request");  // of the desk
EVERSHARD_SAID(Requested, "requested");
EVERSHARD_SAID(Late, "late");        // the process's timer
EVERSHARD_SAID(Started, "started");  // its events
EVERSHARD_SAID(Finished, "finished");
EVERSHARD_SAID(Refused, "refused");
EVERSHARD_SAID(TakenBack, "taken_back");
EVERSHARD_SAID(Reminded, "reminded");
#undef EVERSHARD_SAID

struct AccountState {
  std::int64_t balance = 0;
  bool open = false;
  friend bool operator==(const AccountState&, const AccountState&) = default;
};
struct TransferState {
  std::string from{"-"}, to{"-"}, stage{"-"};
  std::int64_t amount = 0, reminded = 0;
  friend bool operator==(const TransferState&, const TransferState&) = default;
};
struct DeskState {
  std::int64_t requests = 0;
  friend bool operator==(const DeskState&, const DeskState&) = default;
};

template <class... Fields>
std::string joined(const Fields&... fields) {
  std::ostringstream text;
  ((text << fields << ' '), ...);
  return text.str();
}
template <class... Fields>
void split(std::string_view bytes, Fields&... fields) {
  std::istringstream text{std::string(bytes)};
  (static_cast<void>(text >> fields), ...);
  if (!text) throw std::invalid_argument("cannot be read");
}

}  // namespace evershard::bank

template <class Name>
struct evershard::Codec<evershard::bank::Said<Name>> {
  static constexpr std::string_view name = Name::text;
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const bank::Said<Name>& s) { return bank::joined(s.transfer, s.from, s.to, s.amount); }
  static bank::Said<Name> decode(std::string_view bytes) {
    bank::Said<Name> s;
    bank::split(bytes, s.transfer, s.from, s.to, s.amount);
    return s;
  }
};
template <>
struct evershard::Codec<evershard::bank::AccountState> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const bank::AccountState& s) { return bank::joined(s.balance, s.open); }
  static bank::AccountState decode(std::string_view bytes) {
    bank::AccountState s;
    bank::split(bytes, s.balance, s.open);
    return s;
  }
};
template <>
struct evershard::Codec<evershard::bank::TransferState> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const bank::TransferState& s) {
    return bank::joined(s.from, s.to, s.stage, s.amount, s.reminded);
  }
  static bank::TransferState decode(std::string_view bytes) {
    bank::TransferState s;
    bank::split(bytes, s.from, s.to, s.stage, s.amount, s.reminded);
    return s;
  }
};
template <>
struct evershard::Codec<evershard::bank::DeskState> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const bank::DeskState& s) { return bank::joined(s.requests); }
  static bank::DeskState decode(std::string_view bytes) {
    bank::DeskState s;
    bank::split(bytes, s.requests);
    return s;
  }
};

namespace evershard::bank {

inline int credits_that_throw = 0;  ///< so many handlers fail

struct Account {
  static constexpr std::string_view type = "account";
  using State = AccountState;
  using Commands = Types<Open, Close, Debit, Credit, Refund>;
  using Events = Types<Opened, Closed, Debited, Credited, Refunded>;

  static Effect<> on(const State& account, const Open& c) {
    if (account.open) return reject("it is open");
    return persist(c.as<OpenedName>());
  }
  static Effect<> on(const State& account, const Close& c) {
    if (!account.open) return reject("it is closed");
    return persist(c.as<ClosedName>());
  }
  static Effect<> on(const State& account, const Debit& c) {
    if (account.balance < c.amount) return reject("only " + std::to_string(account.balance));
    return persist(c.as<DebitedName>());
  }
  static Effect<> on(const State& account, const Credit& c) {
    if (credits_that_throw > 0) {
      --credits_that_throw;
      throw std::runtime_error("not now");
    }
    if (!account.open) return reject("it is closed");
    return persist(c.as<CreditedName>());
  }
  static Effect<> on(const State&, const Refund& c) { return persist(c.as<RefundedName>()); }

  static void apply(State& account, const Opened& e) {
    account.open = true;
    account.balance += e.amount;
  }
  static void apply(State& account, const Closed&) { account.open = false; }
  static void apply(State& account, const Debited& e) { account.balance -= e.amount; }
  static void apply(State& account, const Credited& e) { account.balance += e.amount; }
  static void apply(State& account, const Refunded& e) { account.balance += e.amount; }
};

struct Desk {
  static constexpr std::string_view type = "desk";
  using State = DeskState;
  using Commands = Types<Request>;
  using Events = Types<Requested>;
  static Effect<> on(const State&, const Request& c) { return persist(c.as<RequestedName>()); }
  static void apply(State& desk, const Requested&) { ++desk.requests; }
};

struct Transfers {
  static constexpr std::string_view type = "transfer";
  using State = TransferState;
  using Reacts = Types<Requested, Debited, Credited>;
  using Timers = Types<Late>;
  using Sends = Types<Debit, Credit>;
  using Events = Types<Started, Finished, bank::Refused, TakenBack, Reminded>;

  template <class Event>
  static std::string key(const Event& event) {
    return event.transfer;
  }

  static Reaction<Transfers> on(const State&, const Requested& e) {
    return react()
        .record(e.as<StartedName>())
        .send<Account>(e.from, e.as<DebitName>())
        .schedule("late", 10min, e.as<LateName>());
  }
  static Reaction<Transfers> on(const State& transfer, const Debited& e) {
    if (transfer.stage != "started") return ignore();
    return react().send<Account>(e.to, e.as<CreditName>());
  }
  static Reaction<Transfers> on(const State&, const Credited& e, const RecordedEvent& at) {
    if (at.aggregate->value != e.to) throw std::logic_error("credited to somebody else");
    return react().record(e.as<FinishedName>()).cancel("late").end();
  }
  static Reaction<Transfers> on(const State&, const Late& timer) { return react().record(timer.as<RemindedName>()); }
  static Reaction<Transfers> on_rejected(const State&, const Debit& command, const Rejected&) {
    return react().record(command.as<RefusedName>()).cancel("late").end();
  }
  static Reaction<Transfers> on_rejected(const State&, const Credit& command, const Rejected& why) {
    if (why.reason != "it is closed") throw std::logic_error("rejected otherwise");
    return react()
        .record(command.as<TakenBackName>())
        .send<Account>(command.from, command.as<RefundName>())
        .cancel("late")
        .end();
  }

  static void apply(State& transfer, const Started& e) { transfer = {e.from, e.to, "started", e.amount, 0}; }
  static void apply(State& transfer, const Finished&) { transfer.stage = "finished"; }
  static void apply(State& transfer, const bank::Refused&) { transfer.stage = "refused"; }
  static void apply(State& transfer, const TakenBack&) { transfer.stage = "taken_back"; }
  static void apply(State& transfer, const Reminded&) { ++transfer.reminded; }
};

}  // namespace evershard::bank
