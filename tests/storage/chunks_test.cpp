#include "evershard/storage/journal/chunks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>

#include "tests/storage/random_values.hpp"

namespace evershard::storage {

auto parts(const Posting& p) { return std::tuple(p.position, p.location, p.type); }
bool operator==(const Posting& a, const Posting& b) { return parts(a) == parts(b); }
bool operator==(const StreamEntry& a, const StreamEntry& b) {
  return std::tuple(a.position, a.location) == std::tuple(b.position, b.location);
}
bool operator==(const IdEntry& a, const IdEntry& b) {
  return std::tuple(a.position, a.location, a.kind) == std::tuple(b.position, b.location, b.kind);
}

namespace {

using testing::IsEmpty;

constexpr std::uint64_t u64_max = ~std::uint64_t{0};

std::string encoded(const std::vector<Posting>& postings) {
  std::string bytes;
  encode_postings(postings, bytes);
  return bytes;
}

std::vector<StreamEntry> stream_entries(RandomValues& random, std::size_t size) {
  std::vector<StreamEntry> entries;
  const ShardId shard{random.small_number()};
  for (const Posting& posting : random.postings(size)) {
    entries.push_back({posting.position, {shard, posting.location.record, posting.location.index}});
  }
  return entries;
}

std::vector<sharding::Run> some_runs(RandomValues& random, ShardId shard, std::size_t size) {
  std::vector<sharding::Run> runs;
  std::uint64_t position = random.number() / 4, offset = random.number() / 4;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t count = 1 + random.number() / (8 * size);
    runs.push_back({shard, GlobalPosition{position}, ShardOffset{offset}, count});
    position += count + random.number() / (8 * size);
    offset += count + random.number() / (8 * size);
  }
  return runs;
}

RC_GTEST_PROP(Postings, ComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const auto postings = random.postings(1 + random.below(chunk_entries_max));

  std::vector<Posting> decoded;
  const auto done = decode_postings(encoded(postings), decoded);

  RC_ASSERT(done.has_value());
  RC_ASSERT(decoded == postings);
}

TEST(Postings, HoldTheExtremes) {
  const std::vector<Posting> postings{{GlobalPosition{0}, {ShardId{0}, ShardOffset{0}, 0}, 0},
                                      {GlobalPosition{1}, {ShardId{65'535}, ShardOffset{u64_max}, 65'535}, u64_max},
                                      {GlobalPosition{1}, {ShardId{15}, ShardOffset{1ull << 63}, 1}, 1},
                                      {GlobalPosition{u64_max}, {ShardId{31}, ShardOffset{0}, 0}, 0}};

  std::vector<Posting> decoded;
  ASSERT_TRUE(decode_postings(encoded(postings), decoded));

  EXPECT_EQ(decoded, postings);
}

TEST(Postings, AreAddedBehindWhatWasThere) {
  RandomValues random(1);
  auto all = random.postings(100);
  const std::vector<Posting> first(all.begin(), all.begin() + 40), second(all.begin() + 40, all.end());

  std::vector<Posting> decoded;
  ASSERT_TRUE(decode_postings(encoded(first), decoded));
  ASSERT_TRUE(decode_postings(encoded(second), decoded));

  EXPECT_EQ(decoded, all);
}

TEST(Postings, OfOneTypeAndSixteenBusyShardsTakeFewBytes) {
  std::vector<Posting> postings(chunk_entries_max);
  for (std::size_t i = 0; i < postings.size(); ++i) {
    postings[i] = {GlobalPosition{1'000'000 + 50 * i},
                   {ShardId{static_cast<std::uint16_t>(i * 7 % 16)}, ShardOffset{60'000 + 3 * i}, 5},
                   77};
  }

  const std::string bytes = encoded(postings);

  EXPECT_LT(bytes.size(), 5 * postings.size());
}

RC_GTEST_PROP(Streams, ComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const std::string text = random.aggregate().text();
  const auto entries = stream_entries(random, 1 + random.below(chunk_entries_max));
  std::string bytes;
  encode_stream(text, entries, bytes);

  StreamChunk decoded;
  std::size_t count = 0;
  const auto done = decode_stream(bytes, decoded);
  const auto owner = decode_stream_owner(bytes, count);

  RC_ASSERT(done.has_value());
  RC_ASSERT(decoded.aggregate_text == text);
  RC_ASSERT(decoded.entries == entries);
  RC_ASSERT(owner == text);
  RC_ASSERT(count == entries.size());
}

RC_GTEST_PROP(Ids, ComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const IdEntry entry{GlobalPosition{random.number()}, random.location(), static_cast<IdKind>(random.number() % 3)};

  const auto decoded = decode_id_entry(encode_id(entry));

  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == entry);
}

RC_GTEST_PROP(Runs, ComeBackAsTheyWere, (std::uint64_t seed)) {
  RandomValues random(seed);
  const ShardId shard{random.small_number()};
  const auto runs = some_runs(random, shard, 1 + random.below(chunk_entries_max));
  std::string bytes;
  encode_runs(runs, bytes);

  std::vector<sharding::Run> decoded;
  const auto done = decode_runs(shard, bytes, decoded);

  RC_ASSERT(done.has_value());
  RC_ASSERT(decoded == runs);
}

RC_GTEST_PROP(Directory, ComesBackAsItWas, (std::uint64_t stream, std::uint16_t shard)) {
  const auto decoded = decode_directory_entry(encode_directory(stream, ShardId{shard}));

  RC_ASSERT(decoded.has_value());
  RC_ASSERT(decoded->stream == stream);
  RC_ASSERT(decoded->shard == ShardId{shard});
}

// A refused chunk leaves nothing behind: a caller that goes on has only what was whole.
void expect_decoded_whole_or_refused(std::string_view bytes) {
  std::vector<Posting> postings;
  if (!decode_postings(bytes, postings)) {
    EXPECT_THAT(postings, IsEmpty());
  }
  StreamChunk chunk;
  if (!decode_stream(bytes, chunk)) {
    EXPECT_THAT(chunk.entries, IsEmpty());
  }
  std::vector<sharding::Run> runs;
  if (!decode_runs(ShardId{1}, bytes, runs)) {
    EXPECT_THAT(runs, IsEmpty());
  }
  std::size_t entries = 0;
  if (const auto owner = decode_stream_owner(bytes, entries)) {
    EXPECT_LE(entries, chunk_entries_max);
  }
  if (const auto id = decode_id_entry(bytes)) {
    EXPECT_EQ(encode_id(*id), bytes);
  }
  EXPECT_EQ(decode_directory_entry(bytes).has_value(), bytes.size() == 10);
}

TEST(Chunks, CutShortAreRefused) {
  RandomValues random(7);
  std::string postings = encoded(random.postings(20)), stream, runs;
  encode_stream("order-1", stream_entries(random, 20), stream);
  encode_runs(some_runs(random, ShardId{1}, 20), runs);
  std::vector<Posting> no_postings;
  StreamChunk no_entries;
  std::vector<sharding::Run> no_runs;

  for (std::size_t size = 0; size < postings.size(); ++size) {
    EXPECT_FALSE(decode_postings(std::string_view(postings).substr(0, size), no_postings)) << size;
  }
  for (std::size_t size = 0; size < stream.size(); ++size) {
    EXPECT_FALSE(decode_stream(std::string_view(stream).substr(0, size), no_entries)) << size;
  }
  for (std::size_t size = 0; size < runs.size(); ++size) {
    EXPECT_FALSE(decode_runs(ShardId{1}, std::string_view(runs).substr(0, size), no_runs)) << size;
  }

  EXPECT_THAT(no_postings, IsEmpty());
  EXPECT_THAT(no_entries.entries, IsEmpty());
  EXPECT_THAT(no_runs, IsEmpty());
}

TEST(Chunks, WithBytesBehindTheirLastEntryAreRefused) {
  RandomValues random(8);
  std::string postings = encoded(random.postings(3)) + "x", stream, runs;
  encode_stream("order-1", stream_entries(random, 3), stream);
  encode_runs(some_runs(random, ShardId{1}, 3), runs);
  std::vector<Posting> no_postings;
  StreamChunk no_entries;
  std::vector<sharding::Run> no_runs;

  EXPECT_FALSE(decode_postings(postings, no_postings));
  EXPECT_FALSE(decode_stream(stream + "x", no_entries));
  EXPECT_FALSE(decode_runs(ShardId{1}, runs + "x", no_runs));
}

TEST(Chunks, WithAFlippedBitAreDecodedWholeOrRefused) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomValues random(seed);
    std::string stream, runs;
    encode_stream("order-1", stream_entries(random, 5), stream);
    encode_runs(some_runs(random, ShardId{1}, 5), runs);
    for (const std::string& whole : {encoded(random.postings(5)), stream, runs}) {
      for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::string flipped = whole;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
        expect_decoded_whole_or_refused(flipped);
      }
    }
  }
}

TEST(Postings, WithANumberTooLargeForItsPlaceAreRefused) {
  const std::string one_type("\x02\x01TTTTTTTT", 10), two_types("\x02\x02TTTTTTTTUUUUUUUU", 18);
  const std::string entry("\1\1\2\1", 4), shard_65536("\1\x80\x80\4\2\1", 6), index_65536("\1\1\2\x80\x80\4", 6);
  const std::string position_behind_the_last("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\1\2\1", 13);
  std::vector<Posting> decoded;

  EXPECT_FALSE(decode_postings(one_type + entry + shard_65536, decoded));
  EXPECT_FALSE(decode_postings(one_type + entry + index_65536, decoded));
  EXPECT_FALSE(decode_postings(one_type + entry + position_behind_the_last, decoded));
  EXPECT_FALSE(decode_postings(two_types + entry + "\1" + entry + "\2", decoded));
  EXPECT_THAT(decoded, IsEmpty());

  EXPECT_TRUE(decode_postings(one_type + entry + entry, decoded));
  EXPECT_TRUE(decode_postings(two_types + entry + "\1" + entry + std::string(1, '\0'), decoded));
  EXPECT_EQ(decoded.size(), 4u);
}

TEST(Chunks, OfRandomBytesAreDecodedWholeOrRefused) {
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    RandomValues random(seed);
    std::string bytes = random.bytes(random.below(60));
    if (!bytes.empty()) bytes[0] = static_cast<char>(random.below(8));
    expect_decoded_whole_or_refused(bytes);
  }
}

TEST(ChunksDeathTest, TakeNoMoreThanTheyHoldAndNothingOutOfOrder) {
  RandomValues random(9);
  std::string out;
  const auto too_many = random.postings(chunk_entries_max + 1);
  const std::vector<Posting> falling{{GlobalPosition{2}, {}, 1}, {GlobalPosition{1}, {}, 1}};
  const std::vector<StreamEntry> two_shards{{GlobalPosition{1}, {ShardId{1}, ShardOffset{1}, 0}},
                                            {GlobalPosition{2}, {ShardId{2}, ShardOffset{1}, 0}}};

  EXPECT_DEATH(encode_postings(too_many, out), "1 to 128");
  EXPECT_DEATH(encode_postings(falling, out), "ascend");
  EXPECT_DEATH(encode_stream("order-1", two_shards, out), "one shard");
}

}  // namespace
}  // namespace evershard::storage
