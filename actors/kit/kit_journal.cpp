#include "evershard/actors/kit/kit_journal.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::actors {
namespace {

/// Ids of a test are the same in every run of it.
EventId id_at(std::uint64_t seed, std::size_t position) {
  EventId base;
  for (std::size_t i = 0; i < 8; ++i) base.bytes[i] = static_cast<std::uint8_t>(seed >> (8 * i));
  base.bytes[15] = 1;
  return EventId::derived(base, static_cast<std::uint32_t>(position));
}

}  // namespace

KitJournal::KitJournal(Options options) : options_(std::move(options)), random_(options_.seed) {}

// -- steering

bool KitJournal::step() {
  Lock lock(mutex_);
  const bool can_decide = !sent_.empty() && !held_appends_;
  const bool can_answer = !answers_.empty() && !held_answers_;
  if (!can_decide && !can_answer) return false;
  const bool draw = options_.any_order && can_decide && can_answer;
  if (!can_answer || (draw && random_.next() % 2 == 0)) {
    decide();
    return true;
  }
  const auto at =
      answers_.begin() + static_cast<std::ptrdiff_t>(options_.any_order ? random_.next() % answers_.size() : 0);
  Answer answer = std::move(*at);
  answers_.erase(at);
  lock.unlock();
  answer.done(std::move(answer.result));
  return true;
}

void KitJournal::run_unqueued() {
  if (options_.queued) return;
  while (step()) {
  }
}

void KitJournal::fail_next_append(Fault fault, ErrorCode code) {
  const Lock lock(mutex_);
  append_faults_.emplace_back(fault, code);
}

void KitJournal::fail_next(JournalCall call, ErrorCode code) {
  const Lock lock(mutex_);
  call_faults_.emplace(call, code);
}

void KitJournal::hold(bool& held, bool now) {
  {
    const Lock lock(mutex_);
    held = now;
  }
  run_unqueued();
}

void KitJournal::disconnect() {
  std::deque<Sent> sent;
  std::deque<Answer> answers;
  const Lock lock(mutex_);
  connected_ = false;
  held_appends_ = held_answers_ = false;
  sent.swap(sent_);
  answers.swap(answers_);
  append_faults_.clear();
  call_faults_.clear();
}

void KitJournal::connect() {
  const Lock lock(mutex_);
  connected_ = true;
}

Result<Appended> KitJournal::append_now(Append append) {
  const Lock lock(mutex_);
  return write(std::move(append), {});
}

std::size_t KitJournal::damage_snapshots(const AggregateId& aggregate) {
  const Lock lock(mutex_);
  const auto at = streams_.find(aggregate);
  if (at == streams_.end()) return 0;
  for (auto& [version, copy] : at->second.copies) copy.damaged = true;
  if (at->second.latest) at->second.latest->damaged = true;
  return at->second.copies.size() + (at->second.latest ? 1 : 0);
}

void KitJournal::plant_snapshot(RecordedSnapshot snapshot) {
  const Lock lock(mutex_);
  auto& stream = streams_[snapshot.aggregate];
  stream.latest = Stored{std::move(snapshot)};
}

// -- looking

std::vector<RecordedEvent> KitJournal::events() const {
  const Lock lock(mutex_);
  return events_;
}

std::vector<RecordedEvent> KitJournal::events_of(const AggregateId& aggregate) const {
  const Lock lock(mutex_);
  std::vector<RecordedEvent> events;
  if (const Stream* stream = find(aggregate)) {
    for (const auto at : stream->events) events.push_back(events_[at]);
  }
  return events;
}

std::vector<RecordedSnapshot> KitJournal::snapshots_of(const AggregateId& aggregate) const {
  const Lock lock(mutex_);
  std::vector<RecordedSnapshot> snapshots;
  const Stream* stream = find(aggregate);
  if (stream == nullptr) return snapshots;
  if (stream->latest) {
    snapshots.push_back(stream->latest->snapshot);
    snapshots.back().latest = true;
  }
  for (auto copy = stream->copies.rbegin(); copy != stream->copies.rend(); ++copy)
    snapshots.push_back(copy->second.snapshot);
  return snapshots;
}

std::size_t KitJournal::undecided() const {
  const Lock lock(mutex_);
  return sent_.size();
}

std::size_t KitJournal::unanswered() const {
  const Lock lock(mutex_);
  return answers_.size();
}

// -- appends

void KitJournal::append(Append append, AppendChain chain, std::uint64_t, Done done) {
  {
    const Lock lock(mutex_);
    if (!connected_) return;
    sent_.push_back({std::move(append), chain, std::move(done)});
  }
  run_unqueued();
}

void KitJournal::decide() {
  Sent sent = std::move(sent_.front());
  sent_.pop_front();
  if (append_faults_.empty()) {
    auto result = write(std::move(sent.append), sent.chain);
    answers_.push_back({std::move(sent.done), std::move(result)});
    return;
  }
  const auto [fault, code] = append_faults_.front();
  append_faults_.pop_front();
  Result<Appended> result = refuse(code, "a fault of the test's");
  if (fault == Fault::lost_written || fault == Fault::unanswered_written) {
    // Only what is written can be lost: what is refused is answered.
    if (auto written = write(std::move(sent.append), sent.chain); !written) result = std::move(written);
  }
  if (fault == Fault::unanswered_written || fault == Fault::unanswered_not_written) return;
  answers_.push_back({std::move(sent.done), std::move(result)});
}

// In the real store's order: what is wrong with it in itself, ids, versions, conditions.
Result<void> KitJournal::refusal(const Append& append, AppendChain chain) const {
  for (const auto& event : append.events) {
    if (event.id.given() && ids_.contains(event.id))
      return refuse(ErrorCode::duplicate_event, "event " + event.id.text() + " is stored already");
  }
  if (append.command && commands_.contains({append.command->aggregate, append.command->id})) {
    return refuse(ErrorCode::duplicate_event, "command " + in_quotes(append.command->id) + " was decided already");
  }
  for (const auto& expectation : append.expectations) {
    const Stream* stream = find(expectation.aggregate);
    const SeqNr actual = version(expectation.aggregate);
    if (!expectation.version.holds_for(actual)) return refuse(conflict(expectation, actual, ""));
    const std::uint64_t writer = stream != nullptr ? stream->last_writer : 0;
    if (chain.follows && writer != chain.writer)
      return refuse(conflict(expectation, actual, " of events that its writer has seen"));
  }
  for (std::uint32_t i = 0; i < append.conditions.size(); ++i) {
    for (std::size_t at = append.conditions[i].after.value; at < events_.size(); ++at) {
      if (!append.conditions[i].query.matches(events_[at])) continue;
      ErrorDetails details;
      details.condition = i;
      details.position = events_[at].position;
      return refuse(
          ErrorCode::condition_failed,
          "condition " + std::to_string(i) + " failed: the event at position " + std::to_string(at + 1) + " matches it",
          std::move(details));
    }
  }
  return {};
}

Error KitJournal::conflict(const Expectation& expectation, SeqNr actual, std::string why) const {
  ErrorDetails details;
  details.aggregate = expectation.aggregate;
  details.expected = expectation.version;
  details.actual = actual;
  return {ErrorCode::version_conflict,
          "stream " + in_quotes(expectation.aggregate.text()) + " is at version " + std::to_string(actual.value) +
              ", the append expects " + expectation.version.text() + std::move(why),
          std::move(details)};
}

Result<Appended> KitJournal::write(Append append, AppendChain chain) {
  EVERSHARD_TRY(check(append, options_.limits));
  if (append.request_id) {
    if (const auto known = requests_.find(*append.request_id); known != requests_.end()) {
      auto answer = known->second;
      answer.duplicate = true;
      return answer;
    }
  }
  EVERSHARD_TRY(refusal(append, chain));

  Appended answer;
  answer.first_position = GlobalPosition{events_.size() + 1};
  const auto count = static_cast<std::uint32_t>(append.events.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    Event& event = append.events[i];
    normalise(event);
    RecordedEvent recorded;
    recorded.position = GlobalPosition{events_.size() + 1};
    recorded.id = event.id.given() ? event.id : id_at(options_.seed, events_.size());
    if (event.aggregate) {
      Stream& stream = streams_[*event.aggregate];
      stream.events.push_back(events_.size());
      stream.last_writer = chain.writer;
      recorded.seq_nr = SeqNr{stream.events.size()};
      const auto at = std::find_if(answer.versions.begin(), answer.versions.end(),
                                   [&](const auto& v) { return v.aggregate == *event.aggregate; });
      if (at == answer.versions.end())
        answer.versions.push_back({*event.aggregate, recorded.seq_nr});
      else
        at->version = recorded.seq_nr;
    }
    recorded.aggregate = std::move(event.aggregate);
    recorded.type = std::move(event.type);
    recorded.tags = std::move(event.tags);
    recorded.also = std::move(event.also);
    recorded.payload = std::move(event.payload);
    recorded.format = event.format;
    recorded.metadata = std::move(event.metadata);
    recorded.subject = std::move(event.subject);
    recorded.occurred_at = event.occurred_at ? *event.occurred_at : options_.now();
    recorded.append_index = i;
    recorded.append_events = count;
    ids_.insert(recorded.id);
    events_.push_back(std::move(recorded));
  }
  answer.last_position = GlobalPosition{events_.size()};
  for (const auto& snapshot : append.snapshots) store(snapshot, version(snapshot.aggregate));
  if (append.command) {
    commands_[{append.command->aggregate, append.command->id}] = {
        std::move(append.command->reply), version(append.command->aggregate), answer.last_position};
  }
  if (append.request_id) requests_[*append.request_id] = answer;
  return answer;
}

// -- snapshots

Result<void> KitJournal::put_snapshot(Snapshot snapshot, std::uint64_t) {
  const Lock lock(mutex_);
  EVERSHARD_TRY(enter(JournalCall::put_snapshot));
  EVERSHARD_TRY(check(snapshot, options_.limits));
  if (snapshot.version.value == 0)
    return refuse(ErrorCode::invalid_argument, "a snapshot written alone names its version, this one has 0");
  if (snapshot.version > version(snapshot.aggregate)) {
    return refuse(ErrorCode::not_found, "stream " + in_quotes(snapshot.aggregate.text()) + " has no version " +
                                            std::to_string(snapshot.version.value));
  }
  store(snapshot, snapshot.version);
  return {};
}

// The latest, and beside it as many copies as are kept: the oldest go first.
void KitJournal::store(const Snapshot& snapshot, SeqNr version) {
  Stream& stream = streams_[snapshot.aggregate];
  Stored stored;
  auto& recorded = stored.snapshot;
  recorded.aggregate = snapshot.aggregate;
  recorded.version = version;
  recorded.position = events_[stream.events[version.value - 1]].position;
  recorded.payload = snapshot.payload;
  recorded.format = snapshot.format;
  recorded.schema_revision = snapshot.schema_revision;
  recorded.taken_at = options_.now();
  if (!stream.latest || stream.latest->damaged || stream.latest->snapshot.version <= version) stream.latest = stored;
  if (!snapshot.keep) return;
  if (snapshot.ttl)
    recorded.expires_at = Timestamp{recorded.taken_at.micros + std::chrono::microseconds(*snapshot.ttl).count()};
  stream.copies.insert_or_assign(version, std::move(stored));
  while (stream.copies.size() > *snapshot.keep) stream.copies.erase(stream.copies.begin());
}

Result<std::optional<RecordedSnapshot>> KitJournal::snapshot(const AggregateId& aggregate,
                                                             std::optional<GlobalPosition> up_to) const {
  const Lock lock(mutex_);
  EVERSHARD_TRY(enter(JournalCall::snapshot));
  const Stream* stream = find(aggregate);
  const Stored* newest = nullptr;
  const auto see = [&](const Stored& stored) {
    const bool fits = !up_to || stored.snapshot.position <= *up_to;
    if (fits && (newest == nullptr || stored.snapshot.version > newest->snapshot.version)) newest = &stored;
  };
  if (stream != nullptr && stream->latest) see(*stream->latest);
  if (stream != nullptr && up_to) {
    for (const auto& [version, copy] : stream->copies) {
      if (!copy.snapshot.expires_at || *copy.snapshot.expires_at > options_.now()) see(copy);
    }
  }
  if (newest == nullptr) return std::nullopt;
  if (newest->damaged)
    return refuse(ErrorCode::corruption, "the snapshot of " + in_quotes(aggregate.text()) + " is damaged");
  return newest->snapshot;
}

// -- reads

Result<void> KitJournal::enter(JournalCall call) const {
  if (!connected_) return refuse(ErrorCode::unavailable, "the journal is not connected");
  const auto fault = call_faults_.find(call);
  if (fault == call_faults_.end()) return {};
  const ErrorCode code = fault->second;
  call_faults_.erase(fault);
  return refuse(code, "a fault of the test's");
}

Result<Page> KitJournal::stream(const AggregateId& aggregate, const StreamOptions& options) const {
  const Lock lock(mutex_);
  EVERSHARD_TRY(enter(JournalCall::stream));
  if (options.direction != Direction::forwards)
    return refuse(ErrorCode::invalid_argument, "the kit's journal reads forwards");
  Page page{{}, GlobalPosition{events_.size()}, true};
  const Stream* stream = find(aggregate);
  if (stream == nullptr) return page;
  for (std::size_t i = options.from && options.from->value > 0 ? options.from->value - 1 : 0; i < stream->events.size();
       ++i) {
    const RecordedEvent& event = events_[stream->events[i]];
    if ((options.up_to && event.position > *options.up_to) || (options.limit && page.events.size() == *options.limit))
      break;
    if (page.events.size() == options_.limits.page_events_max) {
      page.complete = false;
      break;
    }
    page.events.push_back(event);
  }
  return page;
}

Result<Page> KitJournal::query(const Query& query, const ReadOptions& options) const {
  const Lock lock(mutex_);
  EVERSHARD_TRY(enter(JournalCall::query));
  EVERSHARD_TRY(query.check());
  if (options.direction != Direction::forwards)
    return refuse(ErrorCode::invalid_argument, "the kit's journal reads forwards");
  Page page{{}, GlobalPosition{events_.size()}, true};
  if (options.at_least && *options.at_least > page.watermark) {
    return refuse(ErrorCode::timeout, "the watermark did not reach " + std::to_string(options.at_least->value));
  }
  for (std::size_t at = options.after.value; at < events_.size(); ++at) {
    const RecordedEvent& event = events_[at];
    if ((options.up_to && event.position > *options.up_to) || (options.before && event.position >= *options.before))
      break;
    if (!query.matches(event)) continue;
    if (options.limit && page.events.size() == *options.limit) break;
    if (page.events.size() == options_.limits.page_events_max) {
      page.complete = false;
      break;
    }
    page.events.push_back(event);
  }
  return page;
}

Result<std::optional<RecordedCommand>> KitJournal::command(const AggregateId& aggregate,
                                                           std::string_view command_id) const {
  const Lock lock(mutex_);
  EVERSHARD_TRY(enter(JournalCall::command));
  const auto found = commands_.find({aggregate, std::string(command_id)});
  if (found == commands_.end()) return std::nullopt;
  return found->second;
}

GlobalPosition KitJournal::watermark() const {
  const Lock lock(mutex_);
  return GlobalPosition{events_.size()};
}

const KitJournal::Stream* KitJournal::find(const AggregateId& aggregate) const {
  const auto at = streams_.find(aggregate);
  return at != streams_.end() ? &at->second : nullptr;
}

SeqNr KitJournal::version(const AggregateId& aggregate) const {
  const Stream* stream = find(aggregate);
  return SeqNr{stream != nullptr ? stream->events.size() : 0};
}

}  // namespace evershard::actors
