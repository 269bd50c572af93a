// A gRPC call on a connection without a socket: what the client sees, and what the reactor is told.

#include "evershard/doors/rpc/rpc_call.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/doors/http2/h2_client.hpp"

namespace evershard::rpc {
namespace {

using http2::Headers;
using http2::Session;
using std::chrono::milliseconds;

std::string framed(std::string content) { return Bytes(std::move(content)).framed(); }

/// The messages in an answer's body.
std::vector<std::string> messages_in(std::string_view body) {
  MessageReader reader(1u << 20);
  reader.add(body);
  std::vector<std::string> messages;
  while (auto message = reader.next()) messages.emplace_back(message->view());
  EXPECT_FALSE(reader.has_part());
  return messages;
}

std::string value_of(const Headers& headers, std::string_view name) {
  for (const auto& header : headers)
    if (header.name == name) return header.value;
  return "absent";
}

/// Writes down what it is told; what it starts is said from outside.
struct Heard final : Reactor {
  void on_read_done(bool ok) override {
    told += ok ? " read:" + std::string(incoming.view()) : " read-no";
    if (then) then("read", ok);
  }
  void on_write_done(bool ok) override {
    told += ok ? " write" : " write-no";
    if (then) then("write", ok);
  }
  void on_cancel() override {
    told += " cancel";
    if (then) then("cancel", true);
  }
  void on_done() override { told += " done"; }
  using Reactor::finish;
  void read() { start_read(&incoming); }
  void write(std::string content) { start_write(Bytes(std::move(content))); }

  Bytes incoming;
  std::string told;
  std::function<void(std::string_view what, bool ok)> then;
};

/// A connection whose calls are woken by wakes().
struct Connection : Session::Events, RpcCall::Network, std::enable_shared_from_this<Connection> {
  explicit Connection(Methods m) : methods(std::move(m)) {}
  void request(Session::Stream stream, Headers&& headers, bool last) override {
    auto& call = calls[stream];
    call =
        std::make_shared<RpcCall>(*session, stream, shared_from_this(), methods, "ipv4:127.0.0.1:1", message_bytes_max);
    call->request(std::move(headers), last, now);
  }
  void body(Session::Stream stream, std::string_view bytes) override { calls.at(stream)->body(bytes); }
  void body_ends(Session::Stream stream) override { calls.at(stream)->body_ends(); }
  void sent(Session::Stream stream) override { calls.at(stream)->sent(); }
  void over(Session::Stream stream, bool) override { calls.at(stream)->over(); }
  void wake(std::shared_ptr<RpcCall> call) override { woken.push_back(std::move(call)); }
  bool wakes() {
    const auto all = std::exchange(woken, {});
    for (const auto& call : all) call->run();
    return !all.empty();
  }

  static constexpr std::size_t message_bytes_max = 1'000;
  const Methods methods;
  std::unique_ptr<Session> session;
  std::map<Session::Stream, std::shared_ptr<RpcCall>> calls;
  std::vector<std::shared_ptr<RpcCall>> woken;
  Context::Clock::time_point now = Context::Clock::time_point() + std::chrono::hours(1);
};

struct ACall : testing::Test {
  ACall() {
    Methods methods;
    const auto method = [&](const char* path, bool client_streams, bool server_streams) {
      methods.add(path, {client_streams, server_streams, [this](Context& c, const Bytes* in, Bytes* out) {
                           context = &c;
                           request = in;
                           answer = out;
                           if (in != nullptr) heard.told += " asked:" + std::string(in->view());
                           if (on_start) on_start();
                           return &heard;
                         }});
    };
    method("/s/Unary", false, false);
    method("/s/Gives", false, true);
    method("/s/Takes", true, false);
    method("/s/Both", true, true);
    connection = std::make_shared<Connection>(std::move(methods));
    connection->session = std::make_unique<Session>(http2::SessionBounds{}, *connection);
  }
  ~ACall() override {
    for (const auto& [stream, call] : connection->calls) EXPECT_TRUE(call->is_done()) << heard.told;
    connection->woken.clear();
    connection->calls.clear();  // a call keeps its connection
  }
  void exchange() { exchange(client); }
  void exchange(http2::H2Client& with) {
    for (bool more = true; more;) {
      more = connection->wakes();
      const auto said = with.pull();
      if (!said.empty()) {
        EXPECT_TRUE(connection->session->feed(said, Session::Clock::time_point()));
      }
      std::string out;
      connection->session->pull(out, 64u << 10);
      if (!out.empty()) with.feed(out);
      more = more || !said.empty() || !out.empty() || !connection->woken.empty();
    }
  }
  std::int32_t ask(const std::string& path, std::string_view body, bool ends = true, const Headers& more = {}) {
    Headers headers{{":path", path}, {"te", "trailers"}, {"content-type", "application/grpc"}};
    headers.insert(headers.end(), more.begin(), more.end());
    const auto stream = client.ask(headers, body, ends);
    exchange();
    return stream;
  }

  Heard heard;
  Context* context = nullptr;
  const Bytes* request = nullptr;
  Bytes* answer = nullptr;
  std::function<void()> on_start;
  http2::H2Client client;
  std::shared_ptr<Connection> connection;
};

TEST_F(ACall, UnaryIsAnsweredWithItsMessageAndStatus) {
  const auto stream = ask("/s/Unary", framed("question"));
  EXPECT_EQ(heard.told, " asked:question");
  *answer = Bytes("answer");
  heard.finish(grpc::Status::OK);
  exchange();
  const auto& got = client.answers.at(stream);
  EXPECT_EQ(value_of(got.headers, ":status"), "200");
  EXPECT_EQ(value_of(got.headers, "content-type"), "application/grpc");
  EXPECT_EQ(messages_in(got.body), std::vector<std::string>{"answer"});
  EXPECT_EQ(value_of(got.trailers, "grpc-status"), "0");
  EXPECT_EQ(heard.told, " asked:question done");
}

TEST_F(ACall, AnswerFromWithinTheStartIsOneToo) {
  on_start = [this] {
    *answer = Bytes("");
    heard.finish(grpc::Status::OK);
  };
  const auto stream = ask("/s/Unary", framed(""));
  EXPECT_EQ(messages_in(client.answers.at(stream).body), std::vector<std::string>{""});
  EXPECT_EQ(heard.told, " asked: done");
}

TEST_F(ACall, AStatusHasItsTextItsDetailsAndMetadata) {
  const auto stream = ask("/s/Unary", framed("q"));
  context->add_initial("a-first", "1");
  context->add_trailing("a-last", "2");
  context->add_trailing("a-last-bin", std::string("\0\xff", 2));
  heard.finish({grpc::StatusCode::FAILED_PRECONDITION, "100 % \xc3\xa9\n", std::string("\x01\x00\x02", 3)});
  exchange();
  const auto& got = client.answers.at(stream).headers;  // no message: all in one block
  EXPECT_EQ(value_of(got, "grpc-status"), "9");
  EXPECT_EQ(value_of(got, "grpc-message"), "100 %25 %C3%A9%0A");
  EXPECT_EQ(value_of(got, "grpc-status-details-bin"), "AQAC");
  EXPECT_EQ(value_of(got, "a-first"), "1");
  EXPECT_EQ(value_of(got, "a-last"), "2");
  EXPECT_EQ(value_of(got, "a-last-bin"), "AP8=");
  EXPECT_TRUE(client.answers.at(stream).over);
}

TEST_F(ACall, MetadataDeadlineAndPeerAreHeard) {
  ask("/s/Unary", framed("q"), true,
      {{"authorization", "Bearer x"}, {"a-bin", "AP8"}, {"grpc-timeout", "1500m"}, {"grpc-encoding", "gzip"}});
  EXPECT_EQ(context->said("authorization"), "Bearer x");
  EXPECT_EQ(context->said("a-bin"), std::string("\0\xff", 2));
  EXPECT_EQ(context->said("grpc-timeout"), std::nullopt);
  EXPECT_EQ(context->said(":authority"), "here");
  EXPECT_EQ(context->deadline(), connection->now + milliseconds(1'500));
  EXPECT_EQ(context->peer(), "ipv4:127.0.0.1:1");
  heard.finish(grpc::Status::CANCELLED);
  exchange();
}

TEST_F(ACall, MessagesGoBothWaysOneAtATime) {
  const auto stream = ask("/s/Both", framed("one") + framed("two"), false);
  EXPECT_EQ(heard.told, "");
  heard.read();
  exchange();
  EXPECT_EQ(heard.told, " read:one");
  heard.write("first");
  heard.read();
  exchange();
  EXPECT_EQ(heard.told, " read:one read:two write");
  heard.read();
  exchange();
  client.say(stream, framed("three").substr(0, 7), false);
  exchange();
  EXPECT_EQ(heard.told, " read:one read:two write");
  client.say(stream, framed("three").substr(7), true);
  exchange();
  EXPECT_EQ(heard.told, " read:one read:two write read:three");
  heard.read();
  exchange();
  EXPECT_EQ(heard.told, " read:one read:two write read:three read-no");
  heard.write("second");
  heard.finish(grpc::Status::OK);
  exchange();
  EXPECT_EQ(heard.told, " read:one read:two write read:three read-no write done");
  EXPECT_EQ(messages_in(client.answers.at(stream).body), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(value_of(client.answers.at(stream).trailers, "grpc-status"), "0");
}

TEST_F(ACall, ManyMessagesStartedWhereTheyAreTold) {
  int left = 1'000;
  heard.then = [&](std::string_view, bool ok) {
    EXPECT_TRUE(ok);
    if (--left > 0)
      heard.write("m");
    else
      heard.finish(grpc::Status::OK);
  };
  on_start = [this] { heard.write("m"); };
  const auto stream = ask("/s/Gives", framed("q"));
  EXPECT_EQ(messages_in(client.answers.at(stream).body).size(), 1'000u);
  EXPECT_TRUE(heard.told.ends_with(" write done"));
}

TEST_F(ACall, AClientThatGoesIsToldAndEndsWhatIsUnderWay) {
  const auto stream = ask("/s/Both", framed("one"), false);
  heard.read();
  exchange();
  heard.read();
  exchange();
  client.give_up(stream);
  exchange();
  EXPECT_EQ(heard.told, " read:one cancel read-no");
  EXPECT_TRUE(context->is_cancelled());
  heard.write("late");
  exchange();
  EXPECT_EQ(heard.told, " read:one cancel read-no write-no");
  EXPECT_FALSE(connection->calls.at(stream)->is_done());
  heard.finish(grpc::Status::CANCELLED);
  exchange();
  EXPECT_EQ(heard.told, " read:one cancel read-no write-no done");
}

TEST_F(ACall, AWriteThatNobodyReadsEndsWithItsCall) {
  http2::H2Client slow(10);
  const auto stream =
      slow.ask({{":path", "/s/Gives"}, {"te", "trailers"}, {"content-type", "application/grpc"}}, framed("q"));
  exchange(slow);
  heard.write("more than ten bytes");
  exchange(slow);
  EXPECT_EQ(heard.told, " asked:q");
  context->try_cancel();
  exchange(slow);
  EXPECT_EQ(heard.told, " asked:q cancel write-no");
  EXPECT_EQ(slow.answers.at(stream).code, 8u);  // CANCEL
  heard.finish(grpc::Status::CANCELLED);
  exchange(slow);
  EXPECT_TRUE(heard.told.ends_with(" done"));
}

TEST_F(ACall, DeadlineEndsTheCall) {
  const auto stream = ask("/s/Gives", framed("q"), true, {{"grpc-timeout", "1S"}});
  connection->calls.at(stream)->expire();
  exchange();
  EXPECT_EQ(heard.told, " asked:q cancel");
  EXPECT_EQ(value_of(client.answers.at(stream).headers, "grpc-status"), "4");
  heard.finish(grpc::Status::CANCELLED);
  exchange();
  EXPECT_EQ(heard.told, " asked:q cancel done");
}

TEST_F(ACall, AnswerBeforeTheClientHasSentAllEndsIt) {
  const auto stream = ask("/s/Takes", framed("one"), false);
  heard.read();
  exchange();
  heard.finish({grpc::StatusCode::UNAUTHENTICATED, "no"});
  exchange();
  EXPECT_EQ(heard.told, " read:one done");
  EXPECT_EQ(value_of(client.answers.at(stream).headers, "grpc-status"), "16");
  EXPECT_TRUE(client.answers.at(stream).over);
  EXPECT_EQ(client.answers.at(stream).code, 0u);
}

TEST_F(ACall, MessagesHaveABound) {
  const auto unary = ask("/s/Unary", framed(std::string(1'001, 'x')));
  EXPECT_EQ(value_of(client.answers.at(unary).headers, "grpc-status"), "8");
  EXPECT_EQ(heard.told, "");
  const auto both = ask("/s/Both", framed("one") + framed(std::string(1'001, 'x')), false);
  heard.read();
  exchange();
  heard.write("answer");
  heard.read();
  exchange();
  EXPECT_EQ(heard.told, " read:one read-no cancel write");
  EXPECT_EQ(value_of(client.answers.at(both).trailers, "grpc-status"), "8");
  heard.finish(grpc::Status::CANCELLED);
  exchange();
  EXPECT_TRUE(heard.told.ends_with(" done"));
}

TEST_F(ACall, WhatIsNotAskedForWaitsInTheClient) {
  std::string all;
  for (int i = 0; i != 4'000; ++i) all += framed(std::string(995, 'x'));  // 4 MB
  const auto stream = ask("/s/Both", all, false);
  int read = 0;
  heard.then = [&](std::string_view what, bool ok) {
    if (what != "read" || !ok) return;
    heard.told.clear();
    if (++read != 4'000) heard.read();
  };
  heard.read();
  exchange();
  EXPECT_EQ(read, 4'000);  // and before it the client was held up: a window is 1 MB
  heard.then = {};
  heard.finish(grpc::Status::OK);
  exchange();
  EXPECT_TRUE(client.answers.at(stream).over);
}

TEST_F(ACall, WhatIsNoCallIsToldSo) {
  const auto status = [&](const Headers& headers, std::string_view body) {
    const auto stream = client.ask(headers, body);
    exchange();
    const auto& got = client.answers.at(stream);
    return value_of(got.headers, ":status") + " " + value_of(got.headers, "grpc-status");
  };
  const Headers::value_type grpc{"content-type", "application/grpc"};
  EXPECT_EQ(status({{":path", "/s/None"}, grpc}, framed("q")), "200 12");
  EXPECT_EQ(status({{":path", "/s/Unary"}, {"content-type", "text/plain"}}, framed("q")), "415 13");
  EXPECT_EQ(status({{":path", "/s/Unary"}, grpc}, ""), "200 13");
  EXPECT_EQ(status({{":path", "/s/Unary"}, grpc}, framed("q").substr(0, 3)), "200 13");
  EXPECT_EQ(status({{":path", "/s/Unary"}, grpc, {"grpc-encoding", "snappy"}}, framed("q")), "200 12");
  EXPECT_EQ(status({{":path", "/s/Unary"}, grpc, {"grpc-timeout", "soon"}}, framed("q")), "200 13");
  EXPECT_EQ(heard.told, "");
}

TEST(AMessageReader, GivesMessagesHoweverTheirBytesCome) {
  const std::string all = framed("one") + framed("") + framed(std::string(300, 'x'));
  for (std::size_t piece = 1; piece != all.size(); ++piece) {
    MessageReader reader(300);
    std::vector<std::string> got;
    std::size_t consumed = 0;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      reader.add(std::string_view(all).substr(at, piece));
      while (const auto message = reader.next()) got.emplace_back(message->view());
      consumed += reader.consumed(true);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", std::string(300, 'x')})) << piece;
    EXPECT_EQ(consumed, all.size()) << piece;
    EXPECT_FALSE(reader.has_part());
  }
}

TEST(AMessageReader, KeepsWhatIsNotWaitedForInTheWindow) {
  MessageReader reader(100);
  reader.add(framed("one") + framed("two"));
  EXPECT_EQ(reader.consumed(false), 0u);
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_EQ(reader.consumed(false), 8u);
  reader.add(framed("three").substr(0, 6));
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_EQ(reader.consumed(false), 8u);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_EQ(reader.consumed(true), 6u);  // else a message larger than the window would never be whole
  EXPECT_EQ(reader.consumed(true), 0u);
}

}  // namespace
}  // namespace evershard::rpc
