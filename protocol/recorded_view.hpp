// RecordedView: an event as stored, whose parts lie somewhere else: handed on without being built.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"

namespace evershard {

/// Borrows. What is filled again and again keeps the memory of its lists.
struct RecordedView {
  GlobalPosition position;
  ShardId shard;
  ShardOffset offset;
  EventId id;
  std::string_view aggregate_type;  ///< empty: no aggregate
  std::string_view aggregate_value;
  SeqNr seq_nr;
  std::string_view type;
  std::vector<std::string_view> tags;
  std::vector<std::pair<std::string_view, std::string_view>> also;  ///< type and value of each
  std::string_view payload;
  PayloadFormat format = PayloadFormat::unspecified;
  std::optional<std::string_view> metadata;  ///< absent: none
  Timestamp occurred_at;
  EventState state = EventState::live;
  std::uint32_t append_index = 0;
  std::uint32_t append_events = 1;
  std::string_view subject;        ///< of a sealed payload that was opened
  RecordedEvent* built = nullptr;  ///< the same event as a value; null: there is no value yet

  [[nodiscard]] bool is_of(const AggregateId& aggregate) const {
    return aggregate_type == aggregate.type && aggregate_value == aggregate.value;
  }
  /// Of none: none.
  [[nodiscard]] std::string_view metadata_bytes() const { return bytes_if(metadata); }
  [[nodiscard]] RecordedEvent event() const;
  /// As event(), but a value that is there already is moved: the view holds no longer then.
  [[nodiscard]] RecordedEvent take() const;
};

/// The view that a visitor is given holds until the visitor returns.
using RecordedVisitor = std::function<void(const RecordedView& event)>;

}  // namespace evershard
