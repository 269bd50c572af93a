#include "evershard/cluster/remote/append_stream.hpp"

#include <limits>
#include <utility>

#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::remote {
namespace {

constexpr const char* method = "/evershard.v1.EventStore/AppendMany";

/// Trying again changes nothing.
bool is_final(ErrorCode code) {
  return code == ErrorCode::unauthenticated || code == ErrorCode::permission_denied || code == ErrorCode::invalid_argument || code == ErrorCode::too_large;
}

Result<Appended> result_of(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  pb::AppendOutcome outcome;
  if (!bytes.DumpToSingleSlice(&slice).ok() || slice.size() > std::numeric_limits<int>::max() ||
      !outcome.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
    return refuse(ErrorCode::corruption, "the server's answer is no evershard.v1.AppendOutcome; the append may have been stored");
  }
  if (outcome.has_appended()) {
    Appended appended;
    EVERSHARD_TRY(messages::get(*outcome.mutable_appended(), appended));
    return appended;
  }
  Error error;
  EVERSHARD_TRY(messages::get(*outcome.mutable_refused(), error));
  return refuse(std::move(error));
}

}  // namespace

/// One stream, from its opening to its end.
class AppendStream::Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Call(AppendStream& owner) : context(owner.connection_->context()), owner_(owner) {}

  void OnReadDone(bool ok) override {
    if (!ok) {
      const Lock lock(owner_.mutex_);
      writable_ = false;
      return RemoveHold();
    }
    owner_.answered(incoming_);
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    Lock lock(owner_.mutex_);
    owner_.writing_ = false;
    if (ok) owner_.write_next(lock);
  }
  void OnDone(const grpc::Status& status) override {
    owner_.ended(status, std::move(self));
  }
  void begin() {
    AddHold();  // appends are written from any thread, not from the call's own reactions only
    StartRead(&incoming_);
    StartCall();
  }
  /// Under the lock: the call has not come to its end.
  [[nodiscard]] bool writable() const { return writable_; }
  void write(const std::string& request, bool more) {
    const grpc::Slice slice(request);
    outgoing_ = grpc::ByteBuffer(&slice, 1);
    grpc::WriteOptions options;
    if (more) options.set_buffer_hint();
    if (request.size() < wire::compressed_bytes_min) options.set_no_compression();
    StartWrite(&outgoing_, options);
  }

  std::shared_ptr<Call> self;  ///< until OnDone
  std::unique_ptr<grpc::ClientContext> context;

 private:
  AppendStream& owner_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  bool writable_ = true;
};

AppendStream::AppendStream(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)),
      pending_({connection_->options().appends_in_flight_max, connection_->options().bytes_in_flight_max}),
      keeper_([this] { keep_time(); }) {}

AppendStream::~AppendStream() {
  std::vector<PendingAppends::Ended> ended;
  {
    Lock lock(mutex_);
    closing_ = true;
    ended = pending_.all({ErrorCode::unavailable, "the client was closed before the append was sent"},
                         {ErrorCode::timeout, "the client was closed before the answer; whether the append was stored is unknown"});
    if (call_) call_->context->TryCancel();
    changed_.notify_all();
    changed_.wait(lock, [this] { return call_ == nullptr; });
  }
  keeper_.join();
  tell(std::move(ended));
}

void AppendStream::send(const Append& append, AppendCompletion done) {
  auto request = codec::encode(append);
  Lock lock(mutex_);
  const bool was_idle = pending_.idle();
  auto added = pending_.add(std::move(request), PendingAppends::Clock::now() + connection_->options().timeout, done);
  if (!added) {
    lock.unlock();
    return done(refuse(std::move(added).error()));
  }
  if (was_idle) changed_.notify_all();
  if (!call_ && PendingAppends::Clock::now() >= retry_at_) open(lock);
  else write_next(lock);
}

void AppendStream::open(Lock& lock) {
  call_ = std::make_shared<Call>(*this);
  call_->self = call_;
  writing_ = false;
  grpc::GenericStub stub(connection_->channel());
  stub.PrepareBidiStreamingCall(call_->context.get(), method, {}, call_.get());
  call_->begin();
  write_next(lock);
}

void AppendStream::write_next(Lock&) {
  if (!call_ || !call_->writable() || writing_ || closing_) return;
  const auto* request = pending_.next_to_send();
  if (request == nullptr) return;
  writing_ = true;
  call_->write(*request, pending_.has_unsent());
}

void AppendStream::answered(const grpc::ByteBuffer& bytes) {
  auto result = result_of(bytes);
  std::optional<PendingAppends::Ended> ended;
  {
    const Lock lock(mutex_);
    tries_ = 0;
    ended = pending_.answered(std::move(result));
  }
  if (ended) ended->done(std::move(ended->result));
}

void AppendStream::ended(const grpc::Status& status, std::shared_ptr<Call> call) {
  const Error error = status.ok() ? Error(ErrorCode::unavailable, "the server ended the stream") : wire::error_of(status);
  std::vector<PendingAppends::Ended> ended;
  {
    const Lock lock(mutex_);
    pending_.broken();
    if (is_final(error.code)) ended = pending_.all(error, error);
    trouble_ = error.what;
    retry_at_ = PendingAppends::Clock::now() + pause_before(tries_++);
    writing_ = false;
    call_.reset();
    over_ = std::move(call);
    changed_.notify_all();  // the last touch: the destructor may be waiting
  }
  tell(std::move(ended));
}

void AppendStream::keep_time() {
  Lock lock(mutex_);
  while (!closing_) {
    const auto now = PendingAppends::Clock::now();
    if (auto late = pending_.expired(now, call_ ? std::string() : trouble_); !late.empty()) {
      lock.unlock();
      tell(std::move(late));
      lock.lock();
      continue;
    }
    if (pending_.idle()) {
      changed_.wait(lock);
      continue;
    }
    if (!call_ && now >= retry_at_) open(lock);
    auto next = pending_.next_deadline().value_or(now + std::chrono::seconds(1));
    if (!call_) next = std::min(next, retry_at_);
    changed_.wait_until(lock, next);
  }
}

void AppendStream::tell(std::vector<PendingAppends::Ended> ended) {
  for (auto& one : ended) one.done(std::move(one.result));
}

}  // namespace evershard::remote
