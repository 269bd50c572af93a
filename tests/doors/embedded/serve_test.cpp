// The doors of a store that a program has opened itself: from its own process and from outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/local.hpp>
#include <evershard/remote.hpp>
#include <evershard/serve.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/actors/process/transfers.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/doors/http/http_client.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

ServeOptions both() { return {.listen = {"127.0.0.1:0"}, .http_listen = "127.0.0.1:0"}; }

template <class C>
bool asked_through(Remote& remote, const AggregateId& aggregate, const C& command) {
  const auto answer = remote.ask(aggregate, std::string(Codec<C>::name), Codec<C>::encode(command));
  return answer.kind == AnswerKind::replied;
}

TEST(EmbeddedDoors, ReachTheStoreItsAggregatesAndItsProcesses) {
  TemporaryFolder folder;
  auto store = Local::open({.data_dir = folder.path() / "data"}).value();
  ASSERT_TRUE(store.host<bank::Account>());
  ASSERT_TRUE(store.host<bank::Desk>());
  ASSERT_TRUE(store.run<bank::Transfers>(ProcessOptions{.checkpoint_every = 20ms}));
  auto doors = serve(store, both());
  ASSERT_TRUE(doors) << doors.error().what;
  ASSERT_EQ(doors->addresses().size(), 1u);
  {
    auto remote = Remote::connect({.server = doors->addresses().front()}).value();
    for (const auto* who : {"ann", "bob"})
      EXPECT_TRUE(asked_through(remote, {"account", who}, bank::Open{"-", "-", "-", 100}));
    EXPECT_TRUE(asked_through(remote, {"desk", "1"}, bank::Request{"t1", "ann", "bob", 30}));
    std::int64_t balance = 0;
    for (int n = 0; n != 12'000 && balance != 130; ++n, std::this_thread::sleep_for(5ms))
      balance = store.get<bank::Account>("bob").state()->state.balance;
    EXPECT_EQ(balance, 130);
    const auto kinds = remote.kinds();
    ASSERT_TRUE(kinds) << kinds.error().what;
    ASSERT_EQ(kinds->kinds.size(), 2u) << "instances of processes are not asked from outside";
    EXPECT_EQ(kinds->kinds[0].type, "account");
    const auto processes = remote.processes().processes();
    ASSERT_TRUE(processes) << processes.error().what;
    ASSERT_EQ(processes->size(), 1u);
    EXPECT_TRUE(processes->front().running);
    EXPECT_EQ(remote.head(), store.head());
  }
  EXPECT_EQ(ask(doors->http_address(), "GET", "/api/v1/kinds").json()["kinds"][0]["type"], "account");
  EXPECT_THAT(ask(doors->http_address(), "GET", "/metrics").body, HasSubstr("evershard_process_running"));
  EXPECT_EQ(ask(doors->http_address(), "GET", "/").status, 200);

  const auto address = doors->addresses().front();
  doors->stop(1s);
  doors->stop();
  EXPECT_FALSE(
      Remote::connect({.server = address, .timeout = 200ms, .unavailable_timeout = 200ms}).and_then([](auto remote) {
        return remote.head();
      }));
  EXPECT_TRUE(store.append(Append{}.event("order-1", "Placed", "{}"))) << "the store goes on";
  // Once more, and it ends with its object.
  {
    const auto again = serve(store, {.listen = {address}});
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->addresses().front(), address);
    EXPECT_EQ(again->http_address(), "");
    EXPECT_EQ(Remote::connect({.server = address})->head(), store.head());
  }
  EXPECT_TRUE(store.head());
}

TEST(EmbeddedDoors, OfAStoreInMemoryThatHostsNothing) {
  auto store = Local::open().value();
  const auto doors = serve(store, {.listen = {}, .http_listen = "127.0.0.1:0"});
  ASSERT_TRUE(doors) << doors.error().what;
  EXPECT_TRUE(doors->addresses().empty());
  ASSERT_TRUE(store.append(Append{}.event("order-1", "Placed", "{}")));
  const auto event = ask(doors->http_address(), "GET", "/api/v1/events/1");
  EXPECT_EQ(event.status, 200) << event.body;
  EXPECT_THAT(event.body, HasSubstr("Placed"));
  EXPECT_THAT(ask(doors->http_address(), "POST", "/api/v1/aggregates/order-1/commands/Place", "{}").body,
              HasSubstr("hosts no aggregates"));
}

TEST(EmbeddedDoors, DoNotOpenWhereTheyShouldNotOrCannot) {
  TemporaryFolder folder;
  auto store = Local::open().value();
  const auto code = [&](ServeOptions options) {
    const auto doors = serve(store, std::move(options));
    return doors ? std::nullopt : std::optional(doors.error().code);
  };
  EXPECT_EQ(code({.listen = {}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.listen = {"nonsense"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.listen = {"0.0.0.0:0"}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.listen = {"127.0.0.1:0"}, .http_listen = "0.0.0.0:0"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.listen = {"0.0.0.0:0"}, .insecure = true}), std::nullopt);
  auto half = both();
  half.tls_key = folder.path() / "key";
  EXPECT_EQ(code(half), ErrorCode::invalid_argument);
  const auto first = serve(store, both());
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(code({.listen = {}, .http_listen = first->http_address()}), ErrorCode::unavailable);
  EXPECT_TRUE(Remote::connect({.server = first->addresses().front()})->head());
}

TEST(EmbeddedDoors, AskForTokensAndReadThemAnew) {
  TemporaryFolder folder;
  const auto tokens = folder.path() / "tokens";
  const auto write = [&](const std::string& lines) {
    std::ofstream(tokens) << lines;
    std::filesystem::permissions(tokens, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  };
  write("ann read,append a-0123456789abcdef\n");
  auto store = Local::open().value();
  auto options = both();
  options.tokens = tokens;
  options.log_file = folder.path() / "log";
  auto doors = serve(store, std::move(options));
  ASSERT_TRUE(doors) << doors.error().what;
  const auto head = [&](const std::string& token) {
    return ask(doors->http_address(), "GET", "/api/v1/head", {}, "Authorization: Bearer " + token + "\r\n").status;
  };
  EXPECT_EQ(head("a-0123456789abcdef"), 200);
  EXPECT_EQ(head("b-0123456789abcdef"), 401);
  write("bob read b-0123456789abcdef\n");
  ASSERT_TRUE(doors->reload());
  EXPECT_EQ(head("a-0123456789abcdef"), 401);
  EXPECT_EQ(head("b-0123456789abcdef"), 200);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "log"));
}

}  // namespace
}  // namespace evershard
