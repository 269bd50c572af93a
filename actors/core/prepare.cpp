#include "evershard/actors/core/prepare.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/request_name.hpp"
#include "evershard/protocol/sealed.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/read_work.hpp"
#include "evershard/storage/index/read_work_for_write.hpp"
#include "evershard/storage/journal/removal_row.hpp"

namespace evershard::actors {
namespace {

/// Which events have an id of the caller's; on the stack for the usual append.
class IdsGiven {
 public:
  explicit IdsGiven(std::size_t events) : events_(events) {
    if (events > few_.size()) many_ = std::make_unique<bool[]>(events);
  }
  [[nodiscard]] std::span<bool> get() { return {many_ ? many_.get() : few_.data(), events_}; }

 private:
  std::size_t events_;
  std::array<bool, 64> few_{};
  std::unique_ptr<bool[]> many_;
};

/// Gives every event an id. What has a name (the request, or some event of it) gets ids that follow from it, the same
/// at every attempt; else they are random, and nobody can ask for them before he has read them.
bool name_events(Append& append, std::span<bool> given) {
  const EventId* const name = request_name(append);
  const EventId from = name != nullptr ? *name : EventId{};
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    auto& id = append.events[i].id;
    given[i] = name != nullptr;
    if (id.given()) continue;
    id = name != nullptr ? EventId::derived(from, static_cast<std::uint32_t>(i)) : EventId::random();
  }
  return name != nullptr;
}

Error known_already(std::string_view what, const EventId& id, GlobalPosition position, const char* how) {
  ErrorDetails details;
  details.position = position;
  return {
      ErrorCode::duplicate_event,
      std::string(what) + " " + id.text() + " is stored already, at position " + std::to_string(position.value) + how,
      std::move(details)};
}

Error matched(std::size_t condition, GlobalPosition position) {
  ErrorDetails details;
  details.condition = static_cast<std::uint32_t>(condition);
  details.position = position;
  return {ErrorCode::condition_failed,
          "condition " + std::to_string(condition) + " failed: the event at position " +
              std::to_string(position.value) + " matches it",
          std::move(details)};
}

/// A snapshot may name the version its append leaves: at least as many as the append's own events of the aggregate.
Result<void> check_snapshots(const storage::EncodedAppend& append) {
  for (const auto& snapshot : append.snapshots) {
    const std::uint64_t named = snapshot.snapshot.version.value;
    if (named == 0) continue;
    const auto own = static_cast<std::uint64_t>(std::count_if(
        append.events.begin(), append.events.end(), [&](const auto& e) { return e.aggregate == snapshot.aggregate; }));
    if (named >= own) continue;
    return refuse(ErrorCode::invalid_argument,
                  "the snapshot of " + in_quotes(append.aggregates[snapshot.aggregate].text) + " is of version " +
                      std::to_string(named) + ", the append itself has " + std::to_string(own) +
                      " events of that aggregate");
  }
  return {};
}

}  // namespace

Preparer::Preparer(const storage::Store& store, const Limits& limits, bool takes_sealed,
                   std::function<bool(ShardId)> elsewhere, std::function<bool()> keeps_all)
    : store_(store),
      reader_(store),
      hasher_(store.hasher()),
      limits_(limits),
      takes_sealed_(takes_sealed),
      elsewhere_(std::move(elsewhere)),
      keeps_all_(std::move(keeps_all)),
      window_from_(store.view().watermark.value) {}

// Who seals payloads does so before, and leaves the subject out: what comes here with one would be stored for all to
// read.
template <class Written>
Result<void> Preparer::check_sealing(const Written& written) const {
  if (!written.subject.empty())
    return refuse(ErrorCode::invalid_argument,
                  "a payload has a subject, and the store was opened without keys (--keys)");
  if (takes_sealed_ || !looks_sealed(written.format, written.payload)) return {};
  return refuse(
      ErrorCode::invalid_argument,
      "a payload looks sealed, and the store was opened without keys (--keys): nothing says that it can be opened");
}

Result<void> Preparer::check_sealing(const Append& append) const {
  for (const auto& event : append.events) EVERSHARD_TRY(check_sealing(event));
  for (const auto& snapshot : append.snapshots) EVERSHARD_TRY(check_sealing(snapshot));
  return {};
}

Result<std::optional<Appended>> Preparer::prepare(Append&& append, Prepared& prepared) const {
  EVERSHARD_TRY(check(append, limits_));
  EVERSHARD_TRY(check_sealing(append));
  for (auto& event : append.events) normalise(event);
  IdsGiven given(append.events.size());
  prepared.named = name_events(append, given.get()) || append.command.has_value();
  prepared.bytes = bytes_of(append);
  prepared.conditions = std::move(append.conditions);
  prepared.command = append.command;
  prepared.terms.reserve(prepared.conditions.size());
  for (const auto& condition : prepared.conditions) {
    prepared.terms.push_back({sharding::terms_of(condition.query, hasher_), condition.after});
  }

  auto expectations = std::move(append.expectations);
  const std::uint32_t shards = store_.identity().shards;
  prepared.append = storage::encode_append(std::move(append), given.get(), shards, hasher_, Timestamp::now());
  expect(std::move(expectations), shards, prepared);
  EVERSHARD_TRY(check_snapshots(prepared.append));
  return look_up(prepared, false);
}

void Preparer::expect(std::vector<Expectation> expectations, std::uint32_t shards, Prepared& prepared) const {
  const auto& written = prepared.append.aggregates;
  std::vector<std::uint32_t> sorted;
  if (expectations.size() > 1) {
    sorted.resize(written.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return written[a].id < written[b].id; });
  }
  const auto find = [&](const AggregateId& id) -> std::size_t {
    if (sorted.empty()) {
      return static_cast<std::size_t>(
          std::find_if(written.begin(), written.end(), [&](const auto& a) { return a.id == id; }) - written.begin());
    }
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), id,
                                     [&](auto a, const AggregateId& b) { return written[a].id < b; });
    return at != sorted.end() && written[*at].id == id ? *at : written.size();
  };
  prepared.expected.reserve(expectations.size());
  for (auto& expectation : expectations) {
    std::size_t index = find(expectation.aggregate);
    if (index == written.size()) {
      std::string text = expectation.aggregate.text();
      const auto stream = hasher_.aggregate(text);
      const auto shard = sharding::shard_of(sharding::stream_hash(text), shards);
      index += prepared.guards.size();
      prepared.guards.push_back({std::move(expectation.aggregate), std::move(text), stream, shard});
    }
    prepared.expected.push_back({static_cast<std::uint32_t>(index), expectation.version});
  }
}

// One view for all of it: a match in it cannot be the request's own event, since its ids were not found in it.
Result<std::optional<Appended>> Preparer::look_up(Prepared& prepared, bool confirm) const {
  const bool keeps_all = !keeps_all_ || keeps_all_();
  const storage::View view = store_.view();
  prepared.view = view.watermark;
  prepared.refusal.reset();
  if (prepared.named) {
    auto stored = find_request(view, prepared);
    if (!stored || *stored) return stored;
    // Which shards are here may change meanwhile; what lies on one of another writer's was not looked for above.
    prepared.names_whole = prepared.elsewhere.empty() && keeps_all && (!keeps_all_ || keeps_all_());
  }
  EVERSHARD_TRY(find_heads(view, prepared));
  EVERSHARD_TRY(find_matches(view, prepared, confirm));
  return std::nullopt;
}

Result<bool> Preparer::look_up_part(Prepared& prepared) const {
  const storage::View view = store_.view();
  prepared.view = view.watermark;
  prepared.refusal.reset();
  prepared.elsewhere.clear();
  if (prepared.named) {
    auto known = knows_any(view, prepared);
    if (!known || *known) return known;
    EVERSHARD_TRY(find_command(view, prepared));
  }
  EVERSHARD_TRY(find_heads(view, prepared));
  return false;
}

// Which shards are this node's may change at any time, and without any event: what was not looked for is kept with what
// was found.
Result<std::optional<Appended>> Preparer::find_request(const storage::View& view, Prepared& prepared) const {
  const auto& events = prepared.append.events;
  const auto lies_elsewhere = [&](ShardId shard) {
    return std::ranges::find(prepared.elsewhere, shard) != prepared.elsewhere.end();
  };
  prepared.elsewhere.clear();
  if (elsewhere_) {
    for (std::size_t i = 0; i != events.size(); ++i) {
      const ShardId shard = events[i].shard;
      if ((i != 0 && shard == events[i - 1].shard) || lies_elsewhere(shard)) continue;
      if (elsewhere_(shard)) prepared.elsewhere.push_back(shard);
    }
    if (lies_elsewhere(events.front().shard)) return std::nullopt;
  }
  auto names = reader_.names(view);
  Known known(events.size());
  std::size_t found = 0, first = 0, here = 0;
  for (std::size_t i = events.size(); i-- > 0;) {
    if (lies_elsewhere(events[i].shard)) continue;
    ++here;
    if (!events[i].id_given) continue;
    auto event = names.find(events[i].id, events[i].shard);
    if (!event) return refuse(std::move(event).error());
    if (!*event) continue;
    known[i] = **event;
    first = i;
    ++found;
  }
  if (found == here) {
    auto same = is_same(prepared, known);
    if (!same) return refuse(std::move(same).error());
    if (*same) return answer_again(prepared, known);
  }
  auto by_request = find_by_request(names, prepared, known[first]);
  if (!by_request || *by_request) return by_request;
  if (found == 0) {
    EVERSHARD_TRY(find_command(view, prepared));
    return std::nullopt;
  }
  return refuse(known_already(
      "event", events[first].id, known[first]->position,
      found == here ? ", with other content or by another append" : ", but not all events of this append are"));
}

// The same request with other ids: whoever makes its events anew at each try gives them anew. It is known by its own
// id, and is the same where all but ids and times is.
Result<std::optional<Appended>> Preparer::find_by_request(storage::Reader::Names& names, const Prepared& prepared,
                                                          std::optional<storage::FoundEvent> first) const {
  const auto& append = prepared.append;
  if (append.request == append.events.front().id) return std::nullopt;  // no request id was given
  if (!first && append.request_key.given()) {
    auto found = names.find(append.request_key, append.events.front().shard);
    if (!found) return refuse(std::move(found).error());
    first = *found;
  }
  if (!first) return std::nullopt;
  auto stored = reader_.request_of(*first);
  // Its first event is another node's, and this append's is not: so it is another one.
  if (!stored && stored.error().code == ErrorCode::wrong_shard) return std::nullopt;
  if (!stored) return refuse(std::move(stored).error());
  if (stored->request != append.request) {
    if (!append.request_key.given()) return std::nullopt;
    return refuse(known_already("request", append.request, first->position, ": an event has the id that it leads to"));
  }
  // What lies on another node cannot be compared here.
  bool same = stored->count == append.events.size() && prepared.elsewhere.empty();
  Known known(append.events.size());
  for (std::size_t i = 0; same && i != append.events.size(); ++i) {
    const auto& event = append.events[i];
    auto found = reader_.same_event(stored->first_position + i, append.body_of(event));
    if (!found && found.error().code != ErrorCode::wrong_shard) return refuse(std::move(found).error());
    known[i] = found ? *found : std::nullopt;
    same = known[i].has_value();
  }
  if (!same)
    return refuse(
        known_already("request", append.request, stored->first_position, ", with other content or other ids"));
  return answer_again(prepared, known);
}

Result<void> Preparer::find_command(const storage::View& view, const Prepared& prepared) const {
  if (!prepared.command) return {};
  auto command = reader_.find_command(view, prepared.command->aggregate, prepared.command->id);
  if (!command) return refuse(std::move(command).error());
  if (!*command) return {};
  ErrorDetails details;
  details.position = (*command)->position;
  return refuse(ErrorCode::duplicate_event,
                "command " + in_quotes(prepared.command->id) + " of " + in_quotes(prepared.command->aggregate.text()) +
                    " was decided already, at position " + std::to_string((*command)->position.value),
                std::move(details));
}

Result<bool> Preparer::knows_any(const storage::View& view, const Prepared& prepared) const {
  auto names = reader_.names(view);
  for (const auto& event : prepared.append.events) {
    if (!event.id_given) continue;
    auto found = names.find(event.id, event.shard);
    if (!found) return refuse(std::move(found).error());
    if (*found) return true;
  }
  return false;
}

// All ids are known: the same request, if they were stored by one append of as many events, in this order, with this
// content.
Result<bool> Preparer::is_same(const Prepared& prepared, const Known& known) const {
  const auto& events = prepared.append.events;
  auto stored = reader_.request_of(*known[0]);
  if (!stored && stored.error().code == ErrorCode::wrong_shard) return false;
  if (!stored) return refuse(std::move(stored).error());
  bool same =
      stored->index == 0 && stored->count == events.size() && stored->content_hash == prepared.append.content_hash;
  for (std::size_t i = 1; i < events.size(); ++i)
    same = same && (!known[i] || known[i]->position == known[0]->position + i);
  return same;
}

Result<Appended> Preparer::answer_again(const Prepared& prepared, const Known& known) const {
  const auto& events = prepared.append.events;
  Appended answer;
  answer.duplicate = true;
  answer.first_position = known.front()->position;
  answer.last_position = known.front()->position + (events.size() - 1);
  std::vector<std::size_t> last(prepared.append.aggregates.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].aggregate != storage::EncodedEvent::no_aggregate) last[events[i].aggregate] = i;
  }
  for (std::size_t a = 0; a < last.size(); ++a) {
    if (!known[last[a]]) {
      answer.versions.push_back({prepared.append.aggregates[a].id, SeqNr{0}});
      continue;
    }
    auto event = reader_.load(*known[last[a]]);
    if (!event) return refuse(std::move(event).error());
    answer.versions.push_back({prepared.append.aggregates[a].id, event->seq_nr});
  }
  return answer;
}

Result<SeqNr> Preparer::version_of(const AggregateId& aggregate) const {
  auto head = reader_.head(store_.view(), aggregate);
  if (!head) return refuse(std::move(head).error());
  return head->version;
}

Result<void> Preparer::find_heads(const storage::View& view, Prepared& prepared) const {
  const std::size_t count = prepared.append.aggregates.size() + prepared.guards.size();
  prepared.heads.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto head = reader_.head(view, prepared.aggregate(i).id);
    if (!head) return refuse(std::move(head).error());
    prepared.heads[i] = *head;
  }
  return {};
}

Result<void> Preparer::find_matches(const storage::View& view, Prepared& prepared, bool confirm) const {
  const GlobalPosition window{window_from_.load(std::memory_order_relaxed)};
  // All conditions of an append together may cost what one answer to a reader may. Nobody waits to be told of a caller
  // who went: his append counts.
  storage::ReadWork own;
  auto* const given = storage::ReadWorkForWrite::current();
  const storage::ReadWork::Scope at_work(given != nullptr ? *given : own);
  for (std::size_t i = 0; i < prepared.terms.size(); ++i) {
    auto& from = prepared.terms[i].from;
    if (from >= view.watermark || (from >= window && !confirm)) continue;
    auto match = reader_.first_match(view, prepared.conditions[i].query, from, view.watermark);
    if (!match) return refuse(std::move(match).error());
    if (*match) {
      prepared.refusal = {matched(i, (*match)->position), (*match)->position};
      return {};
    }
    from = view.watermark;
  }
  return {};
}

Result<GlobalPosition> Preparer::place_of(const Snapshot& snapshot) const {
  EVERSHARD_TRY(check(snapshot, limits_));
  EVERSHARD_TRY(check_sealing(snapshot));
  if (snapshot.version.value == 0) {
    return refuse(ErrorCode::invalid_argument, "a snapshot written alone names its version, this one has 0");
  }
  const storage::View view = store_.view();
  StreamOptions options;
  options.from = snapshot.version;
  options.limit = 1;
  std::vector<RecordedEvent> events;
  EVERSHARD_TRY(reader_.open(view, snapshot.aggregate, options)->next(1, 1, events));
  if (events.empty()) {
    ErrorDetails details;
    details.aggregate = snapshot.aggregate;
    return refuse(
        ErrorCode::not_found,
        "stream " + in_quotes(snapshot.aggregate.text()) + " has no version " + std::to_string(snapshot.version.value),
        std::move(details));
  }
  if (events.front().state == EventState::removed) {
    auto removed = storage::removed_of(store_.rows(), snapshot.aggregate);
    if (!removed) return refuse(std::move(removed).error());
    // A snapshot of the version up to which the aggregate was truncated stands for the events that are gone. An older
    // snapshot would stand alone: the events behind it are gone too, and so may be the whole aggregate.
    if (*removed && (snapshot.version + 1 < (*removed)->before ||
                     ((*removed)->aggregate && snapshot.version < (*removed)->before))) {
      return refuse(ErrorCode::not_found, "version " + std::to_string(snapshot.version.value) + " of " +
                                              in_quotes(snapshot.aggregate.text()) + " was removed");
    }
  }
  return events.front().position;
}

}  // namespace evershard::actors
