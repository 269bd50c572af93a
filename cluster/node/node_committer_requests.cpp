// What is asked of the node: taken in, waited for, answered.

#include "evershard/cluster/node/node_committer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {
namespace {

using actors::Attempt;
using actors::WriterActions;

constexpr std::chrono::milliseconds opening_wait_max{500};

bool is_late(const Error& error) { return error.code == ErrorCode::timeout || error.code == ErrorCode::unavailable; }

}  // namespace

void NodeCommitter::append_async(Append append, AppendChain chain, NodeDone<Appended> done) {
  const auto deadline = Clock::now() + options_.append_timeout;
  auto attempt = std::make_shared<Attempt>();
  attempt->ack = append.ack;
  attempt->prepared.chain = chain;
  std::vector<GlobalPosition> from;
  for (const auto& condition : append.conditions) from.push_back(condition.after);
  if (auto admitted = admit(); !admitted) return done(refuse(std::move(admitted).error()));
  for (const auto condition_from : from) {
    if (auto known = reader_.knows_own_from(condition_from); !known) return done(refuse(std::move(known).error()));
  }
  auto stored = preparer_.prepare(std::move(append), attempt->prepared);
  if (!stored) return done(refuse(std::move(stored).error()));
  if (*stored) return answer_stored(attempt, std::move(**stored), std::move(done));
  if (auto fits = load_.take(attempt->prepared.append, attempt->prepared.bytes); !fits)
    return done(refuse(std::move(fits).error()));
  done = [this, attempt, done = std::move(done)](Result<Appended> result) {
    load_.give_back(attempt->prepared.append, attempt->prepared.bytes);
    done(std::move(result));
  };
  const auto shard = attempt->prepared.append.events.front().shard;
  const auto taken = [this, attempt, done, deadline, shard] {
    when_open(shard, [this, attempt, done, deadline] { take(attempt, done, deadline); });
  };
  if (!needs_others(attempt->prepared, from)) return post(taken);
  asking_->run([this, attempt, from = std::move(from), done = std::move(done), taken] {
    auto others = look_elsewhere(attempt->prepared, from);
    if (!others) return done(refuse(std::move(others).error()));
    post(taken);
  });
}

Result<void> NodeCommitter::admit() const {
  const auto admission = store_.admission();
  const auto what = "node " + std::to_string(options_.self.node) + ": " + admission.what;  // it is read at another one
  switch (admission.kind) {
    case storage::Admission::Kind::open:
    case storage::Admission::Kind::slow:
      return {};
    case storage::Admission::Kind::full:
      return refuse(ErrorCode::overloaded, what);
    case storage::Admission::Kind::disk:
      return refuse(ErrorCode::unavailable, what);
    case storage::Admission::Kind::failed:
      return refuse(ErrorCode::io, what);
  }
  return {};
}

void NodeCommitter::when_open(ShardId shard, std::function<void()> take) {
  if (dead_ || writers_->is_open(shard)) return take();
  early_.push_back({shard, Clock::now() + std::min(options_.wait_max, opening_wait_max), std::move(take)});
}

void NodeCommitter::take_early() {
  const auto now = Clock::now();
  for (auto& early : std::exchange(early_, {})) {
    if (dead_ || writers_->is_open(early.shard) || early.until <= now)
      early.take();
    else
      early_.push_back(std::move(early));
  }
}

std::optional<Error> NodeCommitter::closed_shard(ShardId shard) const {
  if (writers_->is_open(shard)) return std::nullopt;
  for (const auto& refused : order_.refused())
    if (refused.shard == shard) return refused_shard(refused);
  return std::nullopt;
}

void NodeCommitter::take(const AttemptPtr& attempt, NodeDone<Appended> done, Clock::time_point deadline) {
  if (dead_) return done(refuse(gone()));
  if (auto closed = closed_shard(attempt->prepared.append.events.front().shard))
    return done(refuse(std::move(*closed)));
  // What a quorum has is known by the cut. Whether there are replicas is known once the shard is open here, not before.
  if (replicated_.load(std::memory_order_relaxed)) attempt->ack = Ack::ordered;
  attempt->client = ++last_client_;
  clients_.emplace(attempt->client, Client{attempt, std::move(done), expiring_.emplace(deadline, attempt->client)});
  WriterActions actions;
  writers_->take(attempt, actions);
  carry_out(std::move(actions));
}

void NodeCommitter::take_part(const std::shared_ptr<const Attempt>& of, actors::PartAsked part,
                              std::function<void(actors::PartAnswer)> done) {
  auto attempt = std::make_shared<Attempt>();
  attempt->prepared = of->prepared;
  attempt->prepared.conditions.clear();
  attempt->prepared.terms.clear();
  attempt->asked = std::move(part);
  work_->run([this, attempt, done = std::move(done)] {
    actors::PartAnswer answer;
    answer.attempt = attempt->asked->attempt;
    answer.try_number = attempt->asked->try_number;
    answer.shard = attempt->asked->shard;
    const auto known = preparer_.look_up_part(attempt->prepared);
    const auto looked = !known ? refuse(known.error()) : *known ? Result<void>() : admit();
    if (!looked || *known) {
      answer.kind = looked ? actors::PartAnswer::Kind::known : actors::PartAnswer::Kind::refused;
      if (!looked) answer.error = looked.error();
      return done(std::move(answer));
    }
    const auto taken = [this, attempt, done, answer]() mutable {
      if (dead_) return done(lost_part(*attempt->asked, {ErrorCode::unavailable, "the node is stopping"}));
      if (auto closed = closed_shard(attempt->asked->shard)) {
        answer.kind = actors::PartAnswer::Kind::refused;
        answer.error = std::move(*closed);
        return done(std::move(answer));
      }
      attempt->client = ++last_client_;
      parts_.emplace(attempt->client, Part{*attempt->asked, std::move(done)});
      WriterActions actions;
      writers_->take(attempt, actions);
      carry_out(std::move(actions));
    };
    post([this, shard = attempt->asked->shard, taken] { when_open(shard, taken); });
  });
}

void NodeCommitter::put_snapshot(Snapshot snapshot, GlobalPosition up_to, NodeDone<void> done) {
  asking_->run([this, snapshot = std::move(snapshot), up_to, done = std::move(done)]() mutable {
    if (auto there = watch_.wait_for(up_to, options_.wait_max); !there) return done(refuse(std::move(there).error()));
    auto position = preparer_.place_of(snapshot);
    if (!position) return done(refuse(std::move(position).error()));
    post([this, placed = storage::PlacedSnapshot{std::move(snapshot), *position}, done = std::move(done)]() mutable {
      put_placed(placed, {}, done);
    });
  });
}

// Not by those who ask other nodes: it would wait behind all that waits for them, and a later one could overtake it.
void NodeCommitter::put_snapshot_here(Snapshot snapshot, Epoch held, NodeDone<void> done) {
  auto position = preparer_.place_of(snapshot);
  if (!position) return done(refuse(std::move(position).error()));
  post([this, placed = storage::PlacedSnapshot{std::move(snapshot), *position}, held, done = std::move(done)] {
    put_placed(placed, held, done);
  });
}

void NodeCommitter::put_placed(const storage::PlacedSnapshot& snapshot, std::optional<Epoch> held,
                               const NodeDone<void>& done) {
  if (dead_) return done(refuse(gone()));
  const auto shard = sharding::shard_of(sharding::stream_hash(snapshot.snapshot.aggregate), store_.identity().shards);
  if (held && (!writers_->is_open(shard) || writers_->epoch(shard) != *held)) return done(refuse(not_open(shard)));
  if (!has_followers(shard)) return done(write_snapshot(snapshot));
  if (!writers_->is_open(shard)) return done(refuse(not_open(shard)));
  put_logged(shard, snapshot, done);
}

Result<void> NodeCommitter::write_snapshot(const storage::PlacedSnapshot& snapshot) {
  storage::CommitBatch batch;
  batch.snapshots.push_back(snapshot);
  auto staged = store_.stage(batch);
  auto committed = store_.commit(*staged);
  if (committed) return {};
  fail(committed.error());
  return refuse(ErrorCode::timeout, "the snapshot's outcome is unknown: " + committed.error().what);
}

Result<void> NodeCommitter::wait_settled(const AggregateId& aggregate) {
  const auto text = aggregate.text();
  const auto shard = sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards);
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto settled = promise->get_future();
  post([this, shard, text, stream = store_.hasher().aggregate(text), promise] {
    const auto done = [promise](Result<void> result) { promise->set_value(std::move(result)); };
    if (dead_) return done(refuse(gone()));
    if (!writers_->is_open(shard)) return done(refuse(not_open(shard)));
    const auto at = writers_->settled_at(shard, stream, text);
    if (!at) return done({});
    settling_.push_back({shard, *at, Clock::now() + options_.wait_max, done});
  });
  return settled.get();
}

void NodeCommitter::take_settling() {
  const auto now = Clock::now();
  for (auto& waiting : std::exchange(settling_, {})) {
    if (dead_)
      waiting.done(refuse(gone()));
    else if (!writers_->is_open(waiting.shard))
      waiting.done(refuse(not_open(waiting.shard)));
    else if (writers_->ordered(waiting.shard) >= waiting.at)
      waiting.done({});
    else if (waiting.until <= now)
      waiting.done(refuse(ErrorCode::unavailable, "what is written to shard " + std::to_string(waiting.shard.value) +
                                                      " was not ordered in time"));
    else
      settling_.push_back(std::move(waiting));
  }
}

void NodeCommitter::answer(std::uint64_t id, Result<Appended> result) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  auto done = std::move(found->second.done);
  expiring_.erase(found->second.expires);
  clients_.erase(found);
  unconfirmed_.erase(id);
  done(std::move(result));
}

// A report went out when a quorum had it. Until its cut is here a process of that quorum may have gone, with its disk:
// who took its place is named by then.
void NodeCommitter::answer_with_quorum(std::uint64_t id, Result<Appended> result) {
  const auto client = clients_.find(id);
  if (!result || client == clients_.end() || has_quorum(*client->second.attempt)) return answer(id, std::move(result));
  client->second.placed = *std::move(result);
  unconfirmed_.insert(id);
}

// Of what lies on shards that are written here. A shard that has another writer by now is on that one's disk as well.
bool NodeCommitter::has_quorum(const Attempt& attempt) {
  if (!replicated_.load(std::memory_order_relaxed)) return true;
  return std::ranges::all_of(attempt.places, [&](const auto& place) {
    const auto& [shard, first] = place;
    if (!writers_->is_open(shard)) return true;
    const auto events = std::ranges::count(attempt.prepared.append.events, shard, &storage::EncodedEvent::shard);
    return gate_.quorum_has(shard, counted(shard)) >= first + static_cast<std::uint64_t>(events);
  });
}

void NodeCommitter::take_unconfirmed() {
  for (const auto id : std::set(unconfirmed_)) {
    auto& client = clients_.at(id);
    if (has_quorum(*client.attempt)) answer(id, *std::move(client.placed));
  }
}

void NodeCommitter::lose_parts(const Error& why) {
  for (auto& [id, part] : std::exchange(parts_, {})) part.done(lost_part(part.asked, why));
}

void NodeCommitter::expire() {
  const auto now = Clock::now();
  while (!expiring_.empty() && expiring_.begin()->first <= now) {
    const auto id = expiring_.begin()->second;
    const auto& [attempt, done, expires, placed] = clients_.at(id);
    if (placed) {
      answer(id, refuse(ErrorCode::timeout,
                        "the append has its place, and no quorum of its shard's replicas has said in time that it has "
                        "what was written: its outcome is unknown"));
      continue;
    }
    const std::string why =
        order_.welcomed() ? "" : ": no coordinator answers node " + std::to_string(options_.self.node);
    WriterActions actions;
    writers_->give_up(attempt, actions);
    for (auto& given_up : actions.answers)
      if (!given_up.result && is_late(given_up.result.error()))
        given_up.result = refuse(given_up.result.error().code, given_up.result.error().what + why);
    carry_out(std::move(actions));
    answer(id, refuse(ErrorCode::timeout, "the append was not answered in time, its outcome is unknown" + why));
  }
}

}  // namespace evershard::cluster
