// UmaPages: events of ours, as they are stored, as responses of UmaDB's. No event is built on the way.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/compat/umadb/words/uma_event.hpp"

namespace evershard::umadb {

/// A ReadResponse or a SubscribeResponse, written event by event.
class UmaResponse {
 public:
  void add(const RecordedView& event);
  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::uint64_t last_position() const { return last_position_; }
  /// Shape: then it is empty again.
  [[nodiscard]] std::string take();

 private:
  UmaEvent shown_;
  std::string bytes_;
  std::size_t events_ = 0;
  std::uint64_t last_position_ = 0;
};

/// Adds the head to a response that was taken.
void put_head(std::uint64_t head, std::string& response);

}  // namespace evershard::umadb
