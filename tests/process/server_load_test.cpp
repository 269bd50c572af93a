// Many subscriptions, and ones that are never read: what they cost a real server, and everybody else.

#include <future>
#include <iostream>
#include <iterator>
#include <optional>
#include <thread>

#include "evershard/v1/service.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/process/server_process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::ServerProcess;

struct Subscription {
  std::unique_ptr<grpc::ClientContext> context = std::make_unique<grpc::ClientContext>();
  raw::Reader reader;

  Subscription(grpc::Channel& channel, std::optional<std::uint64_t> after, const std::string& type = {}) {
    v1::SubscribeRequest request;
    if (type.empty())
      request.mutable_query()->set_all(true);
    else
      request.mutable_query()->add_items()->add_types(type);
    if (after) request.set_after(*after);
    reader = raw::stream(channel, "/evershard.v1.EventStore/Subscribe", request.SerializeAsString(), *context);
  }
  Subscription(Subscription&&) = default;
  ~Subscription() {
    if (!reader) return;
    context->TryCancel();
    (void)raw::read_all(*reader);
  }
};

/// Appends a second: 64 in flight.
double append_rate(Remote& remote, int appends) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<std::future<Result<Appended>>> answers;
  for (int i = 0; i < appends; ++i) {
    answers.push_back(
        remote.append_future(Append{}.event("a-" + std::to_string(i % 50), "Common", std::string(100, 'x'))));
    if (answers.size() < 64) continue;
    for (auto& answer : answers) EXPECT_TRUE(answer.get());
    answers.clear();
  }
  for (auto& answer : answers) EXPECT_TRUE(answer.get());
  return appends / std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST(ServerLoad, AThousandIdleSubscriptionsCostLittle) {
  ServerProcess server("-");
  auto remote = server.connect();
  append_rate(remote, 2'000);
  const auto rate_before = append_rate(remote, 8'000);
  const auto memory_before = server.memory_mib();
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<Subscription> idle;
  idle.reserve(1'000);
  for (int c = 0; c < 4; ++c) {
    channels.push_back(raw::channel(server.address()));
    for (int i = 0; i < 250; ++i)
      idle.emplace_back(*channels.back(), std::nullopt, "rare:" + std::to_string(c * 250 + i));
  }
  for (auto& one : idle) {
    grpc::ByteBuffer in;
    ASSERT_TRUE(one.reader->Read(&in)) << "it never caught up";
  }
  const auto memory_with = server.memory_mib();
  append_rate(remote, 1'000);
  const auto rate_with = append_rate(remote, 8'000);
  std::cout << "1,000 idle subscriptions: " << memory_before << " MiB before, " << memory_with << " MiB with them; "
            << static_cast<int>(rate_before) << " appends/s before, " << static_cast<int>(rate_with) << " with them\n";
  EXPECT_LT(memory_with - memory_before, 100);
  EXPECT_GT(rate_with, rate_before / 20) << "not held up; how much slower is the benchmark's to say";
  // The one that matters is told at once.
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "rare:777", "x")));
  grpc::ByteBuffer in;
  v1::SubscribeResponse response;
  do {
    ASSERT_TRUE(idle[777].reader->Read(&in));
    ASSERT_TRUE(response.ParseFromString(raw::text(in)));
  } while (response.kind() == v1::SubscribeResponse::KIND_HEARTBEAT);
  ASSERT_EQ(response.events_size(), 1);
  EXPECT_EQ(response.events(0).type(), "rare:777");
}

TEST(ServerLoad, SubscribersThatNeverReadHarmNobody) {
  ServerProcess server("-");
  auto remote = server.connect();
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(remote.append(Append{}.event("a-1", "Large", std::string(200'000, 'x'))));  // 60 MB
  append_rate(remote, 1'000);
  const auto rate_before = append_rate(remote, 4'000);
  const auto memory_before = server.memory_mib();
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<Subscription> stuck;
  for (int i = 0; i < 20; ++i) {
    channels.push_back(raw::channel(server.address()));
    stuck.emplace_back(*channels.back(), 0);
  }
  std::this_thread::sleep_for(500ms);
  const auto memory_with = server.memory_mib();

  auto other = server.connect();
  auto feed = other.follow(Query::all());
  std::uint64_t last = 0;
  std::thread follower([&] {
    const auto until = std::chrono::steady_clock::now() + 120s;
    while (last < 10'300 && std::chrono::steady_clock::now() < until) {
      const auto item = feed.next(5s);
      ASSERT_TRUE(item) << item.error().what;
      for (const auto& event : item->events) ASSERT_EQ(event.position.value, ++last);
    }
  });
  append_rate(remote, 1'000);
  const auto rate_with = append_rate(remote, 4'000);
  follower.join();
  std::cout << "20 subscribers that never read 60 MB: " << memory_before << " MiB before, " << memory_with
            << " MiB with them; " << static_cast<int>(rate_before) << " appends/s before, "
            << static_cast<int>(rate_with) << " with them\n";
  EXPECT_EQ(last, 10'300u) << "the one that reads";
  EXPECT_LT(memory_with - memory_before, 20 * 4) << "MiB: more than some pages each";
  EXPECT_GT(rate_with, rate_before / 20) << "not held up; how much slower is the benchmark's to say";
}

// Each may keep a page or two of a megabyte in the server's memory for as long as it likes, were there no bound for all
// of them.
TEST(ServerLoad, ManySlowReadersOfLargePagesAreGivenUpWhereOthersNeedTheRoom) {
  constexpr int slow_ones = 150;
  ServerProcess server("-", {.environment = {{"EVERSHARD_TEST_UNREAD_MAX", std::to_string(32 << 20)},
                                             {"EVERSHARD_TEST_UNREAD_MS", "300"},
                                             {"MALLOC_MMAP_THRESHOLD_",
                                              "65536"}}});  // what is freed goes back to the system, and can be told
  auto remote = server.connect();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(remote.append(Append{}.event("a-1", "Large", std::string(1'000'000, 'x'))));
  const auto memory_before = server.memory_mib();
  v1::ReadRequest request;
  request.mutable_query()->set_all(true);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<raw::Reader> readers;
  for (int i = 0; i < slow_ones; ++i) {
    if (i % 10 == 0) channels.push_back(raw::channel(server.address()));
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(
        raw::stream(*channels.back(), "/evershard.v1.EventStore/Read", request.SerializeAsString(), *contexts.back()));
  }

  for (int i = 0; i < 3; ++i) {  // and whoever does read is served, beside those that do not
    auto events = remote.read(Query::all());
    EXPECT_EQ(std::ranges::distance(events.begin(), events.end()), 40);
    EXPECT_FALSE(events.error()) << events.error()->what;
  }
  const auto memory_with = server.memory_mib();
  for (std::size_t i = 0; i != readers.size(); ++i) {
    contexts[i]->TryCancel();
    (void)raw::read_all(*readers[i]);
  }
  std::cout << slow_ones << " readers that take nothing of 40 MB: " << memory_before << " MiB before, " << memory_with
            << " MiB with them\n";
  EXPECT_LT(memory_with - memory_before, 160)
      << "MiB: the bound, twice for pages being made, and what gRPC has of each";
}

TEST(ServerLoad, AMessageThatIsTooLongIsRefusedAndNotKept) {
  ServerProcess server("-");
  const auto channel = raw::channel(server.address());
  auto remote = server.connect();
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  const auto before = server.memory_mib();
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(raw::unary(*channel, "/evershard.v1.EventStore/Append", std::string(100u << 20, 'x')).error_code(),
              grpc::RESOURCE_EXHAUSTED);
  }
  EXPECT_LT(server.memory_mib() - before, 400) << "MiB; the messages had 1,200";
  EXPECT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
}

}  // namespace
}  // namespace evershard
