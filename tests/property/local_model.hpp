// LocalModel: what the store promises, in the most naive way: a list of events, and loops over it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::model {

/// What the store may answer to an append: this, or any one of those refusals. A refusal of the model has no text.
struct Answer {
  std::optional<Appended> accepted;
  std::vector<Error> refusals;
};

class LocalModel {
 public:
  explicit LocalModel(std::uint32_t shards) : shards_(shards) {}

  /// Takes it, where it is accepted. Events whose ids or times the store makes are still to be learned.
  Answer append(const Append& append);
  /// What the store made of an event: id, time, offset. Returns: what else differs, see difference().
  std::string learn(const RecordedEvent& event);

  [[nodiscard]] GlobalPosition head() const { return GlobalPosition{events_.size()}; }
  [[nodiscard]] const std::vector<RecordedEvent>& events() const { return events_; }
  [[nodiscard]] std::vector<RecordedEvent> read(const Query& query, const ReadOptions& options) const;
  [[nodiscard]] std::vector<RecordedEvent> read(const AggregateId& aggregate, const StreamOptions& options) const;
  /// Version 0: there is none.
  [[nodiscard]] AggregateInfo aggregate(const AggregateId& aggregate, GlobalPosition up_to) const;
  [[nodiscard]] std::vector<AggregateInfo> aggregates(const std::optional<std::string>& type,
                                                      const std::optional<AggregateId>& after, std::size_t limit) const;

  /// An event that the store itself wrote, at the next position.
  void wrote(RecordedEvent event) { events_.push_back(std::move(event)); }
  /// The aggregate's events below are stubs from now on; `whole`: removed, not truncated.
  void remove(const AggregateId& aggregate, SeqNr before, bool whole);
  /// Below which they are gone already; 1: none is.
  [[nodiscard]] SeqNr gone_before(const AggregateId& aggregate) const;
  /// Its last event says that it was removed.
  [[nodiscard]] bool hidden(const AggregateId& aggregate, GlobalPosition up_to) const;

  /// False: there is no such version.
  bool put_snapshot(const Snapshot& snapshot);
  [[nodiscard]] std::optional<Snapshot> latest(const AggregateId& aggregate) const;
  [[nodiscard]] std::optional<Snapshot> snapshot_at(const AggregateId& aggregate, SeqNr version) const;
  [[nodiscard]] std::optional<Snapshot> snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) const;
  /// The latest, then retained copies from the newest.
  [[nodiscard]] std::vector<Snapshot> snapshots(const AggregateId& aggregate) const;

 private:
  struct Request {
    std::vector<Event> events;
    Appended answer;
  };
  struct Known {
    std::size_t request;
    std::size_t index;
    GlobalPosition position;
  };
  struct Slots {
    std::optional<Snapshot> latest;
    std::map<SeqNr, Snapshot> retained;
  };

  std::optional<Answer> find_request(const std::optional<RequestId>& name, const std::vector<Event>& events) const;
  [[nodiscard]] bool made_anew(const Request& request, const std::vector<Event>& events) const;
  [[nodiscard]] ShardId shard_of(const Event& event, const EventId& first_id) const;
  [[nodiscard]] SeqNr version_of(const AggregateId& aggregate) const;
  void write(Snapshot snapshot);

  const std::uint32_t shards_;
  std::vector<RecordedEvent> events_;  ///< position - 1
  std::vector<Request> requests_;
  std::map<EventId, Known> ids_;
  std::map<RequestId, std::size_t> names_;  ///< of requests_
  std::map<AggregateId, Slots> snapshots_;
  std::map<AggregateId, std::pair<SeqNr, bool>> gone_;  ///< before, and whether as a whole
};

/// Names of the fields that differ; empty: they are equal.
std::string difference(const RecordedEvent& a, const RecordedEvent& b);

/// The definition of a match, once more and differently: by the words of docs and nothing else.
bool matches(const Query& query, const RecordedEvent& event);

}  // namespace evershard::model
