// What clients send that does harm elsewhere: messages without their fields, without an end, nested without a bottom.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/projections_service.hpp"
#include "evershard/kurrent/gossip.grpc.pb.h"
#include "evershard/kurrent/persistent.grpc.pb.h"
#include "evershard/kurrent/projectionmanagement.grpc.pb.h"
#include "evershard/kurrent/streams.grpc.pb.h"
#include "evershard/kurrent/streams_v2.grpc.pb.h"
#include "evershard/protocol/base64.hpp"
#include "tests/compat/kurrent/kurrent_in_process.hpp"

namespace evershard::kurrent {
namespace {

namespace v2 = ::kurrentdb::protocol::v2::streams;

class KurrentHarmTest : public ::testing::Test, protected KurrentInProcess {
 protected:
  KurrentHarmTest() {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(static_cast<int>(message_bytes_most));
    channel = grpc::CreateCustomChannel(door->addresses().front(), grpc::InsecureChannelCredentials(), arguments);
    streams = esp::Streams::NewStub(channel);
  }
  ~KurrentHarmTest() override { stop(); }

  static void propose(esp::BatchAppendReq& request, const std::string& type, std::string data = "{}") {
    auto& message = *request.add_proposed_messages();
    put_id(EventId::random(), false, *message.mutable_id());
    (*message.mutable_metadata())["type"] = type;
    (*message.mutable_metadata())["content-type"] = "application/json";
    message.set_data(std::move(data));
  }
  static esp::BatchAppendReq batch(const std::string& stream, bool final = true) {
    esp::BatchAppendReq request;
    put_id(EventId::random(), false, *request.mutable_correlation_id());
    request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
    request.mutable_options()->mutable_any();
    request.set_is_final(final);
    return request;
  }
  /// One batch, over a stream of calls of its own.
  esp::BatchAppendResp append(const std::string& stream, const std::string& type, std::string data = "{}") {
    grpc::ClientContext context;
    auto call = streams->BatchAppend(&context);
    auto request = batch(stream);
    propose(request, type, std::move(data));
    esp::BatchAppendResp response;
    EXPECT_TRUE(call->Write(request));
    EXPECT_TRUE(call->Read(&response));
    call->WritesDone();
    EXPECT_TRUE(call->Finish().ok());
    return response;
  }
  grpc::Status read(const esp::ReadReq& request, std::size_t* events = nullptr) {
    grpc::ClientContext context;
    auto reader = streams->Read(&context, request);
    esp::ReadResp response;
    while (reader->Read(&response)) {
      if (events != nullptr && response.has_event()) ++*events;
    }
    return reader->Finish();
  }
  static esp::ReadReq of_stream(const std::string& stream) {
    esp::ReadReq request;
    auto& options = *request.mutable_options();
    options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
    options.mutable_stream()->mutable_start();
    options.set_count(1'000);
    return request;
  }
  /// Bytes as a message of a call, whatever they are.
  grpc::Status call(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(channel);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto wait = [&] {
      void* tag = nullptr;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok));
      return ok;
    };
    auto stream = stub.PrepareCall(&context, method, &queue);
    stream->StartCall(nullptr);
    wait();
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer message(&slice, 1);
    stream->WriteLast(message, grpc::WriteOptions(), nullptr);
    wait();
    grpc::ByteBuffer answer;
    do {
      stream->Read(&answer, nullptr);
    } while (wait());
    grpc::Status status;
    stream->Finish(&status, nullptr);
    wait();
    return status;
  }
  void lives() { EXPECT_TRUE(append("alive-1", "A").has_success()); }

  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<esp::Streams::Stub> streams;
};

}  // namespace

TEST_F(KurrentHarmTest, EveryCallAnswersAMessageWithoutFieldsAndOneThatIsNone) {
  std::vector<const google::protobuf::ServiceDescriptor*> services;
  for (const char* name :
       {"event_store.client.streams.Streams", "event_store.client.gossip.Gossip",
        "event_store.client.persistent_subscriptions.PersistentSubscriptions",
        "event_store.client.projections.Projections", "event_store.client.server_features.ServerFeatures",
        "event_store.client.operations.Operations", "kurrentdb.protocol.v2.streams.StreamsService"}) {
    services.push_back(google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name));
    ASSERT_NE(services.back(), nullptr) << name;
  }
  for (const auto* service : services) {
    for (int i = 0; i < service->method_count(); ++i) {
      const auto method = "/" + service->full_name() + "/" + service->method(i)->name();
      for (const std::string& bytes : {std::string(), std::string("\x0a\xff"), std::string(300, '\xff')}) {
        const auto code = call(method, bytes).error_code();
        EXPECT_NE(code, grpc::StatusCode::INTERNAL) << method;
        EXPECT_NE(code, grpc::StatusCode::UNKNOWN) << method;
        EXPECT_NE(code, grpc::StatusCode::DEADLINE_EXCEEDED) << method;
      }
    }
  }
  lives();
}

TEST_F(KurrentHarmTest, NumbersThatAreTheGreatestFindNothing) {
  append("order-7", "A");
  const auto most = std::numeric_limits<std::uint64_t>::max();
  for (const bool backwards : {false, true}) {
    auto request = of_stream("order-7");
    request.mutable_options()->set_count(most);
    request.mutable_options()->mutable_stream()->set_revision(most);
    if (backwards) request.mutable_options()->set_read_direction(esp::ReadReq::Backwards);
    std::size_t events = 0;
    EXPECT_TRUE(read(request, &events).ok());
    EXPECT_EQ(events, backwards ? 1u : 0u);
    request.mutable_options()->mutable_stream()->mutable_stream_identifier()->set_stream_name("$ce-order");
    events = 0;
    EXPECT_TRUE(read(request, &events).ok());
    EXPECT_EQ(events, backwards ? 1u : 0u);
    request.mutable_options()->mutable_all()->mutable_position()->set_commit_position(most);
    events = 0;
    EXPECT_TRUE(read(request, &events).ok());
    EXPECT_EQ(events, backwards ? 1u : 0u);
    request.mutable_options()->set_count(0);
    events = 0;
    EXPECT_TRUE(read(request, &events).ok());
    EXPECT_EQ(events, 0u);
  }
  auto filtered = of_stream("x");
  filtered.mutable_options()->mutable_all()->mutable_start();
  auto& filter = *filtered.mutable_options()->mutable_filter();
  filter.mutable_event_type()->set_regex("^(a|aa)+$");
  filter.set_max(std::numeric_limits<std::uint32_t>::max());
  filter.set_checkpointintervalmultiplier(std::numeric_limits<std::uint32_t>::max());
  EXPECT_TRUE(read(filtered).ok());
  for (const std::string& pattern : {std::string("("), std::string("(?=a)"), std::string("a{1000}{1000}{1000}"),
                                     std::string(10'000, 'a'), std::string("\xff")}) {
    filter.mutable_event_type()->set_regex(pattern);
    EXPECT_FALSE(read(filtered).ok()) << pattern.substr(0, 20);
  }
  filter.mutable_event_type()->clear_regex();
  for (int i = 0; i < 2'000; ++i) filter.mutable_event_type()->add_prefix("a");
  EXPECT_FALSE(read(filtered).ok());
  lives();
}

TEST_F(KurrentHarmTest, ABatchThatWasRefusedBeforeItsEndIsAnsweredOnce) {
  grpc::ClientContext context;
  auto call = streams->BatchAppend(&context);
  auto refused = batch("order-7", false);
  refused.add_proposed_messages()->mutable_id()->set_string("no UUID");
  ASSERT_TRUE(call->Write(refused));
  esp::BatchAppendResp response;
  ASSERT_TRUE(call->Read(&response));
  EXPECT_TRUE(response.has_error());
  const auto of_it = response.correlation_id().string();
  // The rest of it was on its way.
  refused.clear_options();
  for (const bool final : {false, true}) {
    refused.clear_proposed_messages();
    propose(refused, "A");
    refused.set_is_final(final);
    ASSERT_TRUE(call->Write(refused));
  }
  auto next = batch("order-8");
  propose(next, "A");
  ASSERT_TRUE(call->Write(next));
  ASSERT_TRUE(call->Read(&response));
  EXPECT_NE(response.correlation_id().string(), of_it);
  EXPECT_TRUE(response.has_success());
  // The same id again is another append.
  auto again = batch("order-7");
  again.mutable_correlation_id()->set_string(of_it);
  propose(again, "A");
  ASSERT_TRUE(call->Write(again));
  ASSERT_TRUE(call->Read(&response));
  EXPECT_EQ(response.correlation_id().string(), of_it);
  EXPECT_TRUE(response.has_success());
  call->WritesDone();
  EXPECT_FALSE(call->Read(&response));
  EXPECT_TRUE(call->Finish().ok());
  EXPECT_EQ(local.aggregate({"order", "7"}).value().version, SeqNr{1});
}

TEST_F(KurrentHarmTest, WhatComesTooLateIsToldSoWhateverElseIsWrongWithIt) {
  grpc::ClientContext context;
  auto call = streams->BatchAppend(&context);
  esp::BatchAppendResp response;
  for (const bool late : {false, true}) {
    auto refused = batch("order-7");
    refused.add_proposed_messages()->mutable_id()->set_string("no UUID");
    if (late) refused.mutable_options()->mutable_deadline();
    ASSERT_TRUE(call->Write(refused));
    ASSERT_TRUE(call->Read(&response));
    EXPECT_EQ(response.error().code(), late ? grpc::StatusCode::DEADLINE_EXCEEDED : grpc::StatusCode::INVALID_ARGUMENT);
  }
  call->WritesDone();
  EXPECT_TRUE(call->Finish().ok());
}

TEST_F(KurrentHarmTest, BatchesThatAreBegunAndNotEndedComeToABound) {
  grpc::ClientContext context;
  auto call = streams->BatchAppend(&context);
  esp::BatchAppendReq request;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name("order-7");
  std::thread writing([&] {
    for (int i = 0; i < 200'000; ++i) {
      request.mutable_correlation_id()->set_string(std::to_string(i));
      if (!call->Write(request)) return;
    }
    call->WritesDone();
  });
  esp::BatchAppendResp response;
  bool refused = false;
  while (!refused && call->Read(&response)) refused = response.error().code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
  EXPECT_TRUE(refused);
  context.TryCancel();
  writing.join();
  static_cast<void>(call->Finish());
  lives();
}

TEST_F(KurrentHarmTest, MessagesWithoutAnythingComeToAnEnd) {
  grpc::ClientContext context;
  esp::AppendResp response;
  auto writer = streams->Append(&context, &response);
  std::size_t written = 0;
  while (written < 2'000'000 && writer->Write(esp::AppendReq())) ++written;
  EXPECT_LT(written, 2'000'000u);
  EXPECT_FALSE(writer->Finish().ok());
  lives();
}

TEST_F(KurrentHarmTest, MetadataMayNestWithoutABottom) {
  append("order-7", "A");
  for (const auto& open : {std::string("["), std::string(R"({"a":)")}) {
    std::string json = R"({"$maxCount":1,"x":)";
    while (json.size() < 900'000) json += open;
    ASSERT_TRUE(append("$$order-7", "$metadata", json).has_success());
    std::size_t events = 0;
    EXPECT_TRUE(read(of_stream("order-7"), &events).ok());
    EXPECT_EQ(events, 1u);
  }
  std::string whole = R"({"$maxCount":1,"x":)" + std::string(400'000, '[') + std::string(400'000, ']') + "}";
  ASSERT_TRUE(append("$$order-7", "$metadata", whole).has_success());
  grpc::ClientContext context;
  esp::DeleteReq request;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name("order-7");
  request.mutable_options()->mutable_any();
  esp::DeleteResp response;
  EXPECT_TRUE(streams->Delete(&context, request, &response).ok());
  EXPECT_TRUE(read(of_stream("order-7")).ok());
  lives();
}

TEST_F(KurrentHarmTest, ManyStreamsOfOneAppendAreCountedOnce) {
  auto stub = v2::StreamsService::NewStub(channel);
  v2::AppendRecordsRequest request;
  for (int i = 0; i < 200'000; ++i) {
    auto& record = *request.add_records();
    record.set_stream("order-" + std::to_string(i));
    record.mutable_schema()->set_name("T");
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  v2::AppendRecordsResponse response;
  const auto status = stub->AppendRecords(&context, request, &response);
  EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_FALSE(status.ok());
  lives();
}

TEST_F(KurrentHarmTest, AMessageOfMoreThanTheMostIsRefused) {
  grpc::ClientContext context;
  auto call = streams->BatchAppend(&context);
  auto request = batch("order-7");
  propose(request, "A", std::string(message_bytes_most, 'x'));
  call->Write(request);
  esp::BatchAppendResp response;
  static_cast<void>(call->Read(&response));
  call->WritesDone();
  EXPECT_FALSE(call->Finish().ok() && response.has_success());
  EXPECT_FALSE(append("order-7", "A", std::string(12u << 20, 'x')).has_success()) << "over the store's limits";
  lives();
}

TEST_F(KurrentHarmTest, WhoGoesInTheMiddleLeavesNothingBehind) {
  for (int i = 0; i < 20; ++i) {
    auto request = of_stream("order-7");
    request.mutable_options()->mutable_subscription();
    grpc::ClientContext reading, appending, batching;
    auto reader = streams->Read(&reading, request);
    auto call = streams->BatchAppend(&batching);
    auto begun = batch("order-7", false);
    propose(begun, "A");
    call->Write(begun);
    esp::AppendResp response;
    auto writer = streams->Append(&appending, &response);
    writer->Write(esp::AppendReq());
    esp::ReadResp confirmed;
    EXPECT_TRUE(reader->Read(&confirmed));
    for (auto* each : {&reading, &appending, &batching}) each->TryCancel();
    static_cast<void>(reader->Finish());
    static_cast<void>(writer->Finish());
    static_cast<void>(call->Finish());
  }
  EXPECT_EQ(local.head().value(), GlobalPosition{0}) << "what was not ended is not written";
  lives();
}

TEST_F(KurrentHarmTest, TheFirstOfManyEventsComesAtOnce) {
  for (const char* type : {"A", "B", "C"}) append("order-7", type);
  for (int i = 0; i < 300; ++i) {
    auto request = of_stream("order-7");
    request.mutable_options()->mutable_subscription();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    auto reader = streams->Read(&context, request);
    esp::ReadResp response;
    ASSERT_TRUE(reader->Read(&response)) << i;
    context.TryCancel();
    static_cast<void>(reader->Finish());
  }
}

TEST_F(KurrentHarmTest, APairOfUserAndPasswordIsATokenWithItsName) {
  access = std::make_shared<const serving::Access>(
      serving::Access::of_tokens("admin read,append " + to_base64("admin:changeit") + "\n", "t").value());
  const auto code_for = [&](const std::string& authorization) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", authorization);
    auto reader = streams->Read(&context, of_stream("order-7"));
    esp::ReadResp response;
    while (reader->Read(&response)) {
    }
    return reader->Finish().error_code();
  };
  EXPECT_EQ(code_for("Basic " + to_base64("admin:changeit")), grpc::StatusCode::OK);
  EXPECT_EQ(code_for("Basic " + to_base64("ops:changeit")), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(code_for("Basic " + to_base64("admin:other")), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(KurrentHarmTest, ProjectionsAreTheServersOwn) {
  auto stub = esproj::Projections::NewStub(channel);
  const auto enabled = [&](const std::string& name) {
    grpc::ClientContext context;
    esproj::EnableReq request;
    request.mutable_options()->set_name(name);
    esproj::EnableResp response;
    return stub->Enable(&context, request, &response).error_code();
  };
  EXPECT_EQ(enabled("$by_category"), grpc::StatusCode::OK);
  EXPECT_EQ(enabled("$streams"), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(enabled("mine"), grpc::StatusCode::NOT_FOUND);
  const auto listed = [&](const std::string& name) {
    grpc::ClientContext context;
    esproj::StatisticsReq request;
    if (name.empty())
      request.mutable_options()->mutable_continuous();
    else
      request.mutable_options()->set_name(name);
    auto reader = stub->Statistics(&context, request);
    std::vector<std::string> seen;
    esproj::StatisticsResp response;
    while (reader->Read(&response)) seen.push_back(response.details().name() + ' ' + response.details().status());
    const auto status = reader->Finish();
    if (!status.ok()) seen.push_back(std::to_string(status.error_code()));
    return seen;
  };
  EXPECT_EQ(listed("").size(), 5u);
  EXPECT_EQ(listed("$by_event_type"), std::vector<std::string>{"$by_event_type Running"});
  EXPECT_EQ(listed("$streams"), std::vector<std::string>{"$streams Stopped"});
  EXPECT_EQ(listed("mine"), std::vector<std::string>{"5"});
  using Change = ProjectionChange;
  EXPECT_FALSE(refusal_of_change("$by_category", Change::reset));
  EXPECT_FALSE(refusal_of_change("$streams", Change::disable));
  EXPECT_EQ(refusal_of_change("$by_category", Change::disable)->why, Refusal::Why::not_served);
  EXPECT_EQ(refusal_of_change("$by_category", Change::remove)->error.code, ErrorCode::permission_denied);
  EXPECT_EQ(refusal_of_change("x", Change::state)->error.code, ErrorCode::not_found);
}

}  // namespace evershard::kurrent
