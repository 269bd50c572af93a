// Decided: who waits, for whom, and what is said of versions.

#include <algorithm>
#include <string>

#include "evershard/actors/core/check_versions.hpp"
#include "evershard/actors/core/named_ids.hpp"
#include "evershard/actors/core/shard_writers.hpp"

namespace evershard::actors {
namespace {

bool decided_on(const std::vector<ShardId>& shards, ShardId shard) {
  return std::binary_search(shards.begin(), shards.end(), shard);
}

Error overloaded_after(std::uint32_t tries) {
  return {ErrorCode::overloaded, "the append was tried " + std::to_string(tries) +
                                     " times, and each time others were in its way: try again later"};
}

/// A guard on a shard that the append does not write to: nothing orders the two, so it is a condition like any other.
bool is_guard_elsewhere(const Attempt& attempt, std::size_t aggregate) {
  if (attempt.asked || aggregate < attempt.prepared.append.aggregates.size()) return false;
  const ShardId shard = attempt.prepared.aggregate(aggregate).shard;
  return !decided_on(attempt.shards, shard) && !decided_on(attempt.elsewhere, shard);
}

}  // namespace

void ShardWriters::line_up(const AttemptPtr& attempt, WriterActions& actions) {
  if (!attempt->queued) lanes_.find(*attempt);
  if (lanes_.free(*attempt, may_build(*attempt))) return decide(attempt, actions);
  if (!attempt->queued && attempt->tries == 0 && Lanes::waiting(*attempt) >= options_.waiting_max) {
    return end(attempt,
               evershard::refuse(ErrorCode::overloaded,
                                 std::to_string(options_.waiting_max) +
                                     " appends wait for one of its aggregates already: try again later"),
               actions);
  }
  attempt->state = Attempt::State::queued;
  lanes_.queue(attempt);
}

void ShardWriters::run(WriterActions& actions) {
  while (!next_.empty()) {
    const auto next = std::exchange(next_, {});
    for (const auto& attempt : next) {
      if (attempt->state == Attempt::State::queued && lanes_.free(*attempt, may_build(*attempt)))
        decide(attempt, actions);
    }
  }
}

// On top of what is undecided, and refused with that.
bool ShardWriters::may_build(const Attempt& attempt) const { return builds_ && !attempt.on_decided; }

void ShardWriters::decide(const AttemptPtr& attempt, WriterActions& actions) {
  if (view_is_old(*attempt) || placed_lately(*attempt) || needs_query(*attempt))
    return look_up(attempt, false, actions);
  find_heads(*attempt);
  if (auto conflict = check_versions(attempt->prepared, heads_.heads, heads_.last_writer, heads_.elsewhere)) {
    if (rests_on_undecided(conflict->aggregate)) {
      attempt->on_decided = true;
      attempt->state = Attempt::State::queued;
      return lanes_.queue(attempt);
    }
    return refuse(attempt, conflict->aggregate, conflict->missing, std::move(conflict->error), actions);
  }
  write(attempt, actions);
}

bool ShardWriters::view_is_old(const Attempt& attempt) const {
  if (attempt.prepared.view < recent_.floor()) return true;
  return std::any_of(attempt.shards.begin(), attempt.shards.end(), [&](ShardId id) {
    const auto& elsewhere = attempt.prepared.elsewhere;
    if (std::find(elsewhere.begin(), elsewhere.end(), id) != elsewhere.end()) return true;
    const auto shard = shards_.find(id);
    return shard != shards_.end() && attempt.prepared.view < shard->second.since;
  });
}

bool ShardWriters::placed_lately(const Attempt& attempt) {
  if (!attempt.prepared.named) return false;
  return any_named_id(attempt.prepared, [&](const EventId& id, ShardId shard) {
    return decided_on(attempt.shards, shard) && recent_.find(id).has_value();
  });
}

// Rule 16. What a query cannot raise is left to the coordinator.
bool ShardWriters::needs_query(const Attempt& attempt) const {
  const auto before_window = [&](GlobalPosition from) { return from < window_from_ && from < watermark_; };
  for (const auto& condition : attempt.prepared.terms) {
    if (before_window(condition.from)) return true;
  }
  const std::size_t aggregates = attempt.prepared.append.aggregates.size();
  for (std::size_t i = 0; i != attempt.prepared.guards.size(); ++i) {
    if (is_guard_elsewhere(attempt, aggregates + i)) return before_window(attempt.prepared.view);
  }
  const auto names = names_from(attempt);
  return names && before_window(*names);
}

// Who asks for the sync alone is not told of the order, so the order cannot refuse him.
std::optional<GlobalPosition> ShardWriters::names_from(const Attempt& attempt) const {
  const auto& prepared = attempt.prepared;
  if (attempt.asked || attempt.ack == Ack::durable || !prepared.named) return std::nullopt;
  if (!any_name_of_the_store(prepared.append, [](std::size_t, const EventId&) { return true; })) return std::nullopt;
  return prepared.names_whole ? prepared.view : std::min(prepared.view, window_from_);
}

// An id is one event's over the whole store, a request id one request's: none of another shard's has it, from the view
// on in which none was found.
std::optional<sharding::TermCondition> ShardWriters::names_condition(const Attempt& attempt) const {
  const auto from = names_from(attempt);
  if (!from) return std::nullopt;
  sharding::TermCondition condition{{}, *from};
  any_name_of_the_store(attempt.prepared.append, [&](std::size_t, const EventId& id) {
    condition.query.items.push_back({{}, {hasher_.id(id)}});
    return false;
  });
  return condition;
}

std::vector<sharding::TermCondition> ShardWriters::conditions_of(const Attempt& attempt) const {
  if (attempt.asked) return {};
  auto conditions = attempt.prepared.terms;
  for (const auto& expected : attempt.prepared.expected) {
    if (!is_guard_elsewhere(attempt, expected.aggregate) || expected.version == ExpectedVersion::any()) continue;
    const auto stream = attempt.prepared.aggregate(expected.aggregate).stream;
    conditions.push_back({sharding::TermQuery{false, {{{}, {stream}}}}, attempt.prepared.view});
  }
  return conditions;
}

void ShardWriters::find_heads(const Attempt& attempt) {
  const auto& prepared = attempt.prepared;
  const std::size_t count = prepared.append.aggregates.size() + prepared.guards.size();
  heads_.heads.assign(prepared.heads.begin(), prepared.heads.end());
  heads_.heads.resize(count);
  heads_.elsewhere.assign(count, 1);
  heads_.rests_on.assign(count, nullptr);
  heads_.last_writer = 0;
  for (const auto& on : attempt.lanes) {
    heads_.elsewhere[on.aggregate] = 0;
    std::uint64_t writer = 0;
    if (on.lane->unordered != 0) {
      heads_.heads[on.aggregate].version = on.lane->version;
      heads_.rests_on[on.aggregate] = on.lane;
      writer = on.lane->writer;
    } else if (const auto& aggregate = prepared.aggregate(on.aggregate);
               const auto ordered = recent_.head(aggregate.stream, aggregate.text)) {
      heads_.heads[on.aggregate] = ordered->head;
      writer = ordered->writer;
    }
    if (on.aggregate == 0) heads_.last_writer = writer;
  }
  for (std::size_t i = prepared.append.aggregates.size(); i != count; ++i) {
    if (is_guard_elsewhere(attempt, i)) heads_.elsewhere[i] = 0;
  }
}

// What an attempt would be refused for may be refused itself.
bool ShardWriters::rests_on_undecided(std::uint32_t aggregate) const {
  const Lane* const lane = heads_.rests_on[aggregate];
  return lane != nullptr && lane->undecided != nullptr;
}

// Rule 19: answered once what it rests on is ordered, and what is missing is missing at a cut made since.
void ShardWriters::refuse(const AttemptPtr& attempt, std::uint32_t aggregate, bool missing, Error error,
                          WriterActions& actions) {
  Lane* lane = heads_.rests_on[aggregate];
  Written* last = lane != nullptr ? lane->last : nullptr;
  leave_lanes(*attempt);
  if (missing && !attempt->cut_since) {
    const ShardId shard = attempt->prepared.aggregate(aggregate).shard;
    return await_cut(
        attempt, decided_on(attempt->shards, shard) ? shard : attempt->prepared.append.events.front().shard, actions);
  }
  if (last == nullptr) return end(attempt, evershard::refuse(std::move(error)), actions);
  attempt->state = Attempt::State::resting;
  attempt->refusal = std::move(error);
  last->resting.push_back(attempt);
}

void ShardWriters::look_up(const AttemptPtr& attempt, bool confirm, WriterActions& actions) {
  if (attempt->tries >= options_.tries_max)
    return end(attempt, evershard::refuse(overloaded_after(attempt->tries)), actions);
  ++attempt->tries;
  if (!attempt->lanes.empty()) lanes_.queue(attempt);
  attempt->state = Attempt::State::looked_up;
  actions.look_ups.push_back({attempt, confirm, window_from_, attempt->first_position});
}

}  // namespace evershard::actors
