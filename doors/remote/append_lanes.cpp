#include "evershard/doors/remote/append_lanes.hpp"

#include <utility>

namespace evershard::remote {

AppendLanes::AppendLanes(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {
  streams_.emplace(0, std::make_unique<AppendStream>(connection_, 0));
}

void AppendLanes::send(Append append, AppendCompletion done) {
  connection_->learn_shards();
  Held next{std::move(append), Clock::now() + connection_->options().timeout, std::move(done)};
  std::unique_lock lock(mutex_);
  const bool change = version_ != connection_->lanes_version();
  if (releasing_ || !held_.empty() || (change && under_way_ > 0)) {
    if (held_.size() < connection_->options().appends_in_flight_max) return held_.push_back(std::move(next));
    lock.unlock();
    return next.done(refuse(ErrorCode::overloaded, std::to_string(connection_->options().appends_in_flight_max) +
                                                       " appends wait for the way to the servers to change"));
  }
  if (change) take_lanes();
  auto& stream = lane_of(next.append);
  lock.unlock();
  go(stream, std::move(next));
}

void AppendLanes::go(AppendStream& stream, Held next) {
  const auto deadline = next.deadline;
  stream.send(next.append, deadline, [self = shared_from_this(), done = std::move(next.done)](Result<Appended> result) {
    done(std::move(result));
    self->ended();
  });
}

AppendStream& AppendLanes::lane_of(const Append& append) {
  ++under_way_;
  std::uint32_t node = 0;
  if (const auto shard = connection_->shard_of(append); shard && shard->value < lanes_.size())
    node = lanes_[shard->value];
  auto& stream = streams_[node];
  if (!stream) stream = std::make_unique<AppendStream>(connection_, node);
  return *stream;
}

void AppendLanes::take_lanes() {
  version_ = connection_->lanes_version();
  lanes_ = connection_->lanes();
}

/// An append is answered. If it was the last append by the former lanes, the held appends now go by the new lanes.
void AppendLanes::ended() {
  std::unique_lock lock(mutex_);
  --under_way_;
  if (under_way_ > 0 || held_.empty() || releasing_ || closing_) return;
  releasing_ = true;
  take_lanes();
  while (!held_.empty() && !closing_) {
    auto next = std::move(held_.front());
    held_.pop_front();
    auto& stream = lane_of(next.append);
    lock.unlock();
    go(stream, std::move(next));
    lock.lock();
  }
  releasing_ = false;
  released_.notify_all();
}

void AppendLanes::close() {
  std::deque<Held> held;
  std::map<std::uint32_t, std::unique_ptr<AppendStream>> streams;
  {
    std::unique_lock lock(mutex_);
    closing_ = true;
    released_.wait(lock, [this] { return !releasing_; });
    held.swap(held_);
    streams.swap(streams_);
  }
  streams.clear();
  const Error closed(ErrorCode::unavailable, "the client was closed before the append was sent");
  for (auto& one : held) one.done(refuse(Error(closed)));
  connection_.reset();
}

}  // namespace evershard::remote
