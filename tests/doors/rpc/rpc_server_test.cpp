// Calls over sockets, by gRPC's own client: what it sends and how it ends, and who goes when.

#include "evershard/doors/rpc/rpc_server.hpp"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace evershard::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// What a call answers, by its request's first word: `echo`, `large N`, `status`, `never`.
class Unary final : public Reactor {
 public:
  Unary(Context& context, const Bytes& in, Bytes& out, std::atomic<int>& open) : open_(open) {
    ++open_;
    begin(context, std::string(in.view()), out);
  }
  void on_cancel() override { finish(grpc::Status::CANCELLED); }
  void on_done() override {
    --open_;
    delete this;
  }

 private:
  void begin(Context& context, const std::string& asked, Bytes& out) {
    if (asked == "never") return;
    if (asked == "status") return finish({grpc::StatusCode::ABORTED, "so it is", "details"});
    if (asked == "from another thread") {
      std::thread([this, &out] {
        out = Bytes("from another thread");
        finish(grpc::Status::OK);
      }).detach();
      return;
    }
    context.add_initial("first", "1");
    context.add_trailing("last", "2");
    out = asked.starts_with("large ") ? Bytes(std::string(std::stoul(asked.substr(6)), 'x')) : Bytes(asked);
    finish(grpc::Status::OK);
  }

  std::atomic<int>& open_;
};

/// Gives each message back, and at the end how many there were.
class Echo final : public Reactor {
 public:
  explicit Echo(std::atomic<int>& open) : open_(open) {
    ++open_;
    start_read(&incoming_);
  }
  void on_read_done(bool ok) override {
    if (!ok) return finish(grpc::Status(grpc::StatusCode::OK, ""));
    start_write(Bytes(std::string(incoming_.view())));
  }
  void on_write_done(bool ok) override {
    if (ok) return start_read(&incoming_);
    finish(grpc::Status::CANCELLED);
  }
  void on_done() override {
    --open_;
    delete this;
  }

 private:
  std::atomic<int>& open_;
  Bytes incoming_;
};

grpc::ByteBuffer buffer_of(const std::string& text) {
  const grpc::Slice slice(text);
  return {&slice, 1};
}

std::string text_of(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string text;
  for (const auto& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

struct AServer : testing::Test {
  void start(RpcServerOptions options = {}) {
    Methods methods;
    methods.add("/s/Unary", {false, false, [this](Context& context, const Bytes* in, Bytes* out) {
                               return new Unary(context, *in, *out, open);
                             }});
    methods.add("/s/Echo", {true, true, [this](Context&, const Bytes*, Bytes*) { return new Echo(open); }});
    if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
    auto made = RpcServer::start(std::move(methods), options);
    ASSERT_TRUE(made) << made.error().what;
    server = *std::move(made);
  }
  ~AServer() override {
    server.reset();
    EXPECT_EQ(open, 0);
  }
  std::shared_ptr<grpc::Channel> channel() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(server->addresses().front(), grpc::InsecureChannelCredentials(), arguments);
  }
  struct Answered {
    grpc::Status status;
    std::string text;
  };
  Answered ask(grpc::Channel& channel, const std::string& text, grpc::ClientContext& context,
               const std::string& path = "/s/Unary") {
    grpc::CompletionQueue queue;
    const auto request = buffer_of(text);
    grpc::GenericStub stub(std::shared_ptr<grpc::ChannelInterface>(&channel, [](auto*) {}));
    const auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
    call->StartCall();
    Answered answered;
    grpc::ByteBuffer answer;
    call->Finish(&answer, &answered.status, this);
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    if (answered.status.ok()) answered.text = text_of(answer);
    return answered;
  }
  Answered ask(const std::string& text) {
    grpc::ClientContext context;
    return ask(*channel(), text, context);
  }

  std::atomic<int> open{0};
  std::unique_ptr<RpcServer> server;
};

TEST_F(AServer, AnswersUnaryCallsOfEachSize) {
  start();
  const auto to = channel();
  for (const std::size_t bytes : {0u, 1u, 16'379u, 16'384u, 100'000u, 5'000'000u}) {
    grpc::ClientContext context;
    const auto answered = ask(*to, "large " + std::to_string(bytes), context);
    EXPECT_TRUE(answered.status.ok()) << answered.status.error_message();
    EXPECT_EQ(answered.text.size(), bytes);
    EXPECT_EQ(context.GetServerInitialMetadata().find("first")->second, "1");
    EXPECT_EQ(context.GetServerTrailingMetadata().find("last")->second, "2");
  }
  EXPECT_EQ(ask(std::string(2'000'000, 'q')).text.size(), 2'000'000u);
  EXPECT_EQ(ask("from another thread").text, "from another thread");
}

TEST_F(AServer, TellsAStatus) {
  start();
  const auto answered = ask("status");
  EXPECT_EQ(answered.status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(answered.status.error_message(), "so it is");
  EXPECT_EQ(answered.status.error_details(), "details");
  grpc::ClientContext context;
  EXPECT_EQ(ask(*channel(), "x", context, "/s/None").status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(AServer, EndsACallWhoseTimeIsUpOrWhoseClientGoes) {
  start();
  const auto to = channel();
  grpc::ClientContext late;
  late.set_deadline(std::chrono::system_clock::now() + milliseconds(50));
  EXPECT_EQ(ask(*to, "never", late).status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  grpc::ClientContext cancelled;
  std::thread cancels([&] {
    while (open == 0) std::this_thread::sleep_for(milliseconds(1));
    cancelled.TryCancel();
  });
  EXPECT_EQ(ask(*to, "never", cancelled).status.error_code(), grpc::StatusCode::CANCELLED);
  cancels.join();
  for (const auto until = std::chrono::steady_clock::now() + seconds(30);
       open != 0 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(open, 0);
}

TEST_F(AServer, ManyClientsAskAtOnceOverManyConnections) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int i = 0; i != 8; ++i) {
    clients.emplace_back([this, i, &right] {
      const auto to = channel();
      for (int j = 0; j != 200; ++j) {
        grpc::ClientContext context;
        const auto text = std::to_string(i) + ":" + std::to_string(j);
        right += ask(*to, text, context).text == text;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(right, 1'600);
}

TEST_F(AServer, MessagesGoBothWays) {
  start();
  const auto to = channel();
  grpc::GenericStub stub(to);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call = stub.PrepareCall(&context, "/s/Echo", &queue);
  const auto wait = [&] {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    return ok;
  };
  call->StartCall(this);
  ASSERT_TRUE(wait());
  for (int i = 0; i != 100; ++i) {
    const auto text = std::string(static_cast<std::size_t>(i) * 1'000, 'm');
    call->Write(buffer_of(text), this);
    ASSERT_TRUE(wait());
    grpc::ByteBuffer back;
    call->Read(&back, this);
    ASSERT_TRUE(wait());
    ASSERT_EQ(text_of(back), text);
  }
  call->WritesDone(this);
  ASSERT_TRUE(wait());
  grpc::Status status;
  call->Finish(&status, this);
  ASSERT_TRUE(wait());
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(AServer, ListensOnAUnixSocketAndRemovesIt) {
  RpcServerOptions options;
  const auto path = testing::TempDir() + "evershard-rpc-" + std::to_string(::getpid());
  options.listen = {"unix:" + path};
  start(options);
  EXPECT_EQ(ask("over a file").text, "over a file");
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  server->stop(seconds(0));
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_F(AServer, StopsBehindWhatIsUnderWay) {
  start();
  grpc::ClientContext context;
  Answered answered;
  std::thread client([&] { answered = ask(*channel(), "never", context); });
  while (open == 0) std::this_thread::sleep_for(milliseconds(1));
  const auto began = std::chrono::steady_clock::now();
  server->stop(milliseconds(200));
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(200));
  client.join();
  EXPECT_FALSE(answered.status.ok());
  EXPECT_EQ(open, 0);
}

TEST_F(AServer, SaysWhereItCannotListen) {
  start();
  const auto in_use = RpcServer::start({}, {.listen = {server->addresses().front()}});
  ASSERT_FALSE(in_use);
  EXPECT_EQ(in_use.error().code, ErrorCode::unavailable);
  for (const char* address : {"", "7420", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", ":7420", "unix:"}) {
    const auto refused = RpcServer::start({}, {.listen = {address}});
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << address;
  }
}

}  // namespace
}  // namespace evershard::rpc
