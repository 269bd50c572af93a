// A worker of a group over the wire: events out, settlements in, for as long as it stays.

#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/api/groups.hpp"
#include "evershard/doors/grpc/calls.hpp"
#include "evershard/v1/groups.pb.h"

namespace evershard::door {

/// One read and one write outstanding. What is taken from the group, and joining it, is done in the pool. Answers that
/// the client does not take hold back reading; its credit bounds the events.
class GroupWorkCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                            public Drainable,
                            public std::enable_shared_from_this<GroupWorkCall> {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(Calls& calls,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  GroupWorkCall(Calls& calls, serving::MethodMetrics& counted) : calls_(calls), here_(calls, counted) {
    calls_.served.metrics->streams(calls_.speaks, 1);
  }
  ~GroupWorkCall() override { calls_.served.metrics->streams(calls_.speaks, -1); }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void drain() override;

 private:
  void join(const pb::WorkRequest::Join& join);
  /// Where the node has come to another history: nothing is taken from the worker nor given to it any more.
  bool parts();
  void heard(pb::WorkRequest& request);
  void settle(pb::WorkRequest& request);
  void renew(const pb::WorkRequest& request);
  /// Takes what there is for it, in the pool; once at a time.
  void pump();
  void take();
  /// Fills `held_`.
  void take_from(GroupSession& session);
  /// Begins to send what is held, as it is now: as much as goes into one message. Where another one is under way:
  /// later. False: things are removed all the time, and others are to have the thread.
  [[nodiscard]] bool give(GroupSession& session);
  struct Held {
    GroupDelivery delivery;
    std::uint64_t read_at = 0;  ///< Served::rewritten, before it was taken
  };
  /// As it is in the store now. False: it is nobody's work any more, or cannot be looked at: it alone waits, and comes
  /// again when its lease is over.
  [[nodiscard]] bool look_again(GroupSession& session, Held& held);
  [[nodiscard]] bool is_as_read(const Held& held) const { return held.read_at == calls_.served.rewritten(); }
  void send(const pb::WorkResponse& response);
  void enqueue(grpc::ByteBuffer bytes);  ///< under the lock
  void end(const grpc::Status& status);
  /// Whatever can be begun, in one place: an answer, the next read, the end.
  void go_on();

  Calls& calls_;
  UnderWay here_;
  std::shared_ptr<const std::string> led_;  ///< as it was last, under the lock; null: the store is one process
  std::shared_ptr<GroupWorkCall> self_;     ///< until OnDone
  grpc::ByteBuffer incoming_;
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  std::shared_ptr<GroupSession> session_;  ///< absent: it has not joined yet
  std::deque<grpc::ByteBuffer> waiting_;   ///< to be sent
  std::size_t batches_ = 0;                ///< to be answered
  bool leaving_ = false;                   ///< it said so: the session that ends says nothing new
  std::optional<grpc::Status> ending_;
  bool joining_ = false;
  std::deque<Held> held_;  ///< taken and not sent: its who pumps
  bool pumping_ = false;
  bool pump_again_ = false;
  bool reading_ = false;  ///< or a message is being heard
  bool writing_ = false;
  bool broken_ = false;  ///< nothing more can be sent
  bool finished_ = false;
};

}  // namespace evershard::door
