// `evershard serve` stopped under load: every acknowledged append is there, whoever waits is answered, and it ends.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <csignal>
#include <set>
#include <thread>

#include "evershard/v1/service.grpc.pb.h"
#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

class ServeLoad : public Program {
 protected:
  ServeLoad() { ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1); }

  static std::string address_of(Process& server) {
    const auto lines = server.lines(1);
    return lines.empty() ? "" : lines.front().substr(6);
  }
  static std::unique_ptr<v1::EventStore::Stub> stub_of(const std::string& address) {
    return v1::EventStore::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  }
};

grpc::Status append_one(v1::EventStore::Stub& stub, const std::string& type) {
  v1::AppendRequest request;
  auto& event = *request.add_events();
  event.set_type(type);
  event.set_payload(std::string(200, 'p'));
  v1::AppendResponse response;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  return stub.Append(&context, request, &response);
}

TEST_F(ServeLoad, StopsCleanlyWhileItIsWrittenToAndSubscribedTo) {
  Process server(words({"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--shards", "4", "--log-file",
                        path("log"), "--drain-timeout", "90s"}));
  const auto address = address_of(server);
  ASSERT_NE(address, "");

  std::mutex mutex;
  std::multiset<std::string> acknowledged, unknown;
  std::set<int> refusals;
  std::atomic<int> stored{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&, w, stub = stub_of(address)] {
      for (int i = 0;; ++i) {
        const std::string type = "W" + std::to_string(w) + "-" + std::to_string(i);
        const auto status = append_one(*stub, type);
        const std::lock_guard lock(mutex);
        if (status.ok()) {
          acknowledged.insert(type);
          ++stored;
          continue;
        }
        unknown.insert(type);
        refusals.insert(status.error_code());
        return;
      }
    });
  }
  std::atomic<bool> subscribed_ended{false};
  std::thread subscriber([&, stub = stub_of(address)] {
    v1::SubscribeRequest request;
    request.mutable_query()->set_all(true);
    grpc::ClientContext context;
    const auto stream = stub->Subscribe(&context, request);
    for (v1::SubscribeResponse response; stream->Read(&response);) {
    }
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
    subscribed_ended = true;
  });
  while (stored < 200) std::this_thread::sleep_for(std::chrono::milliseconds(2));

  const auto begin = std::chrono::steady_clock::now();
  server.signal(SIGTERM);
  const auto done = server.wait();
  const auto took = std::chrono::steady_clock::now() - begin;

  for (auto& writer : writers) writer.join();
  subscriber.join();
  EXPECT_EQ(done.status, 0) << done.err << read_file("log");
  EXPECT_LT(took, std::chrono::seconds(90)) << "nobody had to be ended by force";
  EXPECT_TRUE(subscribed_ended);
  // CANCELLED is gRPC's own word for a call that came after the stop, on a connection from before: clients take it for
  // UNAVAILABLE.
  for (const auto refusal : refusals)
    EXPECT_TRUE(refusal == grpc::StatusCode::UNAVAILABLE || refusal == grpc::StatusCode::CANCELLED) << refusal;
  std::multiset<std::string> there;
  for (const auto& event : shown({"read", "--data", path("served")})) there.insert(event.at("type").get<std::string>());
  for (const auto& type : acknowledged) EXPECT_EQ(there.count(type), 1u) << type;
  for (const auto& type : there) EXPECT_TRUE(acknowledged.count(type) == 1 || unknown.count(type) == 1) << type;
  EXPECT_EQ(evershard({"verify", "--data", path("served")}).status, 0);
}

TEST_F(ServeLoad, TakesNewTokensAtSighupAndNeverLogsOne) {
  const std::string first = "first-hush-hush-hush", second = "second-hush-hush-hush";
  write_file("tokens", "ann read,append " + first + "\n");
  Process server(words({"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--tokens", path("tokens"),
                        "--log-level", "debug", "--log-file", path("log")}));
  const auto stub = stub_of(address_of(server));
  const auto head = [&](const std::string& token) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::HeadResponse response;
    return stub->Head(&context, {}, &response).error_code();
  };
  EXPECT_EQ(head(first), grpc::StatusCode::OK);
  EXPECT_EQ(head(second), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(head(""), grpc::StatusCode::UNAUTHENTICATED);

  write_file("tokens", "ann read,append " + second + "\n");
  server.signal(SIGHUP);
  while (read_file("log").find("reloaded") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(head(first), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(head(second), grpc::StatusCode::OK);

  server.signal(SIGTERM);
  const auto done = server.wait();
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.err + done.out + read_file("log"), ::testing::Not(::testing::HasSubstr("hush")));
}

}  // namespace
}  // namespace evershard::testing
