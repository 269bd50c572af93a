#include "evershard/protocol/codec.hpp"

#include <rapidcheck/gtest.h>

#include "tests/protocol/arbitrary_values.hpp"

namespace evershard {
namespace {

using namespace std::string_literals;

/// There and back, the same; and the same bytes again.
template <class T>
void comes_back(const T& value) {
  const auto bytes = codec::encode(value);

  const auto decoded = codec::decode<T>(bytes);

  if (!decoded) RC_FAIL(decoded.error().what);
  RC_ASSERT(*decoded == value);
  RC_ASSERT(codec::encode(*decoded) == bytes);
}

RC_GTEST_PROP(Codec, GivesBackAnEvent, ()) { comes_back(arbitrary::event()); }
RC_GTEST_PROP(Codec, GivesBackARecordedEvent, ()) { comes_back(arbitrary::recorded_event()); }
RC_GTEST_PROP(Codec, GivesBackAQuery, ()) { comes_back(arbitrary::query()); }
RC_GTEST_PROP(Codec, GivesBackAnAppend, ()) { comes_back(arbitrary::append()); }
RC_GTEST_PROP(Codec, GivesBackAnAppended, ()) { comes_back(arbitrary::appended()); }
RC_GTEST_PROP(Codec, GivesBackAnError, ()) { comes_back(arbitrary::error()); }
RC_GTEST_PROP(Codec, GivesBackReadOptions, ()) { comes_back(arbitrary::read_options()); }
RC_GTEST_PROP(Codec, GivesBackStreamOptions, ()) { comes_back(arbitrary::stream_options()); }
RC_GTEST_PROP(Codec, GivesBackASnapshot, ()) { comes_back(arbitrary::snapshot()); }
RC_GTEST_PROP(Codec, GivesBackARecordedSnapshot, ()) { comes_back(arbitrary::recorded_snapshot()); }
RC_GTEST_PROP(Codec, GivesBackAPage, ()) { comes_back(arbitrary::page()); }

TEST(Codec, KeepsARequestIdOfZerosForWhoeverRefusesIt) {
  Append append;
  append.request_id = RequestId{};
  const auto decoded = codec::decode<Append>(codec::encode(append));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, append);
}

/// Decodes, or says invalid_argument; what decodes can be encoded again.
template <class T>
void survives(const std::string& bytes) {
  const auto decoded = codec::decode<T>(bytes);
  if (decoded) {
    RC_ASSERT(codec::decode<T>(codec::encode(*decoded)).has_value());
  } else {
    RC_ASSERT(decoded.error().code == ErrorCode::invalid_argument);
    RC_ASSERT(!decoded.error().what.empty());
  }
}

void every_type_survives(const std::string& bytes) {
  survives<Event>(bytes);
  survives<RecordedEvent>(bytes);
  survives<Query>(bytes);
  survives<Append>(bytes);
  survives<Appended>(bytes);
  survives<Error>(bytes);
  survives<ReadOptions>(bytes);
  survives<StreamOptions>(bytes);
  survives<Snapshot>(bytes);
  survives<RecordedSnapshot>(bytes);
  survives<Page>(bytes);
}

RC_GTEST_PROP(Codec, SurvivesRandomBytes, (const std::string& bytes)) { every_type_survives(bytes); }

RC_GTEST_PROP(Codec, SurvivesDamagedBytes, ()) {
  // Of another type as well: a page read as an append.
  auto bytes = *rc::gen::elementOf(std::vector<std::string>{
      codec::encode(arbitrary::append()), codec::encode(arbitrary::page()), codec::encode(arbitrary::error())});
  const int hits = *rc::gen::inRange(0, 4);
  for (int i = 0; i < hits && !bytes.empty(); ++i) {
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  if (arbitrary::maybe()) bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));

  every_type_survives(bytes);
}

// ---- strictness: bytes written by hand, one wrong field each

/// One length-delimited field.
std::string field(int number, const std::string& content) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())} + content;
}
/// One small number.
std::string field(int number, int value) { return {static_cast<char>(number << 3), static_cast<char>(value)}; }

const std::string order_1 = field(1, "order"s) + field(2, "1"s);  // AggregateId

template <class T>
void expect_refused(const std::string& bytes, const std::string& what) {
  const auto decoded = codec::decode<T>(bytes);

  ASSERT_FALSE(decoded) << "expected: " << what;
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(decoded.error().what, what);
}

TEST(Codec, RefusesAnIdOfAnotherSize) {
  expect_refused<Event>(field(1, std::string(15, 'i')), "id: has 15 bytes, an id has 16");
  expect_refused<Append>(field(1, std::string(17, 'i')), "request_id: has 17 bytes, an id has 16");
  expect_refused<Append>(field(2, field(3, "A"s)) + field(2, field(1, "i"s)),
                         "events[1].id: has 1 bytes, an id has 16");
  expect_refused<Page>(field(1, field(4, "i"s)), "events[0].id: has 1 bytes, an id has 16");
}

TEST(Codec, RefusesAMalformedAggregate) {
  const auto hyphen = field(1, "a-b"s) + field(2, "1"s);

  expect_refused<Event>(field(2, hyphen), "aggregate: aggregate type \"a-b\" contains a '-'");
  expect_refused<Event>(field(2, ""s), "aggregate: aggregate type is empty");
  expect_refused<Event>(field(5, order_1) + field(5, field(1, "order"s)), "also[1]: aggregate value is empty");
  expect_refused<Query>(field(2, field(3, hyphen)), "items[0].concerning[0]: aggregate type \"a-b\" contains a '-'");
  expect_refused<Append>(field(3, field(1, hyphen)),
                         "expectations[0].aggregate: aggregate type \"a-b\" contains a '-'");
  expect_refused<Append>(field(6, field(1, hyphen)), "command.aggregate: aggregate type \"a-b\" contains a '-'");
}

TEST(Codec, RefusesAnUnknownEnumerator) {
  expect_refused<RecordedEvent>(field(14, 3), "state: unknown enumerator 3");
  expect_refused<Append>(field(7, 2), "ack: unknown enumerator 2");
  expect_refused<ReadOptions>(field(5, 2), "direction: unknown enumerator 2");
  expect_refused<StreamOptions>(field(3, 127), "direction: unknown enumerator 127");
  expect_refused<Error>(field(1, 19), "code: unknown enumerator 19");
  expect_refused<ReadOptions>(field(5, 0).substr(0, 1) + std::string(9, '\xff') + "\x01",
                              "direction: unknown enumerator -1");
}

TEST(Codec, RefusesWhatMustBeThereAndIsNot) {
  expect_refused<Error>("", "code: is missing");
  expect_refused<Snapshot>("", "aggregate: is missing");
  expect_refused<RecordedSnapshot>("", "aggregate: is missing");
  expect_refused<Append>(field(3, ""s), "expectations[0].aggregate: is missing");
  expect_refused<Append>(field(3, field(1, order_1)), "expectations[0].version: is missing");
  expect_refused<Append>(field(4, field(2, 7)), "conditions[0].query: is missing");
  expect_refused<Append>(field(6, field(2, "c"s)), "command.aggregate: is missing");
  expect_refused<Appended>(field(3, field(2, 7)), "versions[0].aggregate: is missing");
}

TEST(Codec, RefusesAnExpectedVersionThatSaysNothingOrTwoThings) {
  const auto expecting = [](const std::string& version) { return field(3, field(1, order_1) + field(2, version)); };

  expect_refused<Append>(expecting(""), "expectations[0].version.kind: unknown enumerator 0");
  expect_refused<Append>(expecting(field(1, 5)), "expectations[0].version.kind: unknown enumerator 5");
  expect_refused<Append>(expecting(field(1, 1) + field(2, 3)),
                         "expectations[0].version.number: 3 is given, and the kind is not `exactly`");
  EXPECT_EQ(codec::decode<Append>(expecting(field(1, 4)))->expectations[0].version, Version::none());  // exactly 0
}

TEST(Codec, RefusesAQueryForAllThatHasItems) {
  expect_refused<Query>(field(1, 1) + field(2, field(1, "A"s)), "items: a query for all has none, this one has 1");
}

TEST(Codec, RefusesAShardOutOfRange) {
  expect_refused<RecordedEvent>("\x10\x80\x80\x04"s, "shard: 65536 is out of range");
  expect_refused<Error>(field(1, 10) + "\x40\x80\x80\x04", "shard: 65536 is out of range");
  EXPECT_EQ(codec::decode<RecordedEvent>("\x10\xff\xff\x03"s)->shard, ShardId{65'535});
}

TEST(Codec, RefusesTextThatIsNotUtf8AndSaysNothingOnStandardError) {
  testing::internal::CaptureStderr();

  const auto decoded = codec::decode<Event>(field(3, "\xff"s));

  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(decoded.error().what, "3 bytes are no evershard.v1.Event: malformed Protobuf, or text that is not UTF-8");
}

TEST(Codec, RefusesBytesCutShort) {
  auto bytes = codec::encode(Query{}.types({"Placed"}).tags({"day:1"}));
  bytes.pop_back();

  EXPECT_EQ(codec::decode<Query>(bytes).error().code, ErrorCode::invalid_argument);
}

TEST(Codec, SkipsFieldsItDoesNotKnow) {
  const auto query = Query{}.types({"Placed"});
  const auto from_the_future = codec::encode(query) + field(15, "a part of which nothing is known yet"s);

  const auto decoded = codec::decode<Query>(from_the_future);

  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, query);
}

TEST(Codec, KeepsNoLimitAndLimitZeroApart) {
  ReadOptions none, zero;
  zero.limit = 0;

  EXPECT_EQ(codec::decode<ReadOptions>(codec::encode(none))->limit, std::nullopt);
  EXPECT_EQ(codec::decode<ReadOptions>(codec::encode(zero))->limit, 0u);
}

TEST(Codec, KeepsADifferenceThatTheTextFormOfAnAggregateWouldNot) {
  const Event malformed{.id = {},
                        .aggregate = AggregateId{"a-b", "c"},
                        .type = "T",
                        .tags = {},
                        .also = {},
                        .payload = {},
                        .metadata = {},
                        .occurred_at = {}};

  // {a-b, c} and {a, b-c} are the same text: a mistaken id must be refused at the other end, not become another one.
  EXPECT_FALSE(codec::decode<Event>(codec::encode(malformed)));
}

TEST(Codec, SendsAnErrorWhoseTextIsNotUtf8AsText) {
  const auto decoded = codec::decode<Error>(codec::encode(Error(ErrorCode::io, "cannot open /data/\xff")));

  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_EQ(decoded->what, "\"cannot open /data/\\xff\"");
}

TEST(CodecDeathTest, NeverSendsAMalformedAppend) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto append = Append{}.event("order", "Placed", "");

  EXPECT_DEATH(codec::encode(append), "a malformed append is refused, never sent");
}

}  // namespace
}  // namespace evershard
