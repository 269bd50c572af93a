// HeldCursors: where reads leave their cursors between two pages; those nobody comes back for are let go.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "evershard/storage/index/reader.hpp"

namespace evershard::cluster {

/// A cursor pins tails and files of its time. A reader that stops reading must not keep them, and a store that closes
/// must find none: so a cursor belongs to its read while a page is made, and to this list between pages.
class HeldCursors {
 public:
  explicit HeldCursors(std::chrono::milliseconds idle_max = std::chrono::seconds(1)) : idle_max_(idle_max) {}
  ~HeldCursors() { close(); }

  using Ticket = std::uint64_t;  ///< 0: none

  /// After close(), or without a thread to look after it, the cursor is let go at once.
  [[nodiscard]] Ticket leave(std::unique_ptr<storage::EventCursor> cursor);
  /// The cursor of the ticket. Nothing: the cursor was let go.
  [[nodiscard]] std::unique_ptr<storage::EventCursor> take(Ticket ticket);
  /// Lets go of all.
  void close();

  [[nodiscard]] std::size_t held() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    Ticket ticket;
    Clock::time_point since;
    std::unique_ptr<storage::EventCursor> cursor;
  };

  void look_after();

  const std::chrono::milliseconds idle_max_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Held> held_;  ///< the longest held first; a handful: every entry is a read under way
  Ticket last_ = 0;
  bool watching_ = false;  ///< the thread looks once every idle_max_; else it sleeps until there is something
  bool closed_ = false;
  std::thread thread_;  ///< started by the first read of more than a page
};

}  // namespace evershard::cluster
