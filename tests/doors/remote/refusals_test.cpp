// What a server refuses for good is told at once; what may pass is tried again for a while, and told with its cause;
// what never left is not unknown.

#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "evershard/doors/remote/told_patience.hpp"
#include "tests/doors/remote/refusing_server.hpp"
#include "tests/doors/remote/served_store.hpp"
#include "tests/doors/remote/silent_server.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 250ms;

Append one() { return Append{}.event("a-1", "T", "x"); }

Error no_node() { return {ErrorCode::unavailable, "shard 3 is on no node"}; }

Error closed_for_good() {
  ErrorDetails details;
  details.shard = ShardId{3};
  details.lasting = true;
  return {ErrorCode::unavailable, "shard 3 is closed: it has lost data", std::move(details)};
}

Remote connected(const std::string& server, std::chrono::milliseconds timeout = 60s) {
  return Remote::connect({.server = server, .timeout = timeout, .unavailable_timeout = patience}).value();
}

/// Every call that a server may refuse, with what it ended with.
template <class See>
void each_call(Remote& remote, See see) {
  see("head", remote.head().error());
  see("read", remote.read(Query::all()).next().error());
  see("read of an aggregate", remote.read(AggregateId{"a", "1"}).next().error());
  see("aggregate", remote.aggregate({"a", "1"}).error());
  see("tables", remote.tables().describe_table("t").error());
  see("append", remote.append(one()).error());
}

TEST(ToldPatience, EndsSoLongAfterTheFirstRefusal) {
  remote::ToldPatience with(5s);
  const Clock::time_point began{};
  EXPECT_TRUE(with.bears(no_node(), began + 20s)) << "the first one, however late";
  EXPECT_TRUE(with.bears(no_node(), began + 24s));
  EXPECT_FALSE(with.bears(no_node(), began + 25s));
  with.worked();
  EXPECT_TRUE(with.bears(no_node(), began + 26s));
  EXPECT_FALSE(with.bears(closed_for_good(), began + 26s)) << "no time mends it";
}

TEST(RemoteRefusals, WhatMayPassIsTriedAgainForAWhileAndThenToldWithItsCause) {
  RefusingServer server(no_node());
  auto remote = connected(server.address());
  each_call(remote, [&](const char* what, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable) << what << ": " << error.what;
    EXPECT_THAT(error.what, HasSubstr("shard 3 is on no node")) << what;
  });
  EXPECT_GT(server.heard(), 10);
}

TEST(RemoteRefusals, AServerThatHasNoRoomIsAskedAgain) {
  RefusingServer server(Error(ErrorCode::overloaded, "the queue is full"));
  auto remote = connected(server.address(), 1s);
  each_call(remote, [&](const char* what, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::overloaded) << what << ": " << error.what;
    EXPECT_THAT(error.what, HasSubstr("the queue is full")) << what;
  });
  EXPECT_GT(server.heard(), 12) << "six calls";
  auto follower = connected(server.address());
  auto feed = follower.follow(Query::all());
  for (int turn = 0; turn < 3; ++turn) {
    const auto item = feed.next(500ms);
    ASSERT_TRUE(item) << item.error().what;
    EXPECT_EQ(item->kind, FeedItem::Kind::idle) << "it goes on for as long as it takes";
  }
}

TEST(RemoteRefusals, WhatNoTimeMendsIsToldAtOnce) {
  for (const auto& refusal : {closed_for_good(), Error(ErrorCode::corruption, "shard 3 is damaged"),
                              Error(ErrorCode::io, "the store has failed")}) {
    RefusingServer server(refusal);
    auto remote = connected(server.address());
    int calls = 0;
    each_call(remote, [&](const char* what, const Error& error) {
      EXPECT_EQ(error.code, refusal.code) << what << ": " << error.what;
      EXPECT_EQ(error.what, refusal.what) << what;
      EXPECT_EQ(server.heard(), ++calls) << what << " was tried again";
    });
  }
}

TEST(RemoteRefusals, AFollowerIsToldAtOnceWhatNoTimeMends) {
  RefusingServer server(closed_for_good());
  auto feed = connected(server.address()).follow(Query::all());
  const auto item = feed.next(20s);
  ASSERT_FALSE(item);
  EXPECT_EQ(item.error().what, closed_for_good().what);
}

// Each of several may be another node's next door: an append goes round them, but not for as long as a call may take.
TEST(RemoteRefusals, AnAppendToSeveralIsTriedAgainForAWhile) {
  RefusingServer first(no_node()), second(no_node());
  auto remote = connected(first.address() + ',' + second.address());
  const auto done = remote.append(one());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unavailable) << done.error().what;
  EXPECT_THAT(done.error().what, HasSubstr("shard 3 is on no node"));
  EXPECT_GT(first.heard() + second.heard(), 1);

  RefusingServer third(closed_for_good()), fourth(closed_for_good());
  auto other = connected(third.address() + ',' + fourth.address());
  EXPECT_EQ(other.append(one()).error().what, closed_for_good().what);
  EXPECT_EQ(third.heard() + fourth.heard(), 1);
}

// It has waited itself: the same again would wait as long again.
TEST(RemoteRefusals, AnAppendThatServersAnsweredTooLateEndsAsUnknown) {
  const Error late(ErrorCode::timeout, "the coordinator is away");
  RefusingServer first(late), second(late);
  auto remote = connected(first.address() + ',' + second.address());
  const auto done = remote.append(one());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::timeout);
  EXPECT_THAT(done.error().what, HasSubstr("the coordinator is away"));
}

TEST(RemoteRefusals, OnlyWhatMayHaveArrivedIsUnknown) {
  const SilentServer silent;  // takes the connection, and no call
  // A call that begins just as the connection is tried once more may wait there until its time is over, and nobody can
  // tell it from one that was sent: such a client is left, and the next one asks.
  int untold = 0;
  for (bool told = false; !told;) {
    auto unreached = connected(silent.address(), 300ms);
    told = true;
    const auto look = [&](const char* what, const Error& error) {
      if (error.code == ErrorCode::timeout) told = false;
      if (!told) return;
      EXPECT_EQ(error.code, ErrorCode::unavailable) << what << ": " << error.what;
      EXPECT_THAT(error.what, HasSubstr("onnect")) << what;
      EXPECT_THAT(error.what, HasSubstr(silent.address())) << what;
    };
    each_call(unreached, look);
    look("drop of a group", unreached.groups().drop_group("g").error());
    untold += told ? 0 : 1;
    ASSERT_LT(untold, 5) << "that is no chance any more";
  }

  const RefusingServer mute(std::nullopt);  // takes the calls
  auto reached = connected(mute.address(), 300ms);
  // Until one has come: what is not connected in so short a time has not arrived.
  for (int tries = 0; tries != 100 && mute.heard() == 0; ++tries) (void)reached.head();
  each_call(reached, [&](const char* what, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::timeout) << what << ": " << error.what;
  });
  EXPECT_EQ(reached.groups().drop_group("g").error().code, ErrorCode::timeout);
}

// The connection was there: what became of the append nobody knows, also when nobody is there any more.
TEST(RemoteRefusals, WhatWasSentToAServerThatDiesIsUnknown) {
  auto server = std::make_unique<RefusingServer>(std::nullopt);
  std::optional<Remote> remote;
  std::future<Result<Appended>> answer;
  for (auto timeout = 1'500ms; server->heard() == 0 && timeout < 60s; timeout *= 3) {  // a busy machine has more time
    remote.emplace(connected(server->address(), timeout));
    answer = remote->append_future(one());
    while (server->heard() == 0 && answer.wait_for(2ms) != std::future_status::ready) continue;
  }
  ASSERT_EQ(server->heard(), 1);
  server.reset();
  const auto done = answer.get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::timeout) << done.error().what;
}

TEST(RemoteRefusals, WhereNobodyListensTheReasonIsTold) {
  std::string address;
  {
    const RefusingServer gone(std::nullopt);
    address = gone.address();
  }
  auto remote = connected(address, 300ms);
  each_call(remote, [&](const char* what, const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable) << what << ": " << error.what;
    EXPECT_THAT(error.what, HasSubstr("onnect")) << what;
  });
}

}  // namespace
}  // namespace evershard
