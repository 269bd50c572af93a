#include "evershard/cluster/remote/remote_feed.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/messages.hpp"

namespace evershard::remote {
namespace {

constexpr auto heartbeat = std::chrono::milliseconds(5'000);
constexpr auto silence_max = 3 * heartbeat;  ///< then the server, or what lies between, is gone

}  // namespace

class RemoteFeed::Call final : public grpc::ClientReadReactor<pb::SubscribeResponse> {
 public:
  Call(std::unique_ptr<grpc::ClientContext> context, std::shared_ptr<Shared> shared) : context_(std::move(context)), shared_(std::move(shared)) {}

  static void begin(const std::shared_ptr<Call>& call, pb::EventStore::Stub& stub, const pb::SubscribeRequest& request) {
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
    const std::lock_guard lock(shared_->mutex);
    if (ok) shared_->item = std::move(incoming_);
    else let_go();
    shared_->changed.notify_all();
  }
  void OnDone(const grpc::Status& status) override {
    const auto keep = std::move(self_);
    const std::lock_guard lock(shared_->mutex);
    shared_->error = status.ok() ? Error(ErrorCode::unavailable, "the server ended the subscription") : wire::error_of(status);
    shared_->call.reset();
    shared_->changed.notify_all();
  }

 private:
  std::shared_ptr<Call> self_;  ///< until OnDone
  std::unique_ptr<grpc::ClientContext> context_;
  const std::shared_ptr<Shared> shared_;
  pb::SubscribeResponse incoming_;
  bool held_ = true;
};

RemoteFeed::RemoteFeed(std::shared_ptr<Connection> connection, pb::SubscribeRequest request) : connection_(std::move(connection)), request_(std::move(request)) {
  request_.set_heartbeat_ms(static_cast<std::uint32_t>(heartbeat.count()));
}

RemoteFeed::~RemoteFeed() { cancel(); }

void RemoteFeed::open(std::unique_lock<std::mutex>& lock) {
  shared_->error.reset();
  shared_->item.reset();
  auto call = std::make_shared<Call>(connection_->context(), shared_);
  shared_->call = call;
  lock.unlock();
  Call::begin(call, connection_->events(), request_);
  lock.lock();
  heard_at_ = std::chrono::steady_clock::now();
}

Result<FeedItem> RemoteFeed::next(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(shared_->mutex);
  while (true) {
    if (shared_->cancelled) return refuse(ErrorCode::cancelled, "the feed was cancelled");
    const auto now = std::chrono::steady_clock::now();
    if (shared_->item) {
      auto item = *std::exchange(shared_->item, std::nullopt);
      if (shared_->call) shared_->call->read_on();
      tries_ = 0;
      heard_at_ = now;
      heard_ = true;
      const bool says_nothing = item.kind() == pb::SubscribeResponse::KIND_HEARTBEAT && item.watermark() <= request_.after();
      if (!says_nothing) return take(std::move(item));
      continue;
    }
    if (shared_->error) {
      auto error = *std::exchange(shared_->error, std::nullopt);
      const bool never_there = !heard_ && now - began_ >= connection_->options().timeout;
      if (never_there || (error.code != ErrorCode::unavailable && error.code != ErrorCode::cancelled)) return refuse(std::move(error));
      retry_at_ = now + pause_before(tries_++);
    }
    if (!shared_->call && now >= retry_at_) {
      open(lock);
      continue;
    }
    if (shared_->call && now - heard_at_ >= silence_max) {
      shared_->call->stop();
      heard_at_ = now;
    }
    if (now >= deadline) return FeedItem{FeedItem::Kind::idle, {}, GlobalPosition(request_.after())};
    shared_->changed.wait_until(lock, std::min(deadline, shared_->call ? heard_at_ + silence_max : retry_at_));
  }
}

Result<FeedItem> RemoteFeed::take(pb::SubscribeResponse from) {
  FeedItem item;
  switch (from.kind()) {
    case pb::SubscribeResponse::KIND_EVENTS: item.kind = FeedItem::Kind::events; break;
    case pb::SubscribeResponse::KIND_CAUGHT_UP: item.kind = FeedItem::Kind::caught_up; break;
    case pb::SubscribeResponse::KIND_FELL_BEHIND: item.kind = FeedItem::Kind::fell_behind; break;
    default: item.kind = FeedItem::Kind::idle; break;
  }
  item.events.resize(static_cast<std::size_t>(from.events_size()));
  for (int i = 0; i < from.events_size(); ++i) EVERSHARD_TRY(messages::get(*from.mutable_events(i), item.events[static_cast<std::size_t>(i)]));
  item.watermark = GlobalPosition(from.watermark());
  request_.set_after(from.watermark());
  return item;
}

void RemoteFeed::cancel() {
  const std::lock_guard lock(shared_->mutex);
  shared_->cancelled = true;
  if (shared_->call) {
    shared_->call->stop();
    shared_->call->let_go();
  }
  shared_->changed.notify_all();
}

}  // namespace evershard::remote
