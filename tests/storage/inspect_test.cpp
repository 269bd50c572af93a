#include "evershard/storage/repair/inspect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/order/applied.hpp"
#include "tests/storage/random_values.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using testing::HasSubstr;

TEST(Inspect, ShowsTheKeysOfEveryFamily) {
  EXPECT_EQ(describe_key(Family::journal, keys::journal(shard, first)), R"({"shard":7,"offset":1000})");
  EXPECT_EQ(describe_key(Family::order, keys::order(GlobalPosition{5})), R"({"position":5})");
  EXPECT_EQ(describe_key(Family::streams, keys::stream(0xabc, SeqNr{2}, GlobalPosition{5})),
            R"({"stream":"0000000000000abc","seq_nr":2,"position":5})");
  EXPECT_EQ(describe_key(Family::postings, keys::posting(0xabc, GlobalPosition{5})),
            R"({"term":"0000000000000abc","position":5})");
  EXPECT_EQ(describe_key(Family::ids, keys::id(*EventId::parse("00010203-0405-4607-8809-0a0b0c0d0e0f"), shard)),
            R"({"id":"00010203-0405-4607-8809-0a0b0c0d0e0f","shard":7})");
  EXPECT_EQ(describe_key(Family::directory, keys::directory(order_1)), R"({"aggregate":"order-1"})");
  EXPECT_EQ(describe_key(Family::runs, keys::run(shard, GlobalPosition{5})), R"({"shard":7,"position":5})");
}

TEST(Inspect, ShowsTheKeysOfTheState) {
  EXPECT_EQ(describe_key(Family::state, keys::identity()), R"({"kind":"identity"})");
  EXPECT_EQ(describe_key(Family::state, keys::applied()), R"({"kind":"applied"})");
  EXPECT_EQ(describe_key(Family::state, keys::checkpoint("mail")), R"({"kind":"checkpoint","name":"mail"})");
  EXPECT_EQ(describe_key(Family::state, keys::snapshot(order_1, std::nullopt)),
            R"({"kind":"snapshot","aggregate":"order-1","latest":true})");
  EXPECT_EQ(describe_key(Family::state, keys::snapshot(order_1, SeqNr{3})),
            R"({"kind":"snapshot","aggregate":"order-1","retained":3})");
}

TEST(Inspect, ShowsARecordEventByEvent) {
  const EncodedAppend append = encode_example(example_append());
  const auto record = with_stubs(record_of(append, shard, first), shard, first, {{1, EventState::removed}});
  ASSERT_TRUE(record);

  const auto json = nlohmann::json::parse(describe_value(Family::journal, keys::journal(shard, first), *record));

  ASSERT_EQ(json["events"].size(), 3u);
  const auto& placed = json["events"][0];
  EXPECT_EQ(placed["offset"], 1'000);
  EXPECT_EQ(placed["state"], "live");
  EXPECT_EQ(placed["aggregate"], "order-1");
  EXPECT_EQ(placed["seq_nr"], 1);
  EXPECT_EQ(placed["type"], "Placed");
  EXPECT_EQ(placed["tags"], nlohmann::json({"a", "b"}));
  EXPECT_EQ(placed["also"], nlohmann::json({"c-42"}));
  EXPECT_EQ(placed["count"], 3);
  EXPECT_EQ(placed["request"], append.request.text());
  EXPECT_EQ(placed["command"]["reply"], "ok");
  EXPECT_EQ(placed["metadata"], "m");
  EXPECT_EQ(placed["payload"], "{}");
  EXPECT_EQ(json["events"][1]["state"], "removed");
  EXPECT_FALSE(json["events"][2].contains("aggregate"));
}

TEST(Inspect, ShowsADamagedEventInItsPlace) {
  std::string record = record_of(encode_example(example_append()), shard, first);
  record.back() = static_cast<char>(record.back() ^ 1);

  const auto json = nlohmann::json::parse(describe_value(Family::journal, keys::journal(shard, first), record));

  EXPECT_EQ(json["events"][1]["type"], "Paid");
  EXPECT_EQ(json["events"][2]["offset"], 1'002);
  EXPECT_THAT(json["events"][2]["error"].get<std::string>(), HasSubstr("checksum"));
}

TEST(Inspect, ShowsBytesThatAreNoTextAsHex) {
  Append append = example_append();
  append.events[0].payload = "\xFF\x01";

  const std::string record = record_of(encode_example(append), shard, first);

  EXPECT_THAT(describe_value(Family::journal, keys::journal(shard, first), record),
              HasSubstr(R"("payload":{"hex":"ff01"})"));
}

TEST(Inspect, ShowsACut) {
  const sharding::Cut cut{CutNumber{5},
                          Epoch{1},
                          GlobalPosition{70},
                          {{shard, Epoch{2}, first, first + 4, {first + 1}}},
                          {{shard, Epoch{2}, 3, first}}};

  EXPECT_EQ(describe_value(Family::order, keys::order(GlobalPosition{70}), sharding::encode(cut)),
            R"({"number":5,"coordinator":1,"first_position":70,"last_position":72,"segments":[{"shard":7,"epoch":2,)"
            R"("first":1000,"end":1004,"refused":[1001]}],"openings":[{"shard":7,"epoch":2,"node":3,"tail":1000}]})");
}

TEST(Inspect, ShowsTheStatesRows) {
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{3};
  snapshot.payload = "s";
  snapshot.keep = 2;
  const Applied applied{CutNumber{5}, GlobalPosition{70}, Epoch{1}, {{shard, Epoch{2}}}};

  EXPECT_EQ(
      describe_value(Family::state, keys::snapshot(order_1, std::nullopt),
                     encode_snapshot(snapshot, GlobalPosition{9}, {})),
      R"({"version":3,"position":9,"schema_revision":0,"taken_at":"1970-01-01T00:00:00.000000Z","keep":2,"format":0,"payload":"s"})");
  EXPECT_EQ(describe_value(Family::state, keys::applied(), encode(applied)),
            R"({"number":5,"watermark":70,"coordinator":1,"epochs":[{"shard":7,"epoch":2}]})");
  EXPECT_EQ(describe_value(Family::state, keys::checkpoint("mail"), "7"), R"({"bytes":1,"value":"7"})");
  EXPECT_THAT(describe_value(Family::state, keys::identity(), encode(Identity{})),
              HasSubstr(R"("shards":16,"hash":0)"));
}

TEST(Inspect, ShowsTheIndexesRows) {
  std::string postings, stream, runs;
  encode_postings(std::vector<Posting>{{GlobalPosition{5}, {shard, first, 2}, 0xabc}}, postings);
  encode_stream("order-1", std::vector<StreamEntry>{{GlobalPosition{5}, {shard, first, 2}}}, stream);
  encode_runs(std::vector<sharding::Run>{{shard, GlobalPosition{5}, first, 3}}, runs);

  EXPECT_EQ(
      describe_value(Family::postings, keys::posting(1, GlobalPosition{5}), postings),
      R"({"entries":[{"position":5,"shard":7,"offset":1002,"record":1000,"index":2,"type":"0000000000000abc"}]})");
  EXPECT_EQ(
      describe_value(Family::streams, keys::stream(1, SeqNr{9}, GlobalPosition{5}), stream),
      R"({"aggregate":"order-1","entries":[{"seq_nr":9,"position":5,"shard":7,"offset":1002,"record":1000,"index":2}]})");
  EXPECT_EQ(describe_value(Family::ids, keys::id({}, shard),
                           encode_id({GlobalPosition{5}, {shard, first, 2}, IdKind::command})),
            R"({"of":"command","position":5,"shard":7,"offset":1002,"record":1000,"index":2})");
  EXPECT_EQ(describe_value(Family::directory, keys::directory(order_1), encode_directory(0xabc, shard)),
            R"({"stream":"0000000000000abc","shard":7})");
  EXPECT_EQ(describe_value(Family::runs, keys::run(shard, GlobalPosition{5}), runs),
            R"({"runs":[{"position":5,"offset":1000,"count":3}]})");
}

TEST(Inspect, ShowsAnyBytesAsJsonAndWhatItCannotDecodeAsHex) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomValues random(seed);
    const auto family = static_cast<Family>(random.below(family_count));
    const std::string key = random.bytes(random.below(30)), value = random.bytes(random.below(60));

    const auto key_json = nlohmann::json::parse(describe_key(family, key));
    const auto value_json = nlohmann::json::parse(describe_value(family, key, value));

    EXPECT_TRUE(key_json.is_object());
    EXPECT_TRUE(value_json.is_object());
    EXPECT_EQ(key_json.contains("error"), key_json.contains("hex"));
    EXPECT_EQ(value_json.contains("error"), value_json.contains("hex"));
  }
}

}  // namespace
}  // namespace evershard::storage
