// What a cut log is on disk, byte by byte. A test here that fails means: this program cannot read the cut logs that are
// out there.

#include <gtest/gtest.h>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/order/cut_log_rows.hpp"

namespace evershard::storage {
namespace {

std::string cut_log_golden(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  return digits;
}

std::string from_hex(std::string_view text) {
  const auto digits = cut_log_golden(text);
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

sharding::Cut losing_cut() {
  sharding::Cut cut{CutNumber{5},
                    Epoch{3},
                    GlobalPosition{70'001},
                    {{ShardId{7}, Epoch{2}, ShardOffset{1'000}, ShardOffset{1'003}, {}}},
                    {}};
  cut.openings.push_back({ShardId{2}, Epoch{4}, 9, ShardOffset{300}, ShardOffset{290}, ShardOffset{300}});
  return cut;
}

TEST(CutLogGolden, Keys) {
  EXPECT_EQ(hex(cut_log_rows::identity_key()), "01");
  EXPECT_EQ(hex(cut_log_rows::epoch_key()), "02");
  EXPECT_EQ(hex(cut_log_rows::checkpoint_key()), "03");
  EXPECT_EQ(hex(cut_log_rows::cut_key(CutNumber{70'000})), cut_log_golden("04"                   // kind
                                                                          "0000000000011170"));  // number
}

TEST(CutLogGolden, Epoch) {
  const std::string row = cut_log_rows::epoch_row(Epoch{3});

  EXPECT_EQ(hex(row), cut_log_golden("01"                   // version
                                     "0300000000000000"     // epoch
                                     "f034b4f6f1260b83"));  // checksum of key and row
  EXPECT_EQ(cut_log_rows::decode_epoch_row(row), Epoch{3});
}

TEST(CutLogGolden, Leaderships) {
  sharding::Leaderships leaderships{{Epoch{2}, {}}, {Epoch{300}, {}}};
  for (std::uint8_t i = 0; i != 16; ++i)
    leaderships[0].identity.bytes[i] = i, leaderships[1].identity.bytes[i] = static_cast<std::uint8_t>(0xf0 + i);
  const std::string row = cut_log_rows::leaderships_row(leaderships);

  EXPECT_EQ(hex(cut_log_rows::leaderships_key()), "0201");
  EXPECT_EQ(hex(row.substr(0, row.size() - 8)), cut_log_golden("01"                                   // version
                                                               "02"                                   // so many
                                                               "02 000102030405060708090a0b0c0d0e0f"  // epoch, identity
                                                               "ac02 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"));
  EXPECT_EQ(cut_log_rows::decode_leaderships_row(row), leaderships);
  auto damaged = row;
  damaged[5] ^= 1;
  EXPECT_EQ(cut_log_rows::decode_leaderships_row(damaged).error().code, ErrorCode::corruption);
}

TEST(CutLogGolden, Leader) {
  const cut_log_rows::LeaderRow leader{Epoch{300}, "n1:7430", 5};
  const std::string row = cut_log_rows::leader_row(leader);

  EXPECT_EQ(hex(cut_log_rows::leader_key()), "0202");
  EXPECT_EQ(hex(row.substr(0, row.size() - 8)), cut_log_golden("01"                 // version
                                                               "ac02 05"            // epoch, beat
                                                               "07 6e313a37343330"  // address
                                                               ));
  EXPECT_EQ(cut_log_rows::decode_leader_row(row), leader);
  auto damaged = row;
  damaged[2] ^= 1;
  EXPECT_EQ(cut_log_rows::decode_leader_row(damaged).error().code, ErrorCode::corruption);
}

sharding::CutLogState sample_checkpoint() {
  sharding::CutLogState checkpoint(2);
  checkpoint.last_cut = CutNumber{5};
  checkpoint.watermark = GlobalPosition{70'000};
  checkpoint.shards[1] = {Epoch{4},
                          9,
                          ShardOffset{300},
                          GlobalPosition{69'999},
                          Epoch{4},
                          ShardOffset{0},
                          {{Epoch{2}, ShardOffset{7}}, {Epoch{4}, ShardOffset{290}}}};
  return checkpoint;
}

TEST(CutLogGolden, Checkpoint) {
  const auto checkpoint = sample_checkpoint();
  const std::string row = cut_log_rows::checkpoint_row(checkpoint);

  EXPECT_EQ(hex(row),
            cut_log_golden(
                "03"                 // version
                "05 f0a204"          // last cut, watermark
                "02"                 // shards
                "00 00 01 00 00 00"  // never opened: epoch, node, next offset, last position, written under, losses
                "04 09 ac02 efa204 04"
                "02 02 07 04 a202"     // losses: epoch, first offset
                "349ca5d9827ce2d5"));  // checksum of key and row
  EXPECT_EQ(cut_log_rows::decode_checkpoint_row(row, 2), checkpoint);
}

TEST(CutLogGolden, CheckpointWithReplicaSets) {
  auto checkpoint = sample_checkpoint();
  checkpoint.shards[1].replicas = {2, {1, 9, 300}};
  const std::string row = cut_log_rows::checkpoint_row(checkpoint);

  EXPECT_EQ(hex(row.substr(0, row.size() - 8)),
            cut_log_golden("04"                 // version
                           "05 f0a204"          // last cut, watermark
                           "02"                 // shards
                           "00 00 01 00 00 00"  // never opened
                           "01 00"              // its replica set: quorum, nodes
                           "04 09 ac02 efa204 04"
                           "02 02 07 04 a202"  // losses: epoch, first offset
                           "02 03 01 09 ac02"  // replica set: quorum, nodes
                           ));
  EXPECT_EQ(cut_log_rows::decode_checkpoint_row(row, 2), checkpoint);
  for (std::size_t bit = 0; bit != row.size() * 8; ++bit) {
    auto damaged = row;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(cut_log_rows::decode_checkpoint_row(damaged, 2)) << bit;
  }
}

TEST(CutLogGolden, CheckpointOfVersion1) {
  auto checkpoint = sample_checkpoint();
  checkpoint.shards[1] = {Epoch{2}, 9, ShardOffset{300}, GlobalPosition{69'999}, Epoch{1}, {}};

  EXPECT_EQ(
      cut_log_rows::decode_checkpoint_row(from_hex("01"                 // version
                                                   "05 f0a204"          // last cut, watermark
                                                   "02"                 // shards
                                                   "00 00 01 00 00 00"  // never opened: epoch, node, next offset, last
                                                                        // position, written under, a cut's number
                                                   "02 09 ac02 efa204 01 04"
                                                   "ac9f2308b0b7c584"),  // checksum of key and row
                                          2),
      checkpoint);
}

TEST(CutLogGolden, CheckpointOfVersion2) {
  EXPECT_EQ(cut_log_rows::decode_checkpoint_row(from_hex("02"         // version
                                                         "05 f0a204"  // last cut, watermark
                                                         "02"         // shards
                                                         "00 00 01 00 00 00 00"
                                                         "04 09 ac02 efa204 04 04"  // the last one: a cut's number
                                                         "02 02 07 04 a202"         // losses: epoch, first offset
                                                         "7b418f70beadbfa8"),       // checksum of key and row
                                                2),
            sample_checkpoint());
}

TEST(CutLogGolden, CutWithALoss) {
  const std::string row = cut_log_rows::cut_row(losing_cut());

  EXPECT_EQ(hex(row),
            cut_log_golden("01 03"          // version, flags: openings and losses
                           "05 03 f1a204"   // number, the coordinator's epoch, first position
                           "01"             // segments
                           "3a 02 e807 03"  // shard 7 under another epoch than 1; the epoch; first offset; offsets
                           "01"             // openings
                           "02 04 09 ac02"  // shard, epoch, node, tail
                           "01"             // losses
                           "00 a202 0a"     // of the first opening, first offset, offsets
                           "03da82b645b64796"));  // checksum of key and row
  EXPECT_EQ(cut_log_rows::decode_cut_row(CutNumber{5}, row), losing_cut());
}

}  // namespace
}  // namespace evershard::storage
