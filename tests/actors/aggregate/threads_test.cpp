// With real threads: asks from many of them, blocking and not, while the host runs and while it stops.

#include "tests/actors/aggregate/kit_looks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "evershard/actors/kit/kit_journal.hpp"

namespace evershard {
namespace {

using actors::AggregateHost;
using actors::AggregateHostOptions;
using actors::KitJournal;

struct OnThreads : ::testing::Test {
  KitJournal journal{{.queued = false}};
};

template <class Do>
void on_threads(int count, Do work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (auto& thread : threads) thread.join();
}

TEST_F(OnThreads, BlockingAsksOfManyAreAllAnsweredInOrderOfEach) {
  AggregateHost host(journal, 4, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());

  on_threads(16, [&](int t) {
    std::int64_t last = 0;
    for (int i = 0; i < 50; ++i) {
      const auto mine = door.get<SmallBank>("mine" + std::to_string(t)).ask(Deposit{1});
      ASSERT_EQ(shown(mine), std::to_string(i + 1));
      const auto ours = door.get<SmallBank>("ours").ask(Deposit{1});
      ASSERT_TRUE(ours) << ours.error().what;
      ASSERT_GT(ours->n, last);
      last = ours->n;
    }
  });

  EXPECT_EQ(door.get<SmallBank>("ours").state()->state.balance, 16 * 50);
  EXPECT_EQ(journal.events().size(), 2u * 16 * 50);
  EXPECT_EQ(host.figures().counters.failed, 0u);
}

TEST_F(OnThreads, ABlockingAskComesBackWhateverHappens) {
  AggregateHost host(journal, 2, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  journal.hold_appends();

  auto soonest = std::chrono::steady_clock::duration::max();  // a busy machine may hold up some of them
  int asked = 0;
  for (; asked != 5 && soonest >= 1s; ++asked) {
    const auto begun = std::chrono::steady_clock::now();
    const auto lost = door.get<SmallBank>("1").ask(Deposit{1}, {.timeout = 50ms});
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_EQ(shown(lost), "timeout");
    EXPECT_GE(took, 50ms);
    soonest = std::min(soonest, took);
  }
  EXPECT_LT(soonest, 1s) << "the aggregate answers at the deadline, nobody has to wait for the grace";
  journal.release_appends();
  EXPECT_EQ(shown(door.get<SmallBank>("1").ask(Deposit{1})), std::to_string(asked + 1));
}

// Asks stream in from everywhere while it stops: every one of them is answered, once.
TEST_F(OnThreads, StoppingUnderAStreamOfAsksLeavesNobodyWaiting) {
  for (int round = 0; round < 5; ++round) {
    KitJournal fresh({.queued = false});
    auto host = std::make_unique<AggregateHost>(fresh, 4, AggregateHostOptions{});
    AggregateDoor& door = *host;
    ASSERT_TRUE(door.host<SmallBank>());
    std::atomic<std::uint64_t> asked{0}, told{0}, stored{0};
    std::atomic<bool> enough{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; !enough; ++i) {
          auto account = door.get<SmallBank>(std::to_string((t * 7 + i) % 50));
          ++asked;
          if (i % 8 == 0) {
            stored += account.ask(Deposit{1}) ? 1u : 0u;
            ++told;
          } else {
            account.ask_async(Deposit{1}, [&](const Answer<Balance>& answer) {
              EXPECT_TRUE(answer || answer.error().code == ErrorCode::unavailable ||
                          answer.error().code == ErrorCode::overloaded)
                  << answer.error().what;
              stored += answer ? 1u : 0u;
              ++told;
            });
          }
          if (asked - told > 5'000) std::this_thread::sleep_for(1ms);
        }
      });
    }
    while (told < 500) std::this_thread::sleep_for(1ms);

    host->stop();
    enough = true;
    for (auto& thread : threads) thread.join();

    EXPECT_EQ(asked, told);
    EXPECT_EQ(stored, fresh.events().size()) << "what was written was answered so";
    const auto counters = host->figures().counters;
    EXPECT_EQ(counters.asked, counters.replied + counters.rejected + counters.failed);
    host.reset();
    EXPECT_EQ(asked, told);
  }
}

TEST_F(OnThreads, StoppingTwiceAtOnceIsHarmless) {
  AggregateHost host(journal, 4, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  EXPECT_EQ(shown(door.get<SmallBank>("1").ask(Deposit{1})), "1");

  on_threads(4, [&](int) { host.stop(); });

  EXPECT_EQ(shown(door.get<SmallBank>("1").ask(Deposit{1})), "unavailable");
}

TEST_F(OnThreads, StoppingDoesNotWaitForeverForAStoreThatIsSilent) {
  AggregateHost host(journal, 2, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  journal.hold_appends();
  auto pending = door.get<SmallBank>("1").ask_future(Deposit{1});
  while (journal.undecided() == 0) std::this_thread::sleep_for(1ms);

  host.stop(100ms);

  EXPECT_EQ(shown(pending), "timeout");
  journal.release_appends();  // its answer finds nobody
  EXPECT_THAT(journal.events(), SizeIs(1));
}

TEST_F(OnThreads, ACommandSentTwiceAtOnceIsCarriedOutOnce) {
  AggregateHost host(journal, 4, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  std::atomic<int> fresh{0};

  on_threads(8, [&](int) {
    for (int i = 0; i < 50; ++i) {
      const auto answer = door.get<SmallBank>("1").ask(Deposit{1}, {.command_id = "c" + std::to_string(i)});
      ASSERT_TRUE(answer) << answer.error().what;
      ASSERT_EQ(answer->n, i + 1) << "whoever carried it out: the same reply";
      fresh += answer.duplicate() ? 0 : 1;
    }
  });

  EXPECT_EQ(fresh, 50);
  EXPECT_THAT(journal.events(), SizeIs(50));
}

// Outsiders append to the same account all the time: nobody forks it.
TEST_F(OnThreads, AppendsFromOutsideRaceAndNeverForkIt) {
  AggregateHost host(journal, 2, {});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>({.conflict_retries = 50}));
  std::atomic<bool> done{false};
  std::thread outsider([&] {
    // Not without end: each of them makes loading longer, and who is slower than others append does not get through.
    for (int i = 0; i < 200 && !done; ++i) {
      EXPECT_TRUE(journal.append_now(from_outside("1", "deposited", "1")));
      std::this_thread::sleep_for(2ms);
    }
  });

  on_threads(4, [&](int) {
    // More where a busy machine keeps the outsider away.
    for (int i = 0; i < 60 || (i < 3'000 && host.figures().counters.conflicts == 0); ++i) {
      const auto answer =
          i % 2 == 0 ? door.get<SmallBank>("1").ask(Deposit{2}) : door.get<SmallBank>("1").ask(Withdraw{3});
      ASSERT_FALSE(answer.failed()) << answer.error().what;
      if (!answer) continue;
      const auto state = door.get<SmallBank>("1").state_at(answer.position());
      ASSERT_TRUE(state);
      ASSERT_EQ(state->state.balance, answer->n) << "decided over what is stored before it";
    }
  });
  done = true;
  outsider.join();

  EXPECT_TRUE(door.get<SmallBank>("1").ask(Deposit{1}));  // it may not have heard of the last one yet
  EXPECT_EQ(door.get<SmallBank>("1").state()->state.balance, replayed(journal.events_of(one)));
  EXPECT_GT(host.figures().counters.conflicts, 0u);
}

/// Counts who reads at once.
class CountedJournal final : public actors::AggregateJournal {
 public:
  explicit CountedJournal(KitJournal& behind) : behind_(behind) {}
  void append(Append append, AppendChain chain, std::uint64_t loaded_at,
              std::function<void(Result<Appended>)> done) override {
    behind_.append(std::move(append), chain, loaded_at, std::move(done));
  }
  [[nodiscard]] Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const override {
    const int now = ++reading;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(2ms);
    --reading;
    return behind_.snapshot(aggregate, up_to);
  }
  [[nodiscard]] Result<Page> stream(const AggregateId& aggregate, const StreamOptions& options) const override {
    return behind_.stream(aggregate, options);
  }
  [[nodiscard]] Result<Page> query(const Query& query, const ReadOptions& options) const override {
    return behind_.query(query, options);
  }
  [[nodiscard]] Result<std::optional<actors::RecordedCommand>> command(const AggregateId& aggregate,
                                                                       std::string_view id) const override {
    return behind_.command(aggregate, id);
  }
  [[nodiscard]] Result<void> put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) override {
    return behind_.put_snapshot(std::move(snapshot), loaded_at);
  }
  [[nodiscard]] GlobalPosition watermark() const override { return behind_.watermark(); }

  mutable std::atomic<int> reading{0};
  mutable std::atomic<int> most{0};

 private:
  KitJournal& behind_;
};

TEST_F(OnThreads, NoMoreLoadAtOnceThanThereArePermits) {
  CountedJournal counted(journal);
  AggregateHost host(counted, 8, {.recovery_permits = 3, .reading_threads = 8});
  AggregateDoor& door = host;
  ASSERT_TRUE(door.host<SmallBank>());
  std::vector<std::future<Answer<Balance>>> pending;

  for (int i = 0; i < 100; ++i) pending.push_back(door.get<SmallBank>(std::to_string(i)).ask_future(Deposit{1}));
  for (auto& one_of_them : pending) EXPECT_EQ(shown(one_of_them.get()), "1");

  EXPECT_EQ(counted.most, 3);
}

}  // namespace
}  // namespace evershard
