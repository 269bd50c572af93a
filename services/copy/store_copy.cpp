#include "evershard/services/copy/store_copy.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "evershard/api/settled_place.hpp"
#include "evershard/protocol/copy_names.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/copy/copied_appends.hpp"
#include "evershard/services/copy/copy_window.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto looks_every = 100ms;  // how long an end may take to be noticed
constexpr auto waits_most = 2s;
constexpr auto away_most = 5s;  // of a source, where it is not followed

/// Zeros where nobody can say just now: the next checkpoint names it.
EventId id_at(StoreCopy::Side& side, GlobalPosition position) {
  if (position.value == 0) return {};
  const auto there = side.store.event_at(position);
  return there ? there->id : EventId{};
}

bool away(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout || code == ErrorCode::overloaded;
}

}  // namespace

struct StoreCopy::Run {
  Run(StoreCopy& copy, const std::function<bool(const CopyReport&)>& asked)
      : source(copy.source_), target(copy.target_), options(copy.options_), go_on(asked) {}

  Side& source;
  Side& target;
  const StoreCopyOptions& options;
  const std::function<bool(const CopyReport&)>& go_on;
  AggregateId own{};            ///< `$copy-NAME`
  SeqNr number{};               ///< of this run: its event in `own`
  CopyCheckpoint checkpoint{};  ///< as it is stored
  CopyReport report{};
  GlobalPosition ends_with{};  ///< of the source: what was there when it began
  Clock::time_point written_at = Clock::now();

  [[nodiscard]] bool goes_on() {
    if (!report.stopped && !go_on(report)) report.stopped = true;
    return !report.stopped;
  }

  /// Waits, the longer the more often it was tried. False: it is stopped.
  bool wait(std::size_t tries) {
    const auto until =
        Clock::now() + std::min<Clock::duration>(waits_most, 1ms * (1u << std::min<std::size_t>(tries, 11)));
    while (goes_on()) {
      if (Clock::now() >= until) return true;
      std::this_thread::sleep_for(std::min<Clock::duration>(looks_every, until - Clock::now()));
    }
    return false;
  }
  [[nodiscard]] bool patient(const Error& error, std::size_t tries) {
    if (error.code != ErrorCode::overloaded && !options.follow) return false;
    return wait(tries);
  }

  Result<void> begin();
  Result<void> keep(GlobalPosition position, const CopyWindow& window, std::uint64_t gone);
  Result<void> copy_all(CopyWindow& window);
  Result<void> copy_from_feed(CopyWindow& window, EventFeed& feed);
};

/// Reads what is there of this copy, and enters this run behind it.
Result<void> StoreCopy::Run::begin() {
  const auto source_head = source.store.head();
  if (!source_head) return refuse(source_head.error());
  const auto target_head = target.store.head();
  if (!target_head) return refuse(target_head.error());
  const CopySide from{source.name, *source_head, standing_in(source.store)};
  const CopySide to{target.name, *target_head, standing_in(target.store)};
  EVERSHARD_TRY(check_begin(from, to));
  report.head = ends_with = *source_head;
  report.name = options.name.empty() ? options.filter.name_of_copy(source.name.store_id) : options.name;
  own = AggregateId{std::string(copy_type), report.name};
  EVERSHARD_TRY(AggregateId::check(own));

  const std::string filter = options.filter.text();
  checkpoint = {source.name, target.name, filter, GlobalPosition{0}, GlobalPosition{0}, 0, 0};
  const auto snapshot = target.store.snapshot(own);
  if (!snapshot) return refuse(snapshot.error());
  const auto there = target.store.aggregate(own);
  if (!there && there.error().code != ErrorCode::not_found) return refuse(there.error());
  if (there && !*snapshot && !options.restart)
    return refuse(ErrorCode::invalid_argument,
                  "the checkpoint of copy " + in_quotes(report.name) +
                      " is missing in the target, which was restored to an earlier position, say: restart the copy");
  if (*snapshot && !options.restart) {
    auto stored = read_copy_checkpoint((*snapshot)->payload);
    if (!stored) return refuse(std::move(stored).error());
    EVERSHARD_TRY(check_resume(*stored, filter, from, to));
    checkpoint = *std::move(stored);
  }
  report.from = report.position = checkpoint.position;

  Append append;
  Event event;
  event.id = EventId::random();  // of every attempt
  event.aggregate = own;
  event.type = there ? (options.restart ? "$CopyRestarted" : "$CopyResumed") : "$CopyBegan";
  event.payload = to_json(checkpoint);
  event.format = PayloadFormat::json;
  append.event(std::move(event));
  append.expect(own, there ? ExpectedVersion::exactly(there->version.value) : ExpectedVersion::none());
  Snapshot first;
  first.aggregate = own;
  first.payload = to_json(checkpoint);
  first.format = PayloadFormat::json;
  append.snapshot(std::move(first));
  auto entered = target.store.append(append);
  for (std::size_t tries = 1; !entered && away(entered.error().code) && patient(entered.error(), tries); ++tries)
    entered = target.store.append(append);
  if (!entered) return refuse(entered.error());
  number = entered->versions.front().version;
  return {};
}

/// Durable. Errors: fenced
Result<void> StoreCopy::Run::keep(GlobalPosition position, const CopyWindow& window, std::uint64_t gone) {
  written_at = Clock::now();
  if (position <= checkpoint.position &&
      report.events_new + report.events_known == window.events_new() + window.events_known())
    return {};
  const auto there = target.store.aggregate(own);
  if (!there) return refuse(there.error());
  if (there->version != number)
    return refuse(ErrorCode::fenced, "another run of copy " + in_quotes(report.name) + " has begun since");
  CopyCheckpoint next = checkpoint;
  next.position = std::max(position, checkpoint.position);
  next.target_position = std::max(window.target_position(), checkpoint.target_position);
  next.events += window.events_new() - report.events_new;
  next.gone += gone - report.events_gone;
  next.event = id_at(source, next.position);
  next.target_event = id_at(target, next.target_position);
  Snapshot snapshot;
  snapshot.aggregate = own;
  snapshot.version = number;
  snapshot.payload = to_json(next);
  snapshot.format = PayloadFormat::json;
  EVERSHARD_TRY(target.store.put_snapshot(std::move(snapshot)));
  checkpoint = std::move(next);
  report.position = checkpoint.position;
  report.events_new = window.events_new();
  report.events_known = window.events_known();
  report.events_gone = gone;
  return {};
}

Result<void> StoreCopy::Run::copy_from_feed(CopyWindow& window, EventFeed& feed) {
  CopiedAppends appends(options.filter);
  const std::uint64_t gone_before = report.events_gone;
  const auto send = [&](std::vector<CopiedAppend> whole) -> Result<void> {
    for (auto& append : whole) EVERSHARD_TRY(window.send(std::move(append)));
    return {};
  };
  const auto keep_all = [&]() -> Result<void> {
    EVERSHARD_TRY(window.drain());
    return keep(appends.given(), window, gone_before + appends.gone());
  };
  while (goes_on()) {
    auto item = feed.next(looks_every);
    if (!item) return refuse(std::move(item).error());
    report.head = std::max(report.head, item->watermark);
    report.away = item->away;
    if (item->away && !options.follow && item->away->gone_for >= away_most) return refuse(std::move(item->away->why));
    EVERSHARD_TRY(send(appends.take(std::move(item->events))));
    EVERSHARD_TRY(send(appends.read_up_to(item->watermark)));
    if (!options.follow && appends.given() >= ends_with) return keep_all();
    const bool quiet = item->kind == FeedItem::Kind::caught_up || item->kind == FeedItem::Kind::idle;
    if (Clock::now() - written_at < options.checkpoint_every) continue;
    if (quiet)
      EVERSHARD_TRY(keep_all());
    else
      EVERSHARD_TRY(keep(window.stored(), window, gone_before + appends.gone()));
  }
  return keep_all();
}

Result<void> StoreCopy::Run::copy_all(CopyWindow& window) {
  for (std::size_t tries = 1;; ++tries) {
    const GlobalPosition from = report.position;
    EventFeed feed = source.store.follow(options.filter.reads(), FollowOptions{.after = from});
    auto copied = copy_from_feed(window, feed);
    if (copied) return copied;
    if (!options.follow || !away(copied.error().code)) {
      if (window.drain()) (void)keep(window.stored(), window, report.events_gone);  // as far as it came
      return copied;
    }
    if (auto drained = window.drain(); !drained) return drained;
    if (report.position > from) tries = 1;
    if (!wait(tries)) return {};
  }
}

Result<CopyReport> StoreCopy::run(const std::function<bool(const CopyReport&)>& go_on) {
  Run run(*this, go_on);
  EVERSHARD_TRY(run.begin());
  CopyWindow window(target_.store, {.appends = options_.in_flight},
                    [&run](const Error& error, std::size_t tries) { return run.patient(error, tries); });
  auto copied = run.copy_all(window);
  if (!copied && !run.report.stopped) return refuse(std::move(copied).error());
  return run.report;
}

}  // namespace evershard::cluster
