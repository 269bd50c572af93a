#include "evershard/doors/http/live_stats.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "evershard/api/json/json_text.hpp"

namespace evershard::http {
namespace {

std::uint64_t detail(const StoreStats& stats, std::string_view name) {
  for (const auto& [known, value] : stats.details) {
    if (known == name) return value;
  }
  return 0;
}

std::string rate(std::uint64_t now, std::uint64_t before, double seconds) {
  // Not printf(), which follows the program's locale: 0,0 is no number of JSON.
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text,
                                 seconds > 0 && now >= before ? static_cast<double>(now - before) / seconds : 0.0,
                                 std::chars_format::fixed, 1);
  return {text, end.ptr};
}

void write_percentiles(JsonText& json, std::string_view name, const Latencies& latencies) {
  json.key(name);
  if (latencies.count() == 0) {
    json.raw("null");
    return;
  }
  json.begin_object();
  for (const unsigned percent : {50u, 99u})
    json.key("p" + std::to_string(percent)).number(*latencies.percentile(percent));
  json.key("count").number(latencies.count()).end_object();
}

}  // namespace

std::string live_stats_json(const StatsSample& now, const std::optional<StatsSample>& before) {
  const StatsSample& from = before ? *before : now;
  const double seconds = static_cast<double>(now.at.micros - from.at.micros) / 1e6;
  const auto events = detail(now.store, "appends.events");
  JsonText json;
  json.begin_object().key("at").string(now.at.text()).key("head").number(now.store.watermark.value);
  json.key("appends")
      .number(now.store.appends)
      .key("events")
      .number(events)
      .key("refused")
      .number(now.doors.refused)
      .key("reads")
      .number(now.doors.reads);
  json.key("commits").number(now.store.commits);
  json.key("rates").begin_object();
  json.key("appends").raw(rate(now.store.appends, from.store.appends, seconds));
  json.key("events").raw(rate(events, detail(from.store, "appends.events"), seconds));
  json.key("refused").raw(rate(now.doors.refused, from.doors.refused, seconds));
  json.key("reads").raw(rate(now.doors.reads, from.doors.reads, seconds));
  json.key("commits").raw(rate(now.store.commits, from.store.commits, seconds)).end_object();
  json.key("disk_bytes").number(now.store.disk_bytes).key("disk_free_bytes").number(now.store.disk_free_bytes);
  json.key("memory_bytes").number(now.store.memory_bytes).key("tail_events").number(now.store.tail_events);
  json.key("waiting").number(detail(now.store, "appends.waiting"));
  json.key("connections").number(static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.doors.connections)));
  json.key("streams").number(static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.doors.streams)));
  write_percentiles(json, "commit_micros", now.store.commit_latencies.since(from.store.commit_latencies));
  write_percentiles(json, "append_micros", now.doors.append_latencies.since(from.doors.append_latencies));
  json.end_object();
  return json.take();
}

void LiveStats::wait(std::uint64_t seen, std::weak_ptr<Stream> who, Tell tell) {
  std::unique_lock lock(mutex_);
  if (number_ > seen) {
    const auto missed = std::min<std::uint64_t>(number_ - seen, past_.size());
    const auto given = std::min<std::uint64_t>(missed, piece_samples_max);
    std::string events;
    for (auto at = past_.size() - missed; at < past_.size() - missed + given; ++at) events += past_[at];
    const auto number = number_ - missed + given;
    lock.unlock();
    return tell(number, std::move(events));
  }
  const auto* key = who.lock().get();
  waiting_.push_back({std::move(who), key, std::move(tell)});
}

void LiveStats::add(StatsSample sample) {
  std::vector<Waiting> told;
  std::uint64_t number = 0;
  std::string event;
  {
    const std::lock_guard lock(mutex_);
    event = server_sent_event("stats", live_stats_json(sample, before_));
    number = ++number_;
    past_.push_back(event);
    if (past_.size() > samples_max) past_.pop_front();
    before_ = std::move(sample);
    told.swap(waiting_);
  }
  for (auto& waiting : told) {
    if (const auto alive = waiting.who.lock()) waiting.tell(number, event);
  }
}

void LiveStats::forget(const Stream* who) {
  std::vector<Waiting> gone;  // destroyed after the lock is given back
  const std::lock_guard lock(mutex_);
  const auto from =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.key != who; });
  gone.assign(std::make_move_iterator(from), std::make_move_iterator(waiting_.end()));
  waiting_.erase(from, waiting_.end());
}

void StatsStream::next(Done done) {
  stats_.wait(seen_, weak_from_this(), [this, done = std::move(done)](std::uint64_t number, std::string events) {
    seen_ = number;
    done({std::move(events)});
  });
}

}  // namespace evershard::http
