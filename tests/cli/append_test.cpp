// `evershard append`, one event from flags.

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;

class AppendCommand : public Program {};

TEST_F(AppendCommand, StoresWhatItsFlagsSay) {
  const std::string data = store();
  write_file("binary", std::string("\x00\x01\n\xff", 4));

  const Finished done = evershard({"append",
                                   "--data",
                                   data,
                                   "--aggregate",
                                   "order-1",
                                   "--type",
                                   "OrderPlaced",
                                   "--tag",
                                   "customer:42",
                                   "--tag",
                                   "--odd=tag",
                                   "--also",
                                   "customer-42",
                                   "--payload-file",
                                   path("binary"),
                                   "--payload-format",
                                   "1000",
                                   "--metadata",
                                   R"({"by":"me"})",
                                   "--id",
                                   id(7),
                                   "--occurred-at",
                                   "2026-01-31T13:00:00+01:00",
                                   "--expect",
                                   "none"});

  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(Json::parse(done.out),
            Json::parse(R"({"first_position":1,"last_position":1,"versions":{"order-1":1},"duplicate":false})"));
  Json event = shown({"read", "--data", data}).at(0);
  event.erase("shard");
  EXPECT_EQ(
      event.dump(),
      R"({"position":1,"offset":1,"id":")" + id(7) +
          R"(","aggregate":"order-1","seq_nr":1,"type":"OrderPlaced","tags":["--odd=tag","customer:42"],"also":["customer-42"],)"
          R"("payload":"AAEK/w==","payload_encoding":"base64","payload_format":1000,"metadata":{"by":"me"},)"
          R"("occurred_at":"2026-01-31T12:00:00.000000Z"})");
}

TEST_F(AppendCommand, KeepsTheBytesOfAJsonPayload) {
  const std::string data = store();
  const std::string payload = R"({"b":1.50,"a":12345678901234567890123,"a":[ 1 ,2],"t":"\u00e4ä"})";

  ASSERT_EQ(evershard({"append", "--data", data, "--type", "X", "--payload", "  " + payload + " "}).status, 0);

  EXPECT_THAT(evershard({"read", "--data", data}).out, HasSubstr("\"payload\":" + payload + ","));
}

TEST_F(AppendCommand, TakesAnEmptyPayloadAndALargeOne) {
  const std::string data = store();
  write_file("large", std::string(1u << 20, 'x'));
  write_file("too-large", std::string((1u << 20) + 1, 'x'));

  const Finished empty = evershard({"append", "--data", data, "--type", "Empty"});
  const Finished large = evershard({"append", "--data", data, "--type", "Large", "--payload-file", path("large")});
  const Finished too_large = evershard(
      {"append", "--data", data, "--type", "TooLarge", "--payload-file", path("too-large"), "--format", "json"});

  EXPECT_EQ(empty.status, 0) << empty.err;
  EXPECT_EQ(large.status, 0) << large.err;
  EXPECT_EQ(too_large.status, 5);
  EXPECT_EQ(error_of(too_large).at("code"), "too_large");
  EXPECT_FALSE(shown({"query", "--type", "Empty", "--data", data}).at(0).contains("payload"));
  EXPECT_EQ(head(data), 2u);
}

TEST_F(AppendCommand, IsRefusedByTheVersionWithWhatDecidedIt) {
  const std::string data = store();
  append(data, R"({"aggregate":"order-1","type":"A"})"
               "\n"
               R"({"aggregate":"order-1","type":"B"})"
               "\n");

  for (const auto* expected : {"none", "1", "3"}) {
    const Finished done = evershard(
        {"append", "--data", data, "--aggregate", "order-1", "--type", "C", "--expect", expected, "--format", "json"});

    EXPECT_EQ(done.status, 3) << expected;
    const Json error = error_of(done);
    EXPECT_EQ(error.at("code"), "version_conflict");
    EXPECT_EQ(error.at("aggregate"), "order-1");
    EXPECT_EQ(error.at("actual"), 2);
    EXPECT_EQ(done.out, "");
  }
  EXPECT_EQ(evershard({"append", "--data", data, "--aggregate", "order-2", "--type", "C", "--expect", "exists"}).status,
            3);
  EXPECT_EQ(head(data), 2u);
  for (const auto* expected : {"2", "exists", "any"}) {
    EXPECT_EQ(
        evershard({"append", "--data", data, "--aggregate", "order-1", "--type", "C", "--expect", expected}).status, 0)
        << expected;
  }
}

TEST_F(AppendCommand, IsRefusedByItsConditionWithTheEventThatBrokeIt) {
  const std::string data = store();
  append(data, R"({"type":"A","tags":["t:1"]})"
               "\n"
               R"({"type":"B","tags":["t:1"]})"
               "\n");
  const std::string tagged = R"({"items":[{"tags":["t:1"],"types":["B","C"]}]})";
  const std::string other = R"({"items":[{"types":["None"]}]})";

  const Finished refused = evershard({"append", "--data", data, "--type", "C", "--fail-if", other, "--fail-if", tagged,
                                      "--after", "1", "--format", "jsonl"});
  const Finished stored =
      evershard({"append", "--data", data, "--type", "C", "--fail-if", tagged, "--after", "2", "--fail-if", other});

  EXPECT_EQ(refused.status, 3);
  EXPECT_EQ(error_of(refused).at("code"), "condition_failed");
  EXPECT_EQ(error_of(refused).at("condition"), 1);
  EXPECT_EQ(error_of(refused).at("position"), 2);
  EXPECT_EQ(stored.status, 0) << stored.err;
}

TEST_F(AppendCommand, StoresTheSameRequestOnce) {
  const std::string data = store();
  const Words request{"append", "--data", data,       "--aggregate", "order-1",   "--type", "A",
                      "--id",   id(1),    "--expect", "none",        "--payload", "1"};
  Words other = request;
  other.back() = "2";

  const Finished first = evershard(request);
  const Finished again = evershard(request);
  const Finished changed = evershard(other);

  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out).at("duplicate"), true);
  EXPECT_EQ(Json::parse(again.out).at("first_position"), 1);
  EXPECT_EQ(changed.status, 3);
  EXPECT_THAT(changed.err, HasSubstr("duplicate_event"));
  EXPECT_EQ(head(data), 1u);
}

TEST_F(AppendCommand, SaysItInWordsToAPerson) {
  const std::string data = store();

  const Finished done =
      evershard({"append", "--data", data, "--aggregate", "order-1", "--type", "A", "--format", "table"});
  const Finished refused = evershard(
      {"append", "--data", data, "--aggregate", "order-1", "--type", "A", "--expect", "none", "--format", "table"});

  EXPECT_EQ(done.out, "stored at position 1; order-1 is at version 1\n");
  EXPECT_EQ(refused.err.substr(0, 29), "evershard: version_conflict: ");
  EXPECT_EQ(refused.out, "");
}

}  // namespace
}  // namespace evershard::testing
