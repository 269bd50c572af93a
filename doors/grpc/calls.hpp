// Calls: what every call of the door needs: bytes and messages, tokens, deadlines, where answers are sent from.

#pragma once

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "evershard/doors/grpc/connection_limit.hpp"
#include "evershard/doors/grpc/door.hpp"
#include "evershard/doors/serving/served.hpp"
#include "evershard/doors/serving/unread_answers.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/service.pb.h"

namespace evershard::door {

namespace pb = evershard::v1;
using wire::status_of;

/// Calls that have no end of their own, but can be asked to end when they have nothing under way.
class Drainable {
 public:
  virtual ~Drainable() = default;
  virtual void drain() = 0;
};

/// The error of calls that come while the server stops, and of calls that it ends.
[[nodiscard]] inline Error calls_stopping() { return {ErrorCode::unavailable, "the server is stopping"}; }

class UnderWay;

/// What the calls of a door stand on.
struct Calls {
  Calls(std::string_view door, serving::Served& s, cluster::WorkPool& a, std::size_t appends_max, std::size_t bytes_max,
        std::size_t message_max, serving::UnreadAnswersOptions unread_options);

  std::string_view speaks;  ///< as metrics name the door
  serving::Served& served;
  cluster::WorkPool& answers;
  std::size_t append_many_appends_max;
  std::size_t append_many_bytes_max;
  std::size_t message_bytes_max;
  ConnectionLimit* connections = nullptr;  ///< the door's
  RefusedStatus status = wire::status_of;  ///< what a client of the door's protocol is told
  EventStore* writes_to = nullptr;         ///< absent: served.store
  bool names_history = false;              ///< our own protocol's clients: see goes_on()
  bool takes_passwords = false;            ///< basic authentication: the password is a token, or the pair in base64
  std::atomic<std::uint64_t> under_way{0};
  std::atomic<bool> closing{false};  ///< calls that come now are refused
  std::mutex draining_mutex{};
  bool draining = false;
  std::unordered_map<Drainable*, std::weak_ptr<Drainable>> drainables{};
  mutable std::recursive_mutex readers_mutex{};  ///< a call that is cancelled may end in the same thread
  std::unordered_map<const void*, grpc::CallbackServerContext*> readers{};
  struct Admitted {
    grpc::CallbackServerContext* context;
    serving::Scope wanted;
  };
  std::recursive_mutex streams_mutex{};  ///< as readers_mutex
  std::unordered_map<const UnderWay*, Admitted> streams{};
  mutable std::mutex unread_mutex{};
  serving::UnreadAnswers unread;  ///< of `readers`
  std::atomic<std::uint64_t> appends_in_flight{0};

  /// `done` is called where the append was completed while few are in flight, else from a thread of its own: the
  /// store's have better things to do than to send answers.
  void append(Append append, AppendCompletion done);
  /// Its conditions reach back so far that the store may have to read for them: append() sends it from the pool then,
  /// as a read that may turn out to be long.
  [[nodiscard]] bool reads_before(const Append& append) const;
  static constexpr std::uint64_t answered_at_once_max = 4;         ///< appends in flight
  static constexpr std::uint64_t looked_back_at_once_max = 1'024;  ///< positions, by the thread that took the append
  static constexpr std::uint32_t at_least_timeout_ms = 30'000;
  static constexpr std::size_t small_answer_bytes = 64u << 10;  ///< not refused for want of room
  static constexpr auto room_looked_for_every = std::chrono::milliseconds(20);

  void send(Append append, AppendCompletion done);  ///< append(), by this thread
  /// The same, by one of the pool's: what its conditions read is read as others read.
  void send_reading(Append append, AppendCompletion done);

  /// Until forget(). Returns: false: the door is being closed.
  bool remember(const std::shared_ptr<Drainable>& call);
  void forget(Drainable* call);
  void drain();
  /// A call that only reads, until forget_reader(): it may be cancelled when the door is being closed, for its client
  /// may take nothing.
  void remember_reader(const void* call, grpc::CallbackServerContext* context);
  void forget_reader(const void* call);
  void cancel_readers();
  void cancel_reader(const void* call);
  /// An answer of this reader's is on its way, until took() or forget_reader().
  void sends(const void* call, std::size_t bytes);
  void took(const void* call);
  [[nodiscard]] bool has_room_ahead() const;
  /// Errors: overloaded: clients have not taken what there is, and this would be too much.
  [[nodiscard]] Result<void> has_room_for(std::size_t bytes) const;
  /// In the pool, as soon as there is room for another answer, or nobody wants it any more. While there is no room,
  /// readers that take nothing are sent away.
  void run_with_room(std::shared_ptr<storage::ReadWork> work, std::function<void()> read);
  /// All that were begun have been answered.
  [[nodiscard]] bool are_over() const;
  /// Whoever calls, by its token. Errors: unauthenticated, permission_denied
  [[nodiscard]] Result<serving::Caller> admit(const grpc::CallbackServerContext& context, serving::Scope wanted) const;
  /// Whether who calls may go on here, by what it says it was answered before (wire::fork_key, wire::led_key).
  /// Errors: invalid_argument: this is another fork; fenced, unavailable: as sharding::check_heard says
  [[nodiscard]] Result<void> goes_on(grpc::CallbackServerContext& context, const std::string* led) const;
  /// A stream of a client's, until left(): its context lives so long.
  void admitted(const UnderWay* call, grpc::CallbackServerContext* context, serving::Scope wanted);
  void left(const UnderWay* call);
  [[nodiscard]] bool still_may(const grpc::CallbackServerContext& context, serving::Scope wanted) const;
  /// Tokens were read anew: streams that would not be admitted any more are ended.
  void look_at_tokens_again();
  /// Goes on, or on from the watch's thread, when the watermark is there. Returns: the wait, for a caller who goes; 0:
  /// there is none.
  serving::HeadWatch::Ticket at_least(const pb::AtLeast* wanted, std::function<void(Result<void>)> then);
};

/// A call, from its first byte to its answer: counted while it lives, measured when it goes.
class UnderWay {
 public:
  UnderWay(Calls& calls, serving::MethodMetrics& counted) : calls_(calls), counted_(counted) { ++calls_.under_way; }
  UnderWay(const UnderWay&) = delete;
  ~UnderWay() {
    counted_.answered(std::chrono::steady_clock::now() - began, refused_);
    --calls_.under_way;
  }
  /// Who calls may, has a connection that is answered, and has not had his share: one request of `bytes`. Errors: those
  /// of Calls::admit and Calls::goes_on, overloaded
  [[nodiscard]] Result<serving::Caller> admit(grpc::CallbackServerContext& context, serving::Scope wanted,
                                              std::size_t bytes);
  /// The same of a call that stays: it is one of its client's streams until it goes, and is ended where its token is
  /// not valid any more. Shape: leaves() is called in OnDone.
  [[nodiscard]] Result<void> admit_stream(grpc::CallbackServerContext& context, serving::Scope wanted,
                                          std::size_t bytes);
  /// Shape: it was admitted.
  [[nodiscard]] const serving::Caller& caller() const { return caller_; }
  /// Its context ends.
  void leaves() { calls_.left(this); }
  /// Counts a further message of an admitted stream. Returns: why the message is refused, and when to try again.
  [[nodiscard]] std::optional<serving::ClientGate::Refusal> over_limit(std::size_t bytes);
  /// Returns: what the client is told.
  grpc::Status refused(const Error& error, const std::vector<RecordedEvent>& conflicts = {}) {
    refused_ = error.code;
    return calls_.status(error, conflicts, retry_after_);
  }

  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

 private:
  /// Counted, and kept for refused().
  Refused over(serving::ClientGate::Refusal refusal);

  Calls& calls_;
  serving::MethodMetrics& counted_;
  std::optional<ErrorCode> refused_;  ///< whoever is at work on the call
  std::optional<std::chrono::milliseconds> retry_after_;
  serving::Caller caller_;
  std::string client_;  ///< empty: nothing is counted by it
  serving::ClientGate::Stream stream_;
};

/// The message in one piece, unpacked where it is gzip, as a view that lives as long as `slice`. gRPC would unpack all
/// of it before it looks at how long it is: a message of a megabyte could take a gigabyte. Errors: too_large,
/// invalid_argument (damaged)
[[nodiscard]] Result<std::string_view> content_of(const grpc::ByteBuffer& bytes, std::size_t bytes_max,
                                                  grpc::Slice& slice);
/// Errors: those of content_of, invalid_argument: malformed
[[nodiscard]] Result<void> parse(const grpc::ByteBuffer& bytes, std::size_t bytes_max,
                                 google::protobuf::MessageLite& message, const char* what);
[[nodiscard]] grpc::ByteBuffer bytes_of(const google::protobuf::MessageLite& message);

/// The pages of this call go out compressed, where the client takes it and asks for it. Before the first is sent.
void compress_if_asked(grpc::CallbackServerContext& context);
/// Of a page of so many bytes: a small one is not worth it.
[[nodiscard]] grpc::WriteOptions write_options(std::size_t bytes);

/// Memory to be filled, that becomes a message.
[[nodiscard]] grpc::Slice new_slice(std::size_t bytes);
/// Bytes that become a message, uncopied.
[[nodiscard]] grpc::Slice slice_of(std::string bytes);
[[nodiscard]] inline std::uint8_t* begin_of(grpc::Slice& slice) {
  return const_cast<std::uint8_t*>(slice.begin());
}  // ours alone so far

[[nodiscard]] inline Result<void> parse(const Calls& calls, const grpc::ByteBuffer& bytes,
                                        google::protobuf::Message& message) {
  return parse(bytes, calls.message_bytes_max, message, message.GetDescriptor()->full_name().c_str());
}

/// A call that only reads, one of Calls::readers while it lives. Owner: the call's reactor; the context lives until its
/// OnDone.
class ReaderHere {
 public:
  ReaderHere(Calls& calls, grpc::CallbackServerContext* context) : calls_(calls) {
    calls_.remember_reader(this, context);
  }
  ~ReaderHere() { calls_.forget_reader(this); }
  ReaderHere(const ReaderHere&) = delete;
  void sends(std::size_t bytes) { calls_.sends(this, bytes); }
  void took() { calls_.took(this); }
  [[nodiscard]] Result<void> has_room_for(std::size_t bytes) const { return calls_.has_room_for(bytes); }

 private:
  Calls& calls_;
};

/// Waits, perhaps, several times, and is answered once; a caller who goes ends the wait.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  /// `work`: what is done for the caller; absent: it is done to its end also where he goes.
  UnaryCall(Calls& calls, grpc::CallbackServerContext* context, std::shared_ptr<storage::ReadWork> work)
      : waiting_(std::make_shared<Waiting>(calls.served.watch)), work_(std::move(work)) {
    if (work_) here_.emplace(calls, context);
  }

  /// What `begin` waits for, which may end at once, in the thread of the caller or another's: then the call may be gone
  /// already.
  void waits(const std::function<serving::HeadWatch::Ticket()>& begin) {
    const auto waiting = waiting_;
    const auto ticket = begin();
    if (ticket == 0) return;
    {
      const std::lock_guard lock(waiting->mutex);
      waiting->ticket = std::max(waiting->ticket, ticket);
      if (!waiting->caller_gone) return;
    }
    if (waiting->watch.cancel(ticket)) Finish(grpc::Status::CANCELLED);  // what did not end did not answer
  }

  void OnCancel() override {
    if (work_) work_->cancel();
    serving::HeadWatch::Ticket ticket = 0;
    {
      const std::lock_guard lock(waiting_->mutex);
      waiting_->caller_gone = true;
      ticket = waiting_->ticket;
    }
    if (waiting_->watch.cancel(ticket)) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }
  /// An answer of so many bytes goes out, in memory until it is taken. Errors: overloaded
  [[nodiscard]] Result<void> holds(std::size_t bytes) {
    if (!here_) return {};
    EVERSHARD_TRY(here_->has_room_for(bytes));
    here_->sends(bytes);
    return {};
  }

 private:
  struct Waiting {
    explicit Waiting(serving::HeadWatch& w) : watch(w) {}
    serving::HeadWatch& watch;
    std::mutex mutex{};
    serving::HeadWatch::Ticket ticket = 0;  ///< the newest
    bool caller_gone = false;
  };
  ~UnaryCall() override = default;
  const std::shared_ptr<Waiting> waiting_;
  const std::shared_ptr<storage::ReadWork> work_;
  std::optional<ReaderHere> here_;
};

/// The messages of a call that needs the disk, and what answers it.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  [[nodiscard]] virtual google::protobuf::Message& request() = 0;
  /// Null: the request has none.
  [[nodiscard]] virtual const pb::AtLeast* at_least() const = 0;
  /// It is asked again while it answers `timeout`, until the time of at_least is up, 30 s where there is none.
  [[nodiscard]] virtual bool waits() const = 0;
  /// `response`: has the answer then. `wait`: of one that waits(), how long it may.
  [[nodiscard]] virtual Result<void> answer(const serving::Caller& caller, std::chrono::milliseconds wait) = 0;
  [[nodiscard]] virtual const google::protobuf::Message& response() const = 0;
};

/// An answer made in the pool, perhaps several times: what is not there in time yet is looked for again, without a
/// thread that waits.
class PoolAnswer : public std::enable_shared_from_this<PoolAnswer> {
 public:
  using Clock = serving::HeadWatch::Clock;

  PoolAnswer(Calls& calls, serving::MethodMetrics& counted, grpc::CallbackServerContext* context, grpc::ByteBuffer* out,
             serving::Scope scope, std::unique_ptr<PoolWork> asked)
      : here_(calls, counted),
        calls_(calls),
        context_(*context),
        out_(*out),
        work_(scope == serving::Scope::read ? calls.served.long_reads->begin() : nullptr),
        reactor_(*new UnaryCall(calls, context, work_)),
        asked_(std::move(asked)) {}

  grpc::ServerUnaryReactor* begin(const grpc::ByteBuffer& in, serving::Scope scope) {
    auto* const reactor = &reactor_;
    const auto caller = here_.admit(context_, scope, in.Length());
    const auto parsed = caller ? parse(calls_, in, asked_->request()) : Result<void>(refuse(caller.error()));
    if (!parsed) {
      end(here_.refused(parsed.error()));
      return reactor;
    }
    const auto* wanted = asked_->at_least();
    deadline_ = here_.began + std::chrono::milliseconds(wanted != nullptr && wanted->has_timeout_ms()
                                                            ? wanted->timeout_ms()
                                                            : Calls::at_least_timeout_ms);
    reactor_.waits([&] {
      return calls_.at_least(wanted,
                             [self = this->shared_from_this()](const Result<void>& there) { self->go_on(there); });
    });
    return reactor;
  }

 private:
  static constexpr auto first_wait =
      std::chrono::milliseconds(20);  ///< in a thread of the pool: what follows its store closely is there by then
  static constexpr auto pause_max = std::chrono::milliseconds(200);  ///< between two looks; doubled up to here

  void end(const grpc::Status& status) { reactor_.Finish(status); }
  void go_on(const Result<void>& there) {
    if (!there) return end(here_.refused(there.error()));
    calls_.served.pool.run([self = this->shared_from_this()] { self->look(); });
  }
  void look() {
    if (context_.IsCancelled()) return end(grpc::Status::CANCELLED);
    std::optional<storage::ReadWork::Scope> at_work;
    if (work_) at_work.emplace(*work_);
    const auto left =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()), std::chrono::milliseconds(0));
    const auto done =
        asked_->answer(here_.caller(), pause_.count() == 0 ? std::min(left, first_wait) : std::chrono::milliseconds(0));
    if (!done && asked_->waits() && done.error().code == ErrorCode::timeout && left.count() > 0)
      return look_later(left);
    if (!done) return end(here_.refused(done.error()));
    const auto bytes = asked_->response().ByteSizeLong();
    if (auto held = reactor_.holds(bytes); !held) return end(here_.refused(held.error()));
    out_ = bytes_of(asked_->response());
    end(grpc::Status::OK);
  }
  void look_later(std::chrono::milliseconds left) {
    pause_ = std::min(std::max(pause_ * 2, first_wait), pause_max);
    reactor_.waits([&] {
      return calls_.served.watch.at(
          Clock::now() + std::min(pause_, left),
          [self = this->shared_from_this()](const Result<void>& there) { self->go_on(there); });
    });
  }

  UnderWay here_;  // destroyed last: after that the door may be gone
  Calls& calls_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& out_;
  const std::shared_ptr<storage::ReadWork> work_;
  UnaryCall& reactor_;  ///< until it was ended
  const std::unique_ptr<PoolWork> asked_;
  Clock::time_point deadline_{};
  std::chrono::milliseconds pause_{0};
};

/// Of messages and a function.
template <class Request, class Response, class Answer>
class FunctionWork final : public PoolWork {
 public:
  explicit FunctionWork(Answer answer) : answer_(std::move(answer)) {}
  google::protobuf::Message& request() override { return request_; }
  const google::protobuf::Message& response() const override { return response_; }
  bool waits() const override { return std::is_invocable_v<Answer&, Request&, Response&, std::chrono::milliseconds>; }
  const pb::AtLeast* at_least() const override {
    if constexpr (requires { request_.at_least(); })
      if (request_.has_at_least()) return &request_.at_least();
    return nullptr;
  }
  Result<void> answer(const serving::Caller& caller, std::chrono::milliseconds wait) override {
    response_.Clear();
    if constexpr (std::is_invocable_v<Answer&, Request&, Response&, std::chrono::milliseconds>)
      return answer_(request_, response_, wait);
    else if constexpr (std::is_invocable_v<Answer&, const serving::Caller&, Request&, Response&>)
      return answer_(caller, request_, response_);
    else
      return answer_(request_, response_);
  }

 private:
  Request request_;
  Response response_;
  Answer answer_;
};

/// An answer that needs the disk: it is made in the pool, and where it only reads, it ends when the caller goes.
/// `Request` may have an at_least.
///
/// Shape: `answer`: Result<void>(Request&, Response&), or with who calls before these, or with how long it may wait
///        behind them.
template <class Request, class Response, class Answer>
grpc::ServerUnaryReactor* answer_from_pool(Calls& calls, serving::MethodMetrics& counted,
                                           grpc::CallbackServerContext* context, const grpc::ByteBuffer* in,
                                           grpc::ByteBuffer* out, serving::Scope scope, Answer answer) {
  auto work = std::make_unique<FunctionWork<Request, Response, Answer>>(std::move(answer));
  return std::make_shared<PoolAnswer>(calls, counted, context, out, scope, std::move(work))->begin(*in, scope);
}

}  // namespace evershard::door
