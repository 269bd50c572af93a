// Large states that are written again and again: what lies on the disk, what is read, after any sequence and any crash.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/row_sink.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/snapshot_slots.hpp"
#include "tests/storage/map_rows.hpp"
#include "tests/storage/random_values.hpp"

namespace evershard::storage {
namespace {

using testing::HasSubstr;

const AggregateId group_of_rows{"$group", "mails"};

Snapshot state_of_rows(std::string payload, std::uint64_t version = 1) {
  Snapshot snapshot;
  snapshot.aggregate = group_of_rows;
  snapshot.version = SeqNr{version};
  snapshot.payload = std::move(payload);
  snapshot.schema_revision = 1;
  return snapshot;
}

/// One commit.
class StagedRows final : public RowSink {
 public:
  void put(Family, std::string_view key, std::string_view value) override {
    bytes += key.size() + value.size();
    rows[std::string(key)] = std::string(value);
  }
  void erase(Family, std::string_view key) override { rows[std::string(key)] = std::nullopt; }
  void write_to(MapRows& to) const {
    for (const auto& [key, value] : rows) {
      if (value)
        to[Family::state][key] = *value;
      else
        to[Family::state].erase(key);
    }
  }
  std::map<std::string, std::optional<std::string>> rows;
  std::size_t bytes = 0;
};

/// Writes each state by a commit of its own. Returns: its bytes.
std::size_t write_state(MapRows& rows, const Snapshot& snapshot) {
  SnapshotSlots slots(rows);
  StagedRows staged;
  slots.write(snapshot, GlobalPosition{5}, Timestamp{7}, staged);
  staged.write_to(rows);
  return staged.bytes;
}

TEST(TwoRowSnapshots, AreWrittenByWhatChanged) {
  RandomValues random(1);
  MapRows rows;
  auto state = random.bytes(300'000);
  EXPECT_GE(write_state(rows, state_of_rows(state)), state.size());
  for (int n = 0; n != 20; ++n) {
    state[100 + static_cast<std::size_t>(n)] = 'x';
    state += "one more";
    EXPECT_LT(write_state(rows, state_of_rows(state)), 2'000u);
    const auto latest = latest_snapshot_of(rows, group_of_rows);
    ASSERT_TRUE(latest && *latest);
    EXPECT_EQ((*latest)->payload, state);
  }
}

TEST(TwoRowSnapshots, GetANewBaseWhereMuchChanged) {
  RandomValues random(2);
  MapRows rows;
  ASSERT_GE(write_state(rows, state_of_rows(random.bytes(50'000))), 50'000u);
  const auto other = random.bytes(40'000);
  EXPECT_GE(write_state(rows, state_of_rows(other)), 40'000u);
  EXPECT_LT(write_state(rows, state_of_rows(other + "x")), 1'000u);
  EXPECT_EQ((*latest_snapshot_of(rows, group_of_rows))->payload, other + "x");
}

TEST(TwoRowSnapshots, LieInOneRowWhereTheyAreSmallOrAUsers) {
  RandomValues random(3);
  MapRows rows;
  write_state(rows, state_of_rows(random.bytes(50'000)));
  ASSERT_EQ(rows[Family::state].size(), 2u);
  write_state(rows, state_of_rows("little"));
  ASSERT_EQ(rows[Family::state].size(), 1u);  // nothing is left of the base
  EXPECT_EQ((*latest_snapshot_of(rows, group_of_rows))->payload, "little");

  MapRows of_user;
  auto users = state_of_rows(random.bytes(50'000));
  users.aggregate = {"order", "1"};
  write_state(of_user, users);
  ASSERT_EQ(of_user[Family::state].size(), 1u);
  const auto& [key, row] = *of_user[Family::state].begin();
  EXPECT_EQ(row, encode_snapshot(users, GlobalPosition{5}, Timestamp{7}));
}

// Any row of one that lies in two is needed: none of them is taken for a state by itself.
TEST(TwoRowSnapshots, AreDamagedWithoutEitherRow) {
  RandomValues random(4);
  MapRows rows;
  auto state = random.bytes(50'000);
  write_state(rows, state_of_rows(state));
  const auto base_before = rows[Family::state][snapshot_base_key(group_of_rows)];
  write_state(rows, state_of_rows(state + "more"));
  const auto slot = keys::snapshot(group_of_rows, std::nullopt);
  const auto refusal = [&] {
    const auto latest = latest_snapshot_of(rows, group_of_rows);
    return latest ? Error(ErrorCode::timeout, "it was read") : latest.error();
  };

  EXPECT_EQ(decode_snapshot(rows[Family::state][slot], group_of_rows).error().code, ErrorCode::corruption);
  auto& base = rows[Family::state][snapshot_base_key(group_of_rows)];
  const auto right = base;
  base[right.size() / 2] = static_cast<char>(base[right.size() / 2] + 1);
  EXPECT_EQ(refusal().code, ErrorCode::corruption);
  base = encode_snapshot(state_of_rows(random.bytes(50'000)), GlobalPosition{5}, Timestamp{7});
  EXPECT_THAT(refusal().what, HasSubstr("another state"));
  rows[Family::state].erase(snapshot_base_key(group_of_rows));
  EXPECT_THAT(refusal().what, HasSubstr("missing"));

  // Who writes the next one does not build on what is damaged.
  write_state(rows, state_of_rows(state + "and more"));
  EXPECT_EQ((*latest_snapshot_of(rows, group_of_rows))->payload, state + "and more");
}

// A program of an earlier release wrote the state in one row, beside a base that it does not know.
TEST(TwoRowSnapshots, AreReadWhereAnEarlierReleaseWroteOne) {
  RandomValues random(5);
  MapRows rows;
  write_state(rows, state_of_rows(random.bytes(50'000)));
  const auto slot = keys::snapshot(group_of_rows, std::nullopt);
  const auto theirs = random.bytes(50'000);
  rows[Family::state][slot] = encode_snapshot(state_of_rows(theirs), GlobalPosition{5}, Timestamp{7});
  EXPECT_EQ((*latest_snapshot_of(rows, group_of_rows))->payload, theirs);
  write_state(rows, state_of_rows(theirs + "x"));
  EXPECT_EQ((*latest_snapshot_of(rows, group_of_rows))->payload, theirs + "x");
}

TEST(TwoRowSnapshots, AreTakenFromAnotherDisk) {
  RandomValues random(6);
  MapRows from, to;
  const auto state = random.bytes(50'000);
  write_state(from, state_of_rows(state, 3));
  write_state(from, state_of_rows(state + "more", 3));
  const auto two = latest_snapshot_in_two_rows(from, group_of_rows);
  ASSERT_TRUE(two && *two);
  const auto& [latest, base, checksum] = **two;
  const auto take = [&](std::string_view base_row, std::string_view row) {
    auto taken = take_two_rows(to, group_of_rows, base_row, row);
    if (taken && *taken)
      for (const auto& [key, value] : (*taken)->rows) to[Family::state][key] = *value;
    return taken;
  };

  ASSERT_FALSE(*take({}, latest)) << "its base is not here";
  ASSERT_EQ((*take(base, latest))->base_checksum, checksum);
  EXPECT_EQ((*latest_snapshot_of(to, group_of_rows))->payload, state + "more");
  write_state(from, state_of_rows(state + "and more", 3));
  ASSERT_TRUE(*take({}, (*latest_snapshot_in_two_rows(from, group_of_rows))->latest));
  EXPECT_EQ((*latest_snapshot_of(to, group_of_rows))->payload, state + "and more");

  // Rows that do not go together, of an earlier version, or none of these.
  MapRows other;
  write_state(other, state_of_rows(random.bytes(50'000), 3));
  const auto others = *latest_snapshot_in_two_rows(other, group_of_rows);
  EXPECT_EQ(take(others->base, latest).error().code, ErrorCode::corruption);
  EXPECT_FALSE(*take({}, others->latest));
  EXPECT_EQ(take(base, base).error().code, ErrorCode::corruption);
  MapRows earlier;
  write_state(earlier, state_of_rows(random.bytes(50'000), 2));
  const auto earliers = *latest_snapshot_in_two_rows(earlier, group_of_rows);
  EXPECT_THAT((*take(earliers->base, earliers->latest))->rows, testing::IsEmpty());
  EXPECT_EQ((*latest_snapshot_of(to, group_of_rows))->payload, state + "and more");

  // And its next one is told from the base that came.
  EXPECT_LT(write_state(to, state_of_rows(state + "of its own", 3)), 1'000u);
}

// Commits are staged while those before them are being written; a crash loses what is not written.
TEST(TwoRowSnapshots, AreWhatWasWrittenWholeAfterAnySequenceAndCrash) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    RandomValues random(seed);
    MapRows rows;
    auto slots = std::make_unique<SnapshotSlots>(rows);
    std::optional<Snapshot> written, now;  // what the disk has, and what it will have
    SeqNr least{0};                        // what was removed with its aggregate does not come back
    struct Commit {
      StagedRows rows;
      std::optional<Snapshot> state;
    };
    std::deque<Commit> under_way;
    std::uint64_t staged = 0, committed = 0;
    const auto end_one = [&] {
      under_way.front().rows.write_to(rows);
      written = under_way.front().state;
      under_way.pop_front();
      ++committed;
    };
    for (int step = 0; step != 60; ++step) {
      const auto what = random.below(12);
      if (what == 0) {  // a crash
        under_way.clear();
        slots = std::make_unique<SnapshotSlots>(rows);
        now = written;
        staged = committed = 0;
      } else if (what < 5) {
        if (!under_way.empty()) end_one();
      } else {
        if (under_way.size() == 2) end_one();
        slots->batch(++staged, committed);
        auto& commit = under_way.emplace_back();
        if (what == 5 && now) {
          least = now->version + 1;
          slots->remove({group_of_rows, least, true}, Timestamp{7}, commit.rows);
          now.reset();
        } else {
          auto next = now.value_or(state_of_rows(random.bytes(20'000 + random.below(30'000))));
          if (what == 6)
            next.payload = random.bytes(random.below(40'000));  // it was reset, or much was given up
          else if (!next.payload.empty())
            next.payload.replace(random.below(next.payload.size()), 1, random.bytes(random.below(300)));
          if (what == 7) next.version = next.version + 1;
          next.version = std::max(next.version, least);
          slots->write(next, GlobalPosition{5}, Timestamp{7}, commit.rows);
          now = next;
        }
        commit.state = now;
      }
      const auto latest = latest_snapshot_of(rows, group_of_rows);
      ASSERT_TRUE(latest) << latest.error().what;
      ASSERT_EQ(latest->has_value(), written.has_value());
      if (!written) continue;
      ASSERT_EQ((*latest)->payload, written->payload);
      ASSERT_EQ((*latest)->version, written->version);
      const auto row = latest_snapshot_row(rows, group_of_rows);
      ASSERT_TRUE(row && *row);
      ASSERT_EQ(**row, encode_snapshot(*written, GlobalPosition{5}, Timestamp{7}));
    }
  }
}

}  // namespace
}  // namespace evershard::storage
