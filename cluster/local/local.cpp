#include "evershard/cluster/local/local.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "evershard/cluster/local/local_pages.hpp"
#include "evershard/cluster/local/node.hpp"
#include "evershard/cluster/store/watermark_feed.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/backup.hpp"
#include "evershard/storage/vacuum.hpp"
#include "evershard/storage/verify.hpp"

namespace evershard {

using cluster::Node;

namespace {

/// The directory is asked by type: one that no aggregate can have is a mistake, not an empty answer.
Result<void> check_type(const std::string& type) { return AggregateId::check({type, "x"}); }

GlobalPosition position_of(const std::optional<RecordedSnapshot>& snapshot) { return snapshot ? snapshot->position : GlobalPosition{0}; }
GlobalPosition position_of(const std::vector<RecordedSnapshot>& snapshots) { return snapshots.empty() ? GlobalPosition{0} : snapshots.front().position; }

}  // namespace

struct Local::Impl {
  std::shared_ptr<Node> node;  ///< shared with every stream and feed

  /// Snapshot rows are shown by the write itself, events by the watermark a moment later: nobody is to see a snapshot
  /// of an event that cannot be read yet.
  template <class Find>
  auto find_snapshot(const AggregateId& aggregate, Find find) -> decltype(find(node->reader())) {
    EVERSHARD_TRY(AggregateId::check(aggregate));
    const auto use = node->enter();
    if (!use) return refuse(use.error());
    auto found = find(node->reader());
    if (!found) return found;
    auto shown = node->watch().wait_for(position_of(*found), node->at_least_timeout());
    if (!shown) return refuse(std::move(shown).error());
    return found;
  }
};

Result<Local> Local::open(LocalOptions options) {
  cluster::NodeOptions parts{.limits = options.limits, .at_least_timeout = options.at_least_timeout};
  auto& store = parts.store;
  store.data_dir = std::move(options.data_dir);
  store.shards = options.shards;
  store.create = options.create;
  store.tail_events = options.tail_events;
  store.block_cache_bytes = options.block_cache_bytes;
  store.memtable_bytes = options.memtable_bytes;
  store.disk_reserve_bytes = options.disk_reserve_bytes;
  parts.aggregates.live_max = options.aggregates.live_limit;
  parts.aggregates.idle_after = options.aggregates.idle_after;
  parts.aggregates.recovery_permits = options.aggregates.recovery_permits;
  parts.aggregates.reading_threads = options.aggregates.reading_threads;
  if (options.aggregates.recovery_permits == 0) return refuse(ErrorCode::invalid_argument, "aggregates.recovery_permits is at least 1");
  auto node = Node::open(std::move(parts));
  if (!node) return refuse(std::move(node).error());
  return Local(std::make_unique<Impl>(Impl{*std::move(node)}));
}

namespace {

class FollowedNode final : public cluster::Followed {
 public:
  explicit FollowedNode(std::shared_ptr<cluster::Node> node) : node_(std::move(node)) {}
  [[nodiscard]] GlobalPosition watermark() const override { return node_->watch().watermark(); }
  [[nodiscard]] Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout, const std::atomic<bool>* cancelled) override {
    return node_->watch().wait_for(position, timeout, cancelled);
  }
  void nudge() override { node_->watch().nudge(); }
  [[nodiscard]] std::unique_ptr<PageSource> pages(const Query& query, const ReadOptions& options, std::size_t page_events_max) override {
    return std::make_unique<cluster::QueryPages>(node_, query, options, page_events_max);
  }

 private:
  const std::shared_ptr<cluster::Node> node_;
};

}  // namespace

Local::Local(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Local::Local(Local&&) noexcept = default;

Local& Local::operator=(Local&& other) noexcept {
  if (this == &other) return *this;
  close();
  impl_ = std::move(other.impl_);
  return *this;
}

Local::~Local() { close(); }

void Local::close() {
  if (impl_) impl_->node->close();
}

Result<Appended> Local::append(Append append) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return impl_->node->committer().append(std::move(append));
}

void Local::append_async(Append append, AppendCompletion done) {
  const auto use = impl_->node->enter();
  if (!use) return done(refuse(use.error()));
  impl_->node->committer().append_async(std::move(append), std::move(done));
}

EventStream Local::read(Query query, ReadOptions options) {
  if (auto checked = query.check(); !checked) return EventStream(std::move(checked).error());
  return EventStream(std::make_unique<cluster::QueryPages>(impl_->node, std::move(query), options, impl_->node->limits().page_events_max));
}

EventStream Local::read(AggregateId aggregate, StreamOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return EventStream(std::move(checked).error());
  return EventStream(std::make_unique<cluster::StreamPages>(impl_->node, std::move(aggregate), options, impl_->node->limits().page_events_max));
}

EventFeed Local::follow(Query query, FollowOptions options) {
  if (auto checked = query.check(); !checked) return EventFeed(std::move(checked).error());
  if (options.page_events_max == 0) return EventFeed(Error(ErrorCode::invalid_argument, "a feed with pages of 0 events gives nothing"));
  return EventFeed(std::make_unique<cluster::WatermarkFeed>(std::make_shared<FollowedNode>(impl_->node), std::move(query), options));
}

Result<GlobalPosition> Local::head() {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return impl_->node->store().view().watermark;
}

Result<GlobalPosition> Local::wait_for(GlobalPosition position, std::chrono::milliseconds timeout) {
  return impl_->node->watch().wait_for(position, timeout);
}

Result<AggregateInfo> Local::aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  const auto view = impl_->node->store().view();
  const auto& reader = impl_->node->reader();
  auto head = up_to ? reader.head_at(view, aggregate, std::min(*up_to, view.watermark)) : reader.head(view, aggregate);
  if (!head) return refuse(std::move(head).error());
  if (head->version == SeqNr{0}) {
    return refuse(ErrorCode::not_found, "there is no aggregate " + in_quotes(aggregate.text()) +
                                            (up_to ? " at position " + std::to_string(up_to->value) : std::string()));
  }
  return AggregateInfo{aggregate, head->version, head->last_position,
                       sharding::shard_of(sharding::stream_hash(aggregate), impl_->node->store().identity().shards)};
}

Result<std::vector<AggregateInfo>> Local::aggregates(std::optional<std::string> type, std::optional<AggregateId> after, std::size_t limit) {
  if (type) EVERSHARD_TRY(check_type(*type));
  if (after) EVERSHARD_TRY(AggregateId::check(*after));
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return impl_->node->reader().aggregates(impl_->node->store().view(), type, std::move(after), limit);
}

Result<RecordedEvent> Local::event_at(GlobalPosition position) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  const auto view = impl_->node->store().view();
  std::optional<RecordedEvent> event;
  if (position.value != 0 && position <= view.watermark) {
    auto found = impl_->node->reader().event_at(view, position);
    if (!found) return refuse(std::move(found).error());
    event = *std::move(found);
  }
  if (!event) {
    return refuse(ErrorCode::not_found, "there is no event at position " + std::to_string(position.value) + ": positions go from 1 to the watermark, " +
                                            std::to_string(view.watermark.value));
  }
  return *std::move(event);
}

Result<void> Local::put_snapshot(Snapshot snapshot) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return impl_->node->committer().put_snapshot(std::move(snapshot));
}

Result<std::optional<RecordedSnapshot>> Local::snapshot(const AggregateId& aggregate, std::optional<SeqNr> at_or_before) {
  return impl_->find_snapshot(aggregate, [&](const storage::Reader& reader) {
    return at_or_before ? reader.snapshot_at(aggregate, *at_or_before, Timestamp::now()) : reader.latest_snapshot(aggregate);
  });
}

Result<std::optional<RecordedSnapshot>> Local::snapshot_as_of(const AggregateId& aggregate, GlobalPosition up_to) {
  return impl_->find_snapshot(aggregate, [&](const storage::Reader& reader) { return reader.snapshot_as_of(aggregate, up_to, Timestamp::now()); });
}

Result<std::vector<RecordedSnapshot>> Local::snapshots(const AggregateId& aggregate) {
  return impl_->find_snapshot(aggregate, [&](const storage::Reader& reader) { return reader.snapshots(aggregate, Timestamp::now()); });
}

Result<void> Local::host_kind(std::shared_ptr<const AggregateKind> kind, HostOptions options) {
  return impl_->node->aggregates().host_kind(std::move(kind), options);
}

Asking Local::ask_bytes(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options, AnswerDone done) {
  return impl_->node->aggregates().ask_bytes(aggregate, std::move(command_type), std::move(command), std::move(options), std::move(done));
}

AnyAnswer Local::ask_and_wait(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options) {
  return impl_->node->aggregates().ask_and_wait(aggregate, std::move(command_type), std::move(command), std::move(options));
}

Result<StateBytes> Local::state_bytes(const AggregateId& aggregate, StateRead how, std::chrono::milliseconds timeout) {
  return impl_->node->aggregates().state_bytes(aggregate, how, timeout);
}

Result<StateBytes> Local::state_bytes_at(const AggregateId& aggregate, GlobalPosition up_to) {
  return impl_->node->aggregates().state_bytes_at(aggregate, up_to);
}

Result<void> Local::take_snapshot(const AggregateId& aggregate, std::chrono::milliseconds timeout) {
  return impl_->node->aggregates().take_snapshot(aggregate, timeout);
}

void Local::passivate(const AggregateId& aggregate) { impl_->node->aggregates().passivate(aggregate); }

Result<StoreStats> Local::stats() const {
  auto& node = *impl_->node;
  StoreStats stats;
  const auto& identity = node.store().identity();
  stats.info = {identity.store.text(), identity.shards, identity.format, identity.hash, identity.created_at, identity.fork.text()};
  const auto use = node.enter();
  if (!use) return stats;  // closed: which store it was, and no figures
  auto store = node.store().stats();
  stats.watermark = store.watermark;
  stats.sealed = store.mark;
  stats.tail_events = store.tail_events;
  stats.commits = store.commits;
  stats.disk_bytes = store.disk_bytes;
  stats.disk_free_bytes = store.disk_free_bytes;
  stats.memory_bytes = store.memory_bytes;
  stats.backend_assertions = store.backend_assertions;
  stats.details = std::move(store.details);
  const auto committer = node.committer().stats();
  stats.appends = committer.appended;
  stats.refused = std::accumulate(committer.refused.begin(), committer.refused.end(), std::uint64_t{0});
  stats.commit_latencies = committer.commit_latencies;
  stats.details.emplace_back("appends.events", committer.events);
  stats.details.emplace_back("appends.duplicates", committer.duplicates);
  stats.details.emplace_back("appends.prepared_again", committer.prepared_again);
  stats.details.emplace_back("appends.waiting", committer.waiting);
  for (std::size_t code = 1; code < committer.refused.size(); ++code) {
    if (committer.refused[code] != 0) stats.details.emplace_back("refused." + std::string(name_of(static_cast<ErrorCode>(code))), committer.refused[code]);
  }
  if (const auto aggregates = node.aggregate_figures()) {
    stats.details.emplace_back("aggregates.known", aggregates->known);
    stats.details.emplace_back("aggregates.live", aggregates->live);
    aggregates->counters.each([&](const char* name, std::uint64_t count) { stats.details.emplace_back(std::string("aggregates.") + name, count); });
  }
  return stats;
}

Result<void> Local::flush() {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return impl_->node->store().seal();
}

Result<VerifyReport> Local::verify(Progress progress) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  auto report = storage::verify(impl_->node->store(), impl_->node->until_closed(std::move(progress)));
  if (!report) return refuse(std::move(report).error());
  return VerifyReport{report->events, report->records, report->index_rows, report->snapshots, report->errors, std::move(report->findings)};
}

Result<void> Local::vacuum(Progress progress) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return storage::vacuum(impl_->node->store(), impl_->node->until_closed(std::move(progress)));
}

Result<GlobalPosition> Local::backup(const std::filesystem::path& target, BackupOptions options, Progress progress) {
  const auto use = impl_->node->enter();
  if (!use) return refuse(use.error());
  return storage::backup(impl_->node->store(), target, {.truth_only = options.truth_only, .up_to = options.up_to}, impl_->node->until_closed(std::move(progress)));
}

}  // namespace evershard
