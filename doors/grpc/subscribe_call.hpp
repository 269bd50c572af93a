// A subscription over the wire: repeated reading behind the watermark, for as long as the client likes.

#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

/// One thing at a time: reading in the pool, sending, or waiting for the watch to say that there is something. While it
/// waits it holds no thread.
class SubscribeCall : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                      public std::enable_shared_from_this<SubscribeCall> {
 public:
  /// Shape: `Call`: this, or what another protocol makes of it
  template <class Call = SubscribeCall>
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(Calls& calls, serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in) {
    return begin_call(std::make_shared<Call>(calls, counted), context, *in);
  }
  SubscribeCall(Calls& calls, serving::MethodMetrics& counted)
      : calls_(calls), here_(calls, counted), work_(calls.served.long_reads->begin()) {
    calls_.served.metrics->streams(calls_.speaks, 1);
  }
  ~SubscribeCall() override { calls_.served.metrics->streams(calls_.speaks, -1); }

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    here_.leaves();
    reader_.reset();
    self_.reset();
  }

 protected:
  static constexpr auto without_heartbeat = std::chrono::hours(24 * 365);

  /// Sets what to follow. Returns: false: there is nothing to follow, the call is over. Errors: the call's
  virtual Result<bool> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in);
  /// Whether the subscription may begin behind a position: at once, or when this node has come as far. Errors:
  /// invalid_argument
  [[nodiscard]] Result<void> check_after(GlobalPosition after, bool of_this_fork);
  /// In the pool, of an item that is not idle. Returns: nothing: it is not told. `at`: everything up to there was told.
  virtual std::optional<grpc::ByteBuffer> message_of(const FeedItem& item, GlobalPosition at);

  Calls& calls_;
  UnderWay here_;
  Query query_;
  std::optional<EventFeed> feed_;  ///< the pool's, but for cancel()
  std::chrono::milliseconds heartbeat_{10'000};
  GlobalPosition at_;             ///< what was told last
  bool never_ = false;            ///< nothing will ever match
  bool answers_at_once_ = false;  ///< its client waits for an answer's beginning, even where there is nothing to tell

 private:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* begin_call(std::shared_ptr<SubscribeCall> call,
                                                                grpc::CallbackServerContext* context,
                                                                const grpc::ByteBuffer& in);
  enum class State : std::uint8_t { reading, sending, waiting, finished };

  void begin_answer();
  void read();
  void wait(GlobalPosition from);
  void wait_for_head();
  void wait_by(const std::function<serving::HeadWatch::Ticket()>& begin);
  void head_reached(const Result<GlobalPosition>& reached);
  void woken(serving::HeadWatch::Why why, GlobalPosition looked_at);
  /// A heartbeat has looked further than the feed, which says where it was when it falls behind.
  GlobalPosition told_up_to(GlobalPosition watermark);
  /// The first message of all names the fork, and whose order is followed; where that changes, a later one does.
  void name_history(pb::SubscribeResponse& response);
  void send(grpc::ByteBuffer bytes);
  void run_read();
  void finish(const grpc::Status& status);
  [[nodiscard]] bool cancelled();

  const std::shared_ptr<storage::ReadWork> work_;
  std::shared_ptr<SubscribeCall> self_;  ///< until OnDone
  std::optional<ReaderHere> reader_;
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  State state_ = State::reading;
  serving::HeadWatch::Ticket ticket_ = 0;
  bool cancelled_ = false;
  bool waits_for_head_ = false;
  bool fork_named_ = false;
  std::shared_ptr<const std::string> led_named_;
  std::optional<Error> other_fork_;  ///< told behind a message that names the store's
};

}  // namespace evershard::door
