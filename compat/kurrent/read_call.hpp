// A Read of KurrentDB's protocol over the wire: an event a message, for as long as there are some or the client likes.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "evershard/compat/kurrent/reading.hpp"

namespace evershard::kurrent {

/// One thing at a time: a step in the pool, sending what it gave, or waiting for the watch to say that there is
/// something. While it waits it holds no thread.
class StreamReadCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                             public std::enable_shared_from_this<StreamReadCall> {
 public:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                           serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in);
  StreamReadCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted,
                 grpc::CallbackServerContext* context);
  ~StreamReadCall() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    here_.leaves();
    reader_.reset();
    self_.reset();
  }

 private:
  enum class State : std::uint8_t { reading, sending, waiting, finished };

  Result<void> begin(const grpc::ByteBuffer& in);
  void run_step();
  void step();
  void send(EventMessages messages);
  void send_next(std::unique_lock<std::mutex>& lock);
  void wait();
  void woken(serving::HeadWatch::Why why);
  void finish(const grpc::Status& status);
  [[nodiscard]] bool cancelled();
  [[nodiscard]] bool has_ready() const { return sent_ != ends_.size(); }

  const std::shared_ptr<Kurrent> kurrent_;
  door::UnderWay here_;
  grpc::CallbackServerContext* const context_;  ///< until the call was finished
  const std::shared_ptr<storage::ReadWork> work_;
  std::shared_ptr<StreamReadCall> self_;  ///< until OnDone
  std::optional<door::ReaderHere> reader_;
  std::unique_ptr<Reading> reading_;
  Reading::Step after_{};               ///< what comes when all was sent
  std::optional<grpc::Status> ending_;  ///< or that
  bool counts_ = false;                 ///< it is a subscription, and counted as one
  std::mutex mutex_;
  grpc::Slice ready_;              ///< messages to be sent, in one piece
  std::vector<std::size_t> ends_;  ///< of each in it
  std::size_t sent_ = 0;           ///< so many of them
  grpc::ByteBuffer outgoing_;
  State state_ = State::reading;
  serving::HeadWatch::Ticket ticket_ = 0;
  bool cancelled_ = false;
  bool wrote_ = false;
};

}  // namespace evershard::kurrent
