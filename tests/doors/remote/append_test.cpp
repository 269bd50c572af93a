#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <thread>

#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Append one(const std::string& aggregate) { return Append{}.event(aggregate, "T", "x"); }

TEST(RemoteAppend, AppendsOfOneThreadAreDecidedInTheirOrder) {
  ServedStore served;
  auto remote = served.connect();
  std::vector<std::future<Result<Appended>>> answers;
  for (std::uint64_t i = 0; i < 2'000; ++i)
    answers.push_back(remote.append_future(one("a-1").expect("a-1", Version::exactly(SeqNr(i)))));
  for (std::uint64_t i = 0; i < answers.size(); ++i) {
    const auto answer = answers[i].get();
    ASSERT_TRUE(answer) << answer.error().what;
    ASSERT_EQ(answer->first_position.value, i + 1);
  }
}

// The same when the stream breaks again and again: what was sent goes out again, before what comes later.
TEST(RemoteAppend, KeepsTheOrderAndStoresOnceAcrossRestartsOfTheDoor) {
  ServedStore served;
  auto remote = served.connect();
  std::atomic<bool> over{false};
  std::thread restarts([&] {
    for (auto pause = 60ms; !over; pause += pause / 8) {  // a slow machine gets something done in between, too
      std::this_thread::sleep_for(std::min(pause, 2'000ms));
      served.stop();
      served.start();
    }
  });
  std::vector<std::future<Result<Appended>>> answers;
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    answers.push_back(remote.append_future(one("a-1").expect("a-1", Version::exactly(SeqNr(i)))));
    if (i % 10 == 0) std::this_thread::sleep_for(1ms);
  }
  for (std::uint64_t i = 0; i < answers.size(); ++i) {
    const auto answer = answers[i].get();
    ASSERT_TRUE(answer) << i << ": " << answer.error().what;
    ASSERT_EQ(answer->first_position.value, i + 1);
  }
  over = true;
  restarts.join();
  EXPECT_EQ(served.local.head()->value, 3'000u);
}

TEST(RemoteAppend, WhatWasNeverSentIsUnavailableAndSaysWhy) {
  auto remote = *Remote::connect({.server = "127.0.0.1:1", .timeout = 200ms});
  const auto answer = remote.append(one("a-1"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable) << "no byte was ever sent: " << answer.error().what;
  EXPECT_THAT(answer.error().what, HasSubstr("the append was not sent in time"));
  EXPECT_THAT(answer.error().what, HasSubstr("("));
}

TEST(RemoteAppend, BeyondItsBoundsItIsOverloaded) {
  ServedStore served;
  auto remote = served.connect({.timeout = 60s, .appends_in_flight_max = 8});
  std::latch all(200);
  std::atomic<int> stored{0};
  std::atomic<int> overloaded{0};
  for (int i = 0; i < 200; ++i) {
    remote.append_async(one("a-1"), [&](const Result<Appended>& answer) {
      if (answer)
        ++stored;
      else if (answer.error().code == ErrorCode::overloaded)
        ++overloaded;
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(stored + overloaded, 200);
  EXPECT_GE(stored, 8);
  EXPECT_EQ(served.local.head()->value, static_cast<std::uint64_t>(stored.load()));
}

TEST(RemoteAppend, ACompletionMayAppendAgain) {
  ServedStore served;
  auto remote = served.connect();
  std::promise<void> over;
  std::function<void(int)> go_on = [&](int left) {
    remote.append_async(one("a-1"), [&, left](const Result<Appended>& answer) {
      ASSERT_TRUE(answer) << answer.error().what;
      if (left == 0) return over.set_value();
      go_on(left - 1);
    });
  };
  go_on(100);
  ASSERT_EQ(over.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_EQ(served.local.head()->value, 101u);
}

TEST(RemoteAppend, ClosingEndsWhatIsInFlight) {
  ServedStore served;
  std::atomic<int> ended{0};
  {
    auto remote = served.connect();
    for (int i = 0; i < 500; ++i) {
      remote.append_async(one("a-1"), [&](const Result<Appended>& answer) {
        EXPECT_TRUE(answer || answer.error().code == ErrorCode::timeout ||
                    answer.error().code == ErrorCode::unavailable)
            << answer.error().what;
        ++ended;
      });
    }
  }
  EXPECT_EQ(ended, 500);
}

TEST(RemoteAppend, LargePayloadsGoThroughAndTooLargeOnesAreRefusedByName) {
  ServedStore served;
  auto remote = served.connect();
  std::string payload(1u << 20, '\0');
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * 31);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", payload)));
  std::size_t seen = 0;
  auto stream = remote.read("a-1");
  for (const auto& event : stream) seen += event.payload == payload ? 1u : 0u;
  EXPECT_FALSE(stream.error());
  EXPECT_EQ(seen, 4u);

  for (const auto& append :
       {Append{}.event("a-1", "T", payload + "x"), Append{}.event("a-1", "T", std::string(9u << 20, 'x'))}) {
    const auto refused = remote.append(append);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::too_large);
    EXPECT_THAT(refused.error().what, HasSubstr("payload"));
  }
  Append large;
  for (int i = 0; i < 6; ++i) large.event("a-1", "T", std::string(1u << 20, 'x'));
  EXPECT_EQ(remote.append(large).error().code, ErrorCode::too_large);
  EXPECT_TRUE(remote.append(one("a-1"))) << "the stream went on";
}

TEST(RemoteAppend, TheLargestAppendThatCanBeConfiguredGoesThrough) {
  LocalOptions most;
  most.limits = Limits::most();
  most.limits.append_bytes_max = 16u << 20;
  ServedStore served({}, {}, most);
  auto remote = served.connect();
  Append large;
  large.event("a-1", "T", std::string(8u << 20, 'x')).event("a-1", "T", std::string((8u << 20) - 1'000, 'y'));
  const auto done = remote.append(large);
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(positions_of(remote.read("a-1")).size(), 2u);
}

TEST(RemoteAppend, ManyThreadsAppendAtOnce) {
  ServedStore served;
  auto remote = served.connect();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const auto answer =
            remote.append(one("t-" + std::to_string(t)).expect("t-" + std::to_string(t), Version::exactly(SeqNr(i))));
        ASSERT_TRUE(answer) << answer.error().what;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(served.local.head()->value, 400u);
}

}  // namespace
}  // namespace evershard
