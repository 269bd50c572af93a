#include "evershard/services/engine/run_driver.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/api/passing_feed.hpp"

namespace evershard::cluster {
namespace {

constexpr std::uint64_t settle_from_events = 10'000;  ///< below, there is next to nothing to merge

/// What any of them wants. Where that is too much for one query: everything.
Query wanted_by(const std::vector<std::shared_ptr<ProjectionRun>>& runs) {
  if (runs.size() == 1) return runs.front()->processor().query();
  std::vector<QueryItem> items;
  for (const auto& run : runs) {
    const auto& query = run->processor().query();
    if (query.is_all()) return Query::all();
    items.insert(items.end(), query.items().begin(), query.items().end());
  }
  auto together = Query::of(std::move(items)).canonical();
  return together.check() ? together : Query::all();
}

}  // namespace

void RunDriver::add(std::shared_ptr<ProjectionRun> run) {
  runs_.push_back(std::move(run));
  interrupt();
}

std::vector<std::shared_ptr<ProjectionRun>> RunDriver::take_out() { return std::exchange(out_, {}); }

std::vector<std::shared_ptr<ProjectionRun>> RunDriver::take_all() {
  std::vector<ProjectionRun*> rest;
  for (const auto& run : runs_) rest.push_back(run.get());
  write_rest(rest);
  auto all = take_out();
  all.insert(all.end(), runs_.begin(), runs_.end());
  runs_.clear();
  interrupt();
  return all;
}

void RunDriver::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (feed_) feed_->cancel();
}

void RunDriver::open() {
  const auto behind = std::ranges::min_element(runs_, {}, [](const auto& run) { return run->given(); });
  const std::lock_guard lock(mutex_);
  interrupted_ = false;
  feed_.emplace(follow_past_damage(events_, wanted_by(runs_),
                                   {.after = (*behind)->given(), .page_events_max = page_events_max_},
                                   [this](GlobalPosition position, const Error& why) { pass_over(position, why); }));
  caught_up_ = false;
}

/// Nobody knows whom it was for.
void RunDriver::pass_over(GlobalPosition position, const Error& why) {
  for (const auto& run : runs_) {
    if (position > run->given()) run->passed_over(why, position);
  }
  if (warn_) warn_(Error(why.code, "projections pass over event " + std::to_string(position.value) + ": " + why.what));
}

RunDriver::Stepped RunDriver::step(std::chrono::milliseconds timeout) {
  if (runs_.empty()) return {.waited = true};
  if (!feed_ || interrupted_) open();
  auto item = feed_->next(timeout);
  if (!item) {
    const std::lock_guard lock(mutex_);
    feed_.reset();
    if (interrupted_ || item.error().code == ErrorCode::cancelled) return {};
    return {.error = std::move(item).error()};
  }
  if (item->kind == FeedItem::Kind::caught_up) caught_up_ = true;
  if (item->kind == FeedItem::Kind::fell_behind) caught_up_ = false;
  give(item->events, item->watermark, caught_up_);
  return {.caught_up = caught_up_, .waited = item->kind == FeedItem::Kind::idle};
}

void RunDriver::give(const std::vector<RecordedEvent>& events, GlobalPosition upto, bool caught_up) {
  storage::ProjectionBatch batch;
  std::vector<ProjectionRun*> of, left;
  std::vector<const RecordedEvent*> wanted;
  for (const auto& run : runs_) {
    if (!run->fit()) {
      left.push_back(run.get());
      continue;
    }
    wanted.clear();
    const auto from = run->given();
    const auto& query = run->processor().query();
    for (const auto& event : events) {
      if (event.position > from && (runs_.size() == 1 || query.matches(event))) wanted.push_back(&event);
    }
    if (!events.empty()) run->saw(events.back());
    if (auto changes = run->work(wanted, upto, caught_up)) {
      batch.families.emplace(run->family(), *std::move(changes));
      of.push_back(run.get());
    }
  }
  write(std::move(batch), of);
  for (const auto& run : runs_) {
    if (run->given() < upto || !run->fit()) {
      if (std::ranges::find(left, run.get()) == left.end()) left.push_back(run.get());
    } else if (caught_up && run->status().state == RunState::building) {
      if (run->mark_live() >= settle_from_events) rows_.settle(run->family());
    }
  }
  put_out(left);
}

void RunDriver::write(storage::ProjectionBatch batch, const std::vector<ProjectionRun*>& of) {
  if (of.empty()) return;
  if (auto written = rows_.write(batch)) {
    for (auto* run : of) run->written();
    return;
  } else if (of.size() == 1) {
    return of.front()->not_written(std::move(written).error());
  }
  // One of them was dropped meanwhile, or the disk is full: each for itself.
  for (auto* run : of) {
    storage::ProjectionBatch alone;
    alone.families.insert(batch.families.extract(run->family()));
    if (auto written = rows_.write(alone)) {
      run->written();
    } else {
      run->not_written(std::move(written).error());
    }
  }
}

/// What they know and have not written, but for those that stand at an error: those begin again at their rows.
void RunDriver::write_rest(const std::vector<ProjectionRun*>& these) {
  storage::ProjectionBatch batch;
  std::vector<ProjectionRun*> of;
  for (auto* run : these) {
    const auto state = run->status().state;
    if (run->stopped() || state == RunState::failed || state == RunState::waiting) continue;
    if (auto changes = run->unwritten()) {
      batch.families.emplace(run->family(), *std::move(changes));
      of.push_back(run);
    }
  }
  write(std::move(batch), of);
}

void RunDriver::put_out(const std::vector<ProjectionRun*>& these) {
  if (these.empty()) return;
  write_rest(these);
  const auto goes = [&](const std::shared_ptr<ProjectionRun>& run) {
    return std::ranges::find(these, run.get()) != these.end();
  };
  std::ranges::copy_if(runs_, std::back_inserter(out_), goes);
  std::erase_if(runs_, goes);
  interrupt();
}

}  // namespace evershard::cluster
