// EventFeed: following live behind the watermark. Catch-up and live are the same code.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

struct FollowOptions {
  /// Exclusive. Beyond the head is `invalid_argument`: it is a position of another history. A node of a cluster, which
  /// may be behind the others, waits.
  GlobalPosition after{0};
  std::size_t page_events_max = 1'000;
};

/// What the feed tells next.
struct FeedItem {
  enum class Kind : std::uint8_t {
    events,
    caught_up,    ///< everything up to `watermark` was given: told once, and again whenever it had fallen behind
    fell_behind,  ///< more than a page is waiting
    idle,         ///< the time-out passed, nothing new; or the server is away
  };
  /// A server that cannot be reached, or that ends one subscription after the other as it cannot answer.
  struct Away {
    Error why{};                           ///< of the last try
    std::chrono::milliseconds gone_for{};  ///< since the last one that worked ended
  };
  Kind kind = Kind::idle;
  std::vector<RecordedEvent> events{};
  /// The checkpoint to go on from: every event up to here was looked at and, if it matches, given. It moves on in every
  /// kind of item, also past events that do not match.
  GlobalPosition watermark{};
  /// Of an idle item: nobody knows whether there is anything new. The feed tells so as soon as a server has been away
  /// for a second, and then with each item until the server is back. The feed goes on by itself.
  std::optional<Away> away{};
};

/// Where an EventFeed gets its items from. One thread, but for cancel().
class FeedSource {
 public:
  virtual ~FeedSource() = default;
  [[nodiscard]] virtual Result<FeedItem> next(std::chrono::milliseconds timeout) = 0;
  /// A next() under way answers `cancelled` soon, and so does every later one.
  virtual void cancel() = 0;
};

/// One consumer; pulls, so a slow one slows only itself. Move-only; one thread, but for cancel().
class EventFeed {
 public:
  explicit EventFeed(std::unique_ptr<FeedSource> source) : source_(std::move(source)) {}
  explicit EventFeed(Error error) : error_(std::move(error)) {}

  /// Waits until there is something to tell, at most `timeout`; 0: looks, and does not wait.
  /// Errors: corruption, io, cancelled, unavailable (the store was closed), invalid_query; once there was one, every
  /// further call answers it
  [[nodiscard]] Result<FeedItem> next(std::chrono::milliseconds timeout);
  /// From any thread.
  void cancel();

 private:
  std::unique_ptr<FeedSource> source_;
  std::optional<Error> error_;
};

}  // namespace evershard
