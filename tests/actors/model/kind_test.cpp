#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

ledger::State typed(const AggregateKind& kind, const AnyState& state) { return *from_bytes<ledger::State>(*kind.encode(state)); }

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
}  // namespace
}  // namespace evershard
