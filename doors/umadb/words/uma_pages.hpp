// UmaPages: pages of ours, as the store encodes them, as responses of UmaDB's. No event is built on the way.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/doors/umadb/words/uma_event.hpp"

namespace evershard::umadb {

/// Views an encoded RecordedEvent. Returns: false: it is none.
[[nodiscard]] bool view(std::string_view bytes, RecordedView& view);

/// The events of an encoded Page, one after the other.
class EncodedEvents {
 public:
  EncodedEvents() = default;
  explicit EncodedEvents(std::string page) : page_(std::move(page)) {}

  /// Returns: false: there is no further one. What is damaged ends it too: `damaged`.
  /// Shape: `view` holds until the object goes.
  [[nodiscard]] bool next(RecordedView& view);
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  std::string page_;
  std::size_t at_ = 0;
  bool damaged_ = false;
};

/// A ReadResponse or a SubscribeResponse, written event by event.
class UmaResponse {
 public:
  void add(const RecordedView& event);
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t last_position() const { return last_position_; }
  /// Shape: then it is empty again.
  [[nodiscard]] std::string take(std::optional<std::uint64_t> head);

 private:
  UmaEvent shown_;
  std::string bytes_;
  std::size_t events_ = 0;
  std::uint64_t last_position_ = 0;
};

}  // namespace evershard::umadb
