#include <algorithm>
#include <future>
#include <map>
#include <thread>

#include "tests/api/position_contract.hpp"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"
#include "tests/doors/remote/silent_server.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers;
  for (auto n = first; n <= last; ++n) numbers.push_back(n);
  return numbers;
}

TEST(RemoteRead, FindsThePositionAtATime) {
  ServedStore served;
  auto remote = served.connect();
  answers_positions_by_time(remote, [&](Timestamp at) { return remote.position_at(at).value().value; });
  const auto channel = raw::channel(served.address());
  const auto status = raw::unary(*channel, "/evershard.v1.EventStore/PositionAt", "");
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "invalid_argument: at_us: is missing");
}

TEST(RemoteRead, GoesOnWhereItWasWhenTheConnectionBreaks) {
  LocalOptions options;
  options.limits.page_events_max = 10;
  ServedStore served({}, {}, options);
  append_events(served.local, 500, 5'000);
  auto remote = served.connect();
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    for (const auto limit : {std::optional<std::uint64_t>{}, std::optional<std::uint64_t>{333}}) {
      auto all = remote.read(Query::all(), {.limit = limit, .direction = direction});
      auto one = remote.read(AggregateId{"n", "1"}, {.limit = limit, .direction = direction});
      std::vector<std::uint64_t> positions;
      std::vector<std::uint64_t> versions;
      for (int step = 0;; ++step) {
        if (step == 40 || step == 200) {
          served.stop();
          served.start();
          append_events(served.local, 20);  // not of this read: it is as of its beginning
        }
        const auto event = all.next();
        ASSERT_TRUE(event) << event.error().what;
        if (!*event) break;
        positions.push_back((*event)->position.value);
        if (step % 7 != 0) continue;
        const auto of_one = one.next();
        ASSERT_TRUE(of_one) << of_one.error().what;
        if (*of_one) versions.push_back((*of_one)->seq_nr.value);
      }
      const auto end = all.watermark().value;
      auto expected = from_to(1, end);
      if (direction == Direction::backwards) std::reverse(expected.begin(), expected.end());
      if (limit) expected.resize(*limit);
      ASSERT_EQ(positions, expected);
      ASSERT_GT(versions.size(), 20u);
      for (std::size_t i = 1; i < versions.size(); ++i)
        ASSERT_EQ(versions[i], direction == Direction::forwards ? versions[i - 1] + 1 : versions[i - 1] - 1);
    }
  }
}

TEST(RemoteRead, GoesOnCountingTheEventsOfEachAggregate) {
  LocalOptions options;
  options.limits.page_events_max = 10;
  ServedStore served({}, {}, options);
  append_events(served.local, 300, 100'000);  // of 7 aggregates in turn; more than is on its way at once
  auto remote = served.connect();
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    for (const std::uint64_t limit : {100, 1'000}) {  // it ends the read before the count does, and not
      const ReadOptions bounds{.after = GlobalPosition{7}, .limit = limit, .direction = direction, .per_aggregate = 20};
      std::vector<std::uint64_t> expected;
      std::map<AggregateId, int> counts;
      for (const auto& event : served.local.read(Query::all(), {.after = bounds.after, .direction = direction})) {
        if (++counts[event.aggregate.value()] <= 20 && expected.size() < limit)
          expected.push_back(event.position.value);
      }
      ASSERT_EQ(expected.size(), std::min<std::uint64_t>(limit, 7 * 20));
      auto read = remote.read(Query::all(), bounds);
      std::vector<std::uint64_t> positions;
      for (int step = 0;; ++step) {
        if (step == 15 || step == 40) {
          served.stop();
          served.start();
          append_events(served.local, 20);  // not of this read
        }
        const auto event = read.next();
        ASSERT_TRUE(event) << event.error().what;
        if (!*event) break;
        positions.push_back((*event)->position.value);
      }
      EXPECT_EQ(positions, expected);
    }
  }
}

TEST(RemoteRead, WaitsForAtLeastAndNoLonger) {
  ServedStore served;
  append_events(served.local, 2);
  auto remote = served.connect({.timeout = 1s});
  auto patient = served.connect();
  std::thread writer([&] {
    std::this_thread::sleep_for(100ms);
    append_events(served.local, 3);
  });
  EXPECT_EQ(positions_of(patient.read(Query::all(), {.at_least = GlobalPosition(5)})).size(), 5u);
  writer.join();

  for (int tries = 0; tries != 60 && !remote.head(); ++tries) continue;  // it is connected before its second counts
  const auto began = std::chrono::steady_clock::now();
  const auto never = remote.read(Query::all(), {.at_least = GlobalPosition(99)}).next();
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, ErrorCode::timeout);
  EXPECT_EQ(never.error().what, "the watermark is at 5, not yet at 99");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 990ms);
}

TEST(RemoteRead, CanBeCancelledFromAnotherThreadInTheMiddle) {
  ServedStore served;
  append_events(served.local, 3'000, 1'000);
  auto remote = served.connect();
  for (int round = 0; round < 10; ++round) {
    auto stream = remote.read(Query::all());
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
      stream.cancel();
    });
    Result<std::optional<RecordedEvent>> event = std::optional<RecordedEvent>();
    int seen = 0;
    do {
      event = stream.next();
      ++seen;
    } while (event && *event);
    other.join();
    if (!event) {
      EXPECT_EQ(event.error().code, ErrorCode::cancelled);
    } else {
      EXPECT_EQ(seen, 3'001);
    }
  }
  auto waiting = remote.read(Query::all(), {.at_least = GlobalPosition(1'000'000)});
  std::thread other([&] {
    std::this_thread::sleep_for(50ms);
    waiting.cancel();
  });
  EXPECT_EQ(waiting.next().error().code, ErrorCode::cancelled);
  other.join();
  for (int tries = 0; tries < 6'000 && served.door->calls() != 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 0u) << "reads that nobody reads any more go on";
}

TEST(RemoteRead, MayBeLeftInTheMiddle) {
  ServedStore served;
  append_events(served.local, 3'000, 1'000);
  for (int i = 0; i < 5; ++i) {
    auto remote = std::make_unique<Remote>(served.connect());
    auto stream = remote->read(Query::all());
    EXPECT_TRUE(stream.next());
    if (i % 2 == 0) remote.reset();  // streams go on without it
    EXPECT_TRUE(stream.next());
  }
  for (int tries = 0; tries < 6'000 && served.door->calls() != 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 0u);
}

// A server that takes the connection and says nothing is no reason to wait for ever.
TEST(RemoteRead, EverythingEndsInTimeWhereTheServerSaysNothing) {
  SilentServer silent;
  auto remote = *Remote::connect({.server = silent.address(), .timeout = 400ms});
  const auto in_time = [](auto call) {
    const auto began = std::chrono::steady_clock::now();
    const auto code = call();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
    EXPECT_TRUE(code == ErrorCode::timeout || code == ErrorCode::unavailable) << name_of(code);
  };
  in_time([&] { return remote.head().error().code; });
  in_time([&] { return remote.read(Query::all()).next().error().code; });
  in_time([&] { return remote.append(Append{}.event("a-1", "T", "x")).error().code; });
  in_time([&] { return remote.wait_for(GlobalPosition(1), 100ms).error().code; });
  in_time([&] {
    return remote.put_snapshot({.aggregate = {"a", "1"}, .version = SeqNr(1), .payload = "x", .keep = {}, .ttl = {}})
        .error()
        .code;
  });
}

// A call that was begun and is not answered any more: the pool is busy for longer than the client waits.
TEST(RemoteRead, APageThatDoesNotComeInTimeIsATimeout) {
  ServedStore served;
  append_events(served.local, 5);
  auto remote = served.connect({.timeout = 1s});
  ASSERT_TRUE(served.connect().head());
  std::promise<void> go;
  auto gone = go.get_future().share();
  for (int i = 0; i < 2; ++i) served.pool.run([gone] { gone.wait(); });
  const auto began = std::chrono::steady_clock::now();
  const auto event = remote.read(Query::all()).next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, ErrorCode::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  go.set_value();
}

}  // namespace
}  // namespace evershard
