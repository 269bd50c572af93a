#include "evershard/storage/repair/damaged_store.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/given_up.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/journal/recovered_journal.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/repair/fork.hpp"
#include "evershard/storage/repair/left_out.hpp"
#include "evershard/storage/repair/truth_only.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/rocks/table_files.hpp"

namespace evershard::storage {
namespace {

bool is_truth(std::string_view family) {
  return family == name_of(Family::journal) || family == name_of(Family::order) || family == name_of(Family::state);
}

/// Where the last commits were, or should be. An attempt to open the store begins a new one.
std::string newest_log(const std::filesystem::path& database) {
  std::string newest;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(database, ignored), end; at != end; at.increment(ignored))
    if (auto name = at->path().filename().string(); name.ends_with(".log"))
      newest = std::max(newest, at->path().string());
  return newest.empty() ? "there is no log in " + database.string() : "the newest log is " + newest;
}

/// What recover() mends, or a refusal by name.
Result<void> may_be_mended(const std::filesystem::path& data_dir) {
  const auto content = content_of(data_dir);
  if (!content) return refuse(content.error());
  if (content->kind == DirectoryKind::truth_only) return refuse_truth_only(data_dir);
  if (content->kind != DirectoryKind::cut_log) return refuse_what_is_no_store(data_dir, content->kind);
  return refuse(ErrorCode::invalid_argument,
                data_dir.string() +
                    " holds a coordinator's cut log, and no store; nothing was changed. A cut log that is lost or "
                    "damaged is made anew, in an empty directory, from those of the nodes: "
                    "`evershard recover --cut-log`");
}

}  // namespace

Result<std::unique_ptr<DamagedStore>> DamagedStore::open(const StoreOptions& options) {
  std::unique_ptr<DamagedStore> store(new DamagedStore(options));
  EVERSHARD_TRY(may_be_mended(options.data_dir));
  auto lock = DatabaseLock::take(options.data_dir);
  if (!lock) return refuse(std::move(lock).error());
  store->lock_ = std::move(*lock);
  EVERSHARD_TRY(store->open_database());
  auto identity = stored_identity(*store->families_);
  if (!identity) {
    if (identity.error().code == ErrorCode::corruption)
      identity.error().what += "; nothing can be read without it: restore a backup";
    return refuse(std::move(identity).error());
  }
  store->identity_ = *identity;
  EVERSHARD_TRY(store->find_end());
  return store;
}

Result<void> DamagedStore::open_database() {
  auto database = (options_.data_dir / "db").string();
  std::unique_ptr<RocksFamilies> families;
  rocks_ = RocksOptions(options_).for_repair();
  auto status = RocksFamilies::open(rocks_, database, /*read_only=*/true, families);
  if (!status.ok()) {
    // With files missing a log's damage may go unnoticed; the cuts show it then.
    rocks_ = RocksOptions(options_).forgiving();
    if (!RocksFamilies::open(rocks_, database, /*read_only=*/true, families).ok())
      return refuse(ErrorCode::corruption, "the database " + database + " cannot be opened even in part: " +
                                               status.ToString() + "; restore a backup");
    findings_.add("the database " + database + " is not whole: " + status.ToString());
  }
  families_ = std::move(families);
  rows_ = std::make_unique<RocksRows>(families_);
  return {};
}

/// How far order, applied row and MARK reach, each as far as it can be read.
Result<void> DamagedStore::find_end() {
  auto order = rows_->cursor(Family::order, {});
  order->seek_for_prev(keys::order(GlobalPosition{std::numeric_limits<std::uint64_t>::max()}));
  if (order->valid())
    if (auto cut = sharding::decode_cut(order->value(), cuts_of())) order_end_ = cut->last_position();
  auto key = keys::applied();
  std::string_view keys[] = {key};
  auto row = rows_->get(Family::state, keys);
  if (row && (*row)->found(0))
    if (auto applied = decode_applied((*row)->value(0))) order_end_ = std::max(order_end_, applied->watermark);

  if (auto mark = families_->stored_mark())
    index_mark_ = *mark;
  else
    findings_.add(mark.error().what);
  acknowledged_ = index_mark_.value_or(GlobalPosition{0});
  auto file = LastCommitMark::read(options_.data_dir / "MARK");
  if (!file) return refuse(std::move(file).error());
  has_mark_file_ = file->has_value();
  if (has_mark_file_) acknowledged_ = std::max(acknowledged_, (*file)->watermark);
  if (!has_mark_file_)
    findings_.add("there is no MARK in " + options_.data_dir.string() +
                  ", or none that can be read: nothing outside the database says how far commits were acknowledged");
  return {};
}

Result<void> DamagedStore::check_files(const Progress& progress) {
  return check_table_files(
      families_->db(), rocks_,
      [&](const DamagedFile& file) {
        findings_.add(file.sentence());
        (is_truth(file.family) ? truth_files_damaged_ : index_files_damaged_) = true;
      },
      progress);
}

std::optional<sharding::Cut> DamagedStore::cut_of(GlobalPosition position) const {
  auto order = rows_->cursor(Family::order, {});
  order->seek_for_prev(keys::order(position));
  if (!order->valid()) return std::nullopt;
  auto cut = sharding::decode_cut(order->value(), cuts_of());  // of one that is damaged the caller has the finding
  if (!cut || cut->first_position > position || cut->last_position() < position) return std::nullopt;
  return std::move(*cut);
}

/// The end of the last cut that can be read and whose events all can.
GlobalPosition DamagedStore::last_whole(const std::vector<Verification::Missing>& missing) const {
  auto end = order_end_;
  for (auto hole = missing.rbegin(); hole != missing.rend(); ++hole) {
    if (hole->from > end) continue;
    if (hole->from + hole->count <= end) {  // what lies behind it is whole, but for the cut it reaches into
      auto cut = hole->cut ? std::nullopt : cut_of(end);
      if (!cut || hole->from + hole->count <= cut->first_position) break;
    }
    auto cut = hole->cut ? std::nullopt : cut_of(hole->from);
    end = (cut ? cut->first_position : hole->from) - 1;
  }
  return end;
}

/// A store opens only if each shard's last record can be. Empty: they can.
std::string DamagedStore::unreadable_end(GlobalPosition keeps) const {
  std::vector<ShardOffset> ends(identity_.shards, ShardOffset{1});
  auto order = rows_->cursor(Family::order, {.prefix = {}, .scan = true});
  for (order->seek({}); order->valid(); order->next()) {
    auto cut = sharding::decode_cut(order->value());
    if (!cut) continue;  // a finding of the walk
    if (cut->first_position > keeps) break;
    for (const auto& segment : cut->segments)
      if (segment.shard.value < ends.size())
        ends[segment.shard.value] = std::max(ends[segment.shard.value], segment.end);
  }
  auto journal = rows_->cursor(Family::journal, {});
  for (std::uint32_t i = 0; i < identity_.shards; ++i) {
    if (ends[i] == ShardOffset{1}) continue;
    ShardId shard{static_cast<std::uint16_t>(i)};
    journal->seek_for_prev(keys::journal(shard, ends[i] - 1));
    auto key = journal->valid() ? keys::decode_journal(journal->key()) : Result<keys::JournalKey>(keys::JournalKey{});
    auto record = key && journal->valid() && key->shard == shard
                      ? RecordView::open(journal->value(), shard, key->offset)
                      : Result<RecordView>(refuse(ErrorCode::corruption, {}));
    if (!record || key->offset + record->size() != ends[i])
      return "the last record of shard " + std::to_string(i) + ", up to offset " + std::to_string(ends[i].value - 1) +
             ", cannot be read";
  }
  return {};
}

Result<Examination> DamagedStore::examine(const RecoverOptions& how, const Progress& progress) {
  if (identity_.node != 0) return examine_node(how, progress);
  EVERSHARD_TRY(check_files(part_of(progress, 0, 20)));
  Verification verification(subject(), findings_);
  EVERSHARD_TRY(verification.truth(part_of(progress, 20, 80)));
  const auto& missing = verification.missing_events();

  Examination made;
  auto& plan = made.plan;
  plan.keeps = last_whole(missing);
  if (how.cut_back && !missing.empty() && missing.front().from <= plan.keeps) {
    auto cut = missing.front().cut ? std::nullopt : cut_of(missing.front().from);
    plan.keeps = (cut ? cut->first_position : missing.front().from) - 1;
  }
  plan.acknowledged = std::max(acknowledged_, order_end_);
  plan.lost = plan.acknowledged - plan.keeps;
  bool cut_missing = false;
  for (const auto& hole : missing) {
    if (hole.from > plan.keeps) break;
    cut_missing |= hole.cut;
    plan.lost += hole.count;
    if (!plan.holes.empty() && plan.holes.back().until == hole.from)
      plan.holes.back().until = hole.from + hole.count;
    else if (plan.holes.size() < 100)
      plan.holes.push_back({hole.from, hole.from + hole.count});
  }

  auto recovered = recover_order(*rows_, identity_);
  if (!recovered) findings_.add(recovered.error().what);
  made.copy_truth = truth_files_damaged_ || !recovered || plan.keeps < order_end_;
  made.accept_loss = acknowledged_ > plan.keeps;
  if (acknowledged_ > order_end_)
    findings_.add("MARK and the indexes know of position " + std::to_string(acknowledged_.value) +
                  ", what is recovered ends with position " + std::to_string(order_end_.value) + ": " +
                  std::to_string(acknowledged_ - order_end_) + " acknowledged events are missing; " +
                  newest_log(options_.data_dir / "db"));

  if (!index_mark_ || index_files_damaged_ || *index_mark_ > order_end_)
    made.renew_indexes = true;
  else
    EVERSHARD_TRY(verification.indexes(part_of(progress, 80, 95)));
  made.renew_indexes |= verification.indexes_differ() || made.copy_truth;
  EVERSHARD_TRY(verification.state(part_of(progress, 95, 100)));
  made.removals = damaged_removals();
  made.snapshots = verification.damaged_snapshots();
  EVERSHARD_TRY(say_of_state(made, verification));
  made.write_mark = !has_mark_file_;

  if (made.renew_indexes && cut_missing)
    plan.refusal =
        "a cut inside of the order is missing: indexes are made from all of them; asked to cut back, the store ends "
        "before it";
  else if (made.copy_truth)
    plan.refusal = unreadable_end(plan.keeps);
  if (!plan.refusal.empty() && !how.cut_back) plan.refusal += "; a store that is cut back ends before the first hole";
  say_what_is_lost(made);
  plan.findings = findings_.take();
  return made;
}

Verification::Subject DamagedStore::subject() const {
  const View view{order_end_, index_mark_.value_or(GlobalPosition{0}),
                  std::make_shared<const std::vector<std::shared_ptr<const TailIndex>>>(), identity_.node == 0};
  return {*rows_, sharding::TermHasher(identity_.term_key, options_.term_mask), identity_.shards, view,
          std::min(view.mark, order_end_)};
}

std::vector<std::string> DamagedStore::damaged_removals() const {
  std::vector<std::string> damaged;
  for (const auto prefix : {removing_prefix, removed_prefix}) {
    auto removals = removal_rows(*rows_, prefix);
    if (!removals) continue;  // a finding already
    for (auto& row : removals->damaged)
      if (row.why.code == ErrorCode::corruption) damaged.push_back(std::move(row.key));
  }
  return damaged;
}

/// Snapshots can be done without. Rows of removals too, since they can be asked for again; other rows stay as they are.
Result<void> DamagedStore::say_of_state(Examination& made, const Verification& verification) const {
  auto said = said_of_snapshots(*rows_, made.snapshots);
  if (!said) return refuse(std::move(said).error());
  made.said_of_snapshots = *std::move(said);
  for (const auto& sentence : verification.damaged_state()) {
    const bool mended = std::ranges::any_of(
        made.removals, [&](const std::string& key) { return sentence.find(hex(key, 64)) != std::string::npos; });
    if (!mended) made.plan.unmended.push_back(sentence);
  }
  return {};
}

/// Behind the cuts too, as its node reads it when it is started. Empty: it can be.
std::string DamagedStore::why_not_read_back() const {
  auto order = recover_order(*rows_, identity_);
  if (!order) return order.error().what;
  auto journal =
      recover_journal(*rows_, identity_, sharding::TermHasher(identity_.term_key, options_.term_mask), *order);
  return journal ? std::string() : journal.error().what;
}

/// Its records are on no other disk, and its cuts are its coordinator's: nothing is put in their place, and nothing is
/// cut off. What is mended is what can be made anew of them, the indexes; and a log that lost its end leaves what an
/// old copy of the disk would have.
Result<Examination> DamagedStore::examine_node(const RecoverOptions& how, const Progress& progress) {
  auto removed = given_up(*rows_, identity_.shards);
  if (removed && !removed->empty())
    findings_.add("what was given up of shard " + std::to_string(removed->begin()->first.value) +
                  " as lost is on this disk still: its node takes it off when it is started");
  EVERSHARD_TRY(check_files(part_of(progress, 0, 20)));
  Verification verification(subject(), findings_);
  EVERSHARD_TRY(verification.truth(part_of(progress, 20, 80)));

  Examination made;
  auto& plan = made.plan;
  plan.node = identity_.node;
  plan.keeps = order_end_;
  plan.acknowledged = std::max(acknowledged_, order_end_);
  for (const auto& hole : verification.missing_events()) {
    plan.lost += hole.count;
    if (plan.holes.size() < 100) plan.holes.push_back({hole.from, hole.from + hole.count});
  }
  const auto unreadable = why_not_read_back();
  if (!unreadable.empty()) findings_.add(unreadable);
  made.accept_loss = acknowledged_ > order_end_;
  plan.more_may_be_lost = made.accept_loss;
  if (made.accept_loss)
    findings_.add("MARK and the indexes know of position " + std::to_string(acknowledged_.value) +
                  ", what is recovered ends with position " + std::to_string(order_end_.value) + "; " +
                  newest_log(options_.data_dir / "db"));
  if (!index_mark_ || index_files_damaged_ || *index_mark_ > order_end_)
    made.renew_indexes = true;
  else if (!removed || removed->empty())  // else they have what cuts say is elsewhere
    EVERSHARD_TRY(verification.indexes(part_of(progress, 80, 95)));
  made.renew_indexes |= verification.indexes_differ();
  EVERSHARD_TRY(verification.state(part_of(progress, 95, 100)));
  made.snapshots = verification.damaged_snapshots();
  EVERSHARD_TRY(say_of_state(made, verification));
  made.write_mark = !has_mark_file_;

  const bool truth_damaged = truth_files_damaged_ || !unreadable.empty() || !verification.missing_events().empty() ||
                             !damaged_removals().empty() || !removed;
  const auto node = std::to_string(identity_.node);
  const auto instead = "give node " + node +
                       " a backup of its disk from before the damage (`evershard restore`, then start it); or an empty "
                       "directory, and give up its shards with `evershard cluster assign --of " +
                       node + " --to " + node + "`, then with --accept-loss";
  if (truth_damaged)
    plan.refusal = "records, cuts or state of node " + node +
                   "'s part are damaged or missing, and no other disk has them: nothing of that is mended, and nothing "
                   "was changed. Where the node starts, it goes on, and says `corruption` "
                   "where it meets the damage. To be rid of it, " +
                   instead;
  else if (how.cut_back && (made.accept_loss || made.renew_indexes))
    plan.refusal =
        "a node's part is not cut back: positions behind its holes are other nodes' too. Ask without --cut-back, or " +
        instead;
  else if (removed && !removed->empty() && (made.accept_loss || made.renew_indexes))
    plan.refusal = "start node " + node +
                   " first: it takes off what was given up of its shards, and makes the indexes anew by that; where it "
                   "does not start, " +
                   instead;
  if (plan.refusal.empty()) say_what_a_node_loses(made);
  plan.findings = findings_.take();
  return made;
}

void DamagedStore::say_what_a_node_loses(Examination& made) const {
  auto& steps = made.plan.steps;
  const auto end = std::to_string(made.plan.keeps.value);
  if (made.accept_loss || made.renew_indexes || !made.snapshots.empty())
    steps.push_back("changes a copy beside the database, opens and verifies it as node " +
                    std::to_string(identity_.node) +
                    "'s, and keeps the database as it was when the copy takes its place");
  if (made.accept_loss)
    steps.push_back("ends this part with position " + end +
                    ": its coordinator tells it the cuts behind again, and keeps each of its shards closed that has "
                    "lost events, until `evershard cluster assign` accepts that");
  steps.insert(steps.end(), made.said_of_snapshots.begin(), made.said_of_snapshots.end());
  if (made.renew_indexes) steps.push_back("makes all indexes anew from journal and order");
  if (!steps.empty() || made.write_mark) steps.push_back("writes MARK for position " + end);
}

void DamagedStore::say_what_is_lost(Examination& made) const {
  auto& plan = made.plan;
  auto& steps = plan.steps;
  auto end = std::to_string(plan.keeps.value);
  if (made.copy_truth)
    steps.push_back("copies order, journal and state up to position " + end +
                    " into a new database, and keeps the damaged one beside it");
  else if (made.renew_indexes || made.accept_loss || !made.snapshots.empty() || !made.removals.empty())
    steps.push_back(
        "changes a copy of the database, opens it, and keeps the database as it was when the copy takes its place");
  if (plan.acknowledged > plan.keeps && (made.copy_truth || made.accept_loss))
    steps.push_back("accepts that positions " + std::to_string(plan.keeps.value + 1) + " to " +
                    std::to_string(plan.acknowledged.value) + " are lost");
  if (made.copy_truth && !plan.holes.empty())
    steps.push_back("leaves " + std::to_string(plan.holes.size()) +
                    " holes in what is kept: reading there says corruption");
  if (!made.removals.empty())
    steps.push_back("leaves out " + std::to_string(made.removals.size()) +
                    " damaged rows of removals: what they speak of is to be removed once more");
  steps.insert(steps.end(), made.said_of_snapshots.begin(), made.said_of_snapshots.end());
  if (made.renew_indexes) steps.push_back("makes all indexes anew from journal and order");
  if (!steps.empty() || made.write_mark) steps.push_back("writes MARK for position " + end);
}

}  // namespace evershard::storage
