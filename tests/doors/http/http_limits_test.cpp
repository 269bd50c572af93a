// What each client may ask of the HTTP door: 429 with Retry-After, and nobody else harmed.

#include <thread>

#include "tests/doors/http/running_door.hpp"
#include "tests/local/trailing_index.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::string reader_header = "Authorization: Bearer r-0123456789abcdef\r\n";
const std::string writer_header = "Authorization: Bearer w-0123456789abcdef\r\n";

class LimitedDoor : public RunningDoor {
 public:
  explicit LimitedDoor(serving::ClientLimitOptions limits, std::string_view lines = tokens)
      : RunningDoor({}, lines, {}, limits) {}
};

TEST(HttpClientLimits, RequestsOverTheRateAreRefusedWithATimeToTryAgain) {
  LimitedDoor door({.requests_per_second_max = 4});
  HttpAnswer refused;
  int answered = 0;
  for (; answered < 100 && refused.status != 429; ++answered) refused = door.get("/api/v1/head", reader_header);
  EXPECT_GE(answered, 5);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.code(), "overloaded");
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_THAT(refused.body, HasSubstr("4 requests a second"));
  EXPECT_EQ(door.get("/health").status, 200) << "whether it is well can always be asked";
  const auto metrics = door.get("/metrics", writer_header);
  EXPECT_EQ(metrics.status, 200) << "the other client has a rate of its own";
  EXPECT_THAT(metrics.body, HasSubstr(R"(evershard_client_refusals_total{door="http",limit="requests"})"));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(door.get("/api/v1/head", reader_header).status, 200);
}

TEST(HttpClientLimits, BytesAreCountedWhetherTheirNumberIsSaidOrNot) {
  for (const bool chunked : {false, true}) {
    LimitedDoor door({.bytes_per_second_max = 2'000});
    const auto append = [&] {
      const std::string body = R"({"type":"A","tags":["a"],"payload":")" + std::string(10'000, 'x') + "\"}";
      if (!chunked) return door.ask("POST", "/api/v1/append", body, writer_header);
      auto client = door.client();
      char size[20];
      std::snprintf(size, sizeof size, "%zx\r\n", body.size());
      client.send(
          "POST /api/v1/append HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: "
          "chunked\r\n" +
          writer_header + "\r\n" + size + body + "\r\n0\r\n\r\n");
      return client.read_answer().value_or(HttpAnswer{});
    };
    EXPECT_EQ(append().status, 200) << "larger than a second's worth: paid for afterwards";
    const auto refused = append();
    EXPECT_EQ(refused.status, 429) << chunked;
    EXPECT_GE(std::stoi("0" + refused.header("retry-after")), 4);
    EXPECT_EQ(door.store.head()->value, 1u);
  }
}

TEST(HttpRows, WhoWaitsForOnesThatAreBehindHoldsUpNobodyAndNotTheEnd) {
  http::HttpOptions options;
  options.limits.at_least_time = std::chrono::minutes(10);
  RunningDoor door(std::move(options));
  ASSERT_TRUE(door.store.projections().create_value_index("n", {.types = {"A"}, .path = "$.n", .value = "integer"}));
  std::vector<HttpClient> waiting;
  for (int i = 0; i < 6; ++i) {
    waiting.push_back(door.client());
    waiting.back().send("GET /api/v1/values/n?at_least=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) ASSERT_EQ(door.get("/api/v1/head").status, 200);
  door.door->stop(0ms);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
}

TEST(HttpRows, ValuesAreThoseOfTheMomentTheReadBegan) {
  RunningDoor door;
  ASSERT_TRUE(door.store.append(Append{}.event("n-1", "T", "{}")));
  TrailingIndex index(door.store);
  door.served->own_projections = &index;
  http::HttpOptions options;
  options.listen = "127.0.0.1:0";
  auto other = http::HttpDoor::start(*door.served, std::move(options));
  ASSERT_TRUE(other) << other.error().what;

  const auto answer = evershard::ask((*other)->address(), "GET", "/api/v1/values/n");

  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(index.asked(), std::vector(4, std::optional(GlobalPosition{1})));
}

TEST(HttpClientLimits, StreamsAreCountedUntilTheyEnd) {
  LimitedDoor door({.streams_max = 2});
  const std::string request = "GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n" + reader_header + "\r\n";
  std::vector<HttpClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(door.client());
    clients.back().send(request);
    ASSERT_TRUE(clients.back().read_event());
  }
  const auto third = door.get("/api/v1/live/events", reader_header);
  EXPECT_EQ(third.status, 429);
  EXPECT_THAT(third.body, HasSubstr("2 streams open"));
  auto other = door.client();
  other.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n" + writer_header + "\r\n");
  EXPECT_TRUE(other.read_event());
  clients.pop_back();
  bool again = false;
  for (int tries = 0; tries < 6'000 && !again; ++tries) {
    std::this_thread::sleep_for(10ms);
    auto client = door.client();
    client.send(request);
    again = client.read_event().has_value();
  }
  EXPECT_TRUE(again);
}

}  // namespace
}  // namespace evershard
