// Appends over several shards: parts for other nodes, and from them.

#include <algorithm>

#include "evershard/actors/core/check_versions.hpp"
#include "evershard/actors/core/named_ids.hpp"
#include "evershard/actors/core/part_of.hpp"
#include "evershard/actors/core/shard_writers.hpp"

namespace evershard::actors {

sharding::PartOf part_of(const storage::EncodedAppend& append) {
  sharding::PartOf part;
  for (const auto& event : append.events) {
    if (part.runs.empty() || part.runs.back().first != event.shard) part.runs.emplace_back(event.shard, 0);
    ++part.runs.back().second;
  }
  part.append = EventId::derived(append.events.front().id, static_cast<std::uint32_t>(append.content_hash));
  part.append = EventId::derived(part.append, static_cast<std::uint32_t>(append.content_hash >> 32));
  for (const auto& [shard, events] : part.runs) {
    part.append = EventId::derived(EventId::derived(part.append, shard.value), events);
  }
  return part;
}

// -- for other nodes

// All at once: parts tried one by one would chase each other.
void ShardWriters::ask_for_parts(const AttemptPtr& attempt, WriterActions& actions) {
  attempt->unanswered = static_cast<std::uint32_t>(attempt->elsewhere.size());
  for (const ShardId shard : attempt->elsewhere) {
    actions.parts.push_back({attempt, PartAsked{shard, *attempt->part, attempt->number, attempt->tries}});
  }
}

void ShardWriters::part_answered(PartAnswer answer, WriterActions& actions) {
  const auto found = live_.find(answer.attempt);
  if (found == live_.end()) return;
  const AttemptPtr attempt = found->second;
  if (attempt->state != Attempt::State::written || attempt->tries != answer.try_number || attempt->unanswered == 0)
    return;
  if (!std::binary_search(attempt->elsewhere.begin(), attempt->elsewhere.end(), answer.shard)) return;
  for (const auto& other : attempt->answered) {
    if (other.shard == answer.shard) return;
  }
  const auto& aggregates = attempt->prepared.append.aggregates;
  for (const auto& version : answer.versions) {
    const auto at =
        std::find_if(aggregates.begin(), aggregates.end(), [&](const auto& a) { return a.id == version.aggregate; });
    if (at != aggregates.end()) attempt->versions[static_cast<std::size_t>(at - aggregates.begin())] = version.version;
  }
  attempt->answered.push_back(std::move(answer));
  if (--attempt->unanswered == 0 && attempt->undecided == 0) refused(attempt, actions);
  run(actions);
}

// Whether the parts that were answered for are those that the cut has placed: one may have been refused since, and
// written anew.
bool ShardWriters::parts_stand(const Attempt& attempt, const sharding::Cut& cut) const {
  if (attempt.unanswered != 0) return false;
  return std::all_of(attempt.answered.begin(), attempt.answered.end(), [&](const PartAnswer& answer) {
    if (answer.kind != PartAnswer::Kind::written) return false;
    GlobalPosition position = attempt.first_position;
    for (const auto& [shard, events] : attempt.part->runs) {
      if (shard == answer.shard) break;
      position = position + events;
    }
    GlobalPosition next = cut.first_position;
    for (const auto& segment : cut.segments) {
      if (segment.shard != answer.shard || answer.first < segment.first || answer.first >= segment.end) {
        next = next + segment.events();
        continue;
      }
      const auto refused = std::lower_bound(segment.refused.begin(), segment.refused.end(), answer.first);
      if (refused != segment.refused.end() && *refused == answer.first) return false;
      const auto before = static_cast<std::uint64_t>(refused - segment.refused.begin());
      return next + ((answer.first - segment.first) - before) == position;
    }
    return false;
  });
}

// -- from other nodes

// A part never waits for another tentative append: two appends that each hold what the other waits for would wait for
// each other.
void ShardWriters::proceed_part(const AttemptPtr& attempt, WriterActions& actions) {
  if (const auto first = first_attempt(*attempt); first != nullptr && first != attempt) {
    const bool same =
        first->part && first->part->append == attempt->asked->part.append && first->state == Attempt::State::written;
    if (!same) return end_part(attempt, PartAnswer::Kind::busy, actions);
    attempt->state = Attempt::State::joined;
    first->joined.push_back(attempt);
    if (first->durable) reply_written(*first, *attempt, actions);
    return;
  }
  if (view_is_old(*attempt)) return look_up(attempt, false, actions);
  if (placed_lately(*attempt) || recent_.find(attempt->asked->part.append, attempt->asked->shard))
    return end_part(attempt, PartAnswer::Kind::known, actions);
  if (attempt->prepared.refusal) return end(attempt, evershard::refuse(attempt->prepared.refusal->error), actions);
  if (unordered_bytes_ >= options_.unordered_bytes_max) return end_part(attempt, PartAnswer::Kind::busy, actions);
  remember(attempt);
  lanes_.find(*attempt);
  if (!lanes_.free(*attempt, may_build(*attempt))) return end_part(attempt, PartAnswer::Kind::busy, actions);
  find_heads(*attempt);
  if (auto conflict = check_versions(attempt->prepared, heads_.heads, heads_.last_writer, heads_.elsewhere)) {
    if (rests_on_undecided(conflict->aggregate)) return end_part(attempt, PartAnswer::Kind::busy, actions);
    return refuse(attempt, conflict->aggregate, conflict->missing, std::move(conflict->error), actions);
  }
  write(attempt, actions);
}

void ShardWriters::end_part(const AttemptPtr& attempt, PartAnswer::Kind kind, WriterActions& actions) {
  reply(*attempt, {.kind = kind}, actions);
  abandon(attempt, actions);
}

void ShardWriters::reply_written(const Attempt& first, Attempt& attempt, WriterActions& actions) const {
  PartAnswer answer{.kind = PartAnswer::Kind::written};
  for (const auto& [shard, offset] : first.places) {
    if (shard == attempt.asked->shard) answer.first = offset;
  }
  const auto& aggregates = first.prepared.append.aggregates;
  for (std::size_t i = 0; i != aggregates.size(); ++i) {
    if (aggregates[i].shard == attempt.asked->shard) answer.versions.push_back({aggregates[i].id, first.versions[i]});
  }
  reply(attempt, std::move(answer), actions);
}

void ShardWriters::reply(Attempt& attempt, PartAnswer answer, WriterActions& actions) const {
  if (std::exchange(attempt.replied, true)) return;
  answer.attempt = attempt.asked->attempt;
  answer.try_number = attempt.asked->try_number;
  answer.shard = attempt.asked->shard;
  actions.part_replies.push_back({attempt.client, std::move(answer)});
}

}  // namespace evershard::actors
