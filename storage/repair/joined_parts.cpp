#include "evershard/storage/repair/joined_parts.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/sharding/joined_order.hpp"
#include "evershard/storage/journal/journal_rows.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/repair/kept_state.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/new_rows.hpp"
#include "evershard/storage/repair/part_rows.hpp"
#include "evershard/storage/repair/truth_walk.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t cuts_between_reports = 1'024;
constexpr std::uint64_t joined_state_between_reports = 4'096;

using Takes = std::vector<bool>;  // by shard

Result<Takes> shards_taken(const StorePart& part, const Identity& whole) {
  Takes takes(whole.shards);
  for (const ShardId shard : part.shards) {
    if (shard.value >= whole.shards)
      return refuse(ErrorCode::invalid_argument,
                    "a part names shard " + std::to_string(shard.value) + " of " + std::to_string(whole.shards));
    takes[shard.value] = true;
  }
  return takes;
}

Result<Identity> identity_of_all(const std::vector<StorePart>& parts) {
  if (parts.empty()) return refuse(ErrorCode::invalid_argument, "a store is made of at least one part");
  Identity whole = parts.front().identity;
  std::vector<int> times(whole.shards);
  for (const auto& part : parts) {
    const auto& is = part.identity;
    if (is.store != whole.store || is.fork != whole.fork || is.shards != whole.shards || is.hash != whole.hash ||
        is.term_key != whole.term_key)
      return refuse(ErrorCode::invalid_argument, "node " + std::to_string(is.node) + " is of cluster " +
                                                     is.store.text() + ", the first part of " + whole.store.text());
    const auto takes = shards_taken(part, whole);
    if (!takes) return refuse(takes.error());
    for (std::size_t s = 0; s != takes->size(); ++s) times[s] += (*takes)[s] ? 1 : 0;
  }
  for (std::size_t s = 0; s != times.size(); ++s)
    if (times[s] != 1)
      return refuse(ErrorCode::invalid_argument,
                    "shard " + std::to_string(s) + " is in " + std::to_string(times[s]) + " parts, not in one");
  whole.node = 0;
  whole.format = format_of_whole_store;
  whole.fork = EventId::random();
  return whole;
}

std::function<Result<std::optional<sharding::Cut>>()> cuts_of(const Rows& rows) {
  std::shared_ptr<RowCursor> cursor = rows.cursor(Family::order, {.prefix = {}, .scan = true});
  cursor->seek(keys::order(GlobalPosition{0}));
  return [cursor = std::move(cursor)]() -> Result<std::optional<sharding::Cut>> {
    if (!cursor->valid()) {
      EVERSHARD_TRY(cursor->status());
      return std::nullopt;
    }
    auto cut = sharding::decode_cut(cursor->value(), sharding::CutOf::node);
    if (!cut) return refuse(std::move(cut).error());
    cursor->next();
    return std::optional(std::move(*cut));
  };
}

/// Returns: behind the last offset of each shard.
Result<std::vector<ShardOffset>> join_order(const std::vector<StorePart>& parts, std::uint32_t shards,
                                            GlobalPosition keeps, NewRows& to, const Progress& progress) {
  std::vector<sharding::JoinedOrder::Part> sources;
  for (const auto& part : parts) sources.push_back({cuts_of(*part.rows), part.shards});
  sharding::JoinedOrder order(std::move(sources), shards, keeps);
  Applied applied;
  for (std::uint64_t n = 0;; ++n) {
    auto cut = order.next();
    if (!cut) return refuse(std::move(cut).error());
    if (!*cut) break;
    to.put(Family::order, keys::order((*cut)->first_position), sharding::encode(**cut));
    applied.number = (*cut)->number;
    applied.watermark = (*cut)->last_position();
    if (n % cuts_between_reports != 0) continue;
    EVERSHARD_TRY(to.written());
    EVERSHARD_TRY(report(progress, applied.watermark.value, keeps.value));
  }
  if (keeps > GlobalPosition{0}) to.put(Family::state, keys::applied(), encode(applied));
  return order.ends();
}

/// The placed events of some shards, one behind the other. A record ends where its cut does, as if each had been one
/// commit.
class JoiningJournal final : public TruthVisitor {
 public:
  JoiningJournal(Takes takes, GlobalPosition keeps, KeptState::LeftOf& left, JournalRows& journal, NewRows& to)
      : takes_(std::move(takes)), keeps_(keeps), left_(left), journal_(journal), to_(to) {}

  void cut(const sharding::Cut& cut) override {
    if (std::exchange(gathers_, false)) begins_.clear();
    begins_.push_back(cut.first_position);
  }
  void record(ShardId, ShardOffset, std::string_view bytes) override { record_ = bytes; }
  void event(GlobalPosition position, const EventLocation& at, const EventView& event) override {
    gathers_ = true;
    if (position > keeps_ || !takes_.at(at.shard.value)) return;
    note_kept(event, left_);
    if (position == keeps_ && event.index + 1 != event.count) torn_ = {position - event.index, event.count};
    const auto record = RecordView::open(record_, at.shard, at.record);
    const auto stored = record ? record->stored(at.index) : Result<RecordView::Stored>(refuse(record.error()));
    if (!stored) return damaged(stored.error().what);
    const auto cut = std::ranges::upper_bound(begins_, position) - begins_.begin();
    if (at.shard != shard_ || cut != cut_) journal_.finish(to_);
    shard_ = at.shard;
    cut_ = cut;
    journal_.add(at.shard, journal_.next(at.shard), stored->body, stored->body_hash, stored->seq_nr, stored->state,
                 to_);
  }
  void missing(GlobalPosition from, std::uint64_t, const std::string& why) override {
    if (from <= keeps_) damaged("position " + std::to_string(from.value) + " cannot be read: " + why);
  }
  void contradiction(const std::string& what) override { damaged(what); }

  [[nodiscard]] Result<void> status() const {
    if (!damage_.empty()) return refuse(ErrorCode::corruption, damage_);
    return to_.written();
  }
  /// Errors: invalid_argument: the end lies inside of an append
  [[nodiscard]] Result<void> check_end() const {
    if (torn_.second == 0) return {};
    const auto [first, count] = torn_;
    return refuse(ErrorCode::invalid_argument,
                  "position " + std::to_string(keeps_.value) + " lies inside of the append at positions " +
                      std::to_string(first.value) + " to " + std::to_string(first.value + count - 1) +
                      ", which is copied whole or not at all: end with " + std::to_string(first.value - 1) +
                      " or with " + std::to_string(first.value + count - 1));
  }

 private:
  void damaged(std::string what) {
    if (damage_.empty()) damage_ = std::move(what);
  }

  const Takes takes_;
  const GlobalPosition keeps_;
  KeptState::LeftOf& left_;
  JournalRows& journal_;
  NewRows& to_;
  std::vector<GlobalPosition> begins_;  // of the cuts whose events come next
  bool gathers_ = false;
  std::string_view record_;
  ShardId shard_;
  std::ptrdiff_t cut_ = 0;
  std::pair<GlobalPosition, std::uint32_t> torn_{};
  std::string damage_;
};

Result<void> join_journal(const StorePart& part, const Takes& takes, GlobalPosition keeps, KeptState::LeftOf& left,
                          JournalRows& journal, NewRows& to, const Progress& progress) {
  JoiningJournal joining(takes, keeps, left, journal, to);
  TruthWalk walk(*part.rows, part.identity.shards, joining, sharding::CutOf::node);
  auto walked = walk.run(GlobalPosition{1}, keeps + 1, [&](std::uint64_t done, std::uint64_t total) {
    return joining.status() && (!progress || progress(done, total));
  });
  EVERSHARD_TRY(joining.status());
  EVERSHARD_TRY(walked);
  EVERSHARD_TRY(joining.check_end());
  journal.finish(to);
  return to.written();
}

Result<void> join_state(const StorePart& part, const Takes& takes, const JoinedPartsOptions& how,
                        const KeptState::LeftOf& left, NewRows& to, const Progress& progress) {
  KeptState kept({.keeps = how.keeps, .checkpoints = false, .left = &left, .without_state = how.without_state},
                 [&](std::string_view key, std::string_view value) { to.put(Family::state, key, value); });
  const auto is_snapshot = [](std::string_view key) {
    const auto decoded = keys::decode_state(key);
    return decoded && decoded->kind == keys::StateKey::Kind::snapshot;
  };
  std::vector<std::string> damaged;
  auto rows = part.rows->cursor(Family::state, {.prefix = {}, .scan = true});
  std::uint64_t n = 0;
  for (rows->seek({}); rows->valid(); rows->next()) {
    if (n++ % joined_state_between_reports == 0) EVERSHARD_TRY(report(progress, 0, 1));
    EVERSHARD_TRY(to.written());
    const auto of = state_of_part(rows->key(), part.identity.shards);
    if (!of) return refuse(of.error());
    if (!of->shard || !takes.at(of->shard->value)) continue;
    const auto row = whole_state_row(*part.rows, rows->key(), rows->value());
    if (!row) return refuse(row.error());
    auto taken = kept.take(rows->key(), *row);
    if (!taken && is_snapshot(rows->key())) {
      damaged.emplace_back(rows->key());  // it is derived: the copy does without
      continue;
    }
    if (!taken)
      return refuse(ErrorCode::corruption, "family state, row " + hex(rows->key(), 64) + ": " + taken.error().what);
  }
  EVERSHARD_TRY(rows->status());
  kept.finish();
  if (damaged.empty()) return {};
  const auto said = said_of_snapshots(*part.rows, damaged);
  if (!said) return refuse(said.error());
  if (how.left_out) std::ranges::for_each(*said, how.left_out);
  return {};
}

}  // namespace

Result<void> join_parts(const std::vector<StorePart>& parts, const JoinedPartsOptions& how, const StoreOptions& options,
                        const std::filesystem::path& folder, const Progress& progress) {
  auto whole = identity_of_all(parts);
  if (!whole) return refuse(std::move(whole).error());
  const auto families = create_database(options, how.compact, folder);
  if (!families) return refuse(families.error());
  NewRows to(**families);
  auto ends = join_order(parts, whole->shards, how.keeps, to, part_of(progress, 0, 20));
  if (!ends) return refuse(std::move(ends).error());
  JournalRows journal(std::vector<ShardOffset>(whole->shards, ShardOffset{1}), options.record_bytes);
  const Progress journals = part_of(progress, 20, 90);
  for (std::size_t n = 0; n != parts.size(); ++n) {
    const auto takes = shards_taken(parts[n], *whole);
    if (!takes) return refuse(takes.error());
    auto left = left_where_removed(*parts[n].rows);
    if (!left) return refuse(std::move(left).error());
    if (how.keeps > GlobalPosition{0})
      EVERSHARD_TRY(join_journal(parts[n], *takes, how.keeps, *left, journal, to,
                                 part_of(journals, n * 100 / parts.size(), (n + 1) * 100 / parts.size())));
    EVERSHARD_TRY(join_state(parts[n], *takes, how, *left, to, part_of(progress, 90, 100)));
  }
  for (std::uint32_t s = 0; s != whole->shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (journal.next(shard) != (*ends)[s])
      return refuse(ErrorCode::corruption, "the cuts place " + std::to_string((*ends)[s].value - 1) +
                                               " events of shard " + std::to_string(s) + ", its journal has " +
                                               std::to_string(journal.next(shard).value - 1) + " of them");
  }
  to.put(Family::state, keys::identity(), encode(*whole));
  return to.finish();
}

}  // namespace evershard::storage
