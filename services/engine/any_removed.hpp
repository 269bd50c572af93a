// AnyRemoved: whether events were ever removed from a store, or payloads erased.

#pragma once

#include <atomic>
#include <cstdint>

#include "evershard/api/event_store.hpp"

namespace evershard::cluster {

/// Any thread. Owner: the store outlives it; it shows reserved names.
class AnyRemoved {
 public:
  explicit AnyRemoved(EventStore& events) : events_(events) {}
  /// Errors: of reading. Cost: looked up once, or once for each head at which there was nothing.
  [[nodiscard]] Result<bool> operator()();

 private:
  EventStore& events_;
  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> none_at_{0};  ///< the head, and 1 more; 0: never looked
};

}  // namespace evershard::cluster
