// Live aggregates on the store in this process.

#include <thread>

#include "tests/local/accounts.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(InMemory, Accounts, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Durable, Accounts, ::testing::Values(true));

TEST_P(Accounts, StoreWhatTheyAnswer) {
  const auto deposited = account().ask(Deposit{100});
  const auto refused = account().ask(Withdraw{300});
  const auto twice = account().ask(DepositTwice{5});

  EXPECT_EQ(shown(deposited), "100");
  EXPECT_EQ(shown(refused), "no: only 100");
  EXPECT_EQ(shown(twice), "110");
  EXPECT_EQ(twice.position(), store().head());
  EXPECT_EQ(shown(account().ask(Look{})), "110");
  EXPECT_THAT(positions_of(store().read("account-1")), ElementsAre(1, 2, 3));
  EXPECT_EQ(store().event_at(GlobalPosition{1})->type, "deposited");
}

TEST_P(Accounts, GiveTheStoredReplyAgain) {
  EXPECT_EQ(shown(account().ask(DepositTwice{5}, {.command_id = "a"})), "10");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(account().ask(Deposit{1}, {.command_id = "b" + std::to_string(i)}));

  const auto again = account().ask(DepositTwice{5}, {.command_id = "a"});
  account().passivate();
  const auto later = account().ask(DepositTwice{5}, {.command_id = "a"});

  EXPECT_EQ(shown(again), "10 again");
  EXPECT_EQ(shown(later), "10 again");
  EXPECT_EQ(later.version(), SeqNr{2});
  EXPECT_EQ(later.position(), GlobalPosition{2});
  EXPECT_EQ(store().head(), GlobalPosition{102});
}

TEST_P(Accounts, ShowTheirStateAtEveryPosition) {
  std::map<std::uint64_t, std::int64_t> balances;
  for (int i = 1; i <= 40; ++i) {
    const auto mine = account().ask(Deposit{i});
    balances[mine.position().value] = mine->n;
    const auto other = account("2").ask(Deposit{1});
    balances[other.position().value] = mine->n;
  }

  for (const auto& [position, balance] : balances) {
    const auto state = account().state_at(GlobalPosition{position});
    ASSERT_TRUE(state) << state.error().what;
    EXPECT_EQ(state->state.balance, balance) << "at " << position;
  }
  EXPECT_EQ(account("2").state_at(GlobalPosition{1})->version, SeqNr{0});
  EXPECT_EQ(account().state(StateRead::eventual)->state.balance, 820);
  EXPECT_EQ(account().state()->state.balance, 820);
  EXPECT_EQ(account().state()->position, GlobalPosition{79});
}

// Every acknowledged write is in what is read afterwards, whichever way.
TEST_P(Accounts, ReadTheirOwnWrites) {
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(account().ask(Deposit{1}));
    ASSERT_EQ(account().state(StateRead::eventual)->state.balance, i);
    ASSERT_EQ(account().state()->state.balance, i);
  }
}

TEST_P(Accounts, TakeSnapshotsByPolicyAndOnDemand) {
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(account().ask(Deposit{1}));
  const auto by_policy = store().snapshots(one);
  ASSERT_TRUE(by_policy && !by_policy->empty());
  EXPECT_EQ(by_policy->front().version, SeqNr{20});

  ASSERT_TRUE(account().snapshot());

  EXPECT_EQ((*store().snapshot(one))->version, SeqNr{25});
  EXPECT_EQ((*store().snapshot(one))->payload, "25/25");
  EXPECT_EQ(account("nobody").snapshot().error().code, ErrorCode::not_found);
}

TEST_P(Accounts, KeepAsManySnapshotsAsTheirKindSays) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(account().ask(Deposit{1}));

  std::vector<std::uint64_t> versions;
  const auto snapshots = store().snapshots(one);
  ASSERT_TRUE(snapshots);
  for (const auto& snapshot : *snapshots) versions.push_back(snapshot.version.value);

  EXPECT_THAT(versions, ElementsAre(100, 100, 90)) << "the latest, and two copies; the oldest went first";
  EXPECT_EQ(account().state_at(GlobalPosition{95})->state.balance, 95);
  EXPECT_EQ(account().state_at(GlobalPosition{15})->state.balance, 15);
}

TEST_P(Accounts, LoadFromASnapshotAndNeverTrustAWrongOne) {
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(account().ask(Deposit{1}));
  account().passivate();
  EXPECT_EQ(shown(account().ask(Look{})), "12");
  EXPECT_EQ(figure(store(), "replayed", 2), 2u) << "what stands behind the snapshot at 10";

  auto other = snapshot_of("account-1", 12, "1000000/12");
  other.schema_revision = 2;
  ASSERT_TRUE(store().put_snapshot(other));
  account().passivate();
  EXPECT_EQ(shown(account().ask(Look{})), "12");
  auto garbage = snapshot_of("account-1", 12, "garbage");
  garbage.schema_revision = 1;
  ASSERT_TRUE(store().put_snapshot(garbage));
  account().passivate();
  EXPECT_EQ(shown(account().ask(Look{})), "12");

  EXPECT_EQ(figure(store(), "snapshots_skipped", 2), 2u);
}

TEST_P(Accounts, RefuseEventsThatTheyDoNotKnow) {
  ASSERT_TRUE(account().ask(Deposit{5}));
  ASSERT_TRUE(store().append(from_outside("1", "robbed", "5")));

  const auto asked = account().ask(Deposit{1});

  EXPECT_EQ(shown(asked), "corruption");
  EXPECT_THAT(asked.error().what, HasSubstr("robbed"));
  EXPECT_EQ(account().state(StateRead::eventual).error().code, ErrorCode::corruption);
  EXPECT_EQ(account().state_at(GlobalPosition{1})->state.balance, 5);
  EXPECT_EQ(store().head(), GlobalPosition{2});
}

TEST_P(Accounts, AnswerWhatIsTooLargeWithNothingWritten) {
  EXPECT_EQ(account().ask(Tell{100'000}).error().code, ErrorCode::too_large);
  EXPECT_TRUE(account().ask(Tell{60'000}));
  EXPECT_EQ(store().head(), GlobalPosition{1});
}

TEST_P(Accounts, DecideAgainOverWhatOthersAppended) {
  ASSERT_TRUE(account().ask(Deposit{10}));
  ASSERT_TRUE(store().append(from_outside("1", "withdrawn", "8")));

  EXPECT_EQ(shown(account().ask(Withdraw{20})), "no: only 10")
      << "it writes nothing, so it has not heard of the other one";
  EXPECT_EQ(shown(account().ask(Withdraw{5})), "no: only 2") << "what is to be written is decided over what is stored";
  EXPECT_EQ(shown(account().ask(Withdraw{2})), "0");
  EXPECT_EQ(shown(account().ask(Withdraw{1})), "no: only 0");
  EXPECT_EQ(replayed(store(), "1"), 0);
}

// Pipelined asks from several threads, and somebody who appends to the same account all the time. Every reply was made
// over the state that the stored events before it make: there is no fork, whatever was refused, broken off and decided
// again.
TEST_P(Accounts, NeverForkUnderAppendsFromOutside) {
  constexpr int threads = 3, asks = 200;
  struct Told {
    GlobalPosition position;
    SeqNr version;
    std::int64_t balance;
  };
  std::mutex mutex;
  std::vector<Told> told;
  std::atomic<int> open{0}, rejected{0};
  std::vector<std::string> failures;
  std::atomic<bool> done{false};
  ASSERT_TRUE(account().ask(Deposit{1}));
  std::thread outsider([&] {
    for (int i = 0; i < 300 && !done; ++i) {
      EXPECT_TRUE(append_patiently(store(), from_outside("1", "deposited", "1")));
      std::this_thread::sleep_for(3ms);
    }
  });
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < asks; ++i) {
        while (open > 64) std::this_thread::sleep_for(1ms);
        ++open;
        const auto hear = [&](const Answer<Balance>& answer) {
          const std::lock_guard lock(mutex);
          if (answer)
            told.push_back({answer.position(), answer.version(), answer->n});
          else if (answer.rejected())
            ++rejected;
          else
            failures.push_back(answer.error().what);
          --open;
        };
        const AskOptions options{.command_id = std::to_string(t) + "-" + std::to_string(i)};
        if (i % 3 == 0)
          account().ask_async(Withdraw{4}, hear, options);
        else
          account().ask_async(Deposit{2}, hear, options);
      }
    });
  }
  for (auto& thread : all) thread.join();
  while (open > 0) std::this_thread::sleep_for(1ms);
  done = true;
  outsider.join();

  for (const auto& failure : failures)
    EXPECT_THAT(failure, HasSubstr("version")) << "given up on after many tries, and said so";
  std::map<std::uint64_t, std::int64_t> balance_at;
  std::int64_t balance = 0;
  auto events = store().read("account-1");
  for (const auto& event : events) {
    balance += (event.type == "deposited" ? 1 : -1) * std::stoll(event.payload);
    EXPECT_GE(balance, 0);
    balance_at[event.seq_nr.value] = balance;
  }
  for (const auto& reply : told) EXPECT_EQ(reply.balance, balance_at[reply.version.value]);
  EXPECT_GT(told.size(), 100u);
  EXPECT_GT(figure(store(), "conflicts"), 0u) << "nothing was in anybody's way";
}

TEST_P(Accounts, AreAskedFromManyThreads) {
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(account("shared").ask(Deposit{1}));
        ASSERT_EQ(shown(account("own" + std::to_string(t)).ask(Deposit{1})), std::to_string(i + 1));
      }
    });
  }
  for (auto& thread : all) thread.join();

  EXPECT_EQ(account("shared").state()->state.balance, 320);
  EXPECT_EQ(figure(store(), "replied", 8 * 80 + 1), 8u * 80 + 1);
}

TEST_P(Accounts, LeaveMemoryAndComeBack) {
  aggregates_.live_limit = 16;
  store_.reset();
  open();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(account(std::to_string(i)).ask(Deposit{i}));

  EXPECT_LE(figure(store(), "live"), 16u);
  EXPECT_GT(figure(store(), "evicted"), 100u);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(shown(account(std::to_string(i)).ask(Look{})), std::to_string(i));
}

}  // namespace
}  // namespace evershard
