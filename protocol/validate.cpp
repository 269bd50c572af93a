#include "evershard/protocol/validate.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/sort_once_each.hpp"

namespace evershard {
namespace {

std::string number(std::size_t n) { return std::to_string(n); }

Result<void> at_most(const char* what, std::size_t value, const char* unit, std::size_t most) {
  if (value <= most) return {};
  return refuse(ErrorCode::too_large,
                std::string(what) + " has " + number(value) + " " + unit + ", the limit is " + number(most));
}

/// What conditions ask is looked up while others wait for the answer: they have together what one query may have.
Result<void> check_together(const std::vector<AppendCondition>& conditions) {
  const auto count = [&](auto&& query_of) {
    std::size_t items = 0, terms = 0;
    for (const auto& condition : conditions) {
      const Query& query = query_of(condition.query);
      items += query.items().size();
      for (const auto& item : query.items()) terms += item.types.size() + item.tags.size() + item.concerning.size();
    }
    return std::pair(items, terms);
  };
  auto [items, terms] = count([](const Query& query) -> const Query& { return query; });
  if (items <= query_items_max && terms <= query_terms_max) return {};
  Query once;
  std::tie(items, terms) = count([&](const Query& query) -> const Query& { return once = query.canonical(); });
  EVERSHARD_TRY(at_most("what all conditions ask together", items, "items", query_items_max));
  return at_most("what all conditions ask together", terms, "terms", query_terms_max);
}

/// Says where: `event 3: tag is empty`.
Result<void> in(const char* what, std::size_t index, Result<void> result) {
  if (!result) result.error().what = std::string(what) + " " + number(index) + ": " + result.error().what;
  return result;
}

/// How many different values there are; looks only where there are more than `most`.
template <class T>
Result<void> at_most_different(const char* what, const std::vector<T>& values, std::size_t most) {
  if (values.size() <= most) return {};
  std::vector<const T*> sorted;
  sorted.reserve(values.size());
  for (const auto& value : values) sorted.push_back(&value);
  std::sort(sorted.begin(), sorted.end(), [](const T* a, const T* b) { return *a < *b; });
  const auto end = std::unique(sorted.begin(), sorted.end(), [](const T* a, const T* b) { return *a == *b; });
  const auto different = static_cast<std::size_t>(end - sorted.begin());
  if (different <= most) return {};
  return refuse(ErrorCode::too_large,
                "the event has " + number(different) + " " + what + ", the limit is " + number(most));
}

Result<void> check_format(PayloadFormat format) {
  if (format <= PayloadFormat::encrypted || format >= PayloadFormat::user) return {};
  return refuse(ErrorCode::invalid_argument,
                "payload format " + std::to_string(static_cast<std::uint32_t>(format)) +
                    " is reserved: 0 to 4 have a meaning, from 1000 on they are the user's");
}

Result<void> check_time(Timestamp time) {
  if (time >= Timestamp::first() && time <= Timestamp::last()) return {};
  return refuse(ErrorCode::invalid_argument,
                "occurred_at " + std::to_string(time.micros) + " us is outside the years 0001 to 9999");
}

/// The first value, in order, that an earlier one equals; null: each is there once.
template <class T>
const T* repeated(std::vector<const T*> values) {
  if (values.size() < 2) return nullptr;
  std::sort(values.begin(), values.end(), [](const T* a, const T* b) { return *a < *b; });
  const auto found = std::adjacent_find(values.begin(), values.end(), [](const T* a, const T* b) { return *a == *b; });
  return found == values.end() ? nullptr : *found;
}

template <class Items, class Of>
Result<void> one_an_aggregate(const char* what, const Items& items, Of aggregate_of) {
  std::vector<const AggregateId*> aggregates;
  aggregates.reserve(items.size());
  for (const auto& item : items) aggregates.push_back(&aggregate_of(item));
  const AggregateId* twice = repeated(std::move(aggregates));
  if (twice == nullptr) return {};
  return refuse(ErrorCode::invalid_argument,
                "the append has more than one " + std::string(what) + " of aggregate " + in_quotes(twice->text()));
}

/// The aggregates an append writes to.
class Written {
 public:
  explicit Written(const Append& append) {
    for (const auto& event : append.events) {
      if (event.aggregate) sorted_.push_back(&*event.aggregate);
    }
    std::sort(sorted_.begin(), sorted_.end(), before);
  }
  [[nodiscard]] bool contains(const AggregateId& aggregate) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), &aggregate, before);
  }

 private:
  static bool before(const AggregateId* a, const AggregateId* b) { return *a < *b; }
  std::vector<const AggregateId*> sorted_;
};

/// What another store has no more: nothing is to be there that would be stored and never shown.
Result<void> check_gone(const Event& event) {
  const auto bad = [&](const char* what) {
    return refuse(
        ErrorCode::invalid_argument,
        std::string("the event is ") + (event.state == EventState::erased ? "erased" : "removed") + ", and " + what);
  };
  if (!event.id.given()) return bad("has no id");
  if (!event.payload.empty()) return bad("has a payload");
  if (!event.subject.empty()) return bad("has a subject");
  if (event.state == EventState::erased) return event.occurred_at ? Result<void>{} : bad("has no time");
  const bool bare = event.type.empty() && event.tags.empty() && event.also.empty() && !event.metadata &&
                    !event.occurred_at && event.format == PayloadFormat::unspecified;
  return bare ? Result<void>{} : bad("has more than an id and an aggregate");
}

/// What no limit has to do with: everything but the sizes that a store's settings bound.
Result<void> check_form(const Event& event) {
  if (event.aggregate) EVERSHARD_TRY(AggregateId::check(*event.aggregate));
  if (event.state != EventState::live) EVERSHARD_TRY(check_gone(event));
  if (event.state == EventState::removed) return {};
  EVERSHARD_TRY(check_name("event type", event.type, event_type_bytes_max));
  EVERSHARD_TRY(at_most_different("different tags", event.tags, tags_max));
  for (const auto& tag : event.tags) EVERSHARD_TRY(check_name("tag", tag, tag_bytes_max));
  EVERSHARD_TRY(at_most_different("different further aggregates", event.also, also_max));
  for (const auto& aggregate : event.also) EVERSHARD_TRY(AggregateId::check(aggregate));
  EVERSHARD_TRY(check_format(event.format));
  if (event.occurred_at) EVERSHARD_TRY(check_time(*event.occurred_at));
  return {};
}

Result<void> check_sizes(const Event& event, const Limits& limits) {
  EVERSHARD_TRY(at_most("the payload", event.payload.size(), "bytes", limits.payload_bytes_max));
  return at_most("the metadata", event.metadata_bytes().size(), "bytes", limits.metadata_bytes_max);
}

Result<void> check_form(const Snapshot& snapshot) {
  // So that the time it is taken at and this can be added in microseconds: a thousand years.
  constexpr std::chrono::seconds ttl_most{31'536'000'000};

  EVERSHARD_TRY(AggregateId::check(snapshot.aggregate));
  EVERSHARD_TRY(check_format(snapshot.format));
  if (snapshot.ttl && (snapshot.ttl->count() <= 0 || *snapshot.ttl > ttl_most)) {
    return refuse(ErrorCode::invalid_argument, "the snapshot's time to live is " +
                                                   std::to_string(snapshot.ttl->count()) + " s: it must be from 1 to " +
                                                   std::to_string(ttl_most.count()));
  }
  return {};
}

Result<void> check_sizes(const Snapshot& snapshot, const Limits& limits) {
  return at_most("the snapshot", snapshot.payload.size(), "bytes", limits.snapshot_bytes_max);
}

Result<void> check_events(const Append& append) {
  if (append.events.empty())
    return refuse(ErrorCode::invalid_argument, "the append has no events: at least one is needed");
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto& event = append.events[i];
    EVERSHARD_TRY(in("event", i, check_form(event)));
    if (event.state == EventState::live || append.from_export) continue;
    return in("event", i, refuse(ErrorCode::invalid_argument, "its content is gone: only what is imported may be so"));
  }

  std::vector<const EventId*> ids;
  ids.reserve(append.events.size());
  for (const auto& event : append.events) {
    if (event.id.given()) ids.push_back(&event.id);
  }
  const EventId* twice = repeated(std::move(ids));
  if (twice == nullptr) return {};
  return refuse(ErrorCode::invalid_argument, "the append has event id " + twice->text() + " more than once");
}

Result<void> check_snapshots(const Append& append) {
  if (append.snapshots.empty()) return {};
  const Written written(append);
  for (std::size_t i = 0; i < append.snapshots.size(); ++i) {
    const auto& snapshot = append.snapshots[i];
    EVERSHARD_TRY(in("snapshot", i, check_form(snapshot)));
    if (!written.contains(snapshot.aggregate)) {
      return refuse(ErrorCode::invalid_argument, "snapshot " + number(i) + " is of aggregate " +
                                                     in_quotes(snapshot.aggregate.text()) +
                                                     ", which the append does not write to");
    }
  }
  return one_an_aggregate("snapshot", append.snapshots,
                          [](const Snapshot& s) -> const AggregateId& { return s.aggregate; });
}

Result<void> check_command(const Append& append) {
  if (!append.command) return {};
  const auto& command = *append.command;
  if (command.id.empty()) return refuse(ErrorCode::invalid_argument, "the command's id is empty");
  EVERSHARD_TRY(at_most("the command's id", command.id.size(), "bytes", command_id_bytes_max));
  EVERSHARD_TRY(AggregateId::check(command.aggregate));
  if (Written(append).contains(command.aggregate)) return {};
  return refuse(ErrorCode::invalid_argument, "the command is of aggregate " + in_quotes(command.aggregate.text()) +
                                                 ", which the append does not write to");
}

Result<void> check_sizes(const Append& append, const Limits& limits) {
  EVERSHARD_TRY(at_most("the append", append.events.size(), "events", limits.append_events_max));
  for (std::size_t i = 0; i < append.events.size(); ++i)
    EVERSHARD_TRY(in("event", i, check_sizes(append.events[i], limits)));
  for (std::size_t i = 0; i < append.snapshots.size(); ++i) {
    EVERSHARD_TRY(in("snapshot", i, check_sizes(append.snapshots[i], limits)));
  }
  if (append.command)
    EVERSHARD_TRY(at_most("the command's reply", append.command->reply.size(), "bytes", limits.reply_bytes_max));
  return at_most("the append", bytes_of(append), "bytes", limits.append_bytes_max);
}

Result<void> check_limit(const char* name, std::size_t value, std::size_t most) {
  if (value == 0) return refuse(ErrorCode::invalid_argument, std::string(name) + " is 0: it must be at least 1");
  if (value <= most) return {};
  return refuse(ErrorCode::invalid_argument,
                std::string(name) + " is " + number(value) + ", the most is " + number(most));
}

std::size_t bytes_of(const AggregateId& id) { return id.type.size() + id.value.size(); }

std::size_t bytes_of(const Query& query) {
  std::size_t bytes = 0;
  for (const auto& item : query.items()) {
    for (const auto& type : item.types) bytes += type.size();
    for (const auto& tag : item.tags) bytes += tag.size();
    for (const auto& aggregate : item.concerning) bytes += bytes_of(aggregate);
  }
  return bytes;
}

}  // namespace

Result<void> check(const Event& event, const Limits& limits) {
  EVERSHARD_TRY(check_form(event));
  return check_sizes(event, limits);
}

Result<void> check(const Snapshot& snapshot, const Limits& limits) {
  EVERSHARD_TRY(check_form(snapshot));
  return check_sizes(snapshot, limits);
}

Result<void> check(const Append& append, const Limits& limits) {
  if (append.malformed) return refuse(*append.malformed);
  if (append.request_id && !append.request_id->given()) {
    return refuse(ErrorCode::invalid_argument, "the request id is all zero: leave it out, or give one");
  }
  EVERSHARD_TRY(check_events(append));

  for (std::size_t i = 0; i < append.expectations.size(); ++i) {
    EVERSHARD_TRY(in("expectation", i, AggregateId::check(append.expectations[i].aggregate)));
  }
  EVERSHARD_TRY(one_an_aggregate("expected version", append.expectations,
                                 [](const Expectation& e) -> const AggregateId& { return e.aggregate; }));

  EVERSHARD_TRY(at_most("the append", append.conditions.size(), "conditions", conditions_max));
  for (std::size_t i = 0; i < append.conditions.size(); ++i) {
    EVERSHARD_TRY(in("condition", i, append.conditions[i].query.check()));
  }
  EVERSHARD_TRY(check_together(append.conditions));
  EVERSHARD_TRY(check_snapshots(append));
  EVERSHARD_TRY(check_command(append));
  return check_sizes(append, limits);
}

Result<void> check(const Limits& limits) {
  constexpr std::size_t unbounded = static_cast<std::size_t>(-1);
  const Limits most = Limits::most();
  EVERSHARD_TRY(check_limit("payload_bytes_max", limits.payload_bytes_max, most.payload_bytes_max));
  EVERSHARD_TRY(check_limit("metadata_bytes_max", limits.metadata_bytes_max, most.metadata_bytes_max));
  EVERSHARD_TRY(check_limit("snapshot_bytes_max", limits.snapshot_bytes_max, most.snapshot_bytes_max));
  EVERSHARD_TRY(check_limit("reply_bytes_max", limits.reply_bytes_max, most.reply_bytes_max));
  EVERSHARD_TRY(check_limit("append_events_max", limits.append_events_max, most.append_events_max));
  EVERSHARD_TRY(check_limit("append_bytes_max", limits.append_bytes_max, most.append_bytes_max));
  EVERSHARD_TRY(check_limit("page_events_max", limits.page_events_max, unbounded));
  EVERSHARD_TRY(check_limit("page_bytes_max", limits.page_bytes_max, unbounded));
  EVERSHARD_TRY(check_limit("shard_queue_appends_max", limits.shard_queue_appends_max, unbounded));
  return check_limit("shard_queue_bytes_max", limits.shard_queue_bytes_max, unbounded);
}

void normalise(Event& event) {
  sort_once_each(event.tags);
  sort_once_each(event.also);
}

std::size_t bytes_of(const Event& event) {
  std::size_t bytes = event.id.bytes.size() + event.type.size() + event.payload.size() + event.metadata_bytes().size();
  if (event.aggregate) bytes += bytes_of(*event.aggregate);
  for (const auto& tag : event.tags) bytes += tag.size();
  for (const auto& aggregate : event.also) bytes += bytes_of(aggregate);
  return bytes;
}

std::size_t bytes_of(const Snapshot& snapshot) { return bytes_of(snapshot.aggregate) + snapshot.payload.size(); }

std::size_t bytes_of(const Append& append) {
  std::size_t bytes = 0;
  for (const auto& event : append.events) bytes += bytes_of(event);
  for (const auto& expectation : append.expectations) bytes += bytes_of(expectation.aggregate);
  for (const auto& condition : append.conditions) bytes += bytes_of(condition.query);
  for (const auto& snapshot : append.snapshots) bytes += bytes_of(snapshot);
  if (append.command)
    bytes += bytes_of(append.command->aggregate) + append.command->id.size() + append.command->reply.size();
  return bytes;
}

}  // namespace evershard
