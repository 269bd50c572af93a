#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/utf8.hpp"
#include "tests/actors/model/ledger.hpp"

namespace evershard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const AggregateKind> kind() {
  auto made = make_kind<Ledger>();
  EXPECT_TRUE(made) << made.error().what;
  return *made;
}

template <class C>
CommandBytes bytes_of(const C& command) {
  return {name_of_type<C>(), *to_bytes(command)};
}

template <class E>
Result<void> apply(const AggregateKind& kind, AnyState& state, const E& event) {
  return kind.apply(state, name_of_type<E>(), *to_bytes(event));
}

ledger::State typed(const AggregateKind& kind, const AnyState& state) {
  return *from_bytes<ledger::State>(*kind.encode(state));
}

/// The state after one event of an older shape, on an empty ledger.
template <class E>
ledger::State after(const E& event) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  const auto applied = apply(*ledgers, *state, event);
  EXPECT_TRUE(applied) << applied.error().what;
  return typed(*ledgers, *state);
}

TEST(Kind, SaysWhatTheStructSays) {
  const auto ledgers = kind();

  EXPECT_EQ(ledgers->type(), "ledger");
  EXPECT_EQ(ledgers->schema_revision(), 3u);
  EXPECT_EQ(ledgers->retention().snapshot_every, 100u);
  EXPECT_EQ(ledgers->retention().keep, 2u);
  EXPECT_EQ(ledgers->state_format(), PayloadFormat::protobuf);
  EXPECT_TRUE(ledgers->knows_command("ledger.Deposit"));
  EXPECT_FALSE(ledgers->knows_command("ledger.Deposited"));
  EXPECT_TRUE(ledgers->is_query("ledger.Audit"));
  EXPECT_FALSE(ledgers->is_query("ledger.Deposit"));
  EXPECT_FALSE(ledgers->is_query("ledger.Nothing"));
}

TEST(Kind, DecidesEventsWithNamesTagsConditionsAndAReplyFromTheStateAfterThem) {
  const auto ledgers = kind();
  auto state = ledgers->initial();

  auto decision = ledgers->decide(*state, bytes_of(deposit(5, "salary")), nullptr);

  ASSERT_TRUE(decision) << decision.error().what;
  EXPECT_EQ(decision->kind, Decision::Kind::persist);
  ASSERT_EQ(decision->events.size(), 1u);
  const auto& event = decision->events[0];
  EXPECT_EQ(event.type, "ledger.Deposited");
  EXPECT_EQ(event.payload, deposited(5, "salary").SerializeAsString());
  EXPECT_EQ(event.format, PayloadFormat::protobuf);
  EXPECT_THAT(event.tags, ElementsAre("source:salary"));
  EXPECT_THAT(event.also, ElementsAre(AggregateId{"source", "salary"}));
  EXPECT_THAT(decision->conditions, ElementsAre(AppendCondition{Query{}.tags({"frozen:salary"}), GlobalPosition{0}}));
  EXPECT_FALSE(decision->snapshot);
  ASSERT_TRUE(ledgers->apply(*state, event.type, event.payload));
  EXPECT_EQ(decision->reply(*state), balance(5).SerializeAsString());
}

TEST(Kind, AsksForASnapshotOnlyWhereTheHandlerDoes) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  ASSERT_TRUE(apply(*ledgers, *state, deposited(5)));

  const auto withdrawal = ledgers->decide(*state, bytes_of(withdraw(2)), nullptr);
  const auto another = ledgers->decide(*state, bytes_of(deposit(2)), nullptr);

  ASSERT_TRUE(withdrawal && another);
  EXPECT_TRUE(withdrawal->snapshot);
  EXPECT_FALSE(another->snapshot);
}

TEST(Kind, RejectsWithTheHandlersText) {
  const auto ledgers = kind();

  const auto decision = ledgers->decide(*ledgers->initial(), bytes_of(withdraw(1)), nullptr);

  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->kind, Decision::Kind::reject);
  EXPECT_EQ(decision->rejection, "insufficient funds");
  EXPECT_THAT(decision->events, IsEmpty());
}

/// Rejects with whatever it is told.
struct Wordy {
  static constexpr std::string_view type = "wordy";
  using State = ledger::State;
  using Commands = Types<ledger::Break>;
  using Events = Types<ledger::Closed>;
  static Effect<> on(const State&, const ledger::Break& c) { return reject(c.where()); }
  static void apply(State&, const ledger::Closed&) {}
};

TEST(Kind, RejectsWithAtMostSoMuchText) {
  const auto wordy = *make_kind<Wordy>();
  const auto rejection = [&](const std::string& text) {
    ledger::Break command;
    command.set_where(text);
    const auto decision = wordy->decide(*wordy->initial(), bytes_of(command), nullptr);
    EXPECT_TRUE(decision && decision->kind == Decision::Kind::reject);
    return decision ? decision->rejection : "";
  };
  const std::string longest(rejection_bytes_max, 'a'), dots = "…";

  EXPECT_EQ(rejection(longest), longest);
  EXPECT_EQ(rejection(longest + "a"), longest.substr(dots.size()) + dots);
  // A character that would be cut goes as a whole, wherever it begins.
  for (std::size_t before = 0; before < 8; ++before) {
    std::string text(rejection_bytes_max - 10 + before, 'a');
    for (int i = 0; i < 10; ++i) text += "\U0001f4b6";
    const std::string cut = rejection(text);
    EXPECT_LE(cut.size(), rejection_bytes_max);
    EXPECT_GT(cut.size(), rejection_bytes_max - 4);
    EXPECT_TRUE(is_utf8(cut)) << before;
    EXPECT_TRUE(cut.ends_with(dots));
    EXPECT_TRUE(text.starts_with(cut.substr(0, cut.size() - dots.size())));
  }
}

TEST(Kind, DecidesNothingWithAReplyForQueriesAndUnchangedStates) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  ASSERT_TRUE(apply(*ledgers, *state, deposited(5)));

  for (const auto& command : {bytes_of(ledger::Audit{}), bytes_of(deposit(0))}) {
    const auto decision = ledgers->decide(*state, command, nullptr);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->kind, Decision::Kind::nothing);
    EXPECT_THAT(decision->events, IsEmpty());
    EXPECT_EQ(decision->reply(*state), balance(5).SerializeAsString());
  }
}

TEST(Kind, PersistsAllOfARangeAndNothingOfAnEmptyOne) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  ASSERT_TRUE(apply(*ledgers, *state, deposited(5, "a")));
  ASSERT_TRUE(apply(*ledgers, *state, deposited(7, "b")));
  ledger::Sweep sweep, nobody;
  for (const auto* source : {"b", "missing", "a"}) sweep.add_sources(source);

  const auto some = ledgers->decide(*state, bytes_of(sweep), nullptr);
  const auto none = ledgers->decide(*state, bytes_of(nobody), nullptr);

  ASSERT_TRUE(some && none);
  ASSERT_EQ(some->events.size(), 2u);
  EXPECT_EQ(some->events[0].payload, withdrawn(7).SerializeAsString());
  EXPECT_EQ(some->events[1].payload, withdrawn(5).SerializeAsString());
  EXPECT_EQ(some->reply(*state), "");
  EXPECT_EQ(none->kind, Decision::Kind::nothing);
  EXPECT_EQ(none->reply(*state), "");
}

TEST(Kind, RefusesAnEventTypeItDoesNotKnow) {
  const auto ledgers = kind();
  auto state = ledgers->initial();

  const auto applied = ledgers->apply(*state, "ledger.Unlisted", "");

  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::corruption);
  EXPECT_THAT(applied.error().what, HasSubstr("ledger.Unlisted"));
}

TEST(Kind, RefusesBytesThatAreNotOfTheType) {
  const auto ledgers = kind();
  auto state = ledgers->initial();

  const auto event = ledgers->apply(*state, "ledger.Deposited", "\x08");
  const auto snapshot = ledgers->decode("\x08");
  const auto command = ledgers->decide(*state, {"ledger.Deposit", "\x08"}, nullptr);
  const auto unknown = ledgers->decide(*state, {"ledger.Unlisted", ""}, nullptr);

  ASSERT_FALSE(event || snapshot || command || unknown);
  EXPECT_EQ(event.error().code, ErrorCode::corruption);
  EXPECT_EQ(snapshot.error().code, ErrorCode::corruption);
  EXPECT_EQ(command.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(unknown.error().what, HasSubstr("ledger.Unlisted"));
}

TEST(Kind, CopiesAndRestoresAState) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  ASSERT_TRUE(apply(*ledgers, *state, deposited(5, "a")));

  const auto copy = ledgers->copy(*state);
  const auto restored = ledgers->decode(*ledgers->encode(*state));
  ASSERT_TRUE(apply(*ledgers, *state, withdrawn(1)));

  ASSERT_TRUE(copy && restored);
  EXPECT_EQ(typed(*ledgers, *state).balance(), 4);
  EXPECT_EQ(typed(*ledgers, **copy).balance(), 5);
  EXPECT_EQ(typed(*ledgers, **restored).by_source().at("a"), 5);
}

TEST(Kind, EncodesEqualStatesAsEqualBytes) {
  const auto ledgers = kind();
  auto forwards = ledgers->initial(), backwards = ledgers->initial();

  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(apply(*ledgers, *forwards, deposited(1, "source" + std::to_string(i))));
    ASSERT_TRUE(apply(*ledgers, *backwards, deposited(1, "source" + std::to_string(49 - i))));
  }

  EXPECT_EQ(ledgers->encode(*forwards), ledgers->encode(*backwards));
}

TEST(Kind, ServesManyThreadsAtOnce) {
  const auto ledgers = kind();
  std::vector<std::int64_t> balances(4);
  std::vector<std::thread> threads;

  for (auto& balance_of_thread : balances) {
    threads.emplace_back([&ledgers, &balance_of_thread] {
      auto state = ledgers->initial();
      for (int i = 0; i < 500; ++i) {
        const auto decision = ledgers->decide(*state, bytes_of(deposit(2)), nullptr);
        if (!decision || !ledgers->apply(*state, decision->events[0].type, decision->events[0].payload)) return;
      }
      balance_of_thread = typed(*ledgers, *state).balance();
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_THAT(balances, testing::Each(1000));
}

TEST(Upcast, GivesOneEvent) {
  ledger::DepositedV1 old;
  old.set_cents(7);

  const auto state = after(old);

  EXPECT_EQ(state.balance(), 7);
  EXPECT_EQ(state.by_source().at("old"), 7);
}

TEST(Upcast, GivesNone) { EXPECT_EQ(after(ledger::Renumbered{}).ByteSizeLong(), 0u); }

TEST(Upcast, GivesMany) {
  ledger::Transferred old;
  for (const int amount : {1, 2, 3}) old.add_amounts(amount);

  EXPECT_EQ(after(old).balance(), 6);
}

TEST(Upcast, GivesOneOfSeveralTypes) {
  ledger::Corrected up, down, level;
  up.set_difference(4);
  down.set_difference(-4);

  EXPECT_EQ(after(up).balance(), 4);
  EXPECT_EQ(after(down).balance(), -4);
  EXPECT_EQ(after(level).ByteSizeLong(), 0u);
}

TEST(Upcast, GoesOnFromOneOldShapeToTheNext) {
  ledger::DepositedV0 old;
  old.set_cents("12");

  EXPECT_EQ(after(old).by_source().at("old"), 12);
}

TEST(Upcast, ThatThrowsIsAnError) {
  const auto ledgers = kind();
  auto state = ledgers->initial();
  ledger::DepositedV0 old;
  old.set_cents("not a number");

  const auto applied = apply(*ledgers, *state, old);

  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(applied.error().what, HasSubstr("ledger.DepositedV0"));
}

/// Decides a command that breaks somewhere.
Error broken(std::string where) {
  const auto ledgers = kind();
  const auto decision = ledgers->decide(*ledgers->initial(), bytes_of(breaking(where)), nullptr);
  EXPECT_FALSE(decision);
  return decision ? Error() : decision.error();
}

TEST(Kind, TurnsWhatAHandlerThrowsIntoAnError) {
  EXPECT_EQ(broken("handler").code, ErrorCode::invalid_argument);
  EXPECT_THAT(broken("handler").what, testing::AllOf(HasSubstr("ledger.Break"), HasSubstr("broken handler")));
  EXPECT_EQ(broken("number").code, ErrorCode::invalid_argument);
  EXPECT_EQ(broken("tags").code, ErrorCode::invalid_argument);
  EXPECT_THAT(broken("tags").what, HasSubstr("broken tags"));
}

TEST(Kind, TurnsWhatApplyAndAReplyThrowIntoErrors) {
  const auto ledgers = kind();
  auto state = ledgers->initial();

  const auto applied = apply(*ledgers, *state, withdrawn(-1));
  const auto decision = ledgers->decide(*state, bytes_of(breaking("reply")), nullptr);

  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(applied.error().what, testing::AllOf(HasSubstr("ledger.Withdrawn"), HasSubstr("negative")));
  ASSERT_TRUE(decision);
  const auto reply = decision->reply(*state);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(reply.error().what, HasSubstr("broken reply"));
}

TEST(Kind, RefusesEventsAndStatesThatAreNotTheAggregates) {
  EXPECT_THAT(broken("unlisted").what, testing::AllOf(HasSubstr("ledger::Unlisted"), HasSubstr("not one of Events")));
  EXPECT_THAT(broken("other state").what, testing::AllOf(HasSubstr("ledger::Balance"), HasSubstr("ledger::State")));
}

TEST(Kind, KnowsWhatItsTypesAre) {
  const auto ledgers = kind();
  const auto& types = ledgers->types();

  EXPECT_EQ(types.state.message, &ledger::State::default_instance());
  std::vector<std::string> commands, queries, old;
  for (const auto& command : types.commands) {
    commands.push_back(command.name);
    EXPECT_EQ(command.type.format, PayloadFormat::protobuf);
    EXPECT_EQ(protobuf_name(*command.type.message), command.name);
    if (command.query) queries.push_back(command.name);
    EXPECT_EQ(command.replies, command.name != "ledger.Close" && command.name != "ledger.Sweep") << command.name;
    EXPECT_EQ(command.reply.message, command.replies ? &ledger::Balance::default_instance() : nullptr);
  }
  EXPECT_THAT(commands, ElementsAre("ledger.Audit", "ledger.Break", "ledger.Close", "ledger.Deposit", "ledger.Sweep",
                                    "ledger.Withdraw"));
  EXPECT_THAT(queries, ElementsAre("ledger.Audit"));
  for (const auto& event : types.events)
    if (event.old) old.push_back(event.name);
  EXPECT_THAT(old, testing::UnorderedElementsAre("ledger.DepositedV1", "ledger.Renumbered", "ledger.Transferred",
                                                 "ledger.Corrected", "ledger.DepositedV0"));
}

}  // namespace
}  // namespace evershard
