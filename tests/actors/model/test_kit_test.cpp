#include <evershard/test_kit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/actors/model/ledger.hpp"

namespace evershard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// The text a test fails with; empty: it passes.
std::string failure_of(const std::function<void()>& test) {
  try {
    test();
  } catch (const TestFailure& failure) {
    return failure.what();
  }
  return {};
}

TEST(TestKit, PassesWhatHolds) {
  TestKit<Ledger> kit;

  kit.given(deposited(100)).when(withdraw(30)).then(withdrawn(30)).replied(balance(70)).with_snapshot().tagged(0, {});
  kit.given().when(withdraw(30)).rejected("insufficient funds").then();
  kit.given().when(deposit(5, "gift")).then(deposited(5, "gift")).tagged(0, {"source:gift"}).replied(balance(5));
  kit.given(deposited(3)).when(ledger::Audit{}).then().replied(balance(3));
  kit.given().when(ledger::Close{}).then(ledger::Closed{}).replied();
}

TEST(TestKit, GoesOnFromWhatWasDecided) {
  TestKit<Ledger> kit;

  kit.given().when(deposit(5)).replied(balance(5));
  kit.when(deposit(6)).replied(balance(11));
  kit.given().when(deposit(7)).replied(balance(7));
}

TEST(TestKit, TakesEventsOfOlderShapes) {
  ledger::Transferred old;
  for (const int amount : {1, 2, 3}) old.add_amounts(amount);

  TestKit<Ledger>().given(old).when(ledger::Audit{}).replied(balance(6));
}

TEST(TestKit, SaysWhatWasGivenDoneExpectedAndToldWhereEventsDiffer) {
  const auto text = failure_of([] { TestKit<Ledger>().given(deposited(100)).when(withdraw(30)).then(withdrawn(31)); });

  EXPECT_THAT(text, AllOf(HasSubstr("aggregate \"ledger\": then: other events"),
                          HasSubstr("given    ledger.Deposited {\"amount\":\"100\",\"source\":\"cash\"}"),
                          HasSubstr("when     ledger.Withdraw {\"amount\":\"30\"}"),
                          HasSubstr("expected ledger.Withdrawn {\"amount\":\"31\"}"),
                          HasSubstr("actual   ledger.Withdrawn {\"amount\":\"30\"}")));
}

TEST(TestKit, FailsWhereOneEventIsTooFewOrTooMany) {
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given(deposited(9)).when(withdraw(3)).then(); }),
              HasSubstr("expected no events"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(ledger::Audit{}).then(withdrawn(3)); }),
              HasSubstr("actual   no events"));
  EXPECT_THAT(
      failure_of([] { TestKit<Ledger>().given(deposited(9)).when(withdraw(3)).then(withdrawn(3), withdrawn(3)); }),
      HasSubstr("other events"));
}

TEST(TestKit, FailsWhereTheAnswerIsAnother) {
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(ledger::Audit{}).replied(balance(1)); }),
              AllOf(HasSubstr("expected {\"amount\":\"1\"}"), HasSubstr("actual   {\"amount\":\"0\"}")));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(withdraw(1)).replied(balance(1)); }),
              HasSubstr("insufficient funds"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(withdraw(1)).rejected("no"); }),
              HasSubstr("insufficient funds"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(ledger::Audit{}).rejected("no"); }),
              HasSubstr("rejected"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(ledger::Audit{}).failed(ErrorCode::io); }),
              HasSubstr("failed"));
}

TEST(TestKit, FailsWhereStateTagsOrSnapshotAreOthers) {
  ledger::State state;
  state.set_balance(1);

  EXPECT_THAT(failure_of([&] { TestKit<Ledger>().given().when(ledger::Audit{}).state(state); }),
              HasSubstr("another state"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(deposit(1)).tagged(0, {"x"}); }),
              HasSubstr("source:cash"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(deposit(1)).tagged(1, {}); }), HasSubstr("no event 1"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(deposit(1)).with_snapshot(); }),
              HasSubstr("none is asked for"));
  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(deposit(1)).decided_on(Query::all()); }),
              HasSubstr("on the state alone"));
}

TEST(TestKit, ExpectsErrorsAndShowsThoseNobodyExpected) {
  TestKit<Ledger>().given().when(breaking("handler")).failed(ErrorCode::invalid_argument, "broken handler");
  TestKit<Ledger>().given().when(breaking("apply")).failed(ErrorCode::invalid_argument, "negative");
  TestKit<Ledger>().given().when(breaking("reply")).failed(ErrorCode::invalid_argument, "broken reply");

  EXPECT_THAT(failure_of([] { TestKit<Ledger>().given().when(breaking("handler")).then(); }),
              HasSubstr("broken handler"));
}

TEST(TestKit, HoldsConditionsAgainstTheEventsGiven) {
  TestKit<Ledger> kit;

  kit.given()
      .given_tagged(ledger::Closed{}, {"frozen:cash"})
      .when(deposit(5))
      .failed(ErrorCode::condition_failed, "ledger.Closed");
  kit.given().given_tagged(ledger::Closed{}, {"frozen:gift"}).when(deposit(5)).then(deposited(5));
}

TEST(TestKit, ReportsInsteadOfThrowingWhereAskedTo) {
  std::vector<std::string> failures;
  TestKit<Ledger> kit("1", [&](const std::string& failure) { failures.push_back(failure); });

  kit.given().when(withdraw(1)).then(withdrawn(1)).rejected("no");

  EXPECT_EQ(failures.size(), 2u);
}

/// Counts deposits, and asks for withdrawals besides, which it forgot to list.
struct Deposits {
  using Events = Types<ledger::Deposited>;
  static Query query(const ledger::Audit&) {
    return Query{}.types(names_of<ledger::Deposited>()).tags({"source:cash"});
  }
  static Query query(const ledger::Close&) { return Query{}.types(names_of<ledger::Deposited, ledger::Withdrawn>()); }
  void apply(const ledger::Deposited& e) { total += e.amount(); }
  std::int64_t total = 0;
};
struct Auditor {
  static constexpr std::string_view type = "auditor";
  using State = ledger::State;
  using Commands = Types<ledger::Audit, ledger::Close>;
  using Events = Types<ledger::Closed>;
  using Views = Types<Deposits>;
  static ledger::Balance on(const State&, const ledger::Audit&, const Deposits& deposits) {
    return balance(deposits.total);
  }
  static Effect<> on(const State&, const ledger::Close&, const Deposits&) { return persist(ledger::Closed{}); }
  static void apply(State&, const ledger::Closed&) {}
};

TEST(TestKit, FoldsWhatWasGivenOfOthersAndByTagIntoViews) {
  TestKit<Auditor> kit;

  kit.given()
      .given_of<Ledger>("1", deposited(5), deposited(9, "gift"), withdrawn(2))
      .given_tagged(deposited(2), {"source:cash", "other"})
      .when(ledger::Audit{})
      .decided_on(Query{}.types({"ledger.Deposited"}).tags({"source:cash"}))
      .then()
      .replied(balance(7));
  EXPECT_THAT(failure_of([&] { kit.when(ledger::Audit{}).decided_on(Query::all()); }), HasSubstr("another query"));
}

TEST(TestKit, FindsAViewThatPassesOverWhatItsQueryAsksFor) {
  EXPECT_THAT(failure_of([] { static_cast<void>(TestKit<Auditor>().given().when(ledger::Close{})); }),
              AllOf(HasSubstr("ledger.Withdrawn"), HasSubstr("would be passed over")));
}

/// A number as a text that its codec may spoil.
struct Amount {
  int value = 0;
  int forgotten = 0;  // not encoded
  bool operator==(const Amount&) const = default;
};

}  // namespace

template <>
struct Codec<Amount> {
  static constexpr std::string_view name = "number";
  static constexpr PayloadFormat format = PayloadFormat::text;
  static std::string encode(const Amount& amount) { return std::to_string(amount.value == 13 ? 14 : amount.value); }
  static Amount decode(std::string_view bytes) { return {std::stoi(std::string(bytes)) + (bytes == "15" ? 1 : 0), 0}; }
};

namespace {

/// Does every thing that an aggregate must not do, each at a number of its own.
struct Wicked {
  static constexpr std::string_view type = "wicked";
  using State = Amount;
  using Commands = Types<Amount>;
  using Events = Types<Amount>;
  static inline int calls = 0, late_calls = 0;

  static Effect<> on(const State& state, const Amount& c) {
    if (c.value == 1) return persist(Amount{++calls});
    if (c.value == 2) return reject(std::to_string(++calls));
    if (c.value == 3 && state.forgotten > 0) return reject("remembers");
    if (c.value == 4) const_cast<State&>(state).value = 99;
    if (c.value == 9) return persist(Amount{15});
    if (c.value == 7) return persist(Amount{1}).fail_if(Query{});
    if (c.value == 8) return persist(Amount{80});
    return persist(Amount{c.value});
  }
  static void apply(State& state, const Amount& e) {
    if (e.value == 20) {
      state.value = ++calls;
    } else if (e.value == 21) {
      state.value = ++late_calls > 2 ? 1 : 0;
    } else if (e.value == 30) {
      state.forgotten = 1;
    } else if (e.value == 31) {
      state.value = state.forgotten;
    } else {
      state.value += e.value;
    }
  }
  static std::vector<Tag> tags(const Amount& e) { return e.value == 80 ? std::vector<Tag>{""} : std::vector<Tag>{}; }
};

std::string wicked(std::vector<Amount> given, int command) {
  return failure_of([&] {
    TestKit<Wicked> kit;
    kit.given();
    for (const auto& event : given) kit.and_given(event);
    static_cast<void>(kit.when(Amount{command}));
  });
}

TEST(TestKit, LetsAnHonestAggregatePass) { EXPECT_THAT(wicked({{1}, {2}}, 5), IsEmpty()); }

TEST(TestKit, FindsAHandlerThatDecidesDifferentlyEachTime) {
  EXPECT_THAT(wicked({}, 1), HasSubstr("does not decide the same again"));
  EXPECT_THAT(wicked({}, 2), HasSubstr("does not decide the same again"));
}

TEST(TestKit, FindsAHandlerThatLooksAtWhatTheStatesCodecForgets) {
  EXPECT_THAT(wicked({{30}}, 3), HasSubstr("restored from its bytes"));
}

TEST(TestKit, FindsAHandlerThatChangesTheState) { EXPECT_THAT(wicked({}, 4), HasSubstr("changed the state")); }

TEST(TestKit, FindsAnApplyThatIsNotDeterministic) {
  EXPECT_THAT(wicked({{20}}, 5), HasSubstr("apply or upcast is not deterministic"));
  EXPECT_THAT(wicked({}, 20), HasSubstr("the states differ"));
}

TEST(TestKit, FindsAnApplyThatIsAnotherWhenItIsReplayed) {
  EXPECT_THAT(wicked({}, 21), HasSubstr("replaying all events from the first gives another state"));
}

TEST(TestKit, FindsAnApplyThatLooksAtWhatTheStatesCodecForgets) {
  EXPECT_THAT(wicked({{30}}, 31), HasSubstr("the states differ"));
}

TEST(TestKit, FindsWhatDoesNotSurviveItsCodec) {
  EXPECT_THAT(wicked({{15}}, 5), HasSubstr("not the same value"));
  EXPECT_THAT(wicked({}, 15), HasSubstr("not the same value"));
  EXPECT_THAT(wicked({}, 9), HasSubstr("not the same bytes"));
  EXPECT_THAT(wicked({{5, 1}}, 5), HasSubstr("not the same value"));
}

/// A state whose copies are not independent.
struct Shared {
  std::shared_ptr<int> value = std::make_shared<int>(0);
};

}  // namespace

template <>
struct Codec<Shared> {
  static constexpr PayloadFormat format = PayloadFormat::text;
  static std::string encode(const Shared& shared) { return std::to_string(*shared.value); }
  static Shared decode(std::string_view bytes) { return {std::make_shared<int>(std::stoi(std::string(bytes)))}; }
};

namespace {

struct Sharing {
  static constexpr std::string_view type = "sharing";
  using State = Shared;
  using Commands = Types<ledger::Close>;
  using Events = Types<ledger::Closed>;
  static Effect<> on(const State&, const ledger::Close&) { return persist(ledger::Closed{}); }
  static void apply(State& state, const ledger::Closed&) { ++*state.value; }
};

TEST(TestKit, FindsAStateWhoseCopiesAreNotIndependent) {
  EXPECT_THAT(failure_of([] { static_cast<void>(TestKit<Sharing>().given().when(ledger::Close{})); }),
              HasSubstr("a copy of the state"));
}

TEST(TestKit, FindsEventsAndConditionsThatCannotBeStored) {
  EXPECT_THAT(wicked({}, 8), AllOf(HasSubstr("cannot be stored"), HasSubstr("tag is empty")));
  EXPECT_THAT(wicked({}, 7), HasSubstr("fail_if"));
}

}  // namespace
}  // namespace evershard
