#include "evershard/doors/remote/remote_feed.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/beyond_head.hpp"
#include "evershard/protocol/messages.hpp"

namespace evershard::remote {
namespace {

constexpr auto heartbeat = std::chrono::milliseconds(5'000);
constexpr auto silence_max = 3 * heartbeat;                    ///< then the server, or what lies between, is gone
constexpr auto away_after = std::chrono::milliseconds(1'000);  ///< a shorter break is nobody's business
constexpr auto longest_wait = std::chrono::hours(24 * 365);    ///< what is longer may overflow the clock

/// Somewhere else, or later.
bool goes_on(const Error& error) {
  if (error.lasting()) return false;
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::wrong_shard ||
         error.code == ErrorCode::fenced || error.code == ErrorCode::overloaded;
}

}  // namespace

class RemoteFeed::Call final : public grpc::ClientReadReactor<pb::SubscribeResponse> {
 public:
  Call(std::unique_ptr<grpc::ClientContext> context, Door& at, RemoteFeed& owner)
      : door(at), context_(std::move(context)), owner_(owner) {}

  Door& door;

  static void begin(const std::shared_ptr<Call>& call, pb::EventStore::Stub& stub,
                    const pb::SubscribeRequest& request) {
    call->self_ = call;
    stub.async()->Subscribe(call->context_.get(), &request, call.get());
    call->StartRead(&call->incoming_);
    call->AddHold();  // the next read is begun from next()
    call->StartCall();
  }
  /// Under the lock: the item was taken.
  void read_on() { StartRead(&incoming_); }
  /// Under the lock: nobody takes any more.
  void let_go() {
    if (std::exchange(held_, false)) RemoveHold();
  }
  void stop() { context_->TryCancel(); }

  void OnReadDone(bool ok) override {
    const std::lock_guard lock(owner_.mutex_);
    if (ok && !std::exchange(heard_, true)) owner_.connection_->hear_at_one(*context_);
    if (ok)
      owner_.item_ = std::move(incoming_);
    else
      let_go();
    owner_.changed_.notify_all();
  }
  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(owner_.mutex_);
    owner_.error_ = status.ok()
                        ? Error(ErrorCode::unavailable, "the server ended the subscription")
                        : owner_.connection_->fault(door, wire::error_of(status), !status.error_details().empty());
    const bool full = owner_.error_->code == ErrorCode::overloaded;
    owner_.retry_after_ = wire::retry_after_of(status);
    if (!owner_.cancelled_ && goes_on(*owner_.error_) && !full) owner_.connection_->failed(door);
    owner_.call_.reset();
    owner_.over_ = std::move(self_);
    owner_.changed_.notify_all();  // the last touch: the destructor may be waiting
  }

 private:
  std::shared_ptr<Call> self_;  ///< until OnDone
  std::unique_ptr<grpc::ClientContext> context_;
  RemoteFeed& owner_;
  pb::SubscribeResponse incoming_;
  bool held_ = true;
  bool heard_ = false;
};

RemoteFeed::RemoteFeed(std::shared_ptr<Connection> connection, pb::SubscribeRequest request)
    : connection_(std::move(connection)), request_(std::move(request)) {
  request_.set_heartbeat_ms(static_cast<std::uint32_t>(heartbeat.count()));
}

RemoteFeed::~RemoteFeed() {
  cancel();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return call_ == nullptr; });
}

/// Under the lock: what gRPC calls back it calls from another thread.
void RemoteFeed::open() {
  auto* door = connection_->door_now();
  if (door == nullptr) {
    auto never = connection_->final_fault();
    error_ = never ? *std::move(never) : Error(ErrorCode::unavailable, connection_->trouble().what);
    return;
  }
  error_.reset();
  item_.reset();
  led_.clear();
  auto call = std::make_shared<Call>(connection_->context(), *door, *this);
  Call::begin(call, *door->events, request_);
  call_ = call;  // begun, whoever cancels it from now on
  heard_at_ = std::chrono::steady_clock::now();
}

Result<FeedItem> RemoteFeed::next(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(timeout, longest_wait);
  std::unique_lock lock(mutex_);
  while (true) {
    if (cancelled_) return refuse(ErrorCode::cancelled, "the feed was cancelled");
    const auto now = std::chrono::steady_clock::now();
    if (item_) {
      auto item = *std::exchange(item_, std::nullopt);
      if (!item.led().empty()) led_ = item.led();
      if (const auto taken = connection_->hear_led(led_); !taken) {
        // The feed takes no more items of this node: it asks another node, or this node later.
        not_taken_ = taken.error();
        if (call_) {
          connection_->failed(call_->door);
          call_->stop();
          call_->let_go();
        }
        continue;
      }
      if (call_) call_->read_on();
      if (call_ && (tries_ > 0 || !heard_)) connection_->worked(call_->door);
      tries_ = 0;
      heard_at_ = now;
      heard_ = true;
      away_since_.reset();
      away_told_ = false;
      const bool says_nothing =
          item.kind() == pb::SubscribeResponse::KIND_HEARTBEAT && item.watermark() <= request_.after();
      if (!says_nothing) return take(std::move(item));
      continue;
    }
    if (error_) {
      auto error = *std::exchange(error_, std::nullopt);
      if (std::exchange(silent_, false)) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(silence_max).count();
        error = Error(ErrorCode::unavailable, "nothing was heard of the server for " + std::to_string(seconds) + " s");
      }
      if (auto why = std::exchange(not_taken_, std::nullopt))
        error = Error(ErrorCode::unavailable, "what came is not taken: " + why->what);
      const bool never_there = !heard_ && now - began_ >= connection_->options().timeout;
      if (never_there || !goes_on(error)) return refuse(std::move(error));
      if (!away_since_) away_since_ = now;
      why_away_ = std::move(error);
      retry_at_ = now + pause_before(tries_++, std::exchange(retry_after_, {}));
    }
    if (!call_ && now >= retry_at_) {
      open();
      continue;
    }
    if (call_ && now - heard_at_ >= silence_max) {
      call_->stop();
      heard_at_ = now;
      silent_ = true;
    }
    auto until = std::min(deadline, call_ ? heard_at_ + silence_max : retry_at_);
    if (away_since_ && !away_told_) {
      if (now - *away_since_ >= away_after) {
        away_told_ = true;
        return idle(now);
      }
      until = std::min(until, *away_since_ + away_after);
    }
    if (now >= deadline) return idle(now);
    changed_.wait_until(lock, until);
  }
}

FeedItem RemoteFeed::idle(std::chrono::steady_clock::time_point now) const {
  FeedItem item{FeedItem::Kind::idle, {}, GlobalPosition(request_.after()), {}};
  if (!away_told_) return item;
  item.away = FeedItem::Away{why_away_, std::chrono::duration_cast<std::chrono::milliseconds>(now - *away_since_)};
  return item;
}

Result<FeedItem> RemoteFeed::take(pb::SubscribeResponse from) {
  if (!from.fork_id().empty() && !request_.fork_id().empty() && from.fork_id() != request_.fork_id()) {
    return refuse(other_fork(request_.fork_id(), from.fork_id(), GlobalPosition(request_.after())));
  }
  if (!from.fork_id().empty()) request_.set_fork_id(from.fork_id());
  FeedItem item;
  switch (from.kind()) {
    case pb::SubscribeResponse::KIND_EVENTS:
      item.kind = FeedItem::Kind::events;
      break;
    case pb::SubscribeResponse::KIND_CAUGHT_UP:
      item.kind = FeedItem::Kind::caught_up;
      break;
    case pb::SubscribeResponse::KIND_FELL_BEHIND:
      item.kind = FeedItem::Kind::fell_behind;
      break;
    default:
      item.kind = FeedItem::Kind::idle;
      break;
  }
  item.events.resize(static_cast<std::size_t>(from.events_size()));
  for (int i = 0; i < from.events_size(); ++i)
    EVERSHARD_TRY(messages::get(*from.mutable_events(i), item.events[static_cast<std::size_t>(i)]));
  // Another node than before may be behind the events that were given.
  request_.set_after(std::max(request_.after(), from.watermark()));
  item.watermark = GlobalPosition(request_.after());
  // The item's watermark may be only the position that was asked for, beyond the head.
  if (!item.events.empty()) connection_->see(item.events.back().position);
  return item;
}

void RemoteFeed::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (call_) {
    call_->stop();
    call_->let_go();
  }
  changed_.notify_all();
}

}  // namespace evershard::remote
