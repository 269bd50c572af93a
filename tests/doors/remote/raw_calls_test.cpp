// What a client that is not ours may send, and what it is told.

#include <google/protobuf/descriptor.h>

#include <atomic>
#include <ctime>
#include <future>
#include <random>
#include <thread>

#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/v1/service.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

const std::string event_store = "/evershard.v1.EventStore/";

Append append_to(const std::string& aggregate, const std::string& type = "T", std::vector<Tag> tags = {}) {
  return Append{}.event(aggregate, type, "x", std::move(tags));
}
std::string request_of(const Append& append, std::uint32_t conflicts_max = 0) {
  v1::AppendRequest request;
  EXPECT_TRUE(request.ParseFromString(codec::encode(append)));
  request.set_conflicts_max(conflicts_max);
  return request.SerializeAsString();
}

class RawCalls : public ::testing::Test {
 protected:
  /// Sends all, reads all. Returns: the outcomes, in order.
  std::vector<v1::AppendOutcome> append_many(const std::vector<std::string>& requests, grpc::Status* status = nullptr) {
    const auto context = raw::context();
    const auto stream = raw::both_ways(*channel, event_store + "AppendMany", *context);
    std::thread writer([&] {
      for (const auto& request : requests) {
        if (!stream->Write(raw::bytes(request))) break;
      }
      stream->WritesDone();
    });
    std::vector<v1::AppendOutcome> outcomes;
    for (grpc::ByteBuffer in; stream->Read(&in);) EXPECT_TRUE(outcomes.emplace_back().ParseFromString(raw::text(in)));
    writer.join();
    const auto ended = stream->Finish();
    if (status != nullptr)
      *status = ended;
    else
      EXPECT_TRUE(ended.ok()) << ended.error_message();
    return outcomes;
  }

  ServedStore served;
  std::shared_ptr<grpc::Channel> channel = raw::channel(served.address());
};

TEST_F(RawCalls, GarbageIsAnInvalidArgumentOfEveryMethod) {
  const auto* file = v1::ReadRequest::descriptor()->file();
  for (int s = 0; s < file->service_count(); ++s) {
    for (int m = 0; m < file->service(s)->method_count(); ++m) {
      const auto& method = *file->service(s)->method(m);
      if (method.client_streaming()) continue;
      const std::string name = "/" + method.service()->full_name() + "/" + method.name();
      SCOPED_TRACE(name);
      const std::string garbage = "\xff\xff\xff\xff garbage";
      const auto context = raw::context();
      const auto status = method.server_streaming() ? raw::read_all(*raw::stream(*channel, name, garbage, *context))
                                                    : raw::unary(*channel, name, garbage);
      EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << status.error_message();
      EXPECT_EQ(wire::error_of(status).code, ErrorCode::invalid_argument);
    }
  }
  EXPECT_TRUE(raw::unary(*channel, event_store + "Head", "").ok());
}

TEST_F(RawCalls, GarbageAmongManyAppendsIsRefusedAlone) {
  const auto outcomes =
      append_many({request_of(append_to("a-1")), "\xff\xff garbage", request_of(append_to("a-1")), "",
                   request_of(append_to("a-1", std::string(300, 't'))),
                   request_of(append_to("a-1").expect("a-1", Version::exactly(9))), request_of(append_to("a-1"))});
  ASSERT_EQ(outcomes.size(), 7u);
  for (const std::size_t i : {0u, 2u, 6u}) EXPECT_TRUE(outcomes[i].has_appended()) << i;
  EXPECT_EQ(outcomes[1].refused().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(outcomes[3].refused().code(), v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_EQ(outcomes[4].refused().code(), v1::ERROR_CODE_TOO_LARGE);
  EXPECT_EQ(outcomes[5].refused().code(), v1::ERROR_CODE_VERSION_CONFLICT);
  EXPECT_EQ(outcomes[5].refused().actual(), 2u);
  EXPECT_EQ(outcomes[6].appended().first_position(), 3u);
  EXPECT_GE(outcomes[6].appended().watermark(), 3u);
}

// The first two outcomes are ready at the same time.
TEST_F(RawCalls, OutcomesThatAreReadyTogetherAreSent) {
  append_events(served.local, 5);
  std::promise<void> go;
  auto gone = go.get_future().share();
  for (int i = 0; i < 2; ++i) served.pool.run([gone] { gone.wait(); });  // conflicts are read in the pool
  std::thread later([&] {
    std::this_thread::sleep_for(200ms);
    go.set_value();
  });
  const auto outcomes = append_many({request_of(append_to("b-1").fail_if(Query{}.tags({"all"})), 3), "\xff", "\xff"});
  later.join();
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].refused().conflicts_size(), 3);
}

// More than may be in flight, from one who sends all before he reads anything.
TEST_F(RawCalls, ManyAppendsKeepTheirOrderBeyondTheBound) {
  std::vector<std::string> requests;
  for (int i = 0; i < 1'000; ++i) requests.push_back(i % 10 == 9 ? "\xff" : request_of(append_to("a-1")));
  const auto outcomes = append_many(requests);
  ASSERT_EQ(outcomes.size(), requests.size());
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ASSERT_EQ(outcomes[i].has_refused(), i % 10 == 9) << i;
    if (outcomes[i].has_appended()) {
      ASSERT_EQ(outcomes[i].appended().first_position(), ++position);
    }
  }
}

TEST_F(RawCalls, ConflictingEventsComeWithTheRefusalWhereTheyAreAskedFor) {
  append_events(served.local, 5);
  const auto refused =
      append_to("b-1").fail_if(Query{}.types({"never"})).fail_if(Query{}.tags({"all"}), GlobalPosition(2));
  for (const auto& [most, given] :
       std::initializer_list<std::pair<std::uint32_t, std::size_t>>{{0, 0}, {2, 2}, {100, 3}, {~0u, 3}}) {
    SCOPED_TRACE(most);
    const auto outcomes = append_many({request_of(refused, most)});
    ASSERT_EQ(outcomes.size(), 1u);
    const auto& error = outcomes[0].refused();
    EXPECT_EQ(error.code(), v1::ERROR_CODE_CONDITION_FAILED);
    EXPECT_EQ(error.condition(), 1u);
    EXPECT_EQ(error.position(), 3u);
    ASSERT_EQ(static_cast<std::size_t>(error.conflicts_size()), given);
    for (int i = 0; i < error.conflicts_size(); ++i)
      EXPECT_EQ(error.conflicts(i).position(), static_cast<std::uint64_t>(3 + i));

    const auto status = raw::unary(*channel, event_store + "Append", request_of(refused, most));
    EXPECT_EQ(status.error_code(), grpc::ABORTED);
    EXPECT_EQ(wire::error_of(status).code, ErrorCode::condition_failed);
    EXPECT_EQ(status.error_details().find("evershard.v1.Error") == std::string::npos, false);
    std::size_t with = 0;  // each conflicting event has the tag in it
    for (auto at = status.error_details().find("all"); at != std::string::npos;
         at = status.error_details().find("all", at + 1))
      ++with;
    EXPECT_EQ(with, given);
  }
}

TEST_F(RawCalls, AMessageThatIsTooLongIsRefusedAndTheConnectionGoesOn) {
  const auto status = raw::unary(*channel, event_store + "Append", std::string(21u << 20, 'x'));
  EXPECT_EQ(status.error_code(), grpc::RESOURCE_EXHAUSTED) << status.error_message();
  EXPECT_TRUE(raw::unary(*channel, event_store + "Head", "").ok());
  grpc::Status ended;
  const auto outcomes = append_many({request_of(append_to("a-1")), std::string(21u << 20, 'x')}, &ended);
  EXPECT_EQ(ended.error_code(), grpc::RESOURCE_EXHAUSTED) << ended.error_message();
  EXPECT_LE(outcomes.size(), 1u);
  EXPECT_TRUE(raw::unary(*channel, event_store + "Append", request_of(append_to("a-1"))).ok());
}

// A field for each way in which a read can be put wrongly.
TEST_F(RawCalls, ARequestThatSaysTwoThingsIsRefused) {
  const auto refused = [&](const char* method, const google::protobuf::MessageLite& request) {
    const auto context = raw::context();
    const auto status =
        raw::read_all(*raw::stream(*channel, event_store + method, request.SerializeAsString(), *context));
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << status.error_message();
    return wire::error_of(status).what;
  };
  v1::ReadRequest read;
  EXPECT_NE(refused("Read", read).find("exactly one"), std::string::npos);
  read.mutable_query()->set_all(true);
  read.mutable_aggregate()->set_type("a");
  EXPECT_NE(refused("Read", read).find("exactly one"), std::string::npos);
  read.clear_aggregate();
  read.mutable_stream();
  EXPECT_NE(refused("Read", read).find("stream"), std::string::npos);
  v1::ReadRequest of_one;
  of_one.mutable_aggregate()->set_type("a");
  of_one.mutable_aggregate()->set_value("1");
  of_one.mutable_options();
  EXPECT_NE(refused("Read", of_one).find("options"), std::string::npos);
  v1::ReadRequest direction;
  direction.mutable_query()->set_all(true);
  direction.mutable_options()->set_direction(static_cast<v1::Direction>(7));
  EXPECT_NE(refused("Read", direction).find("direction"), std::string::npos);

  v1::SubscribeRequest subscribe;
  EXPECT_NE(refused("Subscribe", subscribe).find("query"), std::string::npos);
  subscribe.mutable_query()->set_all(true);
  subscribe.set_page_events_max(0);
  EXPECT_NE(refused("Subscribe", subscribe).find("page_events_max"), std::string::npos);
  subscribe.clear_page_events_max();
  subscribe.set_heartbeat_ms(99);
  EXPECT_NE(refused("Subscribe", subscribe).find("heartbeat_ms"), std::string::npos);

  v1::GetSnapshotRequest snapshot;
  snapshot.mutable_aggregate()->set_type("a");
  snapshot.mutable_aggregate()->set_value("1");
  snapshot.set_up_to(1);
  snapshot.set_at_or_before(1);
  EXPECT_EQ(raw::unary(*channel, event_store + "GetSnapshot", snapshot.SerializeAsString()).error_code(),
            grpc::INVALID_ARGUMENT);
  EXPECT_EQ(raw::unary(*channel, event_store + "GetAggregate", "").error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(raw::unary(*channel, event_store + "NoSuchMethod", "").error_code(), grpc::UNIMPLEMENTED);
}

// Those who go leave nothing behind: not the wait for a position, not the subscription.
TEST_F(RawCalls, WhoGoesWhileWaitingLeavesNothingBehind) {
  v1::HeadRequest head;
  head.mutable_at_least()->set_position(1'000'000);
  head.mutable_at_least()->set_timeout_ms(~0u);
  v1::ReadRequest read;
  read.mutable_query()->set_all(true);
  *read.mutable_at_least() = head.at_least();
  v1::SubscribeRequest subscribe;
  subscribe.mutable_query()->set_all(true);
  subscribe.set_heartbeat_ms(0);
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      const auto context = raw::context({}, 150ms + std::chrono::milliseconds(i));
      if (i % 3 == 0) {
        const grpc::internal::RpcMethod rpc("/evershard.v1.EventStore/Head", grpc::internal::RpcMethod::NORMAL_RPC);
        grpc::ByteBuffer out;
        const auto status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
            channel.get(), rpc, context.get(), raw::bytes(head.SerializeAsString()), &out);
        EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
      } else {
        const auto name = event_store + (i % 3 == 1 ? "Read" : "Subscribe");
        const auto status = raw::read_all(*raw::stream(
            *channel, name, i % 3 == 1 ? read.SerializeAsString() : subscribe.SerializeAsString(), *context));
        EXPECT_EQ(status.error_code(), grpc::DEADLINE_EXCEEDED);
      }
    });
  }
  for (auto& client : clients) client.join();
  for (int tries = 0; tries < 6'000 && served.door->calls() != 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 0u);
}

// Come and go as fast as they can, with events coming in: no subscription stays.
TEST_F(RawCalls, SubscriptionsThatComeAndGoLeaveNothingBehind) {
  v1::SubscribeRequest subscribe;
  subscribe.mutable_query()->set_all(true);
  subscribe.set_heartbeat_ms(0);
  std::atomic<bool> over{false};
  std::thread writer([&] {
    while (!over) {
      ASSERT_TRUE(served.local.append(append_to("a-1")));
      std::this_thread::sleep_for(1ms);
    }
  });
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 60; ++i) {
        const auto context = raw::context();
        auto stream = raw::stream(*channel, event_store + "Subscribe", subscribe.SerializeAsString(), *context);
        grpc::ByteBuffer in;
        for (auto n = random() % 4; n > 0; --n) stream->Read(&in);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 1'500));
        context->TryCancel();
        (void)raw::read_all(*stream);
      }
    });
  }
  for (auto& client : clients) client.join();
  over = true;
  writer.join();
  for (int tries = 0; tries < 6'000 && served.door->calls() != 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(served.door->calls(), 0u);
}

TEST_F(RawCalls, HeartbeatsComeAsOftenAsAskedForAndMoveTheCheckpoint) {
  v1::SubscribeRequest subscribe;
  subscribe.mutable_query()->add_items()->add_types("mine");
  subscribe.set_heartbeat_ms(100);
  subscribe.set_page_events_max(5);
  const auto context = raw::context();
  auto stream = raw::stream(*channel, event_store + "Subscribe", subscribe.SerializeAsString(), *context);
  v1::SubscribeResponse response;
  grpc::ByteBuffer in;
  ASSERT_TRUE(stream->Read(&in));
  ASSERT_TRUE(response.ParseFromString(raw::text(in)));
  EXPECT_EQ(response.kind(), v1::SubscribeResponse::KIND_CAUGHT_UP);
  append_events(served.local, 3, 10, "other");
  const auto until = std::chrono::steady_clock::now() + 60s;
  do {
    ASSERT_TRUE(stream->Read(&in));
    ASSERT_TRUE(response.ParseFromString(raw::text(in)));
    ASSERT_EQ(response.kind(), v1::SubscribeResponse::KIND_HEARTBEAT);
  } while (response.watermark() < 3 && std::chrono::steady_clock::now() < until);
  EXPECT_EQ(response.watermark(), 3u);
  // What follows falls behind, and does not go back.
  Append many;
  for (int i = 0; i < 20; ++i) many.event("a-1", "mine", "{}");
  ASSERT_TRUE(served.local.append(many));
  bool fell_behind = false;
  for (std::uint64_t last = 3; last < 23; last = response.watermark()) {
    ASSERT_TRUE(stream->Read(&in));
    ASSERT_TRUE(response.ParseFromString(raw::text(in)));
    ASSERT_GE(response.watermark(), last) << response.ShortDebugString();
    fell_behind = fell_behind || response.kind() == v1::SubscribeResponse::KIND_FELL_BEHIND;
  }
  EXPECT_TRUE(fell_behind);
  context->TryCancel();
}

// What it waited for would be another history's.
TEST_F(RawCalls, ASubscriptionFromBeyondTheHeadOrOfAnotherForkIsRefused) {
  append_events(served.local, 3);
  const auto fork = served.served->fork;
  const auto answered = [&](std::uint64_t after, const std::string& of) {
    v1::SubscribeRequest request;
    request.mutable_query()->set_all(true);
    request.set_after(after);
    request.set_fork_id(of);
    const auto context = raw::context();
    auto stream = raw::stream(*channel, event_store + "Subscribe", request.SerializeAsString(), *context);
    std::pair<v1::SubscribeResponse, grpc::Status> out;
    grpc::ByteBuffer in;
    if (stream->Read(&in)) {
      EXPECT_TRUE(out.first.ParseFromString(raw::text(in)));
      if (out.first.kind() != v1::SubscribeResponse::KIND_UNSPECIFIED) context->TryCancel();
    }
    out.second = stream->Finish();
    return out;
  };
  for (const auto& of : {std::string(), fork}) {
    const auto [none, status] = answered(4, of);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_NE(status.error_message().find("position 4 lies beyond the head of the store, 3, fork " + fork),
              std::string::npos)
        << status.error_message();
    EXPECT_EQ(none.fork_id(), "");
    const auto [first, cancelled] = answered(3, of);
    EXPECT_EQ(first.kind(), v1::SubscribeResponse::KIND_CAUGHT_UP);
    EXPECT_EQ(first.fork_id(), fork);
  }
  const auto [names, status] = answered(2, "another");
  EXPECT_EQ(names.fork_id(), fork) << "told before the refusal: a client compares";
  EXPECT_EQ(names.events_size(), 0);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("is fork " + fork + " now, and fork another was followed"), std::string::npos);
}

TEST_F(RawCalls, HealthAndReflectionAreServed) {
  std::string response;
  ASSERT_TRUE(raw::unary(*channel, "/grpc.health.v1.Health/Check", "", &response).ok());
  EXPECT_EQ(response, std::string("\x08\x01")) << "SERVING";
  const auto context = raw::context();
  const auto reflection =
      raw::both_ways(*channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", *context);
  ASSERT_TRUE(reflection->Write(raw::bytes(std::string("\x3a\x01*", 3))));  // list_services
  grpc::ByteBuffer in;
  ASSERT_TRUE(reflection->Read(&in));
  EXPECT_NE(raw::text(in).find("evershard.v1.EventStore"), std::string::npos);
  EXPECT_NE(raw::text(in).find("evershard.v1.Administration"), std::string::npos);
  reflection->WritesDone();
  EXPECT_TRUE(reflection->Finish().ok());
}

}  // namespace
}  // namespace evershard
