// Connections that can never be made are told at once, in plain words; once a server was there, it is waited for.

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "evershard/doors/remote/connect_faults.hpp"
#include "tests/doors/remote/served_store.hpp"
#include "tests/doors/remote/silent_server.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using remote::ConnectFaults;
using ::testing::HasSubstr;

nlohmann::json connection_table() {
  std::ifstream file(EVERSHARD_CLIENT_TABLES "/connections.json");
  return nlohmann::json::parse(file);
}

Error not_sent(std::size_t row) { return {ErrorCode::unavailable, connection_table().at("faults").at(row).at("text")}; }

TEST(RemoteConnections, AnAddressIsReadAsTheTableSays) {
  for (const auto& row : connection_table().at("addresses")) {
    const auto given = row.at("given").get<std::string>();
    const auto whole = remote::whole_address(given);
    if (row.contains("is")) {
      ASSERT_TRUE(whole) << given << ": " << whole.error().what;
      EXPECT_EQ(*whole, row.at("is").get<std::string>());
    } else {
      ASSERT_FALSE(whole) << given;
      EXPECT_EQ(whole.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(whole.error().what, HasSubstr("is no address"));
    }
  }
  EXPECT_FALSE(Remote::connect({.server = "127.0.0.1:0"}));
}

TEST(RemoteConnections, AFaultIsNamedAsTheTableSays) {
  for (const auto& row : connection_table().at("faults")) {
    const auto text = row.at("text").get<std::string>();
    const auto words = remote::fault_words({ErrorCode::unavailable, text});
    EXPECT_EQ(words.value_or("nothing"), row.at("says").is_null() ? "nothing" : row.at("says").get<std::string>())
        << text;
  }
}

TEST(RemoteConnections, FaultsAreFinalWhenEveryAddressSaysSoAndNobodyWasEverThere) {
  const ConnectFaults::Clock::time_point began{};
  ConnectFaults one(1);
  EXPECT_FALSE(one.failed(0, "a", not_sent(0), false, began).lasting()) << "it may be starting";
  EXPECT_FALSE(one.failed(0, "a", not_sent(0), false, began + 900ms).lasting());
  EXPECT_TRUE(one.failed(0, "a", not_sent(0), false, began + 1s).lasting());
  ConnectFaults two(2);
  EXPECT_FALSE(two.failed(0, "a", not_sent(8), false, began).lasting());
  EXPECT_TRUE(two.failed(1, "b", not_sent(8), false, began).lasting()) << "no time mends a certificate";
  ConnectFaults met(1);
  (void)met.failed(0, "a", {ErrorCode::unauthenticated, "no"}, true, began);
  EXPECT_FALSE(met.failed(0, "a", not_sent(0), false, began).lasting());
  EXPECT_FALSE(met.failed(0, "a", not_sent(0), false, began + 1h).lasting());
}

Error followed(Remote remote) {
  auto feed = remote.follow(Query::all());
  while (true) {
    auto item = feed.next(600s);
    if (!item) return std::move(item).error();  // else it says that the server is away
  }
}

/// Nobody waits so long for a test: what ends, ended before its time.
void expect_told_at_once(RemoteOptions options, const std::string& words) {
  options.timeout = 600s;
  const std::map<std::string, std::function<Error(Remote)>> calls = {
      {"head", [](Remote remote) { return remote.head().error(); }},
      {"append", [](Remote remote) { return remote.append(Append{}.event("a-1", "T", "x")).error(); }},
      {"read", [](Remote remote) { return remote.read(Query::all()).next().error(); }},
      {"schedule",
       [](Remote remote) {
         return remote.scheduled().schedule({.after = 1h, .append = Append{}.event("a-1", "T", "x")}).error();
       }},
      {"drop", [](Remote remote) { return remote.groups().drop_group("g").error(); }},
      {"remove",
       [](Remote remote) {
         return remote.retention().remove_aggregate({"a", "1"}, {}).error();
       }},
      {"follow", followed}};
  std::map<std::string, std::future<Error>> ends;
  for (const auto& [name, call] : calls)
    ends.emplace(name, std::async(std::launch::async,
                                  [&options, &call = call] { return call(Remote::connect(options).value()); }));
  for (auto& [name, end] : ends) {
    const auto error = end.get();
    EXPECT_EQ(error.code, ErrorCode::unavailable) << name << ": " << error.what;
    EXPECT_TRUE(error.lasting()) << name;
    EXPECT_THAT(error.what, HasSubstr(words)) << name;
  }
}

TEST(RemoteConnections, NobodyListens) {
  expect_told_at_once({.server = "127.0.0.1:1"}, "no connection to 127.0.0.1:1: nobody listens there");
  expect_told_at_once({.server = "unix:/tmp/no.such.socket"}, "nobody listens there");
  expect_told_at_once({.servers = {"127.0.0.1:1", "127.0.0.1:2"}}, "nobody listens there");
}

TEST(RemoteConnections, ThereIsNoSuchHost) {
  expect_told_at_once({.server = "no-such-host.invalid"}, "there is no host of that name");
}

TEST(RemoteConnections, OneSideSpeaksTls) {
  ServedStore served;
  expect_told_at_once({.server = served.address(), .tls = true}, "TLS");
}

/// Answers whatever comes as a server of HTTP/1 does.
class SpeaksHttp {
 public:
  SpeaksHttp() : answering_([this] { answer(); }) {}
  ~SpeaksHttp() {
    over_ = true;
    ::shutdown(silent_.socket(), SHUT_RDWR);
    answering_.join();
  }
  [[nodiscard]] const std::string& address() const { return silent_.address(); }

 private:
  void answer() {
    while (!over_) {
      const int one = ::accept(silent_.socket(), nullptr, nullptr);
      if (one < 0) return;
      static constexpr std::string_view bad =
          "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      (void)!::write(one, bad.data(), bad.size());
      ::close(one);
    }
  }

  SilentServer silent_;
  std::atomic<bool> over_{false};
  std::thread answering_;
};

TEST(RemoteConnections, TheHttpPort) {
  const SpeaksHttp http;
  expect_told_at_once({.server = http.address()}, "it speaks HTTP/1, not gRPC");
}

TEST(RemoteConnections, AServerThatWasThereIsWaitedFor) {
  ServedStore served;
  auto remote = served.connect({.timeout = 60s});
  ASSERT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  served.stop();
  std::thread later([&] {
    std::this_thread::sleep_for(1'500ms);  // longer than what is borne of one that was never there
    served.start();
  });
  EXPECT_TRUE(remote.append(Append{}.event("a-1", "T", "x")));
  later.join();
}

}  // namespace
}  // namespace evershard
