#include "evershard/doors/remote/append_stream.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::remote {
namespace {

constexpr auto left_again_after = std::chrono::seconds(1);
constexpr const char* method = "/evershard.v1.EventStore/AppendMany";

/// Somewhere else, or later; else trying again changes nothing.
bool may_pass(const Error& error) {
  if (error.lasting()) return false;
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::wrong_shard ||
         error.code == ErrorCode::fenced || error.code == ErrorCode::overloaded || error.code == ErrorCode::timeout;
}

/// `watermark`, `retry_after`: what the server told.
/// `led`: whose order the answer follows, where it says so.
Result<Appended> result_of(const grpc::ByteBuffer& bytes, GlobalPosition& watermark,
                           std::chrono::milliseconds& retry_after, std::string& led) {
  grpc::Slice slice;
  pb::AppendOutcome outcome;
  if (!bytes.DumpToSingleSlice(&slice).ok() || slice.size() > std::numeric_limits<int>::max() ||
      !outcome.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
    return refuse(ErrorCode::corruption,
                  "the server's answer is no evershard.v1.AppendOutcome; the append may have been stored");
  }
  if (!outcome.led().empty()) led = std::move(*outcome.mutable_led());
  if (outcome.has_appended()) {
    watermark = GlobalPosition(std::max(outcome.appended().watermark(), outcome.appended().last_position()));
    Appended appended;
    EVERSHARD_TRY(messages::get(*outcome.mutable_appended(), appended));
    return appended;
  }
  Error error;
  retry_after = std::chrono::milliseconds(outcome.refused().retry_after_ms());
  EVERSHARD_TRY(messages::get(*outcome.mutable_refused(), error));
  return refuse(std::move(error));
}

}  // namespace

/// One stream, from its opening to its end.
class AppendStream::Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Call(AppendStream& owner, Door& at) : context(owner.connection_->context()), door(at), owner_(owner) {}

  void OnReadDone(bool ok) override {
    if (!ok) {
      const Lock lock(owner_.mutex_);
      writable_ = false;
      return RemoveHold();
    }
    owner_.answered(incoming_, *this);
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    Lock lock(owner_.mutex_);
    owner_.writing_ = false;
    if (ok) owner_.write_next(lock);
  }
  void OnDone(const grpc::Status& status) override { owner_.ended(status, std::move(self)); }
  void begin() {
    AddHold();  // appends are written from any thread, not from the call's own reactions only
    StartRead(&incoming_);
    StartCall();
  }
  /// Under the lock: the call has not come to its end.
  [[nodiscard]] bool writable() const { return writable_; }
  [[nodiscard]] bool reached() const { return remote::reached(*context); }
  /// Under the lock: nothing more is sent on it.
  void retire() {
    writable_ = false;
    context->TryCancel();
  }
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
  Door& door;
  std::string led{};                 ///< whose order its answers follow, as they said last
  bool heard = false;                ///< an answer
  std::optional<Error> not_taken{};  ///< why its answers are not: they came from another history

 private:
  AppendStream& owner_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  bool writable_ = true;
};

AppendStream::AppendStream(std::shared_ptr<Connection> connection, std::uint32_t node)
    : connection_(std::move(connection)),
      node_(node),
      patience_(connection_->options().unavailable_timeout),
      pending_({connection_->options().appends_in_flight_max, connection_->options().bytes_in_flight_max}),
      keeper_([this] { keep_time(); }) {}

AppendStream::~AppendStream() {
  std::vector<PendingAppends::Ended> ended;
  {
    Lock lock(mutex_);
    closing_ = true;
    ended = pending_.all(call_ && call_->reached(), {ErrorCode::unavailable, "the client was closed"}, false);
    if (call_) call_->context->TryCancel();
    changed_.notify_all();
    changed_.wait(lock, [this] { return call_ == nullptr; });
  }
  keeper_.join();
  tell(std::move(ended));
}

void AppendStream::send(const Append& append, PendingAppends::Clock::time_point deadline, AppendCompletion done) {
  auto request = codec::encode(append);
  Lock lock(mutex_);
  const bool was_idle = pending_.idle();
  auto added = pending_.add(std::move(request), deadline, done);
  if (!added) {
    lock.unlock();
    return done(refuse(std::move(added).error()));
  }
  if (was_idle) changed_.notify_all();
  look_homewards(lock);
  if (!call_ && PendingAppends::Clock::now() >= retry_at_)
    open(lock);
  else
    write_next(lock);
}

/// Where its own door is open and its call goes elsewhere, it changes over: as soon as nothing is under way.
void AppendStream::look_homewards(Lock&) {
  if (!call_ || !call_->writable()) return;
  if (!leaving_ && node_ != 0 && !at_home_) leaving_ = connection_->home(node_) != nullptr;
  if (leaving_ && pending_.none_sent()) call_->retire();
}

/// The node says that it cannot, or that the shard lives elsewhere: another one is asked from now on, but not over and
/// over again for a shard that nobody has.
void AppendStream::leave(Lock&, ErrorCode why) {
  if (why != ErrorCode::wrong_shard && why != ErrorCode::fenced && why != ErrorCode::unavailable) return;
  const auto now = PendingAppends::Clock::now();
  if (leaving_ || !connection_->several() || now - left_at_ < left_again_after) return;
  left_at_ = now;
  leaving_ = true;
  connection_->failed(call_->door);
  connection_->learn_shards(true);
}

void AppendStream::open(Lock& lock) {
  auto* const own = node_ == 0 ? nullptr : connection_->home(node_);
  auto* const door = own != nullptr ? own : connection_->door_now();
  at_home_ = own != nullptr;
  if (door == nullptr) {
    trouble_ = connection_->trouble().what;
    retry_at_ = PendingAppends::Clock::now() + pause_before(tries_++);
    changed_.notify_all();
    return;
  }
  call_ = std::make_shared<Call>(*this, *door);
  call_->self = call_;
  writing_ = false;
  grpc::GenericStub stub(door->channel);
  stub.PrepareBidiStreamingCall(call_->context.get(), method, {}, call_.get());
  call_->begin();
  write_next(lock);
}

void AppendStream::write_next(Lock&) {
  if (!call_ || !call_->writable() || writing_ || closing_ || leaving_) return;
  const auto* request = pending_.next_to_send();
  if (request == nullptr) return;
  writing_ = true;
  call_->write(*request, pending_.has_unsent());
}

void AppendStream::answered(const grpc::ByteBuffer& bytes, Call& call) {
  GlobalPosition watermark;
  std::chrono::milliseconds retry_after{0};
  auto result = result_of(bytes, watermark, retry_after, call.led);
  auto taken = std::exchange(call.heard, true) ? Result<void>() : connection_->hear_fork(*call.context);
  if (taken) taken = connection_->hear_led(call.led);
  if (!taken || call.not_taken) {
    // As if the connection had broken: what waits is sent again, under the same ids, to another node.
    const Lock lock(mutex_);
    if (!call.not_taken) call.not_taken = Connection::not_taken(call.door, taken.error());
    return call.retire();
  }
  connection_->see(watermark);
  const ErrorCode refused = result ? ErrorCode{} : result.error().code;
  if (refused == ErrorCode::overloaded) connection_->is_full(retry_after);
  std::optional<PendingAppends::Ended> ended;
  Door* door = nullptr;
  {
    Lock lock(mutex_);
    if ((std::exchange(tries_, 0) != 0 || !std::exchange(heard_, true)) && call_) door = &call_->door;
    patience_.worked();
    ended = pending_.answered(std::move(result));
    if (call_) leave(lock, refused);
    if (leaving_) look_homewards(lock);
  }
  if (door != nullptr) connection_->worked(*door);
  if (ended) ended->done(std::move(ended->result));
}

void AppendStream::ended(const grpc::Status& status, std::shared_ptr<Call> call) {
  const bool told = !call->not_taken && !status.error_details().empty();  // what is not taken tells nothing either
  const Error error = call->not_taken ? *call->not_taken
                      : status.ok()   ? Error(ErrorCode::unavailable, "the server ended the stream")
                                      : connection_->fault(call->door, wire::error_of(status), told);
  std::vector<PendingAppends::Ended> ended;
  {
    const Lock lock(mutex_);
    const bool moved = std::exchange(leaving_, false);
    const bool full = told && error.code == ErrorCode::overloaded;
    if (!moved && !closing_ && may_pass(error) && !full) {
      connection_->failed(call->door);
      connection_->learn_shards(true);
    }
    const bool too_large = error.code == ErrorCode::too_large && !told && !pending_.none_sent();
    if (too_large) {
      if (auto one = pending_.refuse_largest(error)) ended.push_back(*std::move(one));
    }
    WriteOutcome sent;  // a server that ends a stream itself has not taken what it did not answer
    sent.failed(error, told);
    pending_.broken(sent.unknown());
    if (!moved && !too_large) {
      const bool borne = !told || full || patience_.bears(error, ToldPatience::Clock::now());
      if (!may_pass(error) || !borne) {
        ended = pending_.all(false, error, told);
        patience_.worked();  // later appends have a patience of their own
      }
    }
    trouble_ = error.what;
    full_ = full;
    const auto pause =
        moved || too_large ? std::chrono::milliseconds(0) : pause_before(tries_++, wire::retry_after_of(status));
    retry_at_ = PendingAppends::Clock::now() + pause;
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
    const bool there = call_ && call_->reached();
    std::string why = there ? std::string() : trouble_;
    if (why.empty() && call_ && !there) why = no_connection + call_->door.address;
    if (auto late = pending_.expired(now, there, why); !late.empty()) {
      for (auto& one : late) {
        if (full_ && !there && one.result.error().code == ErrorCode::unavailable)
          one.result = refuse(ErrorCode::overloaded, trouble_);
      }
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
    if (const auto never = call_ ? std::nullopt : connection_->final_fault()) {
      auto ended = pending_.all(false, *never, false);
      lock.unlock();
      tell(std::move(ended));
      lock.lock();
      continue;
    }
    auto next = pending_.next_deadline().value_or(now + std::chrono::seconds(1));
    if (!call_) next = std::min(next, retry_at_);
    changed_.wait_until(lock, next);
  }
}

void AppendStream::tell(std::vector<PendingAppends::Ended> ended) {
  for (auto& one : ended) one.done(std::move(one.result));
}

}  // namespace evershard::remote
