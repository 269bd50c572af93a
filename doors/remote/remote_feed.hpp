// RemoteFeed: a subscription over the wire; goes on behind what it gave when the connection breaks.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

/// A server that was there once is waited for, however long it is gone; one that was never there is an error, at once
/// where no time mends it, else after the time-out. Where the server's store is another fork than before, it ends with
/// `invalid_argument`, which names both. Reads one message ahead, no more: a slow consumer holds back its own stream
/// only.
class RemoteFeed final : public FeedSource {
 public:
  RemoteFeed(std::shared_ptr<Connection> connection, pb::SubscribeRequest request);
  ~RemoteFeed() override;

  Result<FeedItem> next(std::chrono::milliseconds timeout) override;
  void cancel() override;

 private:
  class Call;

  void open();
  [[nodiscard]] Result<FeedItem> take(pb::SubscribeResponse item);
  [[nodiscard]] FeedItem idle(std::chrono::steady_clock::time_point now) const;

  const std::shared_ptr<Connection> connection_;
  pb::SubscribeRequest request_;  ///< `after`: what was given so far
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Call> call_;                 ///< absent: none is under way
  std::shared_ptr<Call> over_;                 ///< the one before; goes before connection_ does, see AppendStream
  std::optional<pb::SubscribeResponse> item_;  ///< came, not taken yet
  std::string led_;                            ///< whose order the call follows, as it said last
  std::optional<Error> error_;                 ///< why the last call ended
  std::optional<Error> not_taken_;             ///< the call was ended here, as what came is of another history
  bool cancelled_ = false;
  std::uint32_t tries_ = 0;                  ///< since the last message
  std::chrono::milliseconds retry_after_{};  ///< as a full server said last
  std::chrono::steady_clock::time_point retry_at_{};
  std::chrono::steady_clock::time_point heard_at_ = std::chrono::steady_clock::now();
  const std::chrono::steady_clock::time_point began_ = heard_at_;
  bool heard_ = false;   ///< ever
  bool silent_ = false;  ///< the call was ended here, as nothing came
  std::optional<std::chrono::steady_clock::time_point> away_since_;
  Error why_away_;
  bool away_told_ = false;  ///< of this absence
};

}  // namespace evershard::remote
