#include "evershard/cluster/node/cluster_node.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "evershard/api/per_aggregate.hpp"
#include "evershard/api/watermark_feed.hpp"
#include "evershard/cluster/node/awaited.hpp"
#include "evershard/cluster/node/own_pages.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/shown_event.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/at_hand.hpp"

namespace evershard::cluster {
namespace {

constexpr auto coming_wait = std::chrono::milliseconds(200);  ///< who reads at a node that has just come waits so long
constexpr auto read_again_for = std::chrono::seconds(3);      ///< one event; who looks again has several

std::chrono::steady_clock::time_point from_now(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

}  // namespace

/// One aggregate's events, page after page: where they lie, if this node keeps its shard, else from the node that owns
/// the shard.
class ClusterNode::StreamPages final : public PageSource {
 public:
  StreamPages(ClusterNode& node, AggregateId aggregate, StreamOptions options)
      : node_(node), left_{std::move(aggregate), options, {}, 0} {}

  Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override {
    const auto shard = node_.shard_of(left_.aggregate);
    if (budget.at_hand() && !node_.committer_.reader().owns(shard)) return VisitedPage{};
    if (!bound_) {
      const auto bound = budget.at_hand() ? node_.bound_now() : node_.bound();
      if (!bound) return refuse(bound.error());
      left_.up_to = *bound;
      bound_ = *bound;
    }
    left_.events_max = static_cast<std::uint32_t>(budget.events_max(node_.options_.page_events_max));
    const auto here = node_.options_.committer.self.node;
    // At hand nobody else is asked, also where the shard has just become another node's.
    const auto owner = budget.at_hand() ? here : node_.reader_of(shard);
    if (!owner) return refuse(owner.error());
    auto read = *owner == here ? visit_here(shard, visitor, budget) : visit_there(*owner, shard, visitor);
    if (!read) return refuse(std::move(read).error());
    auto& options = left_.options;
    if (options.limit) *options.limit -= std::min<std::uint64_t>(*options.limit, read->events);
    VisitedPage page{read->events, *bound_, read->end || read->events == 0 || options.limit == std::uint64_t{0}};
    if (page.complete) return page;
    const auto last = read->last_seq_nr;
    if (options.direction == Direction::backwards && last == SeqNr{1}) page.complete = true;
    options.from = options.direction == Direction::forwards ? last + 1 : SeqNr{last.value - 1};
    return page;
  }
  void cancel() override {}

 private:
  Result<NodeReader::Visited> visit_here(ShardId shard, const RecordedVisitor& visitor, PageBudget budget) {
    std::optional<storage::AtHand> at_hand;
    if (budget.at_hand()) at_hand.emplace();
    auto read = node_.committer_.reader().visit_stream(left_, visitor);
    if (!read) return refuse(of_shard(node_.options_.committer.self.node, shard, std::move(read).error()));
    return read;
  }
  Result<NodeReader::Visited> visit_there(std::uint32_t owner, ShardId shard, const RecordedVisitor& visitor) {
    Awaited<NodePage> answer(owner, shard);
    node_.network_.read_stream(owner, left_, answer.done());
    auto got = answer.wait(from_now(node_.options_.timeout));
    if (!got) return refuse(std::move(got).error());
    NodeReader::Visited visited;
    visited.end = got->end;
    RecordedView view;
    for (auto& event : got->events) {
      ++visited.events;
      visited.last_seq_nr = event.seq_nr;
      show_to_take(event, view);
      visitor(view);
    }
    return visited;
  }

  ClusterNode& node_;
  NodeStreamAsked left_;                 ///< what is still to be read
  std::optional<GlobalPosition> bound_;  ///< as of the first page: who made the stream may have waited in between
};

/// The matches of a query, gathered from all nodes, as of the first page.
class ClusterNode::QueryPages final : public PageSource {
 public:
  QueryPages(ClusterNode& node, Query query, ReadOptions options, std::size_t page_events_max)
      : node_(node), query_(std::move(query)), options_(options), page_events_max_(page_events_max) {}

  Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget) override {
    if (!pages_) {
      if (budget.at_hand() && !node_.committer_.reader().owns_all()) return VisitedPage{};
      const auto bound = budget.at_hand() ? node_.bound_now() : node_.bound();
      if (!bound) return refuse(bound.error());
      auto shards = node_.shards_by_node(*bound);
      if (!shards) return refuse(std::move(shards).error());
      auto pages = node_.pages({std::move(*shards), *bound, node_.options_.timeout, page_events_max_},
                               std::move(query_), options_);
      const std::lock_guard lock(mutex_);
      pages_ = std::move(pages);
      if (cancelled_) pages_->cancel();
    }
    return pages_->visit(visitor, budget);
  }
  void cancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (pages_) pages_->cancel();
  }

 private:
  ClusterNode& node_;
  Query query_;
  const ReadOptions options_;
  const std::size_t page_events_max_;
  std::mutex mutex_;
  std::unique_ptr<PageSource> pages_;  ///< made under the mutex, by who reads
  bool cancelled_ = false;
};

/// Repeats reads of this node whenever its watermark moves.
class ClusterNode::Feed final : public Followed {
 public:
  explicit Feed(ClusterNode& node) : node_(node) {}
  [[nodiscard]] GlobalPosition watermark() const override { return node_.watermark(); }
  [[nodiscard]] Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout,
                                                const std::atomic<bool>* cancelled) override {
    return node_.committer_.watch().wait_for(position, timeout, cancelled);
  }
  void nudge() override { node_.committer_.watch().nudge(); }
  [[nodiscard]] std::unique_ptr<PageSource> pages(const Query& query, const ReadOptions& options,
                                                  std::size_t page_events_max) override {
    return std::make_unique<QueryPages>(node_, query, options, page_events_max);
  }

 private:
  ClusterNode& node_;
};

ClusterNode::ClusterNode(storage::NodeStore& store, NodeNetwork& network, ClusterNodeOptions options)
    : store_(store), network_(network), options_(std::move(options)), committer_(store, network, options_.committer) {
  RetriedAppends::Shell shell;
  shell.writer = [this](ShardId shard) { return committer_.owner(shard); };
  shell.send = [this](std::uint32_t node, ShardId shard, Append append, NodeDone<Appended> done) {
    append_at(node, shard, std::move(append), std::move(done));
  };
  shell.later = [this](auto time, auto call) { return committer_.later(time, std::move(call)); };
  retried_ = std::make_shared<RetriedAppends>(std::move(shell));
  committer_.watch_owners([this](const std::vector<ShardId>& shards) {
    for (const auto shard : shards) retried_->writer_changed(shard);
  });
  learner_ = std::make_unique<ShardLearner>(
      committer_, network_,
      ShardLearnerOptions{options_.committer.self.node, options_.store, options_.learn_bytes_per_second,
                          std::chrono::milliseconds(500), options_.timeout, options_.committer.warn});
}

ClusterNode::~ClusterNode() {
  learner_.reset();
  retried_->close();
  committer_.stop();
}

ShardId ClusterNode::shard_of(const AggregateId& aggregate) const {
  return sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards);
}

Result<std::uint32_t> ClusterNode::owner_of(ShardId shard) const {
  const auto owner = committer_.owner(shard);
  if (owner == 0) return refuse(no_owner(shard));
  return owner;
}

Result<std::uint32_t> ClusterNode::reader_of(ShardId shard) const {
  if (committer_.reader().owns(shard)) return options_.committer.self.node;
  return owner_of(shard);
}

Result<ClusterNode::ShardsOf> ClusterNode::shards_by_node(GlobalPosition watermark) const {
  ShardsOf shards;
  if (committer_.reader().owns_all()) {
    auto& own = shards[options_.committer.self.node];
    for (std::uint32_t s = 0; s != store_.identity().shards; ++s) own.push_back(ShardId{static_cast<std::uint16_t>(s)});
    return shards;
  }
  const auto owners = committer_.owners();
  for (std::size_t s = 0; s != owners.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (committer_.reader().owns(shard))
      shards[options_.committer.self.node].push_back(shard);
    else if (owners[s] != 0)
      shards[owners[s]].push_back(shard);
    else if (watermark.value != 0)
      return refuse(no_owner(shard));
  }
  return shards;
}

void ClusterNode::append_async(Append append, AppendCompletion done) {
  if (auto checked = check(append, options_.committer.limits); !checked)
    return done(refuse(std::move(checked).error()));
  // Without an aggregate, the first event's id decides; it is given here, by the rule of Preparer, so that every node
  // decides alike.
  auto& first = append.events.front();
  if (!first.id.given()) {
    const auto named = std::ranges::find_if(append.events, [](const Event& event) { return event.id.given(); });
    if (append.request_id)
      first.id = EventId::derived(*append.request_id, 0);
    else
      first.id = named != append.events.end() ? EventId::derived(named->id, 0) : EventId::random();
  }
  const auto shard = sharding::shard_of(first, first.id, store_.identity().shards);
  if (committer_.has_replicas(shard)) {
    const auto deadline = from_now(options_.committer.append_timeout);
    return retried_->append(std::move(append), shard, deadline, std::move(done));
  }
  auto owner = owner_of(shard);
  if (!owner) return done(refuse(std::move(owner).error()));
  append_at(*owner, shard, std::move(append), std::move(done));
}

void ClusterNode::append_at(std::uint32_t owner, ShardId shard, Append append, NodeDone<Appended> done) {
  if (owner == options_.committer.self.node) return committer_.append_async(std::move(append), std::move(done));
  network_.forward(owner, std::move(append), [node = owner, shard, done = std::move(done)](Result<Appended> result) {
    // Where the outcome is unknown, that is what there is to say.
    const bool unknown = !result && result.error().code == ErrorCode::timeout;
    done(result || unknown ? std::move(result) : refuse(of_shard(node, shard, std::move(result).error())));
  });
}

Result<GlobalPosition> ClusterNode::head() {
  if (committer_.failed()) return refuse(committer_.gone());
  return bound_now();  // it is asked by threads that may not wait
}

Result<GlobalPosition> ClusterNode::bound() const {
  EVERSHARD_TRY(committer_.caught_up(coming_wait));
  return watermark();
}

Result<GlobalPosition> ClusterNode::bound_now() const {
  EVERSHARD_TRY(committer_.caught_up(std::chrono::milliseconds(0)));
  return watermark();
}

Result<Appended> ClusterNode::append(Append append) {
  auto promise = std::make_shared<std::promise<Result<Appended>>>();
  auto answer = promise->get_future();
  append_async(std::move(append), [promise](Result<Appended> result) { promise->set_value(std::move(result)); });
  return answer.get();
}

std::unique_ptr<PageSource> ClusterNode::pages(GatherOptions gathering, Query query, const ReadOptions& options) {
  const auto self = options_.committer.self.node;
  if (gathering.shards_of.size() == 1 && gathering.shards_of.begin()->first == self)
    return std::make_unique<OwnPages>(committer_.reader(), gathering, std::move(query), options);
  return std::make_unique<Gather>(std::move(gathering), query, options,
                                  [this, self](std::uint32_t node, NodePageAsked asked, NodeDone<NodePage> done) {
                                    if (node == self) return done(committer_.reader().read(asked));
                                    network_.read(node, std::move(asked), std::move(done));
                                  });
}

EventStream ClusterNode::read(Query query, ReadOptions options) {
  if (auto checked = query.check(); !checked) return EventStream(std::move(checked).error());
  if (options.at_least) {
    if (auto there = wait_for(*options.at_least, options_.timeout); !there)
      return EventStream(std::move(there).error());
  }
  return read_by(options, [&](const ReadOptions& bounded) {
    return std::make_unique<QueryPages>(*this, std::move(query), bounded, options_.page_events_max);
  });
}

EventStream ClusterNode::read(AggregateId aggregate, StreamOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return EventStream(std::move(checked).error());
  return EventStream(std::make_unique<StreamPages>(*this, std::move(aggregate), options));
}

EventFeed ClusterNode::follow(Query query, FollowOptions options) {
  if (auto checked = query.check(); !checked) return EventFeed(std::move(checked).error());
  if (options.page_events_max == 0)
    return EventFeed(Error(ErrorCode::invalid_argument, "a feed with pages of 0 events gives nothing"));
  return EventFeed(std::make_unique<WatermarkFeed>(std::make_shared<Feed>(*this), std::move(query), options));
}

Result<AggregateInfo> ClusterNode::aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto bound = this->bound();
  if (!bound) return refuse(bound.error());
  const auto shard = shard_of(aggregate);
  auto owner = reader_of(shard);
  if (!owner) return refuse(std::move(owner).error());
  NodeHeadAsked asked{aggregate, std::min(*bound, up_to.value_or(*bound)), true};
  Awaited<AggregateInfo> answer(*owner, shard);
  if (*owner == options_.committer.self.node)
    answer.done()(committer_.reader().head(asked));
  else
    network_.head(*owner, asked, answer.done());
  auto info = answer.wait(from_now(options_.timeout));
  if (info && info->version == SeqNr{0}) {
    return refuse(ErrorCode::not_found, "there is no aggregate " + in_quotes(aggregate.text()) +
                                            (up_to ? " at position " + std::to_string(up_to->value) : std::string()));
  }
  return info;
}

Result<std::vector<AggregateInfo>> ClusterNode::aggregates(std::optional<std::string> type,
                                                           std::optional<AggregateId> after, std::size_t limit) {
  if (type) EVERSHARD_TRY(AggregateId::check({*type, "x"}));
  if (after) EVERSHARD_TRY(AggregateId::check(*after));
  const auto bound = this->bound();
  if (!bound) return refuse(bound.error());
  auto shards = shards_by_node(*bound);
  if (!shards) return refuse(std::move(shards).error());
  constexpr std::size_t most = 100'000;  // of one answer
  const auto each = static_cast<std::uint32_t>(std::min(limit, most));
  std::vector<Awaited<std::vector<AggregateInfo>>> answers;
  for (auto& [node, own] : *shards) {
    auto& answer = answers.emplace_back(node, own.front());
    NodeAggregatesAsked asked{own, type, after, each, *bound};
    if (node == options_.committer.self.node)
      answer.done()(committer_.reader().aggregates(asked));
    else
      network_.aggregates(node, std::move(asked), answer.done());
  }
  std::vector<AggregateInfo> all;
  std::optional<AggregateId> known_to;  // a node that gave a full page may have more aggregates behind this one
  const auto until = from_now(options_.timeout);
  for (auto& answer : answers) {
    auto some = answer.wait(until);
    if (!some) return some;
    if (some->size() == each && each < limit && (!known_to || some->back().aggregate < *known_to))
      known_to = some->back().aggregate;
    std::move(some->begin(), some->end(), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, &AggregateInfo::aggregate);
  if (known_to) std::erase_if(all, [&](const auto& info) { return *known_to < info.aggregate; });
  if (all.size() > limit) all.resize(limit);
  if (!known_to || all.empty() || all.size() == limit) return all;
  auto rest = aggregates(std::move(type), all.back().aggregate, limit - all.size());
  if (!rest) return rest;
  std::move(rest->begin(), rest->end(), std::back_inserter(all));
  return all;
}

Result<RecordedEvent> ClusterNode::event_at(GlobalPosition position) {
  return event_at(position, std::nullopt, options_.timeout);
}

Result<RecordedEvent> ClusterNode::event_at(GlobalPosition position, std::optional<ShardId> shard,
                                            std::chrono::milliseconds timeout) {
  const auto known = this->bound();
  if (!known) return refuse(known.error());
  const auto bound = *known;
  if (position.value == 0 || position > bound) {
    return refuse(ErrorCode::not_found, "there is no event at position " + std::to_string(position.value) +
                                            ": positions go from 1 to the watermark, " + std::to_string(bound.value));
  }
  ShardsOf shards;
  if (shard) {
    const auto owner = reader_of(*shard);
    if (!owner) return refuse(owner.error());
    shards[*owner].push_back(*shard);
  } else {
    auto all = shards_by_node(bound);
    if (!all) return refuse(std::move(all).error());
    shards = *std::move(all);
  }
  EventStream stream(pages({std::move(shards), bound, timeout, 1}, Query::all(),
                           ReadOptions{.after = position - 1, .up_to = position, .limit = 1}));
  auto event = stream.next();
  if (!event) return refuse(std::move(event).error());
  // Without an aggregate it may lie with the first event of its append.
  if (!*event && shard) return event_at(position, std::nullopt, timeout);
  if (!*event && options_.committer.skip_lost)
    return refuse(ErrorCode::not_found, "the event at position " + std::to_string(position.value) +
                                            " was lost for good, as an operator accepted");
  if (!*event)
    return refuse(ErrorCode::corruption, "no shard has the event at position " + std::to_string(position.value));
  return std::move(**event);
}

Result<RecordedEvent> ClusterNode::event_again(GlobalPosition position, const std::optional<AggregateId>& aggregate,
                                               const EventId& id) {
  // Another node may be further: an event that this one has not come to is not gone.
  if (auto there = wait_for(position, read_again_for); !there) return refuse(std::move(there).error());
  const auto hash = aggregate ? sharding::stream_hash(*aggregate) : sharding::event_hash(id);
  return event_at(position, sharding::shard_of(hash, shards()), read_again_for);
}

Result<void> ClusterNode::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(check(snapshot, options_.committer.limits));
  const auto shard = shard_of(snapshot.aggregate);
  auto owner = owner_of(shard);
  if (!owner) return refuse(std::move(owner).error());
  Awaited<void> answer(*owner, shard);
  if (*owner == options_.committer.self.node)
    committer_.put_snapshot(std::move(snapshot), watermark(), answer.done());
  else
    network_.put_snapshot(*owner, std::move(snapshot), watermark(), answer.done());
  return answer.wait_for_outcome(from_now(options_.timeout));
}

Result<void> ClusterNode::put_snapshot_here(Snapshot snapshot, Epoch held) {
  EVERSHARD_TRY(check(snapshot, options_.committer.limits));
  Awaited<void> answer(options_.committer.self.node, shard_of(snapshot.aggregate));
  committer_.put_snapshot_here(std::move(snapshot), held, answer.done());
  return answer.wait_for_outcome(from_now(options_.timeout));
}

Result<void> ClusterNode::write_rows_here(storage::RowWrites rows, std::map<ShardId, storage::RowLogEntry> logged,
                                          NodeCommitter::OpenShards held) {
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto written = promise->get_future();
  committer_.write_rows_here(std::move(rows), std::move(logged), std::move(held),
                             [promise](Result<void> result) { promise->set_value(std::move(result)); });
  return written.get();
}

Result<std::vector<RecordedSnapshot>> ClusterNode::find_snapshots(const AggregateId& aggregate,
                                                                  NodeSnapshotsAsked::Which which, std::uint64_t at) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  EVERSHARD_TRY(committer_.caught_up(coming_wait));
  const auto shard = shard_of(aggregate);
  auto owner = owner_of(shard);
  if (!owner) return refuse(std::move(owner).error());
  NodeSnapshotsAsked asked{aggregate, which, at, watermark()};
  Awaited<std::vector<RecordedSnapshot>> answer(*owner, shard);
  if (*owner == options_.committer.self.node)
    answer.done()(committer_.reader().snapshots(asked));
  else
    network_.snapshots(*owner, std::move(asked), answer.done());
  return answer.wait(from_now(options_.timeout));
}

Result<std::optional<RecordedSnapshot>> ClusterNode::snapshot(const AggregateId& aggregate,
                                                              std::optional<SeqNr> at_or_before) {
  using Which = NodeSnapshotsAsked::Which;
  auto found = find_snapshots(aggregate, at_or_before ? Which::at_or_before : Which::latest,
                              at_or_before ? at_or_before->value : 0);
  if (!found) return refuse(std::move(found).error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::optional<RecordedSnapshot>> ClusterNode::snapshot_as_of(const AggregateId& aggregate,
                                                                    GlobalPosition up_to) {
  auto found = find_snapshots(aggregate, NodeSnapshotsAsked::Which::as_of, up_to.value);
  if (!found) return refuse(std::move(found).error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<std::vector<RecordedSnapshot>> ClusterNode::snapshots(const AggregateId& aggregate) {
  return find_snapshots(aggregate, NodeSnapshotsAsked::Which::all, 0);
}

}  // namespace evershard::cluster
