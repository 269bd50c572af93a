#include "evershard/storage/journal/waiting_row.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

using testing::HasSubstr;

std::vector<sharding::Term> some_terms(RandomValues& random) {
  std::vector<sharding::Term> terms(random.below(4));
  for (auto& term : terms) term = random.number();
  return terms;
}

WaitingRow some_row(RandomValues& random) {
  WaitingRow row;
  row.events = 1 + random.below(70'000);
  row.tentative = random.below(2) == 0;
  row.appended_at.micros = static_cast<std::int64_t>(random.number() >> 1);
  row.conditions.resize(random.below(3));
  for (auto& condition : row.conditions) {
    condition.from = GlobalPosition{random.number()};
    condition.query.everything = random.below(2) == 0;
    condition.query.items.resize(random.below(3));
    for (auto& item : condition.query.items) item = {some_terms(random), some_terms(random)};
  }
  if (random.below(2) == 0) {
    auto& part = row.part.emplace();
    part.append = random.id();
    part.runs.resize(random.below(4));
    for (auto& [shard, events] : part.runs) shard = ShardId{random.small_number()}, events = 1 + random.below(100);
  }
  row.snapshots.resize(random.below(3));
  for (auto& waiting : row.snapshots) {
    waiting.event = ShardOffset{random.number()};
    waiting.snapshot.aggregate = random.aggregate();
    waiting.snapshot.version = SeqNr{random.number()};
    waiting.snapshot.payload = random.bytes(random.below(40));
    waiting.snapshot.schema_revision = random.small_number();
    if (random.below(2) == 0) waiting.snapshot.keep = random.small_number();
    if (random.below(2) == 0) waiting.snapshot.ttl = std::chrono::seconds(1 + random.below(1'000'000));
  }
  return row;
}

RC_GTEST_PROP(Waiting, ComesBackAsItWas, (std::uint64_t seed)) {
  RandomValues random(seed);
  const auto row = some_row(random);

  const auto decoded = decode_waiting(encode(row));

  RC_ASSERT(decoded);
  RC_ASSERT(*decoded == row);
}

RC_GTEST_PROP(Waiting, IsRefusedWhereABitIsFlippedOrBytesAreMissing, (std::uint64_t seed)) {
  RandomValues random(seed);
  auto bytes = encode(some_row(random));
  auto shorter = bytes.substr(0, random.below(bytes.size()));
  bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));

  RC_ASSERT(!decode_waiting(bytes));
  RC_ASSERT(!decode_waiting(shorter));
}

TEST(Waiting, IsDamageByName) {
  EXPECT_EQ(decode_waiting("").error().code, ErrorCode::corruption);
  EXPECT_THAT(decode_waiting("12345678").error().what, HasSubstr("checksum"));
}

}  // namespace
}  // namespace evershard::storage
