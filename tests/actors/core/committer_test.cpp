// The committer's threads: every append answered once, in every state the store can be in.

#include "evershard/actors/core/committer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>

#include "tests/actors/core/one_thread.hpp"

namespace evershard::actors {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// The answers to appends that were sent without waiting.
class Answers {
 public:
  AppendDone next() {
    auto promise = std::make_shared<std::promise<Result<Appended>>>();
    futures_.push_back(promise->get_future());
    return [promise](Result<Appended> result) { promise->set_value(std::move(result)); };
  }
  Result<Appended> get(std::size_t i) { return futures_[i].get(); }
  bool there(std::size_t i) { return futures_[i].wait_for(0s) == std::future_status::ready; }
  [[nodiscard]] std::size_t size() const { return futures_.size(); }

 private:
  std::vector<std::future<Result<Appended>>> futures_;
};

ErrorCode code_of(const Result<Appended>& result) { return result ? ErrorCode{} : result.error().code; }

struct CommitterTest : ::testing::Test {
  SteeredStore store{4};
  CommitterOptions options;
};

TEST_F(CommitterTest, ShowsWhatItAnswered) {
  Committer committer(store, {});

  auto first = committer.append(one("order-1"));
  auto second = committer.append(one("order-1").expect("order-1", Version::exactly(1)));

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->versions, (std::vector<AggregateVersion>{{{"order", "1"}, SeqNr{1}}}));
  EXPECT_EQ(second->first_position, GlobalPosition{2});
  EXPECT_EQ(second->versions[0].version, SeqNr{2});
  EXPECT_EQ(store.view().watermark, GlobalPosition{2});
  EXPECT_EQ(committer.watermark(), GlobalPosition{2});
}

TEST_F(CommitterTest, WritesAnAppendThatIsAloneInItsOwnCommit) {
  Committer committer(store, {});

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(committer.append(one("order-1")));

  EXPECT_THAT(store.appends_by_commit(), ElementsAre(1, 1, 1));
}

TEST_F(CommitterTest, MakesOneBatchOfWhatCameDuringAWrite) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();
  committer.append_async(one("order-1"), answers.next());
  store.await_commit();

  for (int i = 0; i < 20; ++i) committer.append_async(one("order-" + std::to_string(i)), answers.next());
  store.release_commits();
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers.get(i)->first_position.value, i + 1);

  EXPECT_THAT(store.appends_by_commit(), ElementsAre(1, 20));
}

TEST_F(CommitterTest, AnswersAndShowsNothingBeforeTheWriteIsDone) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();

  committer.append_async(one("order-1"), answers.next());
  store.await_commit();
  std::this_thread::sleep_for(20ms);

  EXPECT_FALSE(answers.there(0));
  EXPECT_EQ(committer.watermark(), GlobalPosition{0});
  store.release_commits();
  EXPECT_TRUE(answers.get(0));
}

TEST_F(CommitterTest, DecidesOnTopOfWhatIsNotWrittenYet) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();

  committer.append_async(one("order-1").expect("order-1", Version::none()), answers.next());
  committer.append_async(one("order-1").expect("order-1", Version::exactly(1)), answers.next());
  committer.append_async(one("order-1").expect("order-1", Version::exactly(2)), answers.next());
  store.release_commits();

  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(answers.get(i).value().versions[0].version.value, i + 1);
}

TEST_F(CommitterTest, AnswersARefusalOnlyWhenWhatItRestsOnCanBeRead) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();
  committer.append_async(one("order-1"), answers.next());
  store.await_commit();

  committer.append_async(one("order-1").expect("order-1", Version::none()), answers.next());
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(answers.there(1));
  store.release_commits();

  auto refused = answers.get(1);
  ASSERT_EQ(code_of(refused), ErrorCode::version_conflict);
  EXPECT_EQ(refused.error().what, "stream \"order-1\" is at version 1, the append expects none");
  EXPECT_EQ(refused.error().details->actual, SeqNr{1});
}

// Trap: one bad request sinks the whole batch of a buffered writer.
TEST_F(CommitterTest, GivesABadAppendItsOwnErrorAmongGoodNeighbours) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();
  committer.append_async(one("warm-up"), answers.next());
  store.await_commit();

  committer.append_async(one("order-1"), answers.next());
  committer.append_async(one("order-2").expect("order-2", Version::exactly(9)), answers.next());
  committer.append_async(one("order-3", ""), answers.next());
  committer.append_async(one("order-4").fail_if(Query{}.types({"Placed"})), answers.next());
  committer.append_async(one("order-5"), answers.next());
  store.release_commits();

  EXPECT_EQ(answers.get(1).value().first_position, GlobalPosition{2});
  EXPECT_EQ(code_of(answers.get(2)), ErrorCode::version_conflict);
  EXPECT_EQ(code_of(answers.get(3)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(answers.get(4)), ErrorCode::condition_failed);
  EXPECT_EQ(answers.get(5).value().first_position, GlobalPosition{3});
}

// Trap: check-then-insert race.
TEST_F(CommitterTest, LetsOneOfManyRivalsWin) {
  Committer committer(store, {});
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> rivals;

  for (int t = 0; t < 8; ++t) {
    rivals.emplace_back([&] {
      for (std::uint64_t round = 0; round < 50; ++round) {
        auto append = one("order-1").expect("order-1", Version::exactly(round));
        auto result = committer.append(std::move(append));
        ++(result ? won : lost);
        EXPECT_TRUE(result || code_of(result) == ErrorCode::version_conflict) << result.error().what;
        while (!result && committer.watermark().value <= round) std::this_thread::yield();
      }
    });
  }
  for (auto& rival : rivals) rival.join();

  EXPECT_EQ(won, 50);
  EXPECT_EQ(lost, 350);
  EXPECT_EQ(committer.watermark(), GlobalPosition{50});
}

TEST_F(CommitterTest, LetsOneOfManyRivalConditionsWin) {
  Committer committer(store, {});
  std::atomic<int> won{0};
  std::vector<std::thread> rivals;

  for (int t = 0; t < 6; ++t) {
    rivals.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const Tag seat = "seat:" + std::to_string(round);
        auto result = committer.append(one("", "Booked", {seat}).fail_if(Query{}.tags({seat})));
        won += result.has_value();
        EXPECT_TRUE(result || code_of(result) == ErrorCode::condition_failed) << result.error().what;
      }
    });
  }
  for (auto& rival : rivals) rival.join();

  EXPECT_EQ(won, 20);
}

TEST_F(CommitterTest, AnswersARequestThatIsSentTwiceAtOnceTheSame) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();
  const auto request = EventId::random();
  const auto append = [&] { return one("order-1").expect("order-1", Version::none()).request(request); };

  for (int i = 0; i < 4; ++i) committer.append_async(append(), answers.next());
  store.release_commits();

  auto first = answers.get(0).value();
  EXPECT_FALSE(first.duplicate);
  for (std::size_t i = 1; i < 4; ++i) {
    auto again = answers.get(i).value();
    EXPECT_TRUE(again.duplicate);
    again.duplicate = false;
    EXPECT_EQ(again, first);
  }
  EXPECT_EQ(committer.watermark(), GlobalPosition{1});
}

TEST_F(CommitterTest, BoundsWhatWaitsPerShard) {
  options.limits.shard_queue_appends_max = 3;
  Committer committer(store, options);
  Answers answers;
  store.hold_commits();

  for (int i = 0; i < 5; ++i) committer.append_async(one("order-1"), answers.next());
  EXPECT_EQ(code_of(answers.get(3)), ErrorCode::overloaded);
  EXPECT_EQ(code_of(answers.get(4)), ErrorCode::overloaded);
  store.release_commits();

  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(answers.get(i));
  committer.append_async(one("order-1"), answers.next());
  EXPECT_TRUE(answers.get(5));
}

TEST_F(CommitterTest, SaysWhyTheStoreTakesNothing) {
  Committer committer(store, {});
  const std::pair<storage::Admission::Kind, ErrorCode> table[] = {
      {storage::Admission::Kind::full, ErrorCode::overloaded},
      {storage::Admission::Kind::disk, ErrorCode::unavailable},
      {storage::Admission::Kind::failed, ErrorCode::io},
  };

  for (const auto& [kind, code] : table) {
    store.admit({kind, 0, "because"});
    auto refused = committer.append(one("order-1"));
    ASSERT_EQ(code_of(refused), code);
    EXPECT_EQ(refused.error().what, "because");
  }

  store.admit({storage::Admission::Kind::slow, 10, ""});
  EXPECT_TRUE(committer.append(one("order-1")));
}

// Trap: I/O error reported as a failed condition.
TEST_F(CommitterTest, AnswersAFailedWriteAsUnknownAndAllThatComesAfterAsNotWritten) {
  options.stage_early_appends = 1;
  Committer committer(store, options);
  Answers answers;
  const auto request = EventId::random();
  store.hold_commits();
  committer.append_async(one("order-1").request(request), answers.next());
  store.await_commit();
  committer.append_async(one("order-1").expect("order-1", Version::none()), answers.next());  // rests on it
  committer.append_async(one("order-1").request(request), answers.next());                    // joins it
  committer.append_async(one("order-2"), answers.next());

  store.await_staged(2);  // on top of what will not be there
  store.fail_commit();
  store.release_commits();

  EXPECT_EQ(code_of(answers.get(0)), ErrorCode::timeout);
  EXPECT_EQ(code_of(answers.get(1)), ErrorCode::io);
  EXPECT_EQ(code_of(answers.get(2)), ErrorCode::timeout);
  EXPECT_EQ(code_of(answers.get(3)), ErrorCode::io);
  EXPECT_EQ(code_of(committer.append(one("order-3"))), ErrorCode::io);
  EXPECT_THAT(store.appends_by_commit(), ::testing::IsEmpty());
  EXPECT_EQ(committer.watermark(), GlobalPosition{0});
  EXPECT_EQ(committer.watch().wait_for(GlobalPosition{1}, 10s).error().code, ErrorCode::io);
}

TEST_F(CommitterTest, WritesASnapshotOfAVersionThatExists) {
  Committer committer(store, {});
  ASSERT_TRUE(committer.append(one("order-1")));
  Snapshot snapshot;
  snapshot.aggregate = {"order", "1"};
  snapshot.version = SeqNr{1};
  snapshot.payload = "state";

  ASSERT_TRUE(committer.put_snapshot(snapshot));
  snapshot.version = SeqNr{2};
  auto refused = committer.put_snapshot(snapshot);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  auto stored = storage::Reader(store).latest_snapshot({"order", "1"});
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->payload, "state");
  EXPECT_EQ((*stored)->position, GlobalPosition{1});
}

TEST_F(CommitterTest, TellsOfEveryMoveOfTheWatermark) {
  Committer committer(store, {});
  std::atomic<std::uint64_t> heard{0};
  const auto id = committer.watch().listen([&](GlobalPosition position) { heard = position.value; });

  ASSERT_TRUE(committer.append(one("order-1")));
  EXPECT_EQ(heard, 1);
  committer.watch().unlisten(id);
  ASSERT_TRUE(committer.append(one("order-1")));

  EXPECT_EQ(heard, 1);
  EXPECT_EQ(committer.watch().wait_for(GlobalPosition{2}, 0ms).value(), GlobalPosition{2});
  EXPECT_EQ(committer.watch().wait_for(GlobalPosition{3}, 1ms).error().code, ErrorCode::timeout);
}

TEST_F(CommitterTest, AnswersEverythingBeforeItStops) {
  Committer committer(store, {});
  Answers answers;
  store.hold_commits();
  for (int i = 0; i < 100; ++i) committer.append_async(one("order-" + std::to_string(i % 7)), answers.next());
  store.await_commit();

  std::thread stopping([&] { committer.stop(); });
  std::this_thread::sleep_for(10ms);
  store.release_commits();
  stopping.join();

  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_TRUE(answers.there(i) && answers.get(i));
  EXPECT_EQ(code_of(committer.append(one("order-1"))), ErrorCode::unavailable);
  EXPECT_EQ(committer.watch().wait_for(GlobalPosition{999}, 10s).error().code, ErrorCode::unavailable);
  committer.stop();
}

TEST_F(CommitterTest, StopsFromACompletion) {
  Committer committer(store, {});
  std::promise<void> stopped;

  committer.append_async(one("order-1"), [&](const Result<Appended>& result) {
    EXPECT_TRUE(result);
    committer.stop();
    stopped.set_value();
  });
  stopped.get_future().wait();

  EXPECT_EQ(code_of(committer.append(one("order-1"))), ErrorCode::unavailable);
}

TEST_F(CommitterTest, TakesAppendsFromItsOwnCompletions) {
  Committer committer(store, {});
  std::promise<GlobalPosition> last;
  std::function<void(int)> next = [&](int left) {
    committer.append_async(one("order-1"), [&, left](const Result<Appended>& result) {
      if (left != 0)
        next(left - 1);
      else
        last.set_value(result->last_position);
    });
  };

  next(50);

  EXPECT_EQ(last.get_future().get(), GlobalPosition{51});
}

TEST_F(CommitterTest, AnswersEachOfManyAppendsOnceWhileItIsStopped) {
  for (int round = 0; round < 5; ++round) {
    SteeredStore fresh{4};
    options.limits.shard_queue_appends_max = 40;
    Committer committer(fresh, options);
    std::atomic<int> sent{0}, answered{0}, appended{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&, t] {
        for (int i = 0; !over; ++i) {
          auto append = one("order-" + std::to_string(i % 5), "Placed", {"t:" + std::to_string(t)});
          if (i % 3 == 0)
            append.expect("order-" + std::to_string(i % 5), Version::exactly(static_cast<std::uint64_t>(i)));
          if (i % 4 == 0) append.fail_if(Query{}.tags({"t:" + std::to_string((t + 1) % 4)}), committer.watermark());
          if (i % 5 == 0) append.request(EventId::derived(EventId{}, static_cast<std::uint32_t>(i)));
          ++sent;
          if (i % 2 == 0) {
            auto result = committer.append(std::move(append));
            appended += result && !result->duplicate;
            ++answered;
          } else {
            committer.append_async(std::move(append), [&](const Result<Appended>& result) {
              appended += result && !result->duplicate;
              ++answered;
            });
          }
        }
      });
    }

    std::this_thread::sleep_for(30ms);
    committer.stop();
    over = true;
    for (auto& caller : callers) caller.join();

    EXPECT_EQ(answered, sent);
    EXPECT_EQ(fresh.view().watermark.value, static_cast<std::uint64_t>(appended));
    EXPECT_EQ(committer.stats().waiting, 0);
  }
}

}  // namespace
}  // namespace evershard::actors
