// AnsweringStream: a call on which many requests are under way, each with an answer of its own.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

/// One read and one write outstanding. Beyond what its call has room for it is not read on: the client's own flow
/// control holds it back. When the door is being closed nothing more is taken, and what was taken is answered.
class AnsweringStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                        public Drainable,
                        public std::enable_shared_from_this<AnsweringStream> {
 public:
  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final;
  void OnCancel() final;
  void OnDone() final {
    here_.leaves();
    calls_.forget(this);
    self_.reset();
  }
  void drain() final;

 protected:
  AnsweringStream(Calls& calls, serving::MethodMetrics& counted) : calls_(calls), here_(calls, counted) {}

  /// `told`: the status of a refusal. Returns: this
  AnsweringStream* begin(grpc::CallbackServerContext& context, serving::Scope scope,
                         const std::function<grpc::Status(const Error&)>& told);
  /// Whatever can be begun: an answer, the next read, the end. Where something of the following has changed.
  void go_on();

  /// A message is in incoming_. From the reading thread, without the lock; the call does not end meanwhile.
  virtual void take() = 0;
  // Under the lock:
  [[nodiscard]] virtual bool has_room() const = 0;
  /// Taken and not answered, or answered and not sent.
  [[nodiscard]] virtual bool has_work() const = 0;
  [[nodiscard]] virtual bool has_answer() const = 0;
  /// Shape: has_answer()
  [[nodiscard]] virtual grpc::ByteBuffer next_answer() = 0;

  Calls& calls_;
  UnderWay here_;
  grpc::ByteBuffer incoming_;
  std::mutex mutex_;

 private:
  std::shared_ptr<AnsweringStream> self_;  ///< until OnDone
  grpc::ByteBuffer outgoing_;
  bool reading_ = false;
  bool taking_ = false;
  bool writing_ = false;
  bool wrote_ = false;
  bool half_closed_ = false;  ///< nothing more comes
  bool broken_ = false;       ///< nothing more can be sent
  bool draining_ = false;     ///< the door is being closed: nothing more is taken
  bool finished_ = false;
};

}  // namespace evershard::door
