// StreamStates: which streams have metadata or are gone for good, by the events that say so. Decisions only.

#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"

namespace evershard::kurrent {

struct StreamState {
  std::string json{};  ///< of the last `$metadata`
  StreamMetadata metadata{};
  SeqNr metadata_version{};                    ///< of the stream `$$NAME`
  std::optional<GlobalPosition> deleted_at{};  ///< the last deletion, also where the stream was written again
  SeqNr removed_version{};  ///< of the stream behind its last removal: nobody else knows while it is hidden; 0: never
  bool tombstoned = false;

  friend bool operator==(const StreamState&, const StreamState&) = default;
};

/// Ordinary streams are not in it. Owner: whoever feeds it locks it.
class StreamStates {
 public:
  /// What is to be fed: everything that matches, in order of position.
  [[nodiscard]] static Query query();
  void apply(const RecordedEvent& event);
  /// Absent: an ordinary stream.
  [[nodiscard]] std::optional<StreamState> find(const AggregateId& stream) const;

 private:
  void removed(const RecordedEvent& event);

  std::unordered_map<AggregateId, StreamState> states_;
};

}  // namespace evershard::kurrent
