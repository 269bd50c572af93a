// The wire format, byte by byte. A test here that fails means: other nodes and older clients cannot read us any more.

#include <string>
#include <string_view>

#include "evershard/protocol/codec.hpp"

namespace evershard {
namespace {

std::string hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

/// The hex digits of a golden text: spaces are for the reader.
std::string golden(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  return digits;
}

template <class T>
void expect_golden(const T& value, std::string_view text) {
  const auto bytes = codec::encode(value);
  EXPECT_EQ(hex(bytes), golden(text));

  const auto decoded = codec::decode<T>(bytes);
  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_TRUE(*decoded == value);
}

const AggregateId order_1{"order", "1"};
const EventId id = *EventId::parse("00010203-0405-4607-8809-0a0b0c0d0e0f");

TEST(ProtocolGolden, Event) {
  Event event;
  event.id = id;
  event.aggregate = order_1;
  event.type = "Placed";
  event.tags = {"a", "b"};
  event.also = {{"c", "42"}};
  event.payload = "{}";
  event.format = PayloadFormat::json;
  event.metadata = std::string("\0m", 2);
  event.occurred_at = Timestamp{1'769'860'800'000'000};

  expect_golden(event,
                "0a 10 00010203040546078809 0a0b0c0d0e0f"  // 1 id: 16 bytes
                "12 0a 0a 05 6f72646572 12 01 31"          // 2 aggregate: 1 type "order", 2 value "1"
                "1a 06 506c61636564"                       // 3 type "Placed"
                "22 01 61"                                 // 4 tags[0] "a"
                "22 01 62"                                 // 4 tags[1] "b"
                "2a 07 0a 01 63 12 02 3432"                // 5 also[0]: 1 type "c", 2 value "42"
                "32 02 7b7d"                               // 6 payload "{}"
                "38 01"                                    // 7 payload_format 1, JSON
                "42 02 006d"                               // 8 metadata, any bytes
                "48 80e0a4a2ddb59203");                    // 9 occurred_at_us, varint
}

TEST(ProtocolGolden, EventOfTheLeast) {
  Event event;
  event.type = "T";

  expect_golden(event, "1a 01 54");  // 3 type "T"; no id, no aggregate, no time
}

TEST(ProtocolGolden, RecordedEvent) {
  RecordedEvent event;
  event.position = GlobalPosition{300};
  event.shard = ShardId{65'535};
  event.offset = ShardOffset{7};
  event.id = id;
  event.aggregate = order_1;
  event.seq_nr = SeqNr{2};
  event.type = "Placed";
  event.tags = {"a"};
  event.also = {{"c", "42"}};
  event.payload = "{}";
  event.format = PayloadFormat::user;
  event.metadata = "m";
  event.occurred_at = Timestamp{-1};
  event.state = EventState::erased;

  expect_golden(event,
                "08 ac02"                                  // 1 position 300
                "10 ffff03"                                // 2 shard 65,535
                "18 07"                                    // 3 offset 7
                "22 10 00010203040546078809 0a0b0c0d0e0f"  // 4 id
                "2a 0a 0a 05 6f72646572 12 01 31"          // 5 aggregate
                "30 02"                                    // 6 seq_nr 2
                "3a 06 506c61636564"                       // 7 type "Placed"
                "42 01 61"                                 // 8 tags[0] "a"
                "4a 07 0a 01 63 12 02 3432"                // 9 also[0]
                "52 02 7b7d"                               // 10 payload "{}"
                "58 e807"                                  // 11 payload_format 1000
                "62 01 6d"                                 // 12 metadata "m"
                "68 ffffffffffffffffff01"                  // 13 occurred_at_us -1
                "70 02");                                  // 14 state 2, erased
}

TEST(ProtocolGolden, Query) {
  expect_golden(Query::all(), "08 01");  // 1 all
  expect_golden(Query{}.types({"A", "B"}).tags({"x"}).or_().concerning({order_1}),
                "12 09 0a 01 41 0a 01 42 12 01 78"         // 2 items[0]: 1 types "A", "B"; 2 tags "x"
                "12 0c 1a 0a 0a 05 6f72646572 12 01 31");  // 2 items[1]: 3 concerning "order", "1"
}

TEST(ProtocolGolden, Append) {
  Append append;
  append.request_id = id;
  append.events.resize(1);
  append.events[0].type = "T";
  append.expectations = {{{"o", "1"}, Version::any()},
                         {{"o", "2"}, Version::none()},
                         {{"o", "3"}, Version::exists()},
                         {{"o", "4"}, Version::exactly(5)}};
  append.conditions = {{Query::all(), GlobalPosition{17}}};
  append.snapshots.resize(1);
  append.snapshots[0].aggregate = {"o", "1"};
  append.command = CommandRecord{{"o", "1"}, "cmd", "re"};
  append.ack = Ack::durable;

  expect_golden(append,
                "0a 10 00010203040546078809 0a0b0c0d0e0f"    // 1 request_id
                "12 03 1a 01 54"                             // 2 events[0]: 3 type "T"
                "1a 0c 0a 06 0a 01 6f 12 01 31 12 02 08 01"  // 3 expectations[0]: 1 aggregate, 2 version: 1 kind any
                "1a 0c 0a 06 0a 01 6f 12 01 32 12 02 08 02"  // 3 expectations[1]: none
                "1a 0c 0a 06 0a 01 6f 12 01 33 12 02 08 03"  // 3 expectations[2]: exists
                "1a 0e 0a 06 0a 01 6f 12 01 34 12 04 08 04 10 05"        // 3 expectations[3]: exactly, 2 number 5
                "22 06 0a 02 08 01 10 11"                                // 4 conditions[0]: 1 query all, 2 after 17
                "2a 08 0a 06 0a 01 6f 12 01 31"                          // 5 snapshots[0]: 1 aggregate
                "32 11 0a 06 0a 01 6f 12 01 31 12 03 636d64 1a 02 7265"  // 6 command: 1 aggregate, 2 id, 3 reply
                "38 01");                                                // 7 ack durable
}

TEST(ProtocolGolden, Appended) {
  const Appended appended{GlobalPosition{18}, GlobalPosition{19}, {{order_1, SeqNr{2}}}, true};

  expect_golden(appended,
                "08 12"                                        // 1 first_position 18
                "10 13"                                        // 2 last_position 19
                "1a 0e 0a 0a 0a 05 6f72646572 12 01 31 10 02"  // 3 versions[0]: 1 aggregate, 2 version 2
                "20 01");                                      // 4 duplicate
}

TEST(ProtocolGolden, Error) {
  ErrorDetails details;
  details.aggregate = order_1;
  details.expected = Version::exactly(3);
  details.actual = SeqNr{0};
  details.condition = 0;
  details.position = GlobalPosition{17};
  details.shard = ShardId{3};
  details.offset = ShardOffset{7};

  expect_golden(Error(ErrorCode::version_conflict, "no", details),
                "08 01"                            // 1 code version_conflict
                "12 02 6e6f"                       // 2 message "no"
                "1a 0a 0a 05 6f72646572 12 01 31"  // 3 aggregate
                "22 04 08 04 10 03"                // 4 expected: 1 kind exactly, 2 number 3
                "28 00"                            // 5 actual 0: absent and 0 are not the same
                "30 00"                            // 6 condition 0
                "38 11"                            // 7 position 17
                "40 03"                            // 8 shard 3
                "48 07");                          // 9 offset 7
}

TEST(ProtocolGolden, ErrorCodes) {
  for (int code = 1; code <= 15; ++code) {
    const char number[] = {'\x08', static_cast<char>(code)};
    EXPECT_EQ(codec::encode(Error(static_cast<ErrorCode>(code), "")), std::string_view(number, 2));
  }
  EXPECT_EQ(static_cast<int>(ErrorCode::duplicate_event), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::too_large), 7);
  EXPECT_EQ(static_cast<int>(ErrorCode::timeout), 12);
  EXPECT_EQ(static_cast<int>(ErrorCode::cancelled), 15);
}

TEST(ProtocolGolden, ReadOptions) {
  expect_golden(ReadOptions{}, "");
  expect_golden(ReadOptions{.after = GlobalPosition{1},
                            .before = GlobalPosition{9},
                            .up_to = GlobalPosition{8},
                            .limit = 0,
                            .direction = Direction::backwards,
                            .at_least = GlobalPosition{8}},
                "08 01"    // 1 after 1
                "10 09"    // 2 before 9
                "18 08"    // 3 up_to 8
                "20 00"    // 4 limit 0: not absent
                "28 01"    // 5 direction backwards
                "30 08");  // 6 at_least 8
}

TEST(ProtocolGolden, StreamOptions) {
  expect_golden(StreamOptions{}, "");
  expect_golden(
      StreamOptions{.from = SeqNr{3}, .limit = 10, .direction = Direction::backwards, .up_to = GlobalPosition{8}},
      "08 03"    // 1 from 3
      "10 0a"    // 2 limit 10
      "18 01"    // 3 direction backwards
      "20 08");  // 4 up_to 8
}

TEST(ProtocolGolden, Snapshot) {
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{2};
  snapshot.payload = "s";
  snapshot.format = PayloadFormat::protobuf;
  snapshot.schema_revision = 9;
  snapshot.keep = 0;
  snapshot.ttl = std::chrono::seconds(60);

  expect_golden(snapshot,
                "0a 0a 0a 05 6f72646572 12 01 31"  // 1 aggregate
                "10 02"                            // 2 version 2
                "1a 01 73"                         // 3 payload "s"
                "20 02"                            // 4 payload_format 2, Protobuf
                "28 09"                            // 5 schema_revision 9
                "30 00"                            // 6 keep 0: none, not absent
                "38 3c");                          // 7 ttl_s 60
}

TEST(ProtocolGolden, RecordedSnapshot) {
  RecordedSnapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{2};
  snapshot.position = GlobalPosition{18};
  snapshot.payload = "s";
  snapshot.format = PayloadFormat::text;
  snapshot.schema_revision = 9;
  snapshot.taken_at = Timestamp{5};
  snapshot.expires_at = Timestamp{6};
  snapshot.latest = true;

  expect_golden(snapshot,
                "0a 0a 0a 05 6f72646572 12 01 31"  // 1 aggregate
                "10 02"                            // 2 version 2
                "18 12"                            // 3 position 18
                "22 01 73"                         // 4 payload "s"
                "28 03"                            // 5 payload_format 3, text
                "30 09"                            // 6 schema_revision 9
                "38 05"                            // 7 taken_at_us 5
                "40 06"                            // 8 expires_at_us 6
                "48 01");                          // 9 latest
}

TEST(ProtocolGolden, Page) {
  Page page;
  page.events.resize(1);
  page.events[0].position = GlobalPosition{1};
  page.watermark = GlobalPosition{4};
  page.complete = true;

  expect_golden(page,
                "0a 02 08 01"  // 1 events[0]: 1 position 1
                "10 04"        // 2 watermark 4
                "18 01");      // 3 complete
}

}  // namespace
}  // namespace evershard
