// Snapshots as readers see them: damaged and expired ones, and copies beyond what is kept, are as if they were not
// there.

#include <algorithm>
#include <utility>

#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"

namespace evershard::storage {

Result<std::optional<RecordedSnapshot>> Reader::latest_snapshot(const AggregateId& aggregate) const {
  const std::string key = keys::snapshot(aggregate, std::nullopt);
  const std::string_view keys[] = {key};
  const auto found = rows_.get(Family::state, keys);
  if (!found) return refuse(found.error());
  if (!(*found)->found(0)) return std::nullopt;
  auto snapshot = decode_snapshot_parts((*found)->value(0), aggregate);
  if (!snapshot) {
    // A damaged state that is kept nowhere else never counts as missing: its owner would begin anew over it.
    if (may_lie_in_two_rows(aggregate)) return refuse(std::move(snapshot).error());
    return std::nullopt;  // the state is made of the events; verify names the damage
  }
  if (base_of_payload(aggregate, snapshot->payload)) {
    auto whole = latest_snapshot_of(rows_, aggregate);
    if (!whole) return refuse(std::move(whole).error());
    if (!*whole) return std::nullopt;
    snapshot = **std::move(whole);
  }
  snapshot->latest = true;
  return std::optional(*std::move(snapshot));
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
    if (!snapshot && snapshot.error().code != ErrorCode::corruption) return refuse(std::move(snapshot).error());
    if (!snapshot) continue;  // verify names it
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
