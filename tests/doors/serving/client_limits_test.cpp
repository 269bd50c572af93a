// What each client may ask, as arithmetic: no clock.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "evershard/doors/serving/client_gate.hpp"

namespace evershard::serving {
namespace {

using namespace std::chrono_literals;
using Time = Rate::Time;

const Time start = Time() + 1h;

TEST(ClientRate, GivesASecondsWorthAtOnceAndThenAsItComes) {
  Rate rate;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rate.take(1, 10, start), 0ns) << i;
  EXPECT_EQ(rate.take(1, 10, start), 100ms);
  EXPECT_EQ(rate.take(1, 10, start + 60ms), 40ms) << "a refusal takes nothing";
  EXPECT_EQ(rate.take(1, 10, start + 100ms), 0ns);
  EXPECT_EQ(rate.take(1, 10, start + 100ms), 100ms);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(rate.take(1, 10, start + 10s), 0ns) << "no more than a second's worth is saved: " << i;
  EXPECT_EQ(rate.take(1, 10, start + 10s), 100ms);
}

TEST(ClientRate, TakesWhatIsLargerThanASecondsWorthWhenNothingIsOwed) {
  Rate rate;
  EXPECT_EQ(rate.take(5'000, 1'000, start), 0ns);
  EXPECT_EQ(rate.take(1, 1'000, start), 4'001ms);
  EXPECT_EQ(rate.take(5'000, 1'000, start + 4s), 1s);
  EXPECT_EQ(rate.take(5'000, 1'000, start + 5s), 0ns);
}

TEST(ClientRate, IsKeptWhateverIsAsked) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t per_second = 1 + random() % 1'000'000;
    Rate rate;
    Time now = start;
    std::uint64_t taken = 0, largest = 0;
    for (int i = 0; i < 500; ++i) {
      now += std::chrono::nanoseconds(random() % 50'000'000);
      const std::uint64_t amount = 1 + random() % per_second;
      const auto wait = rate.take(amount, per_second, now);
      if (wait.count() == 0)
        taken += amount;
      else {
        now += wait;
        ASSERT_EQ(rate.take(amount, per_second, now), 0ns) << "what it said would do does";
        taken += amount;
      }
      largest = std::max(largest, amount);
      const auto seconds = std::chrono::duration<double>(now - start).count() + 1;
      ASSERT_LE(static_cast<double>(taken), seconds * static_cast<double>(per_second) * 1.000001 + 2);
    }
  }
}

TEST(ClientRate, HoldsForTheLargestFigures) {
  Rate rate;
  EXPECT_EQ(rate.take(~0ull, 1, start), 0ns);
  EXPECT_GT(rate.take(1, 1, start + 24h * 365), 0ns);
  Rate fast;
  EXPECT_EQ(fast.take(1u << 30, ~0ull, start), 0ns);
}

TEST(ClientLimits, AreOffForRatesUnlessAsked) {
  ClientLimits limits{{}};
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(limits.ask("a", 1, 1u << 30, start));
  EXPECT_EQ(limits.clients(), 0u) << "nobody is remembered for nothing";
}

TEST(ClientLimits, AreEachClientsOwn) {
  ClientLimits limits{{.requests_per_second_max = 2}};
  EXPECT_FALSE(limits.ask("a", 1, 0, start));
  EXPECT_FALSE(limits.ask("a", 1, 0, start));
  const auto refused = limits.ask("a", 1, 0, start);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->limit, ClientLimit::requests);
  EXPECT_EQ(refused->retry_after, 500ms);
  EXPECT_FALSE(limits.ask("b", 1, 0, start));
}

TEST(ClientLimits, ARefusalForItsBytesTakesNoRequest) {
  ClientLimits limits{{.requests_per_second_max = 2, .bytes_per_second_max = 100}};
  EXPECT_FALSE(limits.ask("a", 1, 100, start));
  for (int i = 0; i < 5; ++i) {
    const auto refused = limits.ask("a", 1, 10, start);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->limit, ClientLimit::bytes);
    EXPECT_EQ(refused->retry_after, 100ms);
  }
  EXPECT_FALSE(limits.ask("a", 1, 0, start));
  EXPECT_EQ(limits.ask("a", 1, 0, start)->limit, ClientLimit::requests);
}

TEST(ClientLimits, CountStreamsUntilTheyAreClosed) {
  ClientLimits limits{{.streams_max = 2}};
  const auto one = limits.open("a"), two = limits.open("a");
  EXPECT_FALSE(one.refusal || two.refusal);
  ASSERT_TRUE(limits.open("a").refusal);
  EXPECT_EQ(limits.open("a").refusal->limit, ClientLimit::streams);
  EXPECT_FALSE(limits.open("b").refusal);
  limits.close(one.account);
  EXPECT_FALSE(limits.open("a").refusal);
  EXPECT_TRUE(limits.open("a").refusal);
}

TEST(ClientLimits, RememberNoMoreClientsThanTheyMay) {
  ClientLimits limits{{.requests_per_second_max = 1, .streams_max = 3, .clients_max = 50}};
  for (int i = 0; i < 10'000; ++i) {
    (void)limits.ask("client " + std::to_string(i), 1, 0, start);
    ASSERT_LE(limits.clients(), 50u);
  }
  EXPECT_TRUE(limits.ask("client 9999", 1, 0, start)) << "the latest are remembered";
  EXPECT_FALSE(limits.ask("client 0", 1, 0, start)) << "the oldest are not";
}

TEST(ClientLimits, ThoseBeyondTheTableShareOneAccount) {
  ClientLimits limits{{.streams_max = 2, .clients_max = 11}};
  std::vector<std::string> open;
  for (int i = 0; i < 10; ++i) open.push_back(limits.open("held " + std::to_string(i)).account);
  EXPECT_FALSE(limits.open("late 1").refusal);
  const auto two = limits.open("late 2");
  EXPECT_FALSE(two.refusal);
  EXPECT_TRUE(limits.open("late 3").refusal) << "they have two together";
  EXPECT_EQ(limits.clients(), 11u);
  limits.close(two.account);
  EXPECT_FALSE(limits.open("late 3").refusal);
  EXPECT_FALSE(limits.open("held 0").refusal) << "who is in the table has his own";
  for (const auto& account : open) limits.close(account);
  EXPECT_FALSE(limits.open("late 4").refusal) << "there is room again";
}

TEST(ClientGate, NamesAClientByTokenOrElseByAddress) {
  EXPECT_EQ(client_name({"boss", 1}, "10.0.0.1"), client_name({"boss", 1}, "10.0.0.2"));
  EXPECT_NE(client_name({"anybody", 0xff, false}, "10.0.0.1"), client_name({"anybody", 0xff, false}, "10.0.0.2"));
  EXPECT_NE(client_name({"10.0.0.1", 1}, ""), client_name({"anybody", 0xff, false}, "10.0.0.1"));
}

TEST(ClientGate, GivesAStreamBackWhenItIsLetGo) {
  ClientGate gate{{.streams_max = 1}};
  auto held = gate.open("a");
  ASSERT_TRUE(held.stream);
  const auto refused = gate.open("a");
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->error.code, ErrorCode::overloaded);
  EXPECT_THAT(refused.refusal->error.what, ::testing::HasSubstr("1 streams"));
  held.stream.reset();
  EXPECT_TRUE(gate.open("a").stream);
}

TEST(ClientGate, CountsRightFromManyThreads) {
  ClientGate gate{{.requests_per_second_max = 100, .streams_max = 8}};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) {
        if (!gate.ask("a", 1, 0)) ++taken;
        const auto one = gate.open("a"), two = gate.open("a");
        EXPECT_TRUE(one.stream && two.stream) << "four threads hold eight at most";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(taken, 100);
  EXPECT_LE(taken, 100 + seconds * 100 + 1);
  std::vector<ClientGate::Stream> all;
  for (int i = 0; i < 8; ++i) all.push_back(gate.open("a").stream);
  EXPECT_TRUE(all.back());
  EXPECT_FALSE(gate.open("a").stream) << "all of them were given back, none twice";
}

}  // namespace
}  // namespace evershard::serving
