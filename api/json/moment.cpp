#include "evershard/api/json/moment.hpp"

#include <string>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {

Result<Moment> moment_of(EventStore& store, const AggregateId& aggregate, std::optional<std::uint64_t> version,
                         std::optional<GlobalPosition> up_to) {
  auto info = store.aggregate(aggregate, up_to);
  if (!info) return refuse(std::move(info).error());
  if (!version || *version == info->version.value) return Moment{info->version, info->last_position};
  const auto name = in_quotes(aggregate.text(), 700);
  if (*version > info->version.value) {
    return refuse(ErrorCode::not_found, "aggregate " + name + " is at version " + std::to_string(info->version.value) +
                                            "; it has no version " + std::to_string(*version) + " yet");
  }
  auto stream = store.read(aggregate, StreamOptions{.from = SeqNr(*version), .limit = 1});
  auto event = stream.next();
  if (!event) return refuse(std::move(event).error());
  if (!*event) return refuse(ErrorCode::not_found, "there is no version " + std::to_string(*version) + " of " + name);
  return Moment{SeqNr(*version), (*event)->position};
}

void write_snapshot_facts(JsonText& json, const std::optional<RecordedSnapshot>& snapshot) {
  if (!snapshot) {
    json.raw("null");
    return;
  }
  json.begin_object()
      .key("position")
      .number(snapshot->position.value)
      .key("schema_revision")
      .number(snapshot->schema_revision);
  json.key("payload_format")
      .number(static_cast<std::uint32_t>(snapshot->format))
      .key("taken_at")
      .string(snapshot->taken_at.text());
  json.key("latest").boolean(snapshot->latest).end_object();
}

}  // namespace evershard
