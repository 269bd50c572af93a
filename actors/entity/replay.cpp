#include "evershard/actors/entity/replay.hpp"

#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::actors {
namespace {

std::string event_of(const AggregateId& aggregate, SeqNr seq_nr) {
  return "event " + std::to_string(seq_nr.value) + " of " + in_quotes(aggregate.text());
}

}  // namespace

Replay::Replay(const AggregateKind& kind, AggregateId aggregate) : kind_(kind), aggregate_(std::move(aggregate)) {
  at_.state = kind_.initial();
}

void Replay::restart(SnapshotUse because) {
  at_ = {};
  at_.state = kind_.initial();
  at_.snapshot = because;
  from_ = SeqNr{1};
  unproven_.reset();
  removed_.reset();
}

Result<void> Replay::begin(Result<std::optional<RecordedSnapshot>> found) {
  if (!found && found.error().code != ErrorCode::corruption) return refuse(std::move(found).error());
  restart(found ? SnapshotUse::none : SnapshotUse::damaged);
  if (!found || !*found) return {};
  const RecordedSnapshot& snapshot = **found;
  if (snapshot.schema_revision != kind_.schema_revision()) {
    at_.snapshot = SnapshotUse::other_revision;
    return {};
  }
  if (snapshot.version.value == 0) {
    at_.snapshot = SnapshotUse::ahead;
    return {};
  }
  auto state = kind_.decode(snapshot.payload);
  if (!state) {
    at_.snapshot = SnapshotUse::undecodable;
    return {};
  }
  at_ = {std::move(*state), snapshot.version, snapshot.position, 0, SnapshotUse::used, snapshot.version};
  at_.of_subjects = !snapshot.subject.empty();
  from_ = snapshot.version;
  unproven_ = snapshot.position;
  return {};
}

Result<bool> Replay::page(const Page& page) {
  auto event = page.events.begin();
  if (unproven_) {
    if (event == page.events.end() || event->seq_nr != from_ || event->position != *unproven_) {
      restart(SnapshotUse::ahead);
      return false;
    }
    unproven_.reset();
    ++from_;
    ++event;
  } else if (event == page.events.end() && !page.complete) {
    return refuse(ErrorCode::unavailable, "reading " + in_quotes(aggregate_.text()) + " does not get on");
  }
  for (; event != page.events.end(); ++event) EVERSHARD_TRY(apply(*event));
  if (page.complete && removed_) return missing();
  return page.complete;
}

Result<void> Replay::apply(const RecordedEvent& event) {
  if (event.seq_nr != from_) {
    return refuse(ErrorCode::corruption,
                  event_of(aggregate_, event.seq_nr) + " stands where " + std::to_string(from_.value) + " is expected");
  }
  if (event.state == EventState::erased) {
    return refuse(ErrorCode::not_found,
                  event_of(aggregate_, event.seq_nr) + " was erased, and no usable snapshot stands after it");
  }
  const auto step = [&] {
    at_.version = event.seq_nr;
    at_.position = event.position;
    ++at_.replayed;
    ++from_;
  };
  if (event.state == EventState::removed) {
    if (!removed_) removed_ = event.seq_nr;
    step();
    return {};
  }
  if (event.type == retention::aggregate_removed) {
    removed_.reset();
    at_.state = kind_.initial();
    step();
    return {};
  }
  if (removed_) return missing();
  at_.of_subjects = at_.of_subjects || !event.subject.empty();
  if (auto applied = kind_.apply(*at_.state, event.type, event.payload); !applied) {
    // Whatever it is: to whoever sent a command it is the stored events that cannot be used, not his command.
    return refuse(ErrorCode::corruption,
                  event_of(aggregate_, event.seq_nr) + " cannot be applied: " + applied.error().what);
  }
  step();
  return {};
}

Refused Replay::missing() const {
  return refuse(ErrorCode::not_found,
                event_of(aggregate_, *removed_) +
                    (at_.version == *removed_ ? " was" : " to event " + std::to_string(at_.version.value) + " were") +
                    " removed, and no usable snapshot stands behind them");
}

Result<Replayed> replay(const AggregateKind& kind, const AggregateJournal& journal, const AggregateId& aggregate,
                        std::optional<GlobalPosition> up_to) {
  Replay replay(kind, aggregate);
  const auto loaded_at = journal.erasures();
  EVERSHARD_TRY(replay.begin(journal.snapshot(aggregate, up_to)));
  for (bool complete = false; !complete;) {
    StreamOptions options;
    options.from = replay.from();
    options.up_to = up_to;
    auto page = journal.stream(aggregate, options);
    if (!page) return refuse(std::move(page).error());
    auto done = replay.page(*page);
    if (!done) return refuse(std::move(done).error());
    complete = *done;
  }
  auto replayed = replay.take();
  replayed.loaded_at = loaded_at;
  return replayed;
}

std::vector<Result<Replayed>> replay_all(const AggregateJournal& journal, std::span<const ToReplay> aggregates) {
  const auto loaded_at = journal.erasures();
  std::vector<std::optional<Result<Replayed>>> results(aggregates.size());
  std::vector<Replay> replays;
  replays.reserve(aggregates.size());
  for (std::size_t i = 0; i != aggregates.size(); ++i) {
    replays.emplace_back(*aggregates[i].kind, aggregates[i].aggregate);
    if (auto begun = replays[i].begin(journal.snapshot(aggregates[i].aggregate, {})); !begun)
      results[i] = refuse(std::move(begun).error());
  }
  std::vector<std::size_t> open;
  std::vector<AggregateJournal::StreamRead> reads;
  for (;;) {
    open.clear();
    reads.clear();
    for (std::size_t i = 0; i != aggregates.size(); ++i) {
      if (results[i]) continue;
      open.push_back(i);
      reads.push_back({aggregates[i].aggregate, {.from = replays[i].from()}});
    }
    if (open.empty()) break;
    auto pages = journal.streams(reads);
    for (std::size_t k = 0; k != open.size(); ++k) {
      auto& page = pages[k];
      if (page && page->events.empty() && !page->complete) page = journal.stream(reads[k].aggregate, reads[k].options);
      auto done = page ? replays[open[k]].page(*page) : Result<bool>(refuse(std::move(page).error()));
      if (!done) {
        results[open[k]] = refuse(std::move(done).error());
      } else if (*done) {
        results[open[k]] = replays[open[k]].take();
        (*results[open[k]])->loaded_at = loaded_at;
      }
    }
  }
  std::vector<Result<Replayed>> all;
  all.reserve(results.size());
  for (auto& result : results) all.push_back(*std::move(result));
  return all;
}

Result<EncodedState> state_at(const AggregateKind& kind, const AggregateJournal& journal, const AggregateId& aggregate,
                              std::optional<GlobalPosition> up_to) {
  auto replayed = replay(kind, journal, aggregate, up_to);
  if (!replayed) return refuse(std::move(replayed).error());
  auto payload = kind.encode(*replayed->state);
  if (!payload) return refuse(std::move(payload).error());
  return EncodedState{std::move(*payload), kind.state_format(), replayed->version, replayed->position};
}

}  // namespace evershard::actors
