// `evershard projection`, `index`, `table`: the same in place and of a server.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ProjectionCommands : public Program {
 protected:
  ProjectionCommands() { ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1); }

  /// At `store`: --data DIR or --server ADDRESS.
  Finished at(Words words, std::string_view input = {}) {
    words.insert(words.end(), store_.begin(), store_.end());
    return evershard(words, input);
  }
  std::vector<Json> lines(Words words) {
    words.insert(words.end(), {"--format", "jsonl"});
    const auto finished = at(words);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json_lines(finished.out);
  }
  Json one(Words words, std::string_view input = {}) {
    words.insert(words.end(), {"--format", "json"});
    const auto finished = at(words, input);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return finished.status == 0 ? Json::parse(finished.out) : Json();
  }
  Json refused(Words words, int status, std::string_view input = {}) {
    words.insert(words.end(), {"--format", "json"});
    const auto finished = at(words, input);
    EXPECT_EQ(finished.status, status) << finished.out << finished.err;
    return finished.status == 0 ? Json() : error_of(finished);
  }
  std::string reason(Words words, int status, std::string_view input = {}) {
    return refused(std::move(words), status, input).at("message").get<std::string>();
  }
  void walk() {
    tables();
    indexes();
    what_is_wrong();
  }

  void tables();
  void indexes();
  void what_is_wrong();

  Words store_;
};

/// As examples/tables and the README show it.
void ProjectionCommands::tables() {
  const std::string example = std::string(EVERSHARD_EXAMPLES) + "/tables/orders";
  ASSERT_EQ(at({"append", "--jsonl", example + ".jsonl"}).status, 0);
  const Json made = one({"projection", "create", "orders", example + ".json", "--wait"});
  EXPECT_EQ(made["kind"], "table");
  EXPECT_EQ(made["versions"][0]["complete"], true);

  const auto all = lines(
      {"table", "select", "orders", "--order", "-total", "--field", "order", "--field", "total", "--field", "state"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].dump(), R"({"order":"order-1","total":52,"state":"invoiced"})");
  EXPECT_EQ(all[1].dump(), R"({"order":"order-2","total":40,"state":"open"})")
      << "its invoice's number was taken: the event is parked";
  EXPECT_EQ(lines({"table", "select", "orders", "--where", "city = :c AND total > ?1", "--param", "c=Oslo", "--param",
                   "1=50"})
                .size(),
            1u);
  EXPECT_EQ(lines({"table", "select", "orders", "--limit", "1"}).size(), 1u);
  EXPECT_THAT(one({"table", "select", "orders", "--where", "customer = 'ann'", "--explain"})["plan"].get<std::string>(),
              HasSubstr("index customer"));
  EXPECT_EQ(one({"table", "describe", "orders"})["rows"], 2);
  EXPECT_EQ(lines({"table", "list"}).size(), 1u);
  EXPECT_THAT(at({"table", "select", "orders", "--format", "table"}).out,
              AllOf(HasSubstr("order-1"), HasSubstr("2026-01-31T12:00:00")));

  const auto parked = lines({"table", "parked", "orders"});
  ASSERT_EQ(parked.size(), 1u);
  EXPECT_EQ(parked[0]["kind"], "unique");
  EXPECT_EQ(parked[0]["aggregate"], "order-2");
  const std::string position = parked[0]["position"].dump();
  ASSERT_EQ(at({"append", "--aggregate", "order-1", "--type", "OrderCancelled"}).status, 0);
  const Json retried = one({"table", "retry", "orders", "--position", position});
  EXPECT_EQ(lines({"table", "select", "orders", "--where", "invoice = '2026-1'", "--at-least",
                   retried["position"].dump()})[0]["order"],
            "order-2");
  EXPECT_TRUE(lines({"table", "parked", "orders"}).empty());
  EXPECT_EQ(at({"table", "discard", "orders", "--all"}).status, 0);

  EXPECT_EQ(one({"projection", "pause", "orders"})["paused"], true);
  ASSERT_EQ(at({"append", "--aggregate", "note-1", "--type", "Noted"}).status, 0);
  EXPECT_EQ(lines({"table", "select", "orders"}).size(), 1u)
      << "paused, it is read as it is, also where the store has gone on";
  EXPECT_EQ(one({"projection", "resume", "orders"})["paused"], false);

  std::string changed =
      std::string(
          R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"sum","type":"integer","nullable":true}],)") +
      R"("rules":[{"types":["OrderPlaced"],"action":"upsert","key":"aggregate","fields":{"sum":"$.items[0].price"}}]})";
  const std::string last =
      one({"projection", "describe", "orders"})["last"].dump();  // what was retried and given up is in it
  const Json now = one({"projection", "change", "orders", "-", "--expected", last, "--wait"}, changed);
  EXPECT_EQ(now["versions"].back()["serving"], true);
  EXPECT_EQ(lines({"table", "select", "orders", "--where", "sum >= 5"}).size(), 3u)
      << "an order that was cancelled stays: nothing deletes it any more";
  EXPECT_EQ(refused({"projection", "change", "orders", "-", "--expected", last}, 3, changed)["code"],
            "version_conflict");
}

void ProjectionCommands::indexes() {
  const Json by_price = one({"index", "create", "by-price", "--type", "OrderPlaced", "--path", "$.items[0].price",
                             "--value", "integer", "--wait"});
  EXPECT_EQ(by_price["versions"][0]["figures"]["entries"], 3);
  const auto dear = lines({"index", "read", "by-price", "--from", "10", "--backwards", "--events"});
  ASSERT_EQ(dear.size(), 2u);
  EXPECT_EQ(dear[0]["value"], 40);
  EXPECT_EQ(dear[0]["event"]["aggregate"], "order-2");
  EXPECT_EQ(lines({"index", "read", "by-price", "--equal", "5"}).size(), 1u);

  const Json numbered = one({"index", "create", "--type", "OrderPlaced", "--type", "ItemAdded", "--wait"});
  EXPECT_EQ(one({"index", "create", "--type", "ItemAdded", "--type", "OrderPlaced"})["name"], numbered["name"])
      << "the same query shares one";
  const auto second =
      lines({"index", "read", "--type", "OrderPlaced", "--type", "ItemAdded", "--start", "2", "--limit", "2"});
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0]["number"], 2);
  EXPECT_EQ(lines({"index", "list"}).size(), 2u);
  EXPECT_EQ(lines({"projection", "list"}).size(), 3u);

  EXPECT_EQ(one({"projection", "pause", "by-price"})["paused"], true);
  const Json head =
      one({"append", "--aggregate", "order-9", "--type", "OrderPlaced", "--payload", R"({"items":[{"price":7}]})"});
  EXPECT_EQ(
      refused({"index", "read", "by-price", "--at-least", head["last_position"].dump(), "--timeout", "5"}, 6)["code"],
      "unavailable");
  EXPECT_EQ(one({"projection", "resume", "by-price"})["paused"], false);
  EXPECT_EQ(lines({"index", "read", "by-price", "--equal", "7"}).size(), 1u);
  for (const auto* ask : {"reset", "rebuild"}) {
    EXPECT_EQ(one({"projection", ask, "by-price"})["name"], "by-price");
    EXPECT_EQ(lines({"index", "read", "by-price", "--from", "0"}).size(), 4u) << ask;
  }
  EXPECT_EQ(one({"projection", "describe", "by-price"})["spec"]["path"], "$.items[0].price");
  EXPECT_EQ(one({"index", "drop", "by-price"})["dropped"], "by-price");
  EXPECT_EQ(refused({"index", "read", "by-price"}, 4)["code"], "not_found");
  EXPECT_THAT(reason({"index", "read", "--type", "Nobody"}, 4), HasSubstr("no index of this query"));
}

void ProjectionCommands::what_is_wrong() {
  EXPECT_THAT(reason({"index", "create", "x", "--type", "A", "--path", "items.0.sku"}, 5), HasSubstr("$.items[0].sku"));
  EXPECT_THAT(reason({"projection", "create", "x", "-"}, 5,
                     R"({"fields":[{"name":"a","type":"text","role":"kay"}],"rules":[]})"),
              HasSubstr("did you mean key?"));
  EXPECT_THAT(
      reason(
          {"projection", "create", "x", "-"}, 5,
          R"({"fields":[{"name":"a","type":"text","role":"key"}],"rules":[{"types":["A"],"action":"upsert","key":"/a"}]})"),
      HasSubstr("/a"));
  EXPECT_EQ(refused({"projection", "create", "x", "-"}, 5, "no json")["code"], "invalid_argument");
  EXPECT_EQ(refused({"projection", "create", "x", "-", "--kind", "cube"}, 5, "{}")["code"], "invalid_argument");
  EXPECT_EQ(refused({"projection", "create", "$x", "-"}, 5, "{}")["code"], "invalid_argument");
  EXPECT_EQ(refused({"projection", "create", "x", path("nowhere")}, 4)["code"], "not_found");
  EXPECT_EQ(
      refused(
          {"projection", "create", "orders", "-"}, 3,
          R"({"fields":[{"name":"a","type":"text","role":"key"}],"rules":[{"types":["A"],"action":"upsert","key":"aggregate"}]})")
          ["code"],
      "already_exists");
  EXPECT_EQ(refused({"projection", "change", "none", "-"}, 4, "{}")["code"], "not_found");
  EXPECT_EQ(refused({"projection", "drop", "none"}, 4)["code"], "not_found");
  EXPECT_EQ(refused({"index", "drop", "orders"}, 5)["code"], "invalid_argument");
  EXPECT_EQ(refused({"table", "select", "none"}, 4)["code"], "not_found");
  EXPECT_EQ(refused({"table", "select", "orders", "--where", "sum >"}, 5)["code"], "invalid_argument");
  EXPECT_EQ(refused({"table", "select", "orders", "--param", "x"}, 5)["code"], "invalid_argument");
  EXPECT_EQ(refused({"table", "retry", "orders"}, 5)["code"], "invalid_argument");
  for (const auto* verb : {"retry", "discard"})
    EXPECT_EQ(refused({"table", verb, "orders", "--position", "1"}, 4)["code"], "not_found")
        << "nothing is parked there";
  EXPECT_THAT(reason({"table", "select", "orders", "--where", "order = '\xff'"}, 5), HasSubstr("filter: not UTF-8"));
  EXPECT_THAT(reason({"projection", "create", "x", "-"}, 5, "\xff\xfe"), HasSubstr("not UTF-8"));
  EXPECT_THAT(reason({"table", "select", "orders", "--field", "sum", "--field", "sum"}, 5), HasSubstr("named twice"));
  EXPECT_EQ(at({"projection", "create", "x"}).status, 2);
  EXPECT_EQ(at({"index", "create", "x", "--type", "A"}).status, 2);
  EXPECT_EQ(lines({"projection", "list"}).size(), 2u) << "nothing came of it";
  EXPECT_EQ(one({"projection", "drop", "orders"})["dropped"], "orders");
  EXPECT_EQ(refused({"table", "select", "orders"}, 4)["code"], "not_found");
}

TEST_F(ProjectionCommands, InPlace) {
  store_ = {"--data", store("shop")};
  walk();
}

TEST_F(ProjectionCommands, OfAServer) {
  Process server(words({"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--log-file", path("log")}));
  const auto ready = server.lines(1, seconds(60));
  ASSERT_FALSE(ready.empty()) << server.errors();
  const auto rest = ready.front().substr(6);
  store_ = {"--server", rest.substr(0, rest.find(' '))};
  walk();
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

std::string many_events(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    const auto n = std::to_string(i);
    lines += R"({"aggregate":"order-)" + n + R"(","type":"Placed","payload":{"n":)" + n +
             R"(,"who":"somebody whose name is not short at all"}})" + "\n";
  }
  return lines;
}

// What builds it is the command itself, and nothing goes on behind it.
TEST_F(ProjectionCommands, WaitForWhatTheyBuildThemselvesHoweverLongThatTakes) {
  store_ = {"--data", store()};
  append(store_[1], many_events(60'000));
  EXPECT_EQ(at({"index", "create", "by-n", "--type", "Placed", "--path", "$.n", "--value", "integer", "--wait",
                "--timeout", "1"})
                .status,
            0);
  EXPECT_EQ(lines({"index", "read", "by-n", "--from", "59998", "--timeout", "1"}).size(), 2u);
  EXPECT_EQ(refused({"index", "read", "by-n", "--at-least", "1000000"}, 7)["code"], "timeout")
      << "nobody else writes what is not there";
}

// Their output is full before they are through, so that the signal comes in their middle.
TEST_F(ProjectionCommands, StopInTheirMiddleAndSaySo) {
  const std::string data = store();
  store_ = {"--data", data};
  append(data, many_events(5'000));
  ASSERT_EQ(at({"index", "create", "by-n", "--type", "Placed", "--path", "$.n", "--value", "integer", "--wait"}).status,
            0);
  const auto index = one({"index", "create", "--type", "Placed", "--wait"})["name"].get<std::string>();
  write_file("order.json", R"({"events":{"Placed":{"merge":true}}})");
  ASSERT_EQ(at({"document", "define", "order", path("order.json")}).status, 0);
  for (const Words& list : {Words{"index", "read", "by-n", "--events"}, Words{"index", "read", index, "--events"},
                            Words{"document", "list", "order"}}) {
    const auto pipe = path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int out = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
    ASSERT_GE(out, 0);
    Words asked = list;
    asked.insert(asked.end(), {"--limit", "5000", "--format", "jsonl", "--data", data});
    Process listing(words(asked), {.output_file = pipe});
    pollfd readable{out, POLLIN, 0};
    ASSERT_EQ(::poll(&readable, 1, 60'000), 1);
    listing.signal(SIGINT);
    std::atomic<bool> ended = false;
    std::size_t entries = 0;
    std::thread reading([&] {
      std::string part(64u << 10, '\0');
      for (bool last = false;;) {
        const auto got = ::read(out, part.data(), part.size());
        if (got > 0)
          entries += static_cast<std::size_t>(std::count(part.begin(), part.begin() + got, '\n'));
        else if (std::exchange(last, ended.load()))
          break;
        else
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    const auto finished = listing.wait();
    ended = true;
    reading.join();
    ::close(out);
    ::unlink(pipe.c_str());
    EXPECT_EQ(finished.status, 130) << list[0] << ' ' << list[1] << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("in the middle"));
    EXPECT_LT(entries, 5'000u);
  }
}

TEST_F(ProjectionCommands, ATableThatStopsAtAnEventSaysWhereAndWhyInAnyProcess) {
  store_ = {"--data", store("shop")};
  const auto event = [&](const char* type, const char* payload) {
    EXPECT_EQ(at({"append", "--aggregate", "order-1", "--type", type, "--payload", payload}).status, 0);
  };
  event("Placed", R"({"total":1})");
  event("Seen", "{}");
  event("Seen", "{}");
  event("Placed", R"({"total":"many"})");
  write_file("totals.json",
             R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"total","type":"integer"}],
    "rules":[{"types":["Placed"],"action":"upsert","key":"aggregate","fields":{"total":"$.total"}}]})");
  ASSERT_EQ(at({"projection", "create", "totals", path("totals.json")}).status, 0);

  for (int process = 0; process < 2; ++process) {
    const auto version = one({"projection", "describe", "totals"}).at("versions").at(0);
    EXPECT_EQ(version.at("state"), "failed");
    EXPECT_EQ(version.at("position"), 3);
    EXPECT_EQ(version.at("error").at("position"), 4);
    const auto table = one({"table", "describe", "totals"});
    EXPECT_EQ(table.at("position"), 3);
    EXPECT_THAT(table.at("error").get<std::string>(), HasSubstr("total"));
    EXPECT_EQ(lines({"table", "list"}).at(0).at("error"), table.at("error"));
    EXPECT_EQ(lines({"projection", "list"}).at(0).at("versions").at(0).at("state"), "failed");
    const auto rows = at({"table", "select", "totals"});
    EXPECT_EQ(rows.status, 6) << "its rows are shown, and that they are old";
    EXPECT_THAT(rows.out, HasSubstr("order-1"));
    EXPECT_THAT(rows.err, HasSubstr("rows as of position 3"));
  }
}

TEST_F(ProjectionCommands, NameNoTypeOfTheStoresThatThereIsNot) {
  const std::string data = store("own-types");
  const Words definitions[] = {
      {"index", "create", "--type", "$AggregateRemovd"},
      {"index", "create", "by", "--type", "$AggregateRemovd", "--path", "$.a", "--value", "text"},
      {"group", "create", "g", "--type", "$AggregateRemovd"}};
  for (auto words : definitions) {
    words.insert(words.end(), {"--data", data, "--format", "json"});
    const Finished done = evershard(words);
    EXPECT_EQ(done.status, 5) << words[0] << ' ' << done.err;
    EXPECT_THAT(done.err, ::testing::HasSubstr("$AggregateRemoved")) << words[0];
  }
  EXPECT_EQ(evershard({"index", "create", "--type", "$AggregateRemoved", "--data", data}).status, 0);
}

// A select gave 0 rows with status 0, and `verify` found nothing.
TEST_F(ProjectionCommands, RowsThatCannotBeReadAreFoundAndMadeAnewBeforeTheyAreRead) {
  const std::string data = store();
  store_ = {"--data", data};
  const std::string example = std::string(EVERSHARD_EXAMPLES) + "/tables/orders";
  ASSERT_EQ(at({"append", "--jsonl", example + ".jsonl"}).status, 0);
  (void)one({"projection", "create", "orders", example + ".json", "--wait"});
  EXPECT_EQ(at({"verify"}).status, 0);

  for (const auto& file : std::filesystem::directory_iterator(data + "/projections"))
    if (file.path().filename().string().starts_with("MANIFEST-"))
      std::ofstream(file.path(), std::ios::trunc) << "nonsense";
  const auto verified = at({"verify"});
  EXPECT_EQ(verified.status, 8) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("the database projections cannot be opened"));

  EXPECT_EQ(lines({"table", "select", "orders"}).size(), 2u);
  EXPECT_EQ(at({"verify"}).status, 0);
}

}  // namespace
}  // namespace evershard::testing
