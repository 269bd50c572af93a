// What is counted, and what Prometheus and the live figures make of it.

#include <fstream>
#include <regex>
#include <set>

#include "evershard/protocol/latencies.hpp"
#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;

TEST(Latencies, PutsEveryTimeIntoTheBucketItBelongsTo) {
  for (std::uint64_t micros = 0; micros < 40'000'000; micros += 1 + micros / 37) {
    const auto bucket = Latencies::bucket_of(micros);
    ASSERT_LT(bucket, Latencies::buckets);
    ASSERT_TRUE(bucket + 1 == Latencies::buckets || micros < Latencies::end_of(bucket)) << micros;
    ASSERT_TRUE(bucket == 0 || micros >= Latencies::end_of(bucket - 1)) << micros;
  }
}

TEST(Latencies, GivesPercentilesOfWhatCameSince) {
  LatencyCounter counter;
  for (int i = 0; i < 1'000; ++i) counter.add(microseconds(50'000));
  const auto before = counter.read();
  EXPECT_FALSE(counter.read().since(before).percentile(50));
  for (int i = 0; i < 99; ++i) counter.add(microseconds(100));
  counter.add(microseconds(9'000));

  const auto since = counter.read().since(before);
  EXPECT_EQ(since.count(), 100u);
  EXPECT_EQ(since.micros_sum, 99u * 100 + 9'000);
  EXPECT_GE(*since.percentile(50), 100u);
  EXPECT_LE(*since.percentile(50), 125u);
  EXPECT_LE(*since.percentile(99), 125u);
  EXPECT_GE(*since.percentile(100), 9'000u);
}

TEST(HttpMetrics, CountByDoorMethodAndOutcome) {
  RunningDoor door;
  ASSERT_EQ(
      door.ask("POST", "/api/v1/append", R"({"events":[{"type":"A","tags":["a"]},{"type":"A","tags":["a"]}]})").status,
      200);
  ASSERT_EQ(door.ask("POST", "/api/v1/append",
                     R"({"events":[{"aggregate":"a-1","type":"A"}],"expect":[{"aggregate":"a-1","version":3}]})")
                .status,
            409);
  ASSERT_EQ(door.get("/api/v1/nothing").status, 404);
  ASSERT_EQ(door.get("/api/v1/events").status, 200);

  const auto answer = door.get("/metrics");
  EXPECT_THAT(answer.header("content-type"), HasSubstr("text/plain; version=0.0.4"));
  const auto& text = answer.body;
  for (const auto* line : {
           R"(evershard_requests_total{door="http",method="POST /api/v1/append",outcome="ok"} 1)",
           R"(evershard_requests_total{door="http",method="POST /api/v1/append",outcome="version_conflict"} 1)",
           R"(evershard_requests_total{door="http",method="none",outcome="not_found"} 1)",
           R"(evershard_appends_refused_total{reason="version_conflict"} 1)",
           R"(evershard_append_events_sum{door="http"} 2)",
           R"(evershard_events_read_total{door="http"} 2)",
           R"(evershard_connections{door="http"})",
           "\nevershard_watermark 2\n",
           "\nevershard_events_total 2\n",
           "\nevershard_appends_total 1\n",
           "\nevershard_commit_seconds_count 1\n",
           "\nevershard_long_reads 0\n",
           "\nevershard_long_reads_waiting 0\n",
           "\nevershard_long_reads_total 0\n",
           "\nevershard_long_reads_refused_total 0\n",
           R"(evershard_memory_part_bytes{part="tails"})",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(HttpMetrics, HaveANameInTheDocumentEach) {
  RunningDoor door;
  append_one(door.store, "a-1", "A");
  std::ifstream file(EVERSHARD_SOURCE "/docs/metrics.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const auto text = door.get("/metrics").body;
  const std::regex help("# TYPE ([a-z0-9_]+) ");
  std::size_t names = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), help), end; at != end; ++at, ++names) {
    EXPECT_THAT(document, HasSubstr('`' + (*at)[1].str() + '`'));
  }
  EXPECT_GE(names, 15u);
}

}  // namespace
}  // namespace evershard
