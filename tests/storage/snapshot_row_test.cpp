#include "evershard/storage/journal/snapshot_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/random_values.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

Snapshot snapshot(std::string payload = "state") {
  Snapshot snapshot;
  snapshot.aggregate = order_1;
  snapshot.version = SeqNr{250};
  snapshot.payload = std::move(payload);
  snapshot.format = PayloadFormat::json;
  snapshot.schema_revision = 3;
  return snapshot;
}

TEST(SnapshotRow, ComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    Snapshot given;
    given.aggregate = random.aggregate();
    given.version = SeqNr{random.number()};
    given.payload = random.bytes(random.below(300));
    given.format = static_cast<PayloadFormat>(static_cast<std::uint32_t>(random.number()));
    given.schema_revision = static_cast<std::uint32_t>(random.number());
    if (random.sometimes()) given.keep = static_cast<std::uint32_t>(random.number());
    if (random.sometimes()) given.ttl = seconds(random.below(1'000'000));
    const GlobalPosition position{random.number()};
    const Timestamp taken_at{static_cast<std::int64_t>(random.below(1'000'000'000'000'000))};

    std::optional<std::uint32_t> keep;
    const auto decoded = decode_snapshot(encode_snapshot(given, position, taken_at), given.aggregate, &keep);

    RecordedSnapshot expected{given.aggregate,       given.version, position,     given.payload, given.format,
                              given.schema_revision, taken_at,      std::nullopt, false};
    if (given.ttl) expected.expires_at = Timestamp{taken_at.micros + given.ttl->count() * 1'000'000};
    ASSERT_TRUE(decoded) << decoded.error().what;
    EXPECT_EQ(*decoded, expected);
    EXPECT_EQ(keep, given.keep);
  }
}

TEST(SnapshotRow, TellsNoneKeptFromNoCount) {
  Snapshot none = snapshot(), off = snapshot();
  none.keep = 0;
  std::optional<std::uint32_t> keep = 99;

  ASSERT_TRUE(decode_snapshot(encode_snapshot(none, GlobalPosition{1}, {}), order_1, &keep));
  EXPECT_EQ(keep, 0u);

  ASSERT_TRUE(decode_snapshot(encode_snapshot(off, GlobalPosition{1}, {}), order_1, &keep));
  EXPECT_EQ(keep, std::nullopt);
}

TEST(SnapshotRow, WithAVeryLongTtlExpiresAtTheEndOfTime) {
  Snapshot forever = snapshot();
  forever.ttl = seconds::max();

  const auto decoded = decode_snapshot(encode_snapshot(forever, GlobalPosition{1}, Timestamp{5}), order_1);

  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->expires_at, Timestamp::last());
}

TEST(SnapshotRow, WithAnyBitFlippedIsFoundOut) {
  Snapshot full = snapshot();
  full.keep = 3;
  full.ttl = seconds(60);
  const std::string whole = encode_snapshot(full, GlobalPosition{300}, Timestamp{5});

  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const auto decoded = decode_snapshot(flipped, order_1);
    ASSERT_FALSE(decoded) << bit;
    EXPECT_EQ(decoded.error().code, ErrorCode::corruption);
  }
}

TEST(SnapshotRow, CutShortIsFoundOut) {
  const std::string whole = encode_snapshot(snapshot(), GlobalPosition{300}, Timestamp{5});

  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_snapshot(std::string_view(whole).substr(0, size), order_1)) << size;
  }
}

TEST(SnapshotRow, UnderAnotherAggregatesKeyIsFoundOut) {
  const std::string row = encode_snapshot(snapshot(), GlobalPosition{300}, Timestamp{5});

  const auto decoded = decode_snapshot(row, {"order", "2"});

  ASSERT_FALSE(decoded);
  EXPECT_THAT(decoded.error().what, HasSubstr("a snapshot of \"order-2\" is damaged: its checksum does not match"));
}

TEST(SnapshotRow, OfRandomBytesIsRefused) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    RandomValues random(seed);
    EXPECT_FALSE(decode_snapshot(random.bytes(random.below(60)), order_1)) << seed;
  }
}

}  // namespace
}  // namespace evershard::storage
