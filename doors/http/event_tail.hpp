// EventTail: following a query as server-sent events.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "evershard/doors/http/stream.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/doors/serving/types_cache.hpp"

namespace evershard::http {

/// Holds one page at most, made when it is asked for; waits in the HeadWatch, in no thread.
///
/// Tells `event` (id: its position), `caught_up` and `fell_behind` (`{"watermark":..}`, id: everything up to there was
/// looked at), `error` as its last word, and a comment where there is nothing to tell.
class EventTail final : public Stream, public std::enable_shared_from_this<EventTail> {
 public:
  /// Shape: the query was checked. `types`: outlives the tail.
  EventTail(serving::Served served, serving::TypesCache& types, Query query, GlobalPosition after,
            std::chrono::milliseconds heartbeat);
  void next(Done done) override;
  void cancel() override;

 private:
  void look(Done done);
  void wait(Done done);
  [[nodiscard]] Piece piece_of(const FeedItem& item);

  const serving::Served served_;
  serving::TypesCache& types_;
  const Query query_;
  const std::chrono::milliseconds heartbeat_;
  EventFeed feed_;
  GlobalPosition at_;
  const std::shared_ptr<storage::ReadWork> work_;
  std::mutex mutex_;
  bool cancelled_ = false;
  serving::HeadWatch::Ticket ticket_ = 0;
};

}  // namespace evershard::http
