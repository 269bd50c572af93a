#include "tests/actors/entity/small_journal.hpp"

namespace evershard::actors {

SeqNr SmallJournal::version(const AggregateId& aggregate) const {
  SeqNr version;
  for (const auto& event : events) {
    if (event.aggregate == aggregate) version = event.seq_nr;
  }
  return version;
}

std::vector<std::string> SmallJournal::payloads(const AggregateId& aggregate) const {
  std::vector<std::string> payloads;
  for (const auto& event : events) {
    if (event.aggregate == aggregate) payloads.push_back(event.payload);
  }
  return payloads;
}

// In the real store's order: ids, versions, conditions.
Result<void> SmallJournal::refusal(const Append& append, AppendChain chain) const {
  if (append.command && commands_.contains({append.command->aggregate, append.command->id})) {
    return refuse(ErrorCode::duplicate_event, "the command was decided already");
  }
  for (const auto& expectation : append.expectations) {
    const SeqNr actual = version(expectation.aggregate);
    if (!expectation.version.holds_for(actual))
      return refuse(ErrorCode::version_conflict, "is at " + std::to_string(actual.value));
    const auto writer = last_writer_.find(expectation.aggregate);
    if (chain.follows && (writer == last_writer_.end() || writer->second != chain.writer)) {
      return refuse(ErrorCode::version_conflict, "somebody else's append came before");
    }
  }
  for (std::uint32_t i = 0; i < append.conditions.size(); ++i) {
    for (const auto& event : events) {
      if (event.position <= append.conditions[i].after || !append.conditions[i].query.matches(event)) continue;
      ErrorDetails details;
      details.condition = i;
      details.position = event.position;
      return refuse(ErrorCode::condition_failed, "an event matches", std::move(details));
    }
  }
  return {};
}

Result<Appended> SmallJournal::write(const Append& append, AppendChain chain) {
  EVERSHARD_TRY(refusal(append, chain));
  Appended answer;
  answer.first_position = watermark() + 1;
  for (const auto& event : append.events) {
    RecordedEvent recorded;
    recorded.position = watermark() + 1;
    recorded.aggregate = event.aggregate;
    recorded.seq_nr = version(*event.aggregate) + 1;
    recorded.type = event.type;
    recorded.payload = event.payload;
    recorded.tags = event.tags;
    events.push_back(recorded);
    last_writer_[*event.aggregate] = chain.writer;
    answer.versions = {{*event.aggregate, recorded.seq_nr}};
  }
  answer.last_position = watermark();
  for (const auto& snapshot : append.snapshots) keep(snapshot, version(snapshot.aggregate));
  if (append.command) {
    commands_[{append.command->aggregate, append.command->id}] = {append.command->reply, answer.versions[0].version,
                                                                  answer.last_position};
  }
  appends.push_back(append);
  return answer;
}

void SmallJournal::outside(const AggregateId& aggregate, std::string type, std::string payload, std::vector<Tag> tags) {
  Append append;
  Event event;
  event.aggregate = aggregate;
  event.type = std::move(type);
  event.payload = std::move(payload);
  event.tags = std::move(tags);
  append.events.push_back(std::move(event));
  static_cast<void>(write(append, {}));
}

void SmallJournal::keep(const Snapshot& snapshot, SeqNr version) {
  RecordedSnapshot recorded;
  recorded.aggregate = snapshot.aggregate;
  recorded.version = version;
  for (const auto& event : events) {
    if (event.aggregate == snapshot.aggregate && event.seq_nr == version) recorded.position = event.position;
  }
  recorded.payload = snapshot.payload;
  recorded.format = snapshot.format;
  recorded.schema_revision = snapshot.schema_revision;
  snapshots.push_back(std::move(recorded));
}

Result<std::optional<RecordedSnapshot>> SmallJournal::snapshot(const AggregateId& aggregate,
                                                               std::optional<GlobalPosition> up_to) const {
  if (snapshot_fault) return refuse(*snapshot_fault);
  std::optional<RecordedSnapshot> newest;
  for (const auto& snapshot : snapshots) {
    if (snapshot.aggregate != aggregate || (up_to && snapshot.position > *up_to)) continue;
    if (!newest || snapshot.version >= newest->version) newest = snapshot;
  }
  return newest;
}

Result<Page> SmallJournal::stream(const AggregateId& aggregate, const StreamOptions& options) const {
  if (stream_fault) return refuse(*stream_fault);
  Page page;
  page.watermark = watermark();
  page.complete = true;
  for (const auto& event : events) {
    if (event.aggregate != aggregate || (options.from && event.seq_nr < *options.from)) continue;
    if (options.up_to && event.position > *options.up_to) break;
    if (page.events.size() == page_events_max) {
      page.complete = false;
      break;
    }
    page.events.push_back(event);
  }
  return page;
}

Result<Page> SmallJournal::query(const Query& query, const ReadOptions& options) const {
  if (query_fault) return refuse(*query_fault);
  Page page;
  page.watermark = watermark();
  page.complete = true;
  for (const auto& event : events) {
    if (event.position <= options.after || !query.matches(event)) continue;
    if (options.up_to && event.position > *options.up_to) break;
    if (page.events.size() == page_events_max) {
      page.complete = false;
      break;
    }
    page.events.push_back(event);
  }
  return page;
}

Result<std::optional<RecordedCommand>> SmallJournal::command(const AggregateId& aggregate,
                                                             std::string_view command_id) const {
  if (command_fault) return refuse(*command_fault);
  const auto found = commands_.find({aggregate, std::string(command_id)});
  if (found == commands_.end()) return std::nullopt;
  return found->second;
}

Result<void> SmallJournal::put_snapshot(Snapshot snapshot, std::uint64_t loaded_at) {
  if (loaded_at != erased) return refuse(ErrorCode::version_conflict, "of what is erased");
  if (put_fault) return refuse(*put_fault);
  if (snapshot.version.value == 0 || snapshot.version > version(snapshot.aggregate))
    return refuse(ErrorCode::not_found, "no such version");
  keep(snapshot, snapshot.version);
  return {};
}

}  // namespace evershard::actors
