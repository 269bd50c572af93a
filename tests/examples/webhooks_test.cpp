// The effects of examples/webhooks on a real HTTP server that is down at first, drops, refuses and dawdles: what it is
// asked takes effect once, and its answer comes back as an event, once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <evershard/local.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "examples/webhooks/webhooks.hpp"
#include "tests/examples/hook_server.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Webhooks = ProcessAggregate<example::Webhook>;

constexpr EffectOptions hook_options{.at_a_time = 8,
                                     .at_a_time_per_target = 4,
                                     .attempts_max = 1'000,
                                     .retry_first = 20ms,
                                     .retry_most = 200ms,
                                     .timeout = 10s};

HookDay always_good(const std::string&, int) { return HookDay::good; }
std::string body_of(int order) { return "{\"order\":\"" + std::to_string(order) + "\"}"; }

void place(Local& store, int order, const std::string& tell) {
  hooks::PlaceOrder command;
  command.set_order(std::to_string(order));
  command.set_tell(tell);
  const auto answer = store.get<example::Order>(command.order()).ask(command);
  ASSERT_TRUE(answer);
}
void begin(Local& store, example::HttpPosts& posts, EffectOptions options = hook_options) {
  ASSERT_TRUE(store.host<example::Order>());
  const auto runs = store.run<example::Webhook>(example::webhook_effects(posts, options));
  ASSERT_TRUE(runs) << runs.error().what;
}
hooks::Webhook webhook(Local& store, int order) {
  const auto state = store.get<Webhooks>(std::to_string(order)).state();
  return state ? state->state.state : hooks::Webhook();
}
/// What became of it; OPEN: nothing, in a minute.
hooks::Webhook outcome(Local& store, int order) {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(5ms))
    if (auto state = webhook(store, order); state.status() != hooks::Webhook::OPEN) return state;
  return {};
}
/// Which orders an event was written for, and how often.
std::map<std::string, int> written(Local& store, const std::string& type) {
  std::map<std::string, int> orders;
  auto stream = store.read(Query{}.types({type}));
  for (const auto& event : stream) ++orders[event.aggregate->value];
  EXPECT_FALSE(stream.error());
  return orders;
}
void expect_each_once(Local& store, const HookServer& server, int orders) {
  const auto taken = server.taken();
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(orders))
      << "each order has one key, whatever became of its attempts";
  std::map<std::string, std::string> receipts;
  for (const auto& [key, of] : taken) receipts[of.body] = of.receipt;
  for (int order = 1; order <= orders; ++order) {
    const auto state = outcome(store, order);
    EXPECT_EQ(state.status(), hooks::Webhook::TAKEN) << order;
    EXPECT_EQ(state.answer(), receipts[body_of(order)]) << order;
  }
  const auto events = written(store, "hooks.Taken");
  EXPECT_EQ(events.size(), static_cast<std::size_t>(orders));
  for (const auto& [order, count] : events) EXPECT_EQ(count, 1) << order;
}

TEST(Webhooks, TakeEffectOnceAndTheirAnswersComeBackWhateverTheServiceDoes) {
  constexpr int orders = 40;
  std::mt19937_64 dice(1);
  HookServer server(
      [&](const std::string&, int nth) {
        constexpr HookDay bad[] = {HookDay::busy, HookDay::deaf, HookDay::dumb, HookDay::slow};
        return nth <= 3 && dice() % 3 != 0 ? bad[dice() % 4] : HookDay::good;
      },
      2s);
  example::HttpPosts posts(300ms);
  auto store = Local::open({.shards = 4}).value();
  begin(store, posts);
  for (int order = 1; order <= orders; ++order) place(store, order, server.address());
  const auto trouble = [&] { return store.process_status().at(0).trouble; };
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       trouble().find("refused") == std::string::npos && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  EXPECT_THAT(trouble(), HasSubstr("refused")) << "nobody is there";

  server.start();
  for (int order = 1; order <= orders; ++order) EXPECT_EQ(outcome(store, order).status(), hooks::Webhook::TAKEN);
  expect_each_once(store, server, orders);
  EXPECT_GT(server.requests_in_all(), orders) << "some were asked again";
}

TEST(Webhooks, ThatAreRefusedAreNotTriedAgain) {
  HookServer server([](const std::string&, int nth) { return nth == 1 ? HookDay::busy : HookDay::displeased; });
  server.start();
  example::HttpPosts posts(1s);
  auto store = Local::open({.shards = 4}).value();
  begin(store, posts);

  place(store, 1, server.address());
  place(store, 2, "nowhere at all");
  const auto refused = outcome(store, 1), nowhere = outcome(store, 2);
  std::this_thread::sleep_for(300ms);

  EXPECT_EQ(refused.status(), hooks::Webhook::REFUSED);
  EXPECT_EQ(refused.answer(), "status 422: never");
  EXPECT_EQ(server.requests()[body_of(1)], 2) << "503 was tried again, 422 was not";
  EXPECT_EQ(nowhere.status(), hooks::Webhook::REFUSED);
  EXPECT_EQ(store.process_status().at(0).given_up, 2u);
}

TEST(Webhooks, OfOneSlowServiceHoldUpNoOther) {
  HookServer slow([](const std::string&, int) { return HookDay::slow; }, 60s);
  HookServer quick(always_good);
  slow.start();
  quick.start();
  example::HttpPosts posts(60s);
  auto store = Local::open({.shards = 4}).value();
  auto options = hook_options;
  options.at_a_time = 3;
  options.at_a_time_per_target = 2;
  options.timeout = 60s;
  begin(store, posts, options);

  for (int order = 1; order <= 20; ++order) place(store, order, slow.address());
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       slow.requests_in_all() < 2 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(5ms);
  for (int order = 21; order <= 60; ++order) place(store, order, quick.address());

  for (int order = 21; order <= 60; ++order) EXPECT_EQ(outcome(store, order).status(), hooks::Webhook::TAKEN) << order;
  EXPECT_EQ(slow.requests_in_all(), 2);
}

TEST(Webhooks, TakeEffectOnceThoughTheProgramIsKilled) {
  constexpr int orders = 60;
  const auto place_of_store =
      std::filesystem::temp_directory_path() / ("evershard-webhooks-" + std::to_string(::getpid()));
  std::filesystem::remove_all(place_of_store);
  std::mt19937_64 dice(2);
  HookServer server([&](const std::string&, int) { return dice() % 4 == 0 ? HookDay::dumb : HookDay::good; });
  server.start();
  const std::vector<std::string> words{EXAMPLE_WEBHOOKS, place_of_store.string(), server.address(),
                                       std::to_string(orders)};
  std::mt19937_64 times(3);
  for (int round = 0, rounds = rounds_or(6); round != rounds; ++round) {
    Process killed(words);
    const auto before = server.requests_in_all();
    for (const auto until = std::chrono::steady_clock::now() + 60s; server.requests_in_all() < before + 4 &&
                                                                    static_cast<int>(server.taken().size()) < orders &&
                                                                    std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(times() % 20));
    killed.signal(SIGKILL);
    (void)killed.wait();
  }
  const auto finished = run(words);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("order 60: TAKEN receipt-"));
  {
    LocalOptions options;
    options.data_dir = place_of_store.string();
    auto store = Local::open(options).value();
    example::HttpPosts posts(1s);
    begin(store, posts);
    expect_each_once(store, server, orders);
  }
  std::filesystem::remove_all(place_of_store);
}

}  // namespace
}  // namespace evershard::testing
