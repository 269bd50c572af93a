// Many appends in flight on one stream, each with its own outcome, in the order they came.

#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "evershard/doors/grpc/calls.hpp"
#include "evershard/store/messages/refusal.hpp"

namespace evershard::door {

/// One read and one write outstanding. Beyond the bounds it is not read on: the client's own flow control holds it
/// back.
class AppendManyCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             public Drainable,
                             public std::enable_shared_from_this<AppendManyCall> {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(Calls& calls,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  AppendManyCall(Calls& calls, serving::MethodMetrics& counted) : calls_(calls), here_(calls, counted) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    calls_.forget(this);
    self_.reset();
  }
  void drain() override;

 private:
  struct Slot {
    std::size_t bytes = 0;
    std::size_t events = 0;
    std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
    std::uint32_t conflicts_max = 0;
    std::vector<AppendCondition> conditions{};
    std::optional<grpc::ByteBuffer> outcome{};
  };

  void take(const std::shared_ptr<Slot>& slot, const Result<std::string_view>& content);
  void answered(const std::shared_ptr<Slot>& slot, const Result<Appended>& result);
  void put_outcome(const std::shared_ptr<Slot>& slot, const pb::AppendOutcome& outcome);
  void refuse_slot(const std::shared_ptr<Slot>& slot, const Error& error,
                   const std::vector<RecordedEvent>& conflicts = {},
                   std::chrono::milliseconds retry_after = messages::retry_after_full_queue);
  void go_on();

  Calls& calls_;
  UnderWay here_;
  std::shared_ptr<AppendManyCall> self_;  ///< until OnDone
  grpc::ByteBuffer incoming_;
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::size_t bytes_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool wrote_ = false;
  bool half_closed_ = false;  ///< nothing more comes
  bool broken_ = false;       ///< nothing more can be sent
  bool draining_ = false;     ///< the door is being closed: nothing more is taken
  bool finished_ = false;
};

}  // namespace evershard::door
