#include "evershard/storage/repair/inspect.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/chunks.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/waiting_row.hpp"
#include "evershard/storage/order/applied.hpp"

namespace evershard::storage {
namespace {

using Json = nlohmann::ordered_json;
using StateKind = keys::StateKey::Kind;

Json text(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  return {{"hex", hex(bytes)}};
}

Json text(const AggregateId& aggregate) { return text(aggregate.text()); }

Json digits(std::uint64_t hash) {
  char buffer[17];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(hash));
  return std::string(buffer);
}

Json undecodable(const Error& error, std::string_view bytes) { return {{"error", error.what}, {"hex", hex(bytes)}}; }

std::string_view name_of(EventState state) {
  switch (state) {
    case EventState::live:
      return "live";
    case EventState::removed:
      return "removed";
    case EventState::erased:
      return "erased";
  }
  return "unknown";
}

Json location(const EventLocation& location) {
  return {{"shard", location.shard.value},
          {"offset", location.offset().value},
          {"record", location.record.value},
          {"index", location.index}};
}

Json at(GlobalPosition position, const EventLocation& where) {
  Json json{{"position", position.value}};
  json.update(location(where));
  return json;
}

// ---- keys

Json key_of_state(std::string_view key) {
  const auto state = keys::decode_state(key);
  if (!state) return undecodable(state.error(), key);
  switch (state->kind) {
    case StateKind::identity:
      return {{"kind", "identity"}};
    case StateKind::applied:
      return {{"kind", "applied"}};
    case StateKind::checkpoint:
      return {{"kind", "checkpoint"}, {"name", text(state->name)}};
    case StateKind::covered:
      return {{"kind", "covered"}, {"shard", state->shard.value}};
    case StateKind::waiting:
      return {{"kind", "waiting"}, {"shard", state->shard.value}, {"offset", state->offset.value}};
    case StateKind::snapshot:
      break;
  }
  Json json{{"kind", "snapshot"}, {"aggregate", text(state->aggregate)}};
  if (state->retained) {
    json["retained"] = state->retained->value;
  } else {
    json["latest"] = true;
  }
  return json;
}

Json key_json(Family family, std::string_view key) {
  const auto decoded = [&](auto result, auto describe) -> Json {
    return result ? describe(*result) : undecodable(result.error(), key);
  };
  switch (family) {
    case Family::journal:
      return decoded(keys::decode_journal(key), [](const keys::JournalKey& k) -> Json {
        return {{"shard", k.shard.value}, {"offset", k.offset.value}};
      });
    case Family::order:
      return decoded(keys::decode_order(key), [](GlobalPosition first) -> Json { return {{"position", first.value}}; });
    case Family::state:
      return key_of_state(key);
    case Family::streams:
      return decoded(keys::decode_stream(key), [](const keys::StreamKey& k) -> Json {
        return {{"stream", digits(k.stream)}, {"seq_nr", k.first_seq_nr.value}, {"position", k.first.value}};
      });
    case Family::postings:
      return decoded(keys::decode_posting(key), [](const keys::PostingKey& k) -> Json {
        return {{"term", digits(k.term)}, {"position", k.first.value}};
      });
    case Family::ids:
      return decoded(keys::decode_id(key), [](const keys::IdKey& k) -> Json {
        return {{"id", k.id.text()}, {"shard", k.shard.value}};
      });
    case Family::directory:
      return decoded(keys::decode_directory(key), [](const keys::DirectoryKey& k) -> Json {
        return {{"aggregate", text(k.aggregate)}};
      });
    case Family::runs:
      return decoded(keys::decode_run(key), [](const keys::RunKey& k) -> Json {
        return {{"shard", k.shard.value}, {"position", k.first.value}};
      });
  }
  return {{"error", "no such family"}, {"hex", hex(key)}};
}

// ---- values

Json event_json(const EventView& event, ShardOffset offset) {
  Json json{{"offset", offset.value}, {"state", name_of(event.state)}, {"id", event.id.text()}};
  if (!event.aggregate_type.empty()) {
    json["aggregate"] = text(AggregateId{std::string(event.aggregate_type), std::string(event.aggregate_value)});
    json["seq_nr"] = event.seq_nr.value;
  }
  json["type"] = text(event.type);
  for_each_tag(event, [&](std::string_view tag) { json["tags"].push_back(text(tag)); });
  for_each_also(event, [&](std::string_view type, std::string_view value) {
    json["also"].push_back(text(AggregateId{std::string(type), std::string(value)}));
  });
  json["occurred_at"] = event.occurred_at.text();
  json["index"] = event.index;
  json["count"] = event.count;
  if (event.request) json["request"] = event.request->text();
  if (event.content_hash) json["content_hash"] = digits(*event.content_hash);
  if (event.command_id) json["command"] = Json{{"id", text(*event.command_id)}, {"reply", text(event.reply)}};
  json["format"] = static_cast<std::uint32_t>(event.format);
  if (event.metadata) json["metadata"] = text(*event.metadata);
  json["payload"] = text(event.payload);
  return json;
}

Json record_json(std::string_view key, std::string_view value) {
  const auto place = keys::decode_journal(key);
  if (!place) return undecodable(place.error(), value);
  const auto record = RecordView::open(value, place->shard, place->offset);
  if (!record) return undecodable(record.error(), value);
  Json events = Json::array();
  for (std::size_t i = 0; i < record->size(); ++i) {
    const ShardOffset offset = record->first() + i;
    const auto event = record->event(i);
    events.push_back(event ? event_json(*event, offset)
                           : Json{{"offset", offset.value}, {"error", event.error().what}});
  }
  return {{"bytes", value.size()}, {"events", std::move(events)}};
}

Json cut_json(std::string_view value) {
  const auto cut = sharding::decode_cut(value, sharding::CutOf::node);
  if (!cut) return undecodable(cut.error(), value);
  Json segments = Json::array();
  for (const sharding::Segment& segment : cut->segments) {
    if (segment.is_elsewhere()) {
      segments.push_back(Json{{"elsewhere", segment.events()}});
      continue;
    }
    Json json{{"shard", segment.shard.value},
              {"epoch", segment.epoch.value},
              {"first", segment.first.value},
              {"end", segment.end.value}};
    for (const ShardOffset refused : segment.refused) json["refused"].push_back(refused.value);
    segments.push_back(std::move(json));
  }
  Json json{{"number", cut->number.value},
            {"coordinator", cut->coordinator.value},
            {"first_position", cut->first_position.value},
            {"last_position", cut->last_position().value},
            {"segments", std::move(segments)}};
  for (const sharding::Opening& opening : cut->openings) {
    json["openings"].push_back(Json{{"shard", opening.shard.value},
                                    {"epoch", opening.epoch.value},
                                    {"node", opening.node},
                                    {"tail", opening.tail.value}});
  }
  return json;
}

Json identity_json(std::string_view value) {
  const auto identity = decode_identity(value);
  if (!identity) return undecodable(identity.error(), value);
  Json json{{"format", identity->format},
            {"store", identity->store.text()},
            {"fork", identity->fork.text()},
            {"shards", identity->shards},
            {"hash", identity->hash},
            {"term_key", digits(identity->term_key)},
            {"created_at", identity->created_at.text()}};
  if (identity->node != 0) json["node"] = identity->node;
  return json;
}

Json applied_json(std::string_view value) {
  const auto applied = decode_applied(value);
  if (!applied) return undecodable(applied.error(), value);
  Json epochs = Json::array();
  for (const auto& [shard, epoch] : applied->epochs)
    epochs.push_back(Json{{"shard", shard.value}, {"epoch", epoch.value}});
  return {{"number", applied->number.value},
          {"watermark", applied->watermark.value},
          {"coordinator", applied->coordinator.value},
          {"epochs", std::move(epochs)}};
}

Json snapshot_json(const AggregateId& aggregate, std::string_view value) {
  std::optional<std::uint32_t> keep;
  const auto snapshot = decode_snapshot_parts(value, aggregate, &keep);
  if (!snapshot) return undecodable(snapshot.error(), value);
  Json json{{"version", snapshot->version.value},
            {"position", snapshot->position.value},
            {"schema_revision", snapshot->schema_revision},
            {"taken_at", snapshot->taken_at.text()}};
  if (snapshot->expires_at) json["expires_at"] = snapshot->expires_at->text();
  if (keep) json["keep"] = *keep;
  json["format"] = static_cast<std::uint32_t>(snapshot->format);
  if (base_of_payload(aggregate, snapshot->payload))
    json["difference_bytes"] = snapshot->payload.size();  // from the base, which lies in a row of its own
  else
    json["payload"] = text(snapshot->payload);
  return json;
}

Json covered_json(std::string_view value) {
  const auto covered = decode_covered(value);
  if (!covered) return undecodable(covered.error(), value);
  Json json{{"end", covered->end.value}};
  if (covered->damaged) json["whole_to"] = covered->whole_to.value;
  for (const auto& lost : covered->lost)
    json["lost"].push_back(Json{{"from", lost.from.value},
                                {"until", lost.until.value},
                                {"after", lost.after.value},
                                {"up_to", lost.up_to.value},
                                {"epoch", lost.epoch.value}});
  if (covered->followed.value != 0) json["followed"] = covered->followed.value;
  if (covered->settled.value != 0) json["settled"] = covered->settled.value;
  if (covered->gone_from.value != 0) json["gone_from"] = covered->gone_from.value;
  return json;
}

Json waiting_json(std::string_view value) {
  const auto row = decode_waiting(value);
  if (!row) return undecodable(row.error(), value);
  Json json{{"events", row->events},
            {"tentative", row->tentative},
            {"conditions", row->conditions.size()},
            {"snapshots", Json::array()}};
  if (row->part) {
    Json runs = Json::array();
    for (const auto& [shard, events] : row->part->runs)
      runs.push_back(Json{{"shard", shard.value}, {"events", events}});
    json["part_of"] = Json{{"append", row->part->append.text()}, {"runs", std::move(runs)}};
  }
  for (const auto& waiting : row->snapshots) {
    json["snapshots"].push_back(Json{{"aggregate", text(waiting.snapshot.aggregate)},
                                     {"version", waiting.snapshot.version.value},
                                     {"event", waiting.event.value}});
  }
  return json;
}

Json state_json(std::string_view key, std::string_view value) {
  const auto state = keys::decode_state(key);
  if (!state) return undecodable(state.error(), value);
  switch (state->kind) {
    case StateKind::identity:
      return identity_json(value);
    case StateKind::applied:
      return applied_json(value);
    case StateKind::snapshot:
      return snapshot_json(state->aggregate, value);
    case StateKind::covered:
      return covered_json(value);
    case StateKind::waiting:
      return waiting_json(value);
    case StateKind::checkpoint:
      break;
  }
  return {{"bytes", value.size()}, {"value", text(value)}};
}

Json stream_json(std::string_view key, std::string_view value) {
  const auto place = keys::decode_stream(key);
  if (!place) return undecodable(place.error(), value);
  StreamChunk chunk;
  if (const auto done = decode_stream(value, chunk); !done) return undecodable(done.error(), value);
  Json entries = Json::array();
  SeqNr seq_nr = place->first_seq_nr;
  for (const StreamEntry& entry : chunk.entries) {
    Json json{{"seq_nr", seq_nr.value}};
    json.update(at(entry.position, entry.location));
    entries.push_back(std::move(json));
    ++seq_nr;
  }
  return {{"aggregate", text(chunk.aggregate_text)}, {"entries", std::move(entries)}};
}

Json postings_json(std::string_view value) {
  std::vector<Posting> postings;
  if (const auto done = decode_postings(value, postings); !done) return undecodable(done.error(), value);
  Json entries = Json::array();
  for (const Posting& posting : postings) {
    Json json = at(posting.position, posting.location);
    json["type"] = digits(posting.type);
    entries.push_back(std::move(json));
  }
  return {{"entries", std::move(entries)}};
}

Json id_json(std::string_view value) {
  const auto entry = decode_id_entry(value);
  if (!entry) return undecodable(entry.error(), value);
  constexpr std::array kinds{"event", "command", "request"};
  Json json{{"of", kinds.at(static_cast<std::size_t>(entry->kind))}};
  json.update(at(entry->position, entry->location));
  return json;
}

Json directory_json(std::string_view value) {
  const auto entry = decode_directory_entry(value);
  if (!entry) return undecodable(entry.error(), value);
  return {{"stream", digits(entry->stream)}, {"shard", entry->shard.value}};
}

Json runs_json(std::string_view key, std::string_view value) {
  const auto place = keys::decode_run(key);
  if (!place) return undecodable(place.error(), value);
  std::vector<sharding::Run> runs;
  if (const auto done = decode_runs(place->shard, value, runs); !done) return undecodable(done.error(), value);
  Json entries = Json::array();
  for (const sharding::Run& run : runs) {
    entries.push_back(Json{{"position", run.position.value}, {"offset", run.offset.value}, {"count", run.count}});
  }
  return {{"runs", std::move(entries)}};
}

Json value_json(Family family, std::string_view key, std::string_view value) {
  switch (family) {
    case Family::journal:
      return record_json(key, value);
    case Family::order:
      return cut_json(value);
    case Family::state:
      return state_json(key, value);
    case Family::streams:
      return stream_json(key, value);
    case Family::postings:
      return postings_json(value);
    case Family::ids:
      return id_json(value);
    case Family::directory:
      return directory_json(value);
    case Family::runs:
      return runs_json(key, value);
  }
  return {{"error", "no such family"}, {"hex", hex(value)}};
}

}  // namespace

std::string describe_key(Family family, std::string_view key) { return key_json(family, key).dump(); }

std::string describe_value(Family family, std::string_view key, std::string_view value) {
  return value_json(family, key, value).dump();
}

}  // namespace evershard::storage
