// What a settlement writes to the disk of a store, and of each replica: not the whole state of the group.

#include <gtest/gtest.h>

#include <random>

#include "evershard/services/groups/group_state_bytes.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/row_sink.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/snapshot_slots.hpp"
#include "tests/storage/map_rows.hpp"

namespace evershard::actors {
namespace {

using storage::Family;

class CountedCommit final : public storage::RowSink {
 public:
  explicit CountedCommit(storage::MapRows& rows) : rows_(rows) {}
  void put(Family family, std::string_view key, std::string_view value) override {
    bytes += key.size() + value.size();
    rows_[family][std::string(key)] = std::string(value);
  }
  void erase(Family family, std::string_view key) override { rows_[family].erase(std::string(key)); }
  std::size_t bytes = 0;

 private:
  storage::MapRows& rows_;
};

/// A group of which each settlement is kept as GroupHost keeps it.
class KeptGroup {
 public:
  KeptGroup() { worker_ = state_.join("w", 1, now_); }

  /// Of the next event.
  template <class Settle>
  void settle(Settle settle_one) {
    ++last_;
    EventId id{};
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    const std::vector<GroupEvent> found{{GlobalPosition(last_), random_(), id}};
    state_.read(found, GlobalPosition(last_), wall());
    for (const auto& out : state_.deliver(now_)) settle_one(out);
  }
  void acknowledge() {
    settle([&](const auto& out) { EXPECT_TRUE(state_.acknowledge(out.position, out.delivery, now_)); });
  }
  /// Each for a reason of its own, as far as there is room for them.
  void park() {
    settle([&](const auto& out) {
      const auto reason = "the mail server refused message " + std::to_string(random_()) + ": 451 try again later, " +
                          std::string(40, 'x');
      EXPECT_TRUE(state_.park(out.position, out.delivery, reason, now_, wall()));
    });
  }
  void discard_first() { EXPECT_TRUE(state_.discard(GlobalPosition(state_.parked().begin()->first), now_)); }
  void discard_any() {
    const auto at = std::next(state_.parked().begin(), static_cast<std::ptrdiff_t>(random_() % state_.parked().size()));
    EXPECT_TRUE(state_.discard(GlobalPosition(at->first), now_));
  }
  /// Returns: bytes written.
  std::size_t keep() {
    now_ += 10;
    Snapshot snapshot;
    snapshot.aggregate = aggregate_;
    snapshot.version = SeqNr{1};
    snapshot.payload = bytes();
    snapshot.schema_revision = GroupStateBytes::schema_revision;
    CountedCommit commit(rows_);
    ++commits_;
    slots_.batch(commits_, commits_ - 1);
    slots_.write(snapshot, GlobalPosition{1}, Timestamp{now_}, commit);
    return commit.bytes;
  }
  [[nodiscard]] std::string bytes() const { return GroupStateBytes::encode(state_, {7, "fork"}, now_, wall()); }
  [[nodiscard]] std::string kept_bytes() const {
    const auto latest = storage::latest_snapshot_of(rows_, aggregate_);
    return latest && *latest ? (*latest)->payload : "";
  }
  [[nodiscard]] std::string payload_in_slot() {
    return storage::decode_snapshot_parts(rows_[Family::state][storage::keys::snapshot(aggregate_, std::nullopt)],
                                          aggregate_)
        ->payload;
  }

 private:
  [[nodiscard]] std::int64_t wall() const { return 1'700'000'000'000 + now_; }

  const AggregateId aggregate_{"$group", "mails"};
  GroupTime now_ = 1'000;
  std::mt19937_64 random_{1};
  GroupState state_{{.retry_jitter_percent = 0, .parked_max = 20'000}, GlobalPosition(0), 1, 1};
  storage::MapRows rows_;
  storage::SnapshotSlots slots_{rows_};
  GroupWorkerId worker_ = 0;
  std::uint64_t last_ = 0, commits_ = 0;
};

TEST(GroupWrites, ASettlementWritesWhatChangedWhateverIsParked) {
  constexpr int many = 300;
  for (const int parked : {0, 1'000, 10'000}) {
    SCOPED_TRACE(parked);
    KeptGroup group;
    for (int n = 0; n < parked - many; ++n) group.park();
    (void)group.keep();
    std::size_t parking = 0, acknowledging = 0;
    for (int n = 0; n < many && parked != 0; ++n) {
      group.park();
      parking += group.keep();
    }
    for (int n = 0; n != many; ++n) {
      group.acknowledge();
      acknowledging += group.keep();
    }
    std::size_t discarding = 0, discarding_anywhere = 0;
    for (int n = 0; n != many && parked != 0; ++n) {
      group.discard_first();
      discarding += group.keep();
    }
    for (int n = 0; n != many && parked != 0; ++n) {
      group.discard_any();
      discarding_anywhere += group.keep();
    }
    const auto whole = group.bytes();
    ASSERT_EQ(group.kept_bytes(), whole);
    RecordProperty("state_" + std::to_string(parked), static_cast<int>(whole.size()));
    RecordProperty("acknowledgement_" + std::to_string(parked), static_cast<int>(acknowledging / many));
    RecordProperty("parking_" + std::to_string(parked), static_cast<int>(parking / many));
    RecordProperty("discarding_the_first_" + std::to_string(parked), static_cast<int>(discarding / many));
    RecordProperty("discarding_any_" + std::to_string(parked), static_cast<int>(discarding_anywhere / many));
    EXPECT_LT(discarding / many, 16u << 10);
    EXPECT_LT(discarding_anywhere / many, 24u << 10);
    EXPECT_LT(acknowledging / many, 16u << 10);
    EXPECT_LT(parking / many, 24u << 10);
    if (parked == 10'000) {
      EXPECT_GT(whole.size(), 800u << 10);
    }
  }
}

// It does not take a difference for a state, and begins nothing anew.
TEST(GroupWrites, AnEarlierReleaseRefusesADifference) {
  KeptGroup group;
  for (int n = 0; n != 300; ++n) group.park();
  (void)group.keep();
  const auto slot = group.payload_in_slot();
  ASSERT_LT(slot.size(), 100u);
  const auto decoded = GroupStateBytes::decode(slot, {}, 0, 0, 1, 1);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument) << decoded.error().what;
}

TEST(GroupWrites, WhatIsGivenUpOneByOneIsKeptAsItIs) {
  KeptGroup group;
  for (int n = 0; n != 500; ++n) group.park();
  for (int n = 0; n != 400; ++n) {
    group.discard_first();
    (void)group.keep();
    ASSERT_EQ(group.kept_bytes(), group.bytes());
  }
}

}  // namespace
}  // namespace evershard::actors
