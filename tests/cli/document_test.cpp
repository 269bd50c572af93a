// `evershard document`: the same in place and of a server; a server killed and started again.

#include <signal.h>

#include <map>
#include <random>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* order_definition =
    R"({"events":{"Placed":[{"merge":true},{"set":"status","value":"open"}],"Added":{"increment":"total","from":"price"},"Closed":{"set":"status","value":"closed"}}})";

class DocumentCommands : public Program {
 protected:
  DocumentCommands() {
    ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1);
    write_file("order.json", order_definition);
  }
  std::unique_ptr<Process> serve(const std::string& data) {
    return std::make_unique<Process>(
        words({"serve", "--data", data, "--listen", "127.0.0.1:0", "--log-file", data + ".log"}));
  }
  static std::string address_of(Process& server) {
    const auto ready = server.lines(1, seconds(60));
    if (ready.empty()) return {};
    const auto rest = ready.front().substr(6);
    return rest.substr(0, rest.find(' '));
  }
  /// Through all commands, at `where`.
  void walk(Words where) {
    const auto at = [&](Words words) {
      words.insert(words.end(), where.begin(), where.end());
      return words;
    };
    const auto define = shown(at({"document", "define", "order", path("order.json"), "--expected", "0"}));
    EXPECT_EQ(define.at(0).at("type"), "order");
    EXPECT_EQ(define.at(0).at("version"), 1);
    EXPECT_EQ(error_of(evershard(at(
                           {"document", "define", "order", path("order.json"), "--expected", "0", "--format", "json"})))
                  .at("code"),
              "version_conflict");
    for (int i = 0; i < 5; ++i) {
      const std::string order = "order-" + std::to_string(i);
      EXPECT_EQ(
          evershard(at({"append", "--aggregate", order, "--type", "Placed", "--payload", R"({"who":"ann"})"})).status,
          0);
      EXPECT_EQ(evershard(at({"append", "--aggregate", order, "--type", "Added", "--payload",
                              "{\"price\":" + std::to_string(i) + "}"}))
                    .status,
                0);
    }
    const Json one = shown(at({"document", "get", "order-3"})).at(0);
    EXPECT_EQ(one.at("document").dump(), R"({"status":"open","total":3,"who":"ann"})");
    EXPECT_EQ(one.at("version"), 2);
    EXPECT_EQ(shown(at({"document", "list", "order"})).size(), 5u);
    EXPECT_EQ(shown(at({"document", "list", "order", "--at-least",
                        shown(at({"document", "get", "order-4"})).at(0).at("position").dump()}))
                  .size(),
              5u);
    EXPECT_EQ(evershard(at({"document", "list", "order", "--at-least", "1000000", "--timeout", "1"})).status, 7);
    EXPECT_EQ(evershard(at({"document", "list", "order", "--at-least", "1", "--eventual"})).status, 5);
    const auto some = shown(at({"document", "list", "order", "--filter", "total >= 3"}));
    ASSERT_EQ(some.size(), 2u);
    EXPECT_EQ(some[0], one);
    EXPECT_EQ(shown(at({"document", "list", "order", "--after", "1", "--limit", "2"})).at(0).at("aggregate"),
              "order-2");
    EXPECT_THAT(evershard(at({"document", "list", "order", "--limit", "2"})).err,
                HasSubstr("there is more: --after 1 goes on"));
    EXPECT_EQ(evershard(at({"document", "list", "order", "--limit", "5"})).err, "");
    EXPECT_EQ(evershard(at({"document", "list", "order", "--filter", "total >"})).status, 5);
    EXPECT_EQ(evershard(at({"document", "remove", "order-3"})).status, 0);
    EXPECT_EQ(evershard(at({"document", "get", "order-3"})).status, 4);
    EXPECT_EQ(shown(at({"document", "list", "order"})).size(), 4u);
    EXPECT_EQ(evershard(at({"append", "--aggregate", "order-3", "--type", "Closed"})).status, 0);
    EXPECT_EQ(shown(at({"document", "get", "order-3"})).at(0).at("document").at("status"), "closed");
    EXPECT_EQ(shown(at({"document", "definitions"})).size(), 1u);
    EXPECT_EQ(one.at("definition"), 1);
    EXPECT_EQ(shown(at({"document", "get", "order-4", "--eventual", "--at-least",
                        shown(at({"document", "get", "order-4"})).at(0).at("position").dump()}))
                  .size(),
              1u);
    EXPECT_EQ(evershard(at({"document", "get", "order-4", "--at-least", "1000000", "--timeout", "1"})).status, 7);
    EXPECT_EQ(shown(at({"document", "define", "order", path("order.json")})).at(0).at("version"), 1)
        << "the same again is no change";
    EXPECT_EQ(shown(at({"document", "define", "order", path("order.json"), "--rebuild", "--wait"})).at(0).at("version"),
              2);
    const Json described = shown(at({"document", "describe", "order"})).at(0);
    EXPECT_EQ(described.at("versions").back().at("version"), 2);
    EXPECT_EQ(described.at("versions").back().at("serving"), true);
    EXPECT_EQ(evershard(at({"document", "list", "order", "--definition", "1"})).status, 4) << "kept no more";
    EXPECT_THAT(evershard(at({"document", "get", "order-3", "--format", "table"})).out,
                HasSubstr("\"status\": \"closed\""));
    EXPECT_EQ(evershard(at({"document", "drop", "order"})).status, 0);
    EXPECT_EQ(evershard(at({"document", "drop", "order"})).status, 4);
    EXPECT_EQ(evershard(at({"document", "get", "order-3"})).status, 4);
    EXPECT_EQ(evershard(at({"document", "list", "order"})).status, 4);
    EXPECT_EQ(evershard(at({"document", "define", "order", "-"}), "{}").status, 5);
    EXPECT_EQ(evershard(at({"document", "define", "order", path("nowhere")})).status, 4);
  }
};

TEST_F(DocumentCommands, InPlace) { walk({"--data", store("shop")}); }

TEST_F(DocumentCommands, OfAServer) {
  auto server = serve(path("served"));
  walk({"--server", address_of(*server)});
  server->signal(SIGTERM);
  EXPECT_EQ(server->wait().status, 0);
}

TEST_F(DocumentCommands, MadeAgainAfterAnErasureTheyAreWithoutThePerson) {
  const auto data = store("shop"), keys = path("keys");
  const auto at = [&](Words words) {
    for (const auto& word : {std::string("--data"), data, std::string("--keys"), keys}) words.push_back(word);
    return words;
  };
  ASSERT_EQ(evershard(at({"append", "--aggregate", "order-1", "--type", "Placed", "--payload", R"({"who":"ada"})",
                          "--subject", "person-17"}))
                .status,
            0);
  ASSERT_EQ(
      evershard(at({"append", "--aggregate", "order-2", "--type", "Placed", "--payload", R"({"who":"bob"})"})).status,
      0);
  ASSERT_EQ(evershard(at({"document", "define", "order", path("order.json"), "--wait"})).status, 0);
  EXPECT_THAT(evershard(at({"document", "list", "order", "--format", "jsonl"})).out, HasSubstr("ada"));
  ASSERT_EQ(evershard(at({"retention", "erase", "person-17", "--yes"})).status, 0);

  ASSERT_EQ(evershard(at({"document", "define", "order", path("order.json"), "--rebuild"})).status, 0);

  // In processes that end as soon as they have answered.
  const auto listed = evershard(at({"document", "list", "order", "--format", "jsonl"}));
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, ::testing::Not(HasSubstr("ada")));
  EXPECT_THAT(listed.out, HasSubstr("bob"));
  EXPECT_THAT(evershard(at({"document", "get", "order-1", "--eventual", "--format", "jsonl"})).out,
              ::testing::Not(HasSubstr("ada")));
}

TEST_F(DocumentCommands, KilledAtAnyPointEveryDocumentIsWhatItsEventsMake) {
  const char* set = std::getenv("EVERSHARD_ROUNDS");
  const int rounds = set != nullptr ? std::atoi(set) : 5;
  const std::string data = path("killed");
  std::mt19937_64 random(11);
  for (int round = 0; round < rounds; ++round) {
    auto server = serve(data);
    const std::string address = address_of(*server);
    ASSERT_FALSE(address.empty()) << server->errors();
    if (round == 0) {
      ASSERT_EQ(evershard({"document", "define", "order", path("order.json"), "--server", address}).status, 0);
    }
    std::string lines;
    for (int i = 0; i < 600; ++i) {
      lines += R"({"aggregate":"order-)" + std::to_string(random() % 20) + R"(","type":"Added","payload":{"price":)" +
               std::to_string(random() % 9) + "}}\n";
    }
    Process appending(words({"append", "--server", address, "--jsonl", "-", "--timeout", "2"}),
                      {.output_file = path("answers")});
    appending.write(lines);
    appending.close_input();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
    server->signal(SIGKILL);
    (void)server->wait();
    appending.signal(SIGKILL);
    (void)appending.wait();

    std::map<std::string, std::uint64_t> totals;
    const Finished events = evershard({"query", "--type", "Added", "--data", data, "--format", "jsonl"});
    ASSERT_EQ(events.status, 0) << events.err;
    for (const auto& event : json_lines(events.out))
      totals[event.at("aggregate")] += event.at("payload").at("price").get<std::uint64_t>();
    std::map<std::string, std::uint64_t> documents;
    for (const auto& document : shown({"document", "list", "order", "--data", data}))
      documents[document.at("aggregate")] = document.at("document").at("total");
    ASSERT_EQ(documents, totals) << "round " << round;
  }
}

}  // namespace
}  // namespace evershard::testing
