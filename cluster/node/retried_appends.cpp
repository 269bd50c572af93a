#include "evershard/cluster/node/retried_appends.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds pause_min{10};
constexpr std::chrono::milliseconds pause_max{200};

/// What another writer, or the same one a moment later, may answer otherwise.
bool may_change(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::wrong_shard || code == ErrorCode::fenced ||
         code == ErrorCode::timeout || code == ErrorCode::io;
}

}  // namespace

void RetriedAppends::append(Append append, ShardId shard, Clock::time_point deadline, NodeDone<Appended> done) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_;
    auto& one = waiting_.emplace(number, One{std::move(append), shard, deadline, std::move(done)}).first->second;
    one.of_shard = by_shard_.emplace(shard, number);
  }
  send(number);
}

void RetriedAppends::send(std::uint64_t number) {
  Append append;
  std::uint32_t node = 0;
  std::uint64_t tried = 0;
  ShardId shard;
  {
    const std::lock_guard lock(mutex_);
    const auto one = waiting_.find(number);
    if (one == waiting_.end()) return;
    append = one->second.append;
    shard = one->second.shard;
    node = one->second.node = shell_.writer(shard);
    one->second.waits = false;
    tried = ++one->second.tries;
  }
  auto done = [self = shared_from_this(), number, tried](Result<Appended> result) {
    self->answered(number, tried, std::move(result));
  };
  if (node == 0) return done(refuse(no_owner(shard)));
  shell_.send(node, shard, std::move(append), std::move(done));
}

void RetriedAppends::send_again(std::uint64_t number, std::uint64_t tried) {
  {
    const std::lock_guard lock(mutex_);
    const auto one = waiting_.find(number);
    if (one == waiting_.end() || one->second.tries != tried) return;
  }
  send(number);
}

void RetriedAppends::answered(std::uint64_t number, std::uint64_t tried, Result<Appended> result) {
  Clock::duration pause{};
  {
    const std::lock_guard lock(mutex_);
    const auto one = waiting_.find(number);
    if (one == waiting_.end()) return;
    auto& at = one->second;
    if (!result && may_change(result.error().code) && !closed_) {
      if (tried != at.tries) return;  // a later try of the append is under way
      pause =
          std::min<Clock::duration>(pause_max, pause_min * (std::int64_t{1} << std::min<std::uint64_t>(tried - 1, 10)));
      at.waits = Clock::now() + pause < at.deadline;
      if (at.waits && shell_.writer(at.shard) != at.node) pause = Clock::duration::zero();
    } else {
      at.waits = false;
    }
    if (!at.waits) tried = 0;
  }
  const bool again = tried != 0 && shell_.later(pause, [self = shared_from_this(), number, tried] {
    self->send_again(number, tried);
  });
  if (!again) answer(number, std::move(result));
}

void RetriedAppends::answer(std::uint64_t number, Result<Appended> result) {
  NodeDone<Appended> done;
  {
    const std::lock_guard lock(mutex_);
    const auto one = waiting_.find(number);
    if (one == waiting_.end()) return;
    done = std::move(one->second.done);
    by_shard_.erase(one->second.of_shard);
    waiting_.erase(one);
  }
  done(std::move(result));
}

void RetriedAppends::writer_changed(ShardId shard) {
  std::vector<std::uint64_t> again;
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_shard_.equal_range(shard);
    const auto writer = shell_.writer(shard);
    for (auto of = first; of != last; ++of)
      if (const auto& one = waiting_.at(of->second); one.waits || one.node != writer) again.push_back(of->second);
  }
  std::ranges::sort(again);  // as they came
  for (const auto number : again) send(number);
}

void RetriedAppends::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace evershard::cluster
