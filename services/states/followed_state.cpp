#include "evershard/services/states/followed_state.hpp"

#include <algorithm>
#include <utility>

#include "evershard/actors/entity/replay.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {
namespace {

GlobalPosition end_of_append(const RecordedEvent& event) {
  return event.position + (event.append_events - event.append_index - 1u);
}

}  // namespace

FollowedState::FollowedState(EventStore& store, std::shared_ptr<const AggregateKind> kind, AggregateId aggregate)
    : store_(store), kind_(std::move(kind)), aggregate_(std::move(aggregate)) {}

Result<void> FollowedState::load() {
  actors::Replay replay(*kind_, aggregate_);
  EVERSHARD_TRY(replay.begin(store_.snapshot(aggregate_)));
  GlobalPosition watermark;
  for (bool complete = false; !complete;) {
    auto stream = store_.read(aggregate_, {.from = replay.from()});
    for (bool restarted = false; !complete && !restarted;) {
      const auto from = replay.from();
      auto page = stream.next_page();
      if (!page) return refuse(std::move(page).error());
      watermark = page->watermark;
      auto done = replay.page(*page);
      if (!done) return refuse(std::move(done).error());
      complete = *done;
      restarted = replay.from() < from;  // its snapshot was of no use
    }
  }
  auto at = replay.take();
  state_ = std::move(at.state);
  version_ = at.version;
  position_ = at.position;
  loaded_at_ = std::max(watermark, position_);
  return {};
}

bool FollowedState::fits(const RecordedEvent& event) const {
  return event.state == EventState::live && event.type != retention::aggregate_removed &&
         event.seq_nr.value == version_.value + 1;
}

Result<bool> FollowedState::apply_next_append() {
  while (!waiting_.empty() && waiting_.front().position <= loaded_at_) waiting_.pop_front();
  if (waiting_.empty()) return false;
  const auto end = end_of_append(waiting_.front());
  if (end > looked_at_) return false;  // the rest of it comes
  while (!waiting_.empty() && waiting_.front().position <= end) {
    const auto event = std::move(waiting_.front());
    waiting_.pop_front();
    if (!fits(event)) {
      EVERSHARD_TRY(load());
      return true;
    }
    if (auto applied = kind_->apply(*state_, event.type, event.payload); !applied) {
      return refuse(ErrorCode::corruption, "event " + std::to_string(event.seq_nr.value) + " of " +
                                               in_quotes(aggregate_.text()) +
                                               " cannot be applied: " + applied.error().what);
    }
    version_ = event.seq_nr;
    position_ = event.position;
  }
  return true;
}

Result<std::optional<FollowedState::Seen>> FollowedState::next(std::chrono::milliseconds timeout, bool newest) {
  if (cancelled_) return refuse(ErrorCode::cancelled, "the state is not followed any more");
  auto seen = state_ == nullptr ? begin() : change(timeout, newest);
  if (seen) return seen;
  if (cancelled_) return refuse(ErrorCode::cancelled, "the state is not followed any more");
  state_.reset();  // the next call reads it anew
  return seen;
}

Result<std::optional<FollowedState::Seen>> FollowedState::begin() {
  EVERSHARD_TRY(load());
  waiting_.clear();
  looked_at_ = loaded_at_;
  const std::lock_guard lock(mutex_);
  feed_ = std::make_shared<EventFeed>(store_.follow(Query{}.concerning({aggregate_}), {.after = loaded_at_}));
  return Seen{state_.get(), version_, position_};
}

Result<std::optional<FollowedState::Seen>> FollowedState::change(std::chrono::milliseconds timeout, bool newest) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (bool changed = false;;) {
    do {
      auto applied = apply_next_append();
      if (!applied) return refuse(std::move(applied).error());
      if (!*applied) break;
      changed = true;
    } while (newest);
    if (changed) return Seen{state_.get(), version_, position_};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    auto item = feed_->next(std::max(left, std::chrono::milliseconds(0)));
    if (!item) return refuse(std::move(item).error());
    looked_at_ = std::max(looked_at_, item->watermark);
    for (auto& event : item->events)
      if (event.aggregate == aggregate_) waiting_.push_back(std::move(event));
    if (item->kind == FeedItem::Kind::idle && std::chrono::steady_clock::now() >= until) return std::nullopt;
  }
}

void FollowedState::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(mutex_);
  if (feed_) feed_->cancel();
}

}  // namespace evershard::cluster
