#include "evershard/cluster/node/gather.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "evershard/cluster/node/awaited.hpp"

namespace evershard::cluster {

/// Outlives the read: answers may come when nobody waits any more.
struct Gather::Answers {
  std::mutex mutex;
  std::condition_variable came;
  std::map<std::uint32_t, Result<NodePage>> pages;
  Nodes under_way;
  bool cancelled = false;
};

Gather::Gather(GatherOptions options, const Query& query, const ReadOptions& asked, AskNode ask)
    : options_(std::move(options)),
      ask_(std::move(ask)),
      left_(asked.limit.value_or(std::numeric_limits<std::uint64_t>::max())),
      answers_(std::make_shared<Answers>()) {
  std::vector<ShardId> all;
  for (const auto& [node, shards] : options_.shards_of) {
    if (shards.empty()) continue;
    all.insert(all.end(), shards.begin(), shards.end());
    for (const ShardId shard : shards) node_of_.emplace(shard, node);
    const auto& source =
        sources_.emplace(node, NodePageAsked::of(shards, query, asked, options_.watermark)).first->second;
    if (source.is_nothing()) left_ = 0;
  }
  std::ranges::sort(all);
  merge_.emplace(std::move(all), asked.direction);
}

Gather::~Gather() = default;

Gather::Nodes Gather::waiting_for() const {
  Nodes nodes;
  for (const ShardId shard : merge_->waiting_for()) nodes.insert(node_of_.at(shard));
  return nodes;
}

void Gather::ask(std::uint32_t node) {
  const auto& source = sources_.at(node);
  {
    const std::lock_guard lock(answers_->mutex);
    if (answers_->pages.contains(node) || !answers_->under_way.insert(node).second) return;
  }
  auto asked = source;
  asked.events_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(options_.page_events_max, left_));
  ask_(node, std::move(asked), [answers = answers_, node](Result<NodePage> page) {
    const std::lock_guard lock(answers->mutex);
    answers->under_way.erase(node);
    answers->pages.emplace(node, std::move(page));
    answers->came.notify_all();
  });
}

Result<void> Gather::wait_for(const Nodes& nodes) {
  for (const auto node : nodes) ask(node);
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  for (const auto node : nodes) {
    const auto shard = sources_.at(node).shards.front();
    std::optional<Result<NodePage>> page;
    {
      std::unique_lock lock(answers_->mutex);
      const bool there = answers_->came.wait_until(
          lock, deadline, [&] { return answers_->cancelled || answers_->pages.contains(node); });
      if (answers_->cancelled) return refuse(ErrorCode::cancelled, "the read was cancelled");
      if (!there) return refuse(no_answer(node, shard, {ErrorCode::timeout, "not in time"}));
      page = std::move(answers_->pages.extract(node).mapped());
    }
    if (!*page) return refuse(of_shard(node, shard, std::move(*page).error()));
    EVERSHARD_TRY(take(sources_.at(node), std::move(**page)));
  }
  return {};
}

/// A node's shards have come equally far.
Result<void> Gather::take(NodePageAsked& source, NodePage page) {
  source.go_on_behind(page.complete_to);
  std::map<ShardId, std::vector<RecordedEvent>> events;
  for (auto& event : page.events) events[event.shard].push_back(std::move(event));
  for (const ShardId shard : source.shards)
    EVERSHARD_TRY(merge_->add({shard, std::move(events[shard]), page.complete_to, page.end}));
  return {};
}

Result<Page> Gather::next_page() {
  Page page;
  page.watermark = options_.watermark;
  while (left_ != 0 && page.events.size() < options_.page_events_max && !merge_->finished()) {
    if (auto event = merge_->next()) {
      page.events.push_back(std::move(*event));
      --left_;
      continue;
    }
    const auto nodes = waiting_for();
    if (nodes.empty()) break;
    if (!page.events.empty()) {
      for (const auto node : nodes) ask(node);  // on its way while these are looked at
      break;
    }
    EVERSHARD_TRY(wait_for(nodes));
  }
  page.complete = left_ == 0 || merge_->finished();
  return page;
}

void Gather::cancel() {
  const std::lock_guard lock(answers_->mutex);
  answers_->cancelled = true;
  answers_->came.notify_all();
}

}  // namespace evershard::cluster
