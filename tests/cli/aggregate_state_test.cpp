// `evershard aggregate state`: which snapshot, which events, and what is said where either is missing.

#include "tests/cli/typed_store.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AggregateState : public TypedStore {
 protected:
  /// Deposits of 1 to 5 at positions 2, 4, 6, 8, 10; snapshots of versions 2 and 4.
  void SetUp() override {
    TypedStore::SetUp();
    Json events = Json::array();
    for (int i = 1; i <= 5; ++i) {
      events.push_back({{"type", "Between"}});
      events.push_back(deposit_as_json(i));
    }
    append(data_, Json{{"events", events}}.dump() + "\n");
    put_snapshot_of_balance(2, 3);
    put_snapshot_of_balance(4, 10);
  }
  [[nodiscard]] Words asking(Words more) const {
    more.insert(more.begin(), {"aggregate", "state", "bank_account-1"});
    return with_data(std::move(more));
  }
  Json state(Words more = {}) { return shown(asking(std::move(more))).at(0); }
  static std::vector<std::string> amounts(const Json& state) {
    std::vector<std::string> amounts;
    for (const auto& event : state.at("events")) amounts.push_back(event.at("decoded").at("amount"));
    return amounts;
  }
};

TEST_F(AggregateState, IsTheNewestSnapshotAndTheEventsBehindIt) {
  register_types();

  const Json latest = state();

  EXPECT_EQ(latest.at("aggregate"), "bank_account-1");
  EXPECT_EQ(latest.at("version"), 5);
  EXPECT_EQ(latest.at("position"), 10);
  EXPECT_EQ(latest.at("state").at("balance"), "10");
  EXPECT_EQ(latest.at("state").at("owner_name"), "Ann");
  EXPECT_EQ(latest.at("decoded_as"), account_message);
  EXPECT_EQ(latest.at("state_version"), 4);
  EXPECT_EQ(latest.at("snapshot").at("schema_revision"), 3);
  EXPECT_EQ(latest.at("snapshot").at("position"), 8);
  EXPECT_EQ(latest.at("snapshot").at("latest"), true);
  EXPECT_EQ(latest.at("events_after"), 1);
  EXPECT_THAT(amounts(latest), ElementsAre("5"));
}

TEST_F(AggregateState, IsThatOfAnyVersion) {
  register_types();

  const Json exact = state({"--version", "4"}), between = state({"--version", "3"}), before = state({"--version", "1"});

  EXPECT_EQ(exact.at("state").at("balance"), "10");
  EXPECT_EQ(exact.at("events_after"), 0);
  EXPECT_THAT(amounts(exact), IsEmpty());
  EXPECT_EQ(between.at("state").at("balance"), "3");
  EXPECT_EQ(between.at("state_version"), 2);
  EXPECT_EQ(between.at("position"), 6);
  EXPECT_THAT(amounts(between), ElementsAre("3"));
  EXPECT_EQ(before.at("state"), Json());
  EXPECT_EQ(before.at("snapshot"), Json());
  EXPECT_EQ(before.at("state_version"), 0);
  EXPECT_THAT(amounts(before), ElementsAre("1"));
}

TEST_F(AggregateState, IsThatOfAnyPosition) {
  register_types();

  EXPECT_EQ(state({"--up-to", "9"}).at("version"), 4);
  EXPECT_EQ(state({"--up-to", "9"}).at("state").at("balance"), "10");
  EXPECT_EQ(state({"--up-to", "7"}).at("state").at("balance"), "3");
  EXPECT_THAT(amounts(state({"--up-to", "7"})), ElementsAre("3"));
  EXPECT_EQ(state({"--up-to", "2"}).at("state"), Json());
  EXPECT_EQ(evershard(asking({"--up-to", "1"})).status, 4);
}

TEST_F(AggregateState, BoundsTheEventsButNotTheirNumber) {
  register_types();
  for (int i = 6; i <= 9; ++i) deposit(i);

  const Json bounded = state({"--limit", "2"}), none = state({"--limit", "0"});

  EXPECT_EQ(bounded.at("events_after"), 5);
  EXPECT_THAT(amounts(bounded), ElementsAre("5", "6"));
  EXPECT_EQ(none.at("events_after"), 5);
  EXPECT_THAT(amounts(none), IsEmpty());
}

TEST_F(AggregateState, IsShownToPeople) {
  register_types();

  const Finished between = evershard(asking({"--version", "3", "--format", "table"}));
  const Finished exact = evershard(asking({"--version", "4", "--format", "table"}));
  const Finished none = evershard(asking({"--version", "1", "--format", "table"}));

  EXPECT_THAT(between.out, HasSubstr("of version 2, " + account_message));
  EXPECT_THAT(between.out, HasSubstr("schema revision 3"));
  EXPECT_THAT(between.out, HasSubstr("\n  \"balance\": \"3\",\n"));
  EXPECT_THAT(between.out, HasSubstr("1: the state of version 3 is what they make of it"));
  EXPECT_THAT(between.out, HasSubstr(R"({"amount":"3"})"));
  EXPECT_THAT(exact.out, HasSubstr("none: this is the state of version 4"));
  EXPECT_THAT(exact.out, ::testing::Not(HasSubstr("POSITION")));
  EXPECT_THAT(none.out, HasSubstr("unknown: no snapshot at or before this version"));
  EXPECT_THAT(none.out, HasSubstr(R"({"amount":"1"})"));
  EXPECT_EQ(none.status, 0);
}

TEST_F(AggregateState, SaysWhatIsMissing) {
  const Finished unregistered = evershard(asking({"--format", "json"}));
  const Finished ahead = evershard(asking({"--version", "6", "--format", "json"}));
  const Finished nobody = evershard(with_data({"aggregate", "state", "bank_account-2", "--format", "json"}));
  const Json as_stored = state({"--as-stored"});

  EXPECT_EQ(unregistered.status, 4);
  EXPECT_THAT(error_of(unregistered).at("message").get<std::string>(),
              HasSubstr("no message is registered for the state of \"bank_account\""));
  EXPECT_THAT(error_of(unregistered).at("hint").get<std::string>(), HasSubstr("types add"));
  EXPECT_EQ(ahead.status, 4);
  EXPECT_THAT(error_of(ahead).at("message").get<std::string>(), HasSubstr("is at version 5"));
  EXPECT_EQ(nobody.status, 4);
  EXPECT_EQ(as_stored.at("state_encoding"), "base64");
  EXPECT_EQ(evershard(asking({"--version", "0"})).status, 2);
  EXPECT_EQ(evershard(asking({"--version", "1", "--up-to", "1"})).status, 2);
}

TEST_F(AggregateState, NeedsNoTypesWhereThereIsNoSnapshot) {
  const Json before = state({"--version", "1"});

  EXPECT_EQ(before.at("state"), Json());
  EXPECT_EQ(before.at("events").at(0).at("payload_encoding"), "base64");
}

TEST_F(AggregateState, RefusesASnapshotThatIsNotOfItsMessage) {
  register_types();
  put_snapshot(5, "\xff garbage");

  const Finished done = evershard(asking({"--format", "json"}));
  const Json snapshot = shown(with_data({"snapshot", "get", "bank_account-1"})).at(0);

  EXPECT_EQ(done.status, 5);
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(error_of(done).at("message").get<std::string>(), HasSubstr("the snapshot at version 5"));
  EXPECT_THAT(error_of(done).at("hint").get<std::string>(), HasSubstr("revision 3"));
  EXPECT_TRUE(snapshot.contains("decode_error"));
  EXPECT_EQ(state({"--version", "4"}).at("state").at("balance"), "10");
}

TEST_F(AggregateState, IsJsonWhereTheSnapshotIs) {
  put_snapshot(5, R"({"balance": 15, "n": 1.50})", 1);

  const Finished line = evershard(asking({}));
  const Finished table = evershard(asking({"--format", "table"}));

  EXPECT_THAT(line.out, HasSubstr(R"("state":{"balance": 15, "n": 1.50},"state_version":5)"));
  EXPECT_THAT(table.out, HasSubstr("{\n  \"balance\": 15,\n  \"n\": 1.50\n}\n"));
}

TEST_F(AggregateState, ShowsSnapshotsAsJsonToo) {
  register_types();

  const Json got = shown(with_data({"snapshot", "get", "bank_account-1", "--version", "3"})).at(0);
  const auto listed = shown(with_data({"snapshot", "list", "bank_account-1"}));
  const Finished table = evershard(with_data({"snapshot", "get", "bank_account-1", "--format", "table"}));

  EXPECT_EQ(got.at("decoded").at("balance"), "3");
  EXPECT_EQ(got.at("decoded_as"), account_message);
  EXPECT_TRUE(got.contains("payload"));
  for (const auto& snapshot : listed) EXPECT_TRUE(snapshot.contains("decoded"));
  EXPECT_THAT(table.out, HasSubstr(R"("balance":"10")"));
}

}  // namespace
}  // namespace evershard::testing
