#include "tests/property/local_model.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "evershard/sharding/stream_hash.hpp"

namespace evershard::model {
namespace {

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

template <class T>
std::vector<T> as_set(const std::vector<T>& values) {
  const std::set<T> unique(values.begin(), values.end());
  return {unique.begin(), unique.end()};
}

bool matches(const QueryItem& item, const RecordedEvent& event) {
  if (!item.types.empty() && !contains(item.types, event.type)) return false;
  for (const auto& tag : item.tags) {
    if (!contains(event.tags, tag)) return false;
  }
  for (const auto& aggregate : item.concerning) {
    if (event.aggregate != aggregate && !contains(event.also, aggregate)) return false;
  }
  return true;
}

void limit(std::vector<RecordedEvent>& events, Direction direction, std::optional<std::uint64_t> most) {
  if (direction == Direction::backwards) std::reverse(events.begin(), events.end());
  if (most && *most < events.size()) events.resize(*most);
}

}  // namespace

bool matches(const Query& query, const RecordedEvent& event) {
  if (query.is_all()) return true;
  return std::any_of(query.items().begin(), query.items().end(),
                     [&](const QueryItem& item) { return matches(item, event); });
}

std::string difference(const RecordedEvent& a, const RecordedEvent& b) {
  std::string fields;
  const auto compare = [&](const char* name, const auto& x, const auto& y) {
    if (!(x == y)) fields += std::string(fields.empty() ? "" : ", ") + name;
  };
  compare("position", a.position, b.position);
  compare("shard", a.shard, b.shard);
  compare("offset", a.offset, b.offset);
  compare("id", a.id, b.id);
  compare("aggregate", a.aggregate, b.aggregate);
  compare("seq_nr", a.seq_nr, b.seq_nr);
  compare("type", a.type, b.type);
  compare("tags", a.tags, b.tags);
  compare("also", a.also, b.also);
  compare("payload", a.payload, b.payload);
  compare("format", a.format, b.format);
  compare("metadata", a.metadata, b.metadata);
  compare("occurred_at", a.occurred_at, b.occurred_at);
  compare("state", a.state, b.state);
  compare("append_index", a.append_index, b.append_index);
  compare("append_events", a.append_events, b.append_events);
  if (fields.empty() && !(a == b)) fields = "another";
  return fields;
}

Answer LocalModel::append(const Append& append) {
  auto events = append.events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].tags = as_set(events[i].tags);
    events[i].also = as_set(events[i].also);
    if (append.request_id && !events[i].id.given())
      events[i].id = EventId::derived(*append.request_id, static_cast<std::uint32_t>(i));
  }
  if (auto known = find_request(append.request_id, events)) return *known;

  Answer answer;
  for (const auto& expectation : append.expectations) {
    const auto actual = version_of(expectation.aggregate);
    if (expectation.version.holds_for(actual)) continue;
    ErrorDetails details;
    details.aggregate = expectation.aggregate;
    details.expected = expectation.version;
    details.actual = actual;
    answer.refusals.emplace_back(ErrorCode::version_conflict, "", std::move(details));
  }
  for (std::size_t i = 0; i < append.conditions.size(); ++i) {
    const auto conflicts = read(append.conditions[i].query, {.after = append.conditions[i].after, .limit = 1});
    if (conflicts.empty()) continue;
    ErrorDetails details;
    details.condition = static_cast<std::uint32_t>(i);
    details.position = conflicts[0].position;
    answer.refusals.emplace_back(ErrorCode::condition_failed, "", std::move(details));
  }
  if (!answer.refusals.empty()) return answer;

  Appended done;
  done.first_position = head() + 1;
  const auto request = requests_.size();
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    RecordedEvent recorded;
    recorded.position = head() + 1;
    recorded.id = event.id;
    recorded.aggregate = event.aggregate;
    recorded.type = event.type;
    recorded.tags = event.tags;
    recorded.also = event.also;
    recorded.payload = event.payload;
    recorded.format = event.format;
    recorded.metadata = event.metadata;
    recorded.occurred_at = event.occurred_at.value_or(Timestamp::first());
    recorded.append_index = static_cast<std::uint32_t>(i);
    recorded.append_events = static_cast<std::uint32_t>(events.size());
    if (event.aggregate) {
      recorded.seq_nr = version_of(*event.aggregate) + 1;
      const auto named = std::find_if(done.versions.begin(), done.versions.end(),
                                      [&](const auto& v) { return v.aggregate == *event.aggregate; });
      if (named == done.versions.end())
        done.versions.push_back({*event.aggregate, recorded.seq_nr});
      else
        named->version = recorded.seq_nr;
    }
    recorded.shard = shard_of(event, events[0].id);
    if (event.id.given()) ids_[event.id] = {request, i, recorded.position};
    events_.push_back(std::move(recorded));
  }
  done.last_position = head();
  for (auto snapshot : append.snapshots) {
    snapshot.version = version_of(snapshot.aggregate);
    write(std::move(snapshot));
  }
  if (append.request_id) names_[*append.request_id] = request;
  requests_.push_back({std::move(events), done});
  answer.accepted = done;
  return answer;
}

bool LocalModel::made_anew(const Request& request, const std::vector<Event>& events) const {
  bool same = request.events.size() == events.size();
  for (std::size_t i = 0; same && i < events.size(); ++i) {
    auto made = request.events[i], again = events[i];
    made.id = again.id;
    made.occurred_at = again.occurred_at;
    same = made == again && events_[request.answer.first_position.value - 1 + i].state == EventState::live;
  }
  return same;
}

std::optional<Answer> LocalModel::find_request(const std::optional<RequestId>& name,
                                               const std::vector<Event>& events) const {
  std::vector<Known> known;
  for (const auto& event : events) {
    const auto found = ids_.find(event.id);
    if (found != ids_.end()) known.push_back(found->second);
  }
  const auto named = name ? names_.find(*name) : names_.end();
  if (known.empty() && named == names_.end()) return std::nullopt;

  Answer answer;
  if (named != names_.end()) {
    const auto& request = requests_[named->second];
    if (request.events == events || made_anew(request, events)) {
      answer.accepted = request.answer;
      answer.accepted->duplicate = true;
    } else {
      ErrorDetails details;
      details.position = request.answer.first_position;
      answer.refusals.emplace_back(ErrorCode::duplicate_event, "", std::move(details));
    }
    return answer;
  }
  const auto& request = requests_[known[0].request];
  bool same = known.size() == events.size() && request.events == events;
  for (std::size_t i = 0; i < known.size(); ++i)
    same = same && known[i].request == known[0].request && known[i].index == i;
  if (same) {
    answer.accepted = request.answer;
    answer.accepted->duplicate = true;
    return answer;
  }
  for (const auto& one : known) {
    ErrorDetails details;
    details.position = one.position;
    answer.refusals.emplace_back(ErrorCode::duplicate_event, "", std::move(details));
  }
  return answer;
}

std::string LocalModel::learn(const RecordedEvent& event) {
  auto& mine = events_.at(event.position.value - 1);
  if (!mine.id.given()) mine.id = event.id;
  if (mine.occurred_at == Timestamp::first()) mine.occurred_at = event.occurred_at;
  if (!mine.aggregate) mine.shard = event.shard;  // by the id of its append's first event, which may be the store's
  mine.offset = event.offset;
  return difference(mine, event);
}

std::vector<RecordedEvent> LocalModel::read(const Query& query, const ReadOptions& options) const {
  const bool forwards = options.direction == Direction::forwards;
  const auto from = options.per_aggregate_from;
  std::vector<RecordedEvent> found;
  for (const auto& event : events_) {
    if (event.position <= (forwards && from ? *from : options.after)) continue;
    if (const auto before = !forwards && from ? from : options.before; before && event.position >= *before) continue;
    if (options.up_to && event.position > *options.up_to) continue;
    if (matches(query, event)) found.push_back(event);
  }
  limit(found, options.direction, {});
  if (options.per_aggregate) {
    std::map<AggregateId, std::uint64_t> counts;
    std::erase_if(found, [&](const RecordedEvent& event) {
      const bool over = event.aggregate && ++counts[*event.aggregate] > *options.per_aggregate;
      return over || event.position <= options.after || (options.before && event.position >= *options.before);
    });
  }
  if (options.limit && *options.limit < found.size()) found.resize(*options.limit);
  return found;
}

std::vector<RecordedEvent> LocalModel::read(const AggregateId& aggregate, const StreamOptions& options) const {
  std::vector<RecordedEvent> found;
  for (const auto& event : events_) {
    if (event.aggregate != aggregate) continue;
    if (options.up_to && event.position > *options.up_to) continue;
    if (options.from &&
        (options.direction == Direction::forwards ? event.seq_nr < *options.from : event.seq_nr > *options.from))
      continue;
    found.push_back(event);
  }
  limit(found, options.direction, options.limit);
  return found;
}

AggregateInfo LocalModel::aggregate(const AggregateId& aggregate, GlobalPosition up_to) const {
  AggregateInfo info{aggregate, SeqNr{0}, GlobalPosition{0},
                     sharding::shard_of(sharding::stream_hash(aggregate), shards_)};
  for (const auto& event : events_) {
    if (event.position > up_to || event.aggregate != aggregate) continue;
    ++info.version;
    info.last_position = event.position;
  }
  return info;
}

std::vector<AggregateInfo> LocalModel::aggregates(const std::optional<std::string>& type,
                                                  const std::optional<AggregateId>& after, std::size_t most) const {
  std::set<AggregateId> ids;
  for (const auto& event : events_) {
    if (!event.aggregate || (type && event.aggregate->type != *type) || (after && *event.aggregate <= *after)) continue;
    ids.insert(*event.aggregate);
  }
  std::vector<AggregateInfo> infos;
  for (const auto& id : ids) {
    if (infos.size() < most && !hidden(id, head())) infos.push_back(aggregate(id, head()));
  }
  return infos;
}

void LocalModel::remove(const AggregateId& aggregate, SeqNr before, bool whole) {
  for (auto& event : events_) {
    if (event.aggregate != aggregate || event.seq_nr >= before) continue;
    event.state = EventState::removed;
    event.type.clear();
    event.tags.clear();
    event.also.clear();
    event.payload.clear();
    event.format = PayloadFormat::unspecified;
    event.metadata.reset();
    event.occurred_at = {};
  }
  gone_[aggregate] = {before, whole};
  if (whole) {
    snapshots_.erase(aggregate);
  } else if (const auto slots = snapshots_.find(aggregate); slots != snapshots_.end()) {
    std::erase_if(slots->second.retained, [&](const auto& copy) { return copy.first + 1 < before; });
  }
}

SeqNr LocalModel::gone_before(const AggregateId& aggregate) const {
  const auto gone = gone_.find(aggregate);
  return gone == gone_.end() ? SeqNr{1} : gone->second.first;
}

bool LocalModel::hidden(const AggregateId& aggregate, GlobalPosition up_to) const {
  bool is = false;
  for (const auto& event : events_) {
    if (event.position <= up_to && event.aggregate == aggregate) is = event.type == "$AggregateRemoved";
  }
  return is;
}

bool LocalModel::put_snapshot(const Snapshot& snapshot) {
  if (snapshot.version.value == 0 || snapshot.version > version_of(snapshot.aggregate)) return false;
  const auto gone = gone_.find(snapshot.aggregate);
  if (gone != gone_.end() && snapshot.version + (gone->second.second ? 0 : 1) < gone->second.first) return false;
  write(snapshot);
  return true;
}

void LocalModel::write(Snapshot snapshot) {
  auto& slots = snapshots_[snapshot.aggregate];
  if (!slots.latest || slots.latest->version <= snapshot.version) slots.latest = snapshot;
  if (!snapshot.keep) return;
  if (*snapshot.keep > 0) slots.retained[snapshot.version] = snapshot;
  while (slots.retained.size() > *snapshot.keep) slots.retained.erase(slots.retained.begin());
}

std::optional<Snapshot> LocalModel::latest(const AggregateId& aggregate) const {
  const auto found = snapshots_.find(aggregate);
  return found == snapshots_.end() ? std::nullopt : found->second.latest;
}

std::optional<Snapshot> LocalModel::snapshot_at(const AggregateId& aggregate, SeqNr version) const {
  std::optional<Snapshot> best;
  for (const auto& snapshot : snapshots(aggregate)) {
    if (snapshot.version <= version && (!best || best->version < snapshot.version)) best = snapshot;
  }
  return best;
}

std::optional<Snapshot> LocalModel::snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) const {
  return snapshot_at(aggregate, this->aggregate(aggregate, up_to).version);
}

std::vector<Snapshot> LocalModel::snapshots(const AggregateId& aggregate) const {
  std::vector<Snapshot> all;
  const auto found = snapshots_.find(aggregate);
  if (found == snapshots_.end()) return all;
  const auto& [latest, retained] = found->second;
  all.push_back(*latest);
  for (auto copy = retained.rbegin(); copy != retained.rend(); ++copy) {
    if (!latest->keep || all.size() <= *latest->keep) all.push_back(copy->second);  // the latest says how many count
  }
  return all;
}

ShardId LocalModel::shard_of(const Event& event, const EventId& first_id) const {
  return sharding::shard_of(event.aggregate ? sharding::stream_hash(*event.aggregate) : sharding::event_hash(first_id),
                            shards_);
}

SeqNr LocalModel::version_of(const AggregateId& aggregate) const { return this->aggregate(aggregate, head()).version; }

}  // namespace evershard::model
