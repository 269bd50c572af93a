// A subscription over the wire: repeated reading behind the watermark, for as long as the client likes.

#pragma once

#include <mutex>
#include <optional>

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

/// One thing at a time: reading in the pool, sending, or waiting for the watch to say that there is something. While it
/// waits it holds no thread.
class SubscribeCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            public std::enable_shared_from_this<SubscribeCall> {
 public:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(Calls& calls, serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in);
  SubscribeCall(Calls& calls, serving::MethodMetrics& counted)
      : calls_(calls), here_(calls, counted), work_(calls.served.long_reads->begin()) {
    calls_.served.metrics->streams(calls_.speaks, 1);
  }
  ~SubscribeCall() override { calls_.served.metrics->streams(calls_.speaks, -1); }

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    reader_.reset();
    self_.reset();
  }

 private:
  enum class State : std::uint8_t { reading, sending, waiting, finished };

  Result<void> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in);
  void read();
  void wait(GlobalPosition from);
  void woken(serving::HeadWatch::Why why, GlobalPosition looked_at);
  void send(pb::SubscribeResponse& response);
  void run_read();
  void finish(const grpc::Status& status);
  [[nodiscard]] bool cancelled();

  Calls& calls_;
  UnderWay here_;
  const std::shared_ptr<storage::ReadWork> work_;
  std::shared_ptr<SubscribeCall> self_;  ///< until OnDone
  std::optional<ReaderHere> reader_;
  Query query_;
  std::optional<EventFeed> feed_;  ///< the pool's, but for cancel()
  std::chrono::milliseconds heartbeat_{10'000};
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  State state_ = State::reading;
  GlobalPosition at_;  ///< what was told last
  serving::HeadWatch::Ticket ticket_ = 0;
  bool cancelled_ = false;
};

}  // namespace evershard::door
