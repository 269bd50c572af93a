// What comes in, without a socket: bytes to requests, targets, routes, who may ask.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/doors/http/guard.hpp"
#include "evershard/doors/http/request_reader.hpp"
#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/http/target.hpp"
#include "evershard/protocol/percent.hpp"

namespace evershard::http {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Step = RequestReader::Step;

/// Byte by byte where `grain` is 1. The status of the refusal, or the body.
struct ReadOutcome {
  int status = 0;
  Request request;
  std::string left;
};
ReadOutcome read_all(const std::string& bytes, std::size_t grain, std::size_t header_max = 1'024,
                     std::size_t body_max = 64) {
  RequestReader reader(header_max, body_max);
  std::string buffer;
  for (std::size_t at = 0; at < bytes.size(); at += grain) {
    buffer += bytes.substr(at, grain);
    for (;;) {
      auto step = reader.feed(buffer);
      if (!step) return {step.error().status, {}, {}};
      if (*step == Step::more) break;
      if (*step == Step::whole) return {200, reader.take(), buffer + bytes.substr(std::min(at + grain, bytes.size()))};
    }
  }
  return {};
}

class RequestReaderGrain : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Grains, RequestReaderGrain, testing::Values(1, 7, 100'000));

TEST_P(RequestReaderGrain, ReadsABodyByLengthAndLeavesWhatFollows) {
  const auto read = read_all("\r\nPOST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /", GetParam());

  ASSERT_EQ(read.status, 200);
  EXPECT_EQ(read.request.method, "POST");
  EXPECT_EQ(read.request.body, "abc");
  EXPECT_EQ(read.left, "GET /");
}

TEST_P(RequestReaderGrain, ReadsAChunkedBodyAndLeavesTrailersOutOfTheHeader) {
  const auto read = read_all(
      "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nAuthorization: "
      "Bearer x\r\n\r\n",
      GetParam());

  ASSERT_EQ(read.status, 200);
  EXPECT_EQ(read.request.body, "abc");
  EXPECT_EQ(read.request.count("authorization"), 0u);
}

TEST_P(RequestReaderGrain, ReadsAChunkedBodyThatIsEmpty) {
  for (const auto* body : {"0\r\n\r\n", "0;x=y\r\n\r\n", "0\r\nX: y\r\n\r\n", "000\r\n\r\n"}) {
    const auto read =
        read_all(std::string("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n") + body, GetParam());
    EXPECT_EQ(read.status, 200) << body;
    EXPECT_EQ(read.request.body, "") << body;
  }
}

TEST_P(RequestReaderGrain, BoundsWhatStandsBetweenChunksAndBehindThem) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto* begin : {"2;x=", "2\r\nab\r\n1;x=", "0;x=", "0\r\nX: ", "2\r\nab\r\n0\r\nX: "}) {
    EXPECT_EQ(read_all(head + begin + std::string(2'000, 'y'), GetParam()).status, 431) << begin;
    EXPECT_EQ(read_all(head + begin + std::string(500, 'y'), GetParam()).status, 0) << begin;  // more is waited for
  }
  EXPECT_EQ(read_all(head + "2;x=" + std::string(500, 'y') + "\r\nab\r\n0\r\nX: " + std::string(500, 'y') + "\r\n\r\n",
                     GetParam())
                .request.body,
            "ab");
}

TEST_P(RequestReaderGrain, RefusesWhatIsOverTheLimits) {
  EXPECT_EQ(read_all("GET /" + std::string(2'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", GetParam()).status, 431);
  EXPECT_EQ(read_all("GET /" + std::string(2'000, 'a'), GetParam()).status, 431);
  EXPECT_EQ(read_all("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65\r\n\r\n", GetParam()).status, 413);
  EXPECT_EQ(read_all("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n" + std::string(40, 'a') +
                         "\r\n28\r\n" + std::string(40, 'a') + "\r\n0\r\n\r\n",
                     GetParam())
                .status,
            413);
}

TEST_P(RequestReaderGrain, RefusesWhatTwoServersWouldReadDifferently) {
  for (const std::string bad : {
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\n",
           "POST / HTTP/1.1\r\nHost : x\r\n\r\n",
           "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
           "GET /\r\n\r\n",
           "\x16\x03\x01\x02\x00\x01\r\n\r\n",
       }) {
    EXPECT_EQ(read_all(bad, GetParam()).status, 400) << bad;
  }
}

TEST(Target, SplitsFirstAndDecodesThen) {
  const auto target = read_target("/api/v1/aggregates/order-a%2Fb%20%E2%82%AC+c?type=A+B&tag=x%3Dy&tag=&&flag").value();

  EXPECT_THAT(target.segments, ElementsAre("api", "v1", "aggregates", "order-a/b \xE2\x82\xAC+c"));
  EXPECT_THAT(target.parameters.values("type"), ElementsAre("A B"));
  EXPECT_THAT(target.parameters.values("tag"), ElementsAre("x=y", ""));
  EXPECT_THAT(target.parameters.values("flag"), ElementsAre(""));
  EXPECT_THAT(read_target("/").value().segments, IsEmpty());
}

TEST(Target, RefusesWhatIsNoText) {
  for (const auto* bad : {"", "*", "http://x/", "/%", "/%2", "/%zz", "/%ff", "/%00", "/?a=%C3%28", "/?%=1"}) {
    EXPECT_EQ(read_target(bad).error().code, ErrorCode::invalid_argument) << bad;
  }
}

TEST(Target, EncodesWhatItDecodes) {
  std::string all;
  for (int c = 1; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(percent_decoded(percent_encoded(all), false), all);
  EXPECT_EQ(percent_decoded(percent_encoded(all), true), all);
}

TEST(Parameters, AreNumbersOnceAndKnown) {
  const auto parameters =
      read_target("/?a=18446744073709551615&b=18446744073709551616&c=1&c=2&d=-1&e=").value().parameters;

  EXPECT_EQ(**parameters.number("a"), 18446744073709551615u);
  for (const auto* bad : {"b", "c", "d", "e"})
    EXPECT_EQ(parameters.number(bad).error().code, ErrorCode::invalid_argument) << bad;
  EXPECT_FALSE(*parameters.number("z"));
  EXPECT_FALSE(parameters.only({"a", "b"}));
  EXPECT_TRUE(parameters.only({"a", "b", "c", "d", "e"}));
}

TEST(Router, FindsEveryRouteByItsOwnPath) {
  for (const auto& route : routes()) {
    const auto target = read_target(route.path).value();
    const auto routed = route_of(route.method, target.segments);
    ASSERT_TRUE(routed) << route.path;
    EXPECT_EQ(routed->route, &route) << route.path;
  }
}

TEST(Router, SaysWhatAPathAllows) {
  const auto refused = route_of("PUT", {"api", "v1", "session"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 405);
  EXPECT_EQ(allowed({"api", "v1", "session"}), "GET, HEAD, POST, DELETE, OPTIONS");
  EXPECT_EQ(route_of("GET", {"api", "v1", "nothing"}).error().status, 404);
  EXPECT_EQ(route_of("GET", {"api", "v1", "events", "1", "2"}).error().status, 404);
  EXPECT_EQ(route_of("HEAD", {"health"})->route->path, "/health");
  EXPECT_EQ(route_of("HEAD", {"api", "v1", "live", "stats"}).error().status, 405);
}

// -- who may ask

using Fields = std::vector<std::pair<std::string, std::string>>;

Request request_with(std::string method, Fields fields) {
  Request request;
  request.method = std::move(method);
  request.fields = std::move(fields);
  return request;
}

/// 200: admitted.
int admitted(const std::string& method, const std::vector<std::string>& path, Fields fields,
             const serving::Access& access, Surroundings around = {}) {
  fields.emplace_back("host", "127.0.0.1:7421");
  const auto routed = route_of(method, path).value();
  serving::WrongTokens wrong_tokens;
  const auto caller =
      admit(request_with(method, std::move(fields)), *routed.route, around, access, wrong_tokens, "127.0.0.1");
  return caller ? 200 : caller.error().status;
}

const std::vector<std::string> append_path{"api", "v1", "append"};
const std::vector<std::string> head_path{"api", "v1", "head"};
const std::pair<std::string, std::string> json_type{"content-type", "application/json; charset=utf-8"};
const std::pair<std::string, std::string> cookie{"cookie", "a=b; evershard_token=w-0123456789%61bcdef; c=d"};
const std::pair<std::string, std::string> bearer{"authorization", "bearer w-0123456789abcdef"};
const std::pair<std::string, std::string> own_origin{"origin", "http://127.0.0.1:7421"};

serving::Access with_tokens() {
  return serving::Access::of_tokens("w append w-0123456789abcdef\nr read r-0123456789abcdef\n", "T").value();
}

TEST(Guard, AsksForATokenWithTheScope) {
  const auto access = with_tokens();

  EXPECT_EQ(admitted("POST", append_path, {json_type}, access), 401);
  EXPECT_EQ(admitted("POST", append_path, {json_type, {"authorization", "Bearer nonsense-nonsense"}}, access), 401);
  EXPECT_EQ(admitted("POST", append_path, {json_type, {"authorization", "Bearer r-0123456789abcdef"}}, access), 403);
  EXPECT_EQ(admitted("POST", append_path, {json_type, bearer}, access), 200);
  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie, own_origin}, access), 200);
  EXPECT_EQ(admitted("GET", {"health"}, {}, access), 200);
}

TEST(Guard, RefusesWhatAForeignPageSends) {
  const auto access = with_tokens();
  const auto open = serving::Access::open();

  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie}, access), 403);  // nobody says where it is from
  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie, {"origin", "http://evil.example"}}, access), 403);
  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie, {"origin", "null"}}, access), 403);
  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie, own_origin, {"sec-fetch-site", "same-site"}}, access),
            403);
  EXPECT_EQ(admitted("POST", append_path, {json_type, cookie, {"sec-fetch-site", "same-origin"}}, access), 200);
  EXPECT_EQ(admitted("POST", append_path, {{"content-type", "text/plain"}, cookie, own_origin}, access), 415);
  EXPECT_EQ(admitted("POST", append_path, {cookie, own_origin}, access), 415);

  EXPECT_EQ(admitted("POST", append_path, {json_type, {"origin", "http://evil.example"}}, open), 403);
  EXPECT_EQ(admitted("POST", append_path, {{"content-type", "text/plain"}}, open), 415);
  EXPECT_EQ(admitted("POST", append_path, {json_type}, open), 200);  // curl
  EXPECT_EQ(admitted("POST", append_path,
                     {json_type, {"authorization", "Basic eDp5"}, {"origin", "http://evil.example"}}, open),
            403);
  EXPECT_EQ(admitted("GET", head_path, {{"sec-fetch-site", "cross-site"}}, open), 403);
  EXPECT_EQ(admitted("GET", head_path, {{"sec-fetch-site", "none"}}, open), 200);
  EXPECT_EQ(admitted("GET", {}, {{"sec-fetch-site", "cross-site"}}, open), 200);  // a link to the page
}

int host_status(const std::string& host, Surroundings around, bool open) {
  const auto refusal = check_host(request_with("GET", {{"host", host}}), around, open);
  return refusal ? refusal->status : 200;
}

TEST(Guard, IsCalledByItsOwnNamesOnLoopbackAndWithoutTokens) {
  const Surroundings loopback{true, false, {"shop.internal"}}, outside{false, true, {}};

  for (const auto* ours :
       {"localhost", "LOCALHOST:7421", "127.0.0.1:7421", "[::1]:7421", "[::1]", "10.0.0.7:1", "Shop.Internal:7421"}) {
    EXPECT_EQ(host_status(ours, loopback, true), 200) << ours;
  }
  for (const auto* foreign :
       {"evil.example", "evil.example:7421", "localhost.evil.example", "127.0.0.1.evil.example", "", "[evil"}) {
    EXPECT_EQ(host_status(foreign, loopback, false), 421) << foreign;
    EXPECT_EQ(host_status(foreign, outside, true), 421) << foreign;
  }
  EXPECT_EQ(host_status("events.example", outside, false), 200);
  EXPECT_EQ(check_host(request_with("GET", {}), loopback, true)->status, 400);
  EXPECT_EQ(check_host(request_with("GET", {{"host", "localhost"}, {"host", "evil"}}), loopback, true)->status, 400);
}

TEST(Guard, PutsAnyTokenIntoACookie) {
  const std::string token = "a;b=c%\"\xC3\xA4 ,0123456789";
  const auto set = cookie_with(token, true);
  EXPECT_THAT(set, HasSubstr("; HttpOnly; SameSite=Strict; Secure"));
  EXPECT_EQ(token_of(request_with("GET", {{"cookie", set.substr(0, set.find(';'))}})).token, token);
  EXPECT_THAT(cookie_with({}, false), HasSubstr("Max-Age=0"));
}

TEST(ServerSentEvent, BreaksNoLineThatIsNotItsOwn) {
  EXPECT_EQ(server_sent_event("event", "{\"a\":1}", "17"), "event: event\nid: 17\ndata: {\"a\":1}\n\n");
  EXPECT_EQ(server_sent_event("x", "a\nid: 99\rb"), "event: x\ndata: a\ndata: id: 99\ndata: b\n\n");
}

}  // namespace
}  // namespace evershard::http
