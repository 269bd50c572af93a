// BatchAppend: many appends in flight on one stream for as long as its client lives, each with its own answer.

#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/doors/grpc/answering_stream.hpp"

namespace evershard::kurrent {

/// Its deadline is past: how long it may take, or a time on its client's clock. One that was long past when it came is
/// a clock that is wrong. A plain decision.
[[nodiscard]] bool is_late(const esp::BatchAppendReq::Options& options, std::chrono::microseconds since_it_came,
                           Timestamp now);

/// Answers go out as they come.
class BatchAppendCall final : public door::AnsweringStream {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  BatchAppendCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted)
      : AnsweringStream(kurrent->calls, counted), kurrent_(std::move(kurrent)) {}

 private:
  /// One append, of one message or several.
  struct Batch {
    es::UUID correlation{};
    esp::BatchAppendReq::Options options{};
    std::vector<Event> events{};
    StreamExpected stream{};
    std::optional<Refusal> refused{};
    bool answered = false;       ///< refused before its end: the rest of it is passed over
    std::size_t wire_bytes = 0;  ///< of its messages
    std::size_t bytes = 0;       ///< of memory, about
    std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
  };
  using BatchPtr = std::shared_ptr<Batch>;

  void take() override;
  [[nodiscard]] bool has_room() const override {
    return under_way_ < calls_.append_many_appends_max && ready_.size() < calls_.append_many_appends_max &&
           bytes_ < calls_.append_many_bytes_max;
  }
  [[nodiscard]] bool has_work() const override { return under_way_ != 0 || !ready_.empty(); }
  [[nodiscard]] bool has_answer() const override { return !ready_.empty(); }
  [[nodiscard]] grpc::ByteBuffer next_answer() override;

  [[nodiscard]] std::shared_ptr<BatchAppendCall> shared() {
    return std::static_pointer_cast<BatchAppendCall>(shared_from_this());
  }
  /// `events`: those of it that were read already; else they are in `request`.
  [[nodiscard]] Result<void> read(esp::BatchAppendReq& request, std::vector<Event>& events);
  void add(Batch& batch, esp::BatchAppendReq& request, std::vector<Event>& events);
  void write(const BatchPtr& batch);
  void answer(const BatchPtr& batch, const WriteOutcome& outcome);

  const std::shared_ptr<Kurrent> kurrent_;
  std::unordered_map<std::string, BatchPtr> open_;  ///< not final yet; the reading thread's
  std::size_t open_bytes_ = 0;                      ///< and these
  std::deque<grpc::ByteBuffer> ready_;
  std::size_t under_way_ = 0;  ///< final, and not answered
  std::size_t bytes_ = 0;      ///< of these
};

}  // namespace evershard::kurrent
