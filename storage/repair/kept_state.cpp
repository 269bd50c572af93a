#include "evershard/storage/repair/kept_state.hpp"

#include <algorithm>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"

namespace evershard::storage {

/// What is being removed is removed in every copy, or its history would be there in part. What was removed counts where
/// the copy has all of it: events that are appended to it later are others under the same numbers.
Result<void> KeptState::take_named(std::string_view key, std::string_view value, std::string_view name) {
  if (name.starts_with(removed_prefix)) {
    auto aggregate = AggregateId::parse(name.substr(removed_prefix.size()));
    if (!aggregate) return refuse(ErrorCode::corruption, "a row of what is removed names no aggregate");
    auto row = decode_removal(value, *aggregate);
    if (!row) return refuse(std::move(row).error());
    const auto* left = left_of(*aggregate);
    if (row->aggregate && left != nullptr && left->version < row->before) {
      // The event that says that it was removed is not in the copy: its last stub stands for that.
      if (left->version.value == 0 || left->gone != left->version) return {};
      const RemovalRow hidden{.before = left->version,
                              .from = left->version,
                              .last = std::min(row->last, options_.keeps),
                              .aggregate = true,
                              .operation = row->operation};
      put_(key, encode_removal(hidden, *aggregate));
    } else if (row->last <= options_.keeps) {
      put_(key, value);
    }
  } else if (name.starts_with(row_log_prefix) || name.starts_with(snapshot_base_prefix)) {
    return {};  // of its cluster: a copy may go on in another one; a copy's snapshots lie in one row each
  } else if (options_.checkpoints || name.starts_with(removing_prefix)) {
    put_(key, value);
  }
  return {};
}

const KeptState::Left* KeptState::left_of(const AggregateId& aggregate) const {
  if (options_.left == nullptr) return nullptr;
  const auto found = options_.left->find(aggregate);
  return found == options_.left->end() ? nullptr : &found->second;
}

Result<void> KeptState::take(std::string_view key, std::string_view value) {
  auto decoded = keys::decode_state(key);
  if (!decoded) return refuse(std::move(decoded).error());
  switch (decoded->kind) {
    case keys::StateKey::Kind::identity:
    case keys::StateKey::Kind::applied:
    case keys::StateKey::Kind::covered:
    case keys::StateKey::Kind::waiting:
      return {};
    case keys::StateKey::Kind::checkpoint:
      return take_named(key, value, decoded->name);
    case keys::StateKey::Kind::snapshot:
      break;
  }

  if (decoded->aggregate != aggregate_) {
    finish();
    aggregate_ = decoded->aggregate;
  }
  std::optional<std::uint32_t> keep;
  auto snapshot = decode_snapshot(value, decoded->aggregate, &keep);
  if (!snapshot) {
    lost_latest_ = lost_latest_ || !decoded->retained;
    return refuse(std::move(snapshot).error());
  }
  bool stays = snapshot->position <= options_.keeps;
  stood_for_ = std::max(stood_for_, snapshot->version);
  if (stays) stands_for_ = std::max(stands_for_, snapshot->version);
  if (stays) put_(key, value);
  if (!decoded->retained)
    lost_latest_ = !stays;
  else if (stays)
    newest_ = Retained{std::move(*snapshot), keep};  // their keys ascend by version
  return {};
}

void KeptState::finish() {
  if (lost_latest_ && newest_)
    put_(keys::snapshot(aggregate_, std::nullopt), encode_latest_snapshot(newest_->snapshot, newest_->keep));
  const auto* left = left_of(aggregate_);
  if (options_.without_state && left != nullptr && left->gone > stands_for_ && left->gone <= stood_for_)
    options_.without_state(aggregate_);
  stood_for_ = stands_for_ = SeqNr{0};
  lost_latest_ = false;
  newest_.reset();
}

Result<std::string> whole_state_row(const Rows& from, std::string_view key, std::string_view value) {
  const auto decoded = keys::decode_state(key);
  // What has no such key, or no such row, is refused by who decodes it.
  if (!decoded || decoded->kind != keys::StateKey::Kind::snapshot || decoded->retained) return std::string(value);
  auto whole = whole_snapshot_row(from, decoded->aggregate, value);
  if (!whole && whole.error().code == ErrorCode::corruption) return std::string(value);
  return whole;
}

Result<KeptState::LeftOf> left_where_removed(const Rows& from) {
  auto removed = removal_rows(from, removed_prefix);
  if (!removed) return refuse(std::move(removed).error());
  KeptState::LeftOf left;
  for (auto& [aggregate, row] : removed->rows) left.emplace(std::move(aggregate), KeptState::Left{});
  return left;
}

void note_kept(const EventView& event, KeptState::LeftOf& left) {
  if (left.empty() || event.aggregate_type.empty()) return;
  const auto found = left.find({std::string(event.aggregate_type), std::string(event.aggregate_value)});
  if (found == left.end()) return;
  found->second.version = std::max(found->second.version, event.seq_nr);
  if (event.state == EventState::removed) found->second.gone = std::max(found->second.gone, event.seq_nr);
}

}  // namespace evershard::storage
