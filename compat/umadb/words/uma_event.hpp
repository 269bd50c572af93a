// UmaDB's events <-> ours.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/compat/umadb/words/uma_metadata.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/umadb/umadb.pb.h"

namespace evershard::umadb {

/// How far a consumer of events has come.
struct Tracking {
  std::string source;
  std::uint64_t position = 0;

  friend bool operator==(const Tracking&, const Tracking&) = default;
};

/// An event as the store takes it: without an aggregate, its order of tags and its tracking info kept beside them.
///
/// Shape:  `from` is taken apart.
/// Errors: invalid_argument: a uuid that is none, a key that comes twice or is our own, a tag of our own; what the
///         store allows is the store's to say
[[nodiscard]] Result<Event> event_of(::umadb::v1::Event& from, const Tracking* tracking = nullptr);

/// Gives the event another id, where its own is another event's already: the client's is kept in the metadata, and
/// shown. Shape: of event_of()
void give_other_id(Event& event);

/// Errors: invalid_argument: a source without a name, or with one that is too long
[[nodiscard]] Result<void> check(const Tracking& tracking);

/// An event of ours, as their clients see it. One is shown after the other.
class UmaEvent {
 public:
  /// Shape: `event` holds as long as what is asked for here.
  void show(const RecordedView& event);

  [[nodiscard]] std::uint64_t position() const { return event_->position.value; }
  [[nodiscard]] std::string_view type() const { return event_->type; }
  [[nodiscard]] const std::vector<std::string_view>& tags() const { return tags_; }
  [[nodiscard]] std::string_view data() const { return event_->payload; }
  /// Empty: its client gave none.
  [[nodiscard]] std::string_view uuid() const { return {uuid_.data(), uuid_bytes_}; }
  [[nodiscard]] const std::vector<std::pair<std::string_view, std::string_view>>& metadata() const {
    return metadata_.pairs();
  }
  [[nodiscard]] const std::optional<std::pair<std::string_view, std::uint64_t>>& tracking() const { return tracking_; }

 private:
  void put_uuid(std::string_view text);
  void put_uuid(const EventId& id);
  void put_tags_in_order();

  const RecordedView* event_ = nullptr;
  UmaMetadata metadata_;
  std::vector<std::string_view> tags_, stored_tags_;
  std::array<char, 36> uuid_{};  ///< no allocation: there are many of these
  std::size_t uuid_bytes_ = 0;
  std::optional<std::pair<std::string_view, std::uint64_t>> tracking_;
};

}  // namespace evershard::umadb
