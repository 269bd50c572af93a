// BatchAppend: many appends in flight on one stream for as long as its client lives, each with its own answer.

#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evershard/doors/kurrent/event_form.hpp"
#include "evershard/doors/kurrent/kurrent.hpp"

namespace evershard::kurrent {

/// Answers go out as they come. Beyond the bounds it is not read on: the client's own flow control holds it back.
class BatchAppendCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                              public door::Drainable,
                              public std::enable_shared_from_this<BatchAppendCall> {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  BatchAppendCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted)
      : kurrent_(std::move(kurrent)), here_(kurrent_->calls, counted) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    kurrent_->calls.forget(this);
    self_.reset();
  }
  void drain() override;

 private:
  /// One append, of one message or several.
  struct Batch {
    es::UUID correlation{};
    esp::BatchAppendReq::Options options{};
    std::vector<Event> events{};
    StreamExpected stream{};
    std::optional<Refusal> refused{};
    std::size_t bytes = 0;
    std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
  };
  using BatchPtr = std::shared_ptr<Batch>;

  void take(std::size_t bytes);
  void add(Batch& batch, esp::BatchAppendReq& request);
  void write(const BatchPtr& batch);
  void answer(const BatchPtr& batch, const WriteOutcome& outcome);
  void go_on();

  const std::shared_ptr<Kurrent> kurrent_;
  door::UnderWay here_;
  std::shared_ptr<BatchAppendCall> self_;  ///< until OnDone
  grpc::ByteBuffer incoming_;
  std::unordered_map<std::string, BatchPtr> open_;  ///< not final yet; the reading thread's
  std::size_t open_bytes_ = 0;                      ///< and these
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  std::deque<grpc::ByteBuffer> ready_;
  std::size_t under_way_ = 0;  ///< final, and not answered
  std::size_t bytes_ = 0;      ///< of these
  bool reading_ = false;
  bool writing_ = false;
  bool wrote_ = false;
  bool half_closed_ = false;  ///< nothing more comes
  bool broken_ = false;       ///< nothing more can be sent
  bool draining_ = false;     ///< the door is being closed: nothing more is taken
  bool finished_ = false;
};

}  // namespace evershard::kurrent
