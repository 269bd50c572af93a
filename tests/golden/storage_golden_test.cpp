// What lies on disk, byte by byte. A test here that fails means: this program cannot read the stores that are out
// there.

#include <string>
#include <string_view>

#include "evershard/protocol/hex.hpp"
#include "evershard/services/rows/projection_checkpoint.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/waiting_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

/// The hex digits of a golden text: spaces are for the reader.
std::string golden(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  return digits;
}

const EventId id = *EventId::parse("00010203-0405-4607-8809-0a0b0c0d0e0f");
constexpr ShardId shard_7{7};
constexpr ShardOffset offset_1000{1'000};
constexpr GlobalPosition position_70000{70'000};
constexpr sharding::Term term = 0x0123456789abcdef;

// ---- keys: numbers big-endian

TEST(StorageGolden, JournalKey) {
  EXPECT_EQ(hex(keys::journal(shard_7, offset_1000)), golden("0007"                 // shard
                                                             "00000000000003e8"));  // the record's first offset
}

TEST(StorageGolden, OrderKey) {
  EXPECT_EQ(hex(keys::order(position_70000)), golden("0000000000011170"));  // the cut's first position
}

TEST(StorageGolden, PostingKey) {
  EXPECT_EQ(hex(keys::posting(term, position_70000)), golden("0123456789abcdef"     // term
                                                             "0000000000011170"));  // the chunk's first position
  EXPECT_TRUE(keys::posting(term, position_70000).starts_with(keys::posting_prefix(term)));
}

TEST(StorageGolden, StreamKey) {
  EXPECT_EQ(hex(keys::stream(term, SeqNr{250}, position_70000)), golden("0123456789abcdef"  // the aggregate's term
                                                                        "00000000000000fa"  // the chunk's first seq_nr
                                                                        "0000000000011170"));  // and its position
}

TEST(StorageGolden, IdKey) {
  EXPECT_EQ(hex(keys::id(id, shard_7)), golden("00010203040546078809 0a0b0c0d0e0f"  // event id, or a command's key
                                               "0007"));                            // shard
}

TEST(StorageGolden, CommandKey) {
  // XXH3, 128 bits, seed 0, big-endian, over "order-1", a NUL, "pay".
  EXPECT_EQ(hex(keys::id(command_key(order_1, "pay"), shard_7)), golden("13a899246aba9eaede5b31a5e3a33767"
                                                                        "0007"));  // shard
}

TEST(StorageGolden, RunKey) {
  EXPECT_EQ(hex(keys::run(shard_7, position_70000)), golden("0007"                 // shard
                                                            "0000000000011170"));  // the chunk's first position
}

TEST(StorageGolden, DirectoryKey) {
  EXPECT_EQ(hex(keys::directory(order_1)), golden("6f72646572 00"  // type, to its NUL
                                                  "31"));          // value, to the end
}

TEST(StorageGolden, StateKeys) {
  EXPECT_EQ(hex(keys::identity()), golden("01"));                                     // kind: identity
  EXPECT_EQ(hex(keys::applied()), golden("02"));                                      // kind: applied
  EXPECT_EQ(hex(keys::checkpoint("mail")), golden("03"                                // kind: checkpoint
                                                  "6d61696c"));                       // name, to the end
  EXPECT_EQ(hex(keys::snapshot(order_1, std::nullopt)), golden("04"                   // kind: snapshot
                                                               "6f72646572 00"        // type, to its NUL
                                                               "31 00"                // value, to its NUL
                                                               "0000000000000000"));  // slot 0: the latest
  EXPECT_EQ(hex(keys::snapshot(order_1, SeqNr{250})), golden("04 6f72646572 00 31 00"
                                                             "00000000000000fa"));  // retained, of version 250
}

// ---- the journal

TEST(StorageGolden, Record) {
  const EncodedAppend append = encode_example(example_append());
  EXPECT_EQ(hex(record_of(append, shard_7, offset_1000)),
            golden("01"        // version of the record's form
                   "00"        // flags: none yet
                   "0300"      // 3 events
                   "98b1fead"  // checksum of the four bytes above, the table below, shard and first offset
                   "5f000000 90000000 ba000000"  // where each event ends, from the end of this table
                   // offset 1000
                   "668e2556"                           // checksum of body, state, seq_nr, shard and offset
                   "00"                                 // state: live
                   "01"                                 // seq_nr 1
                   "00010203040546078809 0a0b0c0d0e0f"  // id
                   "7f"                // flags: aggregate, tags, also, metadata, content hash, request, command
                   "0100000000000000"  // occurred_at: 1 us after 1970
                   "dde37d845d8fb301"  // content hash of the append
                   "00 03"             // index 0 of 3
                   "f0f1f2f3f4f546f788f9fafbfcfdfeff"  // request
                   "03 706179 02 6f6b"                 // command "pay", reply "ok"
                   "05 6f72646572 01 31"               // aggregate: type "order", value "1"
                   "06 506c61636564"                   // type "Placed"
                   "04 01 61 01 62"                    // tags, 4 bytes: "a", "b"
                   "05 01 63 02 3432"                  // also, 5 bytes: type "c", value "42"
                   "01"                                // format: JSON
                   "01 6d"                             // metadata "m"
                   "7b7d"                              // payload, to the end: "{}"
                   // offset 1001
                   "81d145c7 00 02"                           // checksum, live, seq_nr 2
                   "10111213141546179819 1a1b1c1d1e1f"        // id
                   "01"                                       // flags: aggregate
                   "003049d4ad490600"                         // occurred_at: 2026-01-31T12:00:00Z
                   "01 03"                                    // index 1 of 3
                   "05 6f72646572 01 31 04 50616964 00 3432"  // order-1, "Paid", unspecified, "42"
                   // offset 1002
                   "b1408ffa 00 00"                      // checksum, live, no seq_nr
                   "20212223242546 27a829 2a2b2c2d2e2f"  // id
                   "02"                                  // flags: tags
                   "003049d4ad490600 02 03"              // occurred_at, index 2 of 3
                   "04 5365656e 02 01 62 00"));          // "Seen", tags "b", unspecified, no payload
}

TEST(StorageGolden, RecordWithStubs) {
  const std::string record = record_of(encode_example(example_append()), shard_7, offset_1000);
  const auto stubs = with_stubs(record, shard_7, offset_1000, {{0, EventState::removed}, {1, EventState::erased}});
  ASSERT_TRUE(stubs);
  EXPECT_EQ(
      hex(*stubs),
      golden("01 00 0300 99c129a8 4a000000 79000000 a3000000"  // version, flags, count, checksum, ends
                                                               // offset 1000: removed
             "fd3bb928 01 01"                                  // checksum, state: removed, seq_nr 1
             "00010203040546078809 0a0b0c0d0e0f"               // id
             "71"                                              // flags: aggregate, content hash, request, command
             "0000000000000000"                                // occurred_at: not kept
             "dde37d845d8fb301"                                // content hash
             "00 03"                                           // index 0 of 3
             "f0f1f2f3f4f546f788f9fafbfcfdfeff"                // request
             "03 706179 02 6f6b"                               // command "pay", reply "ok"
             "05 6f72646572 01 31"                             // order-1
             "00 00"                                           // no type, no format
             // offset 1001: erased
             "03f6f21c 02 02"                      // checksum, state: erased, seq_nr 2
             "10111213141546179819 1a1b1c1d1e1f"   // id
             "01 003049d4ad490600 01 03"           // flags, occurred_at, index 1 of 3
             "05 6f72646572 01 31 04 50616964 00"  // order-1, "Paid", unspecified
             // offset 1002: as it was
             "b1408ffa 00 00 20212223242546 27a829 2a2b2c2d2e2f 02 003049d4ad490600 02 03 04 5365656e 02 01 62 00"));
}

TEST(StorageGolden, Removal) {
  const RemovalRow row{SeqNr{250}, SeqNr{1}, position_70000, true, "op"};
  EXPECT_EQ(hex(encode_removal(row, {"order", "1"})),
            golden("01 01"                // version, flags: the aggregate
                   "fa01 01 f0a204"       // before 250, from 1, last position 70,000
                   "02 6f70"              // operation "op"
                   "500d00a1a4459663"));  // checksum
  EXPECT_EQ(hex(removing_key({"order", "1"})), hex("\x03retention/removing/order-1"));
  EXPECT_EQ(hex(removed_key({"order", "1"})), hex("\x03retention/removed/order-1"));
}

TEST(StorageGolden, RowLog) {
  RowLogEntry entry;
  entry.at = {Epoch{3}, 14};
  entry.removed = {ShardOffset{2}, ShardOffset{302}};
  entry.erased = {ShardOffset{7}};
  entry.state = {{"k", "v"}, {"g", std::nullopt}};
  entry.snapshots_to_go = {{{"order", "1"}, SeqNr{4}, true}};
  entry.snapshots = {{"order", "2"}};
  EXPECT_EQ(row_log_key(ShardId{2}, entry.at), "\x03$rows/00002/00000000000000000003/00000000000000000014");
  EXPECT_EQ(hex(encode_row_log(ShardId{2}, entry)),
            golden("01"                          // version
                   "03 0e"                       // epoch 3, entry 14
                   "02 02 ac02"                  // removed: two, offset 2, 300 behind it
                   "01 07"                       // erased: one
                   "02 016b 01 0176 0167 00"     // state rows: k = v, g goes
                   "01 056f72646572 0131 04 01"  // snapshots that go: of order-1, below 4, the latest too
                   "01 056f72646572 0132"        // and one that was written: of order-2
                   "b5b0530cea47a425"));         // checksum
}

// ---- the order

TEST(StorageGolden, Cut) {
  const sharding::Cut cut{CutNumber{5},
                          Epoch{1},
                          position_70000,
                          {{shard_7, Epoch{1}, offset_1000, ShardOffset{1'003}, {}},
                           {ShardId{8}, Epoch{1}, ShardOffset{9}, ShardOffset{10}, {}}},
                          {}};
  EXPECT_EQ(hex(sharding::encode(cut)), golden("01"          // version
                                               "00"          // flags: no openings
                                               "05 01"       // number 5, coordinator's epoch 1
                                               "f0a204"      // first position 70,000
                                               "02"          // 2 segments
                                               "38 e807 03"  // shard 7, nothing special; first offset 1,000; 3 offsets
                                               "44 09"));    // shard 8, one event; first offset 9
}

// ---- state rows

TEST(StorageGolden, Identity) {
  Identity identity;
  identity.store = id;
  identity.fork = *EventId::parse("10111213-1415-4617-9819-1a1b1c1d1e1f");
  identity.hash = 1;
  identity.term_key = term;
  identity.created_at = example_now;
  EXPECT_EQ(hex(encode(identity)), golden("01000000"                           // format 1
                                          "00010203040546078809 0a0b0c0d0e0f"  // store
                                          "10111213141546179819 1a1b1c1d1e1f"  // fork
                                          "10000000"                           // 16 shards
                                          "01000000"                           // hash id 1
                                          "efcdab8967452301"                   // key of the terms
                                          "003049d4ad490600"                   // created at
                                          "950849c14b11ff9b"));                // checksum of all before it
}

TEST(StorageGolden, Applied) {
  const Applied applied{CutNumber{5}, position_70000, Epoch{1}, {{shard_7, Epoch{2}}}};
  EXPECT_EQ(hex(encode(applied)), golden("01"                        // version; numbers of this row are big-endian
                                         "0000000000000005"          // number of the last cut
                                         "0000000000011170"          // watermark
                                         "0000000000000001"          // coordinator's epoch
                                         "0007 0000000000000002"));  // shard 7 is in epoch 2
}

TEST(StorageGolden, IdentityOfANode) {
  Identity identity;
  identity.format = 2;
  identity.store = id;
  identity.fork = id;
  identity.hash = 1;
  identity.term_key = term;
  identity.created_at = example_now;
  identity.node = 3;
  EXPECT_EQ(hex(encode(identity)), golden("02000000"                           // format 2
                                          "00010203040546078809 0a0b0c0d0e0f"  // store
                                          "00010203040546078809 0a0b0c0d0e0f"  // fork
                                          "10000000"                           // 16 shards
                                          "01000000"                           // hash id 1
                                          "efcdab8967452301"                   // key of the terms
                                          "003049d4ad490600"                   // created at
                                          "03000000"                           // node 3
                                          "e5e19642df4cfc8f"));                // checksum of all before it
}

TEST(StorageGolden, CutOfANode) {
  sharding::Cut cut;
  cut.number = CutNumber{5};
  cut.coordinator = Epoch{1};
  cut.first_position = position_70000;
  cut.segments = {sharding::Segment::elsewhere(300), {shard_7, Epoch{2}, ShardOffset{9}, ShardOffset{10}, {}}};
  EXPECT_EQ(hex(sharding::encode(cut)), golden("01"           // version
                                               "00"           // flags: no openings
                                               "05 01"        // number 5, coordinator's epoch 1
                                               "f0a204"       // first position 70,000
                                               "02"           // 2 segments
                                               "f8ff1f ac02"  // shard 65,535: other nodes' positions, 300 of them
                                               "3e 02 09"));  // shard 7, one event, another epoch: 2; first offset 9
}

TEST(StorageGolden, CutWithReplicaSets) {
  sharding::Cut cut;
  cut.number = CutNumber{5};
  cut.coordinator = Epoch{1};
  cut.first_position = position_70000;
  cut.replicas = {{shard_7, {2, {1, 4, 300}}}, {ShardId{8}, {1, {9}}}};
  EXPECT_EQ(hex(sharding::encode(cut)), golden("01"              // version
                                               "04"              // flags: replica sets
                                               "05 01"           // number 5, coordinator's epoch 1
                                               "f0a204"          // first position 70,000
                                               "00"              // no segments
                                               "02"              // replica sets
                                               "07 02 03"        // shard 7, a quorum of 2, 3 nodes
                                               "01 03 a802"      // 1, 4, 300, each as its distance from the one before
                                               "08 01 01 09"));  // shard 8, a quorum of 1, node 9
}

TEST(StorageGolden, Covered) {
  EXPECT_EQ(hex(encode_covered({ShardOffset{1'000}})), golden("01 00000000000003e8"));
  EXPECT_EQ(hex(encode_covered({ShardOffset{1'000}, true, GlobalPosition{5}, {}})),
            golden("02 00000000000003e8 01 0000000000000005"));
  EXPECT_EQ(hex(encode_covered({ShardOffset{1'000},
                                false,
                                GlobalPosition{0},
                                {{ShardOffset{7}, ShardOffset{9}, GlobalPosition{3}, GlobalPosition{17}, Epoch{2}}},
                                ShardOffset{8}})),
            golden("03 00000000000003e8 00 0000000000000000 0000000000000008 0000000000000007 0000000000000009 "
                   "0000000000000003 0000000000000011 0000000000000002"));
  Covered follows{ShardOffset{1'000}};
  follows.followed = Epoch{3};
  EXPECT_EQ(hex(encode_covered(follows)), golden("04 0000000000000003 0000000000000000 01 00000000000003e8"));
  follows.settled = ShardOffset{1'009};
  follows.damaged = true;
  follows.whole_to = GlobalPosition{5};
  EXPECT_EQ(hex(encode_covered(follows)), golden("04"                                          // of one that follows
                                                 "0000000000000003"                            // which epoch
                                                 "00000000000003f1"                            // settled before
                                                 "02 00000000000003e8 01 0000000000000005"));  // as above
}

TEST(StorageGolden, Waiting) {
  WaitingRow row;
  row.events = 2;
  row.tentative = true;
  row.conditions = {{{.everything = false, .items = {{{term}, {}}}}, position_70000}};
  row.part = sharding::PartOf{id, {{shard_7, 2}, {ShardId{8}, 1}}};
  row.appended_at = example_now;
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{250};
  snapshot.payload = "{}";
  snapshot.format = PayloadFormat::json;
  snapshot.schema_revision = 3;
  snapshot.keep = 2;
  snapshot.ttl = std::chrono::seconds(60);
  row.snapshots = {{snapshot, ShardOffset{1'000}}};
  EXPECT_EQ(hex(encode(row)), golden("01"                // version of the row's form
                                     "03"                // flags: tentative, part of an append over several shards
                                     "02"                // events
                                     "003049d4ad490600"  // appended at
                                     "01"                // conditions
                                     "f0a204 00 01"      // no match after 70,000; not everything; one item
                                     "01 efcdab8967452301 00"            // one type, no tag
                                     "000102030405460788090a0b0c0d0e0f"  // the append's first event
                                     "02 0702 0801"                      // two runs: shard 7: 2 events, shard 8: 1
                                     "01"                                // snapshots
                                     "03"                                // flags: keep, time to live
                                     "05 6f72646572 01 31"               // order, 1
                                     "fa01 e807"                         // version 250, of the event with offset 1,000
                                     "01 03"                             // JSON, schema revision 3
                                     "02 3c"                             // keep 2, 60 s
                                     "02 7b7d"                           // payload
                                     "e951ac00b6f32aa9"));               // checksum of all before it
}

TEST(StorageGolden, Snapshot) {
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{250};
  snapshot.payload = "{}";
  snapshot.format = PayloadFormat::json;
  snapshot.schema_revision = 3;
  snapshot.keep = 2;
  snapshot.ttl = std::chrono::seconds(60);
  EXPECT_EQ(hex(encode_snapshot(snapshot, position_70000, example_now)),
            golden("01"                   // version of the row's form
                   "03"                   // flags: keep, expiry
                   "fa01"                 // version 250
                   "f0a204"               // position 70,000
                   "01"                   // format: JSON
                   "03"                   // schema revision
                   "003049d4ad490600"     // taken at
                   "00b7dcd7ad490600"     // expires at: 60 s later
                   "02"                   // keep 2
                   "7b7d"                 // payload, to the checksum
                   "18e55ad36f7e7915"));  // checksum of aggregate and all before it
}

TEST(StorageGolden, ADifferenceOfTwoSnapshots) {
  const AggregateId group{"$group", "mails"};
  SnapshotBase base;
  for (char c = ' '; c != ' ' + 80; ++c) base.payload += c;
  base.checksum = 0x0102030405060708;
  EXPECT_EQ(hex(snapshot_base_key(group)), golden("03 24736e617073686f742f626173652f 2467726f75702d6d61696c73"));
  const auto payload = payload_of_difference(base, "new" + base.payload.substr(10));
  ASSERT_TRUE(payload);
  EXPECT_EQ(hex(*payload), golden("ff 455644494646 01"  // mark
                                  "0807060504030201"    // checksum of the base's row
                                  "4fb798cb77009252"    // of the state
                                  "03 6e6577"           // bytes that the base does not have
                                  "14"                  // then a stretch from its byte 10
                                  "46"));               // of 70 bytes
}

// ---- index rows

TEST(StorageGolden, Postings) {
  std::string out;
  encode_postings(std::vector<Posting>{{position_70000, {shard_7, offset_1000, 2}, term},
                                       {position_70000 + 5, {ShardId{8}, ShardOffset{9}, 0}, 1},
                                       {position_70000 + 6, {shard_7, ShardOffset{1'003}, 0}, term}},
                  out);
  EXPECT_EQ(hex(out), golden("03 02"                              // 3 entries, 2 types
                             "efcdab8967452301 0100000000000000"  // the types' terms
                             "f0a204 07 d00f 02 00"  // position 70,000, shard 7, record 0 + 1,000, index 2, type 0
                             "05 08 12 00 01"        // 5 on, shard 8, record 0 + 9, index 0, type 1
                             "01 07 06 00 00"));     // 1 on, shard 7, record 1,000 + 3, index 0, type 0
}

TEST(StorageGolden, PostingsOfOneType) {
  std::string out;
  encode_postings(std::vector<Posting>{{position_70000, {shard_7, offset_1000, 2}, term}}, out);
  EXPECT_EQ(hex(out), golden("01 01"                 // 1 entry, 1 type: the entries do not name it
                             "efcdab8967452301"      // its term
                             "f0a204 07 d00f 02"));  // position 70,000, shard 7, record 1,000, index 2
}

TEST(StorageGolden, Stream) {
  std::string out;
  encode_stream("order-1",
                std::vector<StreamEntry>{{position_70000, {shard_7, offset_1000, 2}},
                                         {position_70000 + 5, {shard_7, ShardOffset{1'003}, 0}}},
                out);
  EXPECT_EQ(hex(out), golden("02"                 // 2 entries
                             "07 6f726465722d31"  // whose: "order-1"
                             "07"                 // shard 7
                             "f0a204 d00f 02"     // position 70,000, record 0 + 1,000, index 2
                             "05 06 00"));        // 5 on, record 1,000 + 3, index 0
}

TEST(StorageGolden, Id) {
  EXPECT_EQ(hex(encode_id({position_70000, {shard_7, offset_1000, 2}, IdKind::event})),
            golden("00"      // of an event
                   "f0a204"  // position 70,000
                   "07"      // shard 7
                   "e807"    // record 1,000
                   "02"));   // index 2
  EXPECT_EQ(hex(encode_id({position_70000, {shard_7, offset_1000, 2}, IdKind::command})),
            golden("01 f0a204 07 e807 02"));
  EXPECT_EQ(hex(encode_id({position_70000, {shard_7, offset_1000, 2}, IdKind::request})),
            golden("02 f0a204 07 e807 02"));
}

TEST(StorageGolden, Directory) {
  EXPECT_EQ(hex(encode_directory(term, shard_7)), golden("efcdab8967452301"  // the aggregate's term
                                                         "0700"));           // shard
}

TEST(StorageGolden, Runs) {
  std::string out;
  encode_runs(std::vector<sharding::Run>{{shard_7, position_70000, offset_1000, 3},
                                         {shard_7, position_70000 + 10, ShardOffset{1'003}, 1}},
              out);
  EXPECT_EQ(hex(out), golden("02"              // 2 runs
                             "f0a204 e807 03"  // from position 70,000, offset 1,000: 3 events
                             "07 00 01"));     // 7 positions on, no offset between: 1 event
}

// ---- projections

TEST(StorageGolden, CheckpointOfAProjection) {
  const ProjectionOwner owner{id, *EventId::parse("10111213-1415-4617-9819-1a1b1c1d1e1f")};
  ProjectionCheckpoint checkpoint{.position = position_70000, .definition = 3, .complete = true, .state = "state"};
  const auto without_event = encode(checkpoint, owner);
  EXPECT_EQ(hex(without_event), golden("01"                                // format
                                       "000102030405460788090a0b0c0d0e0f"  // store
                                       "101112131415461798191a1b1c1d1e1f"  // fork
                                       "7011010000000000"                  // position
                                       "0300000000000000"                  // version of the definition
                                       "01"                                // it has caught up once
                                       "7374617465"                        // the projection's own state
                                       "0c92b8bc9576c9f2"));               // checksum
  EXPECT_EQ(decode_checkpoint(without_event)->checkpoint, checkpoint);

  checkpoint.event = id;
  const auto with_event = encode(checkpoint, owner);
  EXPECT_EQ(hex(with_event), golden("02"
                                    "000102030405460788090a0b0c0d0e0f"
                                    "101112131415461798191a1b1c1d1e1f"
                                    "7011010000000000"
                                    "0300000000000000"
                                    "01"
                                    "000102030405460788090a0b0c0d0e0f"  // the event at the position
                                    "7374617465"
                                    "04b176cc5687660f"));
  EXPECT_EQ(decode_checkpoint(with_event)->checkpoint, checkpoint);
}

}  // namespace
}  // namespace evershard::storage
