#include "evershard/cluster/node/shard_learner.hpp"

#include <algorithm>
#include <utility>

#include "evershard/cluster/node/awaited.hpp"
#include "evershard/sharding/node_cut.hpp"

namespace evershard::cluster {
namespace {

constexpr auto behind_pause = std::chrono::milliseconds(50);

/// How far cuts cover each shard, while they come in their order.
class CoveredSoFar {
 public:
  explicit CoveredSoFar(const std::vector<ShardId>& shards) {
    for (const ShardId shard : shards) at_[shard];
  }
  /// Of each shard what joins on; positions of what is not kept are elsewhere.
  void take(sharding::Cut& cut) {
    for (auto& segment : cut.segments) {
      const auto at = segment.is_elsewhere() ? at_.end() : at_.find(segment.shard);
      if (at == at_.end()) continue;
      sharding::begin_at(segment, at->second.next);
      if (at->second.next < segment.end) at->second = {segment.end, std::max(at->second.epoch, segment.epoch)};
    }
    std::erase_if(cut.segments, [](const sharding::Segment& segment) { return segment.first == segment.end; });
  }
  struct At {
    ShardOffset next{1};
    Epoch epoch{};
  };
  [[nodiscard]] const At& of(ShardId shard) const { return at_.at(shard); }

 private:
  std::map<ShardId, At> at_;
};

}  // namespace

ShardLearner::ShardLearner(NodeCommitter& committer, NodeNetwork& network, ShardLearnerOptions options)
    : committer_(committer), network_(network), options_(std::move(options)), thread_([this] { loop(); }) {}

ShardLearner::~ShardLearner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  thread_.join();
}

bool ShardLearner::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool ShardLearner::wait(Clock::duration time) {
  std::unique_lock lock(mutex_);
  return !more_.wait_for(lock, time, [this] { return stopping_; });
}

bool ShardLearner::still(const Keeping& keeping) const {
  const auto now = committer_.keeping();
  return now.kept == keeping.kept && now.to_learn == keeping.to_learn && !committer_.failed();
}

void ShardLearner::pace(std::size_t bytes) {
  if (options_.bytes_per_second == 0) return;
  paced_until_ = std::max(paced_until_, Clock::now()) +
                 std::chrono::nanoseconds(bytes * std::uint64_t{1'000'000'000} / options_.bytes_per_second);
  if (const auto now = Clock::now(); paced_until_ > now) wait(paced_until_ - now);
}

void ShardLearner::loop() {
  bool learned_something = false;
  while (wait(options_.look_every)) {
    const auto keeping = committer_.keeping();
    if (committer_.failed() || keeping.to_learn.empty()) {
      if (std::exchange(learned_something, false) && !committer_.failed()) {
        committer_.learned_so_far(0);
        // What stays of it is forgotten at the next start.
        static_cast<void>(storage::LearnedShards::forget(options_.store.data_dir));
      }
      continue;
    }
    learned_something = true;
    const auto learned = learn(keeping);
    if (learned || stopping()) continue;
    if (options_.warn && std::exchange(said_, learned.error().what) != learned.error().what)
      options_.warn(Error(learned.error().code,
                          "what this node is to keep is not here yet, and is tried again: " + learned.error().what));
  }
}

Result<std::uint32_t> ShardLearner::source(ShardId shard) const {
  const auto sets = committer_.replica_sets();
  std::uint32_t best = 0;
  const auto failures = [&](std::uint32_t node) {
    const auto found = failures_.find(node);
    return found == failures_.end() ? 0 : found->second;
  };
  for (const auto node : sets.at(shard.value).nodes)
    if (node != options_.self && (best == 0 || failures(node) < failures(best))) best = node;
  if (best == 0) return refuse(ErrorCode::unavailable, "no other node keeps shard " + std::to_string(shard.value));
  return best;
}

Result<void> ShardLearner::learn(const Keeping& keeping) {
  if (keeping.without_set)
    return refuse(ErrorCode::invalid_argument, "shard " + std::to_string(keeping.without_set->value) +
                                                   " of this node has no replicas: what it keeps cannot change");
  auto learned = storage::LearnedShards::open(options_.store);
  if (!learned) return refuse(std::move(learned).error());
  EVERSHARD_TRY((*learned)->keep_only(keeping.to_learn));
  const auto learn_journals = [&]() -> Result<void> {
    for (const ShardId shard : keeping.to_learn) {
      EVERSHARD_TRY(learn_journal(**learned, shard));
      std::uint64_t events = 0;
      for (const ShardId of : keeping.to_learn) events += (*learned)->end(of) - ShardOffset{1};
      committer_.learned_so_far(events);
      if (stopping() || !still(keeping)) return refuse(ErrorCode::cancelled, "it is to keep something else by now");
    }
    return {};
  };
  EVERSHARD_TRY(learn_journals());
  auto order = learn_order(**learned, keeping);
  if (!order) return refuse(std::move(order).error());
  // What the order places has been decided where it came from: the rest of it is there.
  for (;;) {
    EVERSHARD_TRY(learn_journals());
    const bool all = std::ranges::all_of(
        order->shards, [&](const auto& shard) { return !shard.learned || (*learned)->end(shard.shard) >= shard.end; });
    if (all) break;
    if (!wait(behind_pause)) return refuse(ErrorCode::cancelled, "the node is stopping");
  }
  for (auto& shard : order->shards) {
    if (!shard.learned) continue;
    shard.settled = (*learned)->end(shard.shard);
    shard.followed = std::max(shard.epoch, Epoch{1});
  }
  EVERSHARD_TRY((*learned)->finish(*order));
  std::string names;
  for (const ShardId shard : keeping.to_learn) names += (names.empty() ? "" : ", ") + std::to_string(shard.value);
  committer_.end_with({ErrorCode::unavailable, "this node keeps more shards now (" + names +
                                                   "), and has them beside its store: start it again, which takes "
                                                   "them in"});
  return {};
}

Result<void> ShardLearner::learn_journal(storage::LearnedShards& learned, ShardId shard) {
  for (;;) {
    if (stopping()) return refuse(ErrorCode::cancelled, "the node is stopping");
    const auto from = source(shard);
    if (!from) return refuse(from.error());
    Awaited<storage::ShippedRows> answer(*from, shard);
    const auto begins = learned.end(shard);
    network_.journal(*from, {shard, begins}, answer.done());
    auto rows = answer.wait(Clock::now() + options_.answer_max);
    if (!rows) {
      failed_at(*from);
      return refuse(std::move(rows).error());
    }
    const auto bytes = rows->bytes();
    if (auto added = learned.add(*rows); !added) {
      failed_at(*from);
      return refuse(std::move(added).error());
    }
    if (learned.end(shard) == begins) return {};
    std::uint64_t events = committer_.learned_events();
    committer_.learned_so_far(events + (learned.end(shard) - begins));
    pace(bytes);
  }
}

Result<std::vector<HistoryPart>> ShardLearner::ask_all(const Keeping& keeping, GlobalPosition after) {
  std::vector<HistoryPart> parts;
  std::vector<std::pair<std::uint32_t, Awaited<NodeHistory>>> answers;
  const auto ask = [&](std::uint32_t node, std::vector<ShardId> shards) {
    auto& answer = answers.emplace_back(node, Awaited<NodeHistory>(node, shards.front())).second;
    parts.push_back({{}, std::move(shards)});
    if (node == options_.self)
      committer_.history(after, answer.done());
    else
      network_.history(node, after, answer.done());
  };
  if (!keeping.kept.empty()) ask(options_.self, keeping.kept);
  std::map<std::uint32_t, std::vector<ShardId>> of;
  for (const ShardId shard : keeping.to_learn) {
    const auto from = source(shard);
    if (!from) return refuse(from.error());
    of[*from].push_back(shard);
  }
  for (auto& [node, shards] : of) ask(node, std::move(shards));
  const auto until = Clock::now() + options_.answer_max;
  for (std::size_t n = 0; n != answers.size(); ++n) {
    auto& [node, answer] = answers[n];
    auto history = answer.wait(until);
    if (!history) {
      failed_at(node);
      return refuse(std::move(history).error());
    }
    parts[n].history = std::move(*history);
    // One that was emptied is behind, too: another one is asked the next time.
    if (node != options_.self && parts[n].history.last_cut < keeping.as_of && parts[n].history.watermark <= after)
      failed_at(node);
    if (const auto missing = missing_of(parts[n])) {
      failed_at(node);
      return refuse(ErrorCode::unavailable, "node " + std::to_string(node) + " has not all of shard " +
                                                std::to_string(missing->value) + " itself");
    }
  }
  return parts;
}

Result<storage::LearnedOrder> ShardLearner::learn_order(storage::LearnedShards& learned, const Keeping& keeping) {
  EVERSHARD_TRY(learned.begin_order());
  std::vector<ShardId> all;
  std::ranges::set_union(keeping.kept, keeping.to_learn, std::back_inserter(all));
  CoveredSoFar covered(all);
  storage::LearnedOrder order;
  std::vector<sharding::Segment> refused;  // goes into the row of the next cut that places something
  for (;;) {
    if (stopping() || !still(keeping)) return refuse(ErrorCode::cancelled, "it is to keep something else by now");
    auto parts = ask_all(keeping, order.watermark);
    if (!parts) return refuse(std::move(parts).error());
    auto history = merged(order.watermark, *parts);
    if (!history) return refuse(std::move(history).error());
    for (auto& cut : history->cuts) {
      covered.take(cut);
      order.coordinator = std::max(order.coordinator, cut.coordinator);
      if (cut.events() == 0) {
        std::ranges::move(cut.segments, std::back_inserter(refused));
        continue;
      }
      cut.openings.clear();
      cut.segments.insert(cut.segments.begin(), std::make_move_iterator(refused.begin()),
                          std::make_move_iterator(refused.end()));
      refused.clear();
      EVERSHARD_TRY(learned.add(cut));
    }
    const bool came = history->watermark > order.watermark;
    order.watermark = history->watermark;
    order.last_cut = history->last_cut;
    // From the cut on that gave it the shards it knows of every change of who keeps them.
    if (history->complete && order.last_cut >= keeping.as_of) break;
    if (!came && !wait(behind_pause)) return refuse(ErrorCode::cancelled, "the node is stopping");
  }
  order.refused = std::move(refused);
  for (const ShardId shard : all) {
    const auto& at = covered.of(shard);
    const bool is_new = std::ranges::binary_search(keeping.to_learn, shard);
    order.shards.push_back({shard, at.next, at.epoch, is_new, ShardOffset{0}, Epoch{}});
  }
  return order;
}

}  // namespace evershard::cluster
