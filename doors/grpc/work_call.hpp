// Long work over the wire: how far it is now and then, its result last; the client's cancelling stops it.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/api/administration.hpp"
#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

/// Has a thread of its own while it works: there are few of these, and they are long.
///
/// Shape: Response has a WorkProgress `progress`
template <class Request, class Response>
class WorkCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                       public std::enable_shared_from_this<WorkCall<Request, Response>> {
 public:
  /// A message before the result, in its turn; waits until the client has taken what it was sent before. Returns: the
  /// client is still there.
  using Give = std::function<bool(const Response& message)>;
  using Work = std::function<Result<Response>(Request& request, const Progress& progress, const Give& give)>;

  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(Calls& calls, serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in, Work work) {
    auto call = std::make_shared<WorkCall>(calls, counted);
    call->self_ = call;
    auto* reactor = call.get();
    auto parsed = call->here_.admit_stream(*context, serving::Scope::admin, in->Length());
    if (parsed) parsed = parse(calls, *in, call->request_);
    if (!parsed) {
      call->Finish(call->here_.refused(parsed.error()));
      return reactor;
    }
    std::thread([call, work = std::move(work)] { call->work(work); }).detach();
    return reactor;
  }
  WorkCall(Calls& calls, serving::MethodMetrics& counted) : here_(calls, counted) {}

  void OnWriteDone(bool ok) override {
    const auto keep = this->shared_from_this();
    std::unique_lock lock(mutex_);
    writing_ = false;
    stopped_ = stopped_ || !ok;
    taken_.notify_all();
    go_on(lock);
  }
  void OnCancel() override { stopped_ = true; }
  void OnDone() override {
    here_.leaves();
    self_.reset();
  }

 private:
  static constexpr auto between_messages = std::chrono::milliseconds(500);
  static constexpr auto looks_every = std::chrono::milliseconds(50);  ///< whether the client is still there

  void work(const Work& work) {
    auto told = std::chrono::steady_clock::now() - between_messages;
    auto result = work(
        request_,
        [&](std::uint64_t done, std::uint64_t total) {
          const auto now = std::chrono::steady_clock::now();
          if (now - told >= between_messages) {
            told = now;
            Response response;
            response.mutable_progress()->set_done(done);
            response.mutable_progress()->set_total(total);
            std::unique_lock lock(mutex_);
            if (!writing_) next_ = bytes_of(response);  // who does not read misses some of these
            go_on(lock);
          }
          return !stopped_;
        },
        [&](const Response& message) { return give(bytes_of(message)); });
    std::unique_lock lock(mutex_);
    await_turn(lock);
    if (result) last_ = bytes_of(*result);
    ending_ = result ? grpc::Status::OK : here_.refused(result.error());
    go_on(lock);
  }

  bool give(grpc::ByteBuffer message) {
    std::unique_lock lock(mutex_);
    await_turn(lock);
    if (stopped_) return false;
    next_ = std::move(message);
    go_on(lock);
    return true;
  }
  /// Waits until the message that was given before is on its way.
  void await_turn(std::unique_lock<std::mutex>& lock) {
    while (writing_ && next_ && !stopped_) taken_.wait_for(lock, looks_every);
  }

  void go_on(std::unique_lock<std::mutex>& lock) {
    if (writing_ || finished_) return;
    if (ending_ && last_ && !stopped_) next_ = std::exchange(last_, std::nullopt);
    if (next_ && !stopped_) {
      outgoing_ = *std::exchange(next_, std::nullopt);
      writing_ = true;
      return this->StartWrite(&outgoing_);
    }
    if (!ending_) return;
    finished_ = true;
    const auto status = *ending_;
    lock.unlock();
    this->Finish(status);
  }

  UnderWay here_;
  std::shared_ptr<WorkCall> self_;  ///< until OnDone
  Request request_;
  std::mutex mutex_;
  std::condition_variable taken_;
  grpc::ByteBuffer outgoing_;
  std::optional<grpc::ByteBuffer> next_;
  std::optional<grpc::ByteBuffer> last_;  ///< the result: sent even if the progress before it has not gone out yet
  std::optional<grpc::Status> ending_;
  bool writing_ = false;
  bool finished_ = false;
  std::atomic<bool> stopped_{false};
};

}  // namespace evershard::door
