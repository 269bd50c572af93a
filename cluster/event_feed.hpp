// EventFeed: following live behind the watermark. Catch-up and live are the same code.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct FollowOptions {
  GlobalPosition after{0};            ///< exclusive
  std::size_t page_events_max = 1'000;
};

/// What the feed tells next.
struct FeedItem {
  enum class Kind : std::uint8_t {
    events,
    caught_up,    ///< everything up to `watermark` was given: told once, and again whenever it had fallen behind
    fell_behind,  ///< more than a page is waiting
    idle,         ///< the time-out passed, nothing new
  };
  Kind kind = Kind::idle;
  std::vector<RecordedEvent> events;
  GlobalPosition watermark;  ///< everything up to here was looked at: the checkpoint to go on from
};

class FeedSource {
 public:
  virtual ~FeedSource() = default;
  virtual Result<FeedItem> next(std::chrono::milliseconds timeout) = 0;
  virtual void cancel() = 0;
};

/// One consumer; pulls, so a slow one slows only itself. cancel() from any thread.
class EventFeed {
 public:
  explicit EventFeed(std::unique_ptr<FeedSource> source) : source_(std::move(source)) {}
  explicit EventFeed(Error error) : error_(std::move(error)) {}
  /// Errors: corruption, io, cancelled, unavailable (the store was closed), invalid_query
  [[nodiscard]] Result<FeedItem> next(std::chrono::milliseconds timeout);
  void cancel();

 private:
  std::unique_ptr<FeedSource> source_;
  std::optional<Error> error_;
};

}  // namespace evershard
