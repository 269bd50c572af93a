// `evershard read`, `query`, `tail`, `aggregate`: what they show, in which order, up to where.

#include <signal.h>

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Reading : public Program {
 protected:
  void SetUp() override {
    data_ = store();
    // 1 order-1 A, 2 order-2 A, 3 order-1 B, 4 without aggregate, 5 order-1 C, 6 customer-7 A about order-1
    append(data_, R"({"aggregate":"order-1","type":"A","tags":["x"],"payload":{"n":1}})"
                  "\n"
                  R"({"aggregate":"order-2","type":"A","tags":["x","y"]})"
                  "\n"
                  R"({"aggregate":"order-1","type":"B","tags":["y"]})"
                  "\n"
                  R"({"type":"B","tags":["x","y"]})"
                  "\n"
                  R"({"aggregate":"order-1","type":"C"})"
                  "\n"
                  R"({"aggregate":"customer-7","type":"A","also":["order-1"]})"
                  "\n");
  }

  std::vector<std::uint64_t> positions(Words given) {
    given.insert(given.end(), {"--data", data_});
    std::vector<std::uint64_t> positions;
    for (const auto& event : shown(given)) positions.push_back(event.at("position"));
    return positions;
  }

  std::string data_;
};

TEST_F(Reading, ShowsEverythingInGlobalOrder) {
  EXPECT_THAT(positions({"read"}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(positions({"read", "--backwards"}), ElementsAre(6, 5, 4, 3, 2, 1));
}

TEST_F(Reading, KeepsToItsRange) {
  EXPECT_THAT(positions({"read", "--after", "4"}), ElementsAre(5, 6));
  EXPECT_THAT(positions({"read", "--before", "3"}), ElementsAre(1, 2));
  EXPECT_THAT(positions({"read", "--up-to", "3"}), ElementsAre(1, 2, 3));
  EXPECT_THAT(positions({"read", "--backwards", "--before", "4", "--limit", "2"}), ElementsAre(3, 2));
  EXPECT_THAT(positions({"read", "--limit", "0"}), IsEmpty());
  EXPECT_THAT(positions({"read", "--per-aggregate", "1"}), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(positions({"read", "--per-aggregate", "1", "--backwards", "--limit", "3"}), ElementsAre(6, 5, 4));
  EXPECT_THAT(positions({"query", "--type", "A", "--type", "B", "--per-aggregate", "1", "--after", "1"}),
              ElementsAre(2, 3, 4, 6));
  EXPECT_THAT(positions({"read", "--after", "6"}), IsEmpty());
}

TEST_F(Reading, ShowsAnAggregateByItsNumbers) {
  EXPECT_THAT(positions({"read", "order-1"}), ElementsAre(1, 3, 5));
  EXPECT_THAT(positions({"read", "order-1", "--from", "2"}), ElementsAre(3, 5));
  EXPECT_THAT(positions({"read", "order-1", "--backwards", "--from", "2"}), ElementsAre(3, 1));
  EXPECT_THAT(positions({"read", "order-1", "--up-to", "4"}), ElementsAre(1, 3));
  EXPECT_THAT(positions({"aggregate", "history", "order-1", "--limit", "1"}), ElementsAre(1));
}

TEST_F(Reading, SaysThatAnAggregateIsNotThere) {
  for (const auto& given :
       {Words{"read", "order-9"}, {"aggregate", "show", "order-9"}, {"aggregate", "history", "Order-1"}}) {
    Words all = given;
    all.insert(all.end(), {"--data", data_, "--format", "json"});

    const Finished done = evershard(all);

    EXPECT_EQ(done.status, 4) << ::testing::PrintToString(given);
    EXPECT_EQ(error_of(done).at("code"), "not_found");
  }
}

TEST_F(Reading, AsksByTypeAndTag) {
  EXPECT_THAT(positions({"query", "--type", "A"}), ElementsAre(1, 2, 6));
  EXPECT_THAT(positions({"query", "--type", "A", "--type", "C"}), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(positions({"query", "--tag", "x", "--tag", "y"}), ElementsAre(2, 4));
  EXPECT_THAT(positions({"query", "--type", "A", "--tag", "y"}), ElementsAre(2));
  EXPECT_THAT(positions({"query", "--type", "C", "--or", "--tag", "x", "--type", "B"}), ElementsAre(4, 5));
  EXPECT_THAT(positions({"query", "--concerning", "order-1"}), ElementsAre(1, 3, 5, 6));
  EXPECT_THAT(positions({"query", "--tag", "none"}), IsEmpty());
  EXPECT_THAT(positions({"query", "--tag", "x", "--up-to", "3", "--backwards"}), ElementsAre(2, 1));
  EXPECT_THAT(
      positions({"query", "--query",
                 R"({"items":[{"types":["C"]},{"tags":["x","y"],"types":["A"]},{"concerning":["customer-7"]}]})"}),
      ElementsAre(2, 5, 6));
  EXPECT_THAT(positions({"query", "--query", R"({"all":true})", "--limit", "2"}), ElementsAre(1, 2));
}

TEST_F(Reading, ShowsATableAnArrayOrLines) {
  const Finished table = evershard({"read", "order-1", "--data", data_, "--format", "table"});
  const Finished array = evershard({"read", "--data", data_, "--format", "json"});
  const Finished none = evershard({"query", "--tag", "none", "--data", data_, "--format", "json"});

  EXPECT_EQ(table.out.substr(0, 8), "POSITION");
  EXPECT_THAT(table.out, HasSubstr(R"({"n":1})"));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 4);
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(array.out).size(), 6u);
  EXPECT_EQ(Json::parse(none.out), Json::array());
  EXPECT_EQ(evershard({"query", "--tag", "none", "--data", data_, "--format", "table"}).out, "(none)\n");
}

TEST_F(Reading, ListsAggregatesInOrder) {
  const auto all = shown({"aggregate", "list", "--data", data_});
  const auto orders = shown({"aggregate", "list", "--data", data_, "--type", "order", "--after", "order-1"});
  const auto one = shown({"aggregate", "show", "order-1", "--data", data_, "--up-to", "4"});

  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("aggregate"), "customer-7");
  EXPECT_EQ(all[1].at("version"), 3);
  EXPECT_EQ(all[1].at("last_position"), 5);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].at("aggregate"), "order-2");
  EXPECT_EQ(one.at(0).at("version"), 2);
  EXPECT_EQ(shown({"aggregate", "list", "--data", data_, "--limit", "2"}).size(), 2u);
}

TEST_F(Reading, ListsTheStoresOwnAggregatesOnlyWhereTheyAreAskedFor) {
  for (const auto* id : {"a", "b"}) {
    ASSERT_EQ(evershard({"schedule", "append", "--in", "1h", "--data", data_, "--schedule-id", id, "--aggregate",
                         "order-9", "--type", "T", "--payload", "1"})
                  .status,
              0);
  }
  const auto names = [&](Words more) {
    std::vector<std::string> found;
    Words words{"aggregate", "list", "--data", data_};
    words.insert(words.end(), more.begin(), more.end());
    for (const auto& one : shown(words)) found.push_back(one.at("aggregate"));
    return found;
  };
  EXPECT_THAT(names({}), ElementsAre("customer-7", "order-1", "order-2"));
  EXPECT_THAT(names({"--limit", "1"}), ElementsAre("customer-7")) << "those that are passed over do not count";
  EXPECT_THAT(names({"--all"}), ElementsAre("$schedule-a", "$schedule-b", "customer-7", "order-1", "order-2"));
  EXPECT_THAT(names({"--type", "$schedule"}), ElementsAre("$schedule-a", "$schedule-b"));
}

TEST_F(Reading, ShowsThePositionAtATime) {
  const auto at = [&](Words given) {
    given.insert(given.begin(), "position");
    given.insert(given.end(), {"--data", data_});
    return shown(given).at(0);
  };
  EXPECT_EQ(at({"--ago", "1h"}), (Json{{"position", 0}}));
  EXPECT_EQ(at({"--ago", "0"}), (Json{{"position", 6}}));
  EXPECT_EQ(at({"--at", "9999-12-31T00:00:00+02:00"}), (Json{{"position", 6}}));
  append(data_, R"({"type":"D","occurred_at":"2999-01-01T00:00:00Z"})"
                "\n");
  EXPECT_EQ(at({"--at", "2998-12-31T23:59:59.999999Z"}), (Json{{"position", 7}})) << "it is there before";
  const auto older = store("older");
  append(older, R"({"type":"A","occurred_at":"2024-01-01T00:00:00Z"})"
                "\n"
                R"({"type":"A","occurred_at":"2024-01-02T00:00:00Z"})"
                "\n");
  EXPECT_EQ(shown({"position", "--data", older, "--at", "2024-01-02T01:59:59+02:00"}).at(0), (Json{{"position", 1}}));
  EXPECT_EQ(shown({"position", "--data", older, "--at", "2024-01-02T02:00:00+02:00"}).at(0), (Json{{"position", 2}}));
  EXPECT_EQ(evershard({"position", "--data", older, "--ago", "1h", "--format", "table"}).out, "position  2\n");

  for (const auto& given : {Words{},
                            {"--at", "yesterday"},
                            {"--at", "2026-01-31"},
                            {"--ago", "5"},
                            {"--ago", "-1h"},
                            {"--at", "2026-01-31T12:00:00Z", "--ago", "1h"}}) {
    Words all{"position", "--data", data_};
    all.insert(all.end(), given.begin(), given.end());
    EXPECT_EQ(evershard(all).status, 2) << ::testing::PrintToString(given);
  }
}

TEST_F(Reading, FollowsUntilItHasCaughtUp) {
  EXPECT_THAT(positions({"tail", "--until-caught-up"}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(positions({"tail", "--until-caught-up", "--type", "A", "--after", "1"}), ElementsAre(2, 6));
  EXPECT_THAT(positions({"tail", "--limit", "2"}), ElementsAre(1, 2));
  EXPECT_THAT(positions({"tail", "--until-caught-up", "--from-now"}), IsEmpty());
}

TEST_F(Reading, FollowsUntilCtrlC) {
  Process process(words({"tail", "--data", data_, "--format", "jsonl"}));
  ASSERT_EQ(process.lines(6).size(), 6u);

  process.signal(SIGTERM);
  const Finished done = process.wait();

  EXPECT_EQ(done.status, 130);
  EXPECT_THAT(error_of(done).at("message").get<std::string>(), HasSubstr("--after 6"));
}

}  // namespace
}  // namespace evershard::testing
