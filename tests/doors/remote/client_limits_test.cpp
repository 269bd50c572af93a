// What each client may ask of the gRPC door: refused as overloaded, with the time to try again, and nobody else harmed.

#include <gmock/gmock.h>

#include "evershard/doors/grpc/connection_limit.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/v1/service.pb.h"
#include "google/protobuf/any.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* two_tokens =
    "one read,append,admin one-one-one-one-one\ntwo read,append,admin two-two-two-two-two\n";

/// A served store with limits.
class LimitedStore : public ServedStore {
 public:
  explicit LimitedStore(serving::ClientLimitOptions limits, const std::string& lines = two_tokens)
      : ServedStore({}, lines) {
    served->clients = std::make_shared<serving::ClientGate>(limits);
  }
  [[nodiscard]] std::string metrics() const { return *served->metrics->text(local, *served->long_reads); }
};

RemoteOptions client_with(const std::string& token, std::chrono::milliseconds timeout = 60s) {
  return {.token = token, .timeout = timeout};
}
const std::string token_one = "one-one-one-one-one", token_two = "two-two-two-two-two";

/// The retry_after_ms in a status' details. 0: there is none.
std::uint32_t retry_after_of(const grpc::Status& status) {
  // google.rpc.Status: 3: details.
  for (std::size_t at = 0; at < status.error_details().size(); ++at) {
    google::protobuf::Any any;
    v1::Error error;
    if (status.error_details()[at] != 0x1a) continue;
    const std::string rest = status.error_details().substr(
        at + 2 + (static_cast<unsigned char>(status.error_details()[at + 1]) >= 0x80 ? 1 : 0));
    if (any.ParseFromString(rest) && error.ParseFromString(any.value())) return error.retry_after_ms();
  }
  return 0;
}

TEST(DoorClientLimits, RequestsOverTheRateAreRefusedWithATimeToTryAgain) {
  LimitedStore store({.requests_per_second_max = 5});
  const auto channel = raw::channel(store.address());
  std::string head;
  grpc::Status refused;
  int answered = 0;
  for (; answered < 100 && refused.ok(); ++answered)
    refused = raw::unary(*channel, "/evershard.v1.EventStore/Head", "", &head, token_one);
  EXPECT_GE(answered, 6);
  EXPECT_LT(answered, 100);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(wire::error_of(refused).code, ErrorCode::overloaded);
  const auto retry = retry_after_of(refused);
  EXPECT_GE(retry, 1u);
  EXPECT_LE(retry, 200u);
  EXPECT_TRUE(raw::unary(*channel, "/evershard.v1.EventStore/Head", "", &head, token_two).ok())
      << "the other client has a rate of its own";
  std::this_thread::sleep_for(std::chrono::milliseconds(retry + 5));
  EXPECT_TRUE(raw::unary(*channel, "/evershard.v1.EventStore/Head", "", &head, token_one).ok())
      << "what it said would do does";
  EXPECT_THAT(store.metrics(), HasSubstr(R"(evershard_client_refusals_total{door="grpc",limit="requests"})"));
}

TEST(DoorClientLimits, EachAppendOfAStreamIsARequestAndARefusedOneStoresNothing) {
  LimitedStore store({.requests_per_second_max = 10});
  auto options = client_with(token_one);
  options.follow_shards = false;  // asking for the members is a request too
  auto remote = store.connect(std::move(options));
  std::vector<std::future<Result<Appended>>> answers;
  for (int i = 0; i < 100; ++i) answers.push_back(remote.append_future(Append{}.event("a-1", "T", "x")));
  std::uint64_t stored = 0, refused = 0;
  for (auto& answer : answers) {
    const auto result = answer.get();
    ++(result ? stored : refused);
    EXPECT_TRUE(result || result.error().code == ErrorCode::overloaded) << result.error().what;
  }
  EXPECT_GE(stored, 9u);
  EXPECT_GT(refused, 50u);
  EXPECT_EQ(store.local.head()->value, stored) << "exactly what was acknowledged is there";
  auto other = store.connect(client_with(token_two));
  EXPECT_TRUE(other.append(Append{}.event("a-1", "T", "x")));
}

TEST(DoorClientLimits, BytesOverTheRateAreRefused) {
  LimitedStore store({.bytes_per_second_max = 100'000});
  auto options = client_with(token_one);
  options.timeout = std::chrono::milliseconds(500);  // it is tried again, until then
  auto remote = store.connect(std::move(options));
  EXPECT_TRUE(remote.wait_for(GlobalPosition{0}, 60s)) << "it is connected by then";
  EXPECT_TRUE(store.connect(client_with(token_one, 60s)).append(Append{}.event("a-1", "T", std::string(900'000, 'x'))))
      << "larger than a second's worth: paid for afterwards";
  const auto refused = remote.append(Append{}.event("a-1", "T", std::string(300'000, 'x')));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::overloaded);
  EXPECT_THAT(refused.error().what, HasSubstr("100000 bytes a second"));
  EXPECT_EQ(store.local.head()->value, 1u);
  EXPECT_THAT(store.metrics(), HasSubstr(R"(evershard_client_refusals_total{door="grpc",limit="bytes"} )"));
  EXPECT_THAT(store.metrics(), Not(HasSubstr(R"(evershard_client_refusals_total{door="grpc",limit="bytes"} 0)")))
      << "each try is one";
}

TEST(DoorClientLimits, StreamsAreCountedUntilTheyEnd) {
  LimitedStore store({.streams_max = 3}, {});  // by address: all of these are one client
  append_events(store.local, 3);
  auto remote = store.connect();
  std::vector<EventFeed> feeds;
  for (int i = 0; i < 3; ++i) {
    feeds.push_back(remote.follow(Query::all()));
    ASSERT_TRUE(feeds.back().next(60s));
  }
  const auto channel = raw::channel(store.address());  // a connection of its own, from a port of its own
  v1::SubscribeRequest request;
  request.mutable_query()->set_all(true);
  const auto with = raw::context();
  const auto refused =
      raw::read_all(*raw::stream(*channel, "/evershard.v1.EventStore/Subscribe", request.SerializeAsString(), *with));
  EXPECT_EQ(wire::error_of(refused).code, ErrorCode::overloaded) << refused.error_message();
  EXPECT_EQ(retry_after_of(refused), 1'000u);
  EXPECT_TRUE(remote.head()) << "calls that do not stay are no streams";
  feeds.clear();
  Result<FeedItem> item = refuse(ErrorCode::overloaded, "not asked yet");
  for (int tries = 0; tries < 6'000 && !item; ++tries) {
    std::this_thread::sleep_for(10ms);
    auto feed = remote.follow(Query::all());
    item = feed.next(60s);
  }
  EXPECT_TRUE(item) << item.error().what;
}

TEST(DoorMetrics, CountTheConnectionsThatGrpcHas) {
  ServedStore store;
  EXPECT_EQ(store.served->metrics->figures().connections, 0);
  ServedStore another;  // its connections are its own
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 7; ++i) {
    channels.push_back(raw::channel(store.address()));
    ASSERT_TRUE(raw::unary(*channels.back(), "/evershard.v1.EventStore/Head", "").ok());
  }
  EXPECT_EQ(store.served->metrics->figures().connections, 7);
  EXPECT_EQ(another.served->metrics->figures().connections, 0);
  EXPECT_THAT(*store.served->metrics->text(store.local, *store.served->long_reads),
              HasSubstr("evershard_connections{door=\"grpc\"} 7\n"));
  channels.clear();
  for (int tries = 0; tries < 6'000 && store.served->metrics->figures().connections > 0; ++tries)
    std::this_thread::sleep_for(10ms);
  EXPECT_EQ(store.served->metrics->figures().connections, 0);
}

TEST(ConnectionLimit, WhoCameFirstKeepsItsPlaceUntilItGoes) {
  using Peers = std::vector<std::string>;
  Peers open{"a:1", "a:2", "a:3", "a:4"};
  int looked = 0;
  door::ConnectionLimit limit(2, [&] { return ++looked, open; });
  door::ConnectionLimit::Clock::time_point now{};
  EXPECT_FALSE(limit.ask("a:1", now));
  EXPECT_FALSE(limit.ask("a:2", now));
  EXPECT_EQ(looked, 0) << "there was room";
  const auto refused = limit.ask("a:3", now);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error.code, ErrorCode::overloaded);
  EXPECT_THAT(refused->error.what, HasSubstr("2 connections"));
  EXPECT_GT(refused->retry_after.count(), 0);
  EXPECT_TRUE(refused->first);
  EXPECT_FALSE(limit.ask("a:3", now)->first) << "counted once";
  EXPECT_TRUE(limit.ask("a:4", now)->first);
  EXPECT_EQ(looked, 1) << "not with every call";
  EXPECT_FALSE(limit.ask("a:1", now)) << "the others go on";
  EXPECT_FALSE(limit.ask("unix:", now)) << "they have no name of their own";

  open = {"a:2", "a:3", "a:4"};
  EXPECT_TRUE(limit.ask("a:3", now + 50ms));
  EXPECT_FALSE(limit.ask("a:3", now + 100ms)) << "there is room";
  EXPECT_TRUE(limit.ask("a:4", now + 200ms));
  EXPECT_TRUE(limit.ask("a:1", now + 300ms)) << "it lost its place";
}

TEST(DoorConnectionLimit, CallsOfOneConnectionMoreAreRefusedUntilAnotherOneGoes) {
  ServedStore store({.connections_max = 2});
  const auto head = [](grpc::Channel& by) { return raw::unary(by, "/evershard.v1.EventStore/Head", ""); };
  auto first = raw::channel(store.address());
  const auto second = raw::channel(store.address()), third = raw::channel(store.address());
  ASSERT_TRUE(head(*first).ok());
  ASSERT_TRUE(head(*second).ok());
  for (int i = 0; i < 3; ++i) {
    const auto refused = head(*third);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(wire::error_of(refused).code, ErrorCode::overloaded);
    EXPECT_THAT(wire::error_of(refused).what, HasSubstr("max-connections"));
    EXPECT_GE(retry_after_of(refused), 1u);
  }
  const auto with = raw::context();
  auto reading = raw::stream(*third, "/evershard.v1.EventStore/Read", "", *with);
  EXPECT_EQ(reading->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "streams too";
  EXPECT_TRUE(head(*first).ok());
  const auto figures = *store.served->metrics->text(store.local, *store.served->long_reads);
  EXPECT_THAT(figures, HasSubstr("evershard_connections_refused_total{door=\"grpc\",reason=\"full\"} 1\n"));

  first.reset();
  bool answered = false;
  for (int tries = 0; tries < 3'000 && !(answered = head(*third).ok()); ++tries) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(answered);
  EXPECT_TRUE(head(*second).ok());
}

}  // namespace
}  // namespace evershard
