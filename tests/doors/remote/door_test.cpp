#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(Door, ListensOnSeveralAddressesAndSaysWhichPortsItTook) {
  const auto path = (fs::temp_directory_path() / ("evershard-door-" + std::to_string(::getpid()))).string();
  ServedStore served({.listen = {"127.0.0.1:0", "unix:" + path, "127.0.0.1:0"}});
  const auto addresses = served.door->addresses();
  ASSERT_EQ(addresses.size(), 3u);
  EXPECT_THAT(addresses[0], ::testing::StartsWith("127.0.0.1:"));
  EXPECT_NE(addresses[0], "127.0.0.1:0");
  EXPECT_NE(addresses[0], addresses[2]);
  EXPECT_EQ(addresses[1], "unix:" + path);
  std::uint64_t position = 0;
  for (const auto& address : addresses) {
    auto remote = served.connect({.server = address});
    const auto done = remote.append(Append{}.event("a-1", "T", "x"));
    ASSERT_TRUE(done) << address << ": " << done.error().what;
    EXPECT_EQ(done->first_position.value, ++position);
  }
  served.stop();
  fs::remove(path);
}

TEST(Door, APortInUseIsRefusedByName) {
  ServedStore served;
  auto second = door::Door::start(*served.served, {.listen = {served.address()}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().what, HasSubstr(served.address()));
  EXPECT_TRUE(served.connect().head()) << "the first one goes on";
}

TEST(Door, RefusesAddressesThatAreNone) {
  ServedStore served;
  for (const auto* address : {"", "127.0.0.1", ":7420", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:99999",
                              "127.0.0.1:-1", "192.0.2.1:7420", "unix:", "unix:/no/such/directory/socket"}) {
    const auto door = door::Door::start(*served.served, {.listen = {address}});
    ASSERT_FALSE(door) << address;
    EXPECT_TRUE(door.error().code == ErrorCode::unavailable || door.error().code == ErrorCode::invalid_argument);
    EXPECT_THAT(door.error().what, HasSubstr(address));
  }
  const auto none = door::Door::start(*served.served, {.listen = {}});
  ASSERT_FALSE(none) << "a door that listens nowhere";
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
}

// A client that is connected and asks nothing does not make anybody wait.
TEST(Door, StopsAtOnceWhereNothingIsUnderWay) {
  ServedStore served;
  auto remote = served.connect({.timeout = 500ms});
  auto patient = served.connect();
  ASSERT_TRUE(patient.append(Append{}.event("a-1", "T", "x")));
  auto feed = patient.follow(Query::all());
  ASSERT_TRUE(feed.next(10s));
  ASSERT_TRUE(feed.next(10s));
  const auto began = std::chrono::steady_clock::now();
  served.stop(90s);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  EXPECT_EQ(remote.head().error().code, ErrorCode::unavailable);
}

// What was taken is answered before it ends; what comes then is not taken.
TEST(Door, DrainsWhatIsUnderWay) {
  ServedStore served;
  append_events(served.local, 2'000, 2'000);
  auto remote = served.connect({.timeout = 60s});
  auto stream = remote.read(Query::all());
  ASSERT_TRUE(stream.next());
  std::thread stopping([&] { served.door->stop(20s); });
  int events = 1;
  while (true) {
    const auto event = stream.next();
    ASSERT_TRUE(event) << event.error().what;
    if (!*event) break;
    ++events;
    if (events % 500 == 0) std::this_thread::sleep_for(20ms);
  }
  stopping.join();
  EXPECT_EQ(events, 2'000);
}

// Whoever does not read does not keep it from ending.
TEST(Door, EndsInTimeWhateverIsUnderWay) {
  ServedStore served;
  append_events(served.local, 3'000, 3'000);
  auto remote = served.connect();
  auto stream = remote.read(Query::all());
  ASSERT_TRUE(stream.next());
  auto feed = remote.follow(Query::all());
  ASSERT_TRUE(feed.next(10s));
  std::thread waiting([&] { (void)remote.wait_for(GlobalPosition(1'000'000), 500ms); });
  std::this_thread::sleep_for(50ms);
  const auto began = std::chrono::steady_clock::now();
  served.door->stop(300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  EXPECT_EQ(served.door->calls(), 0u);
  served.door->stop(300ms);  // any number of times
  waiting.join();
}

TEST(Door, StopsWhileClientsComeAndAppend) {
  ServedStore served;
  std::atomic<bool> over{false};
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&] {
      while (!over) {
        auto remote = served.connect({.server = served.door->addresses().front(), .timeout = 100ms});
        for (int i = 0; i < 20; ++i) (void)remote.append_future(Append{}.event("a-1", "T", "x"));
        (void)remote.append(Append{}.event("a-1", "T", "x"));
      }
    });
  }
  std::this_thread::sleep_for(300ms);
  served.door->stop(2s);
  EXPECT_EQ(served.door->calls(), 0u);
  over = true;
  for (auto& client : clients) client.join();
}

/// What gRPC's health service answers: 1 SERVING, 2 NOT_SERVING.
int health_at(const std::string& address) {
  std::string answer;
  const auto status = raw::unary(*raw::channel(address), "/grpc.health.v1.Health/Check", {}, &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return answer.size() == 2 && answer[0] == 8 ? answer[1] : 0;
}

TEST(DoorHealth, SaysThatItServesOnceTheStoreIsReadyAndWell) {
  ServedStore served;
  EXPECT_EQ(health_at(served.address()), 1);
  served.served->not_ready = [] { return std::optional(Error(ErrorCode::unavailable, "shard 3 has no writer yet")); };
  const auto waiting = door::Door::start(*served.served, {.listen = {"127.0.0.1:0"}}).value();
  EXPECT_EQ(health_at(waiting->addresses().front()), 2);

  waiting->tell_ready();
  EXPECT_EQ(health_at(waiting->addresses().front()), 1);
  waiting->tell_unwell();
  waiting->tell_ready();
  EXPECT_EQ(health_at(waiting->addresses().front()), 2) << "for good";
}

}  // namespace
}  // namespace evershard
