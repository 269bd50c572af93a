// Processes over the network: the same words and errors as in the process that shows them.

#include <gmock/gmock.h>

#include "evershard/protocol/processes.hpp"
#include "tests/actors/process/transfers.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

TEST(RemoteProcesses, AreThoseOfTheServer) {
  using Action = ProcessControl::Action;
  bank::credits_that_throw = 1'000'000;
  ServedStore served;
  ASSERT_TRUE(served.local.host<bank::Account>());
  ASSERT_TRUE(served.local.host<bank::Desk>());
  ASSERT_TRUE(served.local.run<bank::Transfers>(ProcessOptions{.checkpoint_every = 20ms}));
  for (const auto* who : {"ann", "bob"})
    ASSERT_TRUE(served.local.get<bank::Account>(who).ask(bank::Open{"-", "-", "-", 100}));
  ASSERT_TRUE(served.local.get<bank::Desk>("1").ask(bank::Request{"t1", "ann", "bob", 30}));
  auto remote = served.connect();
  auto& seen = remote.processes();
  auto& there = served.local.processes();
  const auto code = [](const auto& result) { return result ? std::optional<ErrorCode>() : result.error().code; };
  const auto comes_to = [](const auto& is_so) {
    for (int n = 0; n != 2'000; ++n) {
      if (is_so()) return true;  // once is enough: what failed is tried again, and is no failure meanwhile
      std::this_thread::sleep_for(5ms);
    }
    return false;
  };
  ASSERT_TRUE(comes_to([&] { return !seen.process("transfer")->state.failures.empty(); }));
  ASSERT_TRUE(seen.control("transfer", {Action::stop}));
  ASSERT_TRUE(comes_to([&] { return seen.process("transfer")->state.stopped; }));
  EXPECT_TRUE(comes_to([&] { return *seen.process("transfer") == *there.process("transfer"); }))
      << "nothing moves any more";
  EXPECT_TRUE(comes_to([&] { return *seen.processes() == *there.processes(); }));
  EXPECT_EQ(*seen.instances("transfer", "", 10), *there.instances("transfer", "", 10));
  EXPECT_EQ(seen.instances("transfer", "", 10)->size(), 1u);
  EXPECT_EQ(*seen.parked_effects("transfer"), *there.parked_effects("transfer"));
  const auto timers = seen.timers({.type = "transfer", .limit = 1});
  ASSERT_TRUE(timers) << timers.error().what;
  EXPECT_EQ(*timers, *there.timers({.type = "transfer", .limit = 1}));
  ASSERT_EQ(timers->timers.size(), 1u);
  EXPECT_TRUE(seen.timers({.after = *timers->next})->timers.empty());

  EXPECT_EQ(code(seen.process("nobody")), ErrorCode::not_found);
  EXPECT_EQ(code(seen.control("nobody", {Action::stop})), ErrorCode::not_found);
  EXPECT_EQ(code(seen.control(
                "transfer", {.action = Action::skip, .place = {ProcessPlace::What::event, GlobalPosition{9'999}, 0}})),
            ErrorCode::not_found);
  EXPECT_EQ(code(seen.instances("transfer", "", 0)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(seen.instances("transfer", "", 5'000)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(seen.timers({.after = "x"})), ErrorCode::invalid_argument);
  EXPECT_EQ(code(seen.cancel_timer({"transfer", "t1"}, "x")), ErrorCode::not_found);
  EXPECT_TRUE(seen.cancel_timer({"transfer", "t1"}, timers->timers[0].timer.name));
  EXPECT_TRUE(seen.timers({})->timers.empty());
  bank::credits_that_throw = 0;
  ASSERT_TRUE(seen.control("transfer", {Action::resume}));
  EXPECT_TRUE(comes_to([&] {
    return served.local.get<ProcessAggregate<bank::Transfers>>("t1").state()->state.state.stage == "finished";
  }));
}

}  // namespace
}  // namespace evershard
