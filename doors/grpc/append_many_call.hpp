// Many appends in flight on one stream, each with its own outcome, in the order they came.

#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "evershard/api/messages/refusal.hpp"
#include "evershard/doors/grpc/answering_stream.hpp"

namespace evershard::door {

class AppendManyCall final : public AnsweringStream {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(Calls& calls,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  AppendManyCall(Calls& calls, serving::MethodMetrics& counted) : AnsweringStream(calls, counted) {}

 private:
  struct Slot {
    std::size_t bytes = 0;
    std::size_t events = 0;
    std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
    std::uint32_t conflicts_max = 0;
    std::vector<AppendCondition> conditions{};
    std::optional<grpc::ByteBuffer> outcome{};
    std::shared_ptr<const std::string> led{};  ///< that the outcome names
  };

  void take() override;
  [[nodiscard]] bool has_room() const override {
    return !sending_ && slots_.size() < calls_.append_many_appends_max && bytes_ < calls_.append_many_bytes_max;
  }
  [[nodiscard]] bool has_work() const override { return !slots_.empty(); }
  [[nodiscard]] bool has_answer() const override { return !slots_.empty() && slots_.front()->outcome; }
  [[nodiscard]] grpc::ByteBuffer next_answer() override;

  [[nodiscard]] std::shared_ptr<AppendManyCall> shared() {
    return std::static_pointer_cast<AppendManyCall>(shared_from_this());
  }
  void append(const std::shared_ptr<Slot>& slot, const Result<std::string_view>& content);
  void answered(const std::shared_ptr<Slot>& slot, const Result<Appended>& result);
  void put_outcome(const std::shared_ptr<Slot>& slot, pb::AppendOutcome outcome);
  void refuse_slot(const std::shared_ptr<Slot>& slot, const Error& error,
                   const std::vector<RecordedEvent>& conflicts = {},
                   std::chrono::milliseconds retry_after = messages::retry_after_full_queue);

  std::shared_ptr<const std::string> led_told_;  ///< with an outcome that was sent
  std::deque<std::shared_ptr<Slot>> slots_;      ///< in the order they came
  std::size_t bytes_ = 0;
  bool sending_ = false;  ///< one is being prepared in the pool
};

}  // namespace evershard::door
