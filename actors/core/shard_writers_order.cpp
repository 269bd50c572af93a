// Durable, reported, covered by a cut.

#include <algorithm>
#include <string>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::actors {

// -- the shards

void ShardWriters::adopt(OwnShard own, std::vector<storage::UnorderedAppend> unordered) {
  const auto [at, added] = shards_.insert_or_assign(own.shard, Shard{ShardLog(own.ordered), own.epoch});
  at->second.since = watermark_;
  for (auto& append : unordered) recover(std::move(append));
}

// An attempt whose client is gone: it is decided like any other, and whoever sends the request again joins it.
void ShardWriters::recover(storage::UnorderedAppend&& unordered) {
  auto attempt = std::make_shared<Attempt>();
  attempt->number = ++arrivals_;
  attempt->prepared.append = std::move(unordered.append);
  auto written = std::make_shared<Written>();
  written->place = std::move(unordered.place);
  written->attempt = attempt;
  written->recovered = true;
  const auto& append = attempt->prepared.append;
  const auto& place = written->place;
  attempt->prepared.named = true;
  attempt->shards.push_back(place.shard);
  attempt->part = place.part;
  attempt->state = Attempt::State::written;
  attempt->durable = true;
  attempt->tentative = place.tentative;
  attempt->undecided = 1;
  attempt->places.emplace_back(place.shard, place.first);
  attempt->versions.resize(append.aggregates.size());
  std::size_t event = 0;
  for (const auto& encoded : append.events) {
    if (encoded.shard != place.shard) continue;
    EVERSHARD_CHECK(event < place.seq_nrs.size(), "what was recovered has a number for each of its events");
    if (encoded.aggregate != storage::EncodedEvent::no_aggregate) attempt->versions[encoded.aggregate] = place.seq_nrs[event];
    ++event;
  }
  lanes_.find(*attempt);
  for (const auto& on : attempt->lanes) {
    on.lane->version = attempt->versions[on.aggregate];
    on.lane->last = written.get();
    ++on.lane->unordered;
    if (place.tentative) on.lane->undecided = attempt.get();
  }
  remember(attempt);
  if (place.part && known_.emplace(Id{place.part->append, place.shard}, attempt).second) attempt->known = true;
  live_.emplace(attempt->number, attempt);
  const auto shard = shards_.find(place.shard);
  EVERSHARD_CHECK(shard != shards_.end(), "what was recovered lies on an own shard");
  shard->second.log.recover(written);
}

bool ShardWriters::is_open(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.state == Shard::State::open;
}

ShardOffset ShardWriters::tail(ShardId id) const { return shards_.at(id).log.end(); }

void ShardWriters::open(ShardId id, Epoch epoch, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  opened(id, shard->second, epoch, watermark_, actions);
  run(actions);
}

void ShardWriters::opened(ShardId id, Shard& shard, Epoch epoch, GlobalPosition since, WriterActions& actions) {
  if (shard.state == Shard::State::fenced || shard.state == Shard::State::lost) return;
  if (epoch < shard.epoch || (epoch == shard.epoch && shard.state == Shard::State::open)) return;
  shard.epoch = epoch;
  shard.state = Shard::State::open;
  shard.since = std::max(shard.since, since);
  shard.log.report_from(shard.log.ordered());
  for (auto& awaiting : shard.awaiting) awaiting.ask = 0, awaiting.promised = CutNumber{0};
  report(id, shard, actions);
  ask(id, shard, actions);
}

void ShardWriters::fence(ShardId id, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  ErrorDetails details;
  details.shard = id;
  lose(id, shard->second, Shard::State::fenced,
       {ErrorCode::fenced, "shard " + std::to_string(id.value) + " has a newer writer: what became of the append is known there",
        std::move(details)},
       actions);
  run(actions);
}

// Nothing is shown or acknowledged of it any more (rule 12).
void ShardWriters::lose(ShardId id, Shard& shard, Shard::State state, const Error& error, WriterActions& actions) {
  if (shard.state == Shard::State::fenced || shard.state == Shard::State::lost) return;
  shard.state = state;
  shard.awaiting.clear();
  for (const auto& written : shard.log.drop()) {
    written->dropped = true;
    set_free(*written);
    written->attempt->refused = true;
    --written->attempt->undecided;
  }
  const auto keeps = [&](const auto& written) { return !written->dropped; };
  JournalBatch batch = std::exchange(batch_, JournalBatch{});
  for (auto& written : batch.written) {
    if (!keeps(written)) continue;
    batch_.appends.push_back({&written->attempt->prepared.append, &written->place});
    batch_.events += written->place.events();
    batch_.bytes += written->attempt->prepared.bytes;
    batch_.written.push_back(std::move(written));
  }
  for (const auto& attempt : live_by_arrival()) {
    const bool concerned = std::binary_search(attempt->shards.begin(), attempt->shards.end(), id);
    if (!concerned || attempt->state == Attempt::State::done || attempt->state == Attempt::State::joined) continue;
    if (attempt->state == Attempt::State::written && attempt->undecided != 0) {
      // Its parts on other shards here wait for their cut, for nobody.
      const Result<Appended> result = evershard::refuse(error);
      let_joined_go(*attempt, result, actions);
      answer(*attempt, result, actions);
    } else {
      end(attempt, evershard::refuse(error), actions);
    }
  }
}

// -- durable

void ShardWriters::synced(const JournalBatch& batch, WriterActions& actions) {
  if (failed_) return;
  std::vector<ShardId> touched;
  for (const auto& written : batch.written) {
    if (written->dropped) continue;
    const ShardId id = written->place.shard;
    shards_.at(id).log.synced(*written);
    if (std::find(touched.begin(), touched.end(), id) == touched.end()) touched.push_back(id);
    Attempt& attempt = *written->attempt;
    attempt.durable = true;  // all its parts here are in the one batch
    acknowledge_durable(attempt, actions);
  }
  for (const ShardId id : touched) report(id, shards_.at(id), actions);
}

// What is undecided is never acknowledged (rule 17).
void ShardWriters::acknowledge_durable(Attempt& attempt, WriterActions& actions) {
  if (attempt.state != Attempt::State::written) return;
  if (attempt.asked && !attempt.replied) reply_written(attempt, attempt, actions);
  for (const auto& joined : attempt.joined) {
    if (joined->asked && !joined->replied) reply_written(attempt, *joined, actions);
  }
  if (attempt.tentative) return;
  const auto acknowledge = [&](Attempt& to, bool duplicate) {
    if (to.ack != Ack::durable || to.client == 0 || to.asked) return;
    Appended result = appended(attempt);
    result.duplicate = duplicate;
    const auto& [shard, first] = attempt.places.front();
    const auto count = static_cast<std::uint64_t>(to.prepared.append.events.size());
    actions.answers.push_back({std::exchange(to.client, 0), std::move(result), WriterAnswer::Durable{shard, first + (count - 1)}});
  };
  acknowledge(attempt, false);
  for (const auto& joined : attempt.joined) {
    if (same_request(joined->prepared, attempt.prepared)) acknowledge(*joined, true);
  }
}

// -- reported

void ShardWriters::announce(GlobalPosition window_from, bool digests_wanted) {
  window_from_ = window_from;
  digests_wanted_ = digests_wanted;
}

void ShardWriters::report(ShardId id, Shard& shard, WriterActions& actions) {
  if (!session_ || shard.state != Shard::State::open) return;
  if (auto report = shard.log.report(id, shard.epoch, digests_wanted_)) actions.reports.push_back({std::move(*report)});
}

void ShardWriters::session_begun(WriterActions& actions) {
  if (failed_) return;
  session_ = true;
  for (auto& [id, shard] : shards_) report_from(id, shard.log.ordered(), actions);
}

void ShardWriters::report_from(ShardId id, ShardOffset first, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  shard->second.log.report_from(first);
  report(id, shard->second, actions);
  for (auto& awaiting : shard->second.awaiting) {
    if (awaiting.promised.value == 0) awaiting.ask = 0;
  }
  ask(id, shard->second, actions);
}

// -- rule 19: missing is only what is missing at a cut made since

void ShardWriters::await_cut(const AttemptPtr& attempt, ShardId id, WriterActions& actions) {
  attempt->state = Attempt::State::awaiting;
  Shard& shard = shards_.at(id);
  shard.awaiting.push_back({attempt});
  ask(id, shard, actions);
}

// One at a time: who comes while an answer is out is asked for with the next one.
void ShardWriters::ask(ShardId id, Shard& shard, WriterActions& actions) {
  if (!session_ || shard.state != Shard::State::open) return;
  bool any = false;
  for (const auto& awaiting : shard.awaiting) {
    if (awaiting.ask != 0 && awaiting.promised.value == 0) return;
    any |= awaiting.ask == 0;
  }
  if (!any) return;
  ++asks_;
  for (auto& awaiting : shard.awaiting) {
    if (awaiting.ask == 0) awaiting.ask = asks_;
  }
  actions.reports.push_back({sharding::Report{id, shard.epoch, shard.log.ordered(), {}}, asks_});
}

void ShardWriters::cut_promised(ShardId id, Epoch epoch, std::uint64_t asked, CutNumber cut, Epoch coordinator, WriterActions& actions) {
  const auto found = shards_.find(id);
  if (found == shards_.end() || found->second.state != Shard::State::open || found->second.epoch != epoch) return;
  Shard& shard = found->second;
  for (auto& awaiting : shard.awaiting) {
    if (awaiting.ask != asked || awaiting.promised.value != 0) continue;
    awaiting.promised = cut;
    awaiting.coordinator = coordinator;
  }
  if (cut <= last_cut_) cut_made(id, shard, actions);
  ask(id, shard, actions);
  run(actions);
}

// A coordinator that was replaced promises a number that another one's cut bears, made perhaps before the asking.
void ShardWriters::cut_made(ShardId id, Shard& shard, WriterActions& actions) {
  std::vector<AttemptPtr> since;
  std::erase_if(shard.awaiting, [&](Shard::Awaiting& awaiting) {
    if (awaiting.promised.value == 0 || awaiting.promised > last_cut_) return false;
    if (awaiting.coordinator != last_coordinator_) {
      awaiting.ask = 0;
      awaiting.promised = CutNumber{0};
      return false;
    }
    since.push_back(awaiting.attempt);
    return true;
  });
  for (const auto& attempt : since) {
    if (attempt->state != Attempt::State::awaiting) continue;
    if (attempt->cuts_off != 0) {
      --attempt->cuts_off != 0 ? await_cut(attempt, id, actions) : try_again(attempt, actions);
      continue;
    }
    attempt->state = Attempt::State::arrived;
    attempt->cut_since = true;
    // What other shards' writers know is only found by looking.
    const bool looks = !attempt->asked && std::any_of(attempt->prepared.guards.begin(), attempt->prepared.guards.end(), [&](const auto& guard) {
      return !std::binary_search(attempt->shards.begin(), attempt->shards.end(), guard.shard);
    });
    looks ? look_up(attempt, false, actions) : proceed(attempt, actions);
  }
  ask(id, shard, actions);
}

// -- ordered

void ShardWriters::apply(const sharding::Cut& cut, WriterActions& actions) {
  if (failed_ || cut.number <= last_cut_) return;
  EVERSHARD_CHECK(cut.number == last_cut_ + 1, "cuts are applied in the order of their numbers (rule 10)");
  EVERSHARD_CHECK(cut.first_position == watermark_ + 1, "a cut begins behind the one before it (I-Dense)");
  const GlobalPosition before = watermark_;
  const auto lost = [&](ShardId id, Shard& shard, const std::string& why) {
    ErrorDetails details;
    details.shard = id;
    const Error error{ErrorCode::corruption, "shard " + std::to_string(id.value) + " has lost data: " + why, std::move(details)};
    lose(id, shard, Shard::State::lost, error, actions);
    actions.lost.emplace_back(id, error);
  };
  for (const auto& opening : cut.openings) {
    const auto own = shards_.find(opening.shard);
    if (own == shards_.end() || opening.epoch < own->second.epoch) continue;
    if (opening.node != options_.node) {
      if (opening.epoch > own->second.epoch) fence(opening.shard, actions);
    } else if (opening.tail > own->second.log.end()) {
      lost(opening.shard, own->second, "it was opened up to offset " + std::to_string(opening.tail.value) + ", what is here ends before offset " +
                                           std::to_string(own->second.log.end().value));
    } else {
      opened(opening.shard, own->second, opening.epoch, before, actions);
    }
  }

  CutEffects effects{cut.number, cut.last_position(), {}};
  std::vector<WrittenPtr> covered;
  GlobalPosition next = cut.first_position;
  for (const auto& segment : cut.segments) {
    const GlobalPosition after = next + segment.events();
    if (const auto own = shards_.find(segment.shard); own != shards_.end()) {
      Shard& shard = own->second;
      if (segment.epoch > shard.epoch) fence(segment.shard, actions);
      if (segment.epoch <= shard.epoch && (shard.state == Shard::State::open || shard.state == Shard::State::closed)) {
        if (const auto why = shard.log.cover(segment, next, covered)) lost(segment.shard, shard, *why);
      }
    }
    next = after;
  }
  last_cut_ = cut.number;
  last_coordinator_ = cut.coordinator;
  watermark_ = effects.watermark;
  for (const auto& written : covered) {
    if (!written->dropped) settle(written, actions);
  }
  effects.covered.assign(covered.begin(), covered.end());
  actions.cuts.push_back(std::move(effects));
  recent_.forget(watermark_, before);
  for (const auto& attempt : std::exchange(concluded_, {})) {
    attempt->refused ? refused(attempt, actions) : placed(attempt, cut, actions);
  }
  for (auto& [id, shard] : shards_) {
    if (!shard.awaiting.empty()) cut_made(id, shard, actions);
  }
  run(actions);
}

void ShardWriters::settle(const WrittenPtr& written, WriterActions& actions) {
  Attempt& attempt = *written->attempt;
  if (written->refused) {
    attempt.refused = true;
  } else {
    attempt.first_position = written->first_position;
    place(*written);
  }
  set_free(*written);
  if (--attempt.undecided == 0) concluded_.push_back(written->attempt);
  for (const auto& resting : std::exchange(written->resting, {})) {
    if (resting->state != Attempt::State::resting) continue;
    end(resting, evershard::refuse(std::move(*resting->refusal)), actions);
  }
}

void ShardWriters::place(Written& written) {
  const auto& append = written.attempt->prepared.append;
  const auto& place = written.place;
  std::uint64_t count = append.events.size();
  if (place.part) {
    count = 0;
    for (const auto& [shard, events] : place.part->runs) count += events;
  }
  const GlobalPosition last = written.first_position + (count - 1);
  std::uint32_t event = 0;
  for (const auto& encoded : append.events) {
    if (encoded.shard != place.shard) continue;
    if (encoded.aggregate != storage::EncodedEvent::no_aggregate) {
      const auto& aggregate = append.aggregates[encoded.aggregate];
      recent_.set_head(aggregate.stream, aggregate.text,
                       {{place.seq_nrs[event], written.position(event)}, written.attempt->prepared.chain.writer});
    }
    if (encoded.id_given) recent_.add(encoded.id, encoded.shard, last);
    ++event;
  }
  if (place.part) recent_.add(place.part->append, place.shard, last);  // a part that is asked for late
  if (!append.command.given()) return;
  const auto& carrier = append.events[append.command_event];
  if (carrier.shard == place.shard) recent_.add(append.command, place.shard, last);
}

void ShardWriters::set_free(Written& written) {
  Attempt& attempt = *written.attempt;
  std::erase_if(attempt.lanes, [&](const Attempt::OnLane& on) {
    if (attempt.prepared.aggregate(on.aggregate).shard != written.place.shard) return false;
    Lane& lane = *on.lane;
    --lane.unordered;
    if (lane.last == &written) lane.last = nullptr;
    if (lane.undecided == &attempt) lane.undecided = nullptr;
    Lanes::heads(lane, next_);
    lanes_.tidy(&lane);
    return true;
  });
}

Appended ShardWriters::appended(const Attempt& attempt) const {
  const auto& append = attempt.prepared.append;
  Appended result;
  if (attempt.first_position.value != 0) {
    result.first_position = attempt.first_position;
    result.last_position = attempt.first_position + (append.events.size() - 1);
  }
  result.versions.reserve(append.aggregates.size());
  for (std::size_t i = 0; i != append.aggregates.size(); ++i) result.versions.push_back({append.aggregates[i].id, attempt.versions[i]});
  return result;
}

void ShardWriters::placed(const AttemptPtr& attempt, const sharding::Cut& cut, WriterActions& actions) {
  if (attempt->client != 0 && !attempt->elsewhere.empty() && !parts_stand(*attempt, cut)) {
    // What other nodes said of their parts did not arrive: the store knows.
    forget(*attempt);
    let_joined_go(*attempt, Appended{}, actions);
    attempt->tries = 0;
    return look_up(attempt, false, actions);
  }
  end(attempt, appended(*attempt), actions);
}

// Refused by a cut, and nothing of it is left.
void ShardWriters::refused(const AttemptPtr& attempt, WriterActions& actions) {
  if (attempt->unanswered != 0) return;
  if (attempt->asked || attempt->client == 0) return abandon(attempt, actions);
  bool busy = false;
  for (auto& answer : attempt->answered) {
    if (answer.kind >= PartAnswer::Kind::refused) return end(attempt, evershard::refuse(std::move(answer.error)), actions);
    busy |= answer.kind == PartAnswer::Kind::busy;
  }
  if (busy) {
    // Two that are in each other's way would be so again: each stays away for a number of cuts of its own, by its name and try.
    const auto& name = attempt->part->append.bytes;
    attempt->cuts_off = name[attempt->tries % name.size()] % (2 + std::min(attempt->tries, 4u));
    if (attempt->cuts_off != 0) return await_cut(attempt, attempt->prepared.append.events.front().shard, actions);
  }
  try_again(attempt, actions);
}

// Rule 18: where a condition was judged it is confirmed first, over all that is ordered now.
void ShardWriters::try_again(const AttemptPtr& attempt, WriterActions& actions) {
  const bool judged = !conditions_of(*attempt).empty();
  const bool known = std::any_of(attempt->answered.begin(), attempt->answered.end(),
                                 [](const PartAnswer& answer) { return answer.kind == PartAnswer::Kind::known; });
  lanes_.find(*attempt);
  if (judged || known || attempt->tries >= options_.tries_max) return look_up(attempt, judged, actions);
  ++attempt->tries;
  attempt->state = Attempt::State::queued;
  lanes_.queue(attempt);
  next_.push_back(attempt);
}

}  // namespace evershard::actors
