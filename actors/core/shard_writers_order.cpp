// Ordered: what a cut places and refuses, and what follows from it.

#include <algorithm>
#include <string>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::actors {

void ShardWriters::apply(const sharding::Cut& cut, WriterActions& actions) {
  if (failed_ || cut.number <= last_cut_) return;
  EVERSHARD_CHECK(cut.first_position == watermark_ + 1, "a cut begins behind the one before it (I-Dense)");
  const GlobalPosition before = watermark_;
  const auto lost = [&](ShardId id, Shard& shard, const std::string& why) {
    ErrorDetails details;
    details.shard = id;
    const Error error{ErrorCode::corruption, "shard " + std::to_string(id.value) + " has lost data: " + why,
                      std::move(details)};
    lose(id, shard, Shard::State::lost, error, actions);
    actions.lost.emplace_back(id, error);
  };
  for (const auto& opening : cut.openings) {
    const auto own = shards_.find(opening.shard);
    if (own == shards_.end() || opening.epoch < own->second.epoch) continue;
    if (opening.node != options_.node) {
      if (opening.epoch > own->second.epoch) fence(opening.shard, actions);
    } else if (opening.tail > own->second.log.end()) {
      lost(opening.shard, own->second,
           "it was opened up to offset " + std::to_string(opening.tail.value) + ", what is here ends before offset " +
               std::to_string(own->second.log.end().value));
    } else {
      opened(opening.shard, own->second, opening.epoch, before, actions);
    }
  }

  CutEffects effects{cut.number, cut.last_position(), {}, {}};
  std::vector<WrittenPtr> covered;
  GlobalPosition next = cut.first_position;
  for (const auto& segment : cut.segments) {
    const GlobalPosition after = next + segment.events();
    if (const auto own = shards_.find(segment.shard); own != shards_.end()) {
      Shard& shard = own->second;
      if (segment.epoch > shard.epoch) fence(segment.shard, actions);
      if (segment.epoch <= shard.epoch && (shard.state == Shard::State::open || shard.state == Shard::State::closed)) {
        if (const auto why = shard.log.cover(segment, next, covered)) {
          std::erase(effects.own, segment.shard);
          lost(segment.shard, shard, *why);
        } else {
          effects.own.push_back(segment.shard);
        }
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
  for (const auto& attempt : std::exchange(behind_, {})) {
    if (attempt->state == Attempt::State::written) refused(attempt, actions);
  }
  for (auto& [id, shard] : shards_) {
    if (!shard.awaiting.empty()) cut_made(id, shard, actions);
  }
  run(actions);
}

void ShardWriters::settle(const WrittenPtr& written, WriterActions& actions) {
  Attempt& attempt = *written->attempt;
  for (const auto& by : std::exchange(written->built_on_by, {})) {
    const auto base = std::ranges::find(by->builds_on, written->place.first);
    if (written->refused)
      *base = ShardOffset{0};
    else
      by->builds_on.erase(base);
  }
  if (written->refused) {
    attempt.refused = true;
    attempt.base_refused = !written->builds_on.empty();
  } else {
    attempt.first_position = written->first_position;
    place(*written);
  }
  set_free(*written);
  decided(attempt);
  if (attempt.undecided == 0) concluded_.push_back(written->attempt);
  for (const auto& resting : std::exchange(written->resting, {})) {
    if (resting->state != Attempt::State::resting) continue;
    end(resting, evershard::refuse(std::move(*resting->refusal)), actions);
  }
}

void ShardWriters::decided(Attempt& attempt) {
  if (--attempt.undecided == 0) unordered_bytes_ -= std::exchange(attempt.bytes, 0);
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
  if (append.request_key.given() && append.events.front().shard == place.shard)
    recent_.add(append.request_key, place.shard, last);
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
    if (lane.undecided == nullptr || written.refused) lane.builds = false;
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
  for (std::size_t i = 0; i != append.aggregates.size(); ++i)
    result.versions.push_back({append.aggregates[i].id, attempt.versions[i]});
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
    if (answer.rests_on > watermark_) return behind_.push_back(attempt);
    if (answer.kind >= PartAnswer::Kind::refused)
      return end(attempt, evershard::refuse(std::move(answer.error)), actions);
    busy |= answer.kind == PartAnswer::Kind::busy;
  }
  if (busy) {
    // Two that are in each other's way would be so again: each stays away for a number of cuts of its own, by its name
    // and try.
    const auto& name = attempt->part->append.bytes;
    attempt->cuts_off = name[attempt->tries % name.size()] % (2 + std::min(attempt->tries, 4u));
    if (attempt->cuts_off != 0) return await_cut(attempt, attempt->prepared.append.events.front().shard, actions);
  }
  try_again(attempt, actions);
}

// Rule 18: where a condition was judged it is confirmed first, over all that is ordered now. Ids are looked up.
void ShardWriters::try_again(const AttemptPtr& attempt, WriterActions& actions) {
  const bool judged = !conditions_of(*attempt).empty();
  const bool named = names_from(*attempt).has_value();
  if (std::exchange(attempt->base_refused, false) && attempt->tries != 0) --attempt->tries;  // no fault of its own
  const bool known = std::any_of(attempt->answered.begin(), attempt->answered.end(),
                                 [](const PartAnswer& answer) { return answer.kind == PartAnswer::Kind::known; });
  lanes_.find(*attempt);
  if (judged || named || known || attempt->tries >= options_.tries_max)
    return look_up(attempt, judged || named, actions);
  ++attempt->tries;
  attempt->state = Attempt::State::queued;
  lanes_.queue(attempt);
  next_.push_back(attempt);
}

}  // namespace evershard::actors
