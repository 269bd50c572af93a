#include "evershard/actors/core/writer_state.hpp"

#include <optional>
#include <utility>

#include "evershard/actors/core/check_versions.hpp"
#include "evershard/actors/core/named_ids.hpp"

namespace evershard::actors {

WriterState::WriterState(sharding::OrderState start, Options options)
    : ordering_(start, options.ordering),
      recent_(start.watermark, options.recent_entries_max, options.key),
      shown_(start.watermark) {}

// Ids come first: whatever else there is to say of a request that is placed, its own events are the reason (I-Once).
Decision WriterState::decide(const Prepared& prepared, std::vector<storage::PlacedEvent>& places) {
  if (prepared.view < recent_.floor()) return {Decision::Kind::beyond, shown_};
  if (prepared.named) {
    if (const auto placed = find_ids(prepared)) return {Decision::Kind::joins, *placed};
  }
  if (prepared.refusal) return {Decision::Kind::refused, prepared.refusal->rests_on, prepared.refusal->error};
  find_heads(prepared);
  if (auto conflict = check_versions(prepared, heads_, last_writer_)) {
    return {Decision::Kind::refused, heads_[conflict->aggregate].last_position, std::move(conflict->error)};
  }
  if (!prepared.terms.empty()) {
    const sharding::Verdict verdict = ordering_.judge(prepared.terms);
    if (verdict.kind == sharding::Verdict::Kind::stale) return {Decision::Kind::beyond, shown_};
    if (verdict.kind == sharding::Verdict::Kind::matched) return {Decision::Kind::matched, verdict.position};
  }
  return place(prepared, places);
}

std::optional<GlobalPosition> WriterState::find_ids(const Prepared& prepared) {
  std::optional<GlobalPosition> placed;
  any_named_id(prepared, [&](const EventId& id, ShardId) { return (placed = recent_.find(id)).has_value(); });
  return placed;
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
  if (append.request_key.given()) recent_.add(append.request_key, append.events.front().shard, last);
  if (append.command.given()) recent_.add(append.command, append.events[append.command_event].shard, last);
  for (std::size_t i = 0; i < append.aggregates.size(); ++i) {
    recent_.set_head(append.aggregates[i].stream, append.aggregates[i].text, {heads_[i], prepared.chain.writer});
  }
  recent_.forget(last, shown_);
  return {Decision::Kind::placed, first};
}

}  // namespace evershard::actors
