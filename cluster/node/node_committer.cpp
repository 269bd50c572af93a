#include "evershard/cluster/node/node_committer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/cluster/node/awaited.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/sharding/node_cut.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/recovered_order.hpp"

namespace evershard::cluster {
namespace {

using actors::Attempt;
using actors::WriterActions;

constexpr std::size_t work_threads = 2;
constexpr std::size_t asking_threads = 16;  ///< each waits for other nodes, or for cuts
constexpr std::chrono::milliseconds opening_wait_max{500};

NodeStart start_of(const storage::NodeStore& store, const std::map<ShardId, storage::Covered>& covered, const std::vector<storage::UnorderedAppend>& unordered, const NodeCommitterOptions& options) {
  const auto order = store.recovered();
  NodeStart start;
  start.self = options.self;
  start.address = options.address;
  start.door = options.door;
  start.version = options.version;
  start.cut = order.last_cut;
  start.watermark = order.watermark;
  const auto hold = [&](ShardId shard) {
    const auto& at = order.shards[shard.value];
    start.shards[shard] = {at.epoch, at.next};
    if (const auto row = covered.find(shard); row != covered.end()) start.shards[shard].damaged = row->second.damaged;
  };
  for (std::size_t s = 0; s != order.shards.size(); ++s)
    if (order.shards[s].next != ShardOffset{1}) hold(ShardId{static_cast<std::uint16_t>(s)});
  for (const auto& append : unordered) hold(append.place.shard);
  for (const auto& [shard, row] : covered)
    if (row.damaged) hold(shard);
  return start;
}

actors::ShardWriters::Start writers_of(const NodeStart& node, std::vector<storage::UnorderedAppend> unordered) {
  actors::ShardWriters::Start start;
  start.last_cut = node.cut;
  start.watermark = node.watermark;
  for (const auto& [id, shard] : node.shards) start.shards.push_back({id, shard.epoch, shard.covered});
  start.unordered = std::move(unordered);
  return start;
}

std::vector<ShardId> open_at(const actors::ShardWriters& writers, std::size_t shards) {
  std::vector<ShardId> open;
  for (std::size_t s = 0; s != shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (writers.is_open(shard)) open.push_back(shard);
  }
  return open;
}

std::vector<sharding::Segment> own_segments(const NodeStep::Apply& step) {
  std::vector<sharding::Segment> own;
  for (const auto& placed : step.own) own.push_back(placed.segment);
  return own;
}

Error matched_elsewhere(std::size_t condition, GlobalPosition position) {
  ErrorDetails details;
  details.condition = static_cast<std::uint32_t>(condition);
  details.position = position;
  return {ErrorCode::condition_failed,
          "condition " + std::to_string(condition) + " failed: the event at position " + std::to_string(position.value) + " matches it",
          std::move(details)};
}

Error not_open(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::wrong_shard, "shard " + std::to_string(shard.value) + " is not open on this node", std::move(details)};
}

constexpr std::size_t no_condition = std::numeric_limits<std::size_t>::max();

/// Which condition a refusal is of.
std::size_t condition_of(const actors::Prepared::Refusal& refusal) {
  if (refusal.error.code != ErrorCode::condition_failed || !refusal.error.details) return no_condition;
  return refusal.error.details->condition ? *refusal.error.details->condition : no_condition;
}

/// To whoever needs a shard that the coordinator does not open on this disk.
Error refused_shard(const ShardRefused& refused) {
  ErrorDetails details;
  details.shard = refused.shard;
  return {ErrorCode::unavailable, "shard " + std::to_string(refused.shard.value) + " is closed: " + refused.error.what, std::move(details)};
}

/// Of what is stored on other nodes the version is not known here.
bool whole(const Appended& stored) {
  return std::ranges::none_of(stored.versions, [](const auto& version) { return version.version == SeqNr{0}; });
}

std::vector<GlobalPosition> from_of(const actors::Prepared& prepared) {
  std::vector<GlobalPosition> from;
  for (const auto& term : prepared.terms) from.push_back(term.from);
  return from;
}

}  // namespace

NodeCommitter::NodeCommitter(storage::NodeStore& store, NodeNetwork& network, NodeCommitterOptions options)
    : store_(store),
      network_(network),
      options_(std::move(options)),
      view_{options_.self.node, {}, {}, std::vector<ClusterView::Shard>(store.identity().shards)},
      preparer_(store, options_.limits, [this](ShardId shard) { return is_elsewhere(shard); }),
      load_(store.identity().shards, options_.limits),
      watch_(store.view().watermark),
      reader_(store, watch_, options_.wait_max),
      order_(NodeStart{}),
      owner_of_(store.identity().shards) {
  auto unordered = store.take_unordered();
  auto covered = storage::covered_rows(store.rows(), store.identity().shards);
  auto start = start_of(store, covered ? *covered : std::map<ShardId, storage::Covered>{}, unordered, options_);
  actors::ShardWriters::Options writers;
  writers.node = options_.self.node;
  writers.key = store.identity().term_key;
  writers_ = std::make_unique<actors::ShardWriters>(writers_of(start, std::move(unordered)), writers);
  for (auto& [shard, at] : start.shards) at.tail = writers_->tail(shard);
  order_ = NodeOrder(start);
  for (const auto& [shard, at] : start.shards) {
    if (at.damaged) {
      WriterActions none;  // nobody waits yet
      writers_->fence(shard, none);
    }
  }
  if (!covered) fail(covered.error());
  else if (auto looked = look_at_losses(); !looked) fail(looked.error());
  work_ = std::make_unique<WorkThreads>(work_threads);
  asking_ = std::make_unique<WorkThreads>(asking_threads);
  thread_ = std::thread([this] { loop(); });
}

NodeCommitter::~NodeCommitter() {
  stop();
  work_.reset();  // what is still to be looked up finds a node that is dead; some of it asks
  asking_.reset();
}

void NodeCommitter::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  more_.notify_all();
  watch_.close(Error(ErrorCode::unavailable, "the node is stopping"));
  thread_.join();
}

void NodeCommitter::post(std::function<void()> input) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      inbox_.push_back(std::move(input));
      more_.notify_one();
      return;
    }
  }
  input();  // sees `dead_`: answers, and does nothing else
}

// -- requests

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
  if (auto fits = load_.take(attempt->prepared.append, attempt->prepared.bytes); !fits) return done(refuse(std::move(fits).error()));
  done = [this, attempt, done = std::move(done)](Result<Appended> result) {
    load_.give_back(attempt->prepared.append, attempt->prepared.bytes);
    done(std::move(result));
  };
  const auto shard = attempt->prepared.append.events.front().shard;
  const auto taken = [this, attempt, done, deadline, shard] { when_open(shard, [this, attempt, done, deadline] { take(attempt, done, deadline); }); };
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
    case storage::Admission::Kind::slow: return {};
    case storage::Admission::Kind::full: return refuse(ErrorCode::overloaded, what);
    case storage::Admission::Kind::disk: return refuse(ErrorCode::unavailable, what);
    case storage::Admission::Kind::failed: return refuse(ErrorCode::io, what);
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
    if (dead_ || writers_->is_open(early.shard) || early.until <= now) early.take();
    else early_.push_back(std::move(early));
  }
}

std::optional<Error> NodeCommitter::closed_shard(ShardId shard) const {
  if (writers_->is_open(shard)) return std::nullopt;
  for (const auto& refused : order_.refused())
    if (refused.shard == shard) return refused_shard(refused);
  return std::nullopt;
}

void NodeCommitter::take(const AttemptPtr& attempt, NodeDone<Appended> done, Clock::time_point deadline) {
  if (dead_) return done(refuse(failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"))));
  if (auto closed = closed_shard(attempt->prepared.append.events.front().shard)) return done(refuse(std::move(*closed)));
  attempt->client = ++last_client_;
  clients_.emplace(attempt->client, Client{attempt, std::move(done), expiring_.emplace(deadline, attempt->client)});
  WriterActions actions;
  writers_->take(attempt, actions);
  carry_out(std::move(actions));
}

void NodeCommitter::take_part(const std::shared_ptr<const Attempt>& of, actors::PartAsked part, std::function<void(actors::PartAnswer)> done) {
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
    auto known = preparer_.knows_any(attempt->prepared);
    Result<void> looked = !known ? refuse(known.error()) : *known ? Result<void>() : admit();
    if (looked && !*known) {
      if (auto stored = preparer_.look_up(attempt->prepared, false); !stored) looked = refuse(std::move(stored).error());
      else known = stored->has_value();
    }
    if (!looked || *known) {
      answer.kind = looked ? actors::PartAnswer::Kind::known : actors::PartAnswer::Kind::refused;
      if (!looked) answer.error = std::move(looked).error();
      return done(std::move(answer));
    }
    const auto taken = [this, attempt, done, answer]() mutable {
      if (dead_) {
        answer.kind = actors::PartAnswer::Kind::lost;
        answer.error = Error(ErrorCode::unavailable, "the node is stopping");
        return done(std::move(answer));
      }
      if (auto closed = closed_shard(attempt->asked->shard)) {
        answer.kind = actors::PartAnswer::Kind::refused;
        answer.error = std::move(*closed);
        return done(std::move(answer));
      }
      attempt->client = ++last_client_;
      parts_.emplace(attempt->client, std::move(done));
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
      if (dead_) return done(refuse(failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"))));
      storage::CommitBatch batch;
      batch.snapshots.push_back(std::move(placed));
      auto staged = store_.stage(batch);
      auto committed = store_.commit(*staged);
      if (!committed) {
        fail(committed.error());
        return done(refuse(ErrorCode::timeout, "the snapshot's outcome is unknown: " + committed.error().what));
      }
      done({});
    });
  });
}

Result<void> NodeCommitter::wait_settled(const AggregateId& aggregate) {
  const auto text = aggregate.text();
  const auto shard = sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards);
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto settled = promise->get_future();
  post([this, shard, text, stream = store_.hasher().aggregate(text), promise] {
    const auto done = [promise](Result<void> result) { promise->set_value(std::move(result)); };
    if (dead_) return done(refuse(failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"))));
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
    if (dead_) waiting.done(refuse(failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"))));
    else if (!writers_->is_open(waiting.shard)) waiting.done(refuse(not_open(waiting.shard)));
    else if (writers_->ordered(waiting.shard) >= waiting.at) waiting.done({});
    else if (waiting.until <= now) waiting.done(refuse(ErrorCode::unavailable, "what is written to shard " + std::to_string(waiting.shard.value) + " was not ordered in time"));
    else settling_.push_back(std::move(waiting));
  }
}

NodeCommitter::OpenShards NodeCommitter::open_shards() const {
  OpenShards open;
  for (std::size_t s = 0; s != owner_of_.size() && !dead_; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (writers_->is_open(shard)) open.emplace(shard, writers_->epoch(shard));
  }
  return open;
}

void NodeCommitter::watch_shards(std::function<void(const OpenShards&)> watch) {
  post([this, watch = std::move(watch)]() mutable {
    shards_watch_ = std::move(watch);
    shards_told_ = open_shards();
    if (shards_watch_) shards_watch_(shards_told_);
  });
}

void NodeCommitter::tell_shards() {
  if (!shards_watch_) return;
  auto open = open_shards();
  if (open == shards_told_) return;
  shards_told_ = std::move(open);
  shards_watch_(shards_told_);
}

void NodeCommitter::answer(std::uint64_t id, Result<Appended> result) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  auto done = std::move(found->second.done);
  expiring_.erase(found->second.expires);
  clients_.erase(found);
  done(std::move(result));
}

void NodeCommitter::expire() {
  const auto now = Clock::now();
  while (!expiring_.empty() && expiring_.begin()->first <= now) {
    const auto attempt = clients_.at(expiring_.begin()->second).attempt;
    WriterActions actions;
    writers_->give_up(attempt, actions);
    const auto id = attempt->client;
    carry_out(std::move(actions));
    if (id != 0 && clients_.contains(id)) answer(id, refuse(ErrorCode::timeout, "the append was not answered in time, its outcome is unknown"));
  }
}

// -- look-ups

bool NodeCommitter::needs_others(const actors::Prepared& prepared, const std::vector<GlobalPosition>& from) const {
  if (prepared.refusal) return condition_of(*prepared.refusal) != no_condition;
  for (std::size_t i = 0; i != prepared.terms.size(); ++i)
    if (prepared.terms[i].from != from[i]) return true;
  return !prepared.guards.empty();
}

/// The versions of aggregates that lie elsewhere are asked for.
void NodeCommitter::answer_stored(const AttemptPtr& attempt, Appended stored, NodeDone<Appended> done) {
  if (whole(stored)) return done(std::move(stored));
  asking_->run([this, attempt, stored = std::move(stored), done = std::move(done)]() mutable { done(versions_elsewhere(attempt->prepared, std::move(stored))); });
}

Result<Appended> NodeCommitter::versions_elsewhere(const actors::Prepared& prepared, Appended stored) {
  const auto& events = prepared.append.events;
  std::vector<std::size_t> missing;
  std::vector<HeadWanted> wanted;
  for (std::size_t a = 0; a != stored.versions.size(); ++a) {
    if (stored.versions[a].version != SeqNr{0}) continue;
    GlobalPosition last;
    for (std::size_t i = 0; i != events.size(); ++i)
      if (events[i].aggregate == a) last = stored.first_position + i;
    missing.push_back(a);
    wanted.push_back({&prepared.append.aggregates[a], last});
  }
  auto heads = heads_of(wanted);
  if (!heads) return refuse(std::move(heads).error());
  for (std::size_t i = 0; i != missing.size(); ++i) stored.versions[missing[i]].version = (*heads)[i].version;
  return stored;
}

/// An append that a cut has placed, of which only the versions on other nodes are not known.
Result<std::optional<Appended>> NodeCommitter::placed(const actors::Prepared& prepared, GlobalPosition first) {
  Appended stored;
  stored.first_position = first;
  stored.last_position = first + (prepared.append.events.size() - 1);
  for (const auto& aggregate : prepared.append.aggregates) stored.versions.push_back({aggregate.id, SeqNr{0}});
  auto whole = versions_elsewhere(prepared, std::move(stored));
  if (!whole) return refuse(std::move(whole).error());
  return std::optional<Appended>(std::move(*whole));
}

/// What this store knows; whatever it has to ask other nodes for, it asks in a thread that may wait.
void NodeCommitter::look_up(const AttemptPtr& attempt, bool confirm) {
  const auto found = [this, attempt](Result<std::optional<Appended>> result) {
    post([this, attempt, result = std::move(result)]() mutable {
      if (dead_) return;
      WriterActions next;
      writers_->looked_up(attempt, std::move(result), next);
      carry_out(std::move(next));
    });
  };
  auto from = from_of(attempt->prepared);
  auto stored = preparer_.look_up(attempt->prepared, confirm);
  if (!stored) return found(std::move(stored));
  if (*stored ? whole(**stored) : !needs_others(attempt->prepared, from)) return found(std::move(stored));
  asking_->run([this, attempt, found, from = std::move(from), stored = std::move(*stored)]() mutable {
    if (stored) {
      auto versions = versions_elsewhere(attempt->prepared, std::move(*stored));
      return found(versions ? Result<std::optional<Appended>>(std::move(*versions)) : refuse(std::move(versions).error()));
    }
    auto others = look_elsewhere(attempt->prepared, from);
    found(others ? Result<std::optional<Appended>>(std::nullopt) : refuse(std::move(others).error()));
  });
}

/// A refusal that is found here is confirmed elsewhere; what holds here may not hold there.
Result<void> NodeCommitter::look_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from) {
  EVERSHARD_TRY(match_elsewhere(prepared, from));
  if (!prepared.refusal) EVERSHARD_TRY(heads_elsewhere(prepared));
  return {};
}

/// A condition that was raised to the view by this node's own events holds only if no other node's match it either; and of one that is
/// broken here, the first event that breaks it may lie elsewhere.
Result<void> NodeCommitter::match_elsewhere(actors::Prepared& prepared, const std::vector<GlobalPosition>& from) {
  const std::size_t broken = prepared.refusal ? condition_of(*prepared.refusal) : no_condition;
  if (prepared.refusal && broken == no_condition) return {};
  for (std::size_t i = 0; i < prepared.terms.size() && i <= broken; ++i) {
    const bool is_broken = i == broken;
    if (!is_broken && prepared.terms[i].from == from[i]) continue;
    const auto up_to = is_broken ? prepared.refusal->rests_on - 1 : prepared.view;
    if (up_to <= from[i]) continue;
    auto match = first_elsewhere(prepared.conditions[i].query, from[i], up_to);
    if (!match) return refuse(std::move(match).error());
    if (!*match) continue;
    prepared.refusal = {matched_elsewhere(i, **match), **match};
    // Raised is only what nothing matches, here and elsewhere: a refusal may be looked up once more.
    for (std::size_t raised = i; raised != from.size(); ++raised) prepared.terms[raised].from = from[raised];
    return {};
  }
  return {};
}

/// The first match of all other nodes in (after, up_to].
Result<std::optional<GlobalPosition>> NodeCommitter::first_elsewhere(const Query& query, GlobalPosition after, GlobalPosition up_to) {
  std::map<std::uint32_t, std::vector<ShardId>> others;
  const auto owners = this->owners();
  for (std::size_t s = 0; s != owners.size(); ++s)
    if (owners[s] != options_.self.node) others[owners[s]].push_back(ShardId{static_cast<std::uint16_t>(s)});
  std::vector<Awaited<NodePage>> answers;
  for (const auto& [node, shards] : others) {
    if (node == 0) return refuse(no_owner(shards.front()));
    NodePageAsked asked;
    asked.shards = shards;
    asked.query = query;
    asked.after = after;
    asked.up_to = up_to;
    asked.events_max = 1;
    network_.read(node, std::move(asked), answers.emplace_back(node, shards.front()).done());
  }
  const auto until = Clock::now() + options_.wait_max;
  std::optional<GlobalPosition> first;
  for (auto& answer : answers) {
    auto page = answer.wait(until);
    if (!page) return refuse(std::move(page).error());
    if (!page->events.empty() && (!first || page->events.front().position < *first)) first = page->events.front().position;
  }
  return first;
}

/// All are asked at once.
Result<std::vector<AggregateInfo>> NodeCommitter::heads_of(const std::vector<HeadWanted>& wanted) {
  std::vector<Awaited<AggregateInfo>> answers;
  for (const auto& head : wanted) {
    const auto node = owner(head.aggregate->shard);
    if (node == 0) return refuse(no_owner(head.aggregate->shard));
    auto done = answers.emplace_back(node, head.aggregate->shard).done();
    if (node != options_.self.node) network_.head(node, {head.aggregate->id, head.up_to}, std::move(done));
    else done(reader_.head({head.aggregate->id, head.up_to}));
  }
  const auto until = Clock::now() + options_.wait_max;
  std::vector<AggregateInfo> heads;
  for (auto& answer : answers) {
    auto head = answer.wait(until);
    if (!head) return refuse(std::move(head).error());
    heads.push_back(std::move(*head));
  }
  return heads;
}

Result<void> NodeCommitter::heads_elsewhere(actors::Prepared& prepared) {
  std::vector<std::size_t> guards;
  std::vector<HeadWanted> wanted;
  for (std::size_t i = 0; i != prepared.guards.size(); ++i) {
    if (!is_elsewhere(prepared.guards[i].shard)) continue;
    guards.push_back(prepared.append.aggregates.size() + i);
    wanted.push_back({&prepared.guards[i], prepared.view});
  }
  auto heads = heads_of(wanted);
  if (!heads) return refuse(std::move(heads).error());
  for (std::size_t i = 0; i != guards.size(); ++i) prepared.heads[guards[i]] = {(*heads)[i].version, (*heads)[i].last_position};
  return {};
}

bool NodeCommitter::is_elsewhere(ShardId shard) const { return owner(shard) != options_.self.node; }

// -- the coordinator

void NodeCommitter::connected() {
  post([this] {
    if (!dead_) carry_out(order_.connected());
  });
}

void NodeCommitter::disconnected() {
  post([this] {
    if (dead_) return;
    writers_->session_lost();
    carry_out(order_.disconnected());
  });
}

void NodeCommitter::receive(ToNode message) {
  post([this, message = std::move(message)] {
    if (dead_) return;
    const bool before = order_.welcomed();
    const auto keep = [&](const sharding::Cut& cut) { cuts_.emplace(cut.number, cut); };
    NodeActions actions = std::visit(
        [&](const auto& said) -> NodeActions {
          using Said = std::decay_t<decltype(said)>;
          if constexpr (std::is_same_v<Said, Welcome>) {
            auto taken = order_.welcome(said);
            if (taken.coordinator_refused) return taken;
            for (const auto& refused : order_.refused()) {
              // Once, however often it says hello.
              if (std::exchange(refused_said_[refused.shard], refused.error.what) != refused.error.what) taken.warnings.push_back(refused.error);
            }
            std::map<ShardId, Error> closed;
            for (const auto& refused : order_.refused()) closed.emplace(refused.shard, refused_shard(refused));
            reader_.closes(std::move(closed));
            for (std::uint32_t s = 0; s != said.map.shard_count(); ++s) {
              const ShardId shard{static_cast<std::uint16_t>(s)};
              learn_owner(shard, said.map.owner(shard).node, said.map.owner(shard).epoch);
            }
            publish_owners();
            return taken;
          } else if constexpr (std::is_same_v<Said, HelloRefused>) {
            return order_.hello_refused(said);
          } else if constexpr (std::is_same_v<Said, Opens>) {
            return order_.opens(said);
          } else if constexpr (std::is_same_v<Said, Announce>) {
            keep(said.cut);
            return order_.announce(said);
          } else if constexpr (std::is_same_v<Said, Cuts>) {
            for (const auto& cut : said.found.cuts) keep(cut);
            if (said.found.folded) {  // with openings that are not among the cuts
              const auto& shards = said.found.folded->shards;
              for (std::size_t s = 0; s != shards.size(); ++s) learn_owner(ShardId{static_cast<std::uint16_t>(s)}, shards[s].node, shards[s].epoch);
              publish_owners();
            }
            return order_.cuts(said);
          } else {
            return order_.report_from(said);
          }
        },
        message);
    carry_out(std::move(actions));
    if (!before && order_.welcomed()) {
      WriterActions begun;
      writers_->session_begun(begun);
      carry_out(std::move(begun));
    }
  });
}

void NodeCommitter::cut_promised(ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut, Epoch coordinator) {
  post([=, this] {
    if (dead_) return;
    WriterActions actions;
    writers_->cut_promised(shard, epoch, ask, cut, coordinator, actions);
    carry_out(std::move(actions));
  });
}

void NodeCommitter::say_hello() {
  std::map<ShardId, ShardOffset> tails;
  for (std::size_t s = 0; s != owner_of_.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (writers_->holds(shard)) tails[shard] = writers_->tail(shard);
  }
  network_.to_coordinator(order_.hello(tails));
}

/// Whoever has it under the newest epoch: what is said late changes nothing.
void NodeCommitter::learn_owner(ShardId shard, std::uint32_t node, Epoch epoch) {
  if (shard.value < owner_of_.size() && epoch >= owner_of_[shard.value].epoch) owner_of_[shard.value] = {node, epoch};
}

void NodeCommitter::publish_owners() {
  const std::lock_guard lock(mutex_);
  view_.shards = owner_of_;
}

void NodeCommitter::members(Members members) {
  const std::lock_guard lock(mutex_);
  if (members.coordinator < view_.coordinator) return;
  view_.coordinator = members.coordinator;
  view_.nodes = std::move(members.nodes);
}

ClusterView NodeCommitter::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void NodeCommitter::serves_at(std::string door) {
  post([this, door = std::move(door)]() mutable {
    if (!dead_) carry_out(order_.serves_at(std::move(door)));
  });
}

std::vector<std::uint32_t> NodeCommitter::owners() const {
  std::vector<std::uint32_t> owners;
  const std::lock_guard lock(mutex_);
  for (const auto& shard : view_.shards) owners.push_back(shard.node);
  return owners;
}

std::uint32_t NodeCommitter::owner(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  return view_.shards[shard.value].node;
}

std::optional<Error> NodeCommitter::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

// -- the thread

void NodeCommitter::loop() {
  auto again = Clock::now() + options_.again_every;
  for (;;) {
    std::vector<std::function<void()>> inputs;
    {
      std::unique_lock lock(mutex_);
      auto until = dead_ ? Clock::now() + options_.again_every : again;  // dead, nothing moves `again` on
      if (!expiring_.empty()) until = std::min(until, expiring_.begin()->first);
      for (const auto& early : early_) until = std::min(until, early.until);
      more_.wait_until(lock, until, [this] { return stopping_ || !inbox_.empty(); });
      inputs.swap(inbox_);
      if (stopping_ && inputs.empty()) break;
    }
    for (const auto& input : inputs) input();
    if (!early_.empty()) take_early();
    if (!settling_.empty()) take_settling();
    tell_shards();
    while (!dead_ && writers_->any()) write();
    if (dead_) continue;
    expire();
    if (Clock::now() < again) continue;
    again = Clock::now() + options_.again_every;
    carry_out(order_.again());
  }
  dead_ = true;
  take_early();
  take_settling();
  while (!clients_.empty()) {
    const auto id = clients_.begin()->first;
    const bool written = clients_.begin()->second.attempt->state == Attempt::State::written;
    answer(id, written ? Result<Appended>(refuse(ErrorCode::timeout, "the node is stopping, the append's outcome is unknown"))
                       : Result<Appended>(refuse(ErrorCode::unavailable, "the node is stopping: nothing of the append was written")));
  }
  for (auto& [id, done] : std::exchange(parts_, {})) {
    actors::PartAnswer lost;
    lost.kind = actors::PartAnswer::Kind::lost;
    lost.error = Error(ErrorCode::unavailable, "the node is stopping");
    done(std::move(lost));
  }
  std::vector<std::function<void()>> late;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    late.swap(inbox_);
  }
  for (const auto& input : late) input();
}

void NodeCommitter::write() {
  constexpr std::uint32_t delay_us_max = 50'000;
  if (const auto admission = store_.admission(); admission.kind == storage::Admission::Kind::slow)
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(admission.delay_us, delay_us_max)));
  const auto batch = writers_->close();
  auto staged = store_.stage_journal(batch.journal);
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  WriterActions actions;
  writers_->synced(batch, actions);
  carry_out(std::move(actions));
  carry_out(order_.synced(order_.cut()));  // its sync covers the cuts written before it
}

void NodeCommitter::sync() {
  auto staged = store_.stage_journal({});
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  carry_out(order_.synced(order_.cut()));
}

void NodeCommitter::fail(const Error& error) {
  if (dead_) return;
  {
    const std::lock_guard lock(mutex_);
    failed_ = error;
  }
  WriterActions actions;
  writers_->failed(error, actions);
  carry_out(std::move(actions));
  dead_ = true;
  watch_.close(error);
  if (options_.warn) options_.warn(error);
}

void NodeCommitter::apply(const NodeStep::Apply& step) {
  sharding::Cut cut;
  if (auto kept = cuts_.extract(step.number); !kept.empty()) {
    cut = std::move(kept.mapped());
  } else {
    cut.number = step.number;
    cut.first_position = step.watermark + 1;
  }
  // What is missing before it was folded by the log: it named none of this node's shards, but gave positions to others.
  if (const auto next = writers_->watermark() + 1; cut.first_position != next) {
    cut.segments.insert(cut.segments.begin(), sharding::Segment::elsewhere(cut.first_position - next));
    cut.first_position = next;
  }
  cuts_.erase(cuts_.begin(), cuts_.upper_bound(step.number));

  for (const auto& opening : cut.openings) learn_owner(opening.shard, opening.node, opening.epoch);
  if (!cut.openings.empty()) publish_owners();
  for (const auto& opening : step.openings) {
    if (!writers_->holds(opening.shard)) writers_->adopt({opening.shard, Epoch{0}, ShardOffset{1}}, {});
  }
  // A writer begins once its opening is synced, see NodeStep::Opened: what it reports before that would be ordered under an epoch that its
  // disk may not have after a loss of power. An opening for an earlier process of this node is nobody's here.
  std::erase_if(cut.openings, [&](const sharding::Opening& opening) { return opening.node == options_.self.node; });
  close_writers(step);
  if (!step.damaged.empty()) cut = sharding::as_far_as_here(cut, step.damaged, own_segments(step));

  WriterActions actions;
  writers_->announce(order_.window_from(), order_.digests_wanted());
  writers_->apply(cut, actions);
  preparer_.window_begins(order_.window_from());
  if (!actions.lost.empty()) return fail(actions.lost.front().second);

  EVERSHARD_CHECK(actions.cuts.size() == 1, "a cut that was not applied is applied");
  const auto& shards = actions.cuts.front().own;
  const auto own = [&](const sharding::Segment& segment) {
    return std::ranges::find(shards, segment.shard) != shards.end() || std::ranges::find(step.damaged, segment.shard) != step.damaged.end();
  };
  auto staged = store_.stage_cut(sharding::cut_of_node(cut, own, step.openings), step.damaged);
  if (auto committed = store_.commit(*staged); !committed) return fail(committed.error());
  if (std::ranges::any_of(step.openings, &sharding::Opening::loses)) {
    if (auto looked = look_at_losses(); !looked) return fail(looked.error());
  }
  auto after = order_.applied(step.number);
  reader_.owns(open_at(*writers_, owner_of_.size()));
  watch_.advance(step.watermark);
  carry_out(std::move(actions));
  carry_out(std::move(after));
}

void NodeCommitter::close_writers(const NodeStep::Apply& step) {
  const auto close = [&](ShardId shard) {
    WriterActions closed;
    writers_->fence(shard, closed);
    carry_out(std::move(closed));
  };
  for (const ShardId shard : step.damaged) close(shard);
  for (const auto& opening : step.openings) {
    if (!opening.loses()) continue;
    close(opening.shard);
    writers_->adopt({opening.shard, Epoch{0}, opening.lost_until}, {});
  }
}

Result<void> NodeCommitter::look_at_losses() {
  auto covered = storage::covered_rows(store_.rows(), store_.identity().shards);
  if (!covered) return refuse(std::move(covered).error());
  std::map<ShardId, std::vector<storage::LostRange>> lost;
  for (auto& [shard, row] : *covered) {
    if (!row.lost.empty() && !options_.skip_lost) lost.emplace(shard, std::move(row.lost));
  }
  reader_.lost(std::move(lost));
  return {};
}

void NodeCommitter::carry_out(NodeActions actions) {
  for (const auto& warning : actions.warnings)
    if (options_.warn) options_.warn(warning);
  for (const auto& step : actions.steps) {
    if (dead_) return;
    std::visit(
        [&](const auto& what) {
          using What = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<What, NodeStep::Apply>) {
            apply(what);
          } else if constexpr (std::is_same_v<What, NodeStep::Fence>) {
            WriterActions fenced;
            writers_->fence(what.shard, fenced);
            carry_out(std::move(fenced));
          } else if constexpr (std::is_same_v<What, NodeStep::Sync>) {
            sync();
          } else if constexpr (std::is_same_v<What, NodeStep::Opened>) {
            WriterActions opened;
            writers_->open(what.opening.shard, what.opening.epoch, opened);
            reader_.owns(open_at(*writers_, owner_of_.size()));
            carry_out(std::move(opened));
          } else {
            WriterActions again;
            writers_->report_from(what.shard, what.first, again);
            carry_out(std::move(again));
          }
        },
        step.what);
  }
  if (dead_) return;
  for (auto& message : actions.send) std::visit([&](auto& said) { network_.to_coordinator(std::move(said)); }, message);
  if (actions.say_hello) say_hello();
  if (actions.coordinator_refused && options_.warn) options_.warn(*actions.coordinator_refused);
}

void NodeCommitter::carry_out(WriterActions actions) {
  for (auto& report : actions.reports) network_.to_coordinator(std::move(report));
  for (auto& look : actions.look_ups) {
    if (look.placed_at.value == 0) {
      work_->run([this, attempt = std::move(look.attempt), confirm = look.confirm] { look_up(attempt, confirm); });
      continue;
    }
    asking_->run([this, attempt = std::move(look.attempt), placed_at = look.placed_at] {
      auto found = placed(attempt->prepared, placed_at);
      post([this, attempt, found = std::move(found)]() mutable {
        if (dead_) return;
        WriterActions next;
        writers_->looked_up(attempt, std::move(found), next);
        carry_out(std::move(next));
      });
    });
  }
  for (auto& part : actions.parts) {
    const auto owner = owner_of_[part.part.shard.value].node;
    const auto asked = part.part;
    const auto answered = [this](actors::PartAnswer answer) {
      post([this, answer = std::move(answer)] {
        if (dead_) return;
        WriterActions next;
        writers_->part_answered(answer, next);
        carry_out(std::move(next));
      });
    };
    if (owner == 0 || owner == options_.self.node) {
      actors::PartAnswer lost;
      lost.attempt = asked.attempt;
      lost.try_number = asked.try_number;
      lost.shard = asked.shard;
      lost.kind = actors::PartAnswer::Kind::lost;
      lost.error = no_owner(asked.shard);
      answered(std::move(lost));
    } else {
      network_.ask_part(owner, part.of, part.part, [answered, owner, shard = asked.shard](actors::PartAnswer answer) {
        // Whatever became of the part, it is refused with the rest: the append as a whole has a known outcome.
        if (answer.kind == actors::PartAnswer::Kind::lost) answer.error = of_shard(owner, shard, std::move(answer.error));
        answered(std::move(answer));
      });
    }
  }
  for (auto& reply : actions.part_replies) {
    const auto found = parts_.find(reply.client);
    if (found == parts_.end()) continue;
    auto done = std::move(found->second);
    parts_.erase(found);
    done(std::move(reply.answer));
  }
  for (auto& answered : actions.answers) answer(answered.client, std::move(answered.result));
}

}  // namespace evershard::cluster
