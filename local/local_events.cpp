#include "evershard/local/local_events.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/api/per_aggregate.hpp"
#include "evershard/api/watermark_feed.hpp"
#include "evershard/local/local_pages.hpp"
#include "evershard/protocol/beyond_head.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {

namespace {

/// The directory is asked by type: one that no aggregate can have is a mistake, not an empty answer.
Result<void> check_type(const std::string& type) { return AggregateId::check({type, "x"}); }

GlobalPosition position_of(const std::optional<RecordedSnapshot>& snapshot) {
  return snapshot ? snapshot->position : GlobalPosition{0};
}
GlobalPosition position_of(const std::vector<RecordedSnapshot>& snapshots) {
  return snapshots.empty() ? GlobalPosition{0} : snapshots.front().position;
}

class FollowedNode final : public Followed {
 public:
  explicit FollowedNode(std::shared_ptr<Node> node) : node_(std::move(node)) {}
  [[nodiscard]] GlobalPosition watermark() const override { return node_->watch().watermark(); }
  [[nodiscard]] Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout,
                                                const std::atomic<bool>* cancelled) override {
    return node_->watch().wait_for(position, timeout, cancelled);
  }
  void nudge() override { node_->watch().nudge(); }
  [[nodiscard]] std::unique_ptr<PageSource> pages(const Query& query, const ReadOptions& options,
                                                  std::size_t page_events_max) override {
    return std::make_unique<QueryPages>(node_, query, options, page_events_max);
  }

 private:
  const std::shared_ptr<Node> node_;
};

}  // namespace

/// Snapshot rows are shown by the write itself, events by the watermark a moment later: nobody is to see a snapshot
/// of an event that cannot be read yet.
template <class Find>
auto LocalEvents::find_snapshot(const AggregateId& aggregate, Find find)
    -> decltype(find(std::declval<const storage::Reader&>())) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  auto found = find(node_->reader());
  if (!found) return found;
  auto shown = node_->watch().wait_for(position_of(*found), node_->at_least_timeout());
  if (!shown) return refuse(std::move(shown).error());
  return found;
}

/// One behind a position that the store does not have would hold whatever is appended up to there.
Result<void> LocalEvents::check_conditions(const Append& append) const {
  if (append.conditions.empty()) return {};
  const auto head = node_->store().view().watermark;
  for (const auto& condition : append.conditions)
    if (condition.after > head)
      return refuse(beyond_head(condition.after, head, node_->store().identity().fork.text()));
  return {};
}

Result<Appended> LocalEvents::append(Append append) {
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  EVERSHARD_TRY(check_conditions(append));
  return node_->committer().append(std::move(append));
}

void LocalEvents::append_async(Append append, AppendCompletion done) {
  const auto use = node_->enter();
  if (!use) return done(refuse(use.error()));
  if (auto fine = check_conditions(append); !fine) return done(refuse(std::move(fine).error()));
  node_->committer().append_async(std::move(append), std::move(done));
}

EventStream LocalEvents::read(Query query, ReadOptions options) {
  if (auto checked = query.check(); !checked) return EventStream(std::move(checked).error());
  return read_by(options, [&](const ReadOptions& bounded) {
    return std::make_unique<QueryPages>(node_, std::move(query), bounded, node_->limits().page_events_max);
  });
}

EventStream LocalEvents::read(AggregateId aggregate, StreamOptions options) {
  if (auto checked = AggregateId::check(aggregate); !checked) return EventStream(std::move(checked).error());
  return EventStream(
      std::make_unique<StreamPages>(node_, std::move(aggregate), options, node_->limits().page_events_max));
}

EventFeed LocalEvents::follow(Query query, FollowOptions options) {
  if (auto checked = query.check(); !checked) return EventFeed(std::move(checked).error());
  if (options.page_events_max == 0)
    return EventFeed(Error(ErrorCode::invalid_argument, "a feed with pages of 0 events gives nothing"));
  const auto head = this->head();
  if (!head) return EventFeed(head.error());
  if (options.after > *head) return EventFeed(beyond_head(options.after, *head, node_->store().identity().fork.text()));
  return EventFeed(std::make_unique<WatermarkFeed>(std::make_shared<FollowedNode>(node_), std::move(query), options));
}

Result<GlobalPosition> LocalEvents::head() {
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  return node_->store().view().watermark;
}

Result<GlobalPosition> LocalEvents::wait_for(GlobalPosition position, std::chrono::milliseconds timeout) {
  return node_->watch().wait_for(position, timeout);
}

Result<AggregateInfo> LocalEvents::aggregate(const AggregateId& aggregate, std::optional<GlobalPosition> up_to) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  const auto view = node_->store().view();
  const auto& reader = node_->reader();
  auto head = up_to ? reader.head_at(view, aggregate, std::min(*up_to, view.watermark)) : reader.head(view, aggregate);
  if (!head) return refuse(std::move(head).error());
  if (head->version == SeqNr{0}) {
    return refuse(ErrorCode::not_found, "there is no aggregate " + in_quotes(aggregate.text()) +
                                            (up_to ? " at position " + std::to_string(up_to->value) : std::string()));
  }
  auto hidden = node_->retention().is_hidden(view, aggregate, *head);
  if (!hidden) return refuse(std::move(hidden).error());
  if (*hidden) {
    return refuse(ErrorCode::not_found, "aggregate " + in_quotes(aggregate.text()) + " was removed at position " +
                                            std::to_string(head->last_position.value) + ", at version " +
                                            std::to_string(head->version.value));
  }
  return AggregateInfo{aggregate, head->version, head->last_position,
                       sharding::shard_of(sharding::stream_hash(aggregate), node_->store().identity().shards)};
}

Result<std::vector<AggregateInfo>> LocalEvents::aggregates(std::optional<std::string> type,
                                                           std::optional<AggregateId> after, std::size_t limit) {
  if (type) EVERSHARD_TRY(check_type(*type));
  if (after) EVERSHARD_TRY(AggregateId::check(*after));
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  const auto view = node_->store().view();
  std::vector<AggregateInfo> shown;
  while (shown.size() < limit) {
    const auto wanted = limit - shown.size();
    auto page = node_->reader().aggregates(view, type, after, wanted);
    if (!page) return refuse(std::move(page).error());
    for (const auto& info : *page) {
      auto hidden = node_->retention().is_hidden(view, info.aggregate, {info.version, info.last_position});
      if (!hidden) return refuse(std::move(hidden).error());
      if (!*hidden) shown.push_back(info);
    }
    if (page->size() < wanted) break;
    after = page->back().aggregate;
  }
  return shown;
}

Result<RecordedEvent> LocalEvents::event_at(GlobalPosition position) {
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  const auto view = node_->store().view();
  std::optional<RecordedEvent> event;
  if (position.value != 0 && position <= view.watermark) {
    auto found = node_->reader().event_at(view, position);
    if (!found) return refuse(std::move(found).error());
    event = *std::move(found);
  }
  if (!event) {
    return refuse(ErrorCode::not_found, "there is no event at position " + std::to_string(position.value) +
                                            ": positions go from 1 to the watermark, " +
                                            std::to_string(view.watermark.value));
  }
  return *std::move(event);
}

Result<void> LocalEvents::put_snapshot(Snapshot snapshot) {
  const auto use = node_->enter();
  if (!use) return refuse(use.error());
  return node_->committer().put_snapshot(std::move(snapshot));
}

Result<std::optional<RecordedSnapshot>> LocalEvents::snapshot(const AggregateId& aggregate,
                                                              std::optional<SeqNr> at_or_before) {
  return find_snapshot(aggregate, [&](const storage::Reader& reader) {
    return at_or_before ? reader.snapshot_at(aggregate, *at_or_before, Timestamp::now())
                        : reader.latest_snapshot(aggregate);
  });
}

Result<std::optional<RecordedSnapshot>> LocalEvents::snapshot_as_of(const AggregateId& aggregate,
                                                                    GlobalPosition up_to) {
  return find_snapshot(aggregate, [&](const storage::Reader& reader) {
    return reader.snapshot_as_of(aggregate, up_to, Timestamp::now());
  });
}

Result<std::vector<RecordedSnapshot>> LocalEvents::snapshots(const AggregateId& aggregate) {
  return find_snapshot(aggregate,
                       [&](const storage::Reader& reader) { return reader.snapshots(aggregate, Timestamp::now()); });
}

}  // namespace evershard::cluster
