#include "evershard/storage/journal/snapshot_slots.hpp"

#include <map>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/staging.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {

void SnapshotSlots::batch(std::uint64_t staged, std::uint64_t committed) {
  batch_ = staged;
  while (!pending_.empty() && pending_.front().batch <= committed) pending_.pop_front();
  while (!gone_.empty() && gone_.front().batch <= committed) gone_.pop_front();
}

void SnapshotSlots::write(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at, RowSink& sink) {
  auto slot = keys::snapshot(snapshot.aggregate, std::nullopt);
  const auto before = latest_of(snapshot.aggregate, slot);
  // With a removed aggregate its latest snapshot went: where there is one, it is of the life behind that.
  if ((!before || snapshot.keep) && is_gone(snapshot.aggregate, snapshot.version)) return;
  if (!before || before->version <= snapshot.version)
    put_latest(snapshot, position, taken_at, std::move(slot), before, sink);
  if (!snapshot.keep) return;
  if (*snapshot.keep > 0) {
    auto key = keys::snapshot(snapshot.aggregate, snapshot.version);
    sink.put(Family::state, key, encode_snapshot(snapshot, position, taken_at));
    pending_.push_back({batch_, std::move(key), snapshot.version, false, false});
  }
  retain(snapshot, taken_at, sink);
}

void SnapshotSlots::remove(const SnapshotsToGo& going, Timestamp now, RowSink& sink) {
  const auto slot = keys::snapshot(going.aggregate, std::nullopt);
  for (const auto& [key, copy] : copies_of(going.aggregate, now)) {
    if (!copy.expired && copy.version >= going.below) continue;
    sink.erase(Family::state, key);
    pending_.push_back({batch_, key, SeqNr{0}, false, true});
  }
  if (!going.latest || going.below.value == 0) return;
  gone_.push_back({batch_, going.aggregate, going.below});
  // A snapshot that stands in the slot after all is of a later version.
  const auto latest = latest_of(going.aggregate, slot);
  if (latest && latest->version >= going.below) return;
  sink.erase(Family::state, slot);
  if (may_lie_in_two_rows(going.aggregate)) sink.erase(Family::state, snapshot_base_key(going.aggregate));
  bases_.erase(slot);
  pending_.push_back({batch_, slot, SeqNr{0}, true, true});
}

// A follower that was away hears that an aggregate was removed before it applies the cuts of before, whose appends
// bring snapshots.
bool SnapshotSlots::is_gone(const AggregateId& aggregate, SeqNr version) const {
  for (const auto& gone : gone_)
    if (gone.aggregate == aggregate && version < gone.below) return true;
  const auto removed = removed_of(rows_, aggregate);
  return removed && *removed && (*removed)->aggregate && version < (*removed)->before;
}

void SnapshotSlots::put_latest(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at, std::string slot,
                               const std::optional<Latest>& before, RowSink& sink) {
  auto copy = snapshot;
  copy.ttl.reset();
  auto base = before ? before->base : nullptr;
  std::size_t written = 0;
  if (may_lie_in_two_rows(snapshot.aggregate) && snapshot.payload.size() >= two_rows_bytes_min) {
    auto difference = base ? payload_of_difference(*base, snapshot.payload) : std::nullopt;
    if (!difference) {
      auto made = std::make_shared<SnapshotBase>();
      made->row = encode_snapshot(copy, position, taken_at);
      made->checksum = get_fixed<std::uint64_t>(made->row.data() + made->row.size() - sizeof(std::uint64_t));
      made->payload = snapshot.payload;
      base = std::move(made);
      sink.put(Family::state, snapshot_base_key(snapshot.aggregate), base->row);
      written += base->row.size();
      difference = payload_of_difference(*base, snapshot.payload);
    }
    EVERSHARD_CHECK(difference.has_value(), "a state differs by next to nothing from itself");
    copy.payload = *std::move(difference);
    remember(slot, base);
  } else {
    base = nullptr;
    bases_.erase(slot);
    if (may_lie_in_two_rows(snapshot.aggregate) && (!before || before->two_rows))
      sink.erase(Family::state, snapshot_base_key(snapshot.aggregate));
  }
  const auto row = encode_snapshot(copy, position, taken_at);
  sink.put(Family::state, slot, row);
  if (snapshot.bytes_written) *snapshot.bytes_written = written + row.size();
  pending_.push_back({batch_, std::move(slot), snapshot.version, true, false, std::move(base)});
}

// They are read from the disk where they are not here: a few, of the groups that settle most.
void SnapshotSlots::remember(const std::string& key, std::shared_ptr<const SnapshotBase> base) {
  constexpr std::size_t bases_max = 8;
  if (bases_.size() >= bases_max && !bases_.contains(key)) bases_.clear();
  bases_[key] = std::move(base);
}

std::shared_ptr<const SnapshotBase> SnapshotSlots::base_of(const AggregateId& aggregate, std::uint64_t checksum) {
  const auto slot = keys::snapshot(aggregate, std::nullopt);
  if (const auto known = bases_.find(slot); known != bases_.end() && known->second->checksum == checksum)
    return known->second;
  const auto key = snapshot_base_key(aggregate);
  const std::string_view keys[] = {key};
  const auto found = rows_.get(Family::state, keys);
  if (!found || !(*found)->found(0)) return nullptr;
  auto base = decode_snapshot_base((*found)->value(0), aggregate);
  if (!base || base->checksum != checksum) return nullptr;  // one that cannot be read is written anew
  return std::make_shared<const SnapshotBase>(*std::move(base));
}

std::optional<SnapshotSlots::Latest> SnapshotSlots::latest_of(const AggregateId& aggregate, const std::string& key) {
  for (auto pending = pending_.rbegin(); pending != pending_.rend(); ++pending)
    if (pending->latest && pending->key == key)
      return pending->erased ? std::nullopt
                             : std::optional(Latest{pending->version, pending->base, pending->base != nullptr});
  std::string_view keys[] = {key};
  const auto found = rows_.get(Family::state, keys);
  if (!found || !(*found)->found(0)) return std::nullopt;  // a row that cannot be read is no obstacle
  const auto stored = decode_snapshot_parts((*found)->value(0), aggregate);
  if (!stored) return std::nullopt;  // a damaged row counts as missing
  const auto base = base_of_payload(aggregate, stored->payload);
  return Latest{stored->version, base ? base_of(aggregate, *base) : nullptr, base.has_value()};
}

std::map<std::string, SnapshotSlots::Copy> SnapshotSlots::copies_of(const AggregateId& aggregate, Timestamp now) const {
  auto prefix = keys::snapshot_prefix(aggregate);
  auto slot = keys::snapshot(aggregate, std::nullopt);
  std::map<std::string, Copy> copies;
  auto cursor = rows_.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    if (cursor->key() == slot) continue;
    auto stored = decode_snapshot(cursor->value(), aggregate);
    // A damaged copy is of no use to anybody: it goes as the oldest would.
    copies[std::string(cursor->key())] =
        stored ? Copy{stored->version, stored->expires_at && *stored->expires_at <= now} : Copy{SeqNr{0}, true};
  }
  for (const auto& pending : pending_) {
    if (pending.latest || !pending.key.starts_with(prefix)) continue;
    if (pending.erased)
      copies.erase(pending.key);
    else
      copies[pending.key] = Copy{pending.version, false};
  }
  return copies;
}

void SnapshotSlots::retain(const Snapshot& snapshot, Timestamp now, RowSink& sink) {
  const auto copies = copies_of(snapshot.aggregate, now);
  std::multimap<SeqNr, const std::string*, std::greater<>> newest_first;
  for (const auto& [key, copy] : copies) newest_first.emplace(copy.expired ? SeqNr{0} : copy.version, &key);
  std::size_t kept = 0;
  for (const auto& [version, key] : newest_first) {
    if (version != SeqNr{0} && kept < *snapshot.keep) {
      ++kept;
      continue;
    }
    sink.erase(Family::state, *key);
    pending_.push_back({batch_, *key, SeqNr{0}, false, true});
  }
}

}  // namespace evershard::storage
