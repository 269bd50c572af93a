// The kit's journal is as strict as the store that it stands for.

#include "evershard/actors/kit/kit_journal.hpp"

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard::actors {
namespace {

/// Appends as an aggregate does, and the answer.
struct Writer {
  KitJournal& journal;
  Result<Appended> operator()(Append append, AppendChain chain = {}) const {
    Result<Appended> result = refuse(ErrorCode::timeout, "no answer");
    journal.append(std::move(append), chain, 0, [&](Result<Appended> told) { result = std::move(told); });
    return result;
  }
};

std::string code(const Result<Appended>& result) { return result ? "ok" : std::string(name_of(result.error().code)); }
Append deposit(std::int64_t amount, std::string_view account = "1") {
  return from_outside(account, "deposited", std::to_string(amount));
}
Append named(std::string id) {
  Append append = deposit(1);
  append.command = CommandRecord{one, std::move(id), "reply"};
  return append;
}

struct KitJournalTest : ::testing::Test {
  KitJournal journal{{.limits = {.page_events_max = 2}, .queued = false}};
  Writer write{journal};
};

TEST_F(KitJournalTest, PlacesEventsDenselyAndTogether) {
  auto append = deposit(1);
  append.event("account-2", "deposited", "2").event("account-1", "deposited", "3").event("", "noted", "4");

  const auto done = write(append);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->first_position, GlobalPosition{1});
  EXPECT_EQ(done->last_position, GlobalPosition{4});
  EXPECT_EQ(done->versions, (std::vector<AggregateVersion>{{one, SeqNr{2}}, {{"account", "2"}, SeqNr{1}}}));
  const auto events = journal.events();
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(events[i].position.value, i + 1);
    EXPECT_EQ(events[i].append_index, i);
    EXPECT_EQ(events[i].append_events, 4u);
    EXPECT_TRUE(events[i].id.given());
  }
  EXPECT_FALSE(events[3].aggregate);
  EXPECT_EQ(journal.watermark(), GlobalPosition{4});
}

TEST_F(KitJournalTest, RefusesWhatTheStoreRefuses) {
  EXPECT_EQ(code(write(Append{})), "invalid_argument");
  EXPECT_EQ(code(write(deposit(1).expect("account-1", Version::exactly(1)))), "version_conflict");
  EXPECT_EQ(code(write(deposit(1).expect("account-1", Version::none()))), "ok");
  EXPECT_EQ(code(write(deposit(1).expect("account-1", Version::none()))), "version_conflict");
  EXPECT_EQ(code(write(deposit(1).expect("account-2", Version::none()))), "ok") << "a guard over another aggregate";
  EXPECT_EQ(code(write(named("a"))), "ok");
  EXPECT_EQ(code(write(named("a"))), "duplicate_event");
  EXPECT_EQ(journal.watermark(), GlobalPosition{3});
}

TEST_F(KitJournalTest, ChecksConditionsOverEverything) {
  ASSERT_TRUE(write(from_outside("2", "claimed", "7", {"claim:7"})));
  ASSERT_TRUE(write(deposit(1)));

  const auto failed = write(deposit(1).fail_if(Query{}.tags({"other"})).fail_if(Query{}.tags({"claim:7"})));

  ASSERT_EQ(code(failed), "condition_failed");
  EXPECT_EQ(failed.error().details->condition, 1u);
  EXPECT_EQ(failed.error().details->position, GlobalPosition{1});
  EXPECT_EQ(code(write(deposit(1).fail_if(Query{}.tags({"claim:7"}), GlobalPosition{1}))), "ok");
  EXPECT_EQ(code(write(deposit(1).fail_if(Query::all(), GlobalPosition{2}))), "condition_failed");
  EXPECT_EQ(code(write(deposit(1).fail_if(Query::all(), GlobalPosition{99}))), "ok");
}

// The version holds by chance: an outsider's event stands where the one before it should.
TEST_F(KitJournalTest, BreaksAChainAtAnOutsidersEvent) {
  ASSERT_TRUE(journal.append_now(deposit(1)));

  EXPECT_EQ(code(write(deposit(2).expect("account-1", Version::none()), {7, false})), "version_conflict");
  EXPECT_EQ(code(write(deposit(3).expect("account-1", Version::exactly(1)), {7, true})), "version_conflict");
  EXPECT_EQ(code(write(deposit(4).expect("account-1", Version::exactly(1)), {7, false})), "ok");
  EXPECT_EQ(code(write(deposit(5).expect("account-1", Version::exactly(2)), {7, true})), "ok");
  EXPECT_EQ(code(write(deposit(6).expect("account-1", Version::exactly(3)), {8, true})), "version_conflict");
}

TEST_F(KitJournalTest, KeepsCommandRecords) {
  ASSERT_TRUE(write(named("a")));
  ASSERT_TRUE(write(deposit(1)));

  const auto found = journal.command(one, "a");

  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->reply, "reply");
  EXPECT_EQ((*found)->version, SeqNr{1});
  EXPECT_EQ((*found)->position, GlobalPosition{1});
  EXPECT_FALSE(*journal.command(one, "b"));
  EXPECT_FALSE(*journal.command({"account", "2"}, "a"));
}

TEST_F(KitJournalTest, AnswersTheSameRequestAgain) {
  EventId id;
  id.bytes.fill(3);
  const auto first = write(deposit(1).request(id));

  const auto again = write(deposit(1).request(id));

  ASSERT_TRUE(first && again);
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
  EXPECT_EQ(journal.watermark(), GlobalPosition{1});
}

TEST_F(KitJournalTest, ReadsInPages) {
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(write(deposit(i, i == 3 ? "2" : "1")));

  const auto first = journal.stream(one, {});
  const auto second = journal.stream(one, {.from = SeqNr{3}});
  const auto as_of = journal.stream(one, {.up_to = GlobalPosition{1}});
  const auto matches = journal.query(Query{}.types({"deposited"}), {.after = GlobalPosition{1}});
  const auto rest =
      journal.query(Query{}.types({"deposited"}), {.after = GlobalPosition{3}, .up_to = GlobalPosition{4}});

  EXPECT_THAT(shown(first->events), ElementsAre("deposited 1", "deposited 2"));
  EXPECT_FALSE(first->complete);
  EXPECT_THAT(shown(second->events), ElementsAre("deposited 4", "deposited 5"));
  EXPECT_TRUE(second->complete);
  EXPECT_THAT(shown(as_of->events), ElementsAre("deposited 1"));
  EXPECT_THAT(shown(matches->events), ElementsAre("deposited 2", "deposited 3"));
  EXPECT_FALSE(matches->complete);
  EXPECT_THAT(shown(rest->events), ElementsAre("deposited 4"));
  EXPECT_TRUE(rest->complete);
  EXPECT_FALSE(journal.query(Query{}, {}));
  EXPECT_EQ(journal.query(Query::all(), {.at_least = GlobalPosition{6}}).error().code, ErrorCode::timeout);
}

TEST_F(KitJournalTest, HoldsAppendsAndAnswers) {
  std::vector<std::string> told;
  const auto send = [&] {
    journal.append(deposit(1), {}, 0, [&](const Result<Appended>& result) { told.push_back(code(result)); });
  };

  journal.hold_appends();
  send();
  send();
  EXPECT_EQ(journal.undecided(), 2u);
  EXPECT_EQ(journal.watermark(), GlobalPosition{0});
  journal.hold_answers();
  journal.release_appends();
  EXPECT_EQ(journal.watermark(), GlobalPosition{2});
  EXPECT_EQ(journal.unanswered(), 2u);
  EXPECT_THAT(told, IsEmpty());
  journal.release_answers();
  EXPECT_THAT(told, ElementsAre("ok", "ok"));
}

TEST_F(KitJournalTest, FailsAsOrdered) {
  journal.fail_next_append(Fault::refused, ErrorCode::overloaded);
  journal.fail_next_append(Fault::lost_written, ErrorCode::io);
  journal.fail_next_append(Fault::lost_not_written, ErrorCode::timeout);
  journal.fail_next_append(Fault::unanswered_written, ErrorCode::timeout);
  journal.fail_next_append(Fault::unanswered_not_written, ErrorCode::timeout);

  EXPECT_EQ(code(write(deposit(1))), "overloaded");
  EXPECT_EQ(code(write(deposit(2))), "io");
  EXPECT_EQ(code(write(deposit(3))), "timeout");
  EXPECT_EQ(code(write(deposit(4))), "timeout") << "no answer";
  EXPECT_EQ(code(write(deposit(5))), "timeout") << "no answer";
  EXPECT_EQ(code(write(deposit(6))), "ok");
  EXPECT_THAT(shown(journal.events()), ElementsAre("deposited 2", "deposited 4", "deposited 6"));

  // What would have been refused anyway is not lost: it is refused.
  journal.fail_next_append(Fault::lost_written, ErrorCode::io);
  EXPECT_EQ(code(write(deposit(1).expect("account-1", Version::none()))), "version_conflict");
}

TEST_F(KitJournalTest, ForgetsWhatIsUnderWayWhenItsUserIsGone) {
  bool told = false;
  journal.hold_answers();
  journal.append(deposit(1), {}, 0, [&](const auto&) { told = true; });
  journal.hold_appends();
  journal.append(deposit(2), {}, 0, [&](const auto&) { told = true; });

  journal.disconnect();
  journal.append(deposit(3), {}, 0, [&](const auto&) { told = true; });
  EXPECT_EQ(journal.stream(one, {}).error().code, ErrorCode::unavailable);
  journal.connect();

  EXPECT_EQ(code(write(deposit(4))), "ok");
  EXPECT_FALSE(told);
  EXPECT_THAT(shown(journal.events()), ElementsAre("deposited 1", "deposited 4"));
}

TEST_F(KitJournalTest, KeepsCopiesOfSnapshotsAndHidesExpiredOnes) {
  Timestamp now{1'000'000};
  KitJournal timed({.queued = false, .now = [&] { return now; }});
  const auto put = [&](std::uint64_t version, std::optional<std::uint32_t> keep,
                       std::optional<std::chrono::seconds> ttl = {}) {
    Snapshot snapshot;
    snapshot.aggregate = one;
    snapshot.version = SeqNr{version};
    snapshot.payload = std::to_string(version);
    snapshot.keep = keep;
    snapshot.ttl = ttl;
    return timed.put_snapshot(snapshot).has_value();
  };
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(timed.append_now(deposit(1)));
  const auto versions = [&] {
    std::vector<std::uint64_t> seen;
    for (const auto& snapshot : timed.snapshots_of(one)) seen.push_back(snapshot.version.value);
    return seen;
  };

  EXPECT_FALSE(put(0, 2));
  EXPECT_FALSE(put(10, 2));
  EXPECT_TRUE(put(1, 2) && put(2, 2) && put(3, 2));
  EXPECT_THAT(versions(), ElementsAre(3, 3, 2));
  EXPECT_TRUE(put(4, {}));
  EXPECT_THAT(versions(), ElementsAre(4, 3, 2)) << "older copies stay as they are";
  EXPECT_TRUE(put(5, 2, 10s));
  EXPECT_EQ((*timed.snapshot(one, GlobalPosition{5}))->version, SeqNr{5});
  EXPECT_TRUE(put(6, {}));
  EXPECT_EQ((*timed.snapshot(one, GlobalPosition{5}))->version, SeqNr{5});
  now.micros += 11'000'000;
  EXPECT_EQ((*timed.snapshot(one, GlobalPosition{5}))->version, SeqNr{3}) << "its time to live is over";
  EXPECT_EQ((*timed.snapshot(one, {}))->version, SeqNr{6});
  EXPECT_TRUE(put(7, 0));
  EXPECT_THAT(versions(), ElementsAre(7));
}

TEST(ShuffledKitJournal, AnswersInAnOrderOfTheSeed) {
  const auto order_of = [](std::uint64_t seed) {
    KitJournal journal({.any_order = true, .seed = seed});
    std::vector<int> order;
    for (int i = 0; i < 8; ++i) journal.append(deposit(i), {}, 0, [&order, i](const auto&) { order.push_back(i); });
    while (journal.step()) {
    }
    EXPECT_THAT(shown(journal.events()), ElementsAre("deposited 0", "deposited 1", "deposited 2", "deposited 3",
                                                     "deposited 4", "deposited 5", "deposited 6", "deposited 7"))
        << "decisions stay in order";
    return order;
  };

  EXPECT_EQ(order_of(1), order_of(1));
  EXPECT_NE(order_of(1), order_of(2));
  EXPECT_NE(order_of(1), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
}  // namespace evershard::actors
