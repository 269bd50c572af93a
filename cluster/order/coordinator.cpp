#include "evershard/cluster/order/coordinator.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

using sharding::Cut;
using sharding::CutLogState;
using sharding::Reported;

namespace {

std::string text_of(ShardId shard) { return "shard " + std::to_string(shard.value); }
std::string text_of(std::uint32_t node) { return "node " + std::to_string(node); }
std::string offsets(ShardOffset from, ShardOffset until) {
  if (from + 1 == until) return "offset " + std::to_string(from.value);
  return "offsets " + std::to_string(from.value) + " to " + std::to_string(until.value - 1);
}
std::string text_of(const Loss& loss) {
  return "offsets " + std::to_string(loss.from.value) + " to " + std::to_string(loss.until.value - 1) +
         (loss.unordered == 0 ? "" : " and " + std::to_string(loss.unordered) + " never ordered behind them");
}

}  // namespace

Coordinator::Coordinator(const CutLogState& led, CoordinatorOptions options)
    : options_(options),
      stored_(led),
      made_(led),
      ordering_(led.order(), options.ordering),
      opened_in_(led.shards.size()),
      naming_((led.epoch.value << 32) + 1),
      writer_lost_at_(led.shards.size()),
      led_from_(led.last_cut),
      folded_at_(led.last_cut) {
  for (const auto& shard : led.shards) owners_.push_back({shard.node, shard.epoch});
}

void Coordinator::end(Error error, Actions& actions) {
  ended_ = error;
  actions = {};
  actions.ended = std::move(error);
}

std::optional<Error> Coordinator::objection(const Hello& hello) const {
  const auto bad = [&](const std::string& why) {
    return Error(ErrorCode::invalid_argument, "the hello of " + text_of(hello.from.node) + " is malformed: " + why);
  };
  if (hello.from.node == 0 || hello.from.incarnation == 0) return bad("nodes and incarnations are numbered from 1");
  std::set<ShardId> seen;
  for (const ShardTold& shard : hello.shards) {
    if (shard.shard.value >= owners_.size()) return bad(text_of(shard.shard) + " of " + std::to_string(owners_.size()));
    if (!seen.insert(shard.shard).second) return bad(text_of(shard.shard) + " is named twice");
    if (shard.covered.value == 0 || shard.tail < shard.covered)
      return bad(text_of(shard.shard) + " ends before the cuts applied to it do");
    // Only stored cuts are applied: those were another log's, or this one had them once and went on without them.
    const auto next = stored_.shards[shard.shard.value].next;
    if (shard.covered > next && hello.cut <= stored_.last_cut) {
      return Error(ErrorCode::corruption, "the disk of " + text_of(hello.from.node) + " has cuts that cover " +
                                              text_of(shard.shard) + " up to offset " +
                                              std::to_string(shard.covered.value - 1) +
                                              ", those of this coordinator's log end with offset " +
                                              std::to_string(next.value - 1) + ": the two are of different histories");
    }
  }
  const auto known = members_.find(hello.from.node);
  if (known != members_.end() && known->second.here && known->second.process != hello.from)
    return Error(ErrorCode::unavailable, text_of(hello.from.node) + " is here already, at " + known->second.address +
                                             "; a second process with its number, at " + hello.address +
                                             ", is refused");
  return std::nullopt;
}

std::optional<Error> Coordinator::of_another_leadership(const Hello& hello) const {
  if (hello.led.epoch > stored_.epoch)
    return Error(ErrorCode::fenced, text_of(hello.from.node) + " has applied cuts of epoch " +
                                        std::to_string(hello.led.epoch.value) +
                                        ", this coordinator leads under epoch " + std::to_string(stored_.epoch.value) +
                                        ": a newer one leads, or led and this one has an old copy of its log");
  const auto here = sharding::leader_of(stored_.leaderships, hello.led.epoch);
  if (here.given() && hello.led.identity.given() && here != hello.led.identity)
    return Error(ErrorCode::corruption, text_of(hello.from.node) + " has applied cuts that " +
                                            hello.led.identity.text() + " made under epoch " +
                                            std::to_string(hello.led.epoch.value) + ", which " + here.text() +
                                            " led in this coordinator's log: one of the two logs is a copy that went "
                                            "on by itself, they are of different histories");
  return std::nullopt;
}

Coordinator::Actions Coordinator::hello(const Hello& hello) {
  Actions actions;
  if (ended_) return actions;
  const auto refused = [&](Error error) {
    actions.warnings.push_back(error);
    actions.send.push_back({hello.from, HelloRefused{hello.from, hello.session, std::move(error)}});
    return actions;
  };
  if (auto error = objection(hello)) return refused(*std::move(error));
  // Only what is stored is announced: somebody else stored that, or this log had it once.
  if (hello.cut > stored_.last_cut) {
    end(Error(ErrorCode::corruption, text_of(hello.from.node) + " holds cut " + std::to_string(hello.cut.value) +
                                         ", this coordinator's log ends with cut " +
                                         std::to_string(stored_.last_cut.value) +
                                         ": another one leads, or the log has lost its end"),
        actions);
    return actions;
  }

  if (auto error = of_another_leadership(hello)) return refused(*std::move(error));

  Member& member = members_[hello.from.node];
  if (member.process != hello.from) {  // drained was the process before
    const bool leaves = member.leaves;
    member = {};
    member.leaves = member.drained = leaves;
    member.named = ++naming_;
  }
  member.gone = false;
  member.zone = hello.zone;
  member.process = hello.from;
  member.here = true;
  member.address = hello.address;
  member.door = hello.door;
  member.kurrent_door = hello.kurrent_door;
  member.version = hello.version;
  member.gateway = hello.gateway;
  member.builds = hello.builds;
  member.cut = hello.cut;
  member.applied = std::max(member.applied, hello.cut);
  member.behind = stored_.last_cut - member.applied;
  member.refused.clear();
  member.told.clear();
  for (const ShardTold& shard : hello.shards) member.told[shard.shard] = shard;
  member.told_at = ++now_;
  member.asked = false;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    if (owners_[s].node == hello.from.node) open_own(member, ShardId{static_cast<std::uint16_t>(s)}, actions);
  }
  place_unowned(actions);
  finish_hand_overs(member, actions);
  replace_writers(actions);

  Welcome welcome;
  welcome.to = hello.from;
  welcome.session = hello.session;
  welcome.coordinator = stored_.epoch;
  welcome.last_cut = stored_.last_cut;
  welcome.watermark = stored_.watermark;
  welcome.map = map();
  for (const auto& shard : stored_.shards) welcome.last_positions.push_back(shard.last_position);
  for (const auto& [shard, error] : member.refused) welcome.refused.push_back({shard, error});
  welcome.window_from = ordering_.window_from();
  welcome.digests_wanted = digests_wanted();
  welcome.builds = builds();
  welcome.leaderships = stored_.leaderships;
  for (const auto& shard : stored_.shards) welcome.replicas.push_back(shard.replicas);
  actions.send.insert(actions.send.begin(), {hello.from, std::move(welcome)});
  make_cut(actions);
  return actions;
}

bool Coordinator::builds() const {
  return std::ranges::all_of(members_, [](const auto& member) { return !member.second.here || member.second.builds; });
}

ShardTold Coordinator::told(const Member& member, ShardId shard) const {
  const auto told = member.told.find(shard);
  return told != member.told.end() ? told->second : ShardTold{shard, {}, false, ShardOffset{1}, ShardOffset{1}};
}

std::optional<Loss> Coordinator::loss(ShardId shard, const ShardTold& told) const {
  const CutLogState::Shard& log = made_.shards[shard.value];
  const auto from = [&](ShardOffset first) {
    return Loss{first, log.next, told.tail > log.next ? told.tail - log.next : 0};
  };
  // Another disk than the one its newest ordered events were written to, or one from before that: whatever its length.
  // One that has what was given up as lost does not bring it back: readers have passed those positions.
  if (told.epoch < log.written) {
    const auto covered = std::min(told.covered, log.next);
    const auto lost = log.lost_after(told.epoch).value_or(covered);
    return from(std::min(covered, lost) < log.next ? std::min(covered, lost) : ShardOffset{1});
  }
  // Cuts that cover it were given up because they were held here: this disk holds them no more. Which cut it has
  // applied last does not say so: that may be one of those that were kept, from behind them.
  if (told.covered <= log.folded) return from(told.covered);
  if (told.tail < log.next) return from(told.tail);
  return std::nullopt;
}

// What lies on the disk is not called absent: an operator looks for a disk that has it, and this is one.
std::string Coordinator::why_refused(const Member& member, const ShardTold& told, const Loss& lost) const {
  const CutLogState::Shard& log = made_.shards[told.shard.value];
  const auto here_until = std::clamp(told.tail, lost.from, lost.until);  // records are there, whatever is in them
  const bool here = here_until > lost.from, missing = here_until < lost.until;
  auto text = text_of(told.shard) + " of " + text_of(member.process.node) +
              (missing ? " has lost data: " : " cannot go on with what it has: ");
  if (missing)
    text += offsets(here_until, lost.until) + (here_until + 1 == lost.until ? " stands in the order and is not there"
                                                                            : " stand in the order and are not there");
  if (here) {
    const bool one = lost.from + 1 == here_until;
    text += (missing ? "; " : "") + offsets(lost.from, here_until) + (one ? " is there, " : " are there, ");
    if (told.epoch >= log.written) {
      text +=
          "but without their places: the cuts that gave them are kept by nobody, since this node had applied them once";
    } else if (const auto given_up = log.lost_after(told.epoch); given_up && *given_up <= lost.from) {
      text += "but not as they stand in the order: all from offset " + std::to_string(given_up->value) +
              " on was given up as lost since this disk was written";
    } else {
      text += "and may be others than stand in the order: what was ordered last was written under epoch " +
              std::to_string(log.written.value) + ", this disk is of epoch " + std::to_string(told.epoch.value);
    }
  }
  if (lost.unordered != 0)
    text += "; " + std::to_string(lost.unordered) + " behind them " + (lost.unordered == 1 ? "was" : "were") +
            " never ordered";
  return text;
}

void Coordinator::open_own(Member& member, ShardId shard, Actions& actions) {
  const ShardTold at = told(member, shard);
  const Owner& owner = owners_[shard.value];
  if (at.taken && at.epoch == owner.epoch) {  // it writes under it
    if (!handing_over_.contains(shard)) actions.goes_on.push_back(shard);
    return;
  }
  const auto promised = member.promised.find(shard);
  const bool still_to_come = stored_.shards[shard.value].epoch < owner.epoch || member.cut < opened_in_[shard.value];
  if (promised != member.promised.end() && promised->second == owner.epoch && still_to_come) {
    actions.send.push_back({member.process, Opens{member.process, stored_.epoch, shard, owner.epoch, identity()}});
    return;
  }
  const auto lost = loss(shard, at);
  const auto epoch = lost ? Result<Epoch>(refuse(ErrorCode::corruption, why_refused(member, at, *lost)))
                          : ordering_.open(shard, member.process.node, at.tail);
  if (epoch) {
    opened(member, shard, *epoch, actions);
    return;
  }
  member.refused[shard] = epoch.error();
  actions.warnings.push_back(epoch.error());
  actions.stops.push_back({shard, ClusterChange::Cause::disk_lacks});
}

void Coordinator::opened(Member& member, ShardId shard, Epoch epoch, Actions& actions) {
  owners_[shard.value] = {member.process.node, epoch};
  member.promised[shard] = epoch;
  member.refused.erase(shard);
  waiting_ = waiting_events();
  actions.send.push_back({member.process, Opens{member.process, stored_.epoch, shard, epoch, identity()}});
}

// Evenly; a shard that somebody has data of goes there.
void Coordinator::place_unowned(Actions& actions) {
  std::map<std::uint32_t, std::size_t> load;
  for (const auto& [node, member] : members_) {
    if (member.here && !member.gateway) load[node] = 0;
  }
  if (load.empty() || load.size() < options_.nodes_expected) return;
  for (const Owner& owner : owners_) {
    if (const auto of = load.find(owner.node); of != load.end()) ++of->second;
  }
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    if (owners_[s].node != 0) continue;
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto better = [&](const auto& a, const auto& b) {
      const auto tail_a = told(members_.at(a.first), shard).tail;
      const auto tail_b = told(members_.at(b.first), shard).tail;
      return tail_a != tail_b ? tail_a > tail_b : a.second < b.second;
    };
    const auto chosen = std::min_element(load.begin(), load.end(), better);
    ++chosen->second;
    owners_[s].node = chosen->first;
    if (options_.replicas > 1) {
      // The writer's neighbours, by number and round: so every node follows about as much as it writes. Of those in
      // other zones first, where there are some.
      sharding::ReplicaSet set{options_.replicas / 2 + 1, {chosen->first}};
      const auto shared = [&](std::uint32_t node) {
        const auto& zone = members_.at(node).zone;
        return zone.empty()
                   ? 0
                   : std::ranges::count(set.nodes, zone, [&](std::uint32_t of) { return members_.at(of).zone; });
      };
      while (set.nodes.size() != std::min<std::size_t>(options_.replicas, load.size())) {
        std::uint32_t best = 0;
        for (auto next = std::next(chosen); next != chosen; next == load.end() ? next = load.begin() : ++next) {
          if (next == load.end() || std::ranges::find(set.nodes, next->first) != set.nodes.end()) continue;
          if (best == 0 || shared(next->first) < shared(best)) best = next->first;
        }
        set.nodes.push_back(best);
      }
      std::ranges::sort(set.nodes);
      set_replicas(shard, std::move(set));
    }
    open_own(members_.at(chosen->first), shard, actions);
  }
}

bool Coordinator::writer_is_fit(ShardId shard) const {
  const auto writer = members_.find(owners_[shard.value].node);
  return writer != members_.end() && writer->second.here && !writer->second.refused.contains(shard);
}

// Who has all that cuts cover may write (rule 3). How far a disk is has to be told after the writer went: before, more
// was shipped to it.
void Coordinator::replace_writers(Actions& actions) {
  if (ended_ || !nodes_had_time_) return;
  without_candidate_ = false;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto& set = made_.shards[s].replicas;
    if (owners_[s].node == 0 || set.nodes.size() < 2) continue;
    if (writer_is_fit(shard)) {
      writer_lost_at_[s] = 0;
      continue;
    }
    if (writer_lost_at_[s] == 0) writer_lost_at_[s] = ++now_;
    Member* best = nullptr;
    bool all_told = true;
    for (const auto node : set.nodes) {
      const auto found = members_.find(node);
      if (found == members_.end() || !found->second.here || node == owners_[s].node) continue;
      Member& member = found->second;
      if (member.told_at < writer_lost_at_[s]) {
        all_told = false;
        if (!std::exchange(member.asked, true)) actions.send.push_back({member.process, TellAgain{member.process}});
        continue;
      }
      if (loss(shard, told(member, shard))) continue;
      const auto order = [&](const Member& of) {
        const auto writes = std::ranges::count(owners_, of.process.node, &Owner::node);
        return std::tuple(!of.full, !of.still, told(of, shard).tail.value, -writes);
      };
      if (best == nullptr || order(*best) < order(member)) best = &member;
    }
    without_candidate_ |= all_told && best == nullptr;
    if (!all_told || best == nullptr) continue;
    const auto epoch = ordering_.open(shard, best->process.node, told(*best, shard).tail);
    if (!epoch) {
      actions.warnings.push_back(epoch.error());
      continue;
    }
    if (const auto before = members_.find(owners_[s].node); before != members_.end())
      before->second.refused.erase(shard);
    actions.moved.push_back({shard, owners_[s].node, best->process.node});
    opened(*best, shard, *epoch, actions);
    writer_lost_at_[s] = 0;
  }
}

Coordinator::Actions Coordinator::nodes_had_time() {
  Actions actions;
  nodes_had_time_ = true;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const auto writer = members_.find(owners_[s].node);
    if (owners_[s].node != 0 && (writer == members_.end() || !writer->second.here))
      actions.stops.push_back({ShardId{static_cast<std::uint16_t>(s)}, ClusterChange::Cause::node_lost});
  }
  replace_writers(actions);
  make_cut(actions);
  return actions;
}

Coordinator::Actions Coordinator::lost(NodeProcess process, ClusterChange::Cause cause) {
  Actions actions;
  const auto member = members_.find(process.node);
  if (member == members_.end() || member->second.process != process) return actions;
  member->second.here = false;
  for (const auto& [shard, to] : std::map(handing_over_))
    if (to.node == process.node) give_up_hand_over(shard, actions);
  std::erase_if(handing_over_, [&](const auto& of) { return owners_[of.first.value].node == process.node; });
  for (std::size_t s = 0; s != owners_.size(); ++s)
    if (owners_[s].node == process.node) actions.stops.push_back({ShardId{static_cast<std::uint16_t>(s)}, cause});
  replace_writers(actions);
  make_cut(actions);
  return actions;
}

// What a process that was replaced had may have gone with its disk.
bool Coordinator::counted_before(ShardId shard, std::uint64_t naming) const {
  return std::ranges::any_of(made_.shards[shard.value].replicas.nodes, [&](std::uint32_t node) {
    const auto member = members_.find(node);
    return node != owners_[shard.value].node && member != members_.end() && member->second.named > naming;
  });
}

Coordinator::Actions Coordinator::report(NodeProcess from, Report report, std::uint64_t naming) {
  Actions actions;
  if (ended_) return actions;
  const auto warn = [&](const std::string& what) { actions.warnings.emplace_back(ErrorCode::invalid_argument, what); };
  if (!members_.contains(from.node)) {
    warn("a report of " + text_of(from.node) + ", which never joined, is dropped");
    return actions;
  }
  if (report.shard.value >= owners_.size()) {
    warn("a report of " + text_of(from.node) + " names " + text_of(report.shard) + " of " +
         std::to_string(owners_.size()));
    return actions;
  }
  const ShardId shard = report.shard;
  const Owner& owner = owners_[shard.value];
  if (report.epoch == owner.epoch && from.node != owner.node) {
    warn("a report of " + text_of(from.node) + " is under the epoch of " + text_of(shard) + ", which " +
         text_of(owner.node) + " owns");
    return actions;
  }
  if (report.epoch == owner.epoch && !report.appends.empty() && handing_over_.contains(shard)) return actions;
  if (report.epoch == owner.epoch && !report.appends.empty() && waiting_ >= options_.waiting_events_max) {
    ask_again_.insert(shard);
    return actions;
  }

  if (report.epoch == owner.epoch && !report.appends.empty() && naming != 0 && counted_before(shard, naming)) {
    // Those behind it come again with it.
    if (const auto known = ordering_.known_end(shard); report.first <= known)
      actions.send.push_back({from, ReportFrom{shard, owner.epoch, known}});
    return actions;
  }

  const bool conditional =
      std::ranges::any_of(report.appends, [](const auto& append) { return !append.conditions.empty(); });
  const auto first = report.first;
  const auto known = ordering_.known_end(shard);
  switch (ordering_.report(std::move(report))) {
    case Reported::taken:
      waiting_ += ordering_.known_end(shard) - known;
      if (conditional) digests_until_ = made_.last_cut + options_.digest_cuts;
      make_cut(actions);
      break;
    case Reported::stale:
      break;
    case Reported::gap:
      actions.send.push_back({from, ReportFrom{shard, owner.epoch, known}});
      break;
    case Reported::replaced:
      end(Error(ErrorCode::fenced, text_of(from.node) + " reports of " + text_of(shard) +
                                       " what only a newer coordinator can have brought about: this one, of epoch " +
                                       std::to_string(stored_.epoch.value) + ", has been replaced"),
          actions);
      break;
    case Reported::malformed:
      warn("a report of " + text_of(from.node) + " on " + text_of(shard) + " from offset " +
           std::to_string(first.value) + " contradicts itself or what is known: nothing of it is taken");
      break;
  }
  return actions;
}

std::uint64_t Coordinator::waiting_events() const {
  std::uint64_t events = 0;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    events += ordering_.known_end(ShardId{static_cast<std::uint16_t>(s)}) - ordering_.state().shards[s].next;
  }
  return events;
}

// Rule 5: of all there is, as soon as the last put has returned.
void Coordinator::make_cut(Actions& actions) {
  if (putting_) return;
  putting_ = ordering_.make_cut(!new_replicas_.empty());
  if (!putting_) return;
  putting_->replicas = std::exchange(new_replicas_, {});
  follow(made_, *putting_);
  waiting_ = waiting_events();
  actions.put = putting_;
}

Coordinator::Actions Coordinator::put_returned(const Result<void>& result) {
  Actions actions;
  if (ended_) return actions;
  EVERSHARD_CHECK(putting_.has_value(), "what returned was put");
  if (!result) {
    end(Error(result.error().code, "cut " + std::to_string(putting_->number.value) +
                                       " was not taken, this coordinator steps down: " + result.error().what),
        actions);
    return actions;
  }
  follow(stored_, *putting_);
  for (const auto& opening : putting_->openings) opened_in_[opening.shard.value] = putting_->number;
  actions.send.push_back({std::nullopt, Announce{*std::exchange(putting_, std::nullopt), ordering_.window_from(),
                                                 digests_wanted(), identity(), builds()}});
  for (const ShardId shard : std::exchange(ask_again_, {})) {
    const Owner& owner = owners_[shard.value];
    const auto member = members_.find(owner.node);
    if (member == members_.end()) continue;
    actions.send.push_back({member->second.process, ReportFrom{shard, owner.epoch, ordering_.known_end(shard)}});
  }
  fold_if_due(actions);
  make_cut(actions);
  return actions;
}

Coordinator::Actions Coordinator::held(const Held& held) {
  Actions actions;
  if (ended_) return actions;
  // Of this very process: what an earlier one held may have gone with its disk.
  const auto member = members_.find(held.from.node);
  if (member == members_.end() || member->second.process != held.from) return actions;
  if (held.cut > stored_.last_cut) {
    actions.warnings.emplace_back(ErrorCode::invalid_argument, text_of(held.from.node) + " says that it holds cut " +
                                                                   std::to_string(held.cut.value) +
                                                                   ", the last one is cut " +
                                                                   std::to_string(stored_.last_cut.value));
    return actions;
  }
  member->second.held = std::max(member->second.held, held.cut);
  if (held.applied >= member->second.applied && held.applied <= stored_.last_cut) {
    member->second.applied = held.applied;
    member->second.behind = stored_.last_cut - held.applied;
  }
  member->second.learned = held.learned;
  if (std::exchange(member->second.full, held.full) != held.full)
    actions.warnings.emplace_back(ErrorCode::unavailable,
                                  text_of(held.from.node) + (held.full ? ": its disk is full: it is to write nothing"
                                                                       : ": its disk has room again"));
  fold_if_due(actions);
  return actions;
}

void Coordinator::fold_if_due(Actions& actions) {
  // While a put is under way the log and `stored_` may differ.
  if (putting_ || stored_.last_cut < folded_at_ + options_.fold_cuts) return;
  folded_at_ = stored_.last_cut;
  actions.fold.emplace();
  for (const auto& [node, member] : members_) {
    if (member.here && !member.full) actions.fold->push_back({node, member.held});
  }
  // A follower that is away, or takes nothing because its disk is full, keeps nothing back, where a quorum has it: it
  // is given what it missed by another replica.
  std::map<std::uint32_t, CutNumber> away;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const auto& set = stored_.shards[s].replicas;
    std::vector<CutNumber> held;
    for (const auto node : set.nodes)
      if (const auto member = members_.find(node);
          member != members_.end() && member->second.here && !member->second.full)
        held.push_back(member->second.held);
    const auto by_quorum = held.size() < set.quorum ? CutNumber{0} : *std::ranges::min_element(held);
    for (const auto node : set.nodes) {
      const auto member = members_.find(node);
      if (member != members_.end() && member->second.here && !member->second.full) continue;
      const auto least = node == owners_[s].node ? CutNumber{0} : by_quorum;
      const auto [at, first] = away.try_emplace(node, least);
      if (!first) at->second = std::min(at->second, least);
    }
  }
  for (const auto& [node, cut] : away) actions.fold->push_back({node, cut});
}

void Coordinator::folded(const CutLogState& log) {
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    for (CutLogState* state : {&stored_, &made_}) state->shards[s].folded = log.shards[s].folded;
  }
}

Coordinator::Actions Coordinator::cuts_after(const CutsAfter& asked) {
  Actions actions;
  if (ended_) return actions;
  actions.read.push_back({asked.from, asked.after});
  // It is there, and has not said how far its disk is, though it was asked: that may have been lost.
  const auto member = members_.find(asked.from.node);
  if (member == members_.end() || member->second.process != asked.from) return actions;
  if (std::exchange(member->second.asked, false)) {
    replace_writers(actions);
  } else if (without_candidate_) {
    // Who lacked something when it was asked may have been given it since.
    for (auto& lost_at : writer_lost_at_)
      if (lost_at != 0) lost_at = ++now_;
    replace_writers(actions);
    make_cut(actions);
  }
  return actions;
}

Cuts Coordinator::cuts_message(const Actions::Asked& asked, sharding::CutsFound found) const {
  // What a newer coordinator put is for that one to send; without the cuts it folded, the rest would have holes.
  if (std::erase_if(found.cuts, [&](const Cut& cut) { return cut.number > stored_.last_cut; }) != 0) found.more = false;
  if (found.folded && found.folded->last_cut > stored_.last_cut) found = {};
  return {asked.by, asked.after, std::move(found), ordering_.window_from(), digests_wanted(), identity()};
}

sharding::ShardMap Coordinator::map() const {
  sharding::ShardMap map(static_cast<std::uint32_t>(owners_.size()));
  for (std::size_t s = 0; s != stored_.shards.size(); ++s) {
    const auto& shard = stored_.shards[s];
    if (shard.node == 0) continue;
    const auto member = members_.find(shard.node);
    const auto assigned = map.assign(ShardId{static_cast<std::uint16_t>(s)},
                                     {shard.node, member == members_.end() ? "" : member->second.address, shard.epoch});
    EVERSHARD_CHECK(assigned.has_value(), "an owned shard was opened");
  }
  return map;
}

Members Coordinator::membership() const {
  std::map<std::uint32_t, ClusterView::Node> nodes;
  for (const Owner& owner : owners_) {
    if (owner.node != 0) nodes[owner.node].node = owner.node;
  }
  for (const auto& [number, member] : members_)
    nodes[number] = {number, member.address, member.door,    member.here,
                     {},     member.version, member.gateway, member.kurrent_door};
  Members members{stored_.epoch, {}, {}, naming_};
  for (auto& [number, node] : nodes) members.nodes.push_back(std::move(node));
  for (const auto& [number, member] : members_)
    if (member.process.incarnation != 0) members.processes.push_back(member.process);
  return members;
}

Result<void> Coordinator::may_assign(ShardId shard, std::uint32_t node) const {
  if (ended_) return refuse(ErrorCode::unavailable, "this coordinator has stepped down: " + ended_->what);
  if (shard.value >= owners_.size())
    return refuse(ErrorCode::not_found,
                  "there is no " + text_of(shard) + " in a cluster of " + std::to_string(owners_.size()) + " shards");
  const auto found = members_.find(node);
  if (found == members_.end() || !found->second.here)
    return refuse(ErrorCode::not_found, text_of(node) + " is not here");
  if (found->second.gateway)
    return refuse(ErrorCode::invalid_argument, text_of(node) + " is a gateway: it takes no shards");
  if (const auto& set = made_.shards[shard.value].replicas; !set.nodes.empty() && !set.has(node))
    return refuse(ErrorCode::invalid_argument, text_of(node) + " does not keep " + text_of(shard));
  const Owner& owner = owners_[shard.value];
  if (writer_is_fit(shard) && (owner.node == node || !made_.shards[shard.value].replicas.has(node)))
    return refuse(ErrorCode::invalid_argument,
                  text_of(shard) + " is of " + text_of(owner.node) + ", which is here and has it");
  return {};
}

// Every replica would wait for what is given up before it applies a cut behind it.
Result<void> Coordinator::may_lose(ShardId shard, std::uint32_t node, const Loss& lost) const {
  const auto& set = made_.shards[shard.value].replicas;
  if (set.nodes.size() < 2) return {};
  std::string others;
  for (const auto other : set.nodes)
    if (other != node) others += (others.empty() ? "node " : " or node ") + std::to_string(other);
  return refuse(ErrorCode::corruption,
                text_of(lost) + " of " + text_of(shard) + " would be lost on " + text_of(node) +
                    ", and it has replicas: no loss is accepted there. Start " + others +
                    " on the disk that it had, or on a backup of it; or make a new cluster of a backup (evershard "
                    "cluster restore)");
}

Result<AssignOutcome> Coordinator::assign(const ShardAssignment& wanted) {
  if (wanted.sets != ShardAssignment::Sets::none) return place(wanted);
  if (wanted.drain || wanted.balance) return spread(wanted);
  if (wanted.shards.empty()) return refuse(ErrorCode::invalid_argument, "no shard is named");
  AssignOutcome outcome;
  std::map<ShardId, std::optional<Loss>> losses;
  std::vector<ShardId> handed_over;
  for (const ShardId shard : wanted.shards) {
    EVERSHARD_TRY(may_assign(shard, wanted.node));
    if (writer_is_fit(shard)) {  // nothing is lost: it is handed over
      handed_over.push_back(shard);
      continue;
    }
    const auto lost = loss(shard, told(members_.at(wanted.node), shard));
    if (!losses.emplace(shard, lost).second)
      return refuse(ErrorCode::invalid_argument, text_of(shard) + " is named twice");
    if (lost) EVERSHARD_TRY(may_lose(shard, wanted.node, *lost));
    if (lost) outcome.answer.losses.push_back({shard, lost->from, lost->until, lost->unordered});
  }
  const auto by_shard = [](std::vector<ShardLoss> of) {
    std::ranges::sort(of, {}, &ShardLoss::shard);
    return of;
  };
  if (by_shard(outcome.answer.losses) != by_shard(wanted.accepted)) return outcome;
  for (const ShardId shard : handed_over)
    begin_hand_over(shard, wanted.node, ClusterChange::Cause::assigned, outcome.actions);
  for (const auto& [shard, lost] : losses) EVERSHARD_TRY(give(shard, wanted.node, lost, outcome.actions));
  const auto before = made_.last_cut;
  make_cut(outcome.actions);
  if (!losses.empty()) outcome.stands_with = before + 1;  // what is under way was made without it
  outcome.answer.done = true;
  return outcome;
}

std::string Coordinator::without_quorum(ShardId shard) const {
  const auto& set = stored_.shards[shard.value].replicas;
  const auto counts = counting(shard, set);
  std::size_t here = 0;
  std::string away, learning;
  for (const auto node : set.nodes) {
    const auto member = members_.find(node);
    if (!counts.has(node)) {
      learning += (learning.empty() ? "node " : ", node ") + std::to_string(node);
    } else if (member != members_.end() && member->second.here) {
      ++here;
    } else {
      away += (away.empty() ? "start node " : ", or node ") + std::to_string(node);
    }
  }
  if (set.nodes.size() < 2 || here >= set.quorum) return {};
  if (!learning.empty()) away += (away.empty() ? "wait for " : ", or wait for ") + learning + ", which learns it again";
  return std::to_string(here) + " of its " + std::to_string(set.nodes.size()) + " replicas are up, appends need " +
         std::to_string(set.quorum) + ": " + away;
}

bool Coordinator::has_quorums() const {
  std::size_t replicated = 0, with_quorum = 0;
  for (const auto& shard : stored_.shards) {
    if (shard.replicas.nodes.size() < 2) continue;
    ++replicated;
    const auto here = std::ranges::count_if(shard.replicas.nodes, [&](std::uint32_t node) {
      const auto member = members_.find(node);
      return member != members_.end() && member->second.here;
    });
    with_quorum += static_cast<std::size_t>(here) >= shard.replicas.quorum ? 1 : 0;
  }
  return 2 * with_quorum >= replicated;
}

ClusterStatus Coordinator::status() const {
  ClusterStatus status;
  status.coordinator = stored_.epoch;
  status.last_cut = stored_.last_cut;
  status.watermark = stored_.watermark;
  auto known = membership();
  std::vector<sharding::ReplicaSet> sets;
  for (std::size_t s = 0; s != stored_.shards.size(); ++s)
    sets.push_back(counting(ShardId{static_cast<std::uint16_t>(s)}, stored_.shards[s].replicas));
  for (auto& node : known.nodes) {
    ClusterStatus::Node shown{std::move(node), 0, {}, 0, 0};
    for (std::size_t s = 0; s != stored_.shards.size(); ++s) {
      shown.replicas += sets[s].has(shown.is.node) ? 1 : 0;
      if (!sets[s].learns(shown.is.node)) continue;
      ++shown.learns;
      shown.learn_events += stored_.shards[s].next - ShardOffset{1};
    }
    shown.shards = static_cast<std::uint32_t>(std::ranges::count(owners_, shown.is.node, &Owner::node));
    if (const auto member = members_.find(shown.is.node); member != members_.end()) {
      shown.applied = member->second.applied;
      shown.behind = member->second.here ? member->second.behind : stored_.last_cut - member->second.applied;
      shown.refused = static_cast<std::uint32_t>(member->second.refused.size());
      shown.learned_events = member->second.learned;
      shown.zone = member->second.zone;
      shown.full = member->second.full;
    }
    status.nodes.push_back(std::move(shown));
  }
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto& log = stored_.shards[s];
    ClusterStatus::Shard shown;
    shown.node = owners_[s].node;
    shown.epoch = owners_[s].epoch;
    shown.durable = reported_until(shard);
    shown.ordered = log.next;
    shown.last_position = log.last_position;
    const auto& set = sets[s];
    shown.quorum = set.quorum;
    shown.replicas = set.nodes;
    for (const auto node : set.all())
      if (!set.has(node)) shown.learners.push_back(node);
    if (const auto owner = members_.find(shown.node); owner != members_.end()) {
      const auto refused = owner->second.refused.find(shard);
      shown.open = owner->second.here && refused == owner->second.refused.end();
      if (refused != owner->second.refused.end()) shown.trouble = refused->second.what;
    }
    const auto too_few = without_quorum(shard);
    shown.without_quorum = !too_few.empty();
    if (shown.without_quorum) shown.trouble += (shown.trouble.empty() ? "" : "; ") + too_few;
    status.shards.push_back(std::move(shown));
  }
  return status;
}

Result<Coordinator::Actions> Coordinator::assign(ShardId shard, std::uint32_t node, std::optional<Loss> accepted) {
  EVERSHARD_TRY(may_assign(shard, node));
  if (writer_is_fit(shard)) return hand_over(shard, node);
  const auto lost = loss(shard, told(members_.at(node), shard));
  if (lost) EVERSHARD_TRY(may_lose(shard, node, *lost));
  if (lost != accepted) {
    if (!lost)
      return refuse(ErrorCode::corruption, "nothing of " + text_of(shard) + " would be lost on " + text_of(node) +
                                               ", but a loss was accepted: look again");
    return refuse(ErrorCode::corruption,
                  text_of(*lost) + " of " + text_of(shard) + " would be lost on " + text_of(node) +
                      (accepted ? "; accepted were " + text_of(*accepted) : ": accept that by name"));
  }
  Actions actions;
  EVERSHARD_TRY(give(shard, node, lost, actions));
  make_cut(actions);
  return actions;
}

Result<void> Coordinator::give(ShardId shard, std::uint32_t node, const std::optional<Loss>& lost, Actions& actions) {
  Member& member = members_.at(node);
  actions.stops.push_back({shard, ClusterChange::Cause::assigned});
  const auto owning = members_.find(owners_[shard.value].node);
  if (lost) {
    const auto opening = ordering_.open_losing(shard, node, lost->from);
    if (!opening) return refuse(opening.error());
    made_.shards[shard.value].follow(
        *opening);  // while a put is under way its cut is still to be made: who says hello by then is to hear of it
    actions.warnings.emplace_back(ErrorCode::corruption, text_of(*lost) + " of " + text_of(shard) +
                                                             " are lost, as an operator accepted; it goes on at " +
                                                             text_of(node));
    opened(member, shard, opening->epoch, actions);
  } else {
    const auto epoch = ordering_.open(shard, node, told(member, shard).tail);
    if (!epoch) return refuse(epoch.error());
    opened(member, shard, *epoch, actions);
  }
  if (owning != members_.end()) owning->second.refused.erase(shard);
  return {};
}

}  // namespace evershard::cluster
