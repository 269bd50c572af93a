// An append from a line: every part arrives, and import takes what export adds.

#include "evershard/api/json/append_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/protocol/validate.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(AppendJson, TakesEveryPart) {
  const auto line = read_append(
      R"({"events":[{"id":"00000001-0000-4000-8000-000000000000","aggregate":"order-1-a","type":"Placed","tags":["b","a"],"also":["x-1"],
      "payload":{"n":1.0},"payload_format":1002,"metadata":{ },"occurred_at":"1969-12-31T23:59:59.999999Z"},{"type":"Bare"}],
      "expect":[{"aggregate":"order-1-a","version":3},{"aggregate":"x-1","version":"exists"}],
      "fail_if":[{"query":{"items":[{"types":["T"],"tags":["t"],"concerning":["x-1"]},{"tags":["u"]}]},"after":17},{"query":{"all":true}}],
      "request_id":"00000009-0000-4000-8000-000000000000"})",
      LineRules::append);

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
  wanted.fail_if(Query{}.types({"T"}).tags({"t"}).concerning({{"x", "1"}}).or_().tags({"u"}), GlobalPosition{17})
      .fail_if(Query::all());
  wanted.request(*EventId::parse("00000009-0000-4000-8000-000000000000"));
  EXPECT_EQ(line->append, wanted);
}

TEST(AppendJson, TakesSnapshotsOfWhatItWritesTo) {
  const auto line = read_append(
      R"({"events":[{"aggregate":"order-1","type":"Placed"}],"snapshots":[{"aggregate":"order-1","version":1,"payload":{"n":1},
      "schema_revision":2,"keep":3,"ttl_seconds":60},{"aggregate":"x-1","payload":"AA==","payload_encoding":"base64"}]})",
      LineRules::append);

  ASSERT_TRUE(line) << line.error().what;
  ASSERT_EQ(line->append.snapshots.size(), 2u);
  Snapshot wanted;
  wanted.aggregate = {"order", "1"};
  wanted.version = SeqNr{1};
  wanted.payload = R"({"n":1})";
  wanted.format = PayloadFormat::json;
  wanted.schema_revision = 2;
  wanted.keep = 3;
  wanted.ttl = std::chrono::seconds(60);
  EXPECT_EQ(line->append.snapshots[0], wanted);
  EXPECT_EQ(line->append.snapshots[1].payload, std::string(1, '\0'));
  JsonText json;
  write_append(json, line->append);
  EXPECT_EQ(read_append(json.text(), LineRules::append)->append.snapshots, line->append.snapshots);

  EXPECT_THAT(read_append(R"({"events":[],"snapshots":[{"payload":1}]})", LineRules::append).error().what,
              HasSubstr("aggregate is missing"));
  EXPECT_THAT(read_append(R"({"snapshots":[]})", LineRules::append).error().what, HasSubstr("events is missing"));
}

TEST(AppendJson, EmptyMetadataIsNotNone) {
  const auto none = read_append(R"({"type":"T"})", LineRules::append);
  const auto empty = read_append(R"({"type":"T","metadata":"","metadata_encoding":"base64"})", LineRules::append);
  ASSERT_TRUE(none && empty);
  EXPECT_EQ(none->append.events[0].metadata, std::nullopt);
  EXPECT_EQ(empty->append.events[0].metadata, "");
  JsonText json;
  write_append(json, empty->append);
  EXPECT_EQ(read_append(json.text(), LineRules::append)->append, empty->append);
}

TEST(AppendJson, SaysThatAPayloadIsJsonWhereItStandsAsJson) {
  EXPECT_EQ(read_append(R"({"type":"T","payload":7})", LineRules::append)->append.events[0].format,
            PayloadFormat::json);
  EXPECT_EQ(read_append(R"({"type":"T","payload":"Nw==","payload_encoding":"base64"})", LineRules::append)
                ->append.events[0]
                .format,
            PayloadFormat::unspecified);
  EXPECT_EQ(read_append(R"({"payload_encoding":"base64","payload":"Nw==","type":"T"})", LineRules::append)
                ->append.events[0]
                .payload,
            "7");
  EXPECT_EQ(read_append(R"({"type":"T"})", LineRules::append)->append.events[0].format, PayloadFormat::unspecified);
}

TEST(AppendJson, ReadsThePlaceOfAnEventForImportOnly) {
  const std::string line =
      R"({"position":9,"shard":3,"offset":2,"id":"00000001-0000-4000-8000-000000000000","aggregate":"a-1","seq_nr":4,"type":"T"})";

  const auto imported = read_append(line, LineRules::import);
  const auto appended = read_append(line, LineRules::append);

  ASSERT_TRUE(imported) << imported.error().what;
  EXPECT_EQ(imported->places.at(0).position, GlobalPosition{9});
  EXPECT_EQ(imported->places.at(0).seq_nr, SeqNr{4});
  ASSERT_FALSE(appended);
  EXPECT_THAT(appended.error().what, HasSubstr("position: is the store's to give"));
}

TEST(AppendJson, ImportsWhatIsGoneAsSuch) {
  const std::string id = R"({"id":"00000001-0000-4000-8000-000000000000",)";
  const auto erased =
      read_append(id + R"("type":"T","occurred_at":"2026-01-31T12:00:00.000000Z","payload_format":4,"state":"erased"})",
                  LineRules::import);
  const auto removed = read_append(
      id + R"("aggregate":"a-1","seq_nr":2,"type":"","occurred_at":"1970-01-01T00:00:00.000000Z","state":"removed"})",
      LineRules::import);
  const auto live = read_append(id + R"("type":"T","state":"live"})", LineRules::import);

  ASSERT_TRUE(erased && removed && live);
  EXPECT_EQ(erased->append.events[0].state, EventState::erased);
  EXPECT_EQ(removed->append.events[0].state, EventState::removed);
  EXPECT_FALSE(removed->append.events[0].occurred_at);
  for (const auto* line : {&*erased, &*removed}) {
    EXPECT_TRUE(line->append.from_export);
    EXPECT_TRUE(check(line->append, Limits{}));
  }
  EXPECT_FALSE(live->append.from_export) << "an older server takes it as ever";
  EXPECT_FALSE(read_append(id + R"("type":"T","state":"lost"})", LineRules::import));
  EXPECT_FALSE(read_append(id + R"("type":"T","state":"erased"})", LineRules::append));
  const auto with_payload =
      read_append(id + R"("type":"T","payload":1,"occurred_at":"2026-01-31T12:00:00.000000Z","state":"erased"})",
                  LineRules::import);
  ASSERT_TRUE(with_payload);
  EXPECT_THAT(check(with_payload->append, Limits{}).error().what, HasSubstr("the event is erased, and has a payload"));
}

TEST(AppendJson, ImportsASnapshotAlone) {
  const std::string text =
      R"({"snapshot":{"aggregate":"a-1","version":3,"position":9,"payload":{"n":1.0},"payload_format":0,"schema_revision":2,"taken_at":"2026-01-31T12:00:00.000000Z","latest":true}})";
  const auto line = read_append(text, LineRules::import);

  ASSERT_TRUE(line) << line.error().what;
  ASSERT_TRUE(line->snapshot);
  EXPECT_EQ(line->snapshot->aggregate.text(), "a-1");
  EXPECT_EQ(line->snapshot->version, SeqNr{3});
  EXPECT_EQ(line->snapshot->payload, R"({"n":1.0})");
  EXPECT_EQ(line->snapshot->format, PayloadFormat::unspecified);
  EXPECT_EQ(line->snapshot->schema_revision, 2u);
  EXPECT_FALSE(read_append(text, LineRules::append));
  EXPECT_FALSE(read_append(R"({"snapshot":{"version":3}})", LineRules::import));
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

  EXPECT_EQ(
      json.text(),
      R"({"code":"version_conflict","message":"no \"way\"","line":5,"aggregate":"order-1","expected":3,"actual":4,"condition":2,"position":17})");
}

}  // namespace
}  // namespace evershard
