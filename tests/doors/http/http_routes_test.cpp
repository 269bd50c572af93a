// Every route of the JSON API, asked over a real connection.

#include "evershard/doors/http/target.hpp"
#include "evershard/doors/serving/gzip.hpp"
#include "evershard/protocol/percent.hpp"
#include "tests/api/position_contract.hpp"
#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::uint64_t> positions(const json& answer) {
  std::vector<std::uint64_t> all;
  for (const auto& event : answer["events"]) all.push_back(event["position"]);
  return all;
}

TEST(HttpRoutes, SayThatItServesAndWhatItIs) {
  const RunningDoor door({.version = "9.8.7", .other_doors = {{"grpc", "127.0.0.1:7420"}}});

  EXPECT_EQ(door.get("/health").json(), (json{{"status", "serving"}, {"version", "9.8.7"}}));
  const auto info = door.get("/api/v1/info").json();
  EXPECT_EQ(info["shards"], 16);
  EXPECT_EQ(info["version"], "9.8.7");
  EXPECT_EQ(info["listen"]["http"], door.address());
  EXPECT_EQ(info["listen"]["grpc"], "127.0.0.1:7420");
  EXPECT_EQ(info["cluster"], false);
  EXPECT_EQ(info["limits"]["payload_bytes"], 1u << 20);
  EXPECT_EQ(door.get("/api/v1/stats").json()["store_id"], info["store_id"]);
  EXPECT_EQ(door.get("/api/v1/cluster").status, 400) << "it has none";
  EXPECT_EQ(door.get("/api/v1/head").json(), (json{{"head", 0}}));
}

TEST(HttpRoutes, AppendAndReadBack) {
  const RunningDoor door;

  const auto appended = door.ask(
      "POST", "/api/v1/append",
      R"({"events":[{"aggregate":"order-1","type":"Placed","tags":["customer:42"],"payload":{"total":12}}],"expect":[{"aggregate":"order-1","version":"none"}]})");
  ASSERT_EQ(appended.status, 200) << appended.body;
  EXPECT_EQ(appended.json(),
            (json{{"first_position", 1}, {"last_position", 1}, {"versions", {{"order-1", 1}}}, {"duplicate", false}}));

  const auto event = door.get("/api/v1/events/1").json();
  EXPECT_EQ(event["aggregate"], "order-1");
  EXPECT_EQ(event["payload"], (json{{"total", 12}}));
  EXPECT_EQ(door.get("/api/v1/head").json()["head"], 1);
}

TEST(HttpRoutes, FindThePositionAtATime) {
  RunningDoor door;
  answers_positions_by_time(door.store, [&](Timestamp at) {
    return door.get("/api/v1/position?at=" + at.text()).json().at("position").get<std::uint64_t>();
  });
  EXPECT_EQ(door.get("/api/v1/position?at=2023-11-15T00:14:20%2B02:00").json(), (json{{"position", 1}}));
  EXPECT_EQ(door.get("/api/v1/position").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/position?at=yesterday").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/position?at=2023-11-15T00:15:20+02:00").status, 400);
  EXPECT_EQ(door.get("/api/v1/position?at=2023-11-15T00:15:20Z&ago=1h").status, 400);
}

TEST(HttpRoutes, ShowPoliciesOfRetentionAndTheLog) {
  RunningDoor door;
  append_one(door.store, "order-1", "Placed", {});
  EXPECT_EQ(door.get("/api/v1/retention/policies").json(), (json{{"policies", json::array()}}));
  ASSERT_TRUE(door.store.retention().set_retention_policy(
      {"carts", RetentionPolicy::Kind::remove, "cart", std::chrono::hours(24)}, {}));
  ASSERT_TRUE(door.store.retention().remove_aggregate({"order", "1"}, {}));

  EXPECT_EQ(
      door.get("/api/v1/retention/policies").json()["policies"],
      json::array(
          {{{"name", "carts"}, {"kind", "remove"}, {"type", "cart"}, {"keep_seconds", 86'400}, {"uncovered", false}}}));
  const auto log = door.get("/api/v1/retention/log").json()["log"];
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0]["what"], "$RemovalOrdered");
  EXPECT_EQ(log[1]["says"]["events"], 1);
  EXPECT_EQ(door.get("/api/v1/retention/log?after=1&limit=1").json()["log"], json::array({log[1]}));
  EXPECT_EQ(door.get("/api/v1/retention/log?limit=x").status, 400);
  EXPECT_EQ(door.get("/api/v1/retention/policies?x=1").status, 400);
  EXPECT_EQ(door.get("/api/v1/events/1").json()["state"], "removed");
}

TEST(HttpRoutes, RefuseAnAppendWithWhatDecidedIt) {
  RunningDoor door;
  append_one(door.store, "order-1", "Placed", {"customer:42"});
  const auto refused = [&](const std::string& body) {
    const auto answer = door.ask("POST", "/api/v1/append", body);
    return std::pair(answer.status, answer.json()["error"]);
  };

  auto [status, error] =
      refused(R"({"events":[{"aggregate":"order-1","type":"Placed"}],"expect":[{"aggregate":"order-1","version":7}]})");
  EXPECT_EQ(status, 409);
  EXPECT_EQ(error["code"], "version_conflict");
  EXPECT_EQ(error["expected"], 7);
  EXPECT_EQ(error["actual"], 1);
  std::tie(status, error) = refused(
      R"({"events":[{"type":"X","tags":["a"]}],"fail_if":[{"query":{"items":[{"tags":["customer:42"]}]},"after":0}]})");
  EXPECT_EQ(status, 409);
  EXPECT_EQ(error["code"], "condition_failed");
  EXPECT_EQ(error["position"], 1);
  const auto id = door.store.event_at(GlobalPosition{1})->id.text();
  std::tie(status, error) = refused(R"({"id":")" + id + R"(","aggregate":"order-1","type":"Other"})");
  EXPECT_EQ(status, 409);
  EXPECT_EQ(error["code"], "duplicate_event");
  std::tie(status, error) =
      refused(R"({"events":[{"aggregate":"order-1","type":"Placed","payload_encoding":"base64","payload":"%"}]})");
  EXPECT_EQ(status, 400);
  EXPECT_EQ(error["code"], "invalid_argument");
  std::tie(status, error) = refused(R"({"type":"A","tags":["t"],"fail_if":[]})");
  EXPECT_EQ(status, 400);
  std::tie(status, error) = refused(R"({"events":[{"type":"X","tags":["a"]}],"fail_if":[{"query":{"items":[]}}]})");
  EXPECT_EQ(error["code"], "invalid_query");
  std::tie(status, error) =
      refused(R"({"type":"X","tags":["a"],"payload":")" + std::string((1u << 20) + 1, 'x') + "\"}");
  EXPECT_EQ(status, 413);
  EXPECT_EQ(error["code"], "too_large");
  for (const std::string bad : {"{", "[]", "nonsense", "\xff", "{\"type\":1}", "{}"}) {
    std::tie(status, error) = refused(bad);
    EXPECT_EQ(status, 400) << bad;
  }
  EXPECT_EQ(door.store.head()->value, 1u);
}

TEST(HttpRoutes, ReadPagesInBothDirections) {
  RunningDoor door;
  append_many(door.store, 1, 251);

  std::vector<std::uint64_t> seen;
  std::string next = "0";
  for (int page = 0; page < 10 && next != "null"; ++page) {
    const auto answer = door.get("/api/v1/events?limit=100&after=" + next).json();
    for (const auto position : positions(answer)) seen.push_back(position);
    EXPECT_EQ(answer["watermark"], 250);
    EXPECT_EQ(answer["complete"], answer["next"].is_null());
    next = answer["next"].is_null() ? "null" : answer["next"]["after"].dump();
  }
  ASSERT_EQ(seen.size(), 250u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));

  auto back = door.get("/api/v1/events?direction=backwards&limit=3").json();
  EXPECT_THAT(positions(back), ElementsAre(250, 249, 248));
  back = door.get("/api/v1/events?direction=backwards&limit=3&before=" + back["next"]["before"].dump()).json();
  EXPECT_THAT(positions(back), ElementsAre(247, 246, 245));
  EXPECT_THAT(positions(door.get("/api/v1/events?up_to=2").json()), ElementsAre(1, 2));
  EXPECT_EQ(positions(door.get("/api/v1/events").json()).size(), 100u);
  EXPECT_EQ(positions(door.get("/api/v1/events?limit=1000").json()).size(), 250u);
  const auto nothing = door.get("/api/v1/events?limit=0&after=5").json();
  EXPECT_THAT(positions(nothing), IsEmpty());
  EXPECT_EQ(nothing["next"]["after"], 5);
}

TEST(HttpRoutes, EndAListEarlyRatherThanHoldItAll) {
  http::HttpOptions options;
  options.limits.response_bytes = 10'000;
  RunningDoor door(options);
  for (int i = 0; i < 20; ++i) append_one(door.store, "big-1", "T", {}, '"' + std::string(4'000, 'x') + '"');

  const auto first = door.get("/api/v1/events?limit=20").json();
  EXPECT_THAT(positions(first), ElementsAre(1, 2, 3));
  EXPECT_EQ(first["complete"], false);
  EXPECT_EQ(first["next"]["after"], 3);
  const auto stream = door.get("/api/v1/aggregates/big-1/events?limit=20").json();
  EXPECT_EQ(stream["next"]["from"], 4);
}

TEST(HttpRoutes, Query) {
  RunningDoor door;
  append_one(door.store, "order-1", "Placed", {"customer:1"});
  append_one(door.store, "order-2", "Placed", {"customer:2"});
  append_one(door.store, "order-1", "Paid", {"customer:1"});

  const auto by_post = door.ask("POST", "/api/v1/query",
                                R"({"query":{"items":[{"tags":["customer:1"]}]},"limit":1,"direction":"backwards"})")
                           .json();
  EXPECT_THAT(positions(by_post), ElementsAre(3));
  EXPECT_EQ(by_post["cost"]["matches"], 1);
  EXPECT_EQ(by_post["next"]["before"], 3);
  EXPECT_THAT(positions(door.get("/api/v1/query?type=Placed&type=Paid&tag=customer%3A1").json()), ElementsAre(1, 3));
  EXPECT_THAT(positions(door.get("/api/v1/query?concerning=order-2").json()), ElementsAre(2));
  EXPECT_THAT(positions(door.get("/api/v1/query").json()), ElementsAre(1, 2, 3));

  const auto of_each = door.get("/api/v1/query?per_aggregate=1&limit=1").json();
  EXPECT_THAT(positions(of_each), ElementsAre(1));
  EXPECT_EQ(of_each["next"], nlohmann::json({{"after", 1}, {"per_aggregate_from", 0}}));
  EXPECT_THAT(positions(door.get("/api/v1/query?per_aggregate=1&after=1&per_aggregate_from=0").json()), ElementsAre(2));
  EXPECT_THAT(
      positions(door.ask("POST", "/api/v1/query", R"({"query":{"all":true},"per_aggregate":1,"direction":"backwards"})")
                    .json()),
      ElementsAre(3, 2));
  const auto newest = door.get("/api/v1/events?per_aggregate=1&direction=backwards&limit=1").json();
  EXPECT_EQ(newest["next"], nlohmann::json({{"before", 3}, {"per_aggregate_from", 4}}));
  EXPECT_EQ(door.get("/api/v1/events?per_aggregate_from=0").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/events?per_aggregate=1&per_aggregate_from=1").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/events?per_aggregate=x").code(), "invalid_argument");

  EXPECT_EQ(door.ask("POST", "/api/v1/query", R"({"query":{"items":[]}})").code(), "invalid_query");
  EXPECT_EQ(door.ask("POST", "/api/v1/query", R"({"query":{"all":true},"limits":1})").code(), "invalid_argument");
  EXPECT_EQ(door.ask("POST", "/api/v1/query", R"({"limit":1})").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/query?tag=").status, 400);
  EXPECT_EQ(door.get("/api/v1/query?query=x").status, 400);
}

TEST(HttpRoutes, TestACondition) {
  RunningDoor door;
  append_one(door.store, "order-1", "Placed", {"customer:1"});

  const auto broken = door.ask("POST", "/api/v1/condition", R"({"query":{"items":[{"tags":["customer:1"]}]}})").json();
  EXPECT_EQ(broken["holds"], false);
  EXPECT_EQ(broken["first_conflict"]["position"], 1);
  EXPECT_EQ(broken["head"], 1);
  const auto holds =
      door.ask("POST", "/api/v1/condition", R"({"query":{"items":[{"tags":["customer:1"]}]},"after":1})").json();
  EXPECT_EQ(holds["holds"], true);
  EXPECT_TRUE(holds["first_conflict"].is_null());
  EXPECT_EQ(door.ask("POST", "/api/v1/condition", R"({"after":1})").status, 400);
}

TEST(HttpRoutes, WaitForAPosition) {
  http::HttpOptions options;
  options.limits.at_least_time = std::chrono::milliseconds(100);
  RunningDoor door(options);

  const auto late = door.get("/api/v1/events?at_least=1");
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.code(), "timeout");
  auto waiting = door.client();
  waiting.send("GET /api/v1/events?at_least=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  append_one(door.store, "order-1", "Placed");
  EXPECT_THAT(positions(waiting.read_answer().value().json()), ElementsAre(1));
}

TEST(HttpRoutes, ShowAggregatesWhateverTheirNames) {
  RunningDoor door;
  const std::string odd = "order-a/b?c=d&e%2F#\xE2\x82\xAC \"'<x>\n";
  append_one(door.store, odd, "Placed");
  append_one(door.store, odd, "Paid");
  append_one(door.store, "order-1", "Placed");
  ASSERT_TRUE(door.store.put_snapshot(snapshot_of("order-1", 1, R"({"total":1})")));
  const std::string path = "/api/v1/aggregates/order-a%2Fb%3Fc%3Dd%26e%252F%23%E2%82%AC%20%22%27%3Cx%3E%0A";

  EXPECT_EQ(door.get(path).json()["aggregate"], odd);
  EXPECT_EQ(door.get(path).json()["version"], 2);
  EXPECT_EQ(door.get(path + "?up_to=1").json()["version"], 1);
  EXPECT_THAT(positions(door.get(path + "/events").json()), ElementsAre(1, 2));
  const auto back = door.get(path + "/events?direction=backwards&limit=1").json();
  EXPECT_THAT(positions(back), ElementsAre(2));
  EXPECT_THAT(positions(door.get(path + "/events?direction=backwards&from=" + back["next"]["from"].dump()).json()),
              ElementsAre(1));
  EXPECT_THAT(positions(door.get(path + "/events?from=2").json()), ElementsAre(2));
  EXPECT_EQ(door.get("/api/v1/aggregates/order-1/snapshots").json()["snapshots"][0]["payload"], (json{{"total", 1}}));

  const auto list = door.get("/api/v1/aggregates?type=order&limit=1").json();
  ASSERT_EQ(list["aggregates"].size(), 1u);
  EXPECT_EQ(list["aggregates"][0]["aggregate"], "order-1");
  EXPECT_EQ(list["next"], "order-1");
  const auto rest = door.get("/api/v1/aggregates?after=order-1").json();
  EXPECT_EQ(rest["aggregates"][0]["aggregate"], odd);
  EXPECT_TRUE(rest["next"].is_null());

  EXPECT_EQ(door.get("/api/v1/aggregates/order-nobody").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/aggregates/order-nobody/events").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/aggregates/order-nobody/snapshots").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/aggregates/nodash").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/aggregates/").code(), "invalid_argument");
}

TEST(HttpRoutes, ShowAStateAsFarAsItIsWrittenDown) {
  RunningDoor door;
  for (int i = 0; i < 5; ++i) append_one(door.store, "order-1", "Changed");
  ASSERT_TRUE(door.store.put_snapshot(snapshot_of("order-1", 3, R"({"total":3})")));

  auto state = door.get("/api/v1/aggregates/order-1/state").json();
  EXPECT_EQ(state["version"], 5);
  EXPECT_EQ(state["state"], (json{{"total", 3}}));
  EXPECT_EQ(state["state_version"], 3);
  EXPECT_EQ(state["exact"], false);
  EXPECT_THAT(positions(state), ElementsAre(4, 5));
  state = door.get("/api/v1/aggregates/order-1/state?version=3").json();
  EXPECT_EQ(state["exact"], true);
  EXPECT_THAT(positions(state), IsEmpty());
  state = door.get("/api/v1/aggregates/order-1/state?up_to=2&limit=1").json();
  EXPECT_TRUE(state["state"].is_null());
  EXPECT_EQ(state["events_after"], 2);
  EXPECT_THAT(positions(state), ElementsAre(1));
  EXPECT_EQ(door.get("/api/v1/aggregates/order-1/state?version=6").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/aggregates/order-1/state?version=1&up_to=1").status, 400);
  EXPECT_EQ(door.get("/api/v1/aggregates/order-2/state").status, 404);
}

TEST(HttpRoutes, ScheduleAppendsShowThemAndCancelThem) {
  RunningDoor door;
  const auto post = [&](const std::string& path, const std::string& body) {
    return door.ask("POST", path, body, "Content-Type: application/json\r\n");
  };
  EXPECT_EQ(door.get("/api/v1/scheduled").json(), (json{{"scheduled", json::array()}, {"next", nullptr}}));
  const auto first = post("/api/v1/scheduled", R"({"id":"a/1","after":"1h","append":{"events":[{"aggregate":"order-1",
      "type":"Placed","payload":{"n":1},"tags":["t"]}],"expect":[{"aggregate":"order-1","version":3}],
      "fail_if":[{"query":{"items":[{"types":["Closed"]}]},"after":7}]}})");
  ASSERT_EQ(first.status, 200) << first.body;
  const auto one = first.json();
  EXPECT_EQ(one["state"], "pending");
  EXPECT_EQ(one["append"]["events"][0],
            (json{{"aggregate", "order-1"}, {"type", "Placed"}, {"tags", {"t"}}, {"payload", {{"n", 1}}}}));
  EXPECT_EQ(one["append"]["expect"][0], (json{{"aggregate", "order-1"}, {"version", 3}}));
  EXPECT_EQ(one["append"]["fail_if"][0]["after"], 7);
  EXPECT_EQ(door.get("/api/v1/scheduled/a%2F1").json(), one);
  const json again{{"id", "a/1"}, {"due", one["due"]}, {"append", one["append"]}};  // what is shown can be given
  EXPECT_EQ(post("/api/v1/scheduled", again.dump()).json()["duplicate"], true);
  EXPECT_EQ(post("/api/v1/scheduled", R"({"id":"a/1","after":"1h","append":{"type":"Placed"}})").code(),
            "version_conflict");
  EXPECT_EQ(post("/api/v1/scheduled", R"({"id":"b","due":"2100-01-01T00:00:00Z","append":{"type":"Placed"}})").status,
            200);
  auto page = door.get("/api/v1/scheduled?limit=1").json();
  EXPECT_EQ(page["scheduled"][0]["id"], "a/1");
  page = door.get("/api/v1/scheduled?limit=1&after=" + std::string(page["next"])).json();
  EXPECT_EQ(page["scheduled"][0]["id"], "b");
  EXPECT_EQ(post("/api/v1/scheduled/a%2F1/cancel", "").json()["state"], "cancelled");
  EXPECT_EQ(post("/api/v1/scheduled/c/cancel", "").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/scheduled/c").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/scheduled").json()["scheduled"].size(), 1u);
  EXPECT_EQ(door.get("/api/v1/scheduled?state=all").json()["scheduled"].size(), 2u);
  for (const auto* bad :
       {"", "[]", R"({"after":"1h"})", R"({"append":{"type":"P"}})",
        R"({"after":"1h","due":"2100-01-01T00:00:00Z","append":{"type":"P"}})",
        R"({"after":3600,"append":{"type":"P"}})", R"({"after":"18446744073709552ms","append":{"type":"P"}})",
        R"({"after":"soon","append":{"type":"P"}})", R"({"due":"soon","append":{"type":"P"}})",
        R"({"after":"1h","append":{"type":"P"},"replace":1})", R"({"after":"1h","append":{"type":"P"},"to":1})",
        R"({"id":"","after":"1h","append":{"type":"P"}})", R"({"after":"1h","append":{"type":"$P"}})"})
    EXPECT_EQ(post("/api/v1/scheduled", bad).code(), "invalid_argument") << bad;
  EXPECT_EQ(door.get("/api/v1/scheduled?state=some").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/scheduled?limit=5000").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/scheduled?after=x").code(), "invalid_argument");
}

TEST(HttpRoutes, ShowProcessesAndTimersAndTakeWhatIsWantedOfThem) {
  RunningDoor door;
  const auto post = [&](const std::string& path, const std::string& body) {
    return door.ask("POST", path, body, "Content-Type: application/json\r\n");
  };
  EXPECT_EQ(door.get("/api/v1/processes").json(), (json{{"processes", json::array()}}));
  EXPECT_EQ(door.get("/api/v1/processes/transfer").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/processes/transfer/instances").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/processes/transfer/parked").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/timers").json(), (json{{"timers", json::array()}, {"pending", 0}, {"next", nullptr}}));
  EXPECT_EQ(door.get("/api/v1/timers?aggregate=order").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/timers?limit=0").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/timers?after=x").code(), "invalid_argument");
  EXPECT_EQ(post("/api/v1/timers/order-1/cancel?name=x", "").code(), "not_found");
  EXPECT_EQ(post("/api/v1/timers/order-1/cancel", "").code(), "invalid_argument");
  EXPECT_EQ(post("/api/v1/processes/transfer/control", R"({"action":"stop"})").code(), "not_found");
  for (const auto* bad :
       {"", "{}", R"({"action":"halt"})", R"({"action":"skip"})", R"({"action":"stop","item":"event/1"})",
        R"({"action":"skip","item":"event/0"})", R"({"action":"skip","item":"event/1","instance":"a"})",
        R"({"action":"stop","who":"me"})", R"({"action":1})"})
    EXPECT_EQ(post("/api/v1/processes/transfer/control", bad).code(), "invalid_argument") << bad;
}

TEST(HttpRoutes, ShowDocumentsAndTheirDefinitions) {
  RunningDoor door;
  EXPECT_EQ(door.get("/api/v1/documents").json()["definitions"], json::array());
  EXPECT_EQ(door.get("/api/v1/documents/order-1").code(), "not_found");
  ASSERT_TRUE(door.store.documents().define("order", R"({"events":{"Placed":{"merge":true}}})"));
  GlobalPosition last;
  for (int i = 1; i <= 3; ++i)
    last =
        door.store.append(Append{}.event("order-" + std::to_string(i), "Placed", "{\"n\":" + std::to_string(i) + "}"))
            .value()
            .last_position;

  const auto one = door.get("/api/v1/documents/order-2").json();
  EXPECT_EQ(one["document"], (json{{"n", 2}}));
  EXPECT_EQ(one["version"], 1);
  const auto at_least = "at_least=" + std::to_string(last.value);
  auto page = door.get("/api/v1/documents/order?limit=2&" + at_least).json();
  ASSERT_EQ(page["documents"].size(), 2u);
  EXPECT_EQ(page["next"], "2");
  EXPECT_EQ(door.get("/api/v1/documents/order-2?read=eventual").json(), one);
  EXPECT_EQ(door.get("/api/v1/documents/order-2?" + at_least).json(), one);
  EXPECT_EQ(door.get("/api/v1/documents/order-2?read=eventual&" + at_least).json(), one);
  EXPECT_EQ(one["definition"], 1);
  EXPECT_EQ(page["definition"], 1);
  EXPECT_EQ(door.get("/api/v1/documents/order?definition=1&after=1").json()["definition"], 1);
  EXPECT_EQ(door.get("/api/v1/documents/order?definition=2").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/documents?type=order").json()["versions"][0]["serving"], true);
  EXPECT_EQ(door.get("/api/v1/documents?type=invoice").code(), "not_found");
  page = door.get("/api/v1/documents/order?after=2&" + at_least).json();
  ASSERT_EQ(page["documents"].size(), 1u);
  EXPECT_TRUE(page["next"].is_null());
  page = door.get("/api/v1/documents/order?filter=n+%3E%3D+2&" + at_least).json();
  EXPECT_EQ(page["documents"].size(), 2u);
  EXPECT_EQ(door.get("/api/v1/documents").json()["definitions"][0]["type"], "order");
  EXPECT_EQ(door.get("/api/v1/documents/order-2?read=soon").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/documents/order?filter=n").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/documents/order?limit=5000").code(), "invalid_argument");
  EXPECT_EQ(door.get("/api/v1/documents/invoice").code(), "not_found");
}

TEST(HttpRoutes, ReadIndexesByNumberAndByValue) {
  RunningDoor door;
  EXPECT_EQ(door.get("/api/v1/projections").json()["projections"], json::array());
  GlobalPosition last;
  for (int i = 1; i <= 5; ++i)
    last = door.store
               .append(Append{}.event("order-" + std::to_string(i), "Placed", "{\"n\":" + std::to_string(10 * i) + "}"))
               .value()
               .last_position;
  const auto index = door.store.projections().create_index(Query{}.types({"Placed"})).value().name;
  ASSERT_TRUE(
      door.store.projections().create_value_index("by-n", {.types = {"Placed"}, .path = "$.n", .value = "integer"}));

  const auto numbers =
      door.get("/api/v1/indexes/" + index + "?start=2&limit=2&events=true&at_least=" + std::to_string(last.value))
          .json();
  ASSERT_EQ(numbers["entries"].size(), 2u);
  EXPECT_EQ(numbers["entries"][0]["number"], 2);
  EXPECT_EQ(numbers["entries"][0]["event"]["aggregate"], "order-2");
  EXPECT_EQ(numbers["count"], 5);
  const auto values = door.get("/api/v1/values/by-n?from=20&until=50&limit=2&direction=backwards").json();
  ASSERT_EQ(values["entries"].size(), 2u);
  EXPECT_EQ(values["entries"][0]["value"], 40);
  const auto rest =
      door.get("/api/v1/values/by-n?from=20&until=50&limit=2&direction=backwards&after=" + std::string(values["next"]))
          .json();
  ASSERT_EQ(rest["entries"].size(), 1u);
  EXPECT_EQ(rest["entries"][0]["value"], 20);
  EXPECT_TRUE(rest["next"].is_null());
  EXPECT_EQ(door.get("/api/v1/values/by-n?equal=30").json()["entries"].size(), 1u);
  EXPECT_EQ(door.get("/api/v1/projections").json()["projections"].size(), 2u);
  EXPECT_EQ(door.get("/api/v1/projections/by-n").json()["kind"], "value");
  for (const auto* bad :
       {"/api/v1/values/by-n?equal=ten", "/api/v1/values/by-n?equal=1&from=1", "/api/v1/values/by-n?after=zz",
        "/api/v1/values/by-n?limit=1001", "/api/v1/values/by-n?start=1", "/api/v1/indexes/by-n"}) {
    EXPECT_EQ(door.get(bad).code(), "invalid_argument") << bad;
  }
  EXPECT_EQ(door.get("/api/v1/indexes/none").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/projections/none").code(), "not_found");
}

TEST(HttpRoutes, SelectRowsOfTables) {
  RunningDoor door;
  EXPECT_EQ(door.get("/api/v1/tables").json()["tables"], json::array());
  EXPECT_EQ(door.get("/api/v1/tables/orders/rows").code(), "not_found");
  ASSERT_TRUE(door.store.projections().create(
      "orders", "table",
      R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"who","type":"text","role":"index"},{"name":"n","type":"integer","nullable":true},{"name":"all","type":"json"}],)"
      R"("on_error":"park","rules":[{"types":["Placed"],"action":"upsert","key":"aggregate","fields":{"who":"$.who","n":"$.n","all":"$"}}]})"));
  GlobalPosition last;
  for (int i = 1; i <= 4; ++i) {
    last = door.store
               .append(Append{}.event(
                   "order-" + std::to_string(i), "Placed",
                   R"({"who":")" + std::string(i % 2 == 0 ? "ann" : "a=b") + R"(","n":)" + std::to_string(i) + "}"))
               .value()
               .last_position;
  }
  last = door.store.append(Append{}.event("order-5", "Placed", "{}")).value().last_position;
  const auto at_least = "&at_least=" + std::to_string(last.value);
  const std::string rows = "/api/v1/tables/orders/rows?";

  const auto all = door.get(rows + "order=-n&field=order&field=n" + at_least).json();
  EXPECT_EQ(
      all["rows"].dump(),
      R"([{"n":4,"order":"order-4"},{"n":3,"order":"order-3"},{"n":2,"order":"order-2"},{"n":1,"order":"order-1"}])");
  EXPECT_TRUE(all["next"].is_null());
  EXPECT_GE(all["position"], last.value);
  const auto some = door.get(rows + "where=who+%3D+:w+AND+n+%3E+?1&param=w=ann&param=1=2").json();
  ASSERT_EQ(some["rows"].size(), 1u);
  EXPECT_EQ(some["rows"][0],
            (json{{"order", "order-4"}, {"who", "ann"}, {"n", 4}, {"all", {{"who", "ann"}, {"n", 4}}}}));
  EXPECT_EQ(door.get(rows + "where=who+%3D+:w&param=w=a=b").json()["rows"].size(), 2u);
  const auto first = door.get(rows + "order=order&limit=3").json();
  ASSERT_EQ(first["rows"].size(), 3u);
  const auto second =
      door.get(rows + "order=order&limit=3&after=" + percent_encoded(std::string(first["next"]))).json();
  ASSERT_EQ(second["rows"].size(), 1u);
  EXPECT_EQ(second["rows"][0]["order"], "order-4");
  EXPECT_EQ(door.get("/api/v1/tables").json()["tables"][0]["projection"], "orders");
  EXPECT_EQ(door.get("/api/v1/tables/orders").json()["rows"], 4);
  const auto parked = door.get("/api/v1/tables/orders/parked").json()["parked"];
  ASSERT_EQ(parked.size(), 1u);
  EXPECT_EQ(parked[0]["aggregate"], "order-5");

  for (const auto* bad :
       {"where=nobody+%3D+1", "where=who", "where=who+%3D+:w", "param=w", "where=who+%3D+:w&param=w=1&param=w=2",
        "limit=1001", "order=colour", "field=colour", "after=none", "wher=1"}) {
    EXPECT_EQ(door.get(rows + bad).code(), "invalid_argument") << bad;
  }
  EXPECT_EQ(door.get(rows + "version=9").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/tables/none").code(), "not_found");
  EXPECT_EQ(door.ask("DELETE", "/api/v1/tables/orders/rows").status, 405);
}

// A `next` holds the values that the page ended with: what is too long for a target goes into a body, as long as the
// server's own words may be.
TEST(HttpRoutes, GoOnWithPagesWhoseNextIsTooLongForATarget) {
  RunningDoor door;
  ASSERT_TRUE(door.store.projections().create(
      "notes", "table",
      R"({"fields":[{"name":"note","type":"text","role":"key"},{"name":"a","type":"text"},{"name":"b","type":"text"}],)"
      R"("rules":[{"types":["Noted"],"action":"upsert","key":"aggregate","fields":{"a":"$.a","b":"$.b"}}]})"));
  ASSERT_TRUE(
      door.store.projections().create_value_index("by-a", {.types = {"Noted"}, .path = "$.a", .value = "text"}));
  const std::string longest(4'096, 'x');
  GlobalPosition last;
  for (int i = 1; i <= 5; ++i) {
    const json note{{"a", longest}, {"b", longest + longest}};
    last = door.store.append(Append{}.event("note-" + std::to_string(i), "Noted", note.dump())).value().last_position;
  }
  const auto post = [&](const std::string& path, const json& asked) {
    return door.ask("POST", path, asked.dump(), "Content-Type: application/json\r\n");
  };
  const std::string rows = "/api/v1/tables/notes/rows";
  const std::string where = "note != '" + std::string((16u << 10) - 10, 'y') + "'";
  json asked{{"where", where}, {"order", {"a", "-b"}}, {"field", "note"}, {"limit", 2}, {"at_least", last.value}};
  std::vector<std::string> seen;
  std::size_t longest_next = 0;
  for (int pages = 0; pages < 10; ++pages) {
    const auto answer = post(rows, asked);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto page = answer.json();
    for (const auto& row : page["rows"]) seen.push_back(row["note"]);
    if (page["next"].is_null()) break;
    asked["after"] = page["next"];
    longest_next = std::max(longest_next, std::string(page["next"]).size());
  }
  EXPECT_THAT(seen,
              ElementsAre("note-5", "note-4", "note-3", "note-2", "note-1"));  // equal ones as the last order goes
  EXPECT_GT(longest_next, 16u << 10) << "more than a header takes";
  const auto too_long = door.get(rows + "?order=a&order=-b&limit=2&after=" + std::string(asked["after"]));
  EXPECT_EQ(too_long.status, 431);
  EXPECT_THAT(too_long.body, testing::HasSubstr("POST"));

  asked = {{"from", "w"}, {"limit", 2}, {"at_least", last.value}};
  std::size_t entries = 0;
  for (int pages = 0; pages < 10; ++pages) {
    const auto answer = post("/api/v1/values/by-a", asked);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto page = answer.json();
    entries += page["entries"].size();
    if (page["next"].is_null()) break;
    asked["after"] = page["next"];
  }
  EXPECT_EQ(entries, 5u);

  for (const json& bad : {json{{"wher", "1"}}, json{{"where", {{"a", 1}}}}, json{{"limit", nullptr}}, json::array({1}),
                          json{{"limit", 1'001}}}) {
    EXPECT_EQ(post(rows, bad).code(), "invalid_argument") << bad;
  }
  EXPECT_EQ(door.ask("POST", rows, "{").code(), "invalid_argument");
  EXPECT_EQ(post(rows, {{"limit", 2}}).json()["rows"].size(), 2u);
}

TEST(HttpRoutes, RefuseBadParametersByName) {
  const RunningDoor door;
  for (const auto* bad : {"limit=1001", "limit=-1", "limit=x", "limit=1&limit=2", "direction=up", "after=1.5",
                          "afterr=1", "up_to=", "at_least=18446744073709551616"}) {
    const auto answer = door.get(std::string("/api/v1/events?") + bad);
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(answer.code(), "invalid_argument") << bad;
  }
  EXPECT_EQ(door.get("/api/v1/events/x").status, 400);
  EXPECT_EQ(door.get("/api/v1/events/0").status, 404);
  EXPECT_EQ(door.get("/api/v1/events/9").code(), "not_found");
  EXPECT_EQ(door.get("/api/v1/head?x=1").status, 400);
  EXPECT_EQ(door.get("/api/v1/live/events?from=then").status, 400);
  EXPECT_EQ(door.get("/api/v1/live/events?from=now&after=1").status, 400);
  EXPECT_EQ(door.get("/api/v1/live/events", "Last-Event-ID: x\r\n").status, 400);
}

TEST(HttpRoutes, KnowOtherMethods) {
  const RunningDoor door;
  const auto head = door.ask("HEAD", "/api/v1/head");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "11");
  const auto options = door.ask("OPTIONS", "/api/v1/append");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(options.header("access-control-allow-origin"), "");
  EXPECT_EQ(door.ask("PUT", "/api/v1/append", "{}").status, 405);
  EXPECT_EQ(door.get("/api/v1/nothing").code(), "not_found");
  EXPECT_EQ(door.ask("OPTIONS", "/nothing").status, 404);
}

TEST(HttpRoutes, MaintainTheStore) {
  RunningDoor door;
  append_many(door.store, 1, 50);

  EXPECT_EQ(door.ask("POST", "/api/v1/admin/flush", "{}").json()["sealed"], 49);
  EXPECT_EQ(door.ask("POST", "/api/v1/admin/flush", R"({"x":1})").status, 400);
  const auto report = door.ask("POST", "/api/v1/admin/verify", "{}").json();
  EXPECT_EQ(report["events"], 49);
  EXPECT_EQ(report["errors"], 0);
  EXPECT_TRUE(door.ask("POST", "/api/v1/admin/vacuum", "{}").json().contains("disk_bytes"));

  auto client = door.client();
  client.send(
      "POST /api/v1/admin/verify HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: "
      "application/json\r\nContent-Length: 2\r\n\r\n{}");
  std::vector<std::string> names;
  std::optional<ServerEvent> last;
  while (const auto event = client.read_event()) {
    names.push_back(event->name);
    last = event;
  }
  ASSERT_TRUE(last);
  EXPECT_EQ(last->name, "result");
  EXPECT_EQ(last->json()["events"], 49);
  EXPECT_THAT(names, testing::Contains("progress"));
  EXPECT_TRUE(client.stream_finished);
  EXPECT_EQ(client.ask("GET", "/health").status, 200);  // the connection goes on
}

TEST(HttpRoutes, ShowSettingsToAdministratorsAlone) {
  http::HttpOptions options;
  options.settings = [] { return std::string(R"({"settings":[]})"); };
  const RunningDoor door(options, tokens);

  EXPECT_EQ(door.get("/api/v1/settings", "Authorization: Bearer r-0123456789abcdef\r\n").status, 403);
  EXPECT_EQ(door.get("/api/v1/settings", "Authorization: Bearer a-0123456789abcdef%;\r\n").json(),
            (json{{"settings", json::array()}}));
  EXPECT_EQ(RunningDoor().get("/api/v1/settings").code(), "not_found");
}

TEST(HttpRoutes, AskForTokens) {
  const RunningDoor door({}, tokens);
  const std::string reader = "Authorization: Bearer r-0123456789abcdef\r\n",
                    writer = "Authorization: Bearer w-0123456789abcdef\r\n";
  const std::string event = R"({"type":"A","tags":["a"]})";

  const auto nobody = door.get("/api/v1/head");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(nobody.code(), "unauthenticated");
  EXPECT_EQ(nobody.header("www-authenticate"), "Bearer");
  EXPECT_EQ(door.get("/metrics").status, 401);
  EXPECT_EQ(door.get("/api/v1/live/events").status, 401);
  EXPECT_EQ(door.get("/health").status, 200);
  EXPECT_EQ(door.get("/api/v1/head", reader).status, 200);
  EXPECT_EQ(door.ask("POST", "/api/v1/append", event, reader).code(), "permission_denied");
  EXPECT_EQ(door.ask("POST", "/api/v1/append", event, writer).status, 200);
  EXPECT_EQ(door.ask("POST", "/api/v1/admin/flush", "{}", writer).status, 403);
  EXPECT_EQ(door.ask("POST", "/api/v1/admin/flush", {}, "Authorization: Bearer a-0123456789abcdef%;\r\n").status, 200);
}

TEST(HttpRoutes, TakeHowFarACopyIsFromOperatorsAlone) {
  const RunningDoor door({}, tokens);
  const std::string writer = "Authorization: Bearer w-0123456789abcdef\r\n";
  for (const auto* append : {R"({"aggregate":"$copy-orders","type":"$CopyBegan"})",
                             R"({"events":[{"type":"A"}],"snapshots":[{"aggregate":"$copy-orders","version":1,
                                "payload":{}}]})"}) {
    const auto refused = door.ask("POST", "/api/v1/append", append, writer);
    EXPECT_EQ(refused.code(), "permission_denied") << refused.body;
    EXPECT_NE(refused.body.find("does not have the scope admin"), std::string::npos) << refused.body;
  }
}

TEST(HttpRoutes, KeepASessionInACookie) {
  RunningDoor door({}, tokens);
  const std::string own = "Origin: http://localhost\r\n";

  EXPECT_EQ(door.get("/api/v1/session").json(), (json{{"open", false}, {"scopes", json::array()}}));
  EXPECT_EQ(door.ask("POST", "/api/v1/session", R"({"token":"wrong-0123456789"})", own).status, 401);
  const auto opened = door.ask("POST", "/api/v1/session", R"({"token":"a-0123456789abcdef%;"})", own);
  EXPECT_EQ(opened.json()["scopes"], (json{"read", "append", "admin"}));
  const auto set = opened.header("set-cookie");
  EXPECT_THAT(set, HasSubstr("HttpOnly; SameSite=Strict"));
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";

  EXPECT_EQ(door.get("/api/v1/head", cookie).status, 200);
  EXPECT_EQ(door.ask("POST", "/api/v1/append", R"({"type":"A","tags":["a"]})", cookie + own).status, 200);
  EXPECT_EQ(
      door.ask("POST", "/api/v1/append", R"({"type":"A","tags":["a"]})", cookie + "Origin: http://evil.example\r\n")
          .status,
      403);
  EXPECT_EQ(door.ask("POST", "/api/v1/append", R"({"type":"A","tags":["a"]})", cookie).status, 403);
  EXPECT_EQ(door.store.read(Query::all()).next_page()->events.size(), 1u);
  EXPECT_THAT(door.ask("DELETE", "/api/v1/session", {}, cookie + own).header("set-cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(RunningDoor().get("/api/v1/session").json()["open"], true);
}

TEST(HttpRoutes, ServeThePageWithItsGuards) {
  const RunningDoor door;
  const auto page = door.get("/");
  ASSERT_EQ(page.status, 200);
  EXPECT_THAT(page.header("content-type"), HasSubstr("text/html"));
  EXPECT_THAT(page.header("content-security-policy"), HasSubstr("script-src 'self'"));
  EXPECT_THAT(page.header("content-security-policy"), testing::Not(HasSubstr("unsafe")));
  EXPECT_EQ(page.header("x-frame-options"), "DENY");
  EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
  const auto same = door.get("/", "If-None-Match: \"x\", W/" + page.header("etag") + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  const auto script = door.get("/assets/page.js"),
             zipped = door.get("/assets/page.js", "Accept-Encoding: br, gzip;q=0.5\r\n");
  EXPECT_EQ(script.header("content-encoding"), "");
  EXPECT_EQ(zipped.header("content-encoding"), "gzip");
  EXPECT_LT(zipped.body.size(), script.body.size());
  EXPECT_EQ(door.get("/assets/page.js", "Accept-Encoding: gzip;q=0\r\n").header("content-encoding"), "");
  EXPECT_EQ(door.get("/assets/../CMakeLists.txt").status, 404);
  EXPECT_EQ(door.get("/assets/nothing.js").status, 404);
  EXPECT_EQ(door.get("/api/v1/head").header("cache-control"), "no-store");
}

TEST(HttpRoutes, GiveBytesAsTheyWereStored) {
  RunningDoor door;
  Event event;
  event.type = "Odd\xE2\x80\xA8</script>";
  event.tags = {"a\"b\\c\nd"};
  event.payload = std::string("\x00\xff\r\n", 4);
  event.metadata = R"({"big":12345678901234567890123})";
  ASSERT_TRUE(door.store.append(Append{}.event(event)));

  const auto answer = door.get("/api/v1/events/1");
  EXPECT_EQ(answer.json()["type"], event.type);
  EXPECT_EQ(answer.json()["tags"][0], event.tags[0]);
  EXPECT_EQ(answer.json()["payload"], "AP8NCg==");
  EXPECT_THAT(answer.body, HasSubstr("12345678901234567890123"));
}

TEST(HttpRoutes, AnswerInGzipWhereItIsAskedForAndWorthIt) {
  RunningDoor door;
  for (int i = 0; i < 50; ++i)
    append_one(door.store, "order-" + std::to_string(i), "Placed", {"tag"},
               R"({"article":"of some length, and again the same"})");
  const std::string gzip = "Accept-Encoding: br, gzip\r\n";
  const auto plain = door.get("/api/v1/events"), packed = door.get("/api/v1/events", gzip);
  EXPECT_EQ(plain.header("content-encoding"), "");
  ASSERT_EQ(packed.header("content-encoding"), "gzip");
  EXPECT_EQ(packed.header("vary"), "Accept-Encoding");
  EXPECT_LT(packed.body.size(), plain.body.size() / 4);
  const auto bytes = serving::unpacked_bytes(packed.body, 1u << 20);
  ASSERT_TRUE(bytes);
  std::string again(*bytes, '?');
  ASSERT_TRUE(serving::unpack(packed.body, again));
  EXPECT_EQ(again, plain.body);

  EXPECT_EQ(door.get("/api/v1/events", "Accept-Encoding: gzip;q=0\r\n").header("content-encoding"), "");
  EXPECT_EQ(door.get("/api/v1/head", gzip).header("content-encoding"), "") << "too small to be worth it";
  EXPECT_EQ(door.get("/metrics", gzip).header("content-encoding"), "gzip");
  auto live = door.client();
  live.send("GET /api/v1/live/events HTTP/1.1\r\nHost: localhost\r\n" + gzip + "\r\n");
  EXPECT_EQ(live.read_event().value().name, "event") << "a live stream is read as it comes";
}

}  // namespace
}  // namespace evershard
