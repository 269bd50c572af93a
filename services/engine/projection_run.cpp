#include "evershard/services/engine/projection_run.hpp"

#include <charconv>
#include <exception>
#include <utility>

namespace evershard::cluster {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto checkpoint_every = 1s;        ///< where nothing matches: all that is lost is having looked
constexpr auto gather_at_most = 2s;          ///< so much work may be lost
constexpr auto gather_read_at_most = 250ms;  ///< so late may rows be that somebody reads already
constexpr auto try_again_after = 1s;

/// Of the disk, of the store: no fault of an event.
bool passes(const Error& error) {
  return error.code == ErrorCode::io || error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout ||
         error.code == ErrorCode::overloaded;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void ProgressBoard::moved() {
  if (waiting_.load() == 0) return;
  const std::lock_guard lock(mutex_);
  moved_.notify_all();
}

bool ProgressBoard::wait(Clock::time_point until, const std::function<bool()>& enough) {
  if (enough()) return true;
  std::unique_lock lock(mutex_);
  ++waiting_;
  const bool done = moved_.wait_until(lock, until, enough);
  --waiting_;
  return done;
}

const char* name_of(RunState state) {
  switch (state) {
    case RunState::building:
      return "building";
    case RunState::live:
      return "live";
    case RunState::paused:
      return "paused";
    case RunState::failed:
      return "failed";
    case RunState::waiting:
      return "waiting";
  }
  return "";
}

std::string RunOf::family() const {
  return name + "@" + std::to_string(version.value) + "." + std::to_string(rows.value);
}

std::optional<std::pair<SeqNr, SeqNr>> parse_family(const std::string& family, const std::string& name) {
  if (!family.starts_with(name + "@")) return std::nullopt;
  const auto rest = std::string_view(family).substr(name.size() + 1);
  const auto dot = rest.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto version = number_in(rest.substr(0, dot));
  const auto rows = number_in(rest.substr(dot + 1));
  if (!version || !rows) return std::nullopt;
  return std::pair{SeqNr{*version}, SeqNr{*rows}};
}

ProjectionRun::ProjectionRun(storage::ProjectionStore& rows, ProgressBoard& board, GatheringRoom& room, RunOf of,
                             std::unique_ptr<actors::Processor> processor, EventIdStanding event_id_at)
    : rows_(rows),
      board_(board),
      room_(room),
      of_(std::move(of)),
      family_(of_.family()),
      processor_(std::move(processor)),
      event_id_at_(std::move(event_id_at)) {}

ProjectionRun::~ProjectionRun() { let_go(); }

std::optional<Clock::time_point> ProjectionRun::busy_since() const {
  const auto since = busy_since_.load();
  if (since == 0) return std::nullopt;
  return Clock::time_point(Clock::duration(since));
}

ProjectionRun::Status ProjectionRun::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Clock::time_point ProjectionRun::retry_at() const {
  const std::lock_guard lock(mutex_);
  return retry_at_;
}

bool ProjectionRun::fit() const {
  if (stopped_ || pause_wanted_) return false;
  const std::lock_guard lock(mutex_);
  return status_.state == RunState::building || status_.state == RunState::live;
}

void ProjectionRun::mark(RunState state, std::optional<Error> error, GlobalPosition failed_at) {
  {
    const std::lock_guard lock(mutex_);
    if (error) ++errors_;
    status_ = {state, std::move(error), failed_at};
    if (state == RunState::waiting) retry_at_ = Clock::now() + try_again_after;
  }
  board_.moved();
}

void ProjectionRun::passed_over(Error why, GlobalPosition position) {
  const std::lock_guard lock(mutex_);
  ++errors_;
  status_.error = std::move(why);
  status_.failed_at = position;
}

std::uint64_t ProjectionRun::mark_live() {
  const auto before = status();  // what was passed over is still to be seen
  mark(RunState::live);
  if (before.error && before.state == RunState::building) {
    const std::lock_guard lock(mutex_);
    status_.error = before.error;
    status_.failed_at = before.failed_at;
  }
  return events_ - std::exchange(events_when_live_, events_.load());
}

void ProjectionRun::revive() { mark(RunState::building); }

Result<void> ProjectionRun::load() {
  auto found = rows_.checkpoint(family_);
  if (!found) return refuse(std::move(found).error());
  durable_ = *std::move(found);
  complete_ = durable_.complete;
  checkpoint_at_ = Clock::now();
  publish(durable_.position);
  begin_anew();
  return {};
}

void ProjectionRun::publish(GlobalPosition position) {
  position_ = position.value;
  board_.moved();
}

Result<void> ProjectionRun::handle(std::span<const RecordedEvent* const> events, actors::ProjectionRows& rows) {
  busy_since_ = Clock::now().time_since_epoch().count();
  struct Done {
    std::atomic<std::int64_t>& since;
    ~Done() { since = 0; }
  } const done{busy_since_};
  // NOLINTNEXTLINE(bugprone-empty-catch): what users write may throw anything
  try {
    return processor_->handle(events, rows);
  } catch (const std::exception& thrown) {
    return refuse(ErrorCode::invalid_argument, std::string("the handler threw: ") + thrown.what());
  } catch (...) {
    return refuse(ErrorCode::invalid_argument, "the handler threw something that is no exception");
  }
}

/// Of the store where it did not see that one: what is at a checkpoint's position need not match the query.
EventId ProjectionRun::event_at(GlobalPosition position) const {
  if (!event_id_at_ || position == GlobalPosition{0}) return {};
  if (last_event_.first == position) return last_event_.second;
  const auto standing = event_id_at_(position);
  return standing && *standing ? **standing : EventId{};
}

storage::ProjectionChanges ProjectionRun::with_checkpoint(storage::ProjectionChanges changes, GlobalPosition upto,
                                                          std::string state) {
  pending_ = {upto, of_.version.value, complete_ || caught_up_, std::move(state), event_at(upto)};
  changes.checkpoint = pending_;
  return changes;
}

void ProjectionRun::let_go() {
  gathered_.reset();
  room_.change(std::exchange(gathered_bytes_, 0), 0);
}

/// Begins behind the last write: events that came since are given again.
void ProjectionRun::begin_anew() {
  let_go();
  pending_events_ = 0;
  caught_up_ = false;
  given_ = position();
  processor_->forget();
}

bool ProjectionRun::has_unwritten() const { return gathered_ && (pending_events_ != 0 || (caught_up_ && !complete_)); }

bool ProjectionRun::goes_on_gathering(bool caught_up) {
  const auto before = std::exchange(gathered_bytes_, gathered_->bytes());
  if (!room_.change(before, gathered_bytes_)) return false;
  if (caught_up || given_ <= page_by_page_until_ || status().state != RunState::building) return false;
  return Clock::now() - checkpoint_at_ < (complete_ ? gather_read_at_most : gather_at_most);
}

std::optional<storage::ProjectionChanges> ProjectionRun::work(std::span<const RecordedEvent* const> events,
                                                              GlobalPosition upto, bool caught_up) {
  if (!gathered_) gathered_.emplace(rows_, family_, durable_);
  if (!events.empty()) {
    if (last_event_.first < events.back()->position) saw(*events.back());
    if (auto done = handle(events, *gathered_); !done) {
      const bool of_this_page_alone = pending_events_ == 0;
      if (!of_this_page_alone) page_by_page_until_ = std::max(page_by_page_until_, upto);
      if (passes(done.error())) {
        not_written(std::move(done).error());
        return std::nullopt;
      }
      begin_anew();
      if (of_this_page_alone) work_one_by_one(events);
      return std::nullopt;
    }
  }
  gathered_->rest();
  pending_events_ += events.size();
  given_ = std::max(given_, upto);
  caught_up_ = caught_up_ || caught_up;
  if (has_unwritten()) {
    if (goes_on_gathering(caught_up)) return std::nullopt;
  } else {
    publish(std::max(position(), given_));
    if (Clock::now() - checkpoint_at_ < checkpoint_every) return std::nullopt;
  }
  return unwritten();
}

std::optional<storage::ProjectionChanges> ProjectionRun::unwritten() {
  if (has_unwritten()) {
    auto state = gathered_->state();
    auto changes = gathered_->take();
    return with_checkpoint(std::move(changes), given_, std::move(state));
  }
  if (position() <= durable_.position) return std::nullopt;
  return with_checkpoint({}, position(), durable_.state);
}

void ProjectionRun::written() {
  durable_ = pending_;
  complete_ = durable_.complete;
  room_.change(std::exchange(gathered_bytes_, 0), 0);
  events_ += std::exchange(pending_events_, 0);
  checkpoint_at_ = Clock::now();
  publish(std::max(position(), durable_.position));
  given_ = std::max(given_, position());
}

void ProjectionRun::not_written(Error error) {
  begin_anew();
  mark(RunState::waiting, std::move(error));
}

/// What fails as a page is tried event by event, each a write of its own: what is before the one that cannot be handled
/// has its effect.
void ProjectionRun::work_one_by_one(std::span<const RecordedEvent* const> events) {
  for (const auto* event : events) {
    actors::ProjectionRows rows(rows_, family_, durable_);
    if (auto done = handle({&event, 1}, rows); !done) {
      if (passes(done.error())) return not_written(std::move(done).error());
      begin_anew();
      // What is before it has had its effect, also where nothing of that matched.
      if (const auto before = event->position - 1; before > durable_.position) {
        storage::ProjectionBatch reached;
        reached.families.emplace(family_, with_checkpoint({}, before, durable_.state));
        if (auto noted = rows_.write(reached); !noted) return not_written(std::move(noted).error());
        written();
      }
      return mark(RunState::failed, std::move(done).error(), event->position);
    }
    auto state = rows.state();
    storage::ProjectionBatch batch;
    pending_events_ = 1;
    batch.families.emplace(family_, with_checkpoint(rows.take(), event->position, std::move(state)));
    if (auto written_one = rows_.write(batch); !written_one) return not_written(std::move(written_one).error());
    written();
    if (!fit()) return;
  }
}

}  // namespace evershard::cluster
