// A consumer of a persistent subscription over the wire: events out, acknowledgements in, for as long as it stays.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/persistent_subscriptions.hpp"
#include "evershard/compat/kurrent/unsent_events.hpp"

namespace evershard::kurrent {

/// One read and one write outstanding. Its buffer size bounds what it has at a time.
class PersistentReadCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                 public PersistentConsumer,
                                 public door::Drainable,
                                 public std::enable_shared_from_this<PersistentReadCall> {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* start(const std::shared_ptr<Kurrent>& kurrent,
                                                                            serving::MethodMetrics& counted,
                                                                            grpc::CallbackServerContext* context);
  PersistentReadCall(std::shared_ptr<Kurrent> kurrent, serving::MethodMetrics& counted,
                     grpc::CallbackServerContext* context);
  ~PersistentReadCall() override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void drain() override;
  void joined() override;
  void give(esps::ReadResp event, std::uint64_t read_at) override;
  void drop(const Dropped& how) override;

 private:
  void join(const esps::ReadReq::Options& options);
  void heard(const esps::ReadReq& request);
  void end(const Refusal& why);
  void end(const grpc::Status& status);
  /// It has gone, from wherever it was: at the latest before its call ends.
  void leave();
  void go_on();
  using Clock = std::chrono::steady_clock;
  struct Shown {
    GlobalPosition position{};
    std::optional<AggregateId> aggregate{};  ///< with the id: where it is looked for
    EventId id{};
    bool has_data = false;  ///< of its own: a link of a derived stream has none
  };
  struct Unsent {
    grpc::ByteBuffer bytes{};
    std::uint64_t read_at = 0;
    EventId id{};                ///< by which it is settled
    std::vector<Shown> shown{};  ///< the event, and the link to it
  };
  [[nodiscard]] static Shown shown_of(const esp::ReadResp::ReadEvent::RecordedEvent& event);
  /// In the pool: it was read before something was removed or erased. What is there goes out, without data where that
  /// was erased; what is not is settled: there is nothing to give. What cannot be looked at is the next one again after
  /// a moment, which says nothing of the event; where that goes on, the call ends.
  void look_again(Unsent unsent);
  void look_later(Unsent unsent, const Error& why);
  /// Returns: it is there. Errors: it could not be looked at
  [[nodiscard]] Result<bool> look(Unsent& unsent) const;
  /// What was being looked at is not any more.
  void next();
  [[nodiscard]] bool is_as_read(const Unsent& unsent) const {
    return unsent.read_at == kurrent_->calls.served.rewritten();
  }

  const std::shared_ptr<Kurrent> kurrent_;
  door::UnderWay here_;
  grpc::CallbackServerContext* const context_;  ///< until the call was finished
  std::shared_ptr<PersistentReadCall> self_;    ///< until OnDone
  grpc::ByteBuffer incoming_;
  std::mutex mutex_;
  grpc::ByteBuffer outgoing_;
  std::shared_ptr<PersistentSession> session_;  ///< absent: it has not joined
  std::string subscription_id_;
  std::optional<grpc::ByteBuffer> confirmation_;  ///< goes before all events
  UnsentEvents<Unsent> waiting_;
  std::optional<Clock::time_point> unread_since_;  ///< the first of them could not be looked at
  std::optional<grpc::Status> ending_;
  bool structured_ids_ = false;
  bool joining_ = false;
  bool reading_ = false;
  bool writing_ = false;  ///< or the next one is looked at
  bool broken_ = false;
  bool finished_ = false;
};

}  // namespace evershard::kurrent
