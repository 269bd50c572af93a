// Snapshots as readers see them: damaged and expired ones, and copies beyond what is kept, are as if they were not
// there.

#include <algorithm>
#include <utility>

#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"

namespace evershard::storage {

Result<std::optional<RecordedSnapshot>> Reader::latest_snapshot(const AggregateId& aggregate) const {
  auto snapshot = latest_snapshot_of(rows_, aggregate);
  if (!snapshot && snapshot.error().code == ErrorCode::corruption)
    return std::nullopt;  // as if there were none; verify names it
  if (!snapshot) return refuse(std::move(snapshot).error());
  if (*snapshot) (*snapshot)->latest = true;
  return snapshot;
}

Result<std::vector<RecordedSnapshot>> Reader::snapshots(const AggregateId& aggregate, Timestamp now) const {
  const std::string prefix = keys::snapshot_prefix(aggregate), slot = keys::snapshot(aggregate, std::nullopt);
  std::optional<RecordedSnapshot> latest;
  std::optional<std::uint32_t> keep;
  std::vector<RecordedSnapshot> shown;
  auto cursor = rows_.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const bool is_latest = cursor->key() == slot;
    auto snapshot = whole_snapshot(rows_, aggregate, cursor->value(), is_latest ? &keep : nullptr);
    if (!snapshot) continue;  // as above
    if (is_latest) {
      latest = std::move(*snapshot);
      latest->latest = true;
    } else if (!snapshot->expires_at || *snapshot->expires_at > now) {
      shown.push_back(std::move(*snapshot));
    }
  }
  EVERSHARD_TRY(cursor->status());
  std::sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.version > b.version; });
  if (keep && shown.size() > *keep) shown.resize(*keep);
  if (latest) shown.insert(shown.begin(), std::move(*latest));
  return shown;
}

namespace {

template <class Wanted>
std::optional<RecordedSnapshot> newest_of(std::vector<RecordedSnapshot> snapshots, Wanted wanted) {
  std::optional<RecordedSnapshot> newest;
  for (RecordedSnapshot& snapshot : snapshots) {
    if (wanted(snapshot) && (!newest || newest->version < snapshot.version)) newest = std::move(snapshot);
  }
  return newest;
}

}  // namespace

Result<std::optional<RecordedSnapshot>> Reader::snapshot_at(const AggregateId& aggregate, SeqNr version,
                                                            Timestamp now) const {
  auto all = snapshots(aggregate, now);
  if (!all) return refuse(std::move(all).error());
  return newest_of(std::move(*all), [&](const RecordedSnapshot& s) { return s.version <= version; });
}

Result<std::optional<RecordedSnapshot>> Reader::snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to,
                                                               Timestamp now) const {
  auto all = snapshots(aggregate, now);
  if (!all) return refuse(std::move(all).error());
  return newest_of(std::move(*all), [&](const RecordedSnapshot& s) { return s.position <= up_to; });
}

}  // namespace evershard::storage
