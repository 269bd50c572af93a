// Local: appending, blocking and not, with versions, conditions and retries.

#include <atomic>
#include <set>
#include <thread>

#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LocalAppend, AnswersPositionsAndNewVersions) {
  auto store = open_store();
  append_one(store, "order-1", "Placed");

  const auto done = store.append(
      Append{}.event("order-1", "Paid", "a").event("customer-7", "Charged", "b").event("order-1", "Shipped", "c"));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->first_position, GlobalPosition{2});
  EXPECT_EQ(done->last_position, GlobalPosition{4});
  EXPECT_THAT(done->versions,
              ElementsAre(AggregateVersion{{"order", "1"}, SeqNr{3}}, AggregateVersion{{"customer", "7"}, SeqNr{1}}));
  EXPECT_FALSE(done->duplicate);
}

TEST(LocalAppend, IsReadableOnceItIsAnswered) {
  auto store = open_store();

  const auto done = store.append(Append{}.event("order-1", "Placed", "bytes", {"b", "a", "b"}));

  const auto event = store.event_at(done->first_position);
  ASSERT_TRUE(event) << event.error().what;
  EXPECT_EQ(event->aggregate, (AggregateId{"order", "1"}));
  EXPECT_EQ(event->seq_nr, SeqNr{1});
  EXPECT_EQ(event->type, "Placed");
  EXPECT_EQ(event->payload, "bytes");
  EXPECT_THAT(event->tags, ElementsAre("a", "b"));
  EXPECT_TRUE(event->id.given());
}

TEST(LocalAppend, RefusesAVersionThatDoesNotHoldAndSaysWhich) {
  auto store = open_store();
  append_one(store, "order-1", "Placed");

  const auto refused = store.append(Append{}.event("order-1", "Paid", "").expect("order-1", Version::exactly(3)));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::version_conflict);
  EXPECT_EQ(refused.error().details->aggregate, (AggregateId{"order", "1"}));
  EXPECT_EQ(refused.error().details->expected, Version::exactly(3));
  EXPECT_EQ(refused.error().details->actual, SeqNr{1});
  EXPECT_EQ(store.head(), GlobalPosition{1});
}

TEST(LocalAppend, ChecksEveryKindOfExpectation) {
  auto store = open_store();
  append_one(store, "order-1", "Placed");
  const auto attempt = [&](const char* aggregate, ExpectedVersion version) {
    return code_of(store.append(Append{}.event("other-1", "T", "").expect(aggregate, version)));
  };

  EXPECT_EQ(attempt("order-1", Version::none()), "version_conflict");
  EXPECT_EQ(attempt("order-1", Version::exactly(0)), "version_conflict");
  EXPECT_EQ(attempt("order-1", Version::exactly(2)), "version_conflict");
  EXPECT_EQ(attempt("order-2", Version::exists()), "version_conflict");
  EXPECT_EQ(attempt("order-2", Version::exactly(1)), "version_conflict");
  EXPECT_EQ(attempt("order-1", Version::exists()), "ok");
  EXPECT_EQ(attempt("order-1", Version::exactly(1)), "ok");
  EXPECT_EQ(attempt("order-1", Version::any()), "ok");
  EXPECT_EQ(attempt("order-2", Version::none()), "ok");
}

TEST(LocalAppend, RequiresAllOfSeveralConditionsAndNamesTheOneThatFailed) {
  auto store = open_store();
  append_one(store, "customer-7", "CustomerBlocked", {"customer:7"});
  append_one(store, "customer-8", "CustomerSeen", {"customer:8"});
  const auto seen = append_one(store, "customer-8", "CustomerSeen", {"customer:8"});

  const auto refused = store.append(Append{}
                                        .event("order-1", "Placed", "")
                                        .fail_if(Query{}.types({"CustomerBlocked"}).tags({"customer:9"}))
                                        .fail_if(Query{}.tags({"customer:8"}), GlobalPosition{2}));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::condition_failed);
  EXPECT_EQ(refused.error().details->condition, 1u);
  EXPECT_EQ(refused.error().details->position, GlobalPosition{seen});
}

TEST(LocalAppend, AcceptsAConditionBehindTheLastMatchAndNoneBeyondTheHead) {
  auto store = open_store();
  append_one(store, "a-1", "T", {"x"});
  const auto attempt = [&](std::uint64_t after) {
    return code_of(store.append(Append{}.event("a-2", "U", "").fail_if(Query{}.tags({"x"}), GlobalPosition{after})));
  };

  EXPECT_EQ(attempt(0), "condition_failed");
  EXPECT_EQ(attempt(1), "ok");
  EXPECT_EQ(attempt(1'000'000), "invalid_argument") << "it is of another store, or of before a restore";
}

TEST(LocalAppend, AnswersARetryAsBefore) {
  auto store = open_store();
  const auto request = Append{}
                           .event("order-1", "Placed", "x", {"customer:7"})
                           .expect("order-1", Version::none())
                           .fail_if(Query{}.tags({"customer:7"}))
                           .request(id_of(1));
  const auto first = store.append(request);
  append_one(store, "order-1", "Paid");

  const auto again = store.append(request);

  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again->duplicate);
  EXPECT_EQ(again->first_position, first->first_position);
  EXPECT_EQ(again->versions, first->versions);
  EXPECT_EQ(store.head(), GlobalPosition{2});
}

TEST(LocalAppend, GivesTheSameToAFutureAndToACompletion) {
  auto store = open_store();
  std::promise<Result<Appended>> told;

  auto future = store.append_future(Append{}.event("a-1", "T", ""));
  store.append_async(Append{}.event("a-1", "T", ""),
                     [&](Result<Appended> answer) { told.set_value(std::move(answer)); });

  EXPECT_EQ(future.get()->first_position, GlobalPosition{1});
  EXPECT_EQ(told.get_future().get()->first_position, GlobalPosition{2});
}

TEST(LocalAppend, DecidesWhatOneThreadSendsInTheOrderItWasSent) {
  auto store = open_store({.shards = 4});
  std::vector<std::future<Result<Appended>>> answers;

  for (std::uint64_t i = 0; i < 300; ++i) {
    answers.push_back(
        store.append_future(Append{}.event("counter-1", "Counted", "").expect("counter-1", Version::exactly(i))));
  }

  for (std::uint64_t i = 0; i < answers.size(); ++i) {
    auto answer = answers[i].get();
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(answer->first_position, GlobalPosition{i + 1});
  }
}

TEST(LocalAppend, FromACompletionGoesOn) {
  auto store = open_store();
  std::promise<Result<Appended>> second;

  store.append_async(Append{}.event("a-1", "T", ""), [&](Result<Appended>) {
    store.append_async(Append{}.event("a-1", "T", ""),
                       [&](Result<Appended> answer) { second.set_value(std::move(answer)); });
  });

  EXPECT_EQ(second.get_future().get()->first_position, GlobalPosition{2});
}

TEST(LocalAppend, RefusesWhatTheBuilderCouldNotMake) {
  auto store = open_store();

  const auto refused = store.append(Append{}.event("no hyphen", "T", ""));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("no hyphen"));
}

TEST(LocalAppend, FromManyThreadsLeavesDensePositionsAndVersions) {
  auto store = open_store({.shards = 5});
  constexpr int threads = 4, each = 200;
  std::atomic<int> refused{0};

  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        refused +=
            !store.append(Append{}.event("own-" + std::to_string(t), "T", "").event("shared-1", "T", "")).has_value();
      }
    });
  }
  for (auto& writer : writers) writer.join();

  EXPECT_EQ(refused, 0);
  std::uint64_t position = 0, shared = 0;
  for (const auto& event : store.read(Query::all())) {
    ASSERT_EQ(event.position.value, ++position);
    if (event.aggregate->type == "shared") {
      ASSERT_EQ(event.seq_nr.value, ++shared);
    }
  }
  EXPECT_EQ(position, 2u * threads * each);
  EXPECT_EQ(shared, static_cast<std::uint64_t>(threads * each));
}

TEST(LocalAppend, WithTheSameConditionFromManyThreadsSucceedsOnce) {
  auto store = open_store();
  std::atomic<int> accepted{0}, failed{0};

  std::vector<std::thread> writers;
  for (int t = 0; t < 8; ++t) {
    writers.emplace_back([&, t] {
      const auto answer = store.append(Append{}
                                           .event("user-" + std::to_string(t), "Registered", "", {"name:ann"})
                                           .fail_if(Query{}.tags({"name:ann"})));
      accepted += answer.has_value();
      failed += !answer && answer.error().code == ErrorCode::condition_failed;
    });
  }
  for (auto& writer : writers) writer.join();

  EXPECT_EQ(accepted, 1);
  EXPECT_EQ(failed, 7);
}

TEST(LocalAppend, IsAnsweredOrRefusedWhenTheStoreCloses) {
  auto store = open_store();
  std::vector<std::future<Result<Appended>>> answers;
  std::atomic<bool> stop{false}, began{false};
  std::thread writer([&] {
    while (!stop) {
      answers.push_back(store.append_future(Append{}.event("a-1", "T", "")));
      began = true;
    }
  });

  while (!began) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  store.close();
  stop = true;
  writer.join();

  std::set<std::string> codes;
  for (auto& answer : answers) codes.insert(code_of(answer.get()));
  EXPECT_EQ(codes.erase("ok"), 1u);
  for (const auto& code : codes) EXPECT_TRUE(code == "unavailable" || code == "overloaded") << code;
  EXPECT_EQ(code_of(store.append(Append{}.event("a-1", "T", ""))), "unavailable");
}

TEST(LocalAppend, CarriesTheSnapshotOfTheVersionItLeaves) {
  auto store = open_store();
  append_one(store, "order-1", "Placed");

  auto paid = snapshot_of("order-1", 0, "paid");
  paid.schema_revision = 3;

  const auto done = store.append(Append{}.event("order-1", "Paid", "").snapshot(paid));

  const auto snapshot = store.snapshot({"order", "1"});
  ASSERT_TRUE(done) << done.error().what;
  ASSERT_TRUE(snapshot && *snapshot);
  EXPECT_EQ((*snapshot)->version, SeqNr{2});
  EXPECT_EQ((*snapshot)->position, done->last_position);
  EXPECT_EQ((*snapshot)->payload, "paid");
  EXPECT_EQ((*snapshot)->schema_revision, 3u);
}

TEST(LocalAppend, ThatIsRefusedLeavesNoSnapshot) {
  auto store = open_store();

  const auto refused = store.append(Append{}
                                        .event("order-1", "Paid", "")
                                        .expect("order-1", Version::exists())
                                        .snapshot(snapshot_of("order-1", 0, "paid")));

  EXPECT_EQ(code_of(refused), "version_conflict");
  EXPECT_FALSE(store.snapshot({"order", "1"})->has_value());
}

}  // namespace
}  // namespace evershard
