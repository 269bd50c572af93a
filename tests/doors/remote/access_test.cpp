// Tokens and scopes, for every method there is: one without a row here fails.

#include <google/protobuf/descriptor.h>

#include <map>

#include "evershard/doors/wire/status.hpp"
#include "evershard/v1/asks.pb.h"
#include "evershard/v1/documents.pb.h"
#include "evershard/v1/groups.pb.h"
#include "evershard/v1/process_service.pb.h"
#include "evershard/v1/projections.pb.h"
#include "evershard/v1/retention.pb.h"
#include "evershard/v1/scheduled.pb.h"
#include "evershard/v1/service.pb.h"
#include "evershard/v1/tables.pb.h"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

const std::map<std::string, std::string> scope_of{
    {"EventStore.Append", "append"},
    {"EventStore.AppendMany", "append"},
    {"EventStore.Read", "read"},
    {"EventStore.Subscribe", "read"},
    {"EventStore.Head", "read"},
    {"EventStore.PositionAt", "read"},
    {"EventStore.GetEvent", "read"},
    {"EventStore.GetAggregate", "read"},
    {"EventStore.ListAggregates", "read"},
    {"EventStore.GetState", "read"},
    {"EventStore.PutSnapshot", "append"},
    {"EventStore.GetSnapshot", "read"},
    {"EventStore.ListSnapshots", "read"},
    {"EventStore.GetTypes", "read"},
    {"EventStore.Members", "read"},
    {"Administration.Stats", "read"},
    {"Administration.Flush", "admin"},
    {"Administration.Verify", "admin"},
    {"Administration.Vacuum", "admin"},
    {"Administration.Backup", "admin"},
    {"Administration.ClusterStatus", "admin"},
    {"Administration.ClusterAssign", "admin"},
    {"Administration.CopyPart", "admin"},
    {"Processes.ListProcesses", "read"},
    {"Processes.GetProcess", "read"},
    {"Processes.ListInstances", "read"},
    {"Processes.ListParkedEffects", "read"},
    {"Processes.Control", "admin"},
    {"Processes.ListTimers", "read"},
    {"Processes.CancelTimer", "admin"},
    {"ScheduledAppends.Schedule", "append"},
    {"ScheduledAppends.Cancel", "append"},
    {"ScheduledAppends.Get", "read"},
    {"ScheduledAppends.List", "read"},
    {"Aggregates.Ask", "append"},
    {"Aggregates.ListKinds", "read"},
    {"Documents.Define", "admin"},
    {"Documents.Drop", "admin"},
    {"Documents.Definitions", "read"},
    {"Documents.Describe", "read"},
    {"Documents.Get", "read"},
    {"Documents.List", "read"},
    {"Documents.Remove", "append"},
    {"Groups.CreateGroup", "admin"},
    {"Groups.ChangeGroup", "admin"},
    {"Groups.ResetGroup", "admin"},
    {"Groups.DropGroup", "admin"},
    {"Groups.ListGroups", "read"},
    {"Groups.DescribeGroup", "read"},
    {"Groups.ListParked", "read"},
    {"Groups.ReplayParked", "append"},
    {"Groups.DiscardParked", "append"},
    {"Groups.Work", "read and append"},
    {"Projections.CreateIndex", "admin"},
    {"Projections.CreateValueIndex", "admin"},
    {"Projections.CreateProjection", "admin"},
    {"Projections.ChangeProjection", "admin"},
    {"Projections.AskProjection", "admin"},
    {"Projections.ListProjections", "read"},
    {"Projections.DescribeProjection", "read"},
    {"Projections.ReadIndex", "read"},
    {"Projections.ReadValues", "read"},
    {"Projections.WaitForProjection", "read"},
    {"Retention.TruncateAggregate", "admin"},
    {"Retention.RemoveAggregate", "admin"},
    {"Retention.EraseSubject", "admin"},
    {"Retention.ApplyRetention", "admin"},
    {"Retention.SetRetentionPolicy", "admin"},
    {"Retention.DropRetentionPolicy", "admin"},
    {"Retention.ListRetentionPolicies", "read"},
    {"Retention.ReadRetentionLog", "read"},
    {"Tables.Select", "read"},
    {"Tables.Explain", "read"},
    {"Tables.DescribeTable", "read"},
    {"Tables.ListTables", "read"},
    {"Tables.ListParkedRows", "read"},
    {"Tables.SettleParkedRows", "admin"},
};
const std::string tokens =
    "r read read-read-read-read\na append append-append-append\no admin admin-admin-admin-admin\n"
    "w read,append worker-worker-worker_token\ni append,admin import-import-import\n";
const std::string worker_token = "worker-worker-worker_token";
const std::string importer_token = "import-import-import";
const std::map<std::string, std::string> token_of{
    {"read", "read-read-read-read"}, {"append", "append-append-append"}, {"admin", "admin-admin-admin-admin"}};

grpc::Status call(grpc::Channel& channel, const google::protobuf::MethodDescriptor& method, const std::string& token,
                  const std::string& request) {
  const std::string name = "/" + method.service()->full_name() + "/" + method.name();
  if (!method.server_streaming()) return raw::unary(channel, name, request, nullptr, token);
  const auto context = raw::context(token);
  if (!method.client_streaming()) return raw::read_all(*raw::stream(channel, name, request, *context));
  const auto stream = raw::both_ways(channel, name, *context);
  (void)stream->Write(raw::bytes(request));
  stream->WritesDone();
  grpc::ByteBuffer in;
  while (stream->Read(&in)) {
  }
  return stream->Finish();
}

TEST(DoorAccess, EveryMethodAsksForItsScopeAndForNoOther) {
  ServedStore served({}, tokens);
  served.served->wrong_tokens =
      std::make_shared<serving::WrongTokens>(serving::WrongTokensOptions{.at_once_max = 1'000'000});
  const auto channel = raw::channel(served.address());
  std::vector<const google::protobuf::ServiceDescriptor*> services;
  for (const auto* file : {v1::ReadRequest::descriptor()->file(), v1::WorkRequest::descriptor()->file(),
                           v1::ReadIndexRequest::descriptor()->file(), v1::SelectRequest::descriptor()->file(),
                           v1::GetDocumentRequest::descriptor()->file(),
                           v1::ApplyRetentionRequest::descriptor()->file(), v1::ScheduleRequest::descriptor()->file(),
                           v1::GetProcessRequest::descriptor()->file(), v1::AskRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) services.push_back(file->service(s));
  }
  std::size_t methods = 0;
  for (const auto* service : services) {
    for (int m = 0; m < service->method_count(); ++m, ++methods) {
      const auto& method = *service->method(m);
      const auto name = method.service()->name() + "." + method.name();
      SCOPED_TRACE(name);
      ASSERT_TRUE(scope_of.contains(name)) << "which scope does it need?";
      const auto& wanted = scope_of.at(name);
      for (const auto& request :
           {std::string(), std::string("\xff\xff garbage")}) {  // who may not is not even told that it is garbage
        for (const auto* none : {"", "admin-admin-admin-admi", "Admin-admin-admin-admin"}) {
          const auto status = call(*channel, method, none, request);
          ASSERT_EQ(status.error_code(), grpc::UNAUTHENTICATED) << status.error_message();
          ASSERT_EQ(wire::error_of(status).code, ErrorCode::unauthenticated);
        }
        for (const auto& [scope, token] : token_of) {
          const auto status = call(*channel, method, token, request);
          if (scope == wanted) {
            ASSERT_NE(status.error_code(), grpc::PERMISSION_DENIED) << scope;
            ASSERT_NE(status.error_code(), grpc::UNAUTHENTICATED) << scope;
            ASSERT_NE(status.error_code(), grpc::DEADLINE_EXCEEDED) << scope;
          } else {
            ASSERT_EQ(status.error_code(), grpc::PERMISSION_DENIED) << scope << ": " << status.error_message();
            if (token_of.contains(wanted)) {
              ASSERT_NE(status.error_message().find(wanted), std::string::npos) << status.error_message();
            }
            ASSERT_EQ(status.error_message().find(token), std::string::npos) << "a token is shown";
          }
        }
      }
    }
  }
  EXPECT_EQ(methods, scope_of.size());
  EXPECT_EQ(served.local.head()->value, 0u);
}

// The scheme's name is the same in any case (RFC 9110); whatever else comes is no token.
TEST(DoorAccess, TakesBearerTokensAndNothingElse) {
  ServedStore served({}, tokens);
  const auto channel = raw::channel(served.address());
  for (const auto& [value, code] : std::initializer_list<std::pair<std::string, grpc::StatusCode>>{
           {"Bearer read-read-read-read", grpc::OK},
           {"bearer read-read-read-read", grpc::OK},
           {"Basic read-read-read-read", grpc::UNAUTHENTICATED},
           {"read-read-read-read", grpc::UNAUTHENTICATED},
           {"Bearer", grpc::UNAUTHENTICATED},
           {"Bearer ", grpc::UNAUTHENTICATED}}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", value);
    const grpc::internal::RpcMethod rpc("/evershard.v1.EventStore/Head", grpc::internal::RpcMethod::NORMAL_RPC);
    grpc::ByteBuffer out;
    const auto status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel.get(), rpc, &context, raw::bytes(""), &out);
    EXPECT_EQ(status.error_code(), code) << value;
  }
}

TEST(DoorAccess, RemoteHasATokenOrATypedError) {
  ServedStore served({}, tokens);
  auto nobody = served.connect();
  EXPECT_EQ(nobody.head().error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(nobody.append(Append{}.event("a-1", "T", "x")).error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(nobody.read(Query::all()).next().error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(nobody.follow(Query::all()).next(std::chrono::seconds(5)).error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(nobody.verify().error().code, ErrorCode::unauthenticated);

  auto reader = served.connect({.token = token_of.at("read")});
  EXPECT_TRUE(reader.head());
  EXPECT_TRUE(reader.stats());
  EXPECT_EQ(reader.append(Append{}.event("a-1", "T", "x")).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(reader.flush().error().code, ErrorCode::permission_denied);

  auto writer = served.connect({.token = token_of.at("append")});
  EXPECT_TRUE(writer.append(Append{}.event("a-1", "T", "x")));
  EXPECT_EQ(writer.read(Query::all()).next().error().code, ErrorCode::permission_denied);
}

v1::AppendRequest append_that_fails() {
  v1::AppendRequest request;
  auto& event = *request.add_events();
  event.set_type("Other");
  auto& condition = *request.add_conditions();
  condition.mutable_query()->add_items()->add_types("Secret");
  request.set_conflicts_max(10);
  return request;
}

TEST(DoorAccess, WhoMayNotReadIsShownNoConflicts) {
  ServedStore served({}, tokens);
  ASSERT_TRUE(served.local.append(Append{}.event("a-1", "Secret", "what nobody else may see")));
  const auto channel = raw::channel(served.address());
  const auto request = append_that_fails().SerializeAsString();

  for (const auto& [token, shows] : {std::pair{token_of.at("append"), false}, std::pair{worker_token, true}}) {
    const auto status = raw::unary(*channel, "/evershard.v1.EventStore/Append", request, nullptr, token);
    EXPECT_EQ(wire::error_of(status).code, ErrorCode::condition_failed) << status.error_message();
    EXPECT_EQ(status.error_details().find("what nobody else may see") != std::string::npos, shows) << token;

    const auto context = raw::context(token);
    const auto stream = raw::both_ways(*channel, "/evershard.v1.EventStore/AppendMany", *context);
    grpc::ByteBuffer outcome;
    EXPECT_TRUE(stream->Write(raw::bytes(request)) && stream->Read(&outcome));
    EXPECT_EQ(raw::text(outcome).find("what nobody else may see") != std::string::npos, shows) << token;
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
  }
}

TEST(DoorAccess, HistoryOfAnotherStoreIsTakenFromAnOperatorAlone) {
  ServedStore served({}, tokens);
  const auto channel = raw::channel(served.address());
  v1::AppendRequest request;
  request.add_events()->set_type("T");
  request.set_from_export(true);

  for (const auto& [token, code] : {std::pair{worker_token, ErrorCode::permission_denied},
                                    std::pair{token_of.at("append"), ErrorCode::permission_denied}}) {
    const auto status =
        raw::unary(*channel, "/evershard.v1.EventStore/Append", request.SerializeAsString(), nullptr, token);
    EXPECT_EQ(wire::error_of(status).code, code) << status.error_message();
    EXPECT_NE(status.error_message().find("admin"), std::string::npos) << status.error_message();
    const auto context = raw::context(token);
    const auto stream = raw::both_ways(*channel, "/evershard.v1.EventStore/AppendMany", *context);
    grpc::ByteBuffer outcome;
    EXPECT_TRUE(stream->Write(raw::bytes(request.SerializeAsString())) && stream->Read(&outcome));
    EXPECT_NE(raw::text(outcome).find("does not have the scope admin"), std::string::npos);
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok()) << "one that is refused ends nothing";
  }
  EXPECT_EQ(served.local.head()->value, 0u);
  EXPECT_TRUE(
      raw::unary(*channel, "/evershard.v1.EventStore/Append", request.SerializeAsString(), nullptr, importer_token)
          .ok());
}

TEST(DoorAccess, HowFarACopyIsIsWrittenByAnOperatorAlone) {
  ServedStore served({}, tokens);
  const auto channel = raw::channel(served.address());
  v1::AppendRequest event;
  event.add_events()->set_type("$CopyBegan");
  event.mutable_events(0)->mutable_aggregate()->set_type("$copy");
  event.mutable_events(0)->mutable_aggregate()->set_value("orders");
  v1::Snapshot snapshot;
  *snapshot.mutable_aggregate() = event.events(0).aggregate();
  snapshot.set_version(1);
  snapshot.set_payload("{}");
  v1::AppendRequest beside;  // an event of anybody's, and the checkpoint with it
  beside.add_events()->set_type("T");
  *beside.add_snapshots() = snapshot;

  const auto told = [&](const grpc::Status& status) {
    EXPECT_EQ(wire::error_of(status).code, ErrorCode::permission_denied) << status.error_message();
    EXPECT_NE(status.error_message().find("admin"), std::string::npos) << status.error_message();
    EXPECT_NE(status.error_message().find("$copy-NAME"), std::string::npos) << status.error_message();
  };
  for (const auto& token : {std::string(worker_token), token_of.at("append")}) {
    for (const auto& request : {event, beside}) {
      told(raw::unary(*channel, "/evershard.v1.EventStore/Append", request.SerializeAsString(), nullptr, token));
      const auto context = raw::context(token);
      const auto stream = raw::both_ways(*channel, "/evershard.v1.EventStore/AppendMany", *context);
      grpc::ByteBuffer outcome;
      EXPECT_TRUE(stream->Write(raw::bytes(request.SerializeAsString())) && stream->Read(&outcome));
      EXPECT_NE(raw::text(outcome).find("does not have the scope admin"), std::string::npos);
      stream->WritesDone();
      EXPECT_TRUE(stream->Finish().ok());
    }
    told(raw::unary(*channel, "/evershard.v1.EventStore/PutSnapshot", snapshot.SerializeAsString(), nullptr, token));
  }
  EXPECT_EQ(served.local.head()->value, 0u);
  for (const auto& [call, request] :
       {std::pair{"Append", event.SerializeAsString()}, std::pair{"PutSnapshot", snapshot.SerializeAsString()}}) {
    const auto status =
        raw::unary(*channel, std::string("/evershard.v1.EventStore/") + call, request, nullptr, importer_token);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
}

TEST(DoorAccess, StreamsOfATokenThatIsTakenAwayEnd) {
  ServedStore served({}, tokens);
  const auto channel = raw::channel(served.address());
  v1::SubscribeRequest all;
  all.mutable_query()->set_all(true);
  const auto staying = raw::context(worker_token), going = raw::context(token_of.at("read"));
  const auto stays = raw::stream(*channel, "/evershard.v1.EventStore/Subscribe", all.SerializeAsString(), *staying);
  const auto goes = raw::stream(*channel, "/evershard.v1.EventStore/Subscribe", all.SerializeAsString(), *going);
  grpc::ByteBuffer in;
  ASSERT_TRUE(stays->Read(&in) && goes->Read(&in)) << "caught up";

  served.access = std::make_shared<const serving::Access>(
      *serving::Access::of_tokens("w read,append worker-worker-worker_token\n", "tokens"));
  served.door->look_at_tokens_again();
  ASSERT_TRUE(served.local.append(Append{}.event("a-1", "Secret", "told later")));

  std::string told;
  while (goes->Read(&in)) told += raw::text(in);
  EXPECT_EQ(goes->Finish().error_code(), grpc::CANCELLED);
  EXPECT_EQ(told.find("told later"), std::string::npos);
  for (told.clear(); told.find("told later") == std::string::npos && stays->Read(&in);) told += raw::text(in);
  EXPECT_NE(told.find("told later"), std::string::npos) << "whose token is still valid goes on";
  staying->TryCancel();
}

TEST(DoorAccess, GuessesAreSlowedAndToldOf) {
  std::vector<std::pair<std::string, std::uint64_t>> told;
  ServedStore served({}, tokens);
  served.served->wrong_tokens = std::make_shared<serving::WrongTokens>(
      serving::WrongTokensOptions{.at_once_max = 3, .a_second_max = 0.001},
      [&](const std::string& address, std::uint64_t count) { told.emplace_back(address, count); });
  auto before = served.connect({.token = token_of.at("read")});
  ASSERT_TRUE(before.head());
  const auto channel = raw::channel(served.address());
  const auto head = [&](const std::string& token) {
    return wire::error_of(raw::unary(*channel, "/evershard.v1.EventStore/Head", {}, nullptr, token)).code;
  };

  for (int guess = 0; guess != 3; ++guess) EXPECT_EQ(head("guess-guess-guess-guess"), ErrorCode::unauthenticated);
  for (int guess = 0; guess != 3; ++guess) EXPECT_EQ(head("guess-guess-guess-guess"), ErrorCode::overloaded);
  EXPECT_EQ(head(token_of.at("admin")), ErrorCode::overloaded) << "a right guess is no better";
  EXPECT_TRUE(before.head()) << "whose token was right before goes on";
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front().second, 1u);
}

// Tokens may change while it runs; streams under way go on until their tokens are looked at again.
TEST(DoorAccess, NewTokensCountFromTheNextCallOn) {
  ServedStore served({}, tokens);
  auto writer = served.connect({.token = token_of.at("append")});
  ASSERT_TRUE(writer.append(Append{}.event("a-1", "T", "x")));
  served.access =
      std::make_shared<const serving::Access>(*serving::Access::of_tokens("o admin other-other-other", "tokens"));
  auto late = served.connect({.token = token_of.at("append")});
  EXPECT_EQ(late.append(Append{}.event("a-1", "T", "x")).error().code, ErrorCode::unauthenticated);
}

}  // namespace
}  // namespace evershard
