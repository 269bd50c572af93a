// Closing a store under asks: everybody is told, and what was written was said to be.

#include <atomic>
#include <thread>

#include "tests/local/accounts.hpp"

namespace evershard {
namespace {

class ClosedAccounts : public Accounts {};
INSTANTIATE_TEST_SUITE_P(InMemory, ClosedAccounts, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Durable, ClosedAccounts, ::testing::Values(true));

TEST_P(ClosedAccounts, EndInAnotherThreadThanTheOneThatOpened) {
  ASSERT_TRUE(account("ann").ask(Deposit{1}));
  auto ended = std::make_shared<std::atomic<bool>>(false);
  std::thread([ended, store = std::make_shared<Local>(std::move(*store_))]() mutable {
    store.reset();
    *ended = true;
  }).detach();
  for (int i = 0; !*ended && i < 6'000; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(*ended);
}

TEST_P(ClosedAccounts, AnswerEverythingThatStreamsIn) {
  std::atomic<std::uint64_t> asked{0}, told{0}, stored{0}, unknown{0};
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !enough; ++i) {
        ++asked;
        auto ref = account(std::to_string((t * 5 + i) % 40));
        const auto hear = [&](const Answer<Balance>& answer) {
          EXPECT_TRUE(answer || answer.error().code == ErrorCode::unavailable ||
                      answer.error().code == ErrorCode::timeout || answer.error().code == ErrorCode::overloaded)
              << answer.error().what;
          if (answer)
            ++stored;
          else if (answer.error().code == ErrorCode::timeout)
            ++unknown;
          ++told;
        };
        if (i % 16 == 0)
          hear(ref.ask(Deposit{1}));
        else
          ref.ask_async(Deposit{1}, hear);
        while (asked - told > 2'000) std::this_thread::sleep_for(1ms);
      }
    });
  }
  while (stored < 300) std::this_thread::sleep_for(1ms);

  store().close();
  enough = true;
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(asked, told);
  if (GetParam()) {
    store_.reset();
    open();
    EXPECT_GE(store().head()->value, stored);
    EXPECT_LE(store().head()->value, stored + unknown);
  }
}

TEST_P(ClosedAccounts, RefuseEverything) {
  ASSERT_TRUE(account().ask(Deposit{1}));

  store().close();
  store().close();

  EXPECT_EQ(shown(account().ask(Deposit{1})), "unavailable");
  EXPECT_EQ(shown(account().ask_future(Deposit{1}).get()), "unavailable");
  EXPECT_EQ(account().state().error().code, ErrorCode::unavailable);
  EXPECT_EQ(account().state(StateRead::eventual).error().code, ErrorCode::unavailable);
  EXPECT_EQ(account().state_at(GlobalPosition{1}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(account().snapshot().error().code, ErrorCode::unavailable);
  account().passivate();
}

// Closed before anything was asked of it: the actors were never begun.
TEST_P(ClosedAccounts, RefuseEverythingAlsoWhereNothingWasEverAsked) {
  auto options = LocalOptions{};
  auto unused = open_store(options);
  unused.close();

  EXPECT_EQ(unused.host<Bank>().error().code, ErrorCode::unavailable);
  EXPECT_EQ(shown(unused.get<Bank>("1").ask(Deposit{1})), "unavailable");
}

}  // namespace
}  // namespace evershard
