// SmallBank: an account with everything that can go wrong in one, its types plain structs of text.

#pragma once

#include <cstdint>
#include <evershard/aggregate.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace evershard::small {

/// A number with a name: most of what is said of an account.
template <class Name>
struct Number {
  std::int64_t n = 0;
  friend bool operator==(const Number&, const Number&) = default;
};

using Deposit = Number<struct DepositName>;
using Withdraw = Number<struct WithdrawName>;
using DepositTwice = Number<struct DepositTwiceName>;      ///< two events
using DepositAndSnap = Number<struct DepositAndSnapName>;  ///< with a snapshot
using Touch = Number<struct TouchName>;                    ///< changes nothing, and is no query
using Look = Number<struct LookName>;                      ///< a query
using Break = Number<struct BreakName>;  ///< 1: the handler throws, 2: apply does, 3: what makes the reply does
using Tell = Number<struct TellName>;    ///< an event, and a reply of so many bytes
using Claim = Number<struct ClaimName>;  ///< an event, if nobody claimed this number before
using Book = Number<struct BookName>;    ///< an event, if fewer than so many were booked anywhere

using Deposited = Number<struct DepositedName>;
using Withdrawn = Number<struct WithdrawnName>;
using Broken = Number<struct BrokenName>;
using Claimed = Number<struct ClaimedName>;
using Booked = Number<struct BookedName>;

using Balance = Number<struct BalanceName>;

struct DepositName {
  static constexpr std::string_view text = "deposit";
};
struct WithdrawName {
  static constexpr std::string_view text = "withdraw";
};
struct DepositTwiceName {
  static constexpr std::string_view text = "deposit_twice";
};
struct DepositAndSnapName {
  static constexpr std::string_view text = "deposit_and_snap";
};
struct TouchName {
  static constexpr std::string_view text = "touch";
};
struct LookName {
  static constexpr std::string_view text = "look";
};
struct BreakName {
  static constexpr std::string_view text = "break";
};
struct TellName {
  static constexpr std::string_view text = "tell";
};
struct ClaimName {
  static constexpr std::string_view text = "claim";
};
struct BookName {
  static constexpr std::string_view text = "book";
};
struct DepositedName {
  static constexpr std::string_view text = "deposited";
};
struct WithdrawnName {
  static constexpr std::string_view text = "withdrawn";
};
struct BrokenName {
  static constexpr std::string_view text = "broken";
};
struct ClaimedName {
  static constexpr std::string_view text = "claimed";
};
struct BookedName {
  static constexpr std::string_view text = "booked";
};
struct BalanceName {
  static constexpr std::string_view text = "balance";
};

struct Account {
  std::int64_t balance = 0;
  std::int64_t events = 0;
};
struct Story {
  std::string text;
};

}  // namespace evershard::small

template <class Name>
struct evershard::Codec<evershard::small::Number<Name>> {
  static constexpr std::string_view name = Name::text;
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const small::Number<Name>& number) { return std::to_string(number.n); }
  static small::Number<Name> decode(std::string_view bytes) { return {std::stoll(std::string(bytes))}; }
};
template <>
struct evershard::Codec<evershard::small::Account> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const small::Account& account) {
    return std::to_string(account.balance) + "/" + std::to_string(account.events);
  }
  static small::Account decode(std::string_view bytes) {
    const auto slash = bytes.find('/');
    if (slash == std::string_view::npos) throw std::invalid_argument("no account");
    return {std::stoll(std::string(bytes.substr(0, slash))), std::stoll(std::string(bytes.substr(slash + 1)))};
  }
};
template <>
struct evershard::Codec<evershard::small::Story> {
  static constexpr auto format = evershard::PayloadFormat::text;
  static std::string encode(const small::Story& story) { return story.text; }
  static small::Story decode(std::string_view bytes) { return {std::string(bytes)}; }
};

namespace evershard::small {

/// How many were booked, on whatever account.
struct Bookings {
  using Events = Types<Booked>;
  static Query query(const Book&) { return Query{}.tags({"booking"}); }
  void apply(const Booked&) { ++count; }
  std::int64_t count = 0;
};

/// Revision: of its state. Every: events between two snapshots.
template <std::uint32_t Revision, std::uint32_t Every>
struct BankOf {
  static constexpr std::string_view type = "account";
  static constexpr std::uint32_t schema_revision = Revision;
  static constexpr Retention retention{.snapshot_every = Every, .replayed_max = 0, .keep = 2};
  using State = Account;
  using Commands = Types<Deposit, Withdraw, DepositTwice, DepositAndSnap, Touch, Look, Break, Tell, Claim, Book>;
  using Events = Types<Deposited, Withdrawn, Broken, Claimed, Booked>;
  using Views = Types<Bookings>;

  static Balance balance(const State& account) { return {account.balance}; }

  static Effect<Balance> on(const State&, const Deposit& c) { return persist(Deposited{c.n}).reply(&balance); }
  static Effect<Balance> on(const State& account, const Withdraw& c) {
    if (account.balance < c.n) return reject("only " + std::to_string(account.balance));
    return persist(Withdrawn{c.n}).reply(&balance);
  }
  static Effect<Balance> on(const State&, const DepositTwice& c) {
    return persist(Deposited{c.n}, Deposited{c.n}).reply(&balance);
  }
  static Effect<Balance> on(const State&, const DepositAndSnap& c) {
    return persist(Deposited{c.n}).with_snapshot().reply(&balance);
  }
  static Effect<Balance> on(const State&, const Touch&) { return reply(&balance); }
  static Balance on(const State& account, const Look&) { return balance(account); }
  static Effect<Balance> on(const State&, const Break& c) {
    if (c.n == 1) throw std::runtime_error("the handler broke");
    if (c.n == 2) return persist(Broken{2}).reply(&balance);
    return persist(Deposited{1}).reply([](const State&) -> Balance { throw std::runtime_error("the reply broke"); });
  }
  static Effect<Story> on(const State&, const Tell& c) {
    return persist(Deposited{0}).reply(Story{std::string(static_cast<std::size_t>(c.n), 'x')});
  }
  static Effect<Balance> on(const State&, const Claim& c) {
    return persist(Claimed{c.n}).fail_if(Query{}.tags({"claim:" + std::to_string(c.n)})).reply(&balance);
  }
  static Effect<Balance> on(const State&, const Book& c, const Bookings& bookings) {
    if (bookings.count >= c.n) return reject("full: " + std::to_string(bookings.count));
    return persist(Booked{c.n}).reply(&balance);
  }

  static void apply(State& account, const Deposited& e) { change(account, e.n); }
  static void apply(State& account, const Withdrawn& e) { change(account, -e.n); }
  static void apply(State&, const Broken&) { throw std::runtime_error("apply broke"); }
  static void apply(State& account, const Claimed&) { change(account, 0); }
  static void apply(State& account, const Booked&) { change(account, 0); }
  static void change(State& account, std::int64_t by) {
    account.balance += by;
    ++account.events;
  }

  static std::vector<Tag> tags(const Claimed& e) { return {"claim:" + std::to_string(e.n)}; }
  static std::vector<Tag> tags(const Booked&) { return {"booking"}; }
};

using SmallBank = BankOf<1, 0>;

/// An event of an account as somebody else writes it.
inline Append from_outside(std::string_view account, std::string type, std::string payload,
                           std::vector<Tag> tags = {}) {
  return Append{}.event("account-" + std::string(account), std::move(type), std::move(payload), std::move(tags));
}

}  // namespace evershard::small
