// RemoteFeed: a subscription over the wire; goes on behind what it gave when the connection breaks.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/cluster/remote/connection.hpp"

namespace evershard::remote {

/// A server that was there once is waited for, however long it is gone; one that was never there is an error after the time-out.
/// Reads one message ahead, no more: a slow consumer holds back its own stream only.
class RemoteFeed final : public FeedSource {
 public:
  RemoteFeed(std::shared_ptr<Connection> connection, pb::SubscribeRequest request);
  ~RemoteFeed() override;

  Result<FeedItem> next(std::chrono::milliseconds timeout) override;
  void cancel() override;

 private:
  class Call;
  /// Outlives the feed until the call under way is over.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<Call> call;                 ///< absent: none is under way
    std::optional<pb::SubscribeResponse> item;  ///< came, not taken yet
    std::optional<Error> error;                 ///< why the last call ended
    bool cancelled = false;
  };

  void open(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Result<FeedItem> take(pb::SubscribeResponse item);

  const std::shared_ptr<Connection> connection_;
  pb::SubscribeRequest request_;  ///< `after`: what was given so far
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::uint32_t tries_ = 0;  ///< since the last message
  std::chrono::steady_clock::time_point retry_at_{};
  std::chrono::steady_clock::time_point heard_at_ = std::chrono::steady_clock::now();
  const std::chrono::steady_clock::time_point began_ = heard_at_;
  bool heard_ = false;  ///< ever
};

}  // namespace evershard::remote
