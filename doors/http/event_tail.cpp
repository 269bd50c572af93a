#include "evershard/doors/http/event_tail.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/json/event_json.hpp"
#include "evershard/doors/http/response.hpp"

namespace evershard::http {
namespace {

using Kind = FeedItem::Kind;
using serving::HeadWatch;

/// Fewer than a read's: a piece is written before the next is made.
constexpr std::size_t piece_events_max = 200;

Piece ended_by(const Error& error) { return {server_sent_event("error", error_json(error)), true}; }

std::string mark(std::string_view name, GlobalPosition watermark) {
  const auto text = std::to_string(watermark.value);
  return server_sent_event(name, R"({"watermark":)" + text + '}', text);
}

}  // namespace

EventTail::EventTail(serving::Served served, serving::TypesCache& types, Query query, GlobalPosition after,
                     std::chrono::milliseconds heartbeat)
    : served_(std::move(served)),
      types_(types),
      query_(std::move(query)),
      heartbeat_(heartbeat),
      feed_(served_.store.follow(query_, FollowOptions{.after = after, .page_events_max = piece_events_max})),
      at_(after),
      work_(served_.long_reads->begin()) {}

void EventTail::next(Done done) {
  served_.pool.run([self = shared_from_this(), done = std::move(done)]() mutable { self->look(std::move(done)); });
}

void EventTail::look(Done done) {
  const storage::ReadWork::Scope at_work(*work_);
  auto item = feed_.next(std::chrono::milliseconds(0));
  if (!item) return done(ended_by(item.error()));
  at_ = item->watermark;
  if (item->kind == Kind::idle) return wait(std::move(done));
  auto piece = piece_of(*item);
  if (piece.bytes.empty()) return next(std::move(done));
  done(std::move(piece));
}

void EventTail::wait(Done done) {
  const auto wake = [self = shared_from_this(), done = std::move(done)](HeadWatch::Why why, GlobalPosition) {
    if (why == HeadWatch::Why::something) return self->next(done);
    if (why == HeadWatch::Why::deadline) return done({std::string(heartbeat_comment)});
    done({{}, true});
  };
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return;
  }
  const auto ticket = served_.watch.when_matching(at_, query_, HeadWatch::Clock::now() + heartbeat_, wake);
  std::unique_lock lock(mutex_);
  ticket_ = std::max(ticket_, ticket);  // it may have ended, and the next one begun, in another thread
  if (!cancelled_) return;
  lock.unlock();
  served_.watch.cancel(ticket);
}

void EventTail::cancel() {
  feed_.cancel();
  work_->cancel();
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  const auto ticket = std::exchange(ticket_, 0);
  lock.unlock();
  if (ticket != 0) served_.watch.cancel(ticket);
}

Piece EventTail::piece_of(const FeedItem& item) {
  if (item.kind == Kind::caught_up) return {mark("caught_up", item.watermark)};
  if (item.kind == Kind::fell_behind) return {mark("fell_behind", item.watermark)};
  auto types = types_.lease();
  if (!types) return ended_by(types.error());
  Piece piece;
  JsonText json;
  for (const auto& event : item.events) {
    json.clear();
    write_event(json, event, **types);
    piece.bytes += server_sent_event("event", json.text(), std::to_string(event.position.value));
  }
  if (served_.metrics) served_.metrics->events_read("http", item.events.size());
  return piece;
}

}  // namespace evershard::http
