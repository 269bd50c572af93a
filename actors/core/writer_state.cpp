#include "evershard/actors/core/writer_state.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

// A command shares the table with event ids. The shard it is looked up under is its aggregate's; a command's key and an
// event's id are told apart by their 128 bits.
std::optional<ShardId> command_shard(const Prepared& prepared) {
  if (!prepared.append.command.given() || !prepared.command) return std::nullopt;
  for (const auto& aggregate : prepared.append.aggregates) {
    if (aggregate.id == prepared.command->aggregate) return aggregate.shard;
  }
  return std::nullopt;
}

Error conflict(const storage::EncodedAggregate& aggregate, ExpectedVersion expected, SeqNr actual) {
  ErrorDetails details;
  details.aggregate = aggregate.id;
  details.expected = expected;
  details.actual = actual;
  const std::string is = actual.value == 0 ? " does not exist" : " is at version " + std::to_string(actual.value);
  return {ErrorCode::version_conflict, "stream " + in_quotes(aggregate.text) + is + ", the append expects " + expected.text(),
          std::move(details)};
}

}  // namespace

WriterState::WriterState(sharding::OrderState start, Options options)
    : ordering_(start, options.ordering), recent_(start.watermark, options.recent_entries_max, options.key), shown_(start.watermark) {}

// Ids come first: whatever else there is to say of a request that is placed, its own events are the reason (I-Once).
Decision WriterState::decide(const Prepared& prepared, std::vector<storage::PlacedEvent>& places) {
  if (prepared.view < recent_.floor()) return {Decision::Kind::beyond, shown_};
  if (prepared.named) {
    if (const auto placed = find_ids(prepared)) return {Decision::Kind::joins, *placed};
  }
  if (prepared.refusal) return {Decision::Kind::refused, prepared.refusal->rests_on, prepared.refusal->error};
  find_heads(prepared);
  if (auto refused = check_versions(prepared)) return std::move(*refused);
  if (!prepared.terms.empty()) {
    const sharding::Verdict verdict = ordering_.judge(prepared.terms);
    if (verdict.kind == sharding::Verdict::Kind::stale) return {Decision::Kind::beyond, shown_};
    if (verdict.kind == sharding::Verdict::Kind::matched) return {Decision::Kind::matched, verdict.position};
  }
  return place(prepared, places);
}

std::optional<GlobalPosition> WriterState::find_ids(const Prepared& prepared) {
  for (const auto& event : prepared.append.events) {
    if (!event.id_given) continue;
    if (const auto placed = recent_.find(event.id, event.shard)) return placed;
  }
  if (const auto shard = command_shard(prepared)) return recent_.find(prepared.append.command, *shard);
  return std::nullopt;
}

void WriterState::find_heads(const Prepared& prepared) {
  heads_.assign(prepared.heads.begin(), prepared.heads.end());
  last_writer_ = 0;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const auto& aggregate = prepared.aggregate(i);
    if (const auto decided = recent_.head(aggregate.stream, aggregate.text)) {
      heads_[i] = decided->head;
      if (i == 0) last_writer_ = decided->writer;
    }
  }
}

std::optional<Decision> WriterState::check_versions(const Prepared& prepared) const {
  const auto refused = [&](std::size_t aggregate, ExpectedVersion expected) {
    const auto& head = heads_[aggregate];
    return Decision{Decision::Kind::refused, head.last_position, conflict(prepared.aggregate(aggregate), expected, head.version)};
  };
  for (const auto& expected : prepared.expected) {
    if (!expected.version.holds_for(heads_[expected.aggregate].version)) return refused(expected.aggregate, expected.version);
    // The version holds, but perhaps over events that the writer never saw. One that memory has forgotten was long ago: the same.
    if (prepared.chain.follows && last_writer_ != prepared.chain.writer) {
      auto decision = refused(expected.aggregate, expected.version);
      decision.error.what += " of events that its writer has seen";
      return decision;
    }
  }
  // A snapshot that names the version the append leaves expects the one before it.
  for (const auto& snapshot : prepared.append.snapshots) {
    const SeqNr named = snapshot.snapshot.version;
    if (named.value == 0) continue;
    const auto& events = prepared.append.events;
    const auto count = static_cast<std::uint64_t>(
        std::count_if(events.begin(), events.end(), [&](const auto& e) { return e.aggregate == snapshot.aggregate; }));
    if (named != heads_[snapshot.aggregate].version + count) {
      return refused(snapshot.aggregate, ExpectedVersion::exactly(named.value - count));
    }
  }
  return std::nullopt;
}

Decision WriterState::place(const Prepared& prepared, std::vector<storage::PlacedEvent>& places) {
  const auto& append = prepared.append;
  to_place_.clear();
  for (const auto& event : append.events) to_place_.push_back({event.shard, append.terms_of(event)});
  offsets_.resize(append.events.size());
  const GlobalPosition first = ordering_.place(to_place_, offsets_);
  const GlobalPosition last = first + (append.events.size() - 1);

  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto& event = append.events[i];
    SeqNr seq_nr{0};
    if (event.aggregate != storage::EncodedEvent::no_aggregate) {
      auto& head = heads_[event.aggregate];
      head.last_position = first + i;
      seq_nr = ++head.version;
    }
    places.push_back({seq_nr, offsets_[i]});
    if (event.id_given) recent_.add(event.id, event.shard, last);
  }
  if (const auto shard = command_shard(prepared)) recent_.add(append.command, *shard, last);
  for (std::size_t i = 0; i < append.aggregates.size(); ++i) {
    recent_.set_head(append.aggregates[i].stream, append.aggregates[i].text, {heads_[i], prepared.chain.writer});
  }
  recent_.forget(last, shown_);
  return {Decision::Kind::placed, first};
}

}  // namespace evershard::actors
