// A read over the wire: pages from the pool, one being sent and at most one more at hand.

#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "evershard/doors/grpc/calls.hpp"

namespace evershard::door {

/// Back-pressure is the stream's own: the next page is read when the one before it is on its way.
class ReadCall : public grpc::ServerWriteReactor<grpc::ByteBuffer>, public std::enable_shared_from_this<ReadCall> {
 public:
  /// Shape: `Call`: this, or what another protocol makes of it
  template <class Call = ReadCall>
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* start(Calls& calls, serving::MethodMetrics& counted,
                                                           grpc::CallbackServerContext* context,
                                                           const grpc::ByteBuffer* in) {
    return begin_call(std::make_shared<Call>(calls, counted), context, *in);
  }
  ReadCall(Calls& calls, serving::MethodMetrics& counted)
      : calls_(calls), here_(calls, counted), work_(calls.served.long_reads->begin()) {}

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override {
    here_.leaves();
    reader_.reset();
    self_.reset();
  }

 protected:
  /// A message of the answer.
  struct Made {
    std::optional<std::string> bytes{};  ///< absent: there is nothing to say
    std::size_t events = 0;
    bool complete = false;
  };
  static constexpr std::size_t at_hand_events_max = 64;

  /// Sets what to read. Errors: the call's
  virtual Result<void> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in);
  /// In the pool. Nobody else is in it.
  virtual Result<Made> next(EventStream& stream);
  /// The first, if memory has it.
  virtual std::optional<Made> at_hand(EventStream& stream);

  Calls& calls_;
  UnderWay here_;
  std::function<EventStream()> open_;
  bool small_ = false;  ///< the read asks for few events, or for one aggregate

 private:
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* begin_call(std::shared_ptr<ReadCall> call,
                                                                grpc::CallbackServerContext* context,
                                                                const grpc::ByteBuffer& in);
  /// A small read that memory can answer is answered by the thread that took it: to hand it over costs more than to
  /// read.
  bool answer_at_hand();
  void read_page();
  void take(Made made);  ///< under the mutex
  void go_on();
  void end(const Error& error);

  const std::shared_ptr<storage::ReadWork> work_;
  std::shared_ptr<ReadCall> self_;  ///< until OnDone
  std::optional<ReaderHere> reader_;
  pb::ReadRequest request_;
  std::optional<EventStream> stream_;      ///< the pool's, but for cancel()
  serving::HeadWatch::Ticket ticket_ = 0;  ///< set before the call can be cancelled
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  std::optional<grpc::ByteBuffer> next_;
  std::optional<grpc::Status> ending_;  ///< the last page is at hand, or there was an error
  bool reading_ = false;
  bool writing_ = false;
  bool cancelled_ = false;
  bool finished_ = false;
};

}  // namespace evershard::door
