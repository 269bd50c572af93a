#include "evershard/services/scheduled/scheduled_host.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t listed_max = 1'000;
constexpr std::size_t page_bytes_max = 4u << 20;  ///< then it ends, behind one at least
constexpr int tries_max = 16;                     ///< while others change the same one
/// Until what was ordered is seen here.
constexpr std::chrono::milliseconds patience = std::chrono::seconds(10);
constexpr std::chrono::milliseconds look_pause{5};

Refused nobody_scheduled(const std::string& id) {
  return refuse(ErrorCode::not_found, "there is no scheduled append " + in_quotes(id));
}

/// The schedule's stream has nothing but stubs: the outcome is known no more, but the schedule is over.
Refused is_removed(const std::string& id, ErrorCode code) {
  return refuse(code, "scheduled append " + in_quotes(id) +
                          " does not wait any more: what became of it was removed, as it is so long ago");
}

Refused is_settled(const ScheduledAppend& scheduled, ErrorCode code) {
  return refuse(code, "scheduled append " + in_quotes(scheduled.id) + " does not wait any more: it was " +
                          std::string(name_of(scheduled.state)));
}

/// Where another version of the schedule was expected: which it has.
std::optional<SeqNr> version_there(const Error& error, const AggregateId& schedule) {
  if (error.code != ErrorCode::version_conflict || !error.details || error.details->aggregate != schedule)
    return std::nullopt;
  return error.details->actual;
}

Append scheduling(const AggregateId& schedule, const ScheduledAt& at, SeqNr version) {
  Event event;
  event.aggregate = schedule;
  event.type = append_scheduled_type;
  event.payload = encode(at);
  event.format = PayloadFormat::protobuf;
  event.subject = subject_of(at.append);
  return Append{}.event(std::move(event)).expect(schedule, ExpectedVersion::exactly(version));
}

}  // namespace

ScheduledHost::ScheduledHost(EventStore& events, Limits limits, DueHostOptions options)
    : events_(events), limits_(limits), now_(options.now), host_(events, *this, std::move(options)) {}

void ScheduledHost::begin_if_any() {
  // The last one there is: in front of it may be many that were removed, which an index has for long.
  ReadOptions last;
  last.direction = Direction::backwards;
  last.limit = 1;
  auto events = events_.read(DueAppends::query(), last);
  const auto some = events.next();
  if (!some || *some) begin();
}

DueAppendsFigures ScheduledHost::figures() const {
  auto figures = host_.locked([this] { return due_.figures(); });
  figures.damaged = host_.damaged();
  return figures;
}

DueWork::Send ScheduledHost::fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) {
  auto append = due_.fire(timer, set, now);
  if (!append) return nullptr;
  return [this, timer, append = *std::move(append)](Told told) { send(timer, append, std::move(told)); };
}

void ScheduledHost::send(const actors::DueTimer& timer, const Append& append, Told told) {
  events_.append_async(append, [this, timer, append, told = std::move(told)](const Result<Appended>& answer) {
    // What follows is one more answer to wait for: told when that has come.
    std::optional<Append> then;
    host_.locked([&] { then = due_.answered(timer, append, answer, now_()); });
    if (then) return send(timer, *then, told);
    told([](Timestamp) {});
  });
}

Result<ScheduleStream> ScheduledHost::read(const AggregateId& schedule, SeqNr at_least) {
  for (const auto until = std::chrono::steady_clock::now() + patience;; std::this_thread::sleep_for(look_pause)) {
    ScheduleStream stream;
    auto events = events_.read(schedule);
    for (const auto& event : events) EVERSHARD_TRY(stream.take(event));
    if (events.error() && events.error()->code != ErrorCode::not_found) return refuse(*events.error());
    if (stream.version() >= at_least) return stream;
    if (std::chrono::steady_clock::now() >= until)
      return refuse(ErrorCode::timeout, "version " + std::to_string(at_least.value) + " of " +
                                            in_quotes(schedule.text()) + " is not seen here");
  }
}

Result<ScheduledAppend> ScheduledHost::written(const std::string& id, const Appended& appended) {
  const auto seen = events_.wait_for(appended.last_position, patience);
  if (!seen) return refuse(seen.error());
  return get(id);
}

Result<ScheduledAppend> ScheduledHost::schedule(ScheduleOrder order) {
  if (order.due.has_value() == order.after.has_value())
    return refuse(ErrorCode::invalid_argument, "either a time that it is due, or how long until then");
  if (order.after &&
      (*order.after < std::chrono::microseconds(0) || order.after->count() > Timestamp::last().micros - now_().micros))
    return refuse(ErrorCode::invalid_argument,
                  "the append is due after " + std::to_string(order.after->count()) + " us: from 0 to the year 9999");
  if (order.id.empty()) order.id = EventId::random().text();
  const auto schedule = schedule_of(order.id);
  if (!schedule) return refuse(schedule.error());
  const ScheduledAt at{order.due ? *order.due : Timestamp{now_().micros + order.after->count()},
                       std::move(order.append)};
  EVERSHARD_TRY(check(at, limits_));
  if (std::ranges::find(at.append.expectations, *schedule, &Expectation::aggregate) != at.append.expectations.end())
    return refuse(ErrorCode::invalid_argument, "a scheduled append expects a version of its own schedule");
  begin();
  SeqNr at_least;
  for (int n = 0; n != tries_max; ++n) {
    const auto stream = read(*schedule, at_least);
    if (!stream) return refuse(stream.error());
    if (const auto& there = stream->scheduled()) {
      // Of one that is to replace, and is due so long from now, nobody can say that it was before.
      const bool same_time = order.due ? there->due == at.due : !order.replace;
      if (there->append == at.append && same_time) {
        auto same = *there;
        same.duplicate = true;
        return same;
      }
      if (!order.replace)
        return refuse(
            ErrorCode::version_conflict,
            "there is another scheduled append " + in_quotes(order.id) + ", which " +
                (there->state == ScheduledState::pending ? "waits" : "was " + std::string(name_of(there->state))));
      if (there->state != ScheduledState::pending) return is_settled(*there, ErrorCode::version_conflict);
    } else if (stream->version().value != 0) {
      return is_removed(order.id, ErrorCode::version_conflict);
    }
    const auto appended = events_.append(scheduling(*schedule, at, stream->version()));
    if (appended) return written(order.id, *appended);
    const auto version = version_there(appended.error(), *schedule);
    if (!version) return refuse(appended.error());
    at_least = *version;
  }
  return refuse(ErrorCode::overloaded, "others change scheduled append " + in_quotes(order.id) + " all the time");
}

Result<ScheduledAppend> ScheduledHost::cancel(const std::string& id) {
  const auto schedule = schedule_of(id);
  if (!schedule) return refuse(schedule.error());
  SeqNr at_least;
  for (int n = 0; n != tries_max; ++n) {
    const auto stream = read(*schedule, at_least);
    if (!stream) return refuse(stream.error());
    const auto& there = stream->scheduled();
    if (there && there->state == ScheduledState::cancelled) return *there;
    if (there && there->state != ScheduledState::pending) return is_settled(*there, ErrorCode::condition_failed);
    if (!there && stream->version().value != 0) return is_removed(id, ErrorCode::not_found);
    // Where nothing is seen, another node may have scheduled it just now: the order knows.
    const auto version = there ? stream->version() : SeqNr{1};
    const auto appended = events_.append(DueAppends::settled(*schedule, version, nullptr));
    if (appended) return written(id, *appended);
    const auto actual = version_there(appended.error(), *schedule);
    if (!actual) return refuse(appended.error());
    if (actual->value == 0) return nobody_scheduled(id);
    at_least = *actual;
  }
  return refuse(ErrorCode::overloaded, "others change scheduled append " + in_quotes(id) + " all the time");
}

Result<ScheduledAppend> ScheduledHost::get(const std::string& id) {
  const auto schedule = schedule_of(id);
  if (!schedule) return refuse(schedule.error());
  const auto stream = read(*schedule, SeqNr{0});
  if (!stream) return refuse(stream.error());
  if (!stream->scheduled())
    return stream->version().value == 0 ? nobody_scheduled(id) : is_removed(id, ErrorCode::not_found);
  return *stream->scheduled();
}

Result<ScheduledPage> ScheduledHost::list(ScheduledListing listing) {
  if (listing.limit == 0 || listing.limit > listed_max)
    return refuse(ErrorCode::invalid_argument,
                  "limit is " + std::to_string(listing.limit) + ": from 1 to " + std::to_string(listed_max));
  if (listing.at_least) {
    const auto there = events_.wait_for(*listing.at_least, listing.timeout);
    if (!there) return refuse(there.error());
  }
  return listing.all ? list_all(listing) : list_waiting(listing);
}

Result<ScheduledPage> ScheduledHost::list_waiting(const ScheduledListing& listing) {
  std::optional<actors::DueOrder> after;
  if (!listing.after.empty()) {
    const auto order = actors::DueOrder::parse(listing.after);
    if (!order) return refuse(order.error());
    after = *order;
  }
  if (!host_.begun()) begin_if_any();
  ScheduledPage page;
  if (!host_.begun()) return page;
  const auto up_to = listing.at_least ? Result<GlobalPosition>(*listing.at_least) : events_.head();
  if (!up_to) return refuse(up_to.error());
  EVERSHARD_TRY(host_.wait_for(*up_to, listing.timeout));
  const auto due = host_.locked([&] { return due_.queue().waiting().list(after, listing.limit); });
  std::size_t bytes = 0;
  std::optional<actors::DueTimer> last;
  for (const auto& timer : due) {
    if (bytes >= page_bytes_max) break;
    last = timer;
    const auto event = events_.event_at(timer.set_at);
    if (!event) {
      // One that is damaged hides none beside it; the followers of the log say it.
      if (event.error().code == ErrorCode::not_found || event.error().code == ErrorCode::corruption) continue;
      return refuse(event.error());
    }
    bytes += event->payload.size();
    ScheduleStream stream;
    if (!stream.take(*event) || !stream.scheduled()) continue;
    page.scheduled.push_back(*stream.scheduled());
    page.scheduled.back().due = timer.due;
  }
  if (last && (due.size() == listing.limit || !(*last == due.back())))
    page.next = actors::DueOrder{last->due, last->set_at, last->key}.text();
  return page;
}

Result<ScheduledPage> ScheduledHost::list_all(const ScheduledListing& listing) {
  std::optional<AggregateId> after;
  if (!listing.after.empty()) {
    const auto schedule = schedule_of(listing.after);
    if (!schedule) return refuse(schedule.error());
    after = *schedule;
  }
  const auto directory = events_.aggregates(std::string(schedule_type), after, listing.limit);
  if (!directory) return refuse(directory.error());
  ScheduledPage page;
  std::size_t bytes = 0;
  const AggregateInfo* last = nullptr;
  for (const auto& info : *directory) {
    if (bytes >= page_bytes_max) break;
    last = &info;
    const auto stream = read(info.aggregate, SeqNr{0});
    if (!stream && stream.error().code == ErrorCode::corruption) continue;
    if (!stream) return refuse(stream.error());
    if (!stream->scheduled()) continue;
    page.scheduled.push_back(*stream->scheduled());
    if (const auto& append = page.scheduled.back().append) bytes += bytes_of(*append);
  }
  if (last != nullptr && (directory->size() == listing.limit || last != &directory->back()))
    page.next = last->aggregate.value;
  return page;
}

}  // namespace evershard::cluster
