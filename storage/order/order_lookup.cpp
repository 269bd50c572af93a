#include "evershard/storage/order/order_lookup.hpp"

#include <algorithm>
#include <string>

#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

bool has(const sharding::Run& run, GlobalPosition position) {
  return run.position <= position && position - run.position < run.count;
}

}  // namespace

bool OrderLookup::find_in_cut(GlobalPosition position) {
  auto behind = std::upper_bound(runs_.begin(), runs_.end(), position,
                                 [](GlobalPosition p, const sharding::Run& run) { return p < run.position; });
  if (behind == runs_.begin()) return false;
  at_ = static_cast<std::size_t>(behind - runs_.begin()) - 1;
  return has(runs_[at_], position);
}

Result<void> OrderLookup::read_cut() {
  runs_.clear();
  if (!cursor_->valid()) return cursor_->status();
  auto cut = sharding::decode_cut(cursor_->value(), of_);
  if (!cut) return refuse(std::move(cut).error());
  runs_ = sharding::all_runs_of(*cut);
  return {};
}

Result<sharding::Run> OrderLookup::run_of(GlobalPosition position) {
  if (at_ < runs_.size()) {
    if (has(runs_[at_], position)) return runs_[at_];
    const std::size_t neighbour = direction_ == Direction::forwards ? at_ + 1 : at_ - 1;
    if (neighbour < runs_.size() && has(runs_[neighbour], position)) return runs_[at_ = neighbour];
    direction_ == Direction::forwards ? cursor_->next() : cursor_->prev();
    EVERSHARD_TRY(read_cut());
    if (find_in_cut(position)) return runs_[at_];
  }
  if (cursor_ == nullptr) cursor_ = rows_.cursor(Family::order);
  cursor_->seek_for_prev(keys::order(position));
  EVERSHARD_TRY(read_cut());
  if (find_in_cut(position)) return runs_[at_];
  runs_.clear();
  return refuse(ErrorCode::corruption, "no cut has position " + std::to_string(position.value));
}

Result<FoundEvent> locate(const Rows& rows, GlobalPosition position, sharding::CutOf of) {
  auto run = OrderLookup(rows, Direction::forwards, of).run_of(position);
  if (!run) return refuse(std::move(run).error());
  if (run->is_elsewhere())
    return refuse(ErrorCode::wrong_shard,
                  "position " + std::to_string(position.value) + " is an event of another node");
  const ShardOffset offset = run->offset + (position - run->position);
  auto cursor = rows.cursor(Family::journal);
  cursor->seek_for_prev(keys::journal(run->shard, offset));
  EVERSHARD_TRY(cursor->status());
  if (!cursor->valid()) return damaged(run->shard, offset, "the journal has no record of it");
  auto key = keys::decode_journal(cursor->key());
  if (!key) return refuse(std::move(key).error());
  if (key->shard != run->shard || offset - key->offset > 0xffff) {
    return damaged(run->shard, offset, "the journal has no record of it");
  }
  return FoundEvent{position, {run->shard, key->offset, static_cast<std::uint16_t>(offset - key->offset)}};
}

}  // namespace evershard::storage
