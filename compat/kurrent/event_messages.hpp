// EventMessages: what a read gives, a message an event, written straight from events as they are stored.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/protocol/recorded_view.hpp"

namespace evershard::kurrent {

/// Encoded messages, one behind the other in one piece of memory: where events are many, building a message of each
/// costs more than all the rest.
class EventMessages {
 public:
  /// As ReadResp with an event: what put_event() makes of it. Cost: a copy of the event.
  void add(const RecordedView& event, bool structured_ids);
  void add(const esp::ReadResp& message);

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::size_t bytes() const { return used_; }

  /// What was added, as one piece. Shape: then it is empty.
  struct Piece {
    std::unique_ptr<char[]> bytes{};
    std::vector<std::size_t> ends{};  ///< of each message
  };
  [[nodiscard]] Piece take();

 private:
  /// Room for so many bytes more. Returns: where they begin.
  char* room(std::size_t bytes);

  std::unique_ptr<char[]> memory_{};
  std::size_t capacity_ = 0, used_ = 0;
  std::vector<std::size_t> ends_{};
};

}  // namespace evershard::kurrent
