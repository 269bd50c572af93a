// Lending: a coordinator with keys and nodes it lends them to, in one process, with a clock that stands still.

#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "evershard/cluster/keys/coordinator_keys.hpp"
#include "evershard/cluster/keys/key_keeper.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "tests/local/small_store.hpp"

namespace evershard::cluster {

/// What is held is waited for by who has it forgotten.
inline PayloadKey copied(const Result<HeldKey>& key) { return **key; }

class Lending {
 public:
  static constexpr std::chrono::milliseconds lease{5'000};
  static constexpr std::chrono::milliseconds over{5'251};  ///< with what clocks go apart

  /// What a node asks on its way to the coordinator.
  class Link final : public KeyNetwork {
   public:
    explicit Link(Lending& lending, std::uint32_t node) : lending_(lending), node_(node) {}
    void ask(KeysAsked asked, std::chrono::milliseconds, KeysDone done) override {
      ++lending_.asked;
      if (lending_.cut_off.load() == node_ || lending_.keeper == nullptr)
        return done(refuse(ErrorCode::unavailable, "no connection"));
      lending_.keeper->answer(node_, std::move(asked), [this, done = std::move(done)](Result<KeysAnswered> answered) {
        std::shared_future<void> held;
        {
          const std::lock_guard lock(lending_.mutex_);
          held = lending_.held_;
        }
        ++lending_.on_the_way;
        if (held.valid()) held.wait();
        done(std::move(answered));
      });
    }

   private:
    Lending& lending_;
    const std::uint32_t node_;
  };

  explicit Lending(bool with_keys = true) {
    start_keeper(with_keys);
    start(1);
    start(2);
  }
  void start_keeper(bool with_keys = true) {
    std::unique_ptr<SubjectKeys> keys;
    if (with_keys)
      keys = std::make_unique<Led>(KeyFolder::open(folder(), scratch_.path() / "data").value(), leads_, leads_.load());
    auto forget = [this](std::uint32_t node, const KeysForget& what,
                         const std::function<void(Result<KeysForgotten>)>& done) {
      ++told_to_forget;
      if (frozen.load() == node) return;
      if (cut_off.load() == node) return done(refuse(ErrorCode::unavailable, "no connection"));
      done(nodes.at(node)->forget(what));
    };
    keeper = std::make_unique<KeyKeeper>(std::move(keys), forget, KeyKeeperOptions{.lease = lease, .now = clock()});
  }
  /// By a coordinator that leads from now on, on another machine. Returns: the one that led, which goes on.
  [[nodiscard]] std::unique_ptr<KeyKeeper> lead_anew() {
    auto before = std::move(keeper);
    ++leads_;
    start_keeper();
    return before;
  }
  void restart_keeper() {
    keeper.reset();
    start_keeper();
  }
  /// Again: another process of it.
  void start(std::uint32_t node) {
    auto& link = links_.emplace_back(std::make_unique<Link>(*this, node));
    if (const auto there = nodes.find(node); there != nodes.end()) earlier.push_back(std::move(there->second));
    nodes[node] = std::make_shared<CoordinatorKeys>(*link, CoordinatorKeysOptions{.known_max = 50, .now = clock()});
  }
  [[nodiscard]] std::filesystem::path folder() const { return scratch_.path() / "keys"; }
  [[nodiscard]] CoordinatorKeys& node(std::uint32_t number) { return *nodes.at(number); }
  void pass(std::chrono::milliseconds time) { now_ms_ += time.count(); }
  [[nodiscard]] BootClock clock() {
    return [this] { return std::chrono::milliseconds(now_ms_.load()); };
  }
  /// Answers wait for what is returned.
  [[nodiscard]] std::shared_ptr<std::promise<void>> hold_answers() {
    auto go = std::make_shared<std::promise<void>>();
    const std::lock_guard lock(mutex_);
    held_ = go->get_future().share();
    return go;
  }
  /// Those that come from now on do not.
  void hold_no_more() {
    const std::lock_guard lock(mutex_);
    held_ = {};
  }

  std::atomic<int> asked{0}, told_to_forget{0}, on_the_way{0};
  std::atomic<std::uint32_t> cut_off{0};  ///< no connection to this node
  std::atomic<std::uint32_t> frozen{0};   ///< a connection, and no answer
  std::map<std::uint32_t, std::shared_ptr<CoordinatorKeys>> nodes;
  std::vector<std::shared_ptr<CoordinatorKeys>> earlier;
  std::unique_ptr<KeyKeeper> keeper;

 private:
  /// Of one leadership, as EtcdKeys: whoever leads no more is refused.
  class Led final : public SubjectKeys {
   public:
    Led(std::unique_ptr<SubjectKeys> keys, const std::atomic<int>& leads, int epoch)
        : keys_(std::move(keys)), leads_(leads), epoch_(epoch) {}
    Result<HeldKey> key_for(std::string_view subject) override { return leads() ? keys_->key_for(subject) : refused(); }
    Result<std::optional<HeldKey>> find(const KeyId& id) override { return leads() ? keys_->find(id) : refused(); }
    Result<std::optional<KeyId>> current(std::string_view subject) override {
      return leads() ? keys_->current(subject) : refused();
    }
    Result<void> destroy(const KeyId& id) override { return leads() ? keys_->destroy(id) : refused(); }
    [[nodiscard]] std::uint64_t erasures() const override { return keys_->erasures(); }

   private:
    [[nodiscard]] bool leads() const { return leads_ == epoch_; }
    static tl::unexpected<Error> refused() { return refuse(ErrorCode::unavailable, "another one leads"); }
    const std::unique_ptr<SubjectKeys> keys_;
    const std::atomic<int>& leads_;
    const int epoch_;
  };

  ScratchDir scratch_;
  std::atomic<int> leads_{1};
  std::atomic<std::int64_t> now_ms_{1'000'000};
  std::mutex mutex_;
  std::shared_future<void> held_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace evershard::cluster
