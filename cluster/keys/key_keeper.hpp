// KeyKeeper: the coordinator's side of the keys of subjects: lends them to nodes, and knows who may still have one that
// is destroyed.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "evershard/actors/threads/work_pool.hpp"
#include "evershard/cluster/keys/boot_time.hpp"
#include "evershard/cluster/keys/key_network.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

struct KeyKeeperOptions {
  std::chrono::milliseconds lease = std::chrono::seconds(5);
  /// Clocks of two machines go apart by less in that time.
  std::chrono::milliseconds margin = std::chrono::milliseconds(250);
  std::size_t threads = 4;  ///< that look at keys: files, or rows in etcd
  BootClock now = boot_time;
};

/// Has a node forget keys. Does not block; `done`: once, from any thread.
using HaveForgotten =
    std::function<void(std::uint32_t node, const KeysForget& what, std::function<void(Result<KeysForgotten>)> done)>;

/// A key is destroyed for good first, as SubjectKeys says; then whoever was told of keys within the lease is told to
/// forget it. `destroy` is answered when all of them have said that they did, or when whatever they were lent is over:
/// at most a lease later. Who was told of keys earlier is told too, and not waited for.
///
/// What others lent before this one was made it cannot know: a process before this one, or the coordinator that led
/// before, which may be frozen and go on later. It waits until that is over. So a keeper is made anew with every
/// leadership, and behind its begin: nobody else gives keys from then on. Of a directory that follows from there being
/// one coordinator; EtcdKeys compare who leads whenever they are asked.
///
/// Any thread. Owner: what `have_forgotten` uses outlives it, or stop().
class KeyKeeper {
 public:
  /// `keys`: null: there are none, and everybody who asks is told so.
  KeyKeeper(std::unique_ptr<SubjectKeys> keys, HaveForgotten have_forgotten, KeyKeeperOptions options = {});
  ~KeyKeeper() { stop(); }

  /// Does not block. `done`: once, from a thread of its own, or the caller's. Errors: unavailable: it stops;
  /// invalid_argument: what is asked is nothing
  void answer(std::uint32_t node, KeysAsked asked, KeysDone done);
  /// What is under way is done, what waits for nodes is told `unavailable`. Idempotent.
  void stop();

 private:
  struct Lent {
    std::uint32_t node = 0;
    BootTime at{};
  };

  [[nodiscard]] KeysAnswered look(std::uint32_t node, const KeysAsked& asked);
  [[nodiscard]] KeysAnswered look_once(std::uint32_t node, const KeysAsked& asked);
  [[nodiscard]] KeysDestroyed counted() const;
  [[nodiscard]] Result<KeysAnswered> destroy(const KeyId& id);
  [[nodiscard]] KeysDestroyed lend(std::uint32_t node, std::uint64_t holder);
  /// Under the mutex of `told_`.
  [[nodiscard]] Lent& lent_to(std::uint32_t node, std::uint64_t holder);
  [[nodiscard]] BootTime over(BootTime lent) const { return lent + options_.lease + options_.margin; }

  const std::unique_ptr<SubjectKeys> keys_;
  const HaveForgotten have_forgotten_;
  const KeyKeeperOptions options_;
  const BootTime began_;

  /// Answers of nodes may come when it is gone.
  struct Told {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, Lent> holders;
    std::uint64_t keeper = 0;  ///< this process
    bool stopping = false;
  };
  const std::shared_ptr<Told> told_;
  std::mutex threads_mutex_;
  std::unique_ptr<WorkPool> looking_;
  std::unique_ptr<WorkPool> destroying_;  ///< one at a time: it waits for nodes
};

}  // namespace evershard::cluster
