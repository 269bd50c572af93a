// Replicas: what this node ships of the shards it writes, and takes of those that others write.

#include <algorithm>
#include <memory>
#include <utility>

#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/order/refused_rows.hpp"

namespace evershard::cluster {
namespace {

using actors::WriterActions;

constexpr std::size_t history_bytes_max = 512u << 10;
constexpr std::uint64_t unordered_events_max = 400'000;  ///< then what is shipped is not taken until cuts covered half
constexpr std::size_t read_bytes_max = 1u << 20;         ///< of a journal, for one follower at a time

}  // namespace

void NodeCommitter::peer(std::uint32_t node, bool up) {
  post([this, node, up] {
    if (dead_) return;
    if (up) return say_followed(node, std::nullopt, true);
    named_.lost(node);
    forget_follower(node);
  });
}

void NodeCommitter::forget_follower(std::uint32_t node) {
  shipping_.lost(node);
  gate_.lost(node);
  row_logs_.lost(node);
}

void NodeCommitter::receive(std::uint32_t from, Ship ship) {
  post([this, from, ship = std::move(ship)]() mutable {
    if (!dead_) take_shipped(from, std::move(ship));
  });
}

void NodeCommitter::receive(std::uint32_t from, FollowerTold followed) {
  post([this, from, followed = std::move(followed)] {
    if (!dead_ && named_.hear(from, followed)) count(from, followed);
  });
}

void NodeCommitter::count(std::uint32_t from, const FollowerTold& followed) {
  QuorumGate::Reports reports;
  for (const auto& told : followed.shards) {
    const auto& set = counted(told.shard);
    if (shipping_.followed(from, told, followed.again))
      gate_.followed(from, told.shard, told.epoch, told.tail, set, reports);
    const bool ready = row_logs_.ready(told.shard);
    row_logs_.followed(from, told.shard, told.epoch, told.rows, told.tail, order_.replicas(told.shard), told.rows_whole,
                       told.bases);
    shards_changed_ |= row_logs_.ready(told.shard) != ready;
  }
  send(std::move(reports));
  if (!unconfirmed_.empty()) take_unconfirmed();
}

FollowedShard NodeCommitter::as_followed(ShardId shard, Epoch epoch) const {
  std::set<std::uint64_t> bases;
  if (const auto here = bases_here_.find(shard); here != bases_here_.end())
    for (const auto& [aggregate, base] : here->second) bases.insert(base);
  return {shard, epoch, followed_.tail(shard), row_log_ends(shard), whole_row_logs_.contains(shard), std::move(bases)};
}

void NodeCommitter::tell(std::uint32_t writer, FollowerTold told) {
  told.process = options_.self.incarnation;
  network_.followed(writer, told);
}

void NodeCommitter::note_replicas() {
  std::vector<sharding::ReplicaSet> sets;
  for (std::size_t s = 0; s != owner_of_.size(); ++s)
    sets.push_back(order_.replicas(ShardId{static_cast<std::uint16_t>(s)}));
  if (std::ranges::any_of(sets, [](const auto& set) { return set.nodes.size() > 1; }))
    replicated_.store(true, std::memory_order_relaxed);
  Keeping keeping{{}, order_.to_learn(), order_.cut(), {}};
  for (std::size_t s = 0; s != sets.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    narrowed_.note(shard, sets[s]);
    gate_.note(shard, sets[s]);
    if (order_.has_whole(shard)) keeping.kept.push_back(shard);
    if (sets[s].nodes.empty() && tail(shard) > ShardOffset{1}) keeping.without_set = shard;
  }
  const std::lock_guard lock(mutex_);
  replica_sets_ = std::move(sets);
  keeping_ = std::move(keeping);
}

NodeCommitter::Keeping NodeCommitter::keeping() const {
  const std::lock_guard lock(mutex_);
  return keeping_;
}

void NodeCommitter::end_with(Error why) {
  post([this, why = std::move(why)] { fail(why); });
}

Result<storage::ShippedRows> NodeCommitter::journal(const JournalAsked& asked) const {
  if (asked.shard.value >= store_.identity().shards || asked.from.value == 0)
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(asked.shard.value) +
                                                   ", or no offset " + std::to_string(asked.from.value));
  const auto covered = storage::covered_rows(store_.rows(), store_.identity().shards);
  if (!covered) return refuse(covered.error());
  if (const auto row = covered->find(asked.shard); row != covered->end() && !row->second.lost.empty())
    return refuse(ErrorCode::unavailable, "events of shard " + std::to_string(asked.shard.value) +
                                              " were given up as lost: it stays with the nodes that keep it");
  return store_.journal_from(asked.shard, asked.from, read_bytes_max);
}

const sharding::ReplicaSet& NodeCommitter::counted(ShardId shard) {
  return narrowed_.counted(shard, order_.replicas(shard));
}

void NodeCommitter::take(const Narrow& narrow) {
  if (narrow.to != options_.self || narrow.coordinator != order_.coordinator() || !writers_->is_open(narrow.shard) ||
      writers_->epoch(narrow.shard) != narrow.epoch)
    return;
  narrowed_.take(narrow, writers_->tail(narrow.shard));
}

void NodeCommitter::add_disk(Held& held) const {
  held.learned = learned_events_;
  held.full = disk_full_;
  held.clock = Timestamp::now();
}

// Others write its shards then, and nothing that is shipped is taken: what room there is is for what was begun.
void NodeCommitter::look_at_disk() {
  const auto admission = store_.admission();
  // Its next write would say so; until there is one, what it says of its disk would count.
  if (admission.kind == storage::Admission::Kind::failed) return fail(Error(ErrorCode::io, admission.what));
  const bool was_full = std::exchange(disk_full_, admission.kind == storage::Admission::Kind::disk);
  if (!order_.reports() || (!disk_full_ && !was_full)) return;
  auto held = order_.held();
  add_disk(held);
  network_.to_coordinator(held);
  if (!disk_full_) say_followed(std::nullopt, std::nullopt, true);
}

// What was answered before it was asked, and what is answered since, has a quorum of those that stay.
void NodeCommitter::look_at_narrowed() {
  for (auto& [shard, asked] : narrowed_.asked()) {
    if (asked.said) continue;
    const auto& rest = counted(shard);
    if (gate_.quorum_has(shard, rest) < asked.tail || !row_logs_.quorum_has_all(shard, rest)) continue;
    if (unlogged_.contains(shard) || looked_for_unlogged_[shard] != writers_->epoch(shard)) continue;  // in a moment
    asked.said = true;
    const auto& by = asked.by;
    network_.to_coordinator(Narrowed{options_.self, by.coordinator, shard, by.epoch, by.without, by.number});
  }
}

// The shard has a newer writer.
void NodeCommitter::fence(ShardId shard) {
  WriterActions actions;
  if (order_.keeps(shard)) {
    const auto ordered = writers_->ordered(shard), tail = writers_->tail(shard);
    followed_.hold(shard, ordered, tail, writers_->follow(shard, actions));
    tails_changed_.insert(shard);
  } else {
    writers_->fence(shard, actions);
  }
  gate_.forget(shard);
  narrowed_.forget(shard);
  shipping_.end(shard);
  row_logs_.end(shard);
  shards_changed_ = true;
  carry_out(std::move(actions));
}

// Nobody acknowledged what goes. In one write with the epoch: before that is on the disk, the writer before could ship
// it again.
void NodeCommitter::follow(const NodeStep::Follow& step) {
  std::erase_if(shipped_, [&](const Shipped& shipped) { return shipped.read.rows.shard == step.shard; });
  if (!followed_.holds(step.shard)) {
    WriterActions none;
    // What it could have written is of another writer now.
    static_cast<void>(writers_->follow(step.shard, none));
    followed_.hold(step.shard, ShardOffset{1}, ShardOffset{1}, {});
  }
  followed_.cut_back(step.shard, step.from);
  gate_.forget(step.shard);
  shipping_.end(step.shard);
  row_logs_.end(step.shard);
  auto staged = store_.stage_take_off(step.shard, followed_.tail(step.shard), step.epoch);
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  tails_changed_.insert(step.shard);
  if (step.writer != 0) learn_owner(step.shard, step.writer, step.epoch);
  publish_owners();
  say_followed(std::nullopt, step.shard, true);
}

void NodeCommitter::begin_shipping(ShardId shard, Epoch epoch) {
  std::vector<std::uint32_t> followers;
  for (const auto node : order_.replicas(shard).all())
    if (node != options_.self.node) followers.push_back(node);
  if (followers.empty() && !shipping_.ships(shard)) return;
  shipping_.begin(shard, epoch, followers, tail(shard).value_or(ShardOffset{1}));
  row_logs_.begin(shard, epoch, row_log_ends(shard), whole_row_logs_.contains(shard));
}

std::optional<ShardOffset> NodeCommitter::tail(ShardId shard) const {
  if (followed_.holds(shard)) return followed_.tail(shard);
  if (writers_->holds(shard)) return writers_->tail(shard);
  return std::nullopt;
}

ShardOffset NodeCommitter::end_with_shipped(ShardId shard) const {
  for (auto of = shipped_.rbegin(); of != shipped_.rend(); ++of)
    if (of->read.rows.shard == shard) return of->read.rows.end;
  return followed_.tail(shard);
}

void NodeCommitter::take_shipped(std::uint32_t from, Ship ship) {
  FollowerTold again{{}, true};
  for (auto& [epoch, rows] : ship.shards) {
    const auto shard = rows.shard;
    if (order_.follows(shard) != epoch || !followed_.holds(shard)) continue;
    const auto end = end_with_shipped(shard);
    if (rows.end <= end) continue;
    if (disk_full_) continue;
    if (followed_.unordered() >= unordered_events_max) {
      held_back_.insert(shard);
      continue;
    }
    auto read = rows.first == end ? storage::read_rows(std::move(rows), store_.hasher())
                                  : Result<storage::ReadRows>(refuse(ErrorCode::corruption, ""));
    if (read) {
      shipped_.push_back({from, epoch, std::move(*read)});
      continue;
    }
    if (!read.error().what.empty() && options_.warn)
      options_.warn(Error(ErrorCode::corruption,
                          "what node " + std::to_string(from) + " ships is not taken: " + read.error().what));
    if (asked_again_.insert(shard).second) again.shards.push_back(as_followed(shard, epoch));
  }
  if (!again.shards.empty()) tell(from, std::move(again));
}

void NodeCommitter::shipped_is_synced(std::vector<Shipped> shipped) {
  std::map<std::uint32_t, std::map<ShardId, Epoch>> told;
  for (auto& [from, epoch, read] : shipped) {
    const auto shard = read.rows.shard;
    followed_.take(shard, read.rows.end, std::move(read.appends));
    shipping_.durable(shard, read.rows.end);  // its writer soon, perhaps
    asked_again_.erase(shard);
    tails_changed_.insert(shard);
    told[from][shard] = epoch;
  }
  for (const auto& [node, shards] : told) {
    FollowerTold followed;
    for (const auto& [shard, epoch] : shards) followed.shards.push_back(as_followed(shard, epoch));
    tell(node, std::move(followed));
  }
}

void NodeCommitter::send(const Shipping::Outgoing& outgoing) {
  for (const auto node : network_.ship(outgoing.nodes, outgoing.ship)) shipping_.lost(node);
}

void NodeCommitter::send(std::vector<actors::WriterReport> reports) {
  if (!order_.reports()) return;  // all are reported again, once it does
  for (auto& report : reports) {
    report.naming = named_.naming();
    network_.to_coordinator(std::move(report));
  }
}

/// To the writers of the shards that are followed here, as they are known.
void NodeCommitter::say_followed(std::optional<std::uint32_t> to, std::optional<ShardId> of, bool again) {
  std::map<std::uint32_t, FollowerTold> told;
  for (const auto shard : followed_.all()) {
    const auto epoch = order_.follows(shard);
    if (!epoch || (of && *of != shard)) continue;
    // Who does not ship it under that epoch does not mind.
    const auto& writer = owner_of_[shard.value];
    const auto nodes = writer.epoch == *epoch ? std::vector<std::uint32_t>{writer.node} : order_.replicas(shard).nodes;
    for (const auto node : nodes)
      if (node != options_.self.node && (!to || *to == node)) told[node].shards.push_back(as_followed(shard, *epoch));
  }
  for (auto& [writer, followed] : told) {
    followed.again = again;
    tell(writer, std::move(followed));
  }
}

// One range at a time for each node that is not in step, read beside this thread.
void NodeCommitter::read_behind() {
  for (const auto& wanted : shipping_.wanted()) {
    if (!reading_for_.insert(wanted.node).second) continue;
    work_->run([this, wanted] {
      auto rows = store_.journal_from(wanted.shard, wanted.from, read_bytes_max);
      post([this, wanted, rows = std::move(rows)]() mutable {
        reading_for_.erase(wanted.node);
        if (dead_) return;
        if (!rows && options_.warn) options_.warn(rows.error());
        if (const auto outgoing = shipping_.read(wanted, rows ? std::move(*rows) : storage::ShippedRows{}))
          send(*outgoing);
      });
    });
  }
}

void NodeCommitter::history(GlobalPosition after, NodeDone<NodeHistory> done) {
  post([this, after, done = std::move(done)]() mutable {
    if (dead_) return done(refuse(gone()));
    NodeHistory history;
    history.last_cut = order_.cut();
    history.watermark = order_.watermark();
    for (std::size_t s = 0; s != owner_of_.size(); ++s) {
      const ShardId shard{static_cast<std::uint16_t>(s)};
      if (!order_.has_whole(shard)) continue;
      history.shards.push_back(shard);
      const auto end = followed_.holds(shard)   ? followed_.ordered(shard)
                       : writers_->holds(shard) ? writers_->ordered(shard)
                                                : ShardOffset{1};
      history.ends.push_back(
          {shard, end, order_.epoch(shard), owner_of_[s].epoch == order_.epoch(shard) ? owner_of_[s].node : 0});
    }
    work_->run([this, after, history = std::move(history), done = std::move(done)]() mutable {
      done(read_history(after, std::move(history)));
    });
  });
}

Result<NodeHistory> NodeCommitter::read_history(GlobalPosition after, NodeHistory history) const {
  auto order = store_.rows().cursor(storage::Family::order, {.prefix = {}, .scan = true});
  auto next = after + 1;
  std::size_t bytes = 0;
  // A row may begin before: it has positions of other nodes' shards too, of cuts that were folded.
  order->seek_for_prev(storage::keys::order(next));
  if (!order->valid()) order->seek(storage::keys::order(next));
  for (; order->valid() && next <= history.watermark; order->next()) {
    if (bytes >= history_bytes_max) break;
    auto cut = sharding::decode_cut(order->value(), sharding::CutOf::node);
    if (!cut) return refuse(std::move(cut).error());
    if (cut->last_position() < next) continue;
    if (cut->first_position > next)
      return refuse(ErrorCode::corruption, "no cut has position " + std::to_string(next.value) + " here");
    next = cut->last_position() + 1;
    bytes += order->value().size();
    history.cuts.push_back(std::move(*cut));
  }
  EVERSHARD_TRY(order->status());
  if (next != history.watermark + 1) {
    history.ends.clear();  // there is more
    return history;
  }
  auto covered = storage::covered_rows(store_.rows(), store_.identity().shards);
  if (!covered) return refuse(std::move(covered).error());
  auto refused = storage::refused_rows(store_.rows(), *covered);
  if (!refused) return refuse(std::move(refused).error());
  // More may have been applied since: then it has a row by now, or is of a later cut.
  std::erase_if(refused->segments, [&](const sharding::Segment& segment) {
    const auto end = std::ranges::find(history.ends, segment.shard, &NodeHistory::End::shard);
    return end == history.ends.end() || segment.end > end->end;
  });
  if (!refused->segments.empty())
    history.cuts.push_back({history.last_cut,
                            history.cuts.empty() ? Epoch{} : history.cuts.back().coordinator,
                            history.watermark + 1,
                            std::move(refused->segments),
                            {}});
  return history;
}

void NodeCommitter::ask_history(const NodeActions::History& wanted) {
  struct Asked {
    std::vector<HistoryPart> parts;
    std::size_t left = 0;
    bool failed = false;
  };
  auto choice = history_from_.choose(
      wanted.shards, options_.self.node, [this](ShardId shard) -> const auto& { return order_.replicas(shard); });
  if (choice.nobody) {
    if (options_.warn && !std::exchange(said_no_history_, true))
      options_.warn(
          Error(ErrorCode::unavailable,
                "cuts of shard " + std::to_string(choice.nobody->value) +
                    " that this node needs were folded, and no other node keeps it: its copy stays where it is"));
    return;
  }
  auto asked = std::make_shared<Asked>();
  asked->left = choice.asks.size();
  for (const auto& ask : choice.asks) asked->parts.push_back({{}, ask.shards});
  for (std::size_t n = 0; n != choice.asks.size(); ++n) {
    network_.history(choice.asks[n].node, wanted.after,
                     [this, asked, n, ask = choice.asks[n], after = wanted.after](Result<NodeHistory> got) {
                       post([this, asked, n, ask, after, got = std::move(got)]() mutable {
                         if (dead_) return;
                         auto given = got ? std::optional(std::move(*got)) : std::nullopt;
                         // Else they are asked for again in a while, perhaps of others.
                         asked->failed |= !history_from_.answered(ask, after, given);
                         if (given) asked->parts[n].history = std::move(*given);
                         if (--asked->left == 0)
                           take_history(after, asked->failed ? std::vector<HistoryPart>{} : asked->parts);
                       });
                     });
  }
}

void NodeCommitter::take_history(GlobalPosition after, const std::vector<HistoryPart>& parts) {
  auto history = merged(after, parts);
  if (!history) {
    if (options_.warn) options_.warn(history.error());
    return;
  }
  const bool complete = history->complete;
  const auto cuts = order_.whole(std::move(*history));
  carry_out(order_.history(after, cuts, complete));
}

// What a writer of an earlier release ships alone; this one has it in its row log.
void NodeCommitter::take_snapshot(storage::PlacedSnapshot snapshot, Epoch epoch, NodeDone<void> done) {
  post([this, snapshot = std::move(snapshot), epoch, done = std::move(done)] {
    if (dead_) return done(refuse(gone()));
    const auto shard = sharding::shard_of(sharding::stream_hash(snapshot.snapshot.aggregate), store_.identity().shards);
    if (order_.follows(shard) != epoch)
      return done(refuse(ErrorCode::unavailable,
                         "shard " + std::to_string(shard.value) + " is not followed here under that epoch"));
    // It may come behind the removal that it was written before.
    const auto removed = storage::removed_of(store_.rows(), snapshot.snapshot.aggregate);
    if (!removed) return done(refuse(removed.error()));
    if (*removed && (*removed)->aggregate && snapshot.snapshot.version < (*removed)->before) return done({});
    done(write_snapshot(snapshot));
  });
}

void NodeCommitter::tell_tails() {
  if (!held_back_.empty() && followed_.unordered() < unordered_events_max / 2)
    for (const auto shard : std::exchange(held_back_, {})) say_followed(std::nullopt, shard, true);
  while (!dead_ && !tails_changed_.empty()) {
    const auto shard = tails_changed_.extract(tails_changed_.begin()).value();
    if (followed_.holds(shard)) carry_out(order_.shipped(shard, followed_.tail(shard)));
  }
}

}  // namespace evershard::cluster
