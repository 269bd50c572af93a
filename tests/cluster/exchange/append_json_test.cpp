// An append from a line: every part arrives, and import takes what export adds.

#include "evershard/cluster/exchange/append_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(AppendJson, TakesEveryPart) {
  const auto line = read_append(R"({"events":[{"id":"00000001-0000-4000-8000-000000000000","aggregate":"order-1-a","type":"Placed","tags":["b","a"],"also":["x-1"],
      "payload":{"n":1.0},"payload_format":1002,"metadata":{ },"occurred_at":"1969-12-31T23:59:59.999999Z"},{"type":"Bare"}],
      "expect":[{"aggregate":"order-1-a","version":3},{"aggregate":"x-1","version":"exists"}],
      "fail_if":[{"query":{"items":[{"types":["T"],"tags":["t"],"concerning":["x-1"]},{"tags":["u"]}]},"after":17},{"query":{"all":true}}],
      "request_id":"00000009-0000-4000-8000-000000000000"})", LineRules::append);

  ASSERT_TRUE(line) << line.error().what;
  Append wanted;
  Event event;
  event.id = *EventId::parse("00000001-0000-4000-8000-000000000000");
  event.aggregate = AggregateId{"order", "1-a"};
  event.type = "Placed";
  event.tags = {"b", "a"};
  event.also = {{"x", "1"}};
  event.payload = R"({"n":1.0})";
  event.format = PayloadFormat{1002};
  event.metadata = "{ }";
  event.occurred_at = Timestamp{-1};
  wanted.event(event).event("", "Bare", "");
  wanted.expect("order-1-a", Version::exactly(3)).expect("x-1", Version::exists());
  wanted.fail_if(Query{}.types({"T"}).tags({"t"}).concerning({{"x", "1"}}).or_().tags({"u"}), GlobalPosition{17}).fail_if(Query::all());
  wanted.request(*EventId::parse("00000009-0000-4000-8000-000000000000"));
  EXPECT_EQ(line->append, wanted);
}

TEST(AppendJson, SaysThatAPayloadIsJsonWhereItStandsAsJson) {
  EXPECT_EQ(read_append(R"({"type":"T","payload":7})", LineRules::append)->append.events[0].format, PayloadFormat::json);
  EXPECT_EQ(read_append(R"({"type":"T","payload":"Nw==","payload_encoding":"base64"})", LineRules::append)->append.events[0].format, PayloadFormat::unspecified);
  EXPECT_EQ(read_append(R"({"payload_encoding":"base64","payload":"Nw==","type":"T"})", LineRules::append)->append.events[0].payload, "7");
  EXPECT_EQ(read_append(R"({"type":"T"})", LineRules::append)->append.events[0].format, PayloadFormat::unspecified);
}

TEST(AppendJson, ReadsThePlaceOfAnEventForImportOnly) {
  const std::string line = R"({"position":9,"shard":3,"offset":2,"id":"00000001-0000-4000-8000-000000000000","aggregate":"a-1","seq_nr":4,"type":"T"})";

  const auto imported = read_append(line, LineRules::import);
  const auto appended = read_append(line, LineRules::append);

  ASSERT_TRUE(imported) << imported.error().what;
  EXPECT_EQ(imported->places.at(0).position, GlobalPosition{9});
  EXPECT_EQ(imported->places.at(0).seq_nr, SeqNr{4});
  ASSERT_FALSE(appended);
  EXPECT_THAT(appended.error().what, HasSubstr("position: is the store's to give"));
}

TEST(AppendJson, RefusesToImportWhatIsGone) {
  const auto line = read_append(R"({"id":"00000001-0000-4000-8000-000000000000","type":"T","state":"erased"})", LineRules::import);

  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().what, HasSubstr("erased"));
}

TEST(AppendJson, SaysWhatDecidedARefusal) {
  ErrorDetails details;
  details.aggregate = AggregateId{"order", "1"};
  details.expected = Version::exactly(3);
  details.actual = SeqNr{4};
  details.condition = 2;
  details.position = GlobalPosition{17};

  JsonText json;
  json.begin_object();
  write_error_members(json, Error(ErrorCode::version_conflict, "no \"way\"", details), 5);
  json.end_object();

  EXPECT_EQ(json.text(), R"({"code":"version_conflict","message":"no \"way\"","line":5,"aggregate":"order-1","expected":3,"actual":4,"condition":2,"position":17})");
}

}  // namespace
}  // namespace evershard
