#include "evershard/storage/journal/snapshot_slots.hpp"

#include <map>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/staging.hpp"

namespace evershard::storage {

void SnapshotSlots::batch(std::uint64_t staged, std::uint64_t committed) {
  batch_ = staged;
  while (!pending_.empty() && pending_.front().batch <= committed) pending_.pop_front();
  while (!gone_.empty() && gone_.front().batch <= committed) gone_.pop_front();
}

void SnapshotSlots::write(const Snapshot& snapshot, GlobalPosition position, Timestamp taken_at, RowSink& sink) {
  if (is_gone(snapshot.aggregate, snapshot.version)) return;
  auto slot = keys::snapshot(snapshot.aggregate, std::nullopt);
  if (is_latest(snapshot.aggregate, snapshot.version, slot)) {
    auto copy = snapshot;
    copy.ttl.reset();
    sink.put(Family::state, slot, encode_snapshot(copy, position, taken_at));
    pending_.push_back({batch_, std::move(slot), snapshot.version, true, false});
  }
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
  if (going.latest) gone_.push_back({batch_, going.aggregate, going.below});
  // One that stands there after all is of a later version.
  if (going.latest && going.below.value > 0 && is_latest(going.aggregate, going.below - 1, slot))
    sink.erase(Family::state, slot);
}

// A follower that was away hears that an aggregate was removed before it applies the cuts of before, whose appends
// bring snapshots.
bool SnapshotSlots::is_gone(const AggregateId& aggregate, SeqNr version) const {
  for (const auto& gone : gone_)
    if (gone.aggregate == aggregate && version < gone.below) return true;
  const auto removed = removed_of(rows_, aggregate);
  return removed && *removed && (*removed)->aggregate && version < (*removed)->before;
}

bool SnapshotSlots::is_latest(const AggregateId& aggregate, SeqNr version, const std::string& key) const {
  for (auto pending = pending_.rbegin(); pending != pending_.rend(); ++pending)
    if (pending->latest && pending->key == key) return pending->version <= version;
  std::string_view keys[] = {key};
  auto found = rows_.get(Family::state, keys);
  if (!found || !(*found)->found(0)) return true;  // one that cannot be read is no obstacle
  auto stored = decode_snapshot((*found)->value(0), aggregate);
  return !stored || stored->version <= version;  // a damaged one is as if it were not there
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
