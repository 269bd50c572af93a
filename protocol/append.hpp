// Append: one atomic unit of writing; its answer.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/protocol/version.hpp"

namespace evershard {

/// `ordered`: the answer carries positions. `durable`: it will survive and will be ordered, where is open; in one
/// process both are the same.
enum class Ack : std::uint8_t { ordered = 0, durable = 1 };

/// No event that matches `query` stands between `after` (exclusive) and the append's own first event.
struct AppendCondition {
  Query query;
  GlobalPosition after;  ///< 0: none at all; may lie beyond the last match, or beyond the head

  friend bool operator==(const AppendCondition&, const AppendCondition&) = default;
};

struct Expectation {
  AggregateId aggregate;
  ExpectedVersion version;

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// A command's id and its encoded reply, stored with its events: the same command again gives the stored reply.
struct CommandRecord {
  AggregateId aggregate;
  std::string id;  ///< 1 to 255 bytes
  std::string reply;
  friend bool operator==(const CommandRecord&, const CommandRecord&) = default;
};

/// Events of one or several aggregates, on any shards, written whole or not at all.
///
/// The builder's mistakes (a malformed aggregate id) are kept and refused by the store: building never throws.
struct Append {
  std::optional<RequestId> request_id;  ///< names the request for retries; the event ids serve otherwise
  std::vector<Event> events;
  std::vector<Expectation> expectations;    ///< at most one an aggregate
  std::vector<AppendCondition> conditions;  ///< all are required
  std::vector<Snapshot> snapshots;          ///< at most one an aggregate, of aggregates the append writes to
  std::optional<CommandRecord> command;
  Ack ack = Ack::ordered;
  bool from_export = false;  ///< what another store had: events whose content is gone, the store's own in aggregates'
                             ///< streams, and users' under reserved names
  std::optional<Error> malformed;  ///< the first mistake of the builder

  /// Aggregate as text, `type-value`; empty: an event without an aggregate.
  Append& event(std::string_view aggregate, std::string type, std::string payload, std::vector<Tag> tags = {}) &;
  Append& event(Event event) &;
  Append& expect(std::string_view aggregate, ExpectedVersion version) &;
  Append& expect(AggregateId aggregate, ExpectedVersion version) &;
  Append& fail_if(Query query, GlobalPosition after = GlobalPosition{0}) &;
  Append& snapshot(Snapshot snapshot) &;
  Append& request(RequestId id) &;

  Append&& event(std::string_view aggregate, std::string type, std::string payload, std::vector<Tag> tags = {}) && {
    return std::move(event(aggregate, std::move(type), std::move(payload), std::move(tags)));
  }
  Append&& event(Event e) && { return std::move(event(std::move(e))); }
  Append&& expect(std::string_view a, ExpectedVersion v) && { return std::move(expect(a, v)); }
  Append&& expect(AggregateId a, ExpectedVersion v) && { return std::move(expect(std::move(a), v)); }
  Append&& fail_if(Query q, GlobalPosition after = GlobalPosition{0}) && {
    return std::move(fail_if(std::move(q), after));
  }
  Append&& snapshot(Snapshot s) && { return std::move(snapshot(std::move(s))); }
  Append&& request(RequestId id) && { return std::move(request(id)); }

  friend bool operator==(const Append&, const Append&) = default;
};

struct AggregateVersion {
  AggregateId aggregate;
  SeqNr version;
  friend bool operator==(const AggregateVersion&, const AggregateVersion&) = default;
};

/// What acknowledges an append; the same for every retry of the same request, but for `duplicate`.
struct Appended {
  GlobalPosition first_position;
  GlobalPosition last_position;
  std::vector<AggregateVersion>
      versions;            ///< of each aggregate after its last event of this append, in order of first event
  bool duplicate = false;  ///< it was stored already
  friend bool operator==(const Appended&, const Appended&) = default;
};

}  // namespace evershard
