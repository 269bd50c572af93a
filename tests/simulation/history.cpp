#include "tests/simulation/history.hpp"

#include <algorithm>

namespace evershard::simulation {
namespace {

std::string number(auto value) { return std::to_string(value.value); }

}  // namespace

std::set<ShardId> Request::shards() const {
  std::set<ShardId> shards;
  for (const Event& event : events) shards.insert(event.shard);
  return shards;
}

std::vector<Request::Expected> Request::expectations() const {
  auto all = expected;
  if (!snapshot || !snapshot->named) return all;
  const auto own = static_cast<std::uint64_t>(std::ranges::count_if(events, [&](const Event& event) {
    return event.shard == snapshot->shard && event.aggregate == snapshot->aggregate;
  }));
  all.push_back(
      {snapshot->shard, snapshot->aggregate, ExpectedVersion::exactly(SeqNr{snapshot->of.version.value - own})});
  return all;
}

AppendId History::add(Request request) {
  request.floor = known_;
  requests_.push_back(std::move(request));
  return requests_.size() - 1;
}

void History::written(ShardId shard, Epoch epoch, ShardOffset offset, EventAt event) {
  shards_.at(shard.value).written[epoch][offset] = {event, false};
}

void History::synced(ShardId shard, Epoch epoch, ShardOffset offset) {
  auto& written = shards_.at(shard.value).written[epoch];
  if (const auto at = written.find(offset); at != written.end()) at->second.synced = true;
}

void History::stored(const sharding::Cut& cut) {
  if (cut.number != last_cut_ + 1)
    throw Broken("I-Dense", "cut " + number(cut.number) + " was stored after cut " + number(last_cut_));
  if (cut.first_position != watermark() + 1)
    throw Broken("I-Dense", "cut " + number(cut.number) + " begins at position " + number(cut.first_position) +
                                " after " + number(watermark()));
  last_cut_ = cut.number;
  for (const auto& opening : cut.openings) {
    Shard& shard = shards_.at(opening.shard.value);
    if (opening.epoch <= shard.epoch)
      throw Broken("I-SingleWriter",
                   "shard " + number(opening.shard) + " was opened twice under epoch " + number(opening.epoch));
    shard.epoch = opening.epoch;
    if (!opening.loses()) continue;
    shard.lost.emplace_back(opening.lost_from, opening.lost_until), ++losses;
    for (auto& placed : sequence_)
      if (placed.shard == opening.shard && placed.offset >= opening.lost_from && !placed.lost_at)
        placed.lost_at = watermark();
  }
  std::map<AppendId, std::size_t> placed;
  std::set<AppendId> refused;
  for (const auto& segment : cut.segments) {
    Shard& shard = shards_.at(segment.shard.value);
    if (segment.epoch != shard.epoch)
      throw Broken("I-SingleWriter", "cut " + number(cut.number) + " names shard " + number(segment.shard) +
                                         " under epoch " + number(segment.epoch));
    if (segment.first != shard.next)
      throw Broken("I-Dense", "cut " + number(cut.number) + " covers shard " + number(segment.shard) + " from offset " +
                                  number(segment.first));
    for (ShardOffset offset = segment.first; offset < segment.end; ++offset) {
      const auto& written = shard.written[segment.epoch];
      const auto at = written.find(offset);
      if (at == written.end() || !at->second.synced)
        throw Broken("I-Durable", "cut " + number(cut.number) + " covers offset " + number(offset) + " of shard " +
                                      number(segment.shard) + ", which is not durable under epoch " +
                                      number(segment.epoch));
      shard.covered[offset] = at->second.event;
      if (std::ranges::count(segment.refused, offset) == 0) {
        place(segment, offset, cut.number, placed);
      } else {
        refused.insert(at->second.event.append);
      }
    }
    shard.next = segment.end;
  }
  for (const auto& [id, events] : placed) {
    if (events != requests_[id].events.size())
      throw Broken("I-Atomic", "append " + std::to_string(id) + " is placed in part by cut " + number(cut.number));
    if (refused.contains(id))
      throw Broken("I-Atomic", "append " + std::to_string(id) + " is placed and refused by cut " + number(cut.number));
    placed_over_several += requests_[id].shards().size() > 1;
    placed_conditional += !requests_[id].conditions.empty();
    const auto& taken = requests_[id].snapshot;
    if (!taken) continue;
    ++snapshots;
    if (const Fold of = folded(taken->shard, taken->aggregate, first_position_.at(id) + (events - 1), watermark());
        of != taken->of)
      throw Broken("I-Snapshot", "append " + std::to_string(id) + " is placed by cut " + number(cut.number) +
                                     " with a snapshot of version " + number(taken->of.version) +
                                     ", its aggregate has version " + number(of.version) +
                                     (of.version == taken->of.version ? " and another state" : ""));
  }
  for (const AppendId id : refused) {
    refused_conditional += !requests_[id].conditions.empty();
    twins_refused += requests_[id].twin.has_value();
    if (requests_[id].conditions.empty() && requests_[id].expected.empty() && requests_[id].shards().size() == 1 &&
        !undecided_.contains(id))
      throw Broken("I-Live", "plain append " + std::to_string(id) + " was refused");
  }
}

void History::place(const sharding::Segment& segment, ShardOffset offset, CutNumber cut,
                    std::map<AppendId, std::size_t>& placed) {
  const EventAt event = shards_[segment.shard.value].written[segment.epoch].at(offset).event;
  const std::size_t events = placed[event.append]++;
  sequence_.push_back({event, segment.shard, offset, {}});
  const GlobalPosition position = watermark();
  if (events == 0) {
    // What was given up nobody knows of any more: a request for it that comes late is done anew.
    if (const auto before = first_position_.find(event.append);
        before != first_position_.end() && !given_up(before->second, requests_[event.append].events.size()))
      throw Broken("I-Once", "append " + std::to_string(event.append) + " is placed again by cut " + number(cut));
    first_position_[event.append] = position;
    if (const auto& content = requests_[event.append].content; content && content->append.command) {
      const auto& command = *content->append.command;
      const auto [first, added] = commands_.emplace(std::pair(command.aggregate, command.id), event.append);
      if (!added)
        throw Broken("I-Once", "command " + command.id + " of " + command.aggregate.text() +
                                   " takes effect by append " + std::to_string(first->second) + " and by append " +
                                   std::to_string(event.append));
    }
    judge(event.append);
    if (!requests_[event.append].durable) {  // who asks for the sync alone is not judged by ids
      const auto [one, added] = of_ids_.emplace(requests_[event.append].twin.value_or(event.append), event.append);
      const auto other = one->second;
      if (!added && other != event.append && !given_up(first_position_.at(other), requests_[other].events.size()))
        throw Broken("I-Once", "append " + std::to_string(event.append) + " is placed by cut " + number(cut) +
                                   " with the ids of append " + std::to_string(other));
      one->second = event.append;
    }
  }
  if (event.event != events || first_position_[event.append] + events != position)
    throw Broken("I-Together", "event " + std::to_string(event.event) + " of append " + std::to_string(event.append) +
                                   " stands at position " + number(position));
}

void History::judge(AppendId id) const {
  const Request& request = requests_[id];
  const GlobalPosition place = first_position_.at(id);
  if (place <= request.floor)
    throw Broken("I-RealTime", "append " + std::to_string(id) + " stands at position " + number(place) + ", position " +
                                   number(request.floor) + " was known before it was sent");
  for (const auto& expected : request.expectations()) {
    const auto actual = version(expected.shard, expected.aggregate, place - 1);
    if (expected.version.holds_for(actual)) continue;
    // Of an aggregate that it does not write to a loss is no event: nothing orders the two.
    const bool written =
        std::ranges::any_of(request.events, [&](const auto& event) { return event.shard == expected.shard; });
    if (!written && any_lost(expected.shard)) continue;
    throw Broken("I-Version", "append " + std::to_string(id) + " at position " + number(place) + " expects version " +
                                  expected.version.text() + " of an aggregate that has version " + number(actual));
  }
  for (const auto& condition : request.conditions) {
    for (GlobalPosition at = condition.from + 1; at < place; ++at) {
      const Placed& before = sequence_[at.value - 1];
      const auto& terms = requests_[before.event.append].events[before.event.event].terms;
      if (std::ranges::count(terms, condition.query.items[0].all[0]) != 0)
        throw Broken("I-Condition", "append " + std::to_string(id) + " at position " + number(place) +
                                        " forbids what stands at position " + number(at) + ", after " +
                                        number(condition.from));
    }
  }
}

SeqNr History::version(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to,
                       GlobalPosition losses_up_to) const {
  std::uint64_t version = 0;
  for (std::uint64_t p = 0; p != up_to.value; ++p) {
    if (sequence_[p].lost_at && *sequence_[p].lost_at <= losses_up_to) continue;
    const auto& event = requests_[sequence_[p].event.append].events[sequence_[p].event.event];
    version += event.shard == shard && event.aggregate == aggregate;
  }
  return SeqNr{version};
}

Fold History::folded(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to, GlobalPosition losses_up_to,
                     SeqNr version_max) const {
  Fold fold;
  for (std::uint64_t p = 0; p != up_to.value && fold.version < version_max; ++p) {
    const Placed& placed = sequence_[p];
    if (placed.shard != shard || (placed.lost_at && *placed.lost_at <= losses_up_to)) continue;
    if (requests_[placed.event.append].events[placed.event.event].aggregate == aggregate)
      fold.take(placed.event.append, placed.event.event);
  }
  return fold;
}

SeqNr History::snapshot_version(ShardId shard, std::uint32_t aggregate, GlobalPosition up_to,
                                const std::function<bool(GlobalPosition)>& there) const {
  SeqNr newest;
  for (GlobalPosition at{1}; at <= up_to; ++at) {
    const Placed& placed = sequence_[at.value - 1];
    const auto& taken = requests_[placed.event.append].snapshot;
    if (placed.shard == shard && taken && taken->shard == shard && taken->aggregate == aggregate && !placed.lost_at &&
        there(at))
      newest = std::max(newest, taken->of.version);
  }
  return newest;
}

std::optional<GlobalPosition> History::first_match(sharding::Term term, GlobalPosition after,
                                                   GlobalPosition up_to) const {
  for (GlobalPosition at = after + 1; at <= up_to; ++at) {
    const Placed& placed = sequence_[at.value - 1];
    if (std::ranges::count(requests_[placed.event.append].events[placed.event.event].terms, term) != 0) return at;
  }
  return std::nullopt;
}

std::optional<AppendId> History::command(const CommandRecord& command, GlobalPosition up_to) const {
  const auto found = commands_.find({command.aggregate, command.id});
  if (found == commands_.end() || first_position_.at(found->second) > up_to) return std::nullopt;
  return found->second;
}

std::optional<Appended> History::find(AppendId id, GlobalPosition up_to) const {
  const auto at = first_position_.find(id);
  if (at == first_position_.end() || at->second > up_to) return std::nullopt;
  const Request& request = requests_[id];
  Appended answer{at->second, at->second + (request.events.size() - 1), {}, false};
  for (const auto& event : request.events) {
    if (!event.aggregate) continue;
    AggregateVersion version{{"on" + std::to_string(event.shard.value), std::to_string(*event.aggregate)},
                             this->version(event.shard, *event.aggregate, answer.last_position,
                                           at->second - 1)};  // a loss behind it is none of its
    if (std::ranges::find(answer.versions, version) == answer.versions.end())
      answer.versions.push_back(std::move(version));
  }
  return answer;
}

void History::acknowledged(AppendId id, const Appended& answer, const std::string& by) {
  acknowledged(id, answer.first_position, by);
  const auto right = *find(id, watermark());
  if (answer.last_position != right.last_position)
    throw Broken("I-Together",
                 by + " acknowledges append " + std::to_string(id) + " up to position " + number(answer.last_position));
  if (answer.versions != right.versions)
    throw Broken("I-Version", by + " acknowledges append " + std::to_string(id) +
                                  " with versions that its aggregates did not have then");
}

std::optional<AppendId> History::of_same_ids(AppendId id, GlobalPosition up_to) const {
  const auto one = of_ids_.find(requests_[id].twin.value_or(id));
  if (one == of_ids_.end() || first_position_.at(one->second) > up_to) return std::nullopt;
  if (given_up(first_position_.at(one->second), requests_[one->second].events.size())) return std::nullopt;
  return one->second;
}

void History::refused(AppendId id, const Error& error, GlobalPosition w, const std::string& by) const {
  const Request& request = requests_[id];
  const auto dishonest = [&](const std::string& why) {
    throw Broken("I-Honest", by + " refuses append " + std::to_string(id) + ": " + why);
  };
  const auto* content = request.content.get();
  if (error.code == ErrorCode::duplicate_event &&
      (content == nullptr || !content->append.command || !command(*content->append.command, w)) &&
      of_same_ids(id, w).value_or(id) == id)
    dishonest("its ids are nobody else's");
  if (error.code == ErrorCode::condition_failed) {
    const auto position = error.details ? error.details->position : std::nullopt;
    const auto which = error.details ? error.details->condition : std::nullopt;
    if (!position || !which || *which >= request.conditions.size()) return dishonest("it does not say because of what");
    const auto& condition = request.conditions[*which];
    if (*position > w) dishonest("because of position " + number(*position) + ", which cannot be read there yet");
    if (*position <= condition.from ||
        first_match(condition.query.items[0].all[0], *position - 1, *position) != position)
      dishonest("the event at position " + number(*position) + " does not match its condition");
  }
  if (error.code == ErrorCode::version_conflict) {
    if (!error.details || !error.details->aggregate || !error.details->actual)
      return dishonest("it does not say which version was found");
    const auto& text = *error.details->aggregate;
    const ShardId shard{static_cast<std::uint16_t>(std::stoul(text.type.substr(2)))};
    const auto aggregate = static_cast<std::uint32_t>(std::stoul(text.value));
    const auto actual = *error.details->actual;
    const auto all = request.expectations();
    const auto expected =
        std::ranges::find_if(all, [&](const auto& one) { return one.shard == shard && one.aggregate == aggregate; });
    if (expected == all.end()) return dishonest("it expects nothing of aggregate " + text.text());
    if (expected->version.holds_for(actual) && (content == nullptr || !content->chain.follows))
      dishonest("version " + number(actual) + " of aggregate " + text.text() + " is what it expects");
    if (any_lost(shard)) return;  // it may have had more, and less
    if (actual < version(shard, aggregate, request.floor))
      dishonest("aggregate " + text.text() + " was beyond version " + number(actual) + " before it was sent");
    if (actual > version(shard, aggregate, w))
      dishonest("version " + number(actual) + " of aggregate " + text.text() + " cannot be read there");
  }
}

bool History::given_up(GlobalPosition first, std::size_t events) const {
  const auto begin = sequence_.begin() + static_cast<std::ptrdiff_t>(first.value - 1);
  return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(events),
                     [](const auto& placed) { return placed.lost_at.has_value(); });
}

bool History::lost(ShardId shard, ShardOffset offset) const {
  return std::ranges::any_of(shards_.at(shard.value).lost,
                             [&](const auto& range) { return range.first <= offset && offset < range.second; });
}

void History::page(ShardId shard, GlobalPosition w, const std::map<GlobalPosition, EventAt>& answer,
                   const std::string& by) {
  ++pages;
  if (w > watermark())
    throw Broken("I-Dense",
                 by + " has watermark " + number(w) + ", the cuts give positions up to " + number(watermark()));
  for (const auto& [position, event] : answer) {
    if (position <= w && sequence_[position.value - 1].event != event)
      throw Broken("I-SingleWriter", by + " shows append " + std::to_string(event.append) + " at position " +
                                         number(position) + ", which is of append " +
                                         std::to_string(sequence_[position.value - 1].event.append));
    // Whoever has read on was told that it is gone.
    if (const auto& lost_at = sequence_[position.value - 1].lost_at; position <= w && lost_at && *lost_at < w)
      throw Broken("I-NoSkip", by + " shows position " + number(position) + " up to " + number(w) +
                                   ", which was given up when the watermark was " + number(*lost_at));
  }
  for (GlobalPosition at{1}; at <= w; ++at) {
    const Placed& placed = sequence_[at.value - 1];
    if (placed.shard == shard && !answer.contains(at) && !lost(shard, placed.offset))
      throw Broken("I-NoSkip", by + " answers a page of shard " + number(shard) + " up to " + number(w) +
                                   " without position " + number(at));
  }
  known(w);
}

void History::acknowledged(AppendId id, GlobalPosition first, const std::string& by) {
  const auto at = first_position_.find(id);
  if (at == first_position_.end())
    throw Broken("I-SingleWriter", by + " acknowledges append " + std::to_string(id) + " at position " + number(first) +
                                       ", no cut has it");
  if (at->second != first)
    throw Broken("I-Dense", by + " acknowledges append " + std::to_string(id) + " at position " + number(first) +
                                ", it stands at " + number(at->second));
  known(first + requests_[id].events.size() - 1);
}

}  // namespace evershard::simulation
