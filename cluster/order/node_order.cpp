#include "evershard/cluster/order/node_order.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/node_cut.hpp"

namespace evershard::cluster {

using sharding::Cut;
using sharding::Opening;
using sharding::Segment;

namespace {

constexpr std::uint32_t hurried_hellos_max = 20;
constexpr std::size_t buffered_cuts_max = 1'024;

}  // namespace

NodeOrder::NodeOrder(NodeStart start)
    : self_(start.self),
      address_(std::move(start.address)),
      door_(std::move(start.door)),
      version_(std::move(start.version)),
      gateway_(start.gateway),
      zone_(std::move(start.zone)),
      handed_(start.cut),
      applied_(start.cut),
      watermark_(start.watermark),
      synced_(start.cut),
      known_(start.cut),
      known_watermark_(start.watermark),
      coordinator_(start.led.epoch),
      led_(start.led) {
  if (led_.epoch.value != 0) leaderships_ = {led_};
  for (const auto& [id, at] : start.shards) {
    Shard& shard = shards_[id];
    shard.epoch = at.epoch;
    shard.covered = at.covered;
    shard.tail = at.tail;
    shard.damaged = at.damaged;
    shard.learned = !at.damaged;
    shard.followed = std::max(at.followed, at.epoch);
    shard.known_next = at.covered;
  }
}

NodeOrder::Actions NodeOrder::connected() {
  connected_ = true;
  hellos_left_ = hurried_hellos_max;
  history_.reset();
  ++session_;
  known_epochs_.clear();
  welcomed_ = false;
  asked_.reset();
  Actions actions;
  actions.say_hello = true;
  return actions;
}

NodeOrder::Actions NodeOrder::disconnected() {
  connected_ = welcomed_ = false;
  asked_.reset();
  return {};
}

NodeOrder::Actions NodeOrder::serves_at(std::string door) {
  Actions actions;
  if (door == door_) return actions;
  door_ = std::move(door);
  actions.say_hello = connected_;
  return actions;
}

NodeOrder::Actions NodeOrder::serves_kurrent_at(std::string door) {
  Actions actions;
  if (door == kurrent_door_) return actions;
  kurrent_door_ = std::move(door);
  actions.say_hello = connected_;
  return actions;
}

Hello NodeOrder::hello(const std::map<ShardId, ShardOffset>& tails) const {
  Hello hello{self_, session_, address_, applied_, {}, door_, version_, gateway_, led_, zone_};
  hello.kurrent_door = kurrent_door_;
  hello.builds = true;
  for (const auto& [id, shard] : shards_) {
    // What is not all here yet is nothing to go by.
    if (replicas(id).had_to_learn(self_.node) && !shard.learned) continue;
    // Behind a hole nothing counts.
    const auto tail = shard.damaged ? tails.end() : tails.find(id);
    hello.shards.push_back({id, std::max(shard.epoch, shard.followed), shard.state != Shard::State::closed,
                            shard.covered, std::max(shard.covered, tail == tails.end() ? ShardOffset{1} : tail->second),
                            shard.damaged});
  }
  return hello;
}

NodeOrder::Actions NodeOrder::again() {
  Actions actions;
  if (!connected_) return actions;
  asked_.reset();
  if (!welcomed_) {
    if (hellos_left_ != 0) --hellos_left_;
    actions.say_hello = true;
    return actions;
  }
  ask(actions);
  history_asked_ = false;
  ask_history(actions);
  // Where nothing is new, too: with it go how much it has learned, and what time it is here.
  applied_said_ = applied_;
  actions.send.emplace_back(held());
  bool unopened = reopen_;
  for (std::uint32_t s = 0; s != map_.shard_count(); ++s) {
    const ShardId id{static_cast<std::uint16_t>(s)};
    const auto shard = shards_.find(id);
    const bool closed = shard == shards_.end() || shard->second.state == Shard::State::closed;
    const bool was_refused =
        std::ranges::any_of(refused_, [&](const ShardRefused& refused) { return refused.shard == id; });
    unopened |= closed && !was_refused && map_.owner(id).node == self_.node;
  }
  for (const auto& [id, promise] : promises_) {
    const auto shard = shards_.find(id);
    unopened |= shard == shards_.end() || shard->second.epoch < promise.epoch;
  }
  actions.say_hello = unopened;
  if (reports()) report_again(actions);
  return actions;
}

NodeOrder::Actions NodeOrder::welcome(const Welcome& welcome) {
  Actions actions;
  if (welcome.to != self_ || welcome.session != session_ || !connected_) return actions;
  if (welcomed_ && welcome.last_cut < applied_) return actions;  // an earlier answer of this session's
  const auto refuse_it = [&](ErrorCode code, const std::string& why) {
    welcomed_ = false;
    hellos_left_ = 0;
    actions.coordinator_refused =
        Error(code, "the coordinator of epoch " + std::to_string(welcome.coordinator.value) + " is refused: " + why);
    return actions;
  };
  // Rule 10: cuts are facts. Who does not know them leads another history.
  if (welcome.last_cut < applied_)
    return refuse_it(ErrorCode::corruption, "it knows cuts up to " + std::to_string(welcome.last_cut.value) +
                                                ", this node holds cut " + std::to_string(applied_.value) +
                                                ": its log has lost its end, or it has been replaced");
  // Of as many cuts here and there, the last may be another one: that would be noticed with the next, and by then
  // others' events were ordered by it.
  if (const auto here = watermark_of(welcome.last_cut); here && *here != welcome.watermark)
    return refuse_it(ErrorCode::corruption, "its cut " + std::to_string(welcome.last_cut.value) +
                                                " ends with position " + std::to_string(welcome.watermark.value) +
                                                ", here with position " + std::to_string(here->value) +
                                                ": its log is of another history");
  if (welcome.coordinator < coordinator_)
    return refuse_it(ErrorCode::fenced, "one of epoch " + std::to_string(coordinator_.value) + " has replaced it");
  if (const auto there = sharding::leader_of(welcome.leaderships, led_.epoch);
      there.given() && led_.identity.given() && there != led_.identity)
    return refuse_it(ErrorCode::corruption,
                     "cuts applied here were made by " + led_.identity.text() + " under epoch " +
                         std::to_string(led_.epoch.value) + ", which " + there.text() +
                         " led in its log: one of the two logs is a copy that went on by itself");
  coordinator_ = welcome.coordinator;
  if (!welcome.leaderships.empty()) leaderships_ = welcome.leaderships;
  if (const auto leader = sharding::leader_of(welcome.leaderships, welcome.coordinator); leader != leader_) {
    leader_ = leader;
    forget_buffered();
    std::erase_if(promises_, [&](const auto& promise) {
      return promise.second.leader.given() && leader_.given() && promise.second.leader != leader_;
    });
  }
  welcomed_ = true;
  reopen_ = false;
  map_ = welcome.map;
  refused_ = welcome.refused;
  window_from_ = welcome.window_from;
  digests_wanted_ = welcome.digests_wanted;
  builds_ = welcome.builds;
  held_said_ = applied_said_ = CutNumber{0};
  std::erase_if(promises_, [&](const auto& promise) { return promise.second.coordinator < coordinator_; });
  for (std::uint32_t s = 0; s != map_.shard_count(); ++s)
    knows_epoch(ShardId{static_cast<std::uint16_t>(s)}, map_.owner(ShardId{static_cast<std::uint16_t>(s)}).epoch);
  for (auto& [id, shard] : shards_) {
    if (id.value < map_.shard_count() && map_.owner(id).epoch > shard.epoch) fence(id, map_.owner(id).epoch, actions);
  }
  told_ = welcome.last_cut;
  std::vector<sharding::NewReplicas> sets;
  for (std::size_t s = 0; s != welcome.replicas.size(); ++s)
    sets.push_back({ShardId{static_cast<std::uint16_t>(s)}, welcome.replicas[s]});
  know_sets(welcome.last_cut, sets, actions);
  for (const auto& [id, shard] : shards_)
    if (const auto& set = replicas(id); !set.nodes.empty() && !set.has(self_.node) && !set.had_to_learn(self_.node))
      leave(id, actions);
  look_for_lost_beginnings(welcome.last_positions, actions);
  hear_of_what_was_learned();
  advance(actions);
  if (!welcomed_) return actions;
  reports() ? report_again(actions) : ask(actions);
  return actions;
}

NodeOrder::Actions NodeOrder::hello_refused(const HelloRefused& refused) {
  Actions actions;
  if (refused.to != self_ || refused.session != session_) return actions;
  hellos_left_ = 0;
  actions.coordinator_refused = refused.error;
  return actions;
}

NodeOrder::Actions NodeOrder::opens(const Opens& opens) {
  if (opens.to != self_ || !is_of_leader(opens.leader)) return {};
  Promise& promise = promises_[opens.shard];
  const bool of_another = promise.leader.given() && opens.leader.given() && promise.leader != opens.leader &&
                          promise.coordinator <= opens.coordinator;
  if (of_another || promise.coordinator < opens.coordinator ||
      (promise.coordinator == opens.coordinator && promise.epoch < opens.epoch))
    promise = {opens.coordinator, opens.epoch, opens.leader};
  // The opening may be known already, and wait for what others ship, who wait for what this process ships.
  Actions actions;
  if (const auto kept = shards_.find(opens.shard); kept != shards_.end() && keeps(opens.shard)) {
    Shard& shard = kept->second;
    const bool waits = shard.opening_known == opens.epoch && shard.opening_by == opens.coordinator &&
                       shard.own < opens.epoch && shard.epoch < opens.epoch && opens.epoch >= known_epoch(opens.shard);
    if (waits && !shard.damaged && shard.state == Shard::State::closed) {
      shard.own = opens.epoch;
      actions.steps.push_back({Step::Ships{opens.shard, opens.epoch}});
    }
  }
  return actions;
}

bool NodeOrder::is_for_this_process(const Opening& opening, Epoch coordinator) const {
  const auto promise = promises_.find(opening.shard);
  return opening.node == self_.node && promise != promises_.end() && promise->second.epoch == opening.epoch &&
         promise->second.coordinator == coordinator && is_of_leader(promise->second.leader);
}

Epoch NodeOrder::known_epoch(ShardId shard) const {
  const auto known = known_epochs_.find(shard);
  return known == known_epochs_.end() ? Epoch{0} : known->second;
}

void NodeOrder::knows_epoch(ShardId shard, Epoch epoch) {
  Epoch& known = known_epochs_[shard];
  known = std::max(known, epoch);
}

void NodeOrder::fence(ShardId id, Epoch epoch, Actions& actions) {
  Shard& shard = shards_.at(id);
  if (shard.state != Shard::State::closed) actions.steps.push_back({Step::Fence{id, epoch}});
  if (shard.state == Shard::State::open)
    shard.tail =
        ShardOffset{std::numeric_limits<std::uint64_t>::max()};  // its writer got so far that cuts may still follow
  shard.state = Shard::State::closed;
}

// Rule 10 again: two logs that went on from one copy have different cuts under the same numbers.
bool NodeOrder::joins_on(const Cut& cut, Actions& actions) {
  const auto watermark = known_watermark_;
  if (cut.number == known_ + 1 ? cut.first_position == watermark + 1 : cut.first_position > watermark) return true;
  refuse_history("its cut " + std::to_string(cut.number.value) + " begins with position " +
                     std::to_string(cut.first_position.value),
                 actions);
  return false;
}

void NodeOrder::refuse_history(const std::string& why, Actions& actions) {
  welcomed_ = false;
  actions.coordinator_refused = Error(
      ErrorCode::corruption, "the coordinator of epoch " + std::to_string(coordinator_.value) + " is refused: " + why +
                                 ", here cut " + std::to_string(known_.value) + " ends with position " +
                                 std::to_string(known_watermark_.value) + ": its log is of another history");
  forget_buffered();
}

GlobalPosition NodeOrder::handed_watermark() const {
  return applying_.empty() ? watermark_ : applying_.back().watermark;
}

std::optional<GlobalPosition> NodeOrder::watermark_of(CutNumber cut) const {
  if (cut == applied_) return watermark_;
  const auto handed = std::ranges::find(applying_, cut, &Handed::number);
  return handed == applying_.end() ? std::nullopt : std::optional(handed->watermark);
}

// `reached`: the log's state after this cut, where cuts before it were left out.
void NodeOrder::take(Cut cut, const sharding::CutLogState* reached, Actions& actions) {
  Step::Apply apply{cut.number, cut.last_position(), {}, {}, {}, {}};
  for (const Opening& opening : cut.openings) {
    // One that is over already: the cuts with its successor, and with what that wrote, may be folded and never come.
    // Of a shard that is kept this was decided when it came to be known: it is shipped, or followed, since then. Where
    // a newer one is known, that is followed already.
    const auto here = shards_.find(opening.shard);
    const bool own = (keeps(opening.shard) && here != shards_.end()
                          ? here->second.own == opening.epoch && here->second.opening_known == opening.epoch
                          : is_for_this_process(opening, cut.coordinator)) &&
                     opening.epoch >= known_epoch(opening.shard);
    if (const auto known = shards_.find(opening.shard); known != shards_.end() && opening.epoch > known->second.epoch)
      fence(opening.shard, opening.epoch, actions);
    if (!own) {
      reopen_ |= opening.node == self_.node;
      if (const auto promise = promises_.find(opening.shard);
          promise != promises_.end() && promise->second.epoch <= opening.epoch)
        promises_.erase(promise);
      if (const auto kept = shards_.find(opening.shard); kept != shards_.end() && keeps(opening.shard) &&
                                                         opening.epoch > kept->second.epoch && !kept->second.damaged) {
        kept->second.epoch = opening.epoch;
        apply.followed.push_back(opening);
      } else if (kept != shards_.end() && keeps(opening.shard) && opening.loses()) {
        apply.damaged.push_back(opening.shard);  // as know() has said; the next process is to know it too
      }
      continue;
    }
    Shard& shard = shards_[opening.shard];
    shard.epoch = opening.epoch;
    shard.followed = std::max(shard.followed, opening.epoch);
    shard.state = Shard::State::taken;
    shard.opening = opening;
    shard.opened_by = cut.number;
    // Of a shard that is kept it is known how far it is here: less, where that was followed first.
    if (!keeps(opening.shard)) shard.tail = std::max(shard.tail, opening.tail);
    if (opening.loses()) {
      shard.tail = opening.lost_until;
      shard.covered = opening.lost_until;
      shard.damaged = false;
    }
    std::erase_if(apply.followed, [&](const Opening& before) { return before.shard == opening.shard; });
    apply.openings.push_back(opening);
  }
  for (const ShardId left : std::exchange(left_, {})) apply.damaged.push_back(left);
  GlobalPosition position = cut.first_position;
  for (const Segment& segment : cut.segments) {
    const auto first_position = position;
    position = position + segment.events();
    const auto own = shards_.find(segment.shard);
    if (own == shards_.end()) continue;
    Shard& shard = own->second;
    // Of what is kept here, cuts say under which epoch it was written.
    if (keeps(segment.shard) && shard.state == Shard::State::closed && !shard.damaged)
      shard.epoch = std::max(shard.epoch, segment.epoch);
    // Rule 12: what another writer wrote under these offsets is not what lies here.
    if (segment.epoch > shard.epoch) fence(segment.shard, segment.epoch, actions);
    // A row has what an earlier cut refused, which may be before its openings.
    const bool refused_before = keeps(segment.shard) && shard.state != Shard::State::open && segment.events() == 0 &&
                                segment.epoch < shard.epoch;
    if ((segment.epoch != shard.epoch && !refused_before) || shard.damaged) continue;
    if (segment.first != shard.covered || (shard.state != Shard::State::open && segment.end > shard.tail)) {
      shard.damaged = true;
      apply.damaged.push_back(segment.shard);
      if (segment.first != shard.covered) apply.holes.push_back(segment.shard);
      actions.warnings.emplace_back(
          ErrorCode::corruption,
          "cut " + std::to_string(cut.number.value) + " covers shard " + std::to_string(segment.shard.value) +
              " from offset " + std::to_string(segment.first.value) + " to " + std::to_string(segment.end.value - 1) +
              ", here cuts cover it up to offset " + std::to_string(shard.covered.value) +
              (shard.state == Shard::State::open ? ""
                                                 : " and it ends before offset " + std::to_string(shard.tail.value)));
      fence(segment.shard, segment.epoch, actions);
      if (segment.first != shard.covered || shard.tail <= segment.first) continue;
    }
    // What is here of it has its place all the same.
    Segment here = segment;
    if (shard.state != Shard::State::open) here.end = std::min(here.end, shard.tail);
    std::erase_if(here.refused, [&](ShardOffset refused) { return refused >= here.end; });
    shard.covered = here.end;
    apply.own.push_back({std::move(here), first_position});
  }
  if (reached) note_missed(*reached, apply, actions);
  if (const auto by = sharding::leader_of(leaderships_, cut.coordinator); cut.coordinator > led_.epoch && by.given())
    apply.led = led_ = {cut.coordinator, by};
  handed_ = cut.number;
  applying_.push_back({apply.number, apply.watermark});
  const bool opens = !apply.openings.empty();
  apply.cut = std::move(cut);
  actions.steps.push_back({std::move(apply)});
  if (opens) actions.steps.push_back({Step::Sync{}});
}

void NodeOrder::advance(Actions& actions) {
  buffered_.erase(buffered_.begin(), buffered_.upper_bound(handed_));
  if (!welcomed_) return;
  for (auto next = buffered_.find(known_ + 1); next != buffered_.end(); next = buffered_.find(known_ + 1)) {
    if (!joins_on(next->second, actions)) return;
    fill(next->second);
    know(next->second, actions);
  }
  // Every cut up to there came by itself: none says any more who wrote before them.
  if (!history_ && heard_of_up_to_.value != 0 && heard_of_up_to_ <= known_) follow_heard_of(actions);
  for (;;) {
    const bool cut = !buffered_.empty() && buffered_.begin()->first <= known_;
    if (!reached_.empty() && (!cut || reached_.begin()->first < buffered_.begin()->first)) {
      skip_to(reached_.extract(reached_.begin()).mapped(), actions);
      continue;
    }
    if (!cut || !is_here(buffered_.begin()->second)) break;
    auto next = buffered_.extract(buffered_.begin());
    const auto reached = reached_.extract(next.key());
    take(std::move(next.mapped()), reached.empty() ? nullptr : &reached.mapped(), actions);
  }
}

// Rule 21. By the cuts that are known, not by those that could be applied: what is missing for an earlier one is
// shipped by the new writer only, and under its epoch.
void NodeOrder::know(const Cut& cut, Actions& actions) {
  if (!cut.replicas.empty() && cut.number > sets_of_) know_sets(cut.number, cut.replicas, actions);
  const auto is_before_opening = [&](const Segment& segment) {
    return segment.events() == 0 && std::ranges::any_of(cut.openings, [&](const Opening& opening) {
             return opening.shard == segment.shard && opening.epoch > segment.epoch;
           });
  };
  for (const Segment& segment : cut.segments)
    if (is_before_opening(segment)) know(segment, actions);
  for (const Opening& opening : cut.openings) {
    const auto kept = shards_.find(opening.shard);
    if (kept == shards_.end() || !keeps(opening.shard)) continue;
    Shard& shard = kept->second;
    hear_of(opening.shard, opening.epoch, opening.node, cut.number);
    if (opening.epoch > shard.opening_known) {
      shard.opening_known = opening.epoch;
      shard.opening_by = cut.coordinator;
    }
    if (opening.epoch <= shard.followed) continue;
    if (is_for_this_process(opening, cut.coordinator) && opening.epoch >= known_epoch(opening.shard)) {
      shard.own = opening.epoch;
      fence(opening.shard, opening.epoch, actions);  // it writes under an older one
      actions.steps.push_back({Step::Ships{opening.shard, opening.epoch}});
      continue;
    }
    // For an earlier process of this node, or the promise is still to come: what the disk has is that writer's.
    if (shard.damaged || (opening.node == self_.node && !opening.loses())) continue;
    if (opening.loses()) {
      // What is lost may be here, with its places in the indexes: nothing of it is to be shown.
      shard.damaged = true;
      actions.warnings.emplace_back(ErrorCode::corruption,
                                    "shard " + std::to_string(opening.shard.value) +
                                        " goes on behind a loss that an operator accepted: this node's copy of it is "
                                        "another one, its directory has to be filled anew");
      fence(opening.shard, opening.epoch, actions);
      continue;
    }
    fence(opening.shard, opening.epoch, actions);
    follow(opening.shard, opening.epoch, opening.node, actions);
  }
  for (const Segment& segment : cut.segments)
    if (!is_before_opening(segment)) know(segment, actions);
  known_ = cut.number;
  known_watermark_ = cut.last_position();
}

void NodeOrder::keep(ShardId id) {
  const auto& set = replicas(id);
  if (!set.has(self_.node) && !set.had_to_learn(self_.node)) return;
  // Where nothing is known yet, all of it is still to come, in its sequence.
  if (set.had_to_learn(self_.node) && known_.value != 0) return;
  const auto [at, added] = shards_.try_emplace(id);
  if (!added) return;
  at->second.learned = true;
  at->second.late = known_.value != 0;
}

void NodeOrder::look_for_lost_beginnings(const std::vector<GlobalPosition>& last_positions, Actions& actions) {
  for (std::size_t s = 0; s != last_positions.size(); ++s) {
    const auto found = shards_.find(ShardId{static_cast<std::uint16_t>(s)});
    if (found == shards_.end() || !may_lack_its_beginning(found->second)) continue;
    if (last_positions[s].value == 0)
      found->second.late = false;  // nothing ever was placed
    else if (last_positions[s] <= known_watermark_)
      lose_beginning(found->first, actions);
  }
}

void NodeOrder::lose_beginning(ShardId id, Actions& actions) {
  Shard& shard = shards_.at(id);
  if (shard.damaged || !keeps(id)) return;
  shard.damaged = true;
  left_.insert(id);
  actions.warnings.emplace_back(
      ErrorCode::corruption, "cuts that cover shard " + std::to_string(id.value) +
                                 " were applied here, and nothing of it is here: this is no replica of it, the node's "
                                 "directory has to be filled anew");
  fence(id, std::max(shard.epoch, shard.followed), actions);
}

void NodeOrder::leave(ShardId id, Actions& actions) {
  Shard& shard = shards_.at(id);
  if (shard.damaged) return;
  fence(id, shard.epoch, actions);
  shard.damaged = true;
  shard.learned = false;
  left_.insert(id);
  note_learning(id);
}

void NodeOrder::note_learning(ShardId id) {
  if (replicas(id).had_to_learn(self_.node) && !keeps(id))
    learning_.insert(id);
  else
    learning_.erase(id);
  if (learning_.empty())
    held_max_.reset();
  else if (!held_max_)
    held_max_ = synced_;
}

void NodeOrder::know(const sharding::NewReplicas& replicas, Actions& actions) {
  const auto& [id, set] = replicas;
  const bool kept = keeps(id);
  if (replicas_.size() <= id.value) replicas_.resize(id.value + std::size_t{1});
  replicas_[id.value] = set;
  keep(id);
  note_learning(id);
  const auto found = shards_.find(id);
  if (found == shards_.end()) return;
  Shard& shard = found->second;
  if (kept && !keeps(id)) {
    leave(id, actions);
    return;
  }
  // To others than before.
  if (shard.own.value != 0 && shard.own >= shard.followed)
    actions.steps.push_back({Step::Ships{id, shard.own}});
  else if (shard.state != Shard::State::closed)
    actions.steps.push_back({Step::Ships{id, shard.epoch}});
}

bool NodeOrder::keeps(ShardId id) const {
  const auto& set = replicas(id);
  if (!set.had_to_learn(self_.node)) return set.has(self_.node);
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.learned;
}

bool NodeOrder::has_whole(ShardId id) const {
  const auto shard = shards_.find(id);
  return keeps(id) && shard != shards_.end() && !shard->second.damaged;
}

void NodeOrder::know(const Segment& segment, Actions& actions) {
  const auto found = shards_.find(segment.shard);
  if (found == shards_.end()) return;
  // Another replica keeps cuts without events as none: the opening may have been in one of those.
  Shard& shard = found->second;
  if (may_lack_its_beginning(shard) && segment.first != ShardOffset{1}) lose_beginning(segment.shard, actions);
  const auto promise = promises_.find(segment.shard);
  const bool own = segment.epoch == shard.own || (promise != promises_.end() && promise->second.epoch == segment.epoch);
  if (keeps(segment.shard) && shard.state == Shard::State::closed && !shard.damaged && !own) {
    // This node wrote it, on a disk that it has lost since: this one does not follow that epoch yet.
    const auto writer = writer_under(segment.shard, segment.epoch);
    follow(segment.shard, segment.epoch, writer == self_.node ? 0 : writer, actions);
  }
  shard.known = segment.epoch;
  shard.known_next = segment.end;
}

// A process that was ended while it was given history may lack cuts that refused and placed nothing. Positions have no
// holes: where none was passed over, what lies before the segment has none.
void NodeOrder::fill(Cut& cut) {
  passed_over_ |= cut.first_position != known_watermark_ + 1;
  std::map<ShardId, ShardOffset> next;
  for (Segment& segment : cut.segments) {
    const auto shard = shards_.find(segment.shard);
    if (shard == shards_.end() || !keeps(segment.shard) || shard->second.state != Shard::State::closed) continue;
    if (may_lack_its_beginning(shard->second)) continue;
    const auto from = next.try_emplace(segment.shard, shard->second.known_next).first->second;
    // Other replicas may have told before what it refuses.
    if (!passed_over_ || segment.first < from) sharding::begin_at(segment, from);
    next[segment.shard] = std::max(from, segment.end);
  }
  std::erase_if(cut.segments, [](const Segment& segment) { return segment.first == segment.end; });
}

bool NodeOrder::is_here(const Cut& cut) const {
  return std::ranges::all_of(cut.segments, [&](const Segment& segment) {
    const auto shard = shards_.find(segment.shard);
    return shard == shards_.end() || shard->second.state != Shard::State::closed || shard->second.damaged ||
           !keeps(segment.shard) || segment.end <= shard->second.tail;
  });
}

void NodeOrder::forget_buffered() {
  buffered_.clear();
  reached_.clear();
  history_.reset();
  known_ = handed_;
  known_watermark_ = handed_watermark();
  for (auto& [id, shard] : shards_) {
    shard.known_next = shard.covered;
    shard.known = shard.epoch;
    shard.own = {};
  }
}

const sharding::ReplicaSet& NodeOrder::replicas(ShardId shard) const {
  static const sharding::ReplicaSet none;
  return shard.value < replicas_.size() ? replicas_[shard.value] : none;
}

std::optional<Epoch> NodeOrder::follows(ShardId id) const {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || shard->second.state != Shard::State::closed || shard->second.damaged || !keeps(id) ||
      shard->second.followed.value == 0)
    return std::nullopt;
  return shard->second.followed;
}

NodeOrder::Actions NodeOrder::shipped(ShardId id, ShardOffset tail) {
  Actions actions;
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || shard->second.state != Shard::State::closed) return actions;
  shard->second.tail = tail;
  if (known_ != handed_) advance(actions);
  follow_newest(actions);
  ask_history(actions);
  return actions;
}

void NodeOrder::ask(Actions& actions) {
  if (history_ || !welcomed_ || asked_ == known_) return;
  asked_ = known_;
  actions.send.emplace_back(CutsAfter{self_, known_});
}

void NodeOrder::report_again(Actions& actions) const {
  for (const auto& [id, shard] : shards_) {
    if (shard.state == Shard::State::open) actions.steps.push_back({Step::ReportAgain{id, shard.epoch, shard.covered}});
  }
}

void NodeOrder::hints(GlobalPosition window_from, bool digests_wanted) {
  window_from_ = std::max(window_from_, window_from);
  digests_wanted_ = digests_wanted;
}

NodeOrder::Actions NodeOrder::announce(const Announce& announce) {
  Actions actions;
  if (announce.cut.number <= known_ || !is_of_leader(announce.leader)) return actions;
  hints(announce.window_from, announce.digests_wanted);
  builds_ = announce.builds;
  if (history_) {
    // The cut comes when what was folded has. But who ships has to be known before.
    for (const Opening& opening : announce.cut.openings)
      if (!opening.loses() && !is_for_this_process(opening, announce.cut.coordinator))
        hear_of(opening.shard, opening.epoch, opening.node, announce.cut.number);
    follow_newest(actions);
    // Who keeps what has changed: the answer says how, and those who keep it now are asked for the rest.
    actions.say_hello = !announce.cut.replicas.empty();
    return actions;
  }
  if (announce.cut.number != known_ + 1 && buffered_.size() >= buffered_cuts_max) {
    ask(actions);
    return actions;
  }
  buffered_.emplace(announce.cut.number, announce.cut);
  // Before the welcome of a session nothing is followed: it may be refused.
  if (!welcomed_) return actions;
  const bool reported = reports();
  advance(actions);
  if (!reported && reports()) report_again(actions);
  if (!buffered_.empty() && buffered_.rbegin()->first > known_) ask(actions);
  return actions;
}

NodeOrder::Actions NodeOrder::cuts(const Cuts& cuts) {
  Actions actions;
  // Cuts missing in it were folded because this process, or nobody, had to have them: that holds from the number it
  // asked for.
  if (history_ || cuts.to != self_ || !welcomed_ || !is_of_leader(cuts.leader) || cuts.after > known_) return actions;
  hints(cuts.window_from, cuts.digests_wanted);
  const auto& found = cuts.found;
  const bool reported = reports();
  if (found.folded && found.folded->last_cut >= known_ && found.folded->watermark < known_watermark_) {
    refuse_history("its cut " + std::to_string(found.folded->last_cut.value) + " ends with position " +
                       std::to_string(found.folded->watermark.value),
                   actions);
    return actions;
  }
  if (found.folded && found.folded->last_cut > known_) {
    for (std::size_t s = 0; s != found.folded->shards.size(); ++s)
      knows_epoch(ShardId{static_cast<std::uint16_t>(s)}, found.folded->shards[s].epoch);
    for (auto& [id, shard] : shards_) {
      if (id.value < found.folded->shards.size() && found.folded->shards[id.value].epoch > shard.epoch) {
        const auto& at = found.folded->shards[id.value];
        const auto promise = promises_.find(id);
        // An opening of its own may be among the cuts that follow.
        if (promise != promises_.end() && promise->second.epoch == at.epoch && at.node == self_.node) continue;
        fence(id, at.epoch, actions);
      }
    }
  }
  const auto& folded = found.folded;
  if (folded && folded->last_cut > known_ && lacks(*folded)) {
    begin_history(*folded, actions);
    return actions;
  }
  for (const Cut& cut : found.cuts) {
    if (cut.number <= known_) continue;
    if (!folded && cut.number != known_ + 1) break;  // a hole that nobody answers for
    if (folded && known_ < folded->last_cut && folded->last_cut < cut.number) know_folded(*folded, actions);
    if (!joins_on(cut, actions)) return actions;
    buffered_.erase(buffered_.upper_bound(known_), buffered_.lower_bound(cut.number));
    Cut& known = buffered_.insert_or_assign(cut.number, cut).first->second;
    fill(known);
    know(known, actions);
    if (folded && folded->last_cut == cut.number) know_folded(*folded, actions);
    advance(actions);
    if (!welcomed_) return actions;
  }
  if (found.reaches_checkpoint() && folded->last_cut > known_) know_folded(*folded, actions);
  advance(actions);
  if (!reported && reports()) report_again(actions);
  if (found.more || (!buffered_.empty() && buffered_.rbegin()->first > known_)) ask(actions);
  return actions;
}

// Cuts that name a shard are folded once its owner holds them: if they are not here, this is not the disk that held
// them.
void NodeOrder::note_missed(const sharding::CutLogState& reached, Step::Apply& apply, Actions& actions) {
  for (auto& [id, shard] : shards_) {
    if (id.value >= reached.shards.size() || shard.damaged || keeps(id)) continue;  // kept: lacks() has looked
    const auto& log = reached.shards[id.value];
    if (log.written > shard.epoch || log.next <= shard.covered) continue;
    shard.damaged = true;
    apply.damaged.push_back(id);
    apply.holes.push_back(id);
    actions.warnings.emplace_back(ErrorCode::corruption, "cuts that name shard " + std::to_string(id.value) +
                                                             " from offset " + std::to_string(shard.covered.value) +
                                                             " on were folded, and are not here");
    fence(id, shard.epoch, actions);
  }
}

bool NodeOrder::lacks(const sharding::CutLogState& folded) const {
  return std::ranges::any_of(shards_, [&](const auto& of) {
    const auto& [id, shard] = of;
    return id.value < folded.shards.size() && keeps(id) && !shard.damaged &&
           folded.shards[id.value].folded >= shard.known_next;
  });
}

void NodeOrder::begin_history(const sharding::CutLogState& folded, Actions& actions) {
  history_ = folded;
  // What came out of sequence comes again, with what was before it.
  buffered_.erase(buffered_.upper_bound(known_), buffered_.end());
  for (std::size_t at = 0; at != folded.shards.size(); ++at)
    hear_of(ShardId{static_cast<std::uint16_t>(at)}, folded.shards[at].epoch, folded.shards[at].node, folded.last_cut);
  for (std::uint32_t at = 0; at != map_.shard_count(); ++at) {
    const auto& owner = map_.owner(ShardId{static_cast<std::uint16_t>(at)});
    hear_of(ShardId{static_cast<std::uint16_t>(at)}, owner.epoch, owner.node,
            told_ + 1);  // perhaps its cut was under way
  }
  follow_newest(actions);
  ask_history(actions);
}

// Cuts that are still to come cover some of what the journal may have behind those that are known: to take that off
// would leave it with fewer replicas than a quorum. What has nothing behind them loses nothing.
void NodeOrder::follow_newest(Actions& actions) {
  if (!history_) return;
  for (auto& [id, shard] : shards_) {
    if (!keeps(id) || shard.damaged || shard.state != Shard::State::closed) continue;
    const auto promise = promises_.find(id);
    const bool to_come = promise != promises_.end() && promise->second.epoch == shard.newest;
    if (shard.tail <= shard.known_next && !to_come) follow(id, shard.newest, shard.newest_writer, actions);
  }
}

std::uint32_t NodeOrder::writer_under(ShardId id, Epoch epoch) const {
  const auto shard = shards_.find(id);
  if (shard != shards_.end() && shard->second.newest == epoch) return shard->second.newest_writer;
  return id.value < map_.shard_count() && map_.owner(id).epoch == epoch ? map_.owner(id).node : 0;
}

void NodeOrder::hear_of(ShardId id, Epoch epoch, std::uint32_t writer, CutNumber cut) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || epoch <= shard->second.newest) return;
  shard->second.newest = epoch;
  shard->second.newest_writer = writer;
  shard->second.newest_cut = cut;
}

// What was learned is as of a cut that this process does not hear of again. The opening under which the shard is
// written since may be in an earlier one, that placed nothing: it is in no history. The cut with which this node counts
// is still to come, or nothing is missing yet.
void NodeOrder::hear_of_what_was_learned() {
  for (const auto& [id, shard] : shards_) {
    if (id.value >= map_.shard_count() || !replicas(id).had_to_learn(self_.node)) continue;
    const auto& owner = map_.owner(id);
    if (owner.epoch <= shard.followed) continue;
    hear_of(id, owner.epoch, owner.node, told_ + 1);  // perhaps its cut was under way
    heard_of_up_to_ = std::max(heard_of_up_to_, shard.newest_cut);
  }
}

void NodeOrder::follow_heard_of(Actions& actions) {
  heard_of_up_to_ = {};
  for (auto& [id, shard] : shards_) {
    if (!keeps(id) || shard.damaged || shard.state != Shard::State::closed || shard.newest <= shard.opening_known)
      continue;
    if (shard.newest_cut > known_) {
      heard_of_up_to_ = std::max(heard_of_up_to_, shard.newest_cut);
      continue;
    }
    const auto promise = promises_.find(id);
    if (promise == promises_.end() || promise->second.epoch != shard.newest)
      follow(id, shard.newest, shard.newest_writer, actions);
  }
}

void NodeOrder::follow(ShardId id, Epoch epoch, std::uint32_t writer, Actions& actions) {
  Shard& shard = shards_.at(id);
  if (epoch <= shard.followed || writer == self_.node) return;
  shard.followed = epoch;
  shard.tail = std::min(shard.tail, shard.known_next);
  actions.steps.push_back({Step::Follow{id, epoch, writer, shard.known_next}});
}

// So many cuts wait for what is shipped, then no more are asked for.
void NodeOrder::ask_history(Actions& actions) {
  if (!history_ || !welcomed_ || history_asked_ || buffered_.size() >= buffered_cuts_max / 2) return;
  history_asked_ = true;
  actions.history.emplace();
  actions.history->after = known_watermark_;
  actions.history->shards = history_shards_ = kept_whole();
}

std::vector<ShardId> NodeOrder::kept_whole() const {
  std::vector<ShardId> kept;
  for (const auto& [id, shard] : shards_)
    if (keeps(id) && !shard.damaged) kept.push_back(id);
  return kept;
}

std::vector<Cut> NodeOrder::whole(NodeHistory history) const {
  struct At {
    Epoch epoch;
    ShardOffset next;
  };
  std::map<ShardId, At> at;
  for (const auto& [id, shard] : shards_)
    if (keeps(id) && !may_lack_its_beginning(shard)) at[id] = {std::max(shard.epoch, shard.known), shard.known_next};
  for (Cut& cut : history.cuts) {
    for (Segment& segment : cut.segments) {
      const auto shard = segment.is_elsewhere() ? at.end() : at.find(segment.shard);
      if (shard == at.end()) continue;
      sharding::begin_at(segment, shard->second.next);
      if (shard->second.next < segment.end) shard->second = {segment.epoch, segment.end};
    }
    std::erase_if(cut.segments, [](const Segment& segment) { return segment.first == segment.end; });
  }
  Cut last{history.last_cut,
           history.cuts.empty() ? led_.epoch : history.cuts.back().coordinator,
           history.watermark + 1,
           {},
           {}};
  for (const auto& [id, end, epoch, writer] : history.ends) {
    const auto shard = at.find(id);
    if (shard == at.end()) continue;
    if (epoch > shard->second.epoch && writer != 0) last.openings.push_back({id, epoch, writer, end});
    // Under whichever epochs it was refused: what is here of older ones is taken off.
    shard->second.epoch = std::max(shard->second.epoch, epoch);
    if (end <= shard->second.next || end - shard->second.next > sharding::refused_max) continue;
    auto& segment = last.segments.emplace_back(Segment{id, shard->second.epoch, end, end, {}});
    sharding::begin_at(segment, shard->second.next);
  }
  if (last.openings.empty() && last.segments.empty()) return std::move(history.cuts);
  if (!history.cuts.empty() && history.cuts.back().number == last.number) {
    auto& [number, coordinator, first, segments, openings, replicas] = history.cuts.back();
    for (const auto& opening : last.openings) {
      const auto of_it = [&](const Segment& segment) { return segment.shard == opening.shard; };
      if (std::ranges::any_of(segments, [&](const Segment& segment) {
            return of_it(segment) && segment.events() != 0 && segment.epoch != opening.epoch;
          }))
        continue;
      openings.push_back(opening);
    }
    for (auto& segment : last.segments) {
      // Its own segments of the shard, if there are any, come first.
      const auto own = std::ranges::find(segments, segment.shard, &Segment::shard);
      if (own != segments.end()) segment.epoch = own->epoch;
      segments.push_back(std::move(segment));
    }
  } else if (last.number > (history.cuts.empty() ? known_ : history.cuts.back().number)) {
    history.cuts.push_back(std::move(last));
  }
  return std::move(history.cuts);
}

NodeOrder::Actions NodeOrder::history(GlobalPosition after, const std::vector<Cut>& cuts, bool complete) {
  Actions actions;
  if (!history_ || !welcomed_ || after != known_watermark_) return actions;
  // It was asked before this node was to keep a shard more: positions of that are elsewhere in the answer.
  if (kept_whole() != history_shards_) {
    history_asked_ = false;
    ask_history(actions);
    return actions;
  }
  for (const Cut& cut : cuts) {
    if (cut.number <= known_ || cut.first_position != known_watermark_ + 1) break;
    know(cut, actions);
    buffered_.insert_or_assign(cut.number, cut);
  }
  advance(actions);
  follow_newest(actions);
  if ((complete || cuts.empty()) && !lacks(*history_)) {
    // Where that replica is itself behind: the coordinator has what comes after what was folded.
    // No cut comes any more that says who wrote last, and that replica may not know. Of openings in cuts that are still
    // to come nothing is decided yet: those may cover more.
    follow_heard_of(actions);
    know_sets(*history_, actions);
    // What other replicas keep of cuts does not say who keeps what. Where they have given later ones than those that
    // were folded, the coordinator is asked once more, and nothing is reported before.
    if (known_ > std::max(history_->last_cut, told_)) {
      welcomed_ = false;
      actions.say_hello = true;
    }
    history_.reset();
    history_asked_ = false;
    ask(actions);
  } else if (!cuts.empty()) {
    history_asked_ = false;  // else it is asked for again after a while
    ask_history(actions);
  }
  return actions;
}

// Openings of what is kept here may be among what was folded.
void NodeOrder::follow_folded(const sharding::CutLogState& folded, Actions& actions) {
  for (auto& [id, shard] : shards_) {
    if (id.value >= folded.shards.size() || !keeps(id) || shard.damaged || shard.state != Shard::State::closed)
      continue;
    const auto& log = folded.shards[id.value];
    if (log.epoch <= shard.opening_known) continue;  // decided when that came to be known
    const auto promise = promises_.find(id);
    if (log.node != self_.node && (promise == promises_.end() || promise->second.epoch != log.epoch))
      follow(id, log.epoch, log.node, actions);
  }
}

// A node that comes to know older cuts later keeps what it is to keep now: what it does not have of the time between it
// is given with those cuts.
void NodeOrder::know_sets(CutNumber as_of, const std::vector<sharding::NewReplicas>& sets, Actions& actions) {
  if (as_of < sets_of_) return;
  sets_of_ = as_of;
  for (const auto& set : sets)
    if (!set.set.nodes.empty() && set.set != replicas(set.shard)) know(set, actions);
}

// What cuts said that were folded.
void NodeOrder::know_sets(const sharding::CutLogState& folded, Actions& actions) {
  std::vector<sharding::NewReplicas> sets;
  for (std::size_t s = 0; s != folded.shards.size(); ++s)
    sets.push_back({ShardId{static_cast<std::uint16_t>(s)}, folded.shards[s].replicas});
  know_sets(folded.last_cut, sets, actions);
}

// What it says is applied when all before it is.
void NodeOrder::know_folded(const sharding::CutLogState& folded, Actions& actions) {
  know_sets(folded, actions);
  follow_folded(folded, actions);
  buffered_.erase(buffered_.upper_bound(known_), buffered_.upper_bound(folded.last_cut));
  reached_.insert_or_assign(folded.last_cut, folded);
  known_ = folded.last_cut;
  known_watermark_ = folded.watermark;
}

void NodeOrder::skip_to(const sharding::CutLogState& folded, Actions& actions) {
  Step::Apply apply{folded.last_cut, folded.watermark, {}, {}, {}, {}};
  apply.cut.number = folded.last_cut;
  apply.cut.first_position = folded.watermark + 1;
  note_missed(folded, apply, actions);
  for (const ShardId left : std::exchange(left_, {})) apply.damaged.push_back(left);
  handed_ = folded.last_cut;
  applying_.push_back({folded.last_cut, folded.watermark});
  actions.steps.push_back({std::move(apply)});
}

NodeOrder::Actions NodeOrder::report_from(const ReportFrom& from) {
  Actions actions;
  const auto shard = shards_.find(from.shard);
  if (shard == shards_.end() || shard->second.state != Shard::State::open || shard->second.epoch != from.epoch)
    return actions;
  actions.steps.push_back({Step::ReportAgain{from.shard, from.epoch, std::max(from.first, shard->second.covered)}});
  return actions;
}

NodeOrder::Actions NodeOrder::tell_again(const TellAgain& again) {
  Actions actions;
  actions.say_hello = again.to == self_ && connected_;  // it may overtake the welcome
  return actions;
}

NodeOrder::Actions NodeOrder::applied(CutNumber number) {
  EVERSHARD_CHECK(!applying_.empty() && applying_.front().number == number,
                  "cuts are applied in their order (rule 10)");
  applied_ = number;
  watermark_ = applying_.front().watermark;
  applying_.pop_front();
  return {};
}

NodeOrder::Actions NodeOrder::synced(CutNumber number) {
  EVERSHARD_CHECK(number <= applied_, "what is synced was applied");
  Actions actions;
  synced_ = std::max(synced_, number);
  for (auto& [id, shard] : shards_) {
    // Its epoch has to survive before anything is written under it: it tells this disk from an older copy.
    if (shard.state != Shard::State::taken || shard.opened_by > synced_) continue;
    shard.state = Shard::State::open;
    actions.steps.push_back({Step::Opened{shard.opening}});
    if (reports()) actions.steps.push_back({Step::ReportAgain{id, shard.epoch, shard.covered}});
  }
  if (welcomed_ && held().cut > held_said_) {
    held_said_ = held().cut;
    actions.send.emplace_back(held());
    applied_said_ = applied_;
  }
  return actions;
}

NodeOrder::Page NodeOrder::page(ShardId id, GlobalPosition w) const {
  const auto shard = shards_.find(id);
  const bool readable =
      shard != shards_.end() && !shard->second.damaged && (shard->second.state == Shard::State::open || keeps(id));
  if (!readable) return Page::not_here;
  return w <= watermark_ ? Page::answer : Page::not_yet;
}

std::optional<Epoch> NodeOrder::writes(ShardId id) const {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || shard->second.state != Shard::State::open) return std::nullopt;
  return shard->second.epoch;
}

}  // namespace evershard::cluster
