// The shards: recovered, opened, fenced; durable, reported, and asking for a cut.

#include <algorithm>
#include <string>

#include "evershard/actors/core/shard_writers.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::actors {
namespace {

Error has_newer_writer(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::fenced,
          "shard " + std::to_string(shard.value) + " has a newer writer: what became of the append is known there",
          std::move(details)};
}

}  // namespace

// -- the shards

void ShardWriters::adopt(OwnShard own, std::vector<storage::UnorderedAppend> unordered) {
  const auto [at, added] = shards_.insert_or_assign(own.shard, Shard{ShardLog(own.ordered), own.epoch});
  // What is remembered of its aggregates is as of the writer before: more than there is, or less. A view at the
  // watermark is none of that: a loss takes away only what has no place in the store, so its heads are the same before
  // and behind it.
  if (!added) recent_ = Recent(watermark_, options_.recent_entries_max, options_.key);
  at->second.since = watermark_;
  for (auto& append : unordered) recover(std::move(append));
}

// An attempt whose client is gone: it is decided like any other, and whoever sends the request again joins it.
void ShardWriters::recover(storage::UnorderedAppend&& unordered) {
  auto attempt = std::make_shared<Attempt>();
  attempt->number = ++arrivals_;
  attempt->prepared.append = std::move(unordered.append);
  auto written = std::make_shared<Written>();
  written->place = std::move(unordered.place);
  written->attempt = attempt;
  written->recovered = true;
  const auto& append = attempt->prepared.append;
  const auto& place = written->place;
  attempt->prepared.named = true;
  attempt->shards.push_back(place.shard);
  attempt->part = place.part;
  attempt->state = Attempt::State::written;
  attempt->durable = true;
  attempt->tentative = place.tentative;
  attempt->undecided = 1;
  attempt->places.emplace_back(place.shard, place.first);
  attempt->versions.resize(append.aggregates.size());
  std::size_t event = 0;
  for (const auto& encoded : append.events) {
    if (encoded.shard != place.shard) continue;
    EVERSHARD_CHECK(event < place.seq_nrs.size(), "what was recovered has a number for each of its events");
    if (encoded.aggregate != storage::EncodedEvent::no_aggregate)
      attempt->versions[encoded.aggregate] = place.seq_nrs[event];
    ++event;
  }
  lanes_.find(*attempt);
  build_on_undecided(written);
  for (const auto& on : attempt->lanes) {
    on.lane->version = attempt->versions[on.aggregate];
    on.lane->last = written.get();
    ++on.lane->unordered;
    if (!place.tentative) continue;
    on.lane->undecided = attempt.get();
    on.lane->builds = false;
  }
  remember(attempt);
  if (place.part && known_.emplace(Id{place.part->append, place.shard}, attempt).second) attempt->known = true;
  live_.emplace(attempt->number, attempt);
  const auto shard = shards_.find(place.shard);
  EVERSHARD_CHECK(shard != shards_.end(), "what was recovered lies on an own shard");
  shard->second.log.recover(written);
}

// What builds on an undecided append is on the disk without saying so. Where that one was refused, the versions of
// those behind it do not join on: not to what is ordered, nor to what was recovered before them.
void ShardWriters::join_versions(ShardId id, const VersionOf& ordered) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end()) return;
  std::unordered_map<const Lane*, SeqNr> reached;
  for (const auto& written : shard->second.log.written()) {
    if (!written->recovered) continue;
    const Attempt& attempt = *written->attempt;
    const auto first_of = [&](const Attempt::OnLane& on) {
      const auto events = std::ranges::count_if(attempt.prepared.append.events, [&](const auto& event) {
        return event.shard == id && event.aggregate == on.aggregate;
      });
      return SeqNr(attempt.versions[on.aggregate].value - static_cast<std::uint64_t>(events) + 1);
    };
    const bool joins = !written->place.tentative || std::ranges::all_of(attempt.lanes, [&](const auto& on) {
      auto at = reached.find(on.lane);
      if (at == reached.end()) at = reached.emplace(on.lane, ordered(attempt.prepared.aggregate(on.aggregate))).first;
      return first_of(on) == at->second + 1;
    });
    if (joins) {
      for (const auto& on : attempt.lanes) reached[on.lane] = attempt.versions[on.aggregate];
    } else if (std::ranges::find(written->builds_on, ShardOffset{0}) == written->builds_on.end()) {
      written->builds_on.push_back(ShardOffset{0});
    }
  }
}

bool ShardWriters::is_open(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.state == Shard::State::open;
}

bool ShardWriters::is_fenced(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.state == Shard::State::fenced;
}

bool ShardWriters::left_behind(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.left_behind;
}

std::optional<ShardOffset> ShardWriters::settled_at(ShardId id, sharding::Term stream, std::string_view text) const {
  const Lane* const lane = lanes_.of(stream, text);
  if (lane == nullptr || (lane->unordered == 0 && lane->undecided == nullptr)) return std::nullopt;
  return shards_.at(id).log.end();
}

ShardOffset ShardWriters::tail(ShardId id) const { return shards_.at(id).log.durable(); }

void ShardWriters::open(ShardId id, Epoch epoch, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  opened(id, shard->second, epoch, watermark_, actions);
  run(actions);
}

void ShardWriters::opened(ShardId id, Shard& shard, Epoch epoch, GlobalPosition since, WriterActions& actions) {
  if (shard.state >= Shard::State::followed) return;
  if (epoch < shard.epoch || (epoch == shard.epoch && shard.state == Shard::State::open)) return;
  shard.epoch = epoch;
  shard.state = Shard::State::open;
  shard.since = std::max(shard.since, since);
  shard.log.report_from(shard.log.ordered());
  for (auto& awaiting : shard.awaiting) awaiting.ask = 0, awaiting.promised = CutNumber{0};
  report(id, shard, actions);
  ask(id, shard, actions);
}

void ShardWriters::fence(ShardId id, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  lose(id, shard->second, Shard::State::fenced, has_newer_writer(id), actions);
  run(actions);
}

std::vector<storage::UnorderedAppend> ShardWriters::follow(ShardId id, WriterActions& actions) {
  std::vector<storage::UnorderedAppend> kept;
  if (failed_) return kept;
  const auto shard = shards_.try_emplace(id, Shard{ShardLog(ShardOffset{1}), Epoch{}}).first;
  if (shard->second.state == Shard::State::followed) return kept;
  for (const auto& written : shard->second.log.written()) {
    if (!written->durable) break;
    auto& unordered = kept.emplace_back(storage::UnorderedAppend{written->attempt->prepared.append, written->place});
    unordered.append.bodies.clear();
    unordered.append.snapshots.clear();
  }
  lose(id, shard->second, Shard::State::followed, has_newer_writer(id), actions);
  run(actions);
  return kept;
}

// Nothing is shown or acknowledged of it any more (rule 12).
void ShardWriters::lose(ShardId id, Shard& shard, Shard::State state, const Error& error, WriterActions& actions) {
  if (shard.state >= Shard::State::followed) return;
  shard.state = state;
  shard.awaiting.clear();
  for (const auto& written : shard.log.drop()) {
    shard.left_behind |=
        std::ranges::find(batch_.written, written) == batch_.written.end();  // else the disk never gets it
    written->dropped = true;
    set_free(*written);
    written->attempt->refused = true;
    decided(*written->attempt);
  }
  const auto keeps = [&](const auto& written) { return !written->dropped; };
  WriterBatch batch = std::exchange(batch_, WriterBatch{});
  for (auto& written : batch.written) {
    if (!keeps(written)) continue;
    batch_.journal.appends.push_back({&written->attempt->prepared.append, &written->place});
    batch_.events += written->place.events();
    batch_.bytes += written->attempt->prepared.bytes;
    batch_.written.push_back(std::move(written));
  }
  for (const auto& attempt : live_by_arrival()) {
    const bool concerned = std::binary_search(attempt->shards.begin(), attempt->shards.end(), id);
    if (!concerned || attempt->state == Attempt::State::done || attempt->state == Attempt::State::joined) continue;
    if (attempt->state == Attempt::State::written && attempt->undecided != 0) {
      // Its parts on other shards here wait for their cut, for nobody.
      const Result<Appended> result = evershard::refuse(error);
      let_joined_go(*attempt, result, actions);
      answer(*attempt, result, actions);
    } else {
      end(attempt, evershard::refuse(error), actions);
    }
  }
}

// -- durable

void ShardWriters::synced(const WriterBatch& batch, WriterActions& actions) {
  if (failed_) return;
  std::vector<ShardId> touched;
  for (const auto& written : batch.written) {
    if (written->dropped) continue;
    const ShardId id = written->place.shard;
    shards_.at(id).log.synced(*written);
    if (std::find(touched.begin(), touched.end(), id) == touched.end()) touched.push_back(id);
    Attempt& attempt = *written->attempt;
    attempt.durable = true;  // all its parts here are in the one batch
    acknowledge_durable(attempt, actions);
  }
  for (const ShardId id : touched) report(id, shards_.at(id), actions);
}

// What is undecided is never acknowledged (rule 17).
void ShardWriters::acknowledge_durable(Attempt& attempt, WriterActions& actions) {
  if (attempt.state != Attempt::State::written) return;
  if (attempt.asked && !attempt.replied) reply_written(attempt, attempt, actions);
  for (const auto& joined : attempt.joined) {
    if (joined->asked && !joined->replied) reply_written(attempt, *joined, actions);
  }
  if (attempt.tentative) return;
  const auto acknowledge = [&](Attempt& to, bool duplicate) {
    if (to.ack != Ack::durable || to.client == 0 || to.asked) return;
    Appended result = appended(attempt);
    result.duplicate = duplicate;
    const auto& [shard, first] = attempt.places.front();
    const auto count = static_cast<std::uint64_t>(to.prepared.append.events.size());
    actions.answers.push_back(
        {std::exchange(to.client, 0), std::move(result), WriterAnswer::Durable{shard, first + (count - 1)}});
  };
  acknowledge(attempt, false);
  for (const auto& joined : attempt.joined) {
    if (same_request(joined->prepared, attempt.prepared)) acknowledge(*joined, true);
  }
}

// -- reported

void ShardWriters::announce(GlobalPosition window_from, bool digests_wanted, bool builds) {
  window_from_ = window_from;
  digests_wanted_ = digests_wanted;
  builds_ = builds;
}

void ShardWriters::report(ShardId id, Shard& shard, WriterActions& actions) {
  if (!session_ || shard.state != Shard::State::open) return;
  while (auto report =
             shard.log.report(id, shard.epoch, hasher_, {digests_wanted_, builds_, options_.report_events_max})) {
    actions.reports.push_back({std::move(*report)});
  }
}

void ShardWriters::session_begun(WriterActions& actions) {
  if (failed_) return;
  session_ = true;
  for (auto& [id, shard] : shards_) report_from(id, shard.log.ordered(), actions);
}

void ShardWriters::report_from(ShardId id, ShardOffset first, WriterActions& actions) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || failed_) return;
  shard->second.log.report_from(first);
  report(id, shard->second, actions);
  for (auto& awaiting : shard->second.awaiting) {
    if (awaiting.promised.value == 0) awaiting.ask = 0;
  }
  ask(id, shard->second, actions);
}

// -- rule 19: missing is only what is missing at a cut made since

void ShardWriters::await_cut(const AttemptPtr& attempt, ShardId id, WriterActions& actions) {
  attempt->state = Attempt::State::awaiting;
  Shard& shard = shards_.at(id);
  shard.awaiting.push_back({attempt});
  ask(id, shard, actions);
}

// One at a time: who comes while an answer is out is asked for with the next one.
void ShardWriters::ask(ShardId id, Shard& shard, WriterActions& actions) {
  if (!session_ || shard.state != Shard::State::open) return;
  bool any = false;
  for (const auto& awaiting : shard.awaiting) {
    if (awaiting.ask != 0 && awaiting.promised.value == 0) return;
    any |= awaiting.ask == 0;
  }
  if (!any) return;
  ++asks_;
  for (auto& awaiting : shard.awaiting) {
    if (awaiting.ask == 0) awaiting.ask = asks_;
  }
  actions.reports.push_back({sharding::Report{id, shard.epoch, shard.log.ordered(), {}}, asks_});
}

void ShardWriters::cut_promised(ShardId id, Epoch epoch, std::uint64_t asked, CutNumber cut, Epoch coordinator,
                                WriterActions& actions) {
  const auto found = shards_.find(id);
  if (found == shards_.end() || found->second.state != Shard::State::open || found->second.epoch != epoch) return;
  Shard& shard = found->second;
  for (auto& awaiting : shard.awaiting) {
    if (awaiting.ask != asked || awaiting.promised.value != 0) continue;
    awaiting.promised = cut;
    awaiting.coordinator = coordinator;
  }
  if (cut <= last_cut_) cut_made(id, shard, actions);
  ask(id, shard, actions);
  run(actions);
}

// A coordinator that was replaced promises a number that another one's cut bears, made perhaps before the asking.
void ShardWriters::cut_made(ShardId id, Shard& shard, WriterActions& actions) {
  std::vector<AttemptPtr> since;
  std::erase_if(shard.awaiting, [&](Shard::Awaiting& awaiting) {
    if (awaiting.promised.value == 0 || awaiting.promised > last_cut_) return false;
    if (awaiting.coordinator != last_coordinator_) {
      awaiting.ask = 0;
      awaiting.promised = CutNumber{0};
      return false;
    }
    since.push_back(awaiting.attempt);
    return true;
  });
  for (const auto& attempt : since) {
    if (attempt->state != Attempt::State::awaiting) continue;
    if (attempt->cuts_off != 0) {
      --attempt->cuts_off != 0 ? await_cut(attempt, id, actions) : try_again(attempt, actions);
      continue;
    }
    attempt->state = Attempt::State::arrived;
    attempt->cut_since = true;
    // What other shards' writers know is only found by looking.
    const bool looks =
        !attempt->asked &&
        std::any_of(attempt->prepared.guards.begin(), attempt->prepared.guards.end(), [&](const auto& guard) {
          return !std::binary_search(attempt->shards.begin(), attempt->shards.end(), guard.shard);
        });
    looks ? look_up(attempt, false, actions) : proceed(attempt, actions);
  }
  ask(id, shard, actions);
}

}  // namespace evershard::actors
