// Live streams: nothing skipped, nothing twice, nobody slowed by those who do not read.

#include <thread>

#include "evershard/doors/http/live_stats.hpp"
#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

http::HttpOptions quick() {
  http::HttpOptions options;
  options.limits.heartbeat = 50ms;
  options.limits.stats_every = 50ms;
  return options;
}

HttpClient following(const RunningDoor& door, const std::string& parameters, const std::string& headers = {}) {
  auto client = door.client();
  client.send("GET /api/v1/live/events" + parameters + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  return client;
}

/// Ids of the next so many events, whatever is told between them.
std::vector<std::uint64_t> next_ids(HttpClient& client, std::size_t count) {
  std::vector<std::uint64_t> ids;
  while (ids.size() < count) {
    const auto event = client.read_event();
    if (!event) break;
    if (event->name == "event") ids.push_back(std::stoull(event->id));
  }
  return ids;
}

TEST(HttpLive, CatchesUpSaysSoAndGoesOn) {
  RunningDoor door(quick());
  append_one(door.store, "order-1", "Placed", {"a"});
  append_one(door.store, "order-2", "Other", {"b"});
  auto client = following(door, "?type=Placed&tag=a");

  auto event = client.read_event().value();
  EXPECT_EQ(event.name, "event");
  EXPECT_EQ(event.id, "1");
  EXPECT_EQ(event.json()["aggregate"], "order-1");
  event = client.read_event().value();
  EXPECT_EQ(event.name, "caught_up");
  EXPECT_EQ(event.id, "2");
  EXPECT_EQ(event.json()["watermark"], 2);

  append_one(door.store, "order-3", "Placed", {"b"});
  append_one(door.store, "order-4", "Placed", {"a"});
  EXPECT_THAT(next_ids(client, 1), ElementsAre(4));
}

TEST(HttpLive, BeginsFromNow) {
  RunningDoor door(quick());
  append_many(door.store, 1, 10);
  auto client = following(door, "?from=now");
  EXPECT_EQ(client.read_event()->name, "caught_up");
  append_many(door.store, 10, 12);
  EXPECT_THAT(next_ids(client, 2), ElementsAre(10, 11));
}

TEST(HttpLive, BehindWhatTheStoreHasIsRefused) {
  RunningDoor door(quick());
  append_many(door.store, 1, 4);
  for (const auto& [query, field] : {std::pair("?after=4", ""), std::pair("?after=0", "Last-Event-ID: 4\r\n")}) {
    const auto refused = door.get(std::string("/api/v1/live/events") + query, field);
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_NE(refused.body.find("position 4 lies beyond the head of the store, 3"), std::string::npos) << refused.body;
  }
}

TEST(HttpLive, ShowsThatItIsThereWhenThereIsNothingToTell) {
  RunningDoor door(quick());
  auto client = following(door, "");
  EXPECT_EQ(client.read_event()->name, "caught_up");
  for (int i = 0; i < 100 && client.heartbeats < 3; ++i) ASSERT_FALSE(client.read_event(200ms));
  EXPECT_GE(client.heartbeats, 3u);
}

TEST(HttpLive, ResumesWithoutAGapOrADoubleWhileOthersAppend) {
  RunningDoor door(quick());
  constexpr std::uint64_t count = 3'000;
  std::thread appending([&] { append_many(door.store, 1, count + 1); });
  std::vector<std::uint64_t> all;
  std::string last = "0";
  for (int round = 0; all.size() < count && round < 1'000; ++round) {
    auto client = following(door, "?after=0", round == 0 ? "" : "Last-Event-ID: " + last + "\r\n");
    for (int n = 0; n < 157 && all.size() < count; ++n) {
      const auto event = client.read_event();
      ASSERT_TRUE(event);
      if (!event->id.empty()) last = event->id;
      if (event->name == "event") all.push_back(std::stoull(event->id));
    }
    if (round % 3 == 0) client.vanish();
  }
  appending.join();
  ASSERT_EQ(all.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(all[i], i + 1);
}

TEST(HttpLive, AReaderThatNeverReadsHoldsUpNobodyAndIsDropped) {
  auto options = quick();
  options.limits.write_time = 10s;  // who reads may be held up for a while
  options.limits.write_bytes_per_second = 10u << 20;
  RunningDoor door(options);
  for (int i = 0; i < 60; ++i) append_one(door.store, "big-1", "T", {}, '"' + std::string(200'000, 'x') + '"');
  HttpClient deaf(door.address(), 4'096);
  deaf.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");

  auto other = following(door, "");
  EXPECT_EQ(next_ids(other, 60).size(), 60u);
  EXPECT_EQ(append_one(door.store, "order-1", "T"), 61u);
  EXPECT_THAT(next_ids(other, 1), ElementsAre(61));
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (door.served->metrics->figures().streams > 1 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(door.served->metrics->figures().streams, 1);
}

TEST(HttpLive, EndsInGoodOrderWhenTheServerStops) {
  RunningDoor door(quick());
  auto events = following(door, "");
  auto stats = door.client();
  stats.send("GET /api/v1/live/stats HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(events.read_event()->name, "caught_up");
  EXPECT_EQ(stats.read_event()->name, "stats");

  door.door->stop(2s);
  while (events.read_event(30s)) continue;
  while (stats.read_event(30s)) continue;
  EXPECT_TRUE(events.stream_finished);
  EXPECT_TRUE(stats.stream_finished);
  EXPECT_EQ(door.served->metrics->figures().streams, 0);
}

TEST(HttpLive, AReaderThatIsBehindIsToldTheEndToo) {
  RunningDoor door(quick());
  for (int i = 0; i < 30; ++i) append_one(door.store, "big-1", "T", {}, '"' + std::string(200'000, 'x') + '"');
  HttpClient late(door.address(), 65'536);
  late.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (door.served->metrics->figures().reads == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(200ms);  // for the kernel's buffers to be full: a piece is being written
  std::thread stopping([&] { door.door->stop(30s); });
  std::this_thread::sleep_for(200ms);
  EXPECT_GE(next_ids(late, 31).size(), 1u);  // the piece that was being written, whole
  EXPECT_TRUE(late.stream_finished);
  stopping.join();
}

TEST(HttpLive, AReaderThatNeverReadsDoesNotHoldTheEnd) {
  RunningDoor door(quick());
  for (int i = 0; i < 60; ++i) append_one(door.store, "big-1", "T", {}, '"' + std::string(200'000, 'x') + '"');
  HttpClient deaf(door.address(), 4'096);
  deaf.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto other = following(door, "");
  ASSERT_EQ(next_ids(other, 60).size(), 60u);
  std::this_thread::sleep_for(200ms);  // for the kernel's buffers to be full
  const auto begin = std::chrono::steady_clock::now();
  door.door->stop(30s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 25s);
  while (other.read_event(30s)) continue;
  EXPECT_TRUE(other.stream_finished);
}

TEST(HttpLive, ForgetsWhoGoesAway) {
  RunningDoor door(quick());
  {
    std::vector<HttpClient> clients;
    for (int i = 0; i < 40; ++i) {
      clients.push_back(following(door, i % 2 == 0 ? "" : "?tag=none"));
      ASSERT_TRUE(clients.back().read_event());
    }
    EXPECT_EQ(door.served->metrics->figures().streams, 40);
    for (std::size_t i = 0; i < clients.size(); i += 3) clients[i].vanish();
  }
  const auto until = std::chrono::steady_clock::now() + 60s;
  const auto some = [&] {
    const auto figures = door.served->metrics->figures();
    return figures.connections > 0 || figures.streams > 0;
  };
  while (some() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(door.served->metrics->figures().streams, 0);
  EXPECT_EQ(door.served->metrics->figures().connections, 0);
}

TEST(HttpLive, OpensNoMoreStreamsThanItMay) {
  auto options = quick();
  options.limits.streams = 2;
  RunningDoor door(options);
  auto one = following(door, ""), two = following(door, "");
  ASSERT_TRUE(one.read_event());
  ASSERT_TRUE(two.read_event());
  const auto third = door.get("/api/v1/live/events");
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(third.code(), "overloaded");
  EXPECT_EQ(third.header("retry-after"), "1");
}

/// Numbers (as heads) of the samples that are given next.
std::vector<std::uint64_t> next_samples(http::Stream& stream) {
  std::vector<std::uint64_t> heads;
  stream.next([&](http::Piece piece) {
    constexpr std::string_view head = "\"head\":";
    for (auto at = piece.bytes.find(head); at != std::string::npos; at = piece.bytes.find(head, at))
      heads.push_back(std::stoull(piece.bytes.substr(at += head.size())));
  });
  return heads;
}

TEST(HttpLive, WhoeverComesIsGivenTheFiguresOfTheMinutesBeforeOnceAndInOrder) {
  http::LiveStats stats;
  auto add = [&, number = std::uint64_t{0}]() mutable {
    http::StatsSample sample;
    sample.store.watermark = GlobalPosition{++number};
    stats.add(std::move(sample));
  };
  constexpr auto kept = http::LiveStats::samples_max, more = std::size_t{100};
  for (std::size_t i = 0; i < kept + more; ++i) add();

  const auto late = std::make_shared<http::StatsStream>(stats);
  std::vector<std::uint64_t> all;
  for (;;) {
    const auto some = next_samples(*late);
    if (some.empty()) break;
    EXPECT_LE(some.size(), http::LiveStats::piece_samples_max);
    all.insert(all.end(), some.begin(), some.end());
  }
  ASSERT_EQ(all.size(), kept);
  for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(all[i], more + i + 1);

  stats.forget(late.get());  // it waited for the next one
  for (int i = 0; i < 3; ++i) add();
  EXPECT_THAT(next_samples(*late), ElementsAre(kept + more + 1, kept + more + 2, kept + more + 3));
}

// Whoever goes by a load balancer sees when answers are out of another history, and may say what it heard.
TEST(HttpHistory, IsNamedByAnswersAndHeardOfRequests) {
  RunningDoor door(quick());
  const std::string x = "00000000-0000-0000-0000-00000000000a", y = "00000000-0000-0000-0000-00000000000b";
  door.led = std::make_shared<const std::string>("2:" + x);
  const auto fork = door.store.stats().value().info.fork_id;
  const auto head = door.get("/api/v1/head");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("evershard-fork"), fork);
  EXPECT_EQ(head.header("evershard-led"), "2:" + x);
  EXPECT_EQ(door.get("/api/v1/events/77").header("evershard-fork"), fork) << "an error, too";
  EXPECT_EQ(door.get("/health").header("evershard-fork"), "") << "which everybody may ask";
  auto live = door.client();
  live.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string begun;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       begun.find("\r\n\r\n") == std::string::npos && std::chrono::steady_clock::now() < until;)
    begun += live.receive_some();
  EXPECT_THAT(begun, testing::HasSubstr("Evershard-Fork: " + fork + "\r\n"));

  const auto said = [](const std::string& name, const std::string& value) { return name + ": " + value + "\r\n"; };
  EXPECT_EQ(door.get("/api/v1/head", said("Evershard-Fork", fork)).status, 200);
  EXPECT_EQ(door.get("/api/v1/head", said("Evershard-Led", "2:" + x)).status, 200);
  const auto forked = door.get("/api/v1/head", said("Evershard-Fork", "another"));
  EXPECT_EQ(forked.code(), "invalid_argument");
  EXPECT_EQ(forked.header("evershard-fork"), fork) << "by which the caller sees what is here";
  EXPECT_EQ(door.get("/api/v1/head", said("Evershard-Led", "2:" + y)).code(), "fenced") << "two histories";
  EXPECT_EQ(door.get("/api/v1/head", said("Evershard-Led", "nonsense")).code(), "invalid_argument");
  EXPECT_EQ(door.ask("POST", "/api/v1/append", R"({"type":"A","tags":["a"]})", said("Evershard-Led", "2:" + y)).code(),
            "fenced");
  EXPECT_EQ(door.store.head().value().value, 0u);
}

TEST(HttpLive, KeepsFiguresWhileNobodyWatches) {
  RunningDoor door(quick());
  std::this_thread::sleep_for(3s);
  const auto now = Timestamp::now().text();
  auto client = door.client();
  client.send("GET /api/v1/live/stats HTTP/1.1\r\nHost: localhost\r\n\r\n");

  std::string last = client.read_event().value().json()["at"];
  EXPECT_LT(last, now);
  for (int i = 0; i < 300 && last <= now; ++i) {
    const std::string at = client.read_event().value().json()["at"];
    ASSERT_LT(last, at);
    last = at;
  }
  EXPECT_GT(last, now);
}

TEST(HttpLive, ShowsFiguresOfTheMoment) {
  RunningDoor door(quick());
  auto client = door.client();
  client.send("GET /api/v1/live/stats HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto before = client.read_event().value().json();
  EXPECT_EQ(before["head"], 0);
  EXPECT_TRUE(before["append_micros"].is_null());
  ASSERT_EQ(door.ask("POST", "/api/v1/append", R"({"type":"A","tags":["a"]})").status, 200);
  ASSERT_EQ(door.get("/api/v1/events/1").status, 200);
  ASSERT_EQ(door.get("/api/v1/events/2").status, 404);

  auto stats = before;
  bool appends_seen = false;
  for (int i = 0; i < 400 && !(appends_seen && stats["refused"] == 1); ++i) {
    stats = client.read_event().value().json();
    appends_seen = appends_seen || (!stats["append_micros"].is_null() && stats["rates"]["appends"] > 0);
  }
  EXPECT_TRUE(appends_seen);
  EXPECT_EQ(stats["head"], 1);
  EXPECT_EQ(stats["appends"], 1);
  EXPECT_EQ(stats["events"], 1);
  EXPECT_EQ(stats["reads"], 1);
  EXPECT_EQ(stats["refused"], 1);
}

TEST(HttpLive, TellsAnOldClientWithoutChunks) {
  RunningDoor door(quick());
  append_one(door.store, "order-1", "T");
  auto client = door.client();
  client.send("GET /api/v1/live/events HTTP/1.0\r\n\r\n");
  std::string all;
  for (int i = 0; i < 50 && all.find("caught_up") == std::string::npos; ++i) all += client.receive_some();
  EXPECT_THAT(all, testing::HasSubstr("Connection: close"));
  EXPECT_THAT(all, testing::Not(testing::HasSubstr("chunked")));
  EXPECT_THAT(all, testing::HasSubstr("event: event\nid: 1\ndata: {"));
}

TEST(HttpLive, EndsWithItsToken) {
  RunningDoor door(quick(), tokens);
  auto client = following(door, "", "Authorization: Bearer r-0123456789abcdef\r\n");
  EXPECT_EQ(client.read_event()->name, "caught_up");

  door.access = std::make_shared<const serving::Access>(
      *serving::Access::of_tokens("writer read,append w-0123456789abcdef\n", "TOKENS"));
  door.door->look_at_tokens_again();

  while (client.read_event()) {
  }
  EXPECT_EQ(door.get("/api/v1/head", "Authorization: Bearer r-0123456789abcdef\r\n").status, 401);
}

}  // namespace
}  // namespace evershard
