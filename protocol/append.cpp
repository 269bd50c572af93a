#include "evershard/protocol/append.hpp"

namespace evershard {
namespace {

/// The id, or nothing, and then the first mistake is kept.
std::optional<AggregateId> parsed(std::string_view text, std::optional<Error>& malformed) {
  auto id = AggregateId::parse(text);
  if (id) return std::move(*id);
  if (!malformed) malformed = std::move(id).error();
  return std::nullopt;
}

}  // namespace

Append& Append::event(std::string_view aggregate, std::string type, std::string payload, std::vector<Tag> tags) & {
  Event event;
  if (!aggregate.empty()) event.aggregate = parsed(aggregate, malformed);
  event.type = std::move(type);
  event.payload = std::move(payload);
  event.tags = std::move(tags);
  events.push_back(std::move(event));
  return *this;
}

Append& Append::event(Event event) & {
  events.push_back(std::move(event));
  return *this;
}

Append& Append::expect(std::string_view aggregate, ExpectedVersion version) & {
  if (auto id = parsed(aggregate, malformed)) expectations.push_back({std::move(*id), version});
  return *this;
}

Append& Append::expect(AggregateId aggregate, ExpectedVersion version) & {
  expectations.push_back({std::move(aggregate), version});
  return *this;
}

Append& Append::fail_if(Query query, GlobalPosition after) & {
  conditions.push_back({std::move(query), after});
  return *this;
}

Append& Append::snapshot(Snapshot snapshot) & {
  snapshots.push_back(std::move(snapshot));
  return *this;
}

Append& Append::request(RequestId id) & {
  request_id = id;
  return *this;
}

}  // namespace evershard
