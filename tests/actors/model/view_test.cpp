#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/actors/model/old_names.hpp"
#include "tests/actors/model/ledger.hpp"

namespace evershard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What came in under one source, on all ledgers, and where it stands.
struct Income {
  using Events = Types<ledger::Deposited, ledger::Closed>;
  using OldEvents = Types<ledger::DepositedV1>;

  static Query query(const ledger::Deposit& c) {
    return Query{}.types(names_of<ledger::Deposited>()).tags({"source:" + c.source()});
  }
  explicit Income(const ledger::Deposit& c) : most(c.amount()) {}

  void apply(const ledger::Deposited& e, const RecordedEvent& at) {
    total += e.amount();
    seen.push_back(at.aggregate->text() + " at " + std::to_string(at.position.value) + " " + at.tags.at(0));
  }
  void apply(const ledger::Closed&) { throw std::runtime_error("closed for good"); }
  static ledger::Deposited upcast(const ledger::DepositedV1& e) { return deposited(e.cents()); }

  std::int64_t most, total = 0;
  std::vector<std::string> seen;
};
/// Needs no command to be made.
struct Closings {
  using Events = Types<ledger::Closed>;
  static Query query(const ledger::Close&) { return Query{}.types(names_of<ledger::Closed>()); }
  void apply(const ledger::Closed&) { ++count; }
  int count = 0;
};
struct Nobody {
  using Events = Types<ledger::Closed>;
  static Query query(const ledger::Sweep&) { return Query{}; }
  void apply(const ledger::Closed&) {}
};

struct Till {
  static constexpr std::string_view type = "till";
  using State = ledger::State;
  using Commands = Types<ledger::Deposit, ledger::Close, ledger::Audit, ledger::Sweep>;
  using Events = Types<ledger::Deposited, ledger::Closed>;
  using Views = Types<Closings, Income, Nobody>;

  static Effect<ledger::Balance> on(const State&, const ledger::Deposit& c, const Income& income) {
    if (income.total + c.amount() > 10) return reject(income.seen.empty() ? "too much" : income.seen.back());
    return persist(deposited(c.amount(), c.source())).reply(balance(income.total + income.most));
  }
  static Effect<> on(const State&, const ledger::Close&, const Closings& closings) {
    if (closings.count > 0) return nothing();
    return persist(ledger::Closed{});
  }
  static ledger::Balance on(const State& state, const ledger::Audit&) { return balance(state.balance()); }
  static Effect<> on(const State&, const ledger::Sweep&, const Nobody&) { return nothing(); }
  static void apply(State& state, const ledger::Deposited& e) { state.set_balance(state.balance() + e.amount()); }
  static void apply(State&, const ledger::Closed&) {}
};

std::shared_ptr<const AggregateKind> till_kind() { return *make_kind<Till>(); }

template <class E>
RecordedEvent recorded(const E& event, std::uint64_t position = 1) {
  RecordedEvent recorded;
  recorded.type = name_of_type<E>();
  recorded.payload = *to_bytes(event);
  recorded.position = GlobalPosition{position};
  recorded.aggregate = AggregateId{"ledger", "1"};
  recorded.tags = {"source:cash"};
  return recorded;
}

const CommandBytes deposit_5{"ledger.Deposit", *to_bytes(deposit(5))};

TEST(View, IsAskedForByItsCommandAlone) {
  const auto tills = till_kind();

  const auto deposit = tills->decision_model(deposit_5);
  const auto close = tills->decision_model({"ledger.Close", ""});
  const auto audit = tills->decision_model({"ledger.Audit", ""});

  ASSERT_TRUE(deposit && close && audit);
  EXPECT_EQ((*deposit)->query, Query{}.types({"ledger.Deposited"}).tags({"source:cash"}));
  EXPECT_EQ((*close)->query, Query{}.types({"ledger.Closed"}));
  EXPECT_FALSE(audit->has_value());
}

TEST(View, FoldsEventsWithTheirPlaceAndDecidesOnThem) {
  const auto tills = till_kind();
  const auto state = tills->initial();
  auto model = std::move(**tills->decision_model(deposit_5));

  const auto first = tills->decide(*state, deposit_5, model.model.get());
  ASSERT_TRUE(tills->fold(deposit_5, *model.model, recorded(deposited(3), 8)));
  const auto second = tills->decide(*state, deposit_5, model.model.get());
  ASSERT_TRUE(tills->fold(deposit_5, *model.model, recorded(deposited(3), 9)));
  const auto third = tills->decide(*state, deposit_5, model.model.get());

  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->reply(*state), *to_bytes(balance(5)));
  EXPECT_EQ(second->reply(*state), *to_bytes(balance(8)));
  EXPECT_EQ(third->kind, Decision::Kind::reject);
  EXPECT_EQ(third->rejection, "ledger-1 at 9 source:cash");
}

/// Reads what the ledger read, as the ledger does.
struct Turnover {
  using Events = Types<ledger::Deposited>;
  using UpcastBy = Types<Ledger>;
  static Query query(const ledger::Close&) { return Query{}.types(names_read_by<Turnover>()); }
  void apply(const ledger::Deposited& e) { total += e.amount(); }
  std::int64_t total = 0;
};
struct Forgetful {
  using Events = Types<ledger::Deposited>;
  static Query query(const ledger::Close&) { return Query{}.types(names_of<ledger::Deposited>()); }
  void apply(const ledger::Deposited&) {}
};
template <class View>
struct Reading {
  static constexpr std::string_view type = "reading";
  using State = ledger::State;
  using Commands = Types<ledger::Close>;
  using Events = Types<ledger::Closed>;
  using Views = Types<View>;
  static Effect<> on(const State&, const ledger::Close&, const View& view) {
    if constexpr (std::is_same_v<View, Turnover>) return reject(std::to_string(view.total));
    return nothing();
  }
  static void apply(State&, const ledger::Closed&) {}
};

TEST(View, ReadsOldEventsAsTheirAggregateDoes) {
  const auto kind = *make_kind<Reading<Turnover>>();
  const CommandBytes close{"ledger.Close", ""};
  auto model = std::move(**kind->decision_model(close));
  ASSERT_EQ(model.query.items().size(), 1u);
  EXPECT_THAT(model.query.items()[0].types, testing::Contains("ledger.DepositedV0"));
  ledger::DepositedV1 second;
  second.set_cents(5);
  ledger::DepositedV0 first;
  first.set_cents("7");
  ASSERT_TRUE(kind->fold(close, *model.model, recorded(deposited(3))));
  ASSERT_TRUE(kind->fold(close, *model.model, recorded(second)));
  ASSERT_TRUE(kind->fold(close, *model.model, recorded(first)));
  const auto decided = kind->decide(*kind->initial(), close, model.model.get());
  ASSERT_TRUE(decided);
  EXPECT_EQ(decided->rejection, "15");
}

TEST(OldNames, RefuseAReaderThatListsAnEventAndNotTheOldOneThatBecomesIt) {
  const auto ledger = *make_kind<Ledger>(), forgetful = *make_kind<Reading<Forgetful>>(),
             turnover = *make_kind<Reading<Turnover>>();
  for (const bool ledger_first : {true, false}) {
    OldNames names;
    ASSERT_TRUE(names.add(ledger_first ? ledger->types() : forgetful->types()));
    const auto refused = names.add(ledger_first ? forgetful->types() : ledger->types());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().what, HasSubstr("reads events of type \"ledger.Deposited\", and not of the old type"));
  }
  OldNames names;
  EXPECT_TRUE(names.add(turnover->types()));
  EXPECT_TRUE(names.add(ledger->types()));
}

TEST(View, UpcastsOldEventsAndPassesOverWhatItDoesNotKnow) {
  const auto tills = till_kind();
  const auto state = tills->initial();
  auto model = std::move(**tills->decision_model(deposit_5));
  ledger::DepositedV1 old;
  old.set_cents(4);

  ASSERT_TRUE(tills->fold(deposit_5, *model.model, recorded(old)));
  ASSERT_TRUE(tills->fold(deposit_5, *model.model, recorded(withdrawn(4))));

  EXPECT_EQ(tills->decide(*state, deposit_5, model.model.get())->reply(*state), *to_bytes(balance(9)));
}

TEST(View, RefusesWhatItCannotRead) {
  const auto tills = till_kind();
  auto model = std::move(**tills->decision_model(deposit_5));
  auto damaged = recorded(deposited(3)), erased = recorded(deposited(3), 7);
  damaged.payload = "\x08";
  erased.state = EventState::erased;
  erased.payload.clear();

  const auto bytes = tills->fold(deposit_5, *model.model, damaged);
  const auto gone = tills->fold(deposit_5, *model.model, erased);
  const auto threw = tills->fold(deposit_5, *model.model, recorded(ledger::Closed{}));

  ASSERT_FALSE(bytes || gone || threw);
  EXPECT_EQ(bytes.error().code, ErrorCode::corruption);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_THAT(gone.error().what, HasSubstr("position 7 is erased"));
  EXPECT_EQ(threw.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(threw.error().what, HasSubstr("closed for good"));
}

TEST(View, WithAQueryThatAsksNothingIsRefused) {
  const auto model = till_kind()->decision_model({"ledger.Sweep", ""});

  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::invalid_query);
  EXPECT_THAT(model.error().what, HasSubstr("ledger.Sweep"));
}

TEST(View, OfACommandThatCannotBeReadIsRefused) {
  const auto damaged = till_kind()->decision_model({"ledger.Deposit", "\x08"});
  const auto unknown = till_kind()->decision_model({"ledger.Unlisted", ""});

  ASSERT_FALSE(damaged || unknown);
  EXPECT_EQ(damaged.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evershard
