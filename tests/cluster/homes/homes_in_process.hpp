// HomesInProcess: calls to homes between the nodes of a SmallCluster, as bytes, from other threads.

#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/peers/home_messages.hpp"

namespace evershard::cluster {

/// One for all nodes. Shape: goes after every HomeCalls that is on it was stopped.
class HomesInProcess final : public HomeNetwork {
 public:
  void ask(std::uint32_t node, HomeAsked asked, HomeDone done) override {
    carriers_.run([this, node, bytes = encode(asked), done = std::move(done)]() mutable {
      std::shared_ptr<HomeCalls> there;
      bool lost = false;
      std::optional<Error> refused;
      {
        const std::lock_guard lock(mutex_);
        largest_asked_ = std::max(largest_asked_, bytes.size());
        if (const auto why = refuses_.find(node); why != refuses_.end()) {
          ++refused_;
          refused = why->second;
        }
        if (const auto found = there_.find(node); found != there_.end()) there = found->second;
        lost = lost_.erase(node) != 0;
        if (swallowed_.contains(node)) {
          ++refused_;
          return;
        }
      }
      if (refused) return done(refuse(*std::move(refused)));
      if (there == nullptr)
        return done(refuse(ErrorCode::unavailable, "node " + std::to_string(node) + " is not there"));
      there->answer(decode_home_asked(bytes).value(),
                    [this, done = std::move(done), lost](const Result<HomeAnswered>& answered) {
                      if (lost) return done(refuse(ErrorCode::timeout, "the answer was lost"));
                      if (!answered) return done(answered);
                      const auto answer = encode(*answered);
                      for (auto largest = largest_.load();
                           largest < answer.size() && !largest_.compare_exchange_weak(largest, answer.size());) {
                      }
                      done(decode_home_answered(answer));
                    });
    });
  }
  void put(std::uint32_t node, std::shared_ptr<HomeCalls> homes) {
    const std::lock_guard lock(mutex_);
    if (homes == nullptr)
      there_.erase(node);
    else
      there_[node] = std::move(homes);
  }
  /// Bytes of the largest answer so far.
  [[nodiscard]] std::size_t largest_answer() const { return largest_; }
  [[nodiscard]] std::size_t largest_asked() {
    const std::lock_guard lock(mutex_);
    return largest_asked_;
  }
  /// Every call to it is refused with this, and not carried out; absent: not any more.
  void refuse_calls_to(std::uint32_t node, std::optional<Error> why) {
    const std::lock_guard lock(mutex_);
    refuses_.erase(node);
    if (why) refuses_.emplace(node, *std::move(why));
  }
  /// No call to it arrives any more, and none is answered, but by who asks.
  void swallow_calls_to(std::uint32_t node) {
    const std::lock_guard lock(mutex_);
    swallowed_.insert(node);
  }
  /// Refused or swallowed.
  [[nodiscard]] std::size_t refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  /// The next call to it is carried out, and its answer lost.
  void lose_answer_of(std::uint32_t node) {
    const std::lock_guard lock(mutex_);
    lost_.insert(node);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<HomeCalls>> there_;
  std::set<std::uint32_t> lost_, swallowed_;
  std::map<std::uint32_t, Error> refuses_;
  std::size_t refused_ = 0;
  std::size_t largest_asked_ = 0;
  std::atomic<std::size_t> largest_{0};
  WorkPool carriers_{4};
};

}  // namespace evershard::cluster
