// Requests: in, decided, written, out.

#include "evershard/actors/core/shard_writers.hpp"

#include <algorithm>
#include <string>

#include "evershard/actors/core/check_versions.hpp"
#include "evershard/actors/core/group_commit.hpp"
#include "evershard/actors/core/named_ids.hpp"
#include "evershard/actors/core/part_of.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::actors {
namespace {

bool lies_on(const std::vector<ShardId>& shards, ShardId shard) {
  return std::binary_search(shards.begin(), shards.end(), shard);
}

void insert_shard(std::vector<ShardId>& shards, ShardId shard) {
  const auto at = std::lower_bound(shards.begin(), shards.end(), shard);
  if (at == shards.end() || *at != shard) shards.insert(at, shard);
}

}  // namespace

ShardWriters::ShardWriters(Start start, Options options)
    : options_(options),
      hasher_(options.key),
      recent_(start.watermark, options.recent_entries_max, options.key),
      last_cut_(start.last_cut),
      watermark_(start.watermark),
      window_from_(start.watermark) {
  for (const OwnShard& shard : start.shards) adopt(shard, {});
  for (auto& unordered : start.unordered) recover(std::move(unordered));
}

// -- in

void ShardWriters::take(const AttemptPtr& attempt, WriterActions& actions) {
  attempt->number = ++arrivals_;
  live_.emplace(attempt->number, attempt);
  admit(attempt, actions);
  run(actions);
}

void ShardWriters::admit(const AttemptPtr& attempt, WriterActions& actions) {
  if (failed_) return end(attempt, evershard::refuse(GroupCommit::not_written(*failed_)), actions);
  if (auto error = find_shards(*attempt)) return end(attempt, evershard::refuse(std::move(*error)), actions);
  proceed(attempt, actions);
}

std::optional<Error> ShardWriters::find_shards(Attempt& attempt) const {
  attempt.shards.clear();
  attempt.elsewhere.clear();
  const auto& events = attempt.prepared.append.events;
  if (const auto error = refusal_of(attempt.asked ? attempt.asked->shard : events.front().shard)) return error;
  if (attempt.asked) {
    attempt.shards.push_back(attempt.asked->shard);
    return std::nullopt;
  }
  for (const auto& event : events) {
    const auto own = shards_.find(event.shard);
    if (own == shards_.end() || own->second.state == Shard::State::fenced ||
        own->second.state == Shard::State::followed) {
      insert_shard(attempt.elsewhere, event.shard);
    } else if (own->second.state == Shard::State::open) {
      insert_shard(attempt.shards, event.shard);
    } else {
      return refusal_of(event.shard);
    }
  }
  return std::nullopt;
}

std::optional<Error> ShardWriters::refusal_of(ShardId id) const {
  const auto refused = [&](ErrorCode code, const std::string& why) {
    ErrorDetails details;
    details.shard = id;
    return Error{code, "shard " + std::to_string(id.value) + " " + why, std::move(details)};
  };
  const auto shard = shards_.find(id);
  if (shard == shards_.end()) return refused(ErrorCode::wrong_shard, "is another node's");
  switch (shard->second.state) {
    case Shard::State::open:
      return std::nullopt;
    case Shard::State::closed:
      return refused(ErrorCode::unavailable, "is not open yet: the coordinator has not given it to this node");
    case Shard::State::followed:
      return refused(ErrorCode::unavailable, "is not open here: another node writes it, or nobody does yet");
    case Shard::State::fenced:
      return refused(ErrorCode::fenced, "has a newer writer");
    case Shard::State::lost:
      break;
  }
  return refused(ErrorCode::corruption, "has lost data on this node");
}

// Ids come first: whatever else there is to say of a request that is known, its own events are the reason (rule 14).
void ShardWriters::proceed(const AttemptPtr& attempt, WriterActions& actions) {
  if (attempt->asked) return proceed_part(attempt, actions);
  if (!attempt->known) {
    if (const auto first = first_attempt(*attempt)) return join(first, attempt, actions);
  }
  if (view_is_old(*attempt) || placed_lately(*attempt)) return look_up(attempt, false, actions);
  if (attempt->prepared.refusal) return end(attempt, evershard::refuse(attempt->prepared.refusal->error), actions);
  if (unordered_bytes_ >= options_.unordered_bytes_max && attempt->tries == 0 && !attempt->cut_since) {
    return end(attempt,
               evershard::refuse(ErrorCode::overloaded,
                                 std::to_string(unordered_bytes_) +
                                     " bytes are written and wait for the coordinator: try again later"),
               actions);
  }
  remember(attempt);
  line_up(attempt, actions);
}

ShardWriters::AttemptPtr ShardWriters::first_attempt(const Attempt& attempt) const {
  AttemptPtr first;
  const auto look = [&](const Id& id) {
    const auto found = known_.find(id);
    if (found != known_.end()) first = found->second;
    return first != nullptr;
  };
  if (attempt.asked && look({attempt.asked->part.append, attempt.asked->shard})) return first;
  if (attempt.prepared.named) {
    any_named_id(attempt.prepared, [&](const EventId& id, ShardId shard) {
      return lies_on(attempt.shards, shard) && look({id, any_shard});
    });
  }
  return first;
}

void ShardWriters::remember(const AttemptPtr& attempt) {
  if (attempt->known) return;
  const auto add = [&](const Id& id) { attempt->known |= known_.emplace(id, attempt).second; };
  if (attempt->prepared.named) {
    any_named_id(attempt->prepared, [&](const EventId& id, ShardId shard) {
      if (lies_on(attempt->shards, shard)) add({id, any_shard});
      return false;
    });
  }
  if (attempt->asked) add({attempt->asked->part.append, attempt->asked->shard});
}

void ShardWriters::forget(Attempt& attempt) {
  if (!std::exchange(attempt.known, false)) return;
  const auto drop = [&](const Id& id) {
    const auto found = known_.find(id);
    if (found != known_.end() && found->second.get() == &attempt) known_.erase(found);
  };
  any_named_id(attempt.prepared, [&](const EventId& id, ShardId) {
    drop({id, any_shard});
    return false;
  });
  if (!attempt.part && !attempt.asked) return;
  for (const ShardId shard : attempt.shards)
    drop({attempt.asked ? attempt.asked->part.append : attempt.part->append, shard});
}

void ShardWriters::join(const AttemptPtr& first, const AttemptPtr& attempt, WriterActions& actions) {
  leave_lanes(*attempt);
  attempt->state = Attempt::State::joined;
  first->joined.push_back(attempt);
  if (first->durable) acknowledge_durable(*first, actions);
}

void ShardWriters::looked_up(const AttemptPtr& attempt, Result<std::optional<Appended>> found, WriterActions& actions) {
  if (attempt->state != Attempt::State::looked_up) return;
  if (attempt->client == 0) {
    abandon(attempt, actions);
  } else if (!found) {
    end(attempt, evershard::refuse(std::move(found).error()), actions);
  } else if (*found && attempt->asked) {
    end_part(attempt, PartAnswer::Kind::known, actions);
  } else if (*found) {
    if (attempt->first_position == (*found)->first_position) (*found)->duplicate = false;  // it was this attempt
    end(attempt, std::move(**found), actions);
  } else {
    EVERSHARD_CHECK(attempt->first_position.value == 0, "what was placed is found at its place");
    attempt->state = Attempt::State::arrived;
    proceed(attempt, actions);
  }
  run(actions);
}

void ShardWriters::give_up(const AttemptPtr& attempt, WriterActions& actions) {
  // No other attempt knows these ids: this one would have joined it. And only the look-up itself knows what it finds.
  const bool nothing_written = attempt->state == Attempt::State::queued || attempt->state == Attempt::State::awaiting ||
                               attempt->state == Attempt::State::resting;
  if (nothing_written) {
    answer(*attempt,
           evershard::refuse(ErrorCode::unavailable, "the append was not decided in time: nothing of it was written"),
           actions);
    abandon(attempt, actions);
  } else {
    answer(*attempt,
           evershard::refuse(ErrorCode::timeout, "the append was not ordered in time, its outcome is unknown"),
           actions);
  }
  run(actions);
}

// -- written

void ShardWriters::write(const AttemptPtr& attempt, WriterActions& actions) {
  auto conditions = conditions_of(*attempt);
  attempt->part.reset();
  if (attempt->asked) {
    attempt->part = attempt->asked->part;
  } else if (attempt->shards.size() + attempt->elsewhere.size() > 1) {
    attempt->part = part_of(attempt->prepared.append);
  }
  const bool others_build = builds_ && !attempt->part && conditions.empty();
  if (auto names = names_condition(*attempt)) conditions.push_back(*std::move(names));
  const bool tentative =
      attempt->part || !conditions.empty() ||
      std::ranges::any_of(attempt->lanes, [](const auto& on) { return on.writes && on.lane->undecided != nullptr; });
  lanes_.leave(*attempt, next_);
  std::erase_if(attempt->lanes, [&](const Attempt::OnLane& on) {
    if (!on.writes) lanes_.tidy(on.lane);
    return !on.writes;
  });

  attempt->state = Attempt::State::written;
  attempt->tentative = tentative;
  attempt->in_batch = true;
  attempt->durable = attempt->refused = attempt->cut_since = attempt->on_decided = false;
  attempt->undecided = static_cast<std::uint32_t>(attempt->shards.size());
  attempt->versions.resize(attempt->prepared.append.aggregates.size());
  attempt->places.clear();
  attempt->answered.clear();
  batch_.bytes += attempt->prepared.bytes;
  attempt->bytes = attempt->prepared.bytes;
  unordered_bytes_ += attempt->bytes;
  const ShardId first = attempt->prepared.append.events.front().shard;
  for (const ShardId shard : attempt->shards) {
    const bool judged = !attempt->asked && shard == first;
    write_on(attempt, shard, judged ? std::move(conditions) : std::vector<sharding::TermCondition>{});
  }
  for (const auto& on : attempt->lanes) {
    if (!tentative) break;
    on.lane->undecided = attempt.get();
    on.lane->builds = others_build;
    Lanes::heads(*on.lane, next_);
  }
  if (!attempt->elsewhere.empty()) ask_for_parts(attempt, actions);
}

void ShardWriters::write_on(const AttemptPtr& attempt, ShardId shard, std::vector<sharding::TermCondition> conditions) {
  const auto& append = attempt->prepared.append;
  auto written = std::make_shared<Written>();
  written->attempt = attempt;
  auto& place = written->place;
  place.shard = shard;
  place.tentative = attempt->tentative;
  place.conditions = std::move(conditions);
  place.part = attempt->part;
  for (const auto& event : append.events) {
    if (event.shard != shard) continue;
    SeqNr seq_nr{0};
    if (event.aggregate != storage::EncodedEvent::no_aggregate) {
      seq_nr = ++heads_.heads[event.aggregate].version;
      attempt->versions[event.aggregate] = seq_nr;
    }
    place.seq_nrs.push_back(seq_nr);
  }
  shards_.at(shard).log.write(written);
  build_on_undecided(written);
  for (const auto& on : attempt->lanes) {
    if (append.aggregates[on.aggregate].shard != shard) continue;
    on.lane->version = attempt->versions[on.aggregate];
    on.lane->writer = attempt->prepared.chain.writer;
    on.lane->last = written.get();
    ++on.lane->unordered;
  }
  attempt->places.emplace_back(shard, place.first);
  batch_.journal.appends.push_back({&append, &place});
  batch_.events += place.events();
  batch_.written.push_back(std::move(written));
}

// Its versions count on theirs. Shape: what it writes to is not on its lanes yet.
void ShardWriters::build_on_undecided(const std::shared_ptr<Written>& written) {
  const Attempt& attempt = *written->attempt;
  for (const auto& on : attempt.lanes) {
    if (attempt.prepared.aggregate(on.aggregate).shard != written->place.shard) continue;
    if (on.lane->undecided == nullptr || on.lane->last == nullptr) continue;
    const ShardOffset base = on.lane->last->place.first;
    if (std::ranges::find(written->builds_on, base) != written->builds_on.end()) continue;
    written->builds_on.push_back(base);
    on.lane->last->built_on_by.push_back(written);
  }
}

bool ShardWriters::full() const {
  return batch_.events >= options_.batch_events_max || batch_.bytes >= options_.batch_bytes_max;
}

WriterBatch ShardWriters::close() {
  EVERSHARD_CHECK(any(), "a batch has something in it");
  for (const auto& written : batch_.written) written->attempt->in_batch = false;
  return std::exchange(batch_, WriterBatch{});
}

void ShardWriters::failed(const Error& cause, WriterActions& actions) {
  if (failed_) return;
  failed_ = cause;
  for (const auto& attempt : live_by_arrival()) {
    if (attempt->state == Attempt::State::joined) continue;  // with the one it joined
    const bool unknown = attempt->state == Attempt::State::written && !attempt->in_batch;
    const Error error = unknown ? GroupCommit::outcome_unknown(cause) : GroupCommit::not_written(cause);
    for (const auto& joined : attempt->joined) {
      joined->asked ? reply(*joined, {.kind = PartAnswer::Kind::lost, .error = error}, actions)
                    : answer(*joined, evershard::refuse(error), actions);
      joined->state = Attempt::State::done;
    }
    attempt->joined.clear();
    attempt->asked ? reply(*attempt, {.kind = PartAnswer::Kind::lost, .error = error}, actions)
                   : answer(*attempt, evershard::refuse(error), actions);
    attempt->state = Attempt::State::done;
    attempt->lanes.clear();
  }
  lanes_ = {};
  live_.clear();
  known_.clear();
  next_.clear();
  behind_.clear();
  unordered_bytes_ = 0;
  batch_ = {};
  for (auto& [id, shard] : shards_) {
    shard.log.drop();
    shard.awaiting.clear();
  }
}

// -- out

void ShardWriters::leave_lanes(Attempt& attempt) {
  lanes_.leave(attempt, next_);
  for (const auto& on : attempt.lanes) lanes_.tidy(on.lane);
  attempt.lanes.clear();
}

void ShardWriters::answer(Attempt& attempt, Result<Appended> result, WriterActions& actions) {
  if (attempt.client == 0 || attempt.asked) return;
  actions.answers.push_back({std::exchange(attempt.client, 0), std::move(result)});
}

void ShardWriters::end(const AttemptPtr& attempt, Result<Appended> result, WriterActions& actions) {
  leave_lanes(*attempt);
  forget(*attempt);
  attempt->state = Attempt::State::done;
  live_.erase(attempt->number);
  if (attempt->asked && !result)
    reply(*attempt, {.kind = PartAnswer::Kind::refused, .error = result.error(), .rests_on = watermark_}, actions);
  let_joined_go(*attempt, result, actions);
  answer(*attempt, std::move(result), actions);
}

// The one answer for all attempts of the request; what was another request all the same goes its own way.
void ShardWriters::let_joined_go(Attempt& attempt, const Result<Appended>& result, WriterActions& actions) {
  for (const auto& joined : std::exchange(attempt.joined, {})) {
    joined->state = Attempt::State::arrived;
    if (joined->asked) {
      end_part(joined, PartAnswer::Kind::busy, actions);
    } else if (joined->client == 0) {
      abandon(joined, actions);
    } else if (result) {
      joined->tries = 0;
      look_up(joined, false, actions);
    } else if (same_request(joined->prepared, attempt.prepared)) {
      end(joined, evershard::refuse(result.error()), actions);
    } else {
      admit(joined, actions);
    }
  }
}

// Nobody waits for it. Who joined it goes on by himself.
void ShardWriters::abandon(const AttemptPtr& attempt, WriterActions& actions) {
  leave_lanes(*attempt);
  forget(*attempt);
  attempt->state = Attempt::State::done;
  live_.erase(attempt->number);
  for (const auto& joined : std::exchange(attempt->joined, {})) {
    joined->state = Attempt::State::arrived;
    if (joined->asked) {
      end_part(joined, PartAnswer::Kind::busy, actions);
    } else if (joined->client == 0) {
      abandon(joined, actions);
    } else {
      admit(joined, actions);
    }
  }
}

std::vector<ShardWriters::AttemptPtr> ShardWriters::live_by_arrival() const {
  std::vector<AttemptPtr> live;
  live.reserve(live_.size());
  for (const auto& [number, attempt] : live_) live.push_back(attempt);
  std::sort(live.begin(), live.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  return live;
}

}  // namespace evershard::actors
