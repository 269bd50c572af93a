// A connection of HTTP/2 as the server's side decides it: streams, windows, bounds.

#include "evershard/doors/http2/session.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/doors/http2/h2_client.hpp"

namespace evershard::http2 {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t pulled_at_once = 64u << 10;
const Headers ok{{":status", "200"}};
const Headers ended{{"grpc-status", "0"}};

/// What the session tells, and by itself it reads all of each body.
struct Told : Session::Events {
  struct Of {
    Headers headers{};
    std::string body{};
    bool ended = false;
    bool over = false;
    bool whole = false;
    std::size_t sent = 0;
  };
  void request(Session::Stream stream, Headers&& headers, bool last) override {
    of[stream].headers = std::move(headers);
    of[stream].ended = last;
    if (on_request) on_request(stream);
  }
  void body(Session::Stream stream, std::string_view bytes) override {
    of[stream].body += bytes;
    if (reads) session->consumed(stream, bytes.size());
  }
  void body_ends(Session::Stream stream) override {
    of[stream].ended = true;
    if (on_end) on_end(stream);
  }
  void sent(Session::Stream stream) override {
    ++of[stream].sent;
    if (on_sent) on_sent(stream);
  }
  void over(Session::Stream stream, bool whole) override {
    EXPECT_FALSE(of[stream].over) << "a stream is over once";
    of[stream].over = true;
    of[stream].whole = whole;
  }
  std::map<Session::Stream, Of> of;
  std::function<void(Session::Stream)> on_request, on_end, on_sent;
  Session* session = nullptr;
  bool reads = true;
};

struct AConnection : testing::Test {
  void open(const SessionBounds& bounds, std::uint32_t window = 65'535) {
    client = std::make_unique<H2Client>(window);
    session = std::make_unique<Session>(bounds, told);
    told.session = session.get();
  }
  /// Until neither side has anything to say. Returns: the session reads on.
  bool exchange() {
    bool reads_on = true;
    for (bool more = true; more;) {
      const auto said = client->pull();
      if (!said.empty() && reads_on) reads_on = session->feed(said, now);
      std::string out;
      session->pull(out, pulled_at_once);
      if (!out.empty()) client->feed(out);
      more = !out.empty() || (!said.empty() && reads_on);
    }
    return reads_on;
  }
  std::int32_t ask(std::string_view body = {}, bool ends = true) {
    return client->ask({{":path", "/a/B"}, {"te", "trailers"}}, body, ends);
  }
  /// Answers each request as soon as it is whole.
  void answer_all(std::string_view body) {
    const auto answer = [this, body](Session::Stream stream) {
      session->respond(stream, ok);
      session->send(stream, std::string(body));
      session->end(stream, ended);
    };
    told.on_request = [this, answer](Session::Stream stream) {
      if (told.of[stream].ended) answer(stream);
    };
    told.on_end = answer;
  }

  Told told;
  std::unique_ptr<H2Client> client;
  std::unique_ptr<Session> session;
  Session::Clock::time_point now = Session::Clock::time_point() + std::chrono::hours(1);
};

TEST_F(AConnection, GivesARequestAndTakesAnAnswerWithTrailers) {
  open({});
  answer_all("of the server");
  const auto stream = ask("of the client");
  EXPECT_TRUE(exchange());
  const auto& asked = told.of.at(stream);
  EXPECT_EQ(
      asked.headers,
      (Headers{
          {":method", "POST"}, {":scheme", "http"}, {":authority", "here"}, {":path", "/a/B"}, {"te", "trailers"}}));
  EXPECT_EQ(asked.body, "of the client");
  EXPECT_TRUE(asked.over);
  EXPECT_TRUE(asked.whole);
  EXPECT_EQ(asked.sent, 1u);
  const auto& got = client->answers.at(stream);
  EXPECT_EQ(got.headers, ok);
  EXPECT_EQ(got.body, "of the server");
  EXPECT_EQ(got.trailers, ended);
  EXPECT_TRUE(got.over);
  EXPECT_EQ(got.code, 0u);
  EXPECT_EQ(session->streams(), 0u);
}

TEST_F(AConnection, TellsTheSameHoweverTheBytesCome) {
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 9u, 100u}) {
    told = {};
    open({});
    answer_all("answer");
    std::vector<std::int32_t> streams;
    for (int i = 0; i != 3; ++i) streams.push_back(ask(std::string(40, static_cast<char>('a' + i))));
    const auto said = client->pull();
    for (std::size_t at = 0; at < said.size(); at += piece)
      ASSERT_TRUE(session->feed(std::string_view(said).substr(at, piece), now));
    std::string out;
    session->pull(out, pulled_at_once);
    client->feed(out);
    for (std::size_t i = 0; i != streams.size(); ++i) {
      EXPECT_EQ(told.of.at(streams[i]).body, std::string(40, static_cast<char>('a' + i))) << piece;
      EXPECT_EQ(client->answers.at(streams[i]).body, "answer") << piece;
    }
  }
}

TEST_F(AConnection, AReaderThatReadsNothingHoldsUpItselfOnly) {
  open({}, 1'000);
  told.on_request = [this](Session::Stream stream) { session->respond(stream, ok); };
  const auto slow = ask(), quick = ask();
  exchange();
  session->send(slow, std::string(5'000, 's'));
  exchange();
  EXPECT_EQ(client->answers.at(slow).body.size(), 1'000u);
  EXPECT_EQ(session->waiting(slow), 4'000u);
  EXPECT_EQ(told.of.at(slow).sent, 0u);
  for (int i = 0; i != 10; ++i) {
    session->send(quick, std::string(900, 'q'));
    exchange();
    client->read(quick, 900);
    exchange();
  }
  EXPECT_EQ(client->answers.at(quick).body.size(), 9'000u);
  EXPECT_EQ(told.of.at(quick).sent, 10u);
  for (int i = 0; i != 5; ++i) {
    client->read(slow, 1'000);
    exchange();
  }
  EXPECT_EQ(client->answers.at(slow).body, std::string(5'000, 's'));
  EXPECT_EQ(told.of.at(slow).sent, 1u);
  EXPECT_EQ(session->waiting(slow), 0u);
}

TEST_F(AConnection, ManyMessagesGoInOneFrame) {
  open({}, 1u << 20);
  told.on_request = [this](Session::Stream stream) { session->respond(stream, ok); };
  const auto stream = ask();
  exchange();
  std::string all;
  for (int i = 0; i != 1'000; ++i) {
    session->send(stream, "message " + std::to_string(i));
    all += "message " + std::to_string(i);
  }
  std::string out;
  session->pull(out, pulled_at_once);
  EXPECT_EQ(out.size(), all.size() + 9);  // one frame's head
  client->feed(out);
  EXPECT_EQ(client->answers.at(stream).body, all);
}

TEST_F(AConnection, GivesNoMoreThanItIsAskedForAndAFrame) {
  SessionBounds bounds;
  bounds.frame_bytes = 1'000;
  open(bounds, 1u << 20);
  told.on_request = [this](Session::Stream stream) { session->respond(stream, ok); };
  const auto stream = ask();
  exchange();
  session->send(stream, std::string(50'000, 'x'));
  session->end(stream, ended);
  std::string whole;
  while (session->has_output()) {
    std::string out;
    session->pull(out, 4'000);
    EXPECT_LT(out.size(), 4'000u + 1'009u + 50u);
    client->feed(out);
  }
  EXPECT_EQ(client->answers.at(stream).body.size(), 50'000u);
  EXPECT_EQ(client->answers.at(stream).trailers, ended);
}

TEST_F(AConnection, ABodyWaitsForWhoTakesIt) {
  SessionBounds bounds;
  bounds.window = 1'000;
  open(bounds);
  exchange();  // the client knows the window
  told.reads = false;
  const auto stream = ask(std::string(2'500, 'b'));
  exchange();
  EXPECT_EQ(told.of.at(stream).body.size(), 1'000u);
  EXPECT_FALSE(told.of.at(stream).ended);
  session->consumed(stream, 1'000);
  exchange();
  EXPECT_EQ(told.of.at(stream).body.size(), 2'000u);
  session->consumed(stream, 1'000);
  exchange();
  EXPECT_EQ(told.of.at(stream).body.size(), 2'500u);
  EXPECT_TRUE(told.of.at(stream).ended);
}

TEST_F(AConnection, WhatAStreamThatIsOverHadInTheWindowOfAllComesBack) {
  SessionBounds bounds;
  bounds.window = 1'000;
  bounds.windows = 65'535;
  open(bounds);
  exchange();
  told.reads = false;
  for (int i = 0; i != 200; ++i) {  // three times the window of all
    const auto stream = ask(std::string(1'000, 'b'), false);
    exchange();
    ASSERT_EQ(told.of.at(stream).body.size(), 1'000u) << i;
    if (i % 2 == 0)
      session->reset(stream, 8);
    else
      client->give_up(stream);
    exchange();
    ASSERT_TRUE(told.of.at(stream).over);
    session->consumed(stream, 1'000);  // late: it has come back already
  }
}

TEST_F(AConnection, AnAnswerBeforeTheEndOfItsBodyEndsTheStream) {
  open({});
  told.on_request = [this](Session::Stream stream) {
    session->respond(stream, {{":status", "200"}, {"grpc-status", "16"}}, true);
  };
  const auto stream = ask("a beginning", false);
  exchange();
  const auto& got = client->answers.at(stream);
  EXPECT_TRUE(got.over);
  EXPECT_EQ(got.code, 0u);
  EXPECT_EQ(got.headers.back(), (Header{"grpc-status", "16"}));
  EXPECT_TRUE(told.of.at(stream).over);
}

TEST_F(AConnection, AStreamThatIsGivenUpIsToldOnce) {
  open({});
  const auto stream = ask("a beginning", false);
  exchange();
  client->give_up(stream);
  EXPECT_TRUE(exchange());
  EXPECT_TRUE(told.of.at(stream).over);
  EXPECT_FALSE(told.of.at(stream).whole);
  session->send(stream, "late");  // does nothing, and breaks nothing
  session->end(stream, ended);
  session->consumed(stream, 11);
  exchange();
  EXPECT_EQ(session->streams(), 0u);
}

TEST_F(AConnection, StreamsGivenUpBeforeAnAnswerHaveABound) {
  SessionBounds bounds;
  bounds.given_up = {5, 10};
  open(bounds);
  const auto give_one_up = [&] {
    const auto stream = ask("a beginning", false);
    EXPECT_TRUE(exchange());
    client->give_up(stream);
    return exchange();
  };
  for (int i = 0; i != 5; ++i) ASSERT_TRUE(give_one_up()) << i;
  now += milliseconds(100);  // room for one more
  ASSERT_TRUE(give_one_up());
  EXPECT_EQ(client->gone_away, UINT32_MAX);
  EXPECT_FALSE(give_one_up());
  EXPECT_EQ(session->ended(), Ended::given_up);
  EXPECT_EQ(client->gone_away, static_cast<std::uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
  EXPECT_TRUE(session->is_over());
}

TEST_F(AConnection, StreamsGivenUpBehindTheirFirstBytesHaveNone) {
  SessionBounds bounds;
  bounds.given_up = {2, 0};
  open(bounds);
  told.on_request = [this](Session::Stream stream) {
    session->respond(stream, ok);
    session->send(stream, "the first event");
  };
  for (int i = 0; i != 50; ++i) {
    const auto stream = ask();
    ASSERT_TRUE(exchange());
    ASSERT_EQ(client->answers.at(stream).body, "the first event");
    client->give_up(stream);
    ASSERT_TRUE(exchange()) << i;
  }
}

TEST_F(AConnection, FramesThatAskForNothingHaveABound) {
  SessionBounds bounds;
  bounds.idle_frames = {20, 0};
  open(bounds);
  for (int i = 0; i != 15; ++i) {
    client->ping();
    ASSERT_TRUE(exchange()) << i;
  }
  for (int i = 0; i != 6; ++i) client->ping();
  EXPECT_FALSE(exchange());
  EXPECT_EQ(session->ended(), Ended::idle_frames);
  EXPECT_EQ(client->gone_away, static_cast<std::uint32_t>(NGHTTP2_ENHANCE_YOUR_CALM));
}

TEST_F(AConnection, HeadersHaveABoundAndOtherStreamsGoOn) {
  SessionBounds bounds;
  bounds.header_bytes = 1'000;
  open(bounds);
  answer_all("answer");
  const auto large = client->ask({{":path", "/a/B"}, {"x-large", std::string(1'000, 'x')}});
  const auto small = ask();
  EXPECT_TRUE(exchange());
  EXPECT_TRUE(client->answers.at(large).over);
  EXPECT_NE(client->answers.at(large).code, 0u);
  EXPECT_FALSE(told.of.contains(large));
  EXPECT_EQ(client->answers.at(small).body, "answer");
  EXPECT_EQ(session->streams(), 0u);
}

TEST_F(AConnection, StreamsBeyondTheBoundAreRefused) {
  SessionBounds bounds;
  bounds.streams = 3;
  open(bounds);
  std::vector<std::int32_t> streams;
  for (int i = 0; i != 5; ++i) streams.push_back(ask("a beginning", false));  // before the client knows the bound
  exchange();
  std::size_t refused = 0;
  for (const auto stream : streams)
    refused += client->answers[stream].over && client->answers[stream].code == NGHTTP2_REFUSED_STREAM;
  EXPECT_EQ(refused, 2u);
  EXPECT_EQ(told.of.size(), 3u);
  EXPECT_EQ(session->streams(), 3u);
}

TEST_F(AConnection, GoesAwayWhenWhatIsOpenIsAnswered) {
  open({});
  const auto stream = ask("a request");
  exchange();
  session->go_away();
  EXPECT_TRUE(exchange());
  EXPECT_EQ(client->gone_away, static_cast<std::uint32_t>(NGHTTP2_NO_ERROR));
  EXPECT_FALSE(session->is_over());
  session->respond(stream, ok);
  session->send(stream, "answered");
  session->end(stream, ended);
  exchange();
  EXPECT_EQ(client->answers.at(stream).body, "answered");
  EXPECT_EQ(client->answers.at(stream).trailers, ended);
  EXPECT_TRUE(session->is_over());
}

TEST_F(AConnection, WhatIsNoHttp2EndsIt) {
  open({});
  EXPECT_FALSE(session->feed("GET / HTTP/1.1\r\nHost: here\r\n\r\n", now));
  EXPECT_EQ(session->ended(), Ended::broken);
}

TEST_F(AConnection, AsksWhetherTheClientIsThereOneAtATime) {
  open({});
  exchange();
  EXPECT_TRUE(session->ping());
  EXPECT_FALSE(session->ping());
  exchange();  // answered
  EXPECT_TRUE(session->ping());
}

TEST_F(AConnection, AnswersMayBeMadeWhereTheyAreToldSent) {
  open({}, 1u << 20);
  told.on_request = [this](Session::Stream stream) {
    session->respond(stream, ok);
    session->send(stream, "0");
  };
  told.on_sent = [this](Session::Stream stream) {
    if (told.of[stream].sent < 10)
      session->send(stream, std::to_string(told.of[stream].sent));
    else
      session->end(stream, ended);
  };
  const auto stream = ask();
  exchange();
  EXPECT_EQ(client->answers.at(stream).body, "0123456789");
  EXPECT_TRUE(client->answers.at(stream).over);
}

}  // namespace
}  // namespace evershard::http2
