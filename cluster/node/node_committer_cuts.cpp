// Cuts applied; and what the order and the writers want done, done.

#include "evershard/cluster/node/node_committer.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/node/awaited.hpp"
#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/sharding/node_cut.hpp"
#include "evershard/storage/order/leadership_row.hpp"
#include "evershard/storage/order/recovered_order.hpp"

namespace evershard::cluster {
namespace {

using actors::WriterActions;

/// Those of which this node can be asked: it writes them, or keeps what their writer has shipped.
std::vector<ShardId> readable_at(const actors::ShardWriters& writers, const NodeOrder& order, std::size_t shards) {
  std::vector<ShardId> open;
  for (std::size_t s = 0; s != shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (writers.is_open(shard) || order.follows(shard)) open.push_back(shard);
  }
  return open;
}

std::vector<sharding::Segment> own_segments(const NodeStep::Apply& step) {
  std::vector<sharding::Segment> own;
  for (const auto& placed : step.own) own.push_back(placed.segment);
  return own;
}

/// The next process reads from the disk what this one's writer gave up.
Error comes_back(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::unavailable,
          "shard " + std::to_string(shard.value) +
              " was another node's and comes back, and events wait here for their order since before: start this node "
              "again",
          std::move(details)};
}

/// Indexes, and what this process remembers of what it placed, know of events that readers were told are gone.
Error brought_back(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::unavailable,
          "what was given up of shard " + std::to_string(shard.value) +
              " as lost is on this disk: start this node again, which takes it off",
          std::move(details)};
}

}  // namespace

void NodeCommitter::apply(NodeStep::Apply step) {
  auto& cut = step.cut;
  // What is missing before it was folded by the log: it named none of this node's shards, but gave positions to others.
  if (const auto next = writers_->watermark() + 1; cut.first_position != next) {
    cut.segments.insert(cut.segments.begin(), sharding::Segment::elsewhere(cut.first_position - next));
    cut.first_position = next;
  }

  for (const auto& opening : cut.openings) learn_owner(opening.shard, opening.node, opening.epoch);
  if (!cut.openings.empty()) publish_owners();
  if (!cut.replicas.empty()) note_replicas();
  std::vector<sharding::Segment> refused_before;  // of shards that were followed, and are this node's with this cut
  for (const auto& opening : step.openings) {
    if (followed_.holds(opening.shard)) {
      for (const auto& placed : step.own) {
        if (placed.segment.shard != opening.shard) continue;
        followed_.cover(placed.segment);
        refused_before.push_back(placed.segment);
      }
      std::erase_if(cut.segments, [&](const auto& segment) { return segment.shard == opening.shard; });
      const auto ordered = followed_.ordered(opening.shard);
      auto unordered = followed_.release(opening.shard);
      std::erase_if(shipped_, [&](const Shipped& of) { return of.read.rows.shard == opening.shard; });
      if (opening.loses()) unordered.clear();
      writers_->adopt({opening.shard, Epoch{0}, ordered}, std::move(unordered));
      continue;
    }
    if (!writers_->holds(opening.shard)) writers_->adopt({opening.shard, Epoch{0}, ShardOffset{1}}, {});
    if (opening.loses() || !writers_->is_fenced(opening.shard)) continue;
    // It was another node's in between, and comes back to the same process.
    if (writers_->left_behind(opening.shard)) return fail(comes_back(opening.shard));
    writers_->adopt({opening.shard, Epoch{0}, opening.tail}, {});
  }
  // A writer begins once its opening is synced, see NodeStep::Opened: what it reports before that would be ordered
  // under an epoch that its disk may not have after a loss of power. An opening for an earlier process of this node is
  // nobody's here. Nor is one that is followed, in the same cut, by this node's own: its writer has begun anew.
  std::erase_if(cut.openings, [&](const sharding::Opening& opening) {
    return opening.node == options_.self.node || std::ranges::any_of(step.openings, [&](const sharding::Opening& own) {
             return own.shard == opening.shard && own.epoch > opening.epoch;
           });
  });
  shards_changed_ |= !cut.openings.empty() || !step.openings.empty() || !step.damaged.empty();
  close_writers(step);
  if (!step.damaged.empty()) cut = sharding::as_far_as_here(cut, step.damaged, own_segments(step));

  WriterActions actions;
  writers_->announce(order_.window_from(), order_.digests_wanted(), order_.builds());
  writers_->apply(cut, actions);
  preparer_.window_begins(order_.window_from());
  if (!actions.lost.empty()) return fail(actions.lost.front().second);

  EVERSHARD_CHECK(actions.cuts.size() == 1, "a cut that was not applied is applied");
  const auto& shards = actions.cuts.front().own;
  std::set<ShardId> followed;
  for (const auto& segment : refused_before) followed.insert(segment.shard);
  cut.segments.insert(cut.segments.end(), refused_before.begin(), refused_before.end());
  for (const auto& [segment, position] : step.own) {
    if (!followed_.holds(segment.shard)) continue;
    followed_.cover(segment);
    followed.insert(segment.shard);
  }
  const auto own = [&](const sharding::Segment& segment) {
    return std::ranges::find(shards, segment.shard) != shards.end() || followed.contains(segment.shard) ||
           std::ranges::find(step.damaged, segment.shard) != step.damaged.end();
  };
  if (step.led) {
    storage::CommitBatch batch;
    batch.state.push_back({storage::leadership_key(), storage::leadership_row(*step.led)});
    auto led = store_.stage(batch);
    if (auto committed = store_.commit(*led); !committed) return fail(committed.error());
  }
  auto openings = step.openings;
  openings.insert(openings.end(), step.followed.begin(), step.followed.end());
  auto staged = store_.stage_cut(sharding::cut_of_node(cut, own, std::move(openings)), step.damaged, step.holes);
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  if (std::ranges::any_of(step.openings, &sharding::Opening::loses)) {
    if (auto looked = look_at_losses(); !looked) return fail(looked.error());
  }
  for (const auto& written : actions.cuts.front().covered) {
    const auto& append = written->attempt->prepared.append;
    if (append.snapshots.empty() || written->refused || !has_followers(written->place.shard)) continue;
    for (const auto& [index, snapshot] : append.snapshots)
      if (append.aggregates[index].shard == written->place.shard)
        unlogged_[written->place.shard].insert(append.aggregates[index].id);
  }
  auto after = order_.applied(step.number);
  reader_.owns(readable_at(*writers_, order_, owner_of_.size()));
  watch_.advance(step.watermark);
  carry_out(std::move(actions));
  carry_out(std::move(after));
}

void NodeCommitter::close_writers(const NodeStep::Apply& step) {
  const auto close = [&](ShardId shard) {
    WriterActions closed;
    writers_->fence(shard, closed);
    carry_out(std::move(closed));
  };
  for (const ShardId shard : step.damaged) {
    if (followed_.holds(shard)) {
      writers_->adopt({shard, Epoch{0}, followed_.ordered(shard)}, {});  // to be fenced
      followed_.forget(shard);
      std::erase_if(shipped_, [&](const Shipped& of) { return of.read.rows.shard == shard; });
    }
    close(shard);
  }
  for (const auto& opening : step.openings) {
    if (!opening.loses()) continue;
    close(opening.shard);
    writers_->adopt({opening.shard, Epoch{0}, opening.lost_until}, {});
  }
}

Result<void> NodeCommitter::join_versions(ShardId shard) {
  std::optional<Error> error;
  writers_->join_versions(shard, [&](const storage::EncodedAggregate& aggregate) {
    auto version = preparer_.version_of(aggregate.id);
    if (version) return *version;
    error = std::move(version).error();
    return SeqNr{};
  });
  if (error) return refuse(*std::move(error));
  return {};
}

Result<void> NodeCommitter::look_at_losses() {
  auto covered = storage::covered_rows(store_.rows(), store_.identity().shards);
  if (!covered) return refuse(std::move(covered).error());
  std::map<ShardId, std::vector<storage::LostRange>> lost;
  for (auto& [shard, row] : *covered) {
    if (row.gone_from.value != 0) return refuse(brought_back(shard));
    if (!row.lost.empty() && !options_.skip_lost) lost.emplace(shard, std::move(row.lost));
  }
  reader_.lost(std::move(lost));
  return {};
}

void NodeCommitter::carry_out(NodeActions actions) {
  for (const auto& warning : actions.warnings)
    if (options_.warn) options_.warn(warning);
  for (auto& step : actions.steps) {
    if (dead_) return;
    std::visit(
        [&](auto& what) {
          using What = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<What, NodeStep::Apply>) {
            apply(std::move(what));
          } else if constexpr (std::is_same_v<What, NodeStep::Fence>) {
            fence(what.shard);
          } else if constexpr (std::is_same_v<What, NodeStep::Follow>) {
            follow(what);
          } else if constexpr (std::is_same_v<What, NodeStep::Ships>) {
            begin_shipping(what.shard, what.epoch);
          } else if constexpr (std::is_same_v<What, NodeStep::Sync>) {
            sync();
          } else if constexpr (std::is_same_v<What, NodeStep::Opened>) {
            WriterActions opened;
            if (auto joined = join_versions(what.opening.shard); !joined) return fail(joined.error());
            writers_->open(what.opening.shard, what.opening.epoch, opened);
            shards_changed_ = true;
            reader_.owns(readable_at(*writers_, order_, owner_of_.size()));
            carry_out(std::move(opened));
          } else {
            WriterActions again;
            writers_->report_from(what.shard, what.first, again);
            carry_out(std::move(again));
          }
        },
        step.what);
  }
  if (dead_) return;
  for (auto& message : actions.send) {
    if (auto* held = std::get_if<Held>(&message)) add_disk(*held);
    std::visit([&](auto& said) { network_.to_coordinator(std::move(said)); }, message);
  }
  if (actions.history) ask_history(*actions.history);
  if (actions.say_hello) say_hello();
  if (actions.coordinator_refused && options_.warn) options_.warn(*actions.coordinator_refused);
}

void NodeCommitter::carry_out(WriterActions actions) {
  if (order_.reports()) {  // else all are reported again, once it does
    QuorumGate::Reports reports;
    for (auto& report : actions.reports) {
      const auto& set = counted(report.report.shard);
      gate_.take(std::move(report), set, reports);
    }
    send(std::move(reports));
  }
  for (auto& look : actions.look_ups) {
    if (look.placed_at.value == 0) {
      work_->run([this, attempt = std::move(look.attempt), confirm = look.confirm] { look_up(attempt, confirm); });
      continue;
    }
    asking_->run([this, attempt = std::move(look.attempt), placed_at = look.placed_at] {
      auto found = placed(attempt->prepared, placed_at);
      post([this, attempt, found = std::move(found)]() mutable {
        if (dead_) return;
        WriterActions next;
        writers_->looked_up(attempt, std::move(found), next);
        carry_out(std::move(next));
      });
    });
  }
  for (auto& part : actions.parts) {
    const auto owner = owner_of_[part.part.shard.value].node;
    const auto asked = part.part;
    const auto answered = [this](actors::PartAnswer answer) {
      post([this, answer = std::move(answer)] {
        if (dead_) return;
        WriterActions next;
        writers_->part_answered(answer, next);
        carry_out(std::move(next));
      });
    };
    if (owner == 0 || owner == options_.self.node) {
      answered(lost_part(asked, no_owner(asked.shard)));
    } else {
      network_.ask_part(owner, part.of, part.part, [answered, owner, shard = asked.shard](actors::PartAnswer answer) {
        // Whatever became of the part, it is refused with the rest: the append as a whole has a known outcome.
        if (answer.kind == actors::PartAnswer::Kind::lost)
          answer.error = of_shard(owner, shard, std::move(answer.error));
        answered(std::move(answer));
      });
    }
  }
  for (auto& reply : actions.part_replies) {
    const auto found = parts_.find(reply.client);
    if (found == parts_.end()) continue;
    auto done = std::move(found->second.done);
    parts_.erase(found);
    done(std::move(reply.answer));
  }
  for (auto& answered : actions.answers) answer_with_quorum(answered.client, std::move(answered.result));
}

}  // namespace evershard::cluster
